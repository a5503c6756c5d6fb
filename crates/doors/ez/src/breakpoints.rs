//! The IDE's breakpoints, with the numbers that it knows them by.
//!
//! A debugger takes all breakpoints of a file at once, so each change sends that file's whole list again. What the
//! debugger thinks of one is told as it becomes known: it may move a breakpoint, or refuse it.

use std::collections::BTreeSet;

use breakroom_client::breakpoints::{Group, Terms};
use breakroom_client::{Client, model};
use serde_json::{Value, json};

use crate::command::Spot;
use crate::event::Event;
use crate::failure::{Failure, cannot};
use crate::files::{Files, location};
use crate::link::Link;
use crate::live::Live;
use crate::starting::Plan;

#[derive(Debug, Default)]
pub struct Breakpoints {
    all: Vec<Breakpoint>,
    last: i64,
}

#[derive(Debug, Clone)]
struct Breakpoint {
    id: i64,
    target: Target,
    terms: Terms,
    /// The debugger's number for it.
    known_as: Option<i64>,
    /// Where the debugger put it.
    at: Option<i64>,
    /// Why the debugger refused it, so that this is not told again with every change in its file. It stays nevertheless:
    /// some debuggers refuse what only waits for its code to be loaded, and accept it then.
    refused: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Line { path: String, spelled: String, line: i64 },
    Function(String),
    Data { name: String, data: String, access: Option<String> },
}

impl Target {
    fn group(&self) -> Group {
        match self {
            Target::Line { path, .. } => Group::File(path.clone()),
            Target::Function(_) => Group::Functions,
            Target::Data { .. } => Group::Data,
        }
    }

    /// Whether both mean one place. How it is spelled does not matter, nor what the debugger calls the data.
    fn is(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::Line { path, line, .. }, Target::Line { path: other_path, line: other_line, .. }) => {
                (path, line) == (other_path, other_line)
            }
            (Target::Function(name), Target::Function(other)) => name == other,
            (Target::Data { name, .. }, Target::Data { name: other, .. }) => name == other,
            _ => false,
        }
    }
}

impl Plan {
    pub fn set_breakpoint(
        &mut self,
        link: &mut Link,
        spot: Spot,
        terms: Terms,
        is_live: bool,
    ) -> Result<(), Failure> {
        let target = self.target(&spot);
        let before = (self.breakpoints.all.clone(), self.breakpoints.last);
        let id = self.breakpoints.insert(target.clone(), terms);
        let mut complaints = Vec::new();
        if is_live {
            let sent = self.breakpoints.send(link, &target.group());
            complaints = sent.inspect_err(|_| (self.breakpoints.all, self.breakpoints.last) = before)?;
        }
        // One that was refused has not been set. Others of the file that moved are told all the same.
        let is_refused = complaints.iter().any(|complaint| complaint.about == id && complaint.is_refusal);
        if let Some(breakpoint) = self.breakpoints.all.iter().find(|one| one.id == id).filter(|_| !is_refused)
        {
            link.say(breakpoint.told(None))?;
        }
        complaints.into_iter().try_for_each(|complaint| link.say(complaint.event))
    }

    /// One that is not there is as good as cleared.
    pub fn clear_breakpoint(&mut self, link: &mut Link, spot: &Spot, is_live: bool) -> Result<(), Failure> {
        let target = self.target(spot);
        let before = self.breakpoints.all.len();
        // An IDE that was told of a move knows it by its new line, where there may be several.
        self.breakpoints.all.retain(|one| !one.target.is(&target) && !one.is_now_at(&target));
        if is_live && self.breakpoints.all.len() < before {
            self.breakpoints.send(link, &target.group())?;
        }
        Ok(())
    }

    fn target(&mut self, spot: &Spot) -> Target {
        match spot {
            Spot::Line { file, line } => {
                Target::Line { path: self.files.name(file), spelled: file.clone(), line: *line }
            }
            Spot::Function(name) => Target::Function(name.clone()),
        }
    }
}

