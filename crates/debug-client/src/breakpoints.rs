//! The breakpoints that a user wants, by the numbers of a front end, and what the debugger made of each.
//!
//! A debugger takes all breakpoints of a file at once, so each change sends that file's whole list again.

use std::collections::BTreeSet;

pub use breakroom_client::breakpoints::{Group, Terms};
use breakroom_client::model;
use serde_json::{Value, json};

use crate::Requests;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Line { path: String, line: i64 },
    Function(String),
    Data { name: String, data: String, access: Option<String> },
}

impl Place {
    pub fn group(&self) -> Group {
        match self {
            Place::Line { path, .. } => Group::File(path.clone()),
            Place::Function(_) => Group::Functions,
            Place::Data { .. } => Group::Data,
        }
    }

    /// Whether both mean one place. What the debugger calls the data does not matter.
    pub fn is(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Data { name, .. }, Place::Data { name: other, .. }) => name == other,
            _ => self == other,
        }
    }
}

/// One breakpoint. `extra` is what a front end adds, such as the user's own spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint<X> {
    pub number: i64,
    pub place: Place,
    pub options: Terms,
    pub enabled: bool,
    pub extra: X,
    /// The debugger's number for it.
    adapter_id: Option<i64>,
    /// The line where the debugger put it.
    pub moved_to: Option<i64>,
    /// Why the debugger refused it, so that this is not reported again with every change in its file. It stays nevertheless:
    /// some debuggers refuse what only waits for its code to be loaded, and accept it then.
    refused: Option<String>,
}

/// What the debugger made of a breakpoint, if it differs from what was known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition<X> {
    pub breakpoint: Breakpoint<X>,
    /// Without a reason it is verified, at the line where it is now.
    pub refused: Option<String>,
}

#[derive(Debug, Clone)]
pub struct BreakpointSet<X> {
    all: Vec<Breakpoint<X>>,
    last: i64,
}

impl<X> Default for BreakpointSet<X> {
    fn default() -> Self {
        BreakpointSet { all: Vec::new(), last: 0 }
    }
}

impl<X: Clone> BreakpointSet<X> {
    pub fn all(&self) -> &[Breakpoint<X>] {
        &self.all
    }

    pub fn get(&self, number: i64) -> Option<&Breakpoint<X>> {
        self.all.iter().find(|breakpoint| breakpoint.number == number)
    }

    /// Adds or changes a breakpoint; a second one at the same place keeps the first one's number. Nothing is sent.
    pub fn set(&mut self, place: Place, options: Terms, enabled: bool, extra: X) -> i64 {
        if let Some(known) = self.all.iter_mut().find(|breakpoint| breakpoint.place.is(&place)) {
            (known.place, known.options, known.enabled, known.extra) = (place, options, enabled, extra);
            // What the debugger makes of it is reported again.
            (known.moved_to, known.refused) = (None, None);
            return known.number;
        }
        self.last += 1;
        let (adapter_id, moved_to, refused) = (None, None, None);
        let number = self.last;
        self.all.push(Breakpoint { number, place, options, enabled, extra, adapter_id, moved_to, refused });
        self.last
    }

    /// Removes some, and returns them. Nothing is sent.
    pub fn remove(&mut self, is_meant: impl Fn(&Breakpoint<X>) -> bool) -> Vec<Breakpoint<X>> {
        let (gone, kept) = std::mem::take(&mut self.all).into_iter().partition(is_meant);
        self.all = kept;
        gone
    }

    /// Every group that has a breakpoint.
    pub fn groups(&self) -> BTreeSet<Group> {
        self.all.iter().map(|breakpoint| breakpoint.place.group()).collect()
    }

    /// Sends every group. A group that is refused as a whole costs its breakpoints and no others.
    pub async fn send_all<R: Requests>(&mut self, to: &mut R) -> Result<Vec<Transition<X>>, R::Error> {
        let mut transitions = Vec::new();
        for group in self.groups() {
            match self.send(&group, to).await {
                Ok(more) => transitions.extend(more),
                Err(error) => {
                    let Some(why) = R::as_refusal(&error).map(str::to_owned) else { return Err(error) };
                    let lost = self.remove(|one| one.place.group() == group);
                    transitions.extend(lost.into_iter().map(|breakpoint| breakpoint.refused_for(&why)));
                }
            }
        }
        Ok(transitions)
    }

