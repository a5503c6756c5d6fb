//! The breakpoints the person asked for, with the numbers they are known by.
//!
//! A debugger takes all breakpoints of a file at once, so each change sends that file's whole list again.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::error::Error;
use crate::place::written;
use breakroom_client::breakpoints::{Group, Terms};
use breakroom_client::{Client, model};

#[derive(Debug, Default)]
pub struct Breakpoints {
    all: Vec<Breakpoint>,
    last_number: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    pub number: u32,
    pub target: Target,
    pub terms: Terms,
    pub state: State,
    id: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Line {
        path: String,
        line: i64,
    },
    Function(String),
    /// The changes of a variable, by the id that the debugger gave.
    Data {
        name: String,
        id: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Where the debugger put it, if that is not where it was wanted.
    Verified { moved_to: Option<i64> },
    /// Not there yet, with what the debugger says about it.
    Pending { why: Option<String> },
    /// Not there, and the debugger says why.
    Refused { reason: String, failed: Failed },
}

/// Whether the debugger said in the protocol's words that it will not have a breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    Surely,
    Perhaps,
}

impl Target {
    fn group(&self) -> Group {
        match self {
            Self::Line { path, .. } => Group::File(path.clone()),
            Self::Function(_) => Group::Functions,
            Self::Data { .. } => Group::Data,
        }
    }
}

impl Breakpoints {
    pub fn all(&self) -> &[Breakpoint] {
        &self.all
    }

    /// Whether there are some and the debugger will have none of them.
    pub fn are_all_refused(&self) -> bool {
        let is_refused = |breakpoint: &Breakpoint| matches!(breakpoint.state, State::Refused { .. });
        !self.all.is_empty() && self.all.iter().all(is_refused)
    }

    /// Adds it to the list; the debugger is not told yet. A second one at the same place replaces the first.
    pub fn insert(&mut self, target: Target, terms: Terms) -> u32 {
        self.all.retain(|breakpoint| breakpoint.target != target);
        self.last_number += 1;
        let state = State::Pending { why: None };
        self.all.push(Breakpoint { number: self.last_number, target, terms, state, id: None });
        self.last_number
    }

    /// Takes over those of the session that are this client's already.
    pub fn take_over(&mut self, listed: &[Value]) {
        for own in listed.iter().filter(|listed| listed["own"] == true) {
            let line = model::integer(&own["line"]).zip(own["source"]["path"].as_str());
            let target = match (line, own["name"].as_str()) {
                (Some((line, path)), _) => Target::Line { path: path.to_owned(), line },
                (None, Some(name)) => Target::Function(name.to_owned()),
                (None, None) => continue,
            };
            self.insert(target, Terms::of(own));
        }
    }

    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.all.iter().find(|breakpoint| breakpoint.number == number)
    }

    /// Tells the debugger about every breakpoint; the refusals, which cost only the breakpoints they are about.
    pub fn send_all(&mut self, client: &mut Client) -> Result<Vec<Error>, Error> {
        let groups: BTreeSet<Group> = self.all.iter().map(|breakpoint| breakpoint.target.group()).collect();
        let mut refusals = Vec::new();
        for group in groups {
            match self.send(&group, client) {
                Err(refusal) if refusal.is_refusal() => refusals.push(refusal),
                result => result?,
            }
        }
        Ok(refusals)
    }

    pub fn add(&mut self, target: Target, terms: Terms, client: &mut Client) -> Result<u32, Error> {
        let group = target.group();
        let before = self.all.clone();
        let number = self.insert(target, terms);
        if let Err(error) = self.send(&group, client) {
            self.all = before;
            return Err(error);
        }
        Ok(number)
    }

    /// Removes one, or all; the numbers that were removed.
    pub fn remove(&mut self, number: Option<u32>, client: &mut Client) -> Result<Vec<u32>, Error> {
        let (gone, kept): (Vec<_>, Vec<_>) = self
            .all
            .drain(..)
            .partition(|breakpoint| number.is_none_or(|number| number == breakpoint.number));
        self.all = kept;
        let groups: BTreeSet<Group> = gone.iter().map(|breakpoint| breakpoint.target.group()).collect();
        for group in groups {
            self.send(&group, client)?;
        }
        Ok(gone.iter().map(|breakpoint| breakpoint.number).collect())
    }

    /// The debugger found out more about a breakpoint; what is to be said about one that waited and is set now.
    pub fn update(&mut self, event: &Value, client: &mut Client) -> Option<String> {
        let answer = &event["breakpoint"];
        let id = model::integer(&answer["id"])?;
        let breakpoint = self.all.iter_mut().find(|breakpoint| breakpoint.id == Some(id))?;
        let before = std::mem::replace(&mut breakpoint.state, State::Pending { why: None });
        breakpoint.learn(answer);
        let news = match (&before, &breakpoint.state) {
            (State::Verified { .. }, _) | (_, State::Pending { .. } | State::Refused { .. }) => None,
            (_, State::Verified { .. }) => Some(breakpoint.announce()),
        };
        self.tell_pending_apart(client);
        news
    }

    /// Debuggers have many words for a breakpoint that waits for its code, and the hub knows them.
    fn tell_pending_apart(&mut self, client: &mut Client) {
        let is_in_doubt = |breakpoint: &Breakpoint| {
            matches!(breakpoint.state, State::Refused { failed: Failed::Perhaps, .. })
        };
        if !self.all.iter().any(is_in_doubt) {
            return;
        }
        // Whoever is no hub does not know the question, and then the debugger's words have to do.
        let listed = client.request("breakroom/breakpoints", json!({})).unwrap_or_default();
        let pending = model::list(&listed["breakpoints"], |listed| {
            (listed["own"] == true && listed["state"] == "pending").then(|| model::integer(&listed["id"]))?
        });
        for breakpoint in self.all.iter_mut().filter(|breakpoint| is_in_doubt(breakpoint)) {
            if let State::Refused { reason, .. } = &breakpoint.state
                && breakpoint.id.is_some_and(|id| pending.contains(&id))
            {
                breakpoint.state = State::Pending { why: Some(reason.clone()) };
            }
        }
    }

    fn send(&mut self, group: &Group, client: &mut Client) -> Result<(), Error> {
        let mut members: Vec<&mut Breakpoint> =
            self.all.iter_mut().filter(|breakpoint| breakpoint.target.group() == *group).collect();
        let wanted: Vec<Value> = members.iter().map(|breakpoint| breakpoint.request()).collect();
        if *group == Group::Functions && !client.can("supportsFunctionBreakpoints") {
            return Err(Error::Missing {
                what: "function breakpoint in this debugger".to_owned(),
                advice: "give the line instead".to_owned(),
            });
        }
        let (command, arguments) = group.request(wanted);
        let body = client.request(command, arguments)?;
        // The answer may be shorter than the request.
        let answers = body["breakpoints"].as_array().cloned().unwrap_or_default();
        for (breakpoint, answer) in members.iter_mut().zip(&answers) {
            breakpoint.id = model::integer(&answer["id"]);
            breakpoint.learn(answer);
        }
        self.tell_pending_apart(client);
        Ok(())
    }
}

