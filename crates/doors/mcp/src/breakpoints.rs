//! An agent's breakpoints: what it wants, and what became of each.
//!
//! What the debugger made of them is the hub's to say, which knows it of all debuggers alike: `pending`, `verified`,
//! `moved`, `rejected`, and how often each was hit. Nothing is called verified here that the hub does not call so.

use std::collections::HashMap;
use std::path::PathBuf;

use breakroom_client::breakpoints::{Group, Terms};
use breakroom_client::model;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::seen::Stop;
use crate::session::Session;
use crate::source::line_of;

/// Of those that captured and were taken away, so many are remembered.
const MOST_FORMER: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Line { file: PathBuf, line: i64 },
    Function(String),
}

impl Place {
    /// Whether the hub lists a breakpoint for this place.
    fn is_of(&self, listed: &Value) -> bool {
        match self {
            Place::Line { file, line } => {
                model::integer(&listed["line"]) == Some(*line)
                    && listed["source"]["path"].as_str().is_some_and(|path| file.as_os_str() == path)
            }
            Place::Function(name) => listed["name"].as_str() == Some(name),
        }
    }
}

/// What the hub says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    pub state: String,
    /// Where it landed, if not where it was asked for.
    pub line: Option<i64>,
    pub reason: Option<String>,
    pub hits: i64,
}

impl Default for Truth {
    fn default() -> Self {
        Truth { state: "pending".to_owned(), line: None, reason: None, hits: 0 }
    }
}

/// One breakpoint as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub place: Place,
    /// What its line was found by.
    pub text: Option<String>,
    pub terms: Terms,
    pub capture: Option<Vec<String>>,
}