    /// Sends a group. What the debugger cannot do is dropped without asking.
    pub async fn send<R: Requests>(
        &mut self,
        group: &Group,
        to: &mut R,
    ) -> Result<Vec<Transition<X>>, R::Error> {
        let mut transitions = Vec::new();
        self.all.retain(|breakpoint| {
            let missing = match breakpoint.place.group() == *group {
                true => breakpoint.missing_capability(to),
                false => None,
            };
            let why = missing.map(|what| format!("this debugger cannot {what}"));
            transitions.extend(why.as_ref().map(|why| breakpoint.clone().refused_for(why)));
            why.is_none()
        });
        let mut members: Vec<&mut Breakpoint<X>> =
            self.all.iter_mut().filter(|breakpoint| breakpoint.place.group() == *group).collect();
        if members.is_empty() && !transitions.is_empty() {
            return Ok(transitions);
        }
        members.retain(|breakpoint| breakpoint.enabled);
        let wanted: Vec<Value> = members.iter().map(|breakpoint| breakpoint.request()).collect();
        let (request, arguments) = group.request(wanted);
        let body = to.request(request, arguments).await?;
        // The answer may be shorter than the request.
        let answers = body["breakpoints"].as_array().cloned().unwrap_or_default();
        for (breakpoint, answer) in members.iter_mut().zip(&answers) {
            breakpoint.adapter_id = model::integer(&answer["id"]);
            transitions.extend(breakpoint.learn(answer));
        }
        Ok(transitions)
    }

    /// The debugger found out more about a breakpoint: the body of its `breakpoint` event.
    pub fn on_event(&mut self, body: &Value) -> Option<Transition<X>> {
        let answer = &body["breakpoint"];
        let id = model::integer(&answer["id"])?;
        let breakpoint = self.all.iter_mut().find(|breakpoint| breakpoint.adapter_id == Some(id))?;
        breakpoint.learn(answer)
    }

    /// Which one a stop is at: as the debugger says, or by its path, line and function.
    pub fn hit_by(
        &self,
        stopped: &Value,
        (file, stopped_at, function): (&str, i64, &str),
        is_same_file: impl Fn(&str, &str) -> bool,
    ) -> Option<&Breakpoint<X>> {
        let said = model::list(&stopped["hitBreakpointIds"], model::integer);
        let by_number = |one: &&Breakpoint<X>| one.adapter_id.is_some_and(|id| said.contains(&id));
        let by_place = |one: &&Breakpoint<X>| match &one.place {
            Place::Line { path, line } => {
                one.moved_to.unwrap_or(*line) == stopped_at && is_same_file(path, file)
            }
            Place::Function(name) => name == function,
            Place::Data { .. } => false,
        };
        let mut enabled = self.all.iter().filter(|one| one.enabled);
        enabled.clone().find(by_number).or_else(|| enabled.find(by_place))
    }
}

impl<X: Clone> Breakpoint<X> {
    fn refused_for(self, why: &str) -> Transition<X> {
        Transition { breakpoint: self, refused: Some(why.to_owned()) }
    }

    fn request(&self) -> Value {
        let mut request = match &self.place {
            Place::Line { line, .. } => json!({"line": line}),
            Place::Function(name) => json!({"name": name}),
            Place::Data { data, access, .. } => match access {
                Some(access) => json!({"dataId": data, "accessType": access}),
                None => json!({"dataId": data}),
            },
        };
        self.options.add_to(&mut request);
        request
    }

    /// What this debugger would have to be able to do.
    fn missing_capability(&self, client: &impl Requests) -> Option<&'static str> {
        let is_function = matches!(self.place, Place::Function(_));
        let Terms { condition, hits, log } = &self.options;
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

