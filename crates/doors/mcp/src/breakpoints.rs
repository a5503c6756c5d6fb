//! An agent's breakpoints: what it wants, and what became of each.
//!
//! What the debugger made of them is the hub's to say, which knows it of all debuggers alike: `pending`, `verified`,
//! `moved`, `rejected`, and how often each was hit. Nothing is called verified here that the hub does not call so.

pub mod conditions;
pub mod definitions;
pub mod filters;
pub mod places;
mod setting;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use breakroom_client::breakpoints::{Group, Terms};
use breakroom_client::model;
use serde_json::{Value, json};

use crate::breakpoints::definitions::Definition;
use crate::failure::Failure;
use crate::session::seen::Stop;
use crate::telling::source::line_of;

/// Of those that captured and were taken away, so many are remembered.
const MOST_FORMER: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Line {
        file: PathBuf,
        line: i64,
    },
    Function(String),
    /// Wherever this variable changes, by what its debugger calls it.
    Data {
        name: String,
        id: String,
    },
}

impl Place {
    /// Whether the hub lists a breakpoint for this place.
    fn is_of(&self, listed: &Value) -> bool {
        match self {
            Place::Line { file, line } => is_line(listed, file, *line),
            Place::Function(name) => listed["name"].as_str() == Some(name),
            Place::Data { id, .. } => listed["dataId"].as_str() == Some(id),
        }
    }
}

fn is_line(listed: &Value, file: &Path, line: i64) -> bool {
    model::integer(&listed["line"]) == Some(line)
        && listed["source"]["path"].as_str().is_some_and(|path| file.as_os_str() == path)
}

/// Whether it can be hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Pending,
    Verified,
    Moved,
    Rejected,
}

impl State {
    /// What the hub calls it. A word that is not known promises nothing.
    fn read(word: &str) -> State {
        let all = [State::Verified, State::Moved, State::Rejected];
        all.into_iter().find(|state| state.word() == word).unwrap_or_default()
    }

    pub fn word(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Verified => "verified",
            State::Moved => "moved",
            State::Rejected => "rejected",
        }
    }
}

/// What the hub says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    pub state: State,
    /// Where it landed, if not where it was asked for.
    pub line: Option<i64>,
    pub reason: Option<String>,
    pub hits: i64,
}

/// One breakpoint as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub place: Place,
    /// What its line was found by.
    pub text: Option<String>,
    /// The file that its function is in, if that was said.
    pub file: Option<PathBuf>,
    pub terms: Terms,
    pub capture: Option<Vec<String>>,
}