impl Wish {
    /// To stop there, and nothing else.
    pub fn plain(place: Place) -> Wish {
        Wish { place, text: None, terms: Terms::default(), capture: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// Ours: it stays the same, whatever is set or removed beside it.
    pub number: u32,
    pub place: Place,
    /// What its line was found by: looked up again when the program is.
    pub text: Option<String>,
    pub terms: Terms,
    /// What is written down instead of stopping; nothing named means all locals.
    pub capture: Option<Vec<String>>,
    /// The hub's number, once it has one.
    pub hub: Option<i64>,
    pub truth: Truth,
}

#[derive(Default)]
pub struct Breakpoints {
    pub all: Vec<Breakpoint>,
    /// Those that captured and were taken away: the program may have been on its way to a stop there.
    pub former: Vec<Breakpoint>,
    last: u32,
}

impl Breakpoint {
    fn group(&self) -> Group {
        match &self.place {
            Place::Line { file, .. } => Group::File(file.to_string_lossy().into_owned()),
            Place::Function(_) => Group::Functions,
        }
    }

    fn request(&self) -> Value {
        let mut request = match &self.place {
            Place::Line { line, .. } => json!({"line": line}),
            Place::Function(name) => json!({"name": name}),
        };
        self.terms.add_to(&mut request);
        request
    }

    /// Whether this stop names it.
    pub fn is_hit_by(&self, stop: &Stop) -> bool {
        self.hub.is_some_and(|hub| stop.hit.contains(&hub))
    }

    /// What was heard of it, by the hub's number: that it was there, and how often it was hit.
    fn hear(&mut self, heard: &HashMap<i64, i64>) {
        let Some(hits) = self.hub.and_then(|hub| heard.get(&hub)) else { return };
        self.truth.hits = self.truth.hits.max(*hits);
        if self.truth.state == "pending" {
            self.truth.state = "verified".to_owned();
        }
    }

    /// `t.py:7` or the function's name.
    pub fn place(&self) -> String {
        match &self.place {
            Place::Line { file, line } => format!("{}:{line}", model::file_name(&file.to_string_lossy())),
            Place::Function(name) => name.clone(),
        }
    }

    /// One line about it.
    pub fn describe(&self) -> String {
        let Truth { state, line, reason, hits } = &self.truth;
        let moved = line.map(|line| format!(" to line {line}")).unwrap_or_default();
        let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let Terms { condition, hits: count, log } = &self.terms;
        let term = |word: &str, term: &Option<String>| term.as_ref().map(|term| format!(" · {word} {term}"));
        let terms: String =
            [term("if", condition), term("hits", count), term("log", log)].into_iter().flatten().collect();
        let capture = match &self.capture {
            Some(all) if all.is_empty() => " · captures locals".to_owned(),
            Some(expressions) => format!(" · captures {}", expressions.join(", ")),
            None => String::new(),
        };
        // Debuggers write messages without a word about it.
        let hits = match (log, hits) {
            (Some(_), 0) => String::new(),
            _ => format!(" · {hits} hits"),
        };
        let (number, place) = (self.number, self.place());
        format!("breakpoint {number} {place} · {state}{moved}{reason}{hits}{terms}{capture}")
    }

    pub fn data(&self) -> Value {
        let Truth { state, line, reason, hits } = &self.truth;
        let mut data = json!({"id": self.number, "state": state, "hits": hits});
        match &self.place {
            Place::Line { file, line: asked } => {
                data["file"] = file.to_string_lossy().into();
                data["line"] = line.unwrap_or(*asked).into();
                data["requested_line"] = (*asked).into();
            }
            Place::Function(name) => data["function"] = name.as_str().into(),
        }
        if let Some(reason) = reason {
            data["reason"] = reason.as_str().into();
        }
        data
    }
}

impl Breakpoints {
    /// The number it has from now on.
    pub fn add(&mut self, wish: Wish) -> u32 {
        let Wish { place, text, terms, capture } = wish;
        // The same place again means other terms.
        self.take(|other| other.place == place);
        self.last += 1;
        let truth = Truth::default();
        self.all.push(Breakpoint { number: self.last, place, text, terms, capture, hub: None, truth });
        self.last
    }

    /// Finds the lines again that were found by a text; the source may have been changed.
    pub fn find_again(&mut self) {
        for breakpoint in &mut self.all {
            if let (Place::Line { file, line }, Some(text)) = (&mut breakpoint.place, &breakpoint.text)
                && let Ok(found) = line_of(file, text, Some(*line))
            {
                *line = found;
            }
        }
    }

    /// Takes away those that are meant.
    fn take(&mut self, is_meant: impl Fn(&Breakpoint) -> bool) -> Vec<Breakpoint> {
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.all).into_iter().partition(is_meant);
        self.all = kept;
        self.former.extend(gone.iter().filter(|one| one.capture.is_some()).cloned());
        let too_many = self.former.len().saturating_sub(MOST_FORMER);
        self.former.drain(..too_many);
        gone
    }

    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.all.iter().find(|breakpoint| breakpoint.number == number)
    }

    /// Those of another session, to be set in a new one.
    pub fn again(&self) -> Breakpoints {
        let again = |old: &Breakpoint| Breakpoint { hub: None, truth: Truth::default(), ..old.clone() };
        let all = self.all.iter().map(again).collect();
        let mut again = Breakpoints { all, former: Vec::new(), last: self.last };
        again.find_again();
        again
    }

    fn reject(&mut self, group: &Group, reason: &str) {
        for refused in self.all.iter_mut().filter(|breakpoint| breakpoint.group() == *group) {
            let (state, reason) = ("rejected".to_owned(), Some(reason.to_owned()));
            refused.truth = Truth { state, reason, ..Truth::default() };
        }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.all.iter().map(Breakpoint::group).collect();
        groups.sort();
        groups.dedup();
        groups
    }
}

impl Session {
    /// Tells all of them, when the debugger is ready for them. The program can be debugged without those it refuses.
    pub async fn set_all(&self) {
        let mut breakpoints = self.breakpoints.lock().await;
        for group in breakpoints.groups() {
            if let Err(failure) = self.set_group(&mut breakpoints, &group).await {
                breakpoints.reject(&group, &failure.what);
            }
        }
    }

