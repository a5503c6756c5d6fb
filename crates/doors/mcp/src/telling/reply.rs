//! What a call answers: what is known of it by name, which scripts read, and a text for the model. Only at the edge
//! ([`Rendered`]) it becomes data.

use std::fmt;

use breakroom_client::model::{self, Frame};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::secrets::Secrets;
use crate::session::seen::{Epoch, Thread};
use crate::telling::budget::{LONGEST_FUNCTION, Rests, Room, cut, cut_as_data, fit_data, line};

/// Room for the words about what was left out.
const FOR_THE_CURSOR: usize = 80;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub text: String,
    pub is_error: bool,
    /// The session that it is about, and how that is.
    pub session: Option<String>,
    pub state: Option<State>,
    pub epoch: Option<Epoch>,
    pub exit_code: Option<i64>,
    pub stop: Option<StopTold>,
    /// Of several expressions.
    pub results: Vec<Evaluated>,
    /// The table of what was captured.
    pub captured: Vec<Value>,
    /// What of the output the text tells. No later answer tells it again.
    pub printed: String,
    pub failure: Option<Failure>,
    /// What only programs read.
    more: Map<String, Value>,
}

/// How a session is, as agents are told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Starting,
    Running,
    Paused,
    Ended,
    Failed,
    /// The agent has ended it, and it is only remembered.
    Terminated,
    /// It goes on without this client.
    Left,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Running => "running",
            State::Paused => "paused",
            State::Ended => "ended",
            State::Failed => "failed",
            State::Terminated => "terminated",
            State::Left => "left",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.word())
    }
}

/// Why and where a thread stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopTold {
    pub thread: Thread,
    pub reason: String,
    pub exception: Option<String>,
    /// Nothing if it has no frames, or cannot be looked at.
    pub place: Option<PlaceTold>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceTold {
    pub function: String,
    pub file: Option<String>,
    pub line: i64,
}

impl PlaceTold {
    pub fn of(frame: &Frame) -> PlaceTold {
        let file = frame.source.as_ref().and_then(|source| source.path.clone());
        PlaceTold { function: line(&frame.name, LONGEST_FUNCTION), file, line: frame.line }
    }
}

impl StopTold {
    /// On one line.
    pub fn brief(&self) -> Option<String> {
        let PlaceTold { function, file, line } = self.place.as_ref()?;
        let file = model::file_name(file.as_deref().unwrap_or_default());
        let exception = self.exception.as_ref().map(|said| format!(" · {said}")).unwrap_or_default();
        Some(format!("{}: {function} at {file}:{line}{exception}", self.reason))
    }
}

/// What became of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    pub expression: String,
    /// Its value and type, or why it has none.
    pub result: Result<(String, String), String>,
}

impl Evaluated {
    pub fn data(&self) -> Value {
        match &self.result {
            Ok((value, kind)) => json!({"expression": self.expression, "result": value, "type": kind}),
            Err(why) => json!({"expression": self.expression, "error": why}),
        }
    }
}

/// A reply as it leaves the door.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    pub text: String,
    pub data: Map<String, Value>,
    pub is_error: bool,
}

impl Reply {
    pub fn new(text: impl Into<String>) -> Reply {
        Reply { text: text.into(), ..Reply::default() }
    }

    /// One about this session.
    pub fn about(session: &str, text: impl Into<String>) -> Reply {
        Reply { session: Some(session.to_owned()), ..Reply::new(text) }
    }

    pub fn failed(failure: Failure) -> Reply {
        let mut reply = Reply::default();
        reply.fail(failure);
        reply
    }

    /// It is a failure, in whose text there may be something already.
    pub fn fail(&mut self, failure: Failure) {
        self.add(&failure.text());
        (self.is_error, self.failure) = (true, Some(failure));
    }