impl Wish {
    /// To stop there, and nothing else.
    pub fn plain(place: Place) -> Wish {
        Wish { place, text: None, file: None, terms: Terms::default(), capture: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// Ours: it stays the same, whatever is set or removed beside it.
    pub number: u32,
    pub place: Place,
    /// What its line was found by: looked up again when the program is.
    pub text: Option<String>,
    /// The file that its function is in, if that was said.
    pub file: Option<PathBuf>,
    /// Where its function is, if the debugger knows none by name.
    pub found: Option<Definition>,
    /// Why the debugger is not even asked.
    pub refused: Option<Failure>,
    pub terms: Terms,
    /// What is written down instead of stopping; nothing named means all locals.
    pub capture: Option<Vec<String>>,
    /// The hub's number, once it has one.
    pub hub: Option<i64>,
    pub truth: Truth,
    /// Whether its condition was evaluated where it is.
    pub is_reached: bool,
}

#[derive(Default)]
pub struct Breakpoints {
    pub all: Vec<Breakpoint>,
    /// Those that captured and were taken away: the program may have been on its way to a stop there.
    pub former: Vec<Breakpoint>,
    last: u32,
    /// The run that their hits are of.
    run: u32,
}

impl Breakpoint {
    /// Whether it means nothing when the program runs again.
    fn is_of_this_run(&self) -> bool {
        matches!(self.place, Place::Data { .. })
    }

    /// What the debugger is told it with. None if it is not.
    fn group(&self) -> Option<Group> {
        let of_file = |file: &Path| Group::File(file.to_string_lossy().into_owned());
        match (&self.refused, &self.found, &self.place) {
            (Some(_), ..) => None,
            (None, Some(Definition { file, .. }), _) | (None, None, Place::Line { file, .. }) => {
                Some(of_file(file))
            }
            (None, None, Place::Function(_)) => Some(Group::Functions),
            (None, None, Place::Data { .. }) => Some(Group::Data),
        }
    }

    fn request(&self) -> Value {
        let mut request = match (&self.found, &self.place) {
            (Some(Definition { line, column: Some(column), .. }), _) => {
                json!({"line": line, "column": column})
            }
            (Some(Definition { line, .. }), _) | (None, Place::Line { line, .. }) => json!({"line": line}),
            (None, Place::Function(name)) => json!({"name": name}),
            // Where nothing is said, lldb stops at reads, too.
            (None, Place::Data { id, .. }) => json!({"dataId": id, "accessType": "write"}),
        };
        self.terms.add_to(&mut request);
        // A number alone means other hits to other debuggers.
        if let Some(count) = self.terms.hits.as_deref().and_then(|hits| hits.trim().parse::<u64>().ok()) {
            request["hitCondition"] = format!("=={count}").into();
        }
        if self.capture.is_some() {
            // Others in the session do not take its hits for stops.
            request["breakroom"] = json!({"capture": true});
        }
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
        // One that waits for a reason was never there, whatever the debugger says of it, unless it was hit.
        let was_there = *hits > 0 || self.truth.reason.is_none();
        if self.truth.state == State::Pending && was_there {
            self.truth.state = State::Verified;
        }
    }

    /// The line that it is to stop in, unless only the debugger knows.
    pub fn line(&self) -> Option<(&Path, i64)> {
        match (&self.found, &self.place) {
            (Some(Definition { file, line, .. }), _) | (None, Place::Line { file, line }) => {
                Some((file, self.truth.line.unwrap_or(*line)))
            }
            (None, Place::Function(_) | Place::Data { .. }) => None,
        }
    }

    /// `t.py:7` or the function's name.
    pub fn place(&self) -> String {
        let place = |file: &Path, line: i64| format!("{}:{line}", model::file_name(&file.to_string_lossy()));
        match (&self.place, &self.found) {
            (Place::Line { file, line }, _) => place(file, *line),
            (Place::Data { name, .. }, _) => format!("changes of {name}"),
            (Place::Function(name), None) => name.clone(),
            (Place::Function(name), Some(found)) => format!("{name} at {}", place(&found.file, found.line)),
        }
    }

    /// The debugger is not asked.
    fn refuse(&mut self, failure: Failure) {
        let reason = match &failure.next {
            Some(next) => format!("{}. {next}", failure.what),
            None => failure.what.clone(),
        };
        self.truth = Truth { state: State::Rejected, reason: Some(reason), ..Truth::default() };
        (self.refused, self.hub) = (Some(failure), None);
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
        let (number, place, state) = (self.number, self.place(), state.word());
        format!("breakpoint {number} {place} · {state}{moved}{reason}{hits}{terms}{capture}")
    }

    pub fn data(&self) -> Value {
        let Truth { state, line, reason, hits } = &self.truth;
        let mut data = json!({"id": self.number, "state": state.word(), "hits": hits});
        match &self.place {
            Place::Line { file, line: asked } => {
                data["file"] = file.to_string_lossy().into();
                data["line"] = line.unwrap_or(*asked).into();
                data["requested_line"] = (*asked).into();
            }
            Place::Function(name) => data["function"] = name.as_str().into(),
            Place::Data { name, .. } => data["watch"] = name.as_str().into(),
        }
        if let (Place::Function(_), Some((file, line))) = (&self.place, self.line()) {
            data["file"] = file.to_string_lossy().into();
            data["line"] = line.into();
        }
        if let Some(reason) = reason {
            data["reason"] = reason.as_str().into();
        }
        data
    }
}

impl Breakpoints {
    pub fn of(wishes: Vec<Wish>) -> Breakpoints {
        let mut breakpoints = Breakpoints::default();
        for wish in wishes {
            breakpoints.add(wish);
        }
        breakpoints
    }

    /// The number it has from now on.
    pub fn add(&mut self, wish: Wish) -> u32 {
        let Wish { place, text, file, terms, capture } = wish;
        // The same place again means other terms.
        self.take(|other| other.place == place);
        self.last += 1;
        self.all.push(Breakpoint {
            number: self.last,
            place,
            text,
            file,
            found: None,
            refused: None,
            terms,
            capture,
            hub: None,
            truth: Truth::default(),
            is_reached: false,
        });
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

    /// What is learned from now on is of this run: one that began anew has hit nothing yet.
    fn count_in(&mut self, run: u32) {
        if self.run != run {
            self.run = run;
            self.all.iter_mut().for_each(|breakpoint| breakpoint.truth.hits = 0);
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

    /// They are where they were, as if they had never been taken away.
    fn put_back(&mut self, taken: impl Iterator<Item = Breakpoint>) {
        self.all.extend(taken);
        self.all.sort_by_key(|breakpoint| breakpoint.number);
        let all = &self.all;
        self.former.retain(|former| !all.iter().any(|one| one.number == former.number));
    }

    /// The one that another at this place would replace.
    pub fn at(&self, place: &Place) -> Option<&Breakpoint> {
        self.all.iter().find(|breakpoint| breakpoint.place == *place)
    }

    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.all.iter().find(|breakpoint| breakpoint.number == number)
    }

    /// Those of another session, to be set in a new one.
    pub fn again(&self) -> Breakpoints {
        let again = |old: &Breakpoint| Breakpoint { hub: None, truth: Truth::default(), ..old.clone() };
        let all = self.all.iter().map(again).collect();
        let mut again = Breakpoints { all, last: self.last, ..Breakpoints::default() };
        again.find_again();
        again
    }

    fn reject(&mut self, group: &Group, reason: &str) {
        for refused in self.all.iter_mut().filter(|breakpoint| breakpoint.group().as_ref() == Some(group)) {
            let reason = Some(reason.to_owned());
            refused.truth = Truth { state: State::Rejected, reason, ..Truth::default() };
        }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.all.iter().filter_map(Breakpoint::group).collect();
        groups.sort();
        groups.dedup();
        groups
    }
}

#[cfg(test)]
mod tests;