    /// Adds one and tells the debugger, if it is ready. If that refuses it, everything is as it was.
    pub async fn set(&self, wish: Wish) -> Result<u32, Failure> {
        let mut breakpoints = self.breakpoints.lock().await;
        let before = breakpoints.all.clone();
        let number = breakpoints.add(wish);
        let group = breakpoints.get(number).map(Breakpoint::group);
        if let Some(group) = group.filter(|_| self.seen().is_initialized)
            && let Err(failure) = self.set_group(&mut breakpoints, &group).await
        {
            breakpoints.all = before;
            self.watch_captures(&breakpoints);
            return Err(failure);
        }
        self.learn(&mut breakpoints).await?;
        Ok(number)
    }

    /// Takes away those that are meant, and says how many.
    pub async fn remove(&self, is_meant: impl Fn(&Breakpoint) -> bool) -> Result<usize, Failure> {
        let mut breakpoints = self.breakpoints.lock().await;
        let groups = breakpoints.groups();
        let before = breakpoints.all.clone();
        let gone = breakpoints.take(is_meant);
        for group in groups.into_iter().filter(|group| gone.iter().any(|one| one.group() == *group)) {
            if self.seen().is_initialized
                && let Err(failure) = self.set_group(&mut breakpoints, &group).await
            {
                breakpoints.all = before;
                self.watch_captures(&breakpoints);
                return Err(failure);
            }
        }
        Ok(gone.len())
    }

    async fn set_group(&self, breakpoints: &mut Breakpoints, group: &Group) -> Result<(), Failure> {
        let captures = breakpoints.all.iter().filter(|one| one.capture.is_some());
        let numbers: Vec<u32> = captures.map(|one| one.number).collect();
        if !numbers.is_empty() {
            self.watched.expect_capturing();
        }
        self.watched.change(|seen| seen.captured.set(&numbers));
        let is_set = self.tell_group(breakpoints, group).await;
        self.watch_captures(breakpoints);
        is_set
    }

    /// Whose stops are to be judged from now on, and whose hits written down.
    fn watch_captures(&self, breakpoints: &Breakpoints) {
        let (capturing, others): (Vec<_>, Vec<_>) =
            breakpoints.all.iter().partition(|breakpoint| breakpoint.capture.is_some());
        let own: Vec<u32> = capturing.iter().map(|one| one.number).collect();
        self.watched.change(|seen| seen.captured.set(&own));
        let numbers = |list: Vec<&Breakpoint>| list.into_iter().filter_map(|one| one.hub).collect();
        self.watched.set_capturing(numbers(capturing), numbers(others));
    }

    /// A debugger takes all of a file at once, so each change sends the whole group again.
    async fn tell_group(&self, breakpoints: &mut Breakpoints, group: &Group) -> Result<(), Failure> {
        let of_group = |breakpoint: &&Breakpoint| breakpoint.group() == *group;
        let requests = breakpoints.all.iter().filter(of_group).map(Breakpoint::request).collect();
        let (command, arguments) = group.request(requests);
        let body = self.link.request(command, arguments).await?;
        let answers = body["breakpoints"].as_array().cloned().unwrap_or_default();
        let ours = breakpoints.all.iter_mut().filter(|breakpoint| breakpoint.group() == *group);
        for (breakpoint, answer) in ours.zip(answers) {
            breakpoint.hub = model::integer(&answer["id"]);
        }
        // Where the answer has no numbers, the list of the hub has them.
        if breakpoints.all.iter().any(|breakpoint| breakpoint.hub.is_none()) {
            self.learn(breakpoints).await?;
        }
        Ok(())
    }