impl Live {
    pub fn set_data_breakpoint(
        &mut self,
        link: &mut Link,
        name: &str,
        frame: usize,
        access: Option<&str>,
    ) -> Result<(), Failure> {
        if !link.client.can("supportsDataBreakpoints") {
            return Err(cannot("stop at changes of data"));
        }
        let frame = self.frame(link, frame, None)?;
        // A name alone would be taken for an expression, and its value for an address.
        let question = match self.holder_of(link, &frame, name)? {
            Some(holder) => json!({"variablesReference": holder.0, "name": name}),
            None => json!({"name": name, "frameId": frame.id.0}),
        };
        let info = link.ask("dataBreakpointInfo", question)?;
        let Some(data) = info["dataId"].as_str() else {
            let why = model::text(&info["description"]);
            let why = if why.is_empty() { format!("there is no data for {name}") } else { why };
            return Err(Failure::Refused(why));
        };
        let breakpoints = &mut self.plan.breakpoints;
        let access = access.map(str::to_owned);
        let target = Target::Data { name: name.to_owned(), data: data.to_owned(), access };
        let before = (breakpoints.all.clone(), breakpoints.last);
        let id = breakpoints.insert(target, Terms::default());
        let sent = breakpoints.send(link, &Group::Data);
        let complaints = sent.inspect_err(|_| (breakpoints.all, breakpoints.last) = before)?;
        if complaints.iter().all(|complaint| complaint.about != id) {
            link.say(Event::new("dataBreakpointSet").with("name", name).with("id", id))?;
        }
        complaints.into_iter().try_for_each(|complaint| link.say(complaint.event))
    }
}

/// What the debugger thinks of a breakpoint.
struct Complaint {
    about: i64,
    is_refusal: bool,
    event: Event,
}

impl Breakpoints {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A second one at the same place takes the first one's number.
    fn insert(&mut self, target: Target, terms: Terms) -> i64 {
        if let Some(known) = self.all.iter_mut().find(|breakpoint| breakpoint.target.is(&target)) {
            (known.target, known.terms) = (target, terms);
            // What the debugger makes of it is told anew.
            (known.at, known.refused) = (None, None);
            return known.id;
        }
        self.last += 1;
        self.all.push(Breakpoint { id: self.last, target, terms, known_as: None, at: None, refused: None });
        self.last
    }

    pub fn clear_data(&mut self, link: &mut Link, name: &str) -> Result<(), Failure> {
        let is_it = |breakpoint: &Breakpoint| matches!(&breakpoint.target, Target::Data { name: own, .. } if own == name);
        let before = self.all.len();
        self.all.retain(|breakpoint| !is_it(breakpoint));
        if self.all.len() < before {
            self.send(link, &Group::Data)?;
        }
        Ok(())
    }

