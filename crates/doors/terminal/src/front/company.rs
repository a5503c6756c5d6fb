//! The others in the session: who is there, who did what, and what leaving means to them.
//!
//! All of it is asked of the hub. Whoever is no hub does not know the questions, and then there are no others.

use std::io::Write;

use serde_json::{Value, json};

use crate::error::Error;
use crate::front::{Front, GOODBYE_PATIENCE, PauseAsked, Position, ProgramInput, Resumer, Threads};
use crate::{Request, view};
use breakroom_client::model::{self, ThreadId};
use breakroom_wire::visible;

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
    /// How many of the others only look on, which keeps no session from ending.
    observers: usize,
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
        let Some(Company { id, name, others, .. }) = self.sessions().and_then(|all| self.company(&all))
        else {
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
        if self.observes() {
            return (plain_goodbye(), String::new());
        }
        let Some(sessions) = self.sessions() else {
            let goodbye = match self.setup.request {
                Request::Launch => json!({"restart": false, "terminateDebuggee": true}),
                Request::Attach => json!({"restart": false, "terminateDebuggee": false}),
                Request::Join => plain_goodbye(),
            };
            return (goodbye, String::new());
        };
        let farewell = match self.company(&sessions) {
            Some(Company { others, observers, .. }) if !others.is_empty() && others.len() == observers => {
                let those = match observers {
                    1 => "1 observer was".to_owned(),
                    several => format!("{several} observers were"),
                };
                format!("only {those} still here, so the session has ended")
            }
            Some(Company { id, others, .. }) if !others.is_empty() && !self.is_joined() => {
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
        self.ask_for_sessions().ok().flatten()
    }

    /// None of whoever does not know the question.
    fn ask_for_sessions(&mut self) -> Result<Option<Vec<Value>>, Error> {
        match self.client.request_within("breakroom/sessions", json!({}), GOODBYE_PATIENCE) {
            Ok(body) => Ok(body["sessions"].as_array().cloned()),
            Err(breakroom_client::Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What the nodes of this session are called, parents before their children.
    pub(super) fn node_names(&mut self) -> Vec<String> {
        let sessions = self.sessions().unwrap_or_default();
        let own = self.own_session(&sessions);
        own.map(|session| model::list(&session["tree"], |node| Some(model::text(&node["name"]))))
            .unwrap_or_default()
    }

    /// Whether nobody else is here: whoever is no hub has nobody. One that is silent, or does not list this session, may have
    /// anybody in it.
    pub(super) fn is_without_company(&mut self) -> bool {
        match self.ask_for_sessions() {
            Ok(Some(sessions)) => self.company(&sessions).is_some_and(|company| company.others.is_empty()),
            Ok(None) => true,
            Err(_) => false,
        }
    }

    fn company(&self, sessions: &[Value]) -> Option<Company> {
        let found = self.own_session(sessions)?;
        let mut others: Vec<String> = names(&found["clients"]).map(str::to_owned).collect();
        // Once: another may have the same name.
        let myself = others.iter().position(|client| *client == self.setup.name)?;
        others.remove(myself);
        let observers = names(&found["observers"]).count().saturating_sub(usize::from(self.observes()));
        Some(Company { id: model::text(&found["id"]), name: model::text(&found["name"]), others, observers })
    }

    fn own_session<'v>(&self, sessions: &'v [Value]) -> Option<&'v Value> {
        let wanted = self.setup.session.clone().or_else(|| self.launched_name());
        own_session(sessions, &self.setup.name, wanted.as_deref())
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
            self.last_thread = None;
            if let Position::Stopped(_) = self.position {
                // That it runs again is told next, with the same words.
                return Ok(());
            }
        }
        if command == "terminate" {
            self.ender = Some(name.to_owned());
        }
        // Whoever ends it by that word ends the session next, which is not worth another line.
        let is_said = command == "disconnect" && self.ender.as_deref() == Some(name);
        if is_said || UNTOLD.contains(&command) {
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
        self.threads.went_on(thread, all);
        match &self.position {
            Position::Stopped(stop) if all || thread.is_none_or(|thread| thread == stop.thread) => {}
            _ => return Ok(()),
        }
        let Mover { name, deed } =
            self.mover.take().unwrap_or_else(|| Mover { name: "somebody else".to_owned(), deed: "resumed" });
        self.moves += 1;
        self.last_other.clone_from(&name);
        self.screen.say(&format!("the program runs again: {} {deed} it", visible(&name)))?;
        self.position = Position::Running { pause: PauseAsked::No, by: Resumer::Other(name) };
        self.show_next_stop()
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
        self.threads = Threads::default();
        self.input = ProgramInput::Open;
        self.last_step = None;
        self.last_thread = None;
        self.runs_by_me();
        Ok(())
    }
}

/// Which of the sessions this one is: the one with this client in it, by its name if there are several. Another may have this
/// client's name, so it is not known where the right one may be among those that do not say who is in them, or another
/// goes by the name that this one should have.
fn own_session<'v>(sessions: &'v [Value], client: &str, wanted: Option<&str>) -> Option<&'v Value> {
    let is = |session: &Value, key: &str| wanted.is_some() && session[key].as_str() == wanted;
    if let Some(own) = sessions.iter().find(|session| is(session, "id")) {
        return Some(own);
    }
    if sessions.iter().any(|session| session["state"] == "busy") {
        return None;
    }
    let mine = sessions.iter().filter(|session| names(&session["clients"]).any(|name| name == client));
    let mine: Vec<&Value> = mine.collect();
    let named: Vec<&Value> = mine.iter().copied().filter(|session| is(session, "name")).collect();
    match (mine.as_slice(), named.as_slice()) {
        (_, [only]) => Some(*only),
        ([only], []) if !sessions.iter().any(|session| is(session, "name")) => Some(*only),
        _ => None,
    }
}

/// The hub knows best whether others need what was launched.
pub(super) fn plain_goodbye() -> Value {
    json!({"restart": false})
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_session_is_known_by_its_clients_and_its_name_or_not_at_all() {
        let session = |id: &str, name: &str, clients: &[&str]| json!({"id": id, "name": name, "state": "stopped", "clients": clients});
        let busy = |id: &str| json!({"id": id, "name": "", "state": "busy", "clients": []});
        let (beans, peas) = (session("a", "beans", &["Ann"]), session("b", "peas", &["Ann", "Bob"]));
        let others = session("c", "beans", &["Bob"]);
        for (sessions, wanted, own) in [
            (vec![&beans], Some("beans"), Some("a")),
            (vec![&beans], None, Some("a")),
            (vec![&beans, &peas], Some("peas"), Some("b")),
            (vec![&beans, &peas], Some("b"), Some("b")),
            (vec![&beans, &peas], None, None),
            // The hub may call it something else.
            (vec![&peas], Some("beans"), Some("b")),
            (vec![&peas, &others], Some("beans"), None),
            (vec![&others], Some("beans"), None),
            (vec![&peas, &busy("a")], Some("beans"), None),
            (vec![&peas, &busy("a")], Some("peas"), None),
            (vec![&peas, &busy("a")], Some("b"), Some("b")),
        ] {
            let sessions: Vec<Value> = sessions.into_iter().cloned().collect();
            let found = own_session(&sessions, "Ann", wanted);
            assert_eq!(
                found.map(|found| model::text(&found["id"])).as_deref(),
                own,
                "{sessions:?} {wanted:?}"
            );
        }
    }
}
