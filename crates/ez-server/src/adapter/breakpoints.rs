//! Breakpoints: DAP sets all of a file at once, the server one by one.
//!
//! What is there already is left alone. A server may answer with another line than the one asked for, and then clears by
//! that one. Its ids are of no use: some servers give every breakpoint the same.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::launching::Stage;
use super::{Adapter, Done, Job};
use crate::dap::Request;
use crate::event::Location;

/// What the server was told, and what it answered.
#[derive(Debug, Default)]
pub(super) struct Table {
    known: Vec<Known>,
    last_id: i64,
}

#[derive(Debug)]
struct Known {
    /// Ours, for the client.
    id: i64,
    /// In the server's spelling.
    file: String,
    asked: i64,
    /// Where it is; unlike `asked` if the server moved it.
    line: i64,
    servers_id: Option<i64>,
}

/// One `setBreakpoints` at work.
#[derive(Debug)]
pub(super) struct Setting {
    request: Request,
    file: String,
    wanted: Vec<Wanted>,
    /// What was sent and not answered yet, in order.
    open: VecDeque<Step>,
}

/// One element of the request, and why the server does not have it.
#[derive(Debug)]
struct Wanted {
    line: i64,
    problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Clear,
    Set { line: i64 },
}

impl Setting {
    pub fn into_request(self) -> Request {
        self.request
    }
}

impl Table {
    pub fn is_at(&self, at: &Location) -> bool {
        self.known.iter().any(|known| known.file == at.file && known.line == at.line)
    }

    pub fn ids_at(&self, at: &Location) -> Vec<i64> {
        let here = self.known.iter().filter(|known| known.file == at.file && known.line == at.line);
        here.map(|known| known.id).collect()
    }

    /// Forgets what is no longer wanted in a file, and returns the lines to clear.
    fn keep(&mut self, file: &str, wanted: &[i64]) -> Vec<i64> {
        let is_wanted = |known: &Known| known.file != file || wanted.contains(&known.asked);
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.known).into_iter().partition(is_wanted);
        self.known = kept;
        let mut lines: Vec<i64> = gone.iter().map(|known| known.line).collect();
        lines.sort_unstable();
        lines.dedup();
        // Two that were asked for may have been moved to one line.
        lines.retain(|line| !self.known.iter().any(|known| known.file == file && known.line == *line));
        lines
    }

    fn add(&mut self, file: &str, asked: i64, line: i64, servers_id: Option<i64>) {
        self.last_id += 1;
        self.known.push(Known { id: self.last_id, file: file.to_owned(), asked, line, servers_id });
    }

    fn find(&self, file: &str, asked: i64) -> Option<&Known> {
        self.known.iter().find(|known| known.file == file && known.asked == asked)
    }

    /// The one with this id of the server's, if the server's ids are worth anything.
    fn by_servers_id(&mut self, id: Option<i64>) -> Option<&mut Known> {
        let mut found = self.known.iter_mut().filter(|known| id.is_some() && known.servers_id == id);
        let one = found.next()?;
        found.next().is_none().then_some(one)
    }
}

impl<W: Write> Adapter<W> {
    pub(super) fn set_breakpoints(&mut self, request: Request) -> Done {
        if self.server.is_none() {
            return self.client.fail(&request, "there is no program that could stop at breakpoints");
        }
        let Some(path) = request.arguments["source"]["path"].as_str() else {
            return self.client.fail(&request, "only breakpoints in a file with a path can be set");
        };
        let file = servers_spelling(path, &self.stage);
        let wanted: Vec<Wanted> = match &request.arguments["breakpoints"] {
            Value::Array(breakpoints) => breakpoints.iter().map(read).collect(),
            _ => Vec::new(),
        };
        let mut lines: Vec<i64> =
            wanted.iter().filter(|one| one.problem.is_none()).map(|one| one.line).collect();
        lines.sort_unstable();
        lines.dedup();
        let mut open = VecDeque::new();
        for line in self.breakpoints.keep(&file, &lines) {
            open.push_back(Step::Clear);
            self.tell("clearBreakpoint", json!({"file": file, "line": line}));
        }
        for line in lines {
            if self.breakpoints.find(&file, line).is_none() {
                open.push_back(Step::Set { line });
                self.tell("setBreakpoint", json!({"file": file, "line": line}));
            }
        }
        self.go_on_setting(Setting { request, file, wanted, open })
    }

    fn go_on_setting(&mut self, setting: Setting) -> Done {
        if !setting.open.is_empty() {
            self.job = Some(Job::Breakpoints(setting));
            return Ok(());
        }
        let told =
            |wanted: &Wanted| match (&wanted.problem, self.breakpoints.find(&setting.file, wanted.line)) {
                (None, Some(known)) => json!({"id": known.id, "verified": true, "line": known.line}),
                (Some(problem), _) => json!({"verified": false, "line": wanted.line, "message": problem}),
                (None, None) => json!({"verified": false, "line": wanted.line}),
            };
        let breakpoints: Vec<Value> = setting.wanted.iter().map(told).collect();
        self.client.respond(&setting.request, json!({"breakpoints": breakpoints}))
    }

