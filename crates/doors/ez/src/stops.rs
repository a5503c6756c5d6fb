//! How a stop is told: where it is and why, what changed, and what went wrong.
//!
//! Others may resume the program at any moment. A stop that is over before it was told is not told.

use std::collections::HashMap;

use breakroom_client::model::{self, Frame, ThreadId, Variable};
use breakroom_client::{Event as DebuggerEvent, Happening};
use breakroom_debug_client::complete;
use breakroom_debug_client::participants::has_others;
use breakroom_debug_client::stack::{PAGE, all_frames, page};
use breakroom_debug_client::values::ScopeKind;
use serde_json::{Value, json};

use crate::event::{Event, Members};
use crate::failure::Failure;
use crate::files::location;
use crate::link::Link;
use crate::live::{Live, PauseAsked, Run, Threads};

/// One stopped thread.
#[derive(Debug, Clone)]
pub struct Stop {
    pub thread: ThreadId,
    /// The innermost ones; the rest is asked for when it is wanted.
    pub frames: Vec<Frame>,
    /// How many there are.
    pub depth: usize,
}

/// The document has no other reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Step,
    Breakpoint,
    Entry,
    /// Not a reason for the IDE, which is told an error instead.
    Failure,
}

impl Reason {
    fn of(body: &Value, run: &Run, pause: PauseAsked) -> Reason {
        let reason = body["reason"].as_str().unwrap_or_default();
        match reason {
            "entry" => Reason::Entry,
            _ if reason.ends_with("breakpoint") => Reason::Breakpoint,
            "exception" if !is_mere_signal(body) => Reason::Failure,
            _ if matches!(run, Run::Entering) => Reason::Entry,
            "exception" if pause == PauseAsked::No => Reason::Failure,
            _ => Reason::Step,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Reason::Step | Reason::Failure => "step",
            Reason::Breakpoint => "breakpoint",
            Reason::Entry => "entry",
        }
    }
}

/// Signals that debuggers stop programs with.
const STOPPING: [&str; 3] = ["SIGSTOP", "SIGTRAP", "SIGINT"];

/// lldb stops a program with a signal, at its entry as well as when it was asked to, and calls that an exception.
fn is_mere_signal(body: &Value) -> bool {
    let words = [&body["description"], &body["text"]].map(model::text).concat();
    words.is_empty() || STOPPING.iter().any(|signal| words.contains(signal))
}

impl Stop {
    fn ask(link: &mut Link, thread: ThreadId) -> Result<Stop, Failure> {
        let (frames, total) = complete(page(link, thread, 0))?;
        let depth = match total {
            Some(total) => total.max(frames.len()),
            None if frames.len() < PAGE => frames.len(),
            None => complete(all_frames(link, thread))?.len(),
        };
        Ok(Stop { thread, frames, depth })
    }

    pub fn unknown(thread: ThreadId) -> Stop {
        Stop { thread, frames: Vec::new(), depth: 0 }
    }
}

impl Live {
    pub fn arrive(&mut self, link: &mut Link, body: &Value) -> Result<(), Failure> {
        let pause = std::mem::take(&mut self.pause);
        let reason = Reason::of(body, &self.run, pause);
        let thread = match ThreadId::read(body) {
            Some(thread) => thread,
            None => self.any_thread(link).unwrap_or(ThreadId(1)),
        };
        let stop = match Stop::ask(link, thread) {
            Ok(stop) => stop,
            Err(Failure::Refused(_)) => Stop::unknown(thread),
            Err(failure) => return Err(failure),
        };
        if is_over(link, thread) {
            self.run = Run::Running;
            return Ok(());
        }
        let place = self.place(&stop);
        if reason == Reason::Failure && self.fail(link, body, thread, &place)? {
            return Ok(());
        }
        let mut event = Event::new("stopped").with("reason", reason.name()).object("location", place.told());
        if reason == Reason::Breakpoint {
            let function = stop.frames.first().map(|frame| frame.name.as_str()).unwrap_or_default();
            let at = (place.path.as_str(), place.line, function);
            let is_same_file = |one: &str, other: &str| self.plan.files.same(one, other);
            if let Some(hit) = self.plan.breakpoints.hit_by(body, at, is_same_file) {
                event = event.with("breakpointId", hit.number);
            }
        }
        if self.threads == Threads::Known {
            event = event.with("threadId", thread.0);
        }
        self.run = Run::Stopped(stop);
        link.say(event)?;
        match self.tell_what_changed(link, reason) {
            // What is only told along with a stop must not fail it: others may have ended it meanwhile.
            Err(Failure::Refused(_)) => Ok(()),
            result => result,
        }
    }