    /// What is new in the debugger's answer.
    fn learn(&mut self, answer: &Value) -> Option<Transition<X>> {
        let moved_from = match &self.place {
            Place::Line { line, .. } => Some(self.moved_to.unwrap_or(*line)),
            Place::Function(_) | Place::Data { .. } => None,
        };
        if answer["verified"] == Value::Bool(true) {
            // One that was refused may be accepted once its code is loaded.
            let was_refused = self.refused.take().is_some();
            let now = model::integer(&answer["line"]);
            self.moved_to = now.or(self.moved_to);
            let is_moved = moved_from.is_some_and(|before| now.is_some_and(|now| now != before));
            return (is_moved || was_refused).then(|| Transition { breakpoint: self.clone(), refused: None });
        }
        // One that only waits for its code to be loaded may have a message too.
        let why = answer["message"].as_str().filter(|_| answer["reason"] != "pending")?;
        if self.refused.as_deref() == Some(why) {
            return None;
        }
        self.refused = Some(why.to_owned());
        Some(self.clone().refused_for(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complete;

    /// A debugger that moves breakpoints on even lines one down, and refuses those beyond line 10.
    #[derive(Default)]
    struct Debugger {
        holds: Vec<i64>,
    }

    impl Requests for Debugger {
        type Error = String;

        fn request(
            &mut self,
            _: &'static str,
            arguments: Value,
        ) -> impl Future<Output = Result<Value, String>> + Send {
            let lines = model::list(&arguments["breakpoints"], |one| model::integer(&one["line"]));
            self.holds.clone_from(&lines);
            let answers = lines.iter().map(|line| match line {
                11.. => json!({"id": line, "verified": false, "message": "no code"}),
                line => json!({"id": line, "verified": true, "line": line + (1 - line % 2)}),
            });
            std::future::ready(Ok(json!({"breakpoints": answers.collect::<Vec<_>>()})))
        }

        fn can(&self, capability: &str) -> bool {
            capability != "supportsConditionalBreakpoints"
        }

        fn refusal(&self, why: String) -> String {
            why
        }

        fn as_refusal(error: &String) -> Option<&str> {
            Some(error)
        }
    }

    fn line(line: i64) -> Place {
        Place::Line { path: "/t".to_owned(), line }
    }

    #[test]
    fn set_equals_what_the_debugger_holds_after_each_change() {
        let (mut set, mut debugger) = (BreakpointSet::default(), Debugger::default());
        let file = Group::File("/t".to_owned());
        let first = set.set(line(3), Terms::default(), true, ());
        let second = set.set(line(4), Terms::default(), true, ());
        let moved = complete(set.send(&file, &mut debugger)).unwrap();
        assert_eq!(moved.len(), 1);
        assert_eq!((moved[0].breakpoint.number, moved[0].breakpoint.moved_to), (second, Some(5)));
        assert_eq!(debugger.holds, [3, 4]);
        assert_eq!(set.set(line(3), Terms::default(), false, ()), first);
        assert!(complete(set.send(&file, &mut debugger)).unwrap().is_empty());
        assert_eq!(debugger.holds, [4]);
        let hit =
            |stopped: &Value, at| set.hit_by(stopped, ("/t", at, ""), |a, b| a == b).map(|one| one.number);
        assert_eq!(hit(&json!({"hitBreakpointIds": [4]}), 9), Some(second));
        assert_eq!((hit(&json!({}), 5), hit(&json!({}), 3)), (Some(second), None));
        assert_eq!(set.remove(|one| one.number == second).len(), 1);
        assert!(complete(set.send(&file, &mut debugger)).unwrap().is_empty());
        assert!(debugger.holds.is_empty());
    }

    #[test]
    fn refused_breakpoint_stays_and_impossible_one_goes() {
        let (mut set, mut debugger) = (BreakpointSet::default(), Debugger::default());
        set.set(line(12), Terms::default(), true, ());
        let condition = Terms { condition: Some("x".to_owned()), ..Terms::default() };
        set.set(line(7), condition, true, ());
        let transitions = complete(set.send_all(&mut debugger)).unwrap();
        let why: Vec<_> = transitions.iter().filter_map(|one| one.refused.as_deref()).collect();
        assert_eq!(why, ["this debugger cannot stop on conditions", "no code"]);
        assert_eq!((set.all().len(), debugger.holds.as_slice()), (1, [12].as_slice()));
        // It is reported once.
        assert!(complete(set.send_all(&mut debugger)).unwrap().is_empty());
        let accepted = set.on_event(&json!({"breakpoint": {"id": 12, "verified": true, "line": 12}}));
        assert_eq!(accepted.map(|one| one.refused), Some(None));
    }
}