    pub(super) fn on_breakpoint_set(&mut self, file: &str, line: i64, id: Option<i64>) -> Done {
        let Some(Job::Breakpoints(mut setting)) = self.job.take_if(|job| matches!(job, Job::Breakpoints(_)))
        else {
            return self.on_moved(line, id);
        };
        // Answers come in order; a clearing that was not answered never will be.
        let asked = setting.open.iter().find_map(|step| match step {
            Step::Set { line } => Some(*line),
            Step::Clear => None,
        });
        let is_echo = asked == Some(line) && (file.is_empty() || file == setting.file);
        let Some(asked) = asked.filter(|_| is_echo || self.breakpoints.by_servers_id(id).is_none()) else {
            self.job = Some(Job::Breakpoints(setting));
            return self.on_moved(line, id);
        };
        while setting.open.pop_front().is_some_and(|step| step == Step::Clear) {}
        self.breakpoints.add(&setting.file, asked, line, id);
        self.go_on_setting(setting)
    }

    /// A breakpoint that the server has put somewhere else after it was set.
    fn on_moved(&mut self, line: i64, id: Option<i64>) -> Done {
        let Some(known) = self.breakpoints.by_servers_id(id).filter(|known| known.line != line) else {
            return Ok(());
        };
        known.line = line;
        let breakpoint = json!({"id": known.id, "verified": true, "line": line});
        self.client.event("breakpoint", json!({"reason": "changed", "breakpoint": breakpoint}))
    }

    pub(super) fn on_breakpoint_cleared(&mut self) -> Done {
        match self.job.take() {
            Some(Job::Breakpoints(mut setting)) => {
                if setting.open.front() == Some(&Step::Clear) {
                    setting.open.pop_front();
                }
                self.go_on_setting(setting)
            }
            Some(Job::Inquiry(inquiry)) => self.on_fence(inquiry),
            job => {
                self.job = job;
                Ok(())
            }
        }
    }

    pub(super) fn breakpoint_refused(&mut self, mut setting: Setting, problem: &str) -> Done {
        if let Some(Step::Set { line }) = setting.open.pop_front() {
            for wanted in setting.wanted.iter_mut().filter(|wanted| wanted.line == line) {
                wanted.problem.get_or_insert_with(|| problem.to_owned());
            }
        }
        self.go_on_setting(setting)
    }

    pub(super) fn refuse_function_breakpoints(&mut self, request: &Request) -> Done {
        let count = request.arguments["breakpoints"].as_array().map_or(0, Vec::len);
        let refusal =
            json!({"verified": false, "message": "an `ez debugserver` has breakpoints on lines only"});
        self.client.respond(request, json!({"breakpoints": vec![refusal; count]}))
    }
}

fn read(breakpoint: &Value) -> Wanted {
    let terms = ["condition", "hitCondition", "logMessage"];
    let has_terms = terms.iter().any(|term| breakpoint[term].as_str().is_some_and(|text| !text.is_empty()));
    let problem =
        has_terms.then(|| "an `ez debugserver` knows no conditions, hit counts and log messages".to_owned());
    Wanted { line: breakpoint["line"].as_i64().unwrap_or_default(), problem }
}

/// Servers compare paths letter by letter with the one they were started with.
fn servers_spelling(path: &str, stage: &Stage) -> String {
    let whole = |path: &str| Path::new(path).canonicalize().ok();
    let is_program = path == stage.program || whole(path).is_some_and(|it| Some(it) == whole(&stage.program));
    if is_program { stage.program.clone() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(table: &Table) -> Vec<(i64, i64)> {
        table.known.iter().map(|known| (known.asked, known.line)).collect()
    }

    #[test]
    fn only_what_changes_is_told_and_a_moved_breakpoint_is_cleared_where_it_is() {
        let mut table = Table::default();
        table.add("a.ez", 3, 3, Some(1));
        table.add("a.ez", 4, 5, Some(2));
        table.add("a.ez", 5, 5, Some(3));
        table.add("b.ez", 3, 3, Some(4));
        assert!(table.keep("a.ez", &[3, 5]).is_empty(), "line 5 is still wanted by another");
        assert_eq!(table.keep("a.ez", &[3]), [5]);
        assert_eq!(known(&table), [(3, 3), (3, 3)]);
        assert_eq!(table.keep("b.ez", &[]), [3]);
        assert!(table.is_at(&Location { file: "a.ez".into(), line: 3, column: 1 }));
        assert!(!table.is_at(&Location { file: "b.ez".into(), line: 3, column: 1 }));
    }

    #[test]
    fn ids_that_the_server_gives_twice_tell_nothing() {
        let mut table = Table::default();
        table.add("a.ez", 3, 3, Some(1));
        assert_eq!(table.by_servers_id(Some(1)).map(|known| known.asked), Some(3));
        table.add("a.ez", 4, 4, Some(1));
        assert!(table.by_servers_id(Some(1)).is_none() && table.by_servers_id(None).is_none());
    }
}