    fn tell_what_changed(&mut self, link: &mut Link, reason: Reason) -> Result<(), Failure> {
        let Run::Stopped(stop) = &self.run else { return Ok(()) };
        let (thread, depth) = (stop.thread, stop.depth);
        if let Some(frame) = stop.frames.first() {
            let function = frame.name.clone();
            let variables = self.variables(link, &frame.clone(), ScopeKind::Locals)?;
            for changed in self.memory.compare(thread, depth, &function, variables) {
                if reason == Reason::Step {
                    let told = crate::inspect::variable(&changed);
                    let event = told
                        .into_iter()
                        .fold(Event::new("variableUpdate"), |event, (key, value)| event.with(key, value));
                    link.say(event.with("frameIndex", 0))?;
                }
            }
        }
        self.update_watches(link)
    }

    /// Tells what went wrong. True if the program goes on by itself, to its end: with others there it waits for them.
    fn fail(
        &mut self,
        link: &mut Link,
        body: &Value,
        thread: ThreadId,
        place: &Place,
    ) -> Result<bool, Failure> {
        let mut message = String::new();
        if link.client.can("supportsExceptionInfoRequest") {
            match link.ask_quietly("exceptionInfo", json!({"threadId": thread.0})) {
                Ok(info) => {
                    let said = [&info["description"], &info["exceptionId"]];
                    message =
                        said.map(model::text).into_iter().find(|text| !text.is_empty()).unwrap_or_default();
                }
                Err(Failure::Refused(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        if message.is_empty() {
            let said = [&body["text"], &body["description"]].map(model::text);
            message =
                said.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| "runtime error".to_owned());
        }
        link.say(Event::new("error").with("message", &*message).object("location", place.told()))?;
        let here = Some((place.file.clone(), place.line));
        let again = self.last_failure == here;
        self.last_failure = here;
        // One that comes to the same failure again would do so for ever.
        if again || complete(has_others(link, &self.name))? {
            return Ok(false);
        }
        match link.ask_quietly("continue", json!({"threadId": thread.0})) {
            Ok(_) => {
                self.run = Run::Running;
                Ok(true)
            }
            Err(Failure::Refused(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Where a stop is: its innermost frame that is in a file, or if there is none, the program.
    fn place(&mut self, stop: &Stop) -> Place {
        let in_a_file = |frame: &&Frame| frame.source.as_ref().is_some_and(|source| source.path.is_some());
        match stop.frames.iter().find(in_a_file) {
            Some(frame) => {
                let path = frame.source.as_ref().and_then(|source| source.path.clone()).unwrap_or_default();
                let file = self.plan.files.file_of(frame);
                Place { path, file, line: frame.line.max(1), column: frame.column }
            }
            None => {
                let program = &self.plan.program;
                Place { path: program.path.clone(), file: program.spelled.clone(), line: 1, column: 1 }
            }
        }
    }
}

struct Place {
    /// As the debugger knows it.
    path: String,
    /// As the IDE spells it.
    file: String,
    line: i64,
    column: i64,
}

impl Place {
    fn told(&self) -> Members {
        location(&self.file, self.line, self.column)
    }
}

/// Whether something is known already that ended this stop.
fn is_over(link: &mut Link, thread: ThreadId) -> bool {
    link.client.waiting().any(|happening| match happening {
        Happening::Event(DebuggerEvent { name, body }) => {
            let same = ThreadId::read(body).is_none_or(|other| other == thread);
            match name.as_str() {
                "terminated" => true,
                "stopped" => same,
                "continued" => same || body["allThreadsContinued"] != Value::Bool(false),
                _ => false,
            }
        }
        Happening::Disconnected { .. } => true,
        Happening::Answered(_) | Happening::Interrupt | Happening::Leave | Happening::Typed(_) => false,
    })
}

/// The variables of each frame at its last stop, so that only what changed is told.
#[derive(Debug, Default)]
pub struct Memory {
    /// By thread, the outermost frame first. Deeper ones than the last stop's are gone.
    stacks: HashMap<i64, Vec<Option<Seen>>>,
}

#[derive(Debug)]
struct Seen {
    function: String,
    variables: Vec<Variable>,
}

impl Memory {
    /// What is new or different since the last stop in this frame, in the debugger's order.
    fn compare(
        &mut self,
        thread: ThreadId,
        depth: usize,
        function: &str,
        variables: Vec<Variable>,
    ) -> Vec<Variable> {
        let stack = self.stacks.entry(thread.0).or_default();
        stack.resize_with(depth, || None);
        let Some(last) = stack.last_mut() else { return Vec::new() };
        let known = last.take().filter(|seen| seen.function == function);
        let known = known.map(|seen| seen.variables).unwrap_or_default();
        let known: HashMap<&str, &Variable> = known.iter().map(|one| (&*one.name, one)).collect();
        let is_new = |variable: &&Variable| known.get(&*variable.name) != Some(variable);
        let changed = variables.iter().filter(is_new).cloned().collect();
        *last = Some(Seen { function: function.to_owned(), variables });
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(all: &[(&str, &str)]) -> Vec<Variable> {
        let read = |(name, value): &(&str, &str)| Variable {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            kind: "int".to_owned(),
        };
        all.iter().map(read).collect()
    }

    #[test]
    fn what_changed_is_found_frame_by_frame() {
        let mut memory = Memory::default();
        let main = ThreadId(1);
        let mut names = |depth, function: &str, now: &[(&str, &str)]| -> Vec<String> {
            let changed = memory.compare(main, depth, function, variables(now));
            changed.into_iter().map(|variable| variable.name).collect()
        };
        assert_eq!(names(1, "main", &[("x", "1")]), ["x"]);
        assert_eq!(names(1, "main", &[("x", "1"), ("y", "2")]), ["y"]);
        assert_eq!(names(2, "add", &[("a", "1")]), ["a"]);
        assert_eq!(names(1, "main", &[("x", "3"), ("y", "2")]), ["x"]);
        // The call is another one, though it looks the same.
        assert_eq!(names(2, "add", &[("a", "1")]), ["a"]);
        assert_eq!(names(2, "other", &[("a", "1")]), ["a"]);
        assert!(names(0, "", &[]).is_empty());
    }

    #[test]
    fn reasons_are_only_those_of_the_document() {
        let reason =
            |reason: &str, run: Run, pause| Reason::of(&json!({"reason": reason}), &run, pause).name();
        for (said, run, told) in [
            ("step", Run::Stepping, "step"),
            ("breakpoint", Run::Stepping, "breakpoint"),
            ("function breakpoint", Run::Running, "breakpoint"),
            ("data breakpoint", Run::Running, "breakpoint"),
            ("entry", Run::Entering, "entry"),
            ("pause", Run::Running, "step"),
            ("goto", Run::Running, "step"),
            ("signal", Run::Entering, "entry"),
            ("exception", Run::Entering, "entry"),
        ] {
            assert_eq!(reason(said, run, PauseAsked::No), told, "{said}");
        }
        let of = |text: &str, run: Run, pause| {
            Reason::of(&json!({"reason": "exception", "description": text}), &run, pause)
        };
        assert_eq!(of("signal SIGSTOP", Run::Entering, PauseAsked::No), Reason::Entry);
        assert_eq!(of("signal SIGSEGV", Run::Entering, PauseAsked::No), Reason::Failure);
        assert_eq!(of("ZeroDivisionError", Run::Entering, PauseAsked::No), Reason::Failure);
        assert_eq!(of("ZeroDivisionError", Run::Running, PauseAsked::Yes), Reason::Failure);
        let failure = |pause| Reason::of(&json!({"reason": "exception"}), &Run::Running, pause);
        assert_eq!(failure(PauseAsked::No), Reason::Failure);
        assert_eq!(failure(PauseAsked::Yes), Reason::Step);
    }
}