    /// Reads what became of each.
    pub async fn learn(&self, breakpoints: &mut Breakpoints) -> Result<Vec<Value>, Failure> {
        if !self.seen().is_initialized || self.seen().is_over() {
            let seen = self.seen();
            breakpoints.all.iter_mut().for_each(|breakpoint| breakpoint.hear(&seen.hits));
            return Ok(Vec::new());
        }
        let body = self.link.request("breakroom/breakpoints", json!({})).await?;
        let listed = body["breakpoints"].as_array().cloned().unwrap_or_default();
        let (own, others): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|one| one["own"] == Value::Bool(true));
        for breakpoint in &mut breakpoints.all {
            let is_it = |one: &&Value| match breakpoint.hub {
                Some(hub) => model::integer(&one["id"]) == Some(hub),
                // Ruby's debugger answers without numbers.
                None => breakpoint.place.is_of(one),
            };
            // Numbers are of one kind of breakpoint.
            let is_function = matches!(breakpoint.place, Place::Function(_));
            let of_its_kind = |one: &&Value| one["source"].is_object() != is_function;
            if let Some(listed) = own.iter().filter(of_its_kind).find(is_it) {
                breakpoint.hub = model::integer(&listed["id"]);
                breakpoint.truth = Truth {
                    state: model::text(&listed["state"]),
                    line: model::integer(&listed["actualLine"]),
                    reason: listed["reason"].as_str().map(str::to_owned),
                    hits: model::integer(&listed["hits"]).unwrap_or_default(),
                };
            }
        }
        Ok(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_place_again_means_other_terms_and_numbers_are_never_given_twice() {
        let mut breakpoints = Breakpoints::default();
        let place = Place::Line { file: "/a/t.py".into(), line: 7 };
        assert_eq!(breakpoints.add(Wish::plain(place.clone())), 1);
        let terms = Terms { condition: Some("n > 1".to_owned()), ..Terms::default() };
        assert_eq!(breakpoints.add(Wish { terms, capture: Some(Vec::new()), ..Wish::plain(place) }), 2);
        assert_eq!(breakpoints.add(Wish::plain(Place::Function("main".to_owned()))), 3);
        let described: Vec<_> = breakpoints.all.iter().map(Breakpoint::describe).collect();
        assert_eq!(
            described,
            [
                "breakpoint 2 t.py:7 · pending · 0 hits · if n > 1 · captures locals",
                "breakpoint 3 main · pending · 0 hits"
            ]
        );
        assert_eq!(breakpoints.groups(), [Group::File("/a/t.py".to_owned()), Group::Functions]);
    }

    #[test]
    fn a_line_that_was_found_by_its_text_is_found_again_where_it_has_moved_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("t.py");
        std::fs::write(&file, "a = 1\nb = 2\n").expect("written");
        let place = Place::Line { file: file.clone(), line: 2 };
        let mut breakpoints = Breakpoints::default();
        breakpoints.add(Wish { text: Some("b = 2".to_owned()), ..Wish::plain(place) });
        std::fs::write(&file, "a = 1\n# new\n# new\nb = 2\n").expect("written");
        assert_eq!(breakpoints.again().all[0].place, Place::Line { file, line: 4 });
    }

    #[test]
    fn what_was_hit_was_there_although_the_hub_cannot_be_asked_any_more() {
        let mut breakpoints = Breakpoints::default();
        breakpoints.add(Wish::plain(Place::Function("main".to_owned())));
        let breakpoint = &mut breakpoints.all[0];
        breakpoint.hear(&HashMap::from([(4, 2)]));
        assert_eq!(breakpoint.truth, Truth::default());
        breakpoint.hub = Some(4);
        breakpoint.hear(&HashMap::from([(4, 2)]));
        assert_eq!((breakpoint.truth.state.as_str(), breakpoint.truth.hits), ("verified", 2));
    }

    #[test]
    fn a_place_is_known_in_the_list_of_the_hub_without_a_number() {
        let listed = json!({"id": 4, "line": 7, "source": {"path": "/a/t.rb"}});
        let at = |file: &str, line| Place::Line { file: file.into(), line };
        assert!(at("/a/t.rb", 7).is_of(&listed));
        assert!(!at("/a/t.rb", 8).is_of(&listed) && !at("/b/t.rb", 7).is_of(&listed));
        let function = Place::Function("main".to_owned());
        assert!(function.is_of(&json!({"id": 4, "name": "main"})) && !function.is_of(&listed));
    }
}
