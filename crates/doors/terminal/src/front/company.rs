//! The others in the session: who is there, who did what, and what leaving means to them.
//!
//! All of it is asked of the hub. Whoever is no hub does not know the questions, and then there are no others.

use std::io::Write;

use serde_json::{Value, json};

use crate::commands::Command;
use crate::error::Error;
use crate::front::{Front, GOODBYE_PATIENCE, PauseAsked, Position, ProgramInput, Resumer};
use crate::{Request, view};
use breakroom_client::model::{self, ThreadId};

/// Somebody else who resumed the program, and the word for it.
pub(super) struct Mover {
    pub name: String,
    deed: &'static str,
}

/// The session as the hub lists it.
#[derive(Debug, PartialEq, Eq)]
struct Company {
    id: String,
    name: String,
    others: Vec<String>,
}

/// What others do and how it is told: requests that resume only say who it was, those that look are not worth a word.
const RESUMING: [&str; 8] =
    ["continue", "reverseContinue", "next", "stepIn", "stepOut", "stepBack", "goto", "restartFrame"];
const UNTOLD: [&str; 1] = ["evaluate"];

impl<O: Write> Front<'_, O> {
    /// Which session this is and who else is there. One that was begun here is introduced to a person only.
    pub(super) fn introduce(&mut self) -> Result<(), Error> {
        if !self.is_joined() && !self.setup.interactive {
            return Ok(());
        }
        let Some(Company { id, name, others }) = self.sessions().and_then(|all| self.company(&all)) else {
            return Ok(());
        };
        let others = match others.as_slice() {
            [] => "nobody else is here".to_owned(),
            others => format!("with {}", others.join(", ")),
        };
        let line = match self.setup.request {
            Request::Launch | Request::Attach => {
                format!("session {id}: others join it with `breakroom attach {id}`")
            }
            Request::Join if self.observes() => format!("watching {id} ({name}), {others}"),
            Request::Join => format!("joined {id} ({name}), {others}"),
        };
        self.screen.murmur(&line)
    }

    /// How to disconnect, and what is said after it.
    pub(super) fn farewell(&mut self) -> (Value, String) {
        if self.is_joined() {
            return (plain_goodbye(), String::new());
        }
        let Some(sessions) = self.sessions() else {
            let ends = self.setup.request == Request::Launch;
            return (json!({"restart": false, "terminateDebuggee": ends}), String::new());
        };
        let farewell = match self.company(&sessions) {
            Some(Company { id, others, .. }) if !others.is_empty() => {
                let others = match others.len() {
                    1 => "1 other is".to_owned(),
                    several => format!("{several} others are"),
                };
                format!("{others} still here; the session goes on as {id}")
            }
            Some(_) | None => String::new(),
        };
        (plain_goodbye(), farewell)
    }

    pub(super) fn observes(&self) -> bool {
        self.setup.launch["breakroom"]["role"] == "observe"
    }

    /// All sessions of the hub, if there is a hub.
    pub(super) fn sessions(&mut self) -> Option<Vec<Value>> {
        let body = self.client.request_within("breakroom/sessions", json!({}), GOODBYE_PATIENCE).ok()?;
        body["sessions"].as_array().cloned()
    }

    /// Which of the sessions this one is: the one with this client in it, by its name if there are several.
    fn company(&self, sessions: &[Value]) -> Option<Company> {
        let own = |session: &&Value| clients(session).any(|client| client == self.setup.name);
        let mine: Vec<&Value> = sessions.iter().filter(own).collect();
        let wanted = self.setup.session.clone().or_else(|| self.launched_name());
        let called = |session: &&Value| {
            wanted.is_some()
                && [session["id"].as_str(), session["name"].as_str()].contains(&wanted.as_deref())
        };
        let named: Vec<&Value> = mine.iter().copied().filter(called).collect();
        let found = match (mine.as_slice(), named.as_slice()) {
            ([only], _) | (_, [only]) => only,
            _ => return None,
        };
        let mut others: Vec<String> = clients(found).map(str::to_owned).collect();
        // Once: another may have the same name.
        let myself = others.iter().position(|client| *client == self.setup.name)?;
        others.remove(myself);
        Some(Company { id: model::text(&found["id"]), name: model::text(&found["name"]), others })
    }

    /// What the hub calls a session that was begun here.
    fn launched_name(&self) -> Option<String> {
        let launch = &self.setup.launch;
        let said = [&launch["breakroom"]["name"], &launch["name"], &launch["program"]];
        said.into_iter().find_map(Value::as_str).map(|said| model::file_name(said).to_owned())
    }

    /// Somebody else did something.
    pub(super) fn hear_of(&mut self, body: &Value) -> Result<(), Error> {
        let text = |key: &str| body[key].as_str().unwrap_or_default();
        let (name, command) = (text("client"), text("command"));
        if RESUMING.contains(&command) {
            self.mover = Some(Mover { name: name.to_owned(), deed: "resumed" });
            return Ok(());
        }
        if command == "restart" {
            self.mover = Some(Mover { name: name.to_owned(), deed: "restarted" });
            self.input = ProgramInput::Open;
            if let Position::Stopped(_) = self.position {
                // That it runs again is told next, with the same words.
                return Ok(());
            }
        }
        if UNTOLD.contains(&command) {
            return Ok(());
        }
        let what = match text("name") {
            "" => String::new(),
            variable => format!(": {variable} = {}", view::value(text("value"))),
        };
        self.screen.murmur(&format!("{name} {}{what}", text("deed")))
    }

    /// Threads run again. What this client resumed itself is known already.
    pub(super) fn went_on(&mut self, body: &Value) -> Result<(), Error> {
        let (thread, all) = (ThreadId::read(body), body["allThreadsContinued"] != Value::Bool(false));
        self.waiting_stops.retain(|stopped| !all && ThreadId::read(&stopped.body) != thread);
        match &self.position {
            Position::Stopped(stop) if all || thread.is_none_or(|thread| thread == stop.thread) => {}
            _ => return Ok(()),
        }
        let Mover { name, deed } =
            self.mover.take().unwrap_or_else(|| Mover { name: "somebody else".to_owned(), deed: "resumed" });
        self.moves += 1;
        self.last_other.clone_from(&name);
        self.screen.say(&format!("the program runs again: {name} {deed} it"))?;
        self.position = Position::Running { pause: PauseAsked::No, by: Resumer::Other(name) };
        match self.waiting_stops.pop_front() {
            Some(event) => self.arrive(&event),
            None => Ok(()),
        }
    }

    /// Why a resume that was typed is not carried out.
    pub(super) fn moved(&self) -> Error {
        match &self.position {
            Position::Running { .. } => self.runs(),
            _ => Error::Moved { by: self.last_other.clone() },
        }
    }

    /// Why nothing can be looked at or resumed now.
    pub(super) fn runs(&self) -> Error {
        let by = match &self.position {
            Position::Running { by: Resumer::Other(name), .. } => format!(": {name} resumed it"),
            _ => String::new(),
        };
        Error::Runs { by }
    }

    pub(super) fn restart(&mut self) -> Result<(), Error> {
        if !self.client.can("supportsRestartRequest") {
            return Err(Error::Missing {
                what: "restart in this debugger".to_owned(),
                advice: "quit and start it again".to_owned(),
            });
        }
        self.client.request("restart", json!({}))?;
        self.waiting_stops.clear();
        self.input = ProgramInput::Open;
        self.last_step = Command::Nothing;
        self.position = Position::Running { pause: PauseAsked::No, by: Resumer::Me };
        Ok(())
    }
}

/// The hub knows best whether others need what was launched.
pub(super) fn plain_goodbye() -> Value {
    json!({"restart": false})
}

fn clients(session: &Value) -> impl Iterator<Item = &str> {
    session["clients"].as_array().into_iter().flatten().filter_map(Value::as_str)
}