impl Breakpoint {
    fn request(&self) -> Value {
        let mut request = match &self.target {
            Target::Line { line, .. } => json!({"line": line}),
            Target::Function(name) => json!({"name": name}),
            Target::Data { id, .. } => json!({"dataId": id, "accessType": "write"}),
        };
        self.terms.add_to(&mut request);
        request
    }

    fn learn(&mut self, answer: &Value) {
        let wanted = match &self.target {
            Target::Line { line, .. } => Some(*line),
            Target::Function(_) | Target::Data { .. } => None,
        };
        let message = answer["message"].as_str().filter(|message| !message.is_empty()).map(str::to_owned);
        self.state = match (answer["verified"] == Value::Bool(true), message) {
            (true, _) => {
                let line = model::integer(&answer["line"]);
                State::Verified { moved_to: line.filter(|line| wanted.is_some_and(|wanted| wanted != *line)) }
            }
            (false, Some(reason)) if answer["reason"] == "failed" => {
                State::Refused { reason, failed: Failed::Surely }
            }
            (false, Some(reason)) if answer["reason"] != "pending" => {
                State::Refused { reason, failed: Failed::Perhaps }
            }
            (false, why) => State::Pending { why },
        };
    }

    fn place(&self) -> String {
        match &self.target {
            Target::Line { path, line } => format!("{}:{line}", model::file_name(path)),
            Target::Function(name) => name.clone(),
            Target::Data { name, .. } => format!("changes of {name}"),
        }
    }

    /// `breakpoint 1 is set at t.py:3`, of one that waited.
    fn announce(&self) -> String {
        let moved = match self.state {
            State::Verified { moved_to: Some(line) } => format!(" (moved to line {line})"),
            _ => String::new(),
        };
        format!("breakpoint {} is set at {}{moved}", self.number, self.place())
    }

    /// `breakpoint 1 at t.py:3 if a > 1`, and what is special about it.
    pub fn describe(&self) -> String {
        let place = self.place();
        let state = match &self.state {
            State::Verified { moved_to: None } => String::new(),
            State::Verified { moved_to: Some(line) } => format!(" (moved to line {line})"),
            State::Pending { why: None } => " (pending)".to_owned(),
            State::Pending { why: Some(why) } => match reason_to_wait(why) {
                "" => " (pending)".to_owned(),
                why => format!(" (pending: {why})"),
            },
            State::Refused { reason, .. } => format!(" (not set: {reason})"),
        };
        format!("breakpoint {} at {place}{}{state}", self.number, written(&self.terms))
    }
}