    /// Adds what only programs read.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.more.insert(key.to_owned(), value.into());
    }

    /// Adds all members of an object that only programs read.
    #[must_use]
    pub fn with(mut self, data: Value) -> Reply {
        if let Value::Object(members) = data {
            self.more.extend(members);
        }
        self
    }

    /// Another line of the text.
    pub fn add(&mut self, line: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    /// Adds a table of captured hits, behind the one that is there.
    pub fn add_captured(&mut self, table: Reply) {
        if !table.text.is_empty() {
            self.add(&table.text);
        }
        self.captured.extend(table.captured);
        self.more.extend(table.more);
    }

    /// The same for programs.
    pub fn data(&self) -> Map<String, Value> {
        let mut data = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            value.map(|value| data.insert(key.to_owned(), value));
        };
        put("session_id", self.session.clone().map(Value::from));
        put("state", self.state.map(|state| state.word().into()));
        put("epoch", self.epoch.map(|epoch| epoch.0.into()));
        put("exit_code", self.exit_code.map(Value::from));
        if let Some(StopTold { thread, reason, exception, place }) = &self.stop {
            put("thread_id", Some(thread.number().into()));
            put("reason", Some(reason.clone().into()));
            put("exception", exception.clone().map(Value::from));
            if let Some(PlaceTold { function, file, line }) = place {
                put("function", Some(function.clone().into()));
                put("file", Some(file.clone().into()));
                put("line", Some((*line).into()));
            }
        }
        let list = |items: Vec<Value>| (!items.is_empty()).then(|| Value::from(items));
        put("results", list(self.results.iter().map(Evaluated::data).collect()));
        put("captured", list(self.captured.clone()));
        if let Some(Failure { what, next }) = &self.failure {
            put("error", Some(what.clone().into()));
            put("next", next.clone().map(Value::from));
        }
        data.extend(self.more.clone());
        data
    }

    pub fn size_as_data(&self) -> usize {
        Value::Object(self.data()).to_string().len()
    }

    /// Cuts it to its room; the rest of the text can be had by a cursor.
    pub fn render(mut self, room: Room, rests: Option<&mut Rests>) -> Rendered {
        if self.text.len() > room.text {
            let next = self.take_next(room.text / 2);
            let for_next = next.as_ref().map_or(0, |next| next.len() + 1);
            let (kept, rest) =
                cut(std::mem::take(&mut self.text), room.text.saturating_sub(FOR_THE_CURSOR + for_next));
            self.text = kept;
            match (rest, rests) {
                (Some(rest), Some(rests)) => {
                    let size = rest.len();
                    let cursor = rests.keep(rest);
                    self.add(&format!(
                        "... {size} more characters: debugger_inspect with cursor=\"{cursor}\""
                    ));
                    self.put("cursor", cursor);
                }
                // There is no session that would keep it.
                (Some(rest), None) => {
                    self.add(&format!(
                        "... {} more characters: call again with a larger max_tokens",
                        rest.len()
                    ));
                }
                (None, _) => {}
            }
            next.iter().for_each(|next| self.add(next));
        }
        // The beginning of a long sentence says more than none.
        if let Some(Failure { what, next }) = &mut self.failure {
            for sentence in [Some(what), next.as_mut()].into_iter().flatten() {
                *sentence = cut_as_data(std::mem::take(sentence), room.share(40)).0;
            }
        }
        let mut data = self.data();
        fit_data(&mut data, room.data);
        Rendered { text: self.text, data, is_error: self.is_error }
    }

    /// Takes the line with what to do next out of the text of a failure: what is wrong may be all that a build has printed.
    fn take_next(&mut self, longest: usize) -> Option<String> {
        let line = match self.failure.as_ref().map(|failure| failure.next.as_ref()) {
            Some(next) => format!("Next: {}", next?),
            // A session that failed says so itself, and first of all.
            None if self.is_error => self.text.lines().find(|line| line.starts_with("Next: "))?.to_owned(),
            None => return None,
        };
        let line = Some(line).filter(|line| line.len() <= longest)?;
        let at = match self.failure {
            Some(_) => self.text.rfind(&format!("\n{line}"))?,
            None => self.text.find(&format!("\n{line}"))?,
        };
        self.text.replace_range(at..at + 1 + line.len(), "");
        Some(line)
    }

    /// Without what nobody may see.
    #[must_use]
    pub fn redacted(mut self, secrets: &Secrets) -> Reply {
        let hide = |text: &mut String| *text = secrets.redact(std::mem::take(text));
        hide(&mut self.text);
        hide(&mut self.printed);
        if let Some(StopTold { thread: _, reason, exception, place }) = &mut self.stop {
            hide(reason);
            exception.iter_mut().for_each(hide);
            if let Some(PlaceTold { function, file, line: _ }) = place {
                hide(function);
                file.iter_mut().for_each(hide);
            }
        }
        for Evaluated { expression, result } in &mut self.results {
            hide(expression);
            match result {
                Ok((value, kind)) => [value, kind].into_iter().for_each(hide),
                Err(why) => hide(why),
            }
        }
        if let Some(Failure { what, next }) = &mut self.failure {
            hide(what);
            next.iter_mut().for_each(hide);
        }
        self.captured.iter_mut().chain(self.more.values_mut()).for_each(|value| secrets.redact_all(value));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_always_said() {
        let long = || Reply::new("word\n".repeat(1_000));
        let (mut rests, room) = (Rests::default(), Room::of_each(400));
        let kept = long().render(room, Some(&mut rests));
        assert!(kept.text.len() <= 400 && kept.text.contains("cursor="), "{kept:?}");
        let gone = long().render(room, None);
        assert!(gone.text.len() <= 400 && gone.text.contains("more characters"), "{gone:?}");
    }

    #[test]
    fn what_to_do_next_is_told_however_long_it_takes_to_say_what_is_wrong() {
        let failed = || {
            let mut reply = Reply::failed(Failure::new("error: no\n".repeat(1_000)).next("Mend that."));
            reply.add("(and more)");
            reply
        };
        let (mut rests, room) = (Rests::default(), Room::of_each(400));
        for rests in [Some(&mut rests), None] {
            let told = failed().render(room, rests);
            assert!(told.text.len() <= 400 && told.text.ends_with("\nNext: Mend that."), "{told:?}");
            assert!(
                told.text.starts_with("error: no\n") && told.text.contains("more characters: "),
                "{told:?}"
            );
            assert_eq!(told.data["next"], "Mend that.");
        }
        assert!(rests.take("r1").is_some_and(|rest| rest.contains("error: no") && !rest.contains("Next")));
        let session =
            "failed: ".to_owned() + &"error: no\n".repeat(1_000) + "Next: mend that\noutput:\nNext: 7";
        let session = Reply { is_error: true, ..Reply::new(session) }.render(room, None);
        assert!(session.text.len() <= 400 && session.text.ends_with("\nNext: mend that"), "{session:?}");
        let ran = Reply::new("line\n".repeat(1_000) + "Next: 7").render(room, None);
        assert!(!ran.text.contains("Next: 7"), "what a program prints is no advice: {ran:?}");
        let short = Reply::failed(Failure::new("no").next("Mend that.")).render(room, None);
        assert_eq!(short.text, "no\nNext: Mend that.");
        let endless = Reply::failed(Failure::new("no").next("x".repeat(1_000))).render(room, None);
        assert!(endless.text.starts_with("no\n") && endless.text.len() <= 400, "{endless:?}");
    }

    /// A field that is forgotten in `redacted` or in `data` fails here.
    #[test]
    fn no_part_of_a_reply_shows_a_secret() {
        let said = || "it is hunter22".to_owned();
        let place = PlaceTold { function: said(), file: Some(said()), line: 7 };
        let mut reply = Reply {
            text: said(),
            is_error: true,
            session: Some("k7f2".to_owned()),
            state: Some(State::Paused),
            epoch: Some(Epoch(3)),
            exit_code: Some(4),
            stop: Some(StopTold {
                thread: 1.into(),
                reason: said(),
                exception: Some(said()),
                place: Some(place),
            }),
            results: vec![
                Evaluated { expression: said(), result: Ok((said(), said())) },
                Evaluated { expression: said(), result: Err(said()) },
            ],
            captured: vec![said().into()],
            printed: said(),
            failure: Some(Failure::new(said()).next(said())),
            more: Map::new(),
        };
        reply.put("more", json!({"inside": [said()]}));
        let shown = reply.redacted(&Secrets::of([("DB_PASSWORD", "hunter22")]));
        let all = format!("{} {} {}", shown.text, shown.printed, Value::Object(shown.data()));
        assert!(!all.contains("hunter22"), "{all}");
        assert_eq!(all.matches("[DB_PASSWORD redacted]").count(), 15, "{all}");
    }
}