    /// Tells the debugger about every breakpoint; what it thinks of them.
    pub fn send_all(&mut self, link: &mut Link) -> Result<Vec<Event>, Failure> {
        let groups: BTreeSet<Group> = self.all.iter().map(|breakpoint| breakpoint.target.group()).collect();
        let mut events = Vec::new();
        for group in groups {
            match self.send(link, &group) {
                Ok(complaints) => events.extend(complaints.into_iter().map(|complaint| complaint.event)),
                // It costs the breakpoints of this group, and not the launch.
                Err(Failure::Refused(why)) => {
                    let (lost, kept) = std::mem::take(&mut self.all)
                        .into_iter()
                        .partition(|one| one.target.group() == group);
                    let lost: Vec<Breakpoint> = lost;
                    events.extend(lost.iter().map(|breakpoint| breakpoint.refusal(&why)));
                    self.all = kept;
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(events)
    }

    fn send(&mut self, link: &mut Link, group: &Group) -> Result<Vec<Complaint>, Failure> {
        let mut complaints = Vec::new();
        self.all.retain(|breakpoint| {
            let missing = match breakpoint.target.group() == *group {
                true => breakpoint.cannot_be(&link.client),
                false => None,
            };
            complaints.extend(missing.map(|what| Complaint {
                about: breakpoint.id,
                is_refusal: true,
                event: breakpoint.refusal(&cannot(what).to_string()),
            }));
            missing.is_none()
        });
        let mut members: Vec<&mut Breakpoint> =
            self.all.iter_mut().filter(|breakpoint| breakpoint.target.group() == *group).collect();
        if members.is_empty() && !complaints.is_empty() {
            return Ok(complaints);
        }
        let wanted: Vec<Value> = members.iter().map(|breakpoint| breakpoint.request()).collect();
        let (request, arguments) = group.request(wanted);
        let body = link.ask_quietly(request, arguments)?;
        // The answer may be shorter than the request.
        let answers = body["breakpoints"].as_array().cloned().unwrap_or_default();
        for (breakpoint, answer) in members.iter_mut().zip(&answers) {
            breakpoint.known_as = model::integer(&answer["id"]);
            complaints.extend(breakpoint.learn(answer));
        }
        Ok(complaints)
    }

    /// The debugger found out more about a breakpoint.
    pub fn update(&mut self, event: &Value) -> Option<Event> {
        let answer = &event["breakpoint"];
        let id = model::integer(&answer["id"])?;
        let breakpoint = self.all.iter_mut().find(|breakpoint| breakpoint.known_as == Some(id))?;
        breakpoint.learn(answer).map(|complaint| complaint.event)
    }

    /// Which one a stop is at: as the debugger says, or by its path, line and function.
    pub fn hit(&self, stopped: &Value, at: (&str, i64, &str), files: &Files) -> Option<i64> {
        let said = model::list(&stopped["hitBreakpointIds"], model::integer);
        let by_number = |breakpoint: &&Breakpoint| breakpoint.known_as.is_some_and(|id| said.contains(&id));
        let (file, stopped_at, function) = at;
        let by_place = |breakpoint: &&Breakpoint| match &breakpoint.target {
            Target::Line { path, line, .. } => {
                breakpoint.at.unwrap_or(*line) == stopped_at && files.same(path, file)
            }
            Target::Function(name) => name == function,
            Target::Data { .. } => false,
        };
        let found = self.all.iter().find(by_number).or_else(|| self.all.iter().find(by_place));
        found.map(|breakpoint| breakpoint.id)
    }
}

impl Breakpoint {
    fn is_now_at(&self, place: &Target) -> bool {
        match (&self.target, place) {
            (Target::Line { path, .. }, Target::Line { path: other, line, .. }) => {
                path == other && self.at == Some(*line)
            }
            _ => false,
        }
    }

    fn request(&self) -> Value {
        let mut request = match &self.target {
            Target::Line { line, .. } => json!({"line": line}),
            Target::Function(name) => json!({"name": name}),
            Target::Data { data, access, .. } => match access {
                Some(access) => json!({"dataId": data, "accessType": access}),
                None => json!({"dataId": data}),
            },
        };
        self.terms.add_to(&mut request);
        request
    }

    /// What this debugger would have to be able to do.
    fn cannot_be(&self, client: &Client) -> Option<&'static str> {
        let is_function = matches!(self.target, Target::Function(_));
        let Terms { condition, hits, log } = &self.terms;
        let needs = [
            (is_function, "supportsFunctionBreakpoints", "stop at functions; give a line"),
            (condition.is_some(), "supportsConditionalBreakpoints", "stop on conditions"),
            (hits.is_some(), "supportsHitConditionalBreakpoints", "count hits"),
            (log.is_some(), "supportsLogPoints", "print log messages"),
        ];
        needs
            .into_iter()
            .find(|(needed, capability, _)| *needed && !client.can(capability))
            .map(|need| need.2)
    }

    /// What there is to tell about the debugger's answer.
    fn learn(&mut self, answer: &Value) -> Option<Complaint> {
        let moved_from = match &self.target {
            Target::Line { line, .. } => Some(self.at.unwrap_or(*line)),
            Target::Function(_) | Target::Data { .. } => None,
        };
        if answer["verified"] == Value::Bool(true) {
            // One that was refused may be accepted once its code is loaded.
            let was_refused = self.refused.take().is_some();
            let now = model::integer(&answer["line"]);
            self.at = now.or(self.at);
            let is_moved = moved_from.is_some_and(|before| now.is_some_and(|now| now != before));
            let event = self.told(self.at);
            return (is_moved || was_refused).then_some(Complaint {
                about: self.id,
                is_refusal: false,
                event,
            });
        }
        // One that only waits for its code to be loaded may have a message too.
        let why = answer["message"].as_str().filter(|_| answer["reason"] != "pending")?;
        if self.refused.as_deref() == Some(why) {
            return None;
        }
        self.refused = Some(why.to_owned());
        Some(Complaint { about: self.id, is_refusal: true, event: self.refusal(why) })
    }

    /// As it was set, or at the line where it is now.
    fn told(&self, now: Option<i64>) -> Event {
        let event = Event::new("breakpointSet");
        let event = match &self.target {
            Target::Line { spelled, line, .. } => {
                event.with("file", &**spelled).with("line", now.unwrap_or(*line))
            }
            Target::Function(name) => event.with("function", &**name),
            Target::Data { name, .. } => event.with("name", &**name),
        };
        event.with("id", self.id)
    }

    fn refusal(&self, why: &str) -> Event {
        let refuse = |place: &str, command| {
            Event::refusal(&format!("Cannot set breakpoint at {place}: {why}"), Some(command))
        };
        match &self.target {
            Target::Line { spelled, line, .. } => refuse(&format!("{spelled}:{line}"), "setBreakpoint")
                .object("location", location(spelled, *line, 1)),
            Target::Function(name) => refuse(name, "setBreakpoint"),
            Target::Data { name, .. } => refuse(name, "setDataBreakpoint"),
        }
    }
}