/// What a debugger says beyond that a breakpoint is pending.
fn reason_to_wait(why: &str) -> &str {
    let why = why.trim().trim_end_matches('.');
    let why = why.strip_suffix("breakpoint pending").map_or(why, |rest| rest.trim_end_matches([',', ' ']));
    let lower = why.to_ascii_lowercase();
    if lower.starts_with("pending") {
        why["pending".len()..].trim_start_matches([':', ',', ' '])
    } else {
        why
    }
}

/// `breakpoint of Ann at t.py:3 if a > 1 (pending), hit 2 times`.
pub fn of_another(listed: &Value) -> String {
    let text = |key: &str| listed[key].as_str().unwrap_or_default();
    let line = model::integer(&listed["line"]).zip(listed["source"]["path"].as_str());
    let place = line.map(|(line, path)| format!("{}:{line}", model::file_name(path)));
    let place = match (place, text("name")) {
        (Some(place), _) => place,
        // What it watches has a name only for its owner.
        (None, "") => "changes of a variable".to_owned(),
        (None, name) => name.to_owned(),
    };
    let state = match text("state") {
        "" | "verified" => String::new(),
        "rejected" => format!(" (not set: {})", text("reason")),
        state => format!(" ({state})"),
    };
    let hits = match model::integer(&listed["hits"]) {
        None | Some(0) => String::new(),
        Some(1) => ", hit once".to_owned(),
        Some(hits) => format!(", hit {hits} times"),
    };
    let terms = written(&Terms::of(listed));
    format!("breakpoint of {} at {place}{terms}{state}{hits}", text("owner"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: i64) -> Target {
        Target::Line { path: "/a/t.py".to_owned(), line }
    }

    fn on(condition: &str) -> Terms {
        Terms { condition: Some(condition.to_owned()), ..Terms::default() }
    }

    #[test]
    fn a_breakpoint_says_where_it_is_and_what_became_of_it() {
        let mut breakpoints = Breakpoints::default();
        breakpoints.insert(line(3), on("a > 1"));
        let mut breakpoint = breakpoints.get(1).cloned().unwrap();
        assert_eq!(breakpoint.describe(), "breakpoint 1 at t.py:3 if a > 1 (pending)");
        for (answer, end) in [
            (json!({"verified": true, "line": 3}), "if a > 1"),
            (json!({"verified": true, "line": 5}), "(moved to line 5)"),
            (json!({"verified": true}), "if a > 1"),
            (json!({"verified": false, "message": "no code here"}), "if a > 1 (not set: no code here)"),
            (
                json!({"verified": false, "message": "not loaded", "reason": "pending"}),
                "(pending: not loaded)",
            ),
            (json!({"verified": false, "message": ""}), "(pending)"),
            (json!({"verified": false, "message": "pending", "reason": "pending"}), "a > 1 (pending)"),
            (
                json!({"verified": false, "message": "pending: no process", "reason": "pending"}),
                "(pending: no process)",
            ),
        ] {
            breakpoint.learn(&answer);
            assert!(breakpoint.describe().ends_with(end), "{}", breakpoint.describe());
        }
    }

    #[test]
    fn what_the_session_has_of_this_client_is_taken_over_and_what_others_have_is_only_shown() {
        let mine = json!({
            "own": true, "line": 3, "source": {"path": "/a/t.py"}, "condition": "a > 1", "hitCondition": "2",
            "logMessage": "a is {a}"
        });
        let theirs = json!({
            "own": false, "owner": "Ann", "line": 4, "source": {"path": "/a/t.py"}, "state": "pending", "hits": 2
        });
        let mut breakpoints = Breakpoints::default();
        breakpoints.take_over(&[mine, theirs.clone(), json!({"own": true, "name": "add"})]);
        let targets: Vec<_> = breakpoints.all().iter().map(|breakpoint| breakpoint.target.clone()).collect();
        assert_eq!(targets, [line(3), Target::Function("add".to_owned())]);
        assert_eq!(written(&breakpoints.all()[0].terms), " if a > 1 hits 2 log \"a is {a}\"");
        assert_eq!(of_another(&theirs), "breakpoint of Ann at t.py:4 (pending), hit 2 times");
    }

    #[test]
    fn a_second_breakpoint_at_a_place_replaces_the_first() {
        let mut breakpoints = Breakpoints::default();
        breakpoints.insert(line(3), Terms::default());
        breakpoints.insert(Target::Function("add".to_owned()), Terms::default());
        breakpoints.insert(line(3), on("a"));
        let numbers: Vec<u32> = breakpoints.all().iter().map(|breakpoint| breakpoint.number).collect();
        assert_eq!(numbers, [2, 3]);
    }
}
