//! The debugger inside a Python process that has connected: who it is, and what it says.
//!
//! It has to be a process of this user, or one that descends from what is debugged; the token, which others can read among
//! its words, only tells our processes from this user's others. What it says of itself ends no other process.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use breakroom_wire::Peer;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use super::session::{Program, Replaced, Session, Stage, Step, Wanted};
use super::{Adapter, ServerId, SessionId};
use crate::link::Link;
use crate::message::{self, Event, Message, Outcome, Request, Response};
use crate::peer::Owner;

#[derive(Debug)]
pub(crate) struct Server {
    pub link: Link,
    pub greeting: Greeting,
    owner: Owner,
    /// The process itself, if the connection is known to be its own.
    pub process: Option<OwnedFd>,
    /// The session it belongs to, if any.
    pub session: Option<SessionId>,
    asked: HashMap<i64, Asked>,
    /// It said that another program takes the place of this one, in the same process.
    replaced: bool,
}

/// How far we know each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greeting {
    Stranger,
    Known { pid: i64, parent: Option<i64> },
}

/// Why it was asked something.
#[derive(Debug)]
pub(crate) enum Asked {
    Token,
    WhoAreYou,
    /// The session's start.
    Initialize,
    Start,
    /// To be ready for a pause while the program waits, if it can.
    Idle,
    ConfigurationDone(Request),
    /// A client's request, as it is.
    Forwarded(Request),
    SystemInfo(Request),
    /// Nobody waits for the answer.
    Aside,
    /// The session's end.
    Disconnect,
}

impl Server {
    pub fn ask(&mut self, command: &str, arguments: Option<&serde_json::value::RawValue>, why: Asked) {
        let seq = self.link.request(command, arguments);
        self.asked.insert(seq, why);
    }

    /// In the order it was asked.
    pub fn take_unanswered(&mut self) -> Vec<Asked> {
        let mut unanswered: Vec<(i64, Asked)> = self.asked.drain().collect();
        unanswered.sort_by_key(|(seq, _)| *seq);
        unanswered.into_iter().map(|(_, asked)| asked).collect()
    }

    pub fn pid(&self) -> Option<i64> {
        match self.greeting {
            Greeting::Known { pid, .. } => Some(pid),
            Greeting::Stranger => None,
        }
    }

    pub fn parent(&self) -> Option<i64> {
        match self.greeting {
            Greeting::Known { parent, .. } => parent,
            Greeting::Stranger => None,
        }
    }
}

impl Adapter {
    pub(super) fn on_new_server(&mut self) {
        let accepted = self.doors.servers.as_ref().and_then(|listener| listener.accept().ok());
        let Some((stream, from)) = accepted else { return };
        let owner = stream.local_addr().ok().and_then(|local| Owner::of(local, from));
        let known = |owner: &Owner| owner.is_ours() || owner.descends_from(&self.debugged());
        let Some(owner) = owner.filter(known) else { return };
        let Ok(link) = Link::on_socket(stream, Peer::Adapter) else { return };
        let (greeting, asked) = (Greeting::Stranger, HashMap::new());
        let mut server =
            Server { link, greeting, owner, process: None, session: None, asked, replaced: false };
        match &self.token {
            Some(_) => {
                let ours = message::raw(&json!({"debugServerAccessToken": null}));
                server.ask("pydevdAuthorize", ours.as_deref(), Asked::Token);
            }
            None => server.ask("pydevdSystemInfo", None, Asked::WhoAreYou),
        }
        self.made += 1;
        self.servers.insert(ServerId(self.made), server);
    }

    /// The processes that are debugged, or are about to be.
    fn debugged(&self) -> Vec<i64> {
        let of = |session: &Session| {
            let wanted = match &session.stage {
                Stage::Starting(_, Step::Server { wanted: Wanted::Pid(pid), .. }) => Some(*pid),
                _ => None,
            };
            [session.pid, session.program.as_ref().and_then(Program::pid), wanted]
        };
        self.sessions.values().flat_map(of).flatten().collect()
    }

    pub(super) fn on_server(&mut self, id: ServerId) {
        if let Some(server) = self.servers.get_mut(&id) {
            server.link.read();
        }
        while let Some(message) = self.servers.get_mut(&id).and_then(|server| server.link.next()) {
            match message {
                Message::Response(response) => self.on_answer(id, response),
                Message::Event(event) => self.on_event(id, event),
                // What a debugged program may have us do is nothing.
                Message::Request(request) => self.refuse(id, &request),
            }
        }
        if self.servers.get(&id).is_some_and(|server| !server.link.is_open()) {
            self.on_server_gone(id);
        }
    }

    fn refuse(&mut self, id: ServerId, request: &Request) {
        if let Some(server) = self.servers.get_mut(&id) {
            server.link.respond(request, &Err("a process that is debugged may ask for nothing".to_owned()));
        }
    }

    fn on_answer(&mut self, id: ServerId, response: Response) {
        let Some(server) = self.servers.get_mut(&id) else { return };
        let Some(asked) = server.asked.remove(&response.request_seq) else { return };
        let (session, outcome) = (server.session, response.outcome);
        match (asked, session) {
            (Asked::Token, _) => self.on_token(id, &outcome),
            (Asked::WhoAreYou, _) => self.on_introduction(id, &outcome),
            (Asked::Aside, _) | (_, None) => {}
            (Asked::Initialize, Some(session)) => self.on_initialized(session, outcome),
            (Asked::Start, Some(session)) => self.on_server_started(session, outcome),
            (Asked::Idle, Some(session)) => self.may_be_configured(session),
            (Asked::ConfigurationDone(request), Some(session)) => {
                self.on_configured(session, &request, &outcome)
            }
            (Asked::Forwarded(request), Some(session)) => self.on_forwarded(session, &request, &outcome),
            (Asked::SystemInfo(request), Some(session)) => self.on_system_info(session, &request, &outcome),
            (Asked::Disconnect, Some(session)) => self.on_server_let_go(session),
        }
    }

    fn on_token(&mut self, id: ServerId, outcome: &Outcome) {
        let shown = outcome.as_ref().ok().map(|body| message::read(body.as_deref()));
        let shown = shown.as_ref().and_then(|body| body["clientAccessToken"].as_str());
        let Some(server) = self.servers.get_mut(&id) else { return };
        let fits = match (&self.token, shown) {
            (Some(token), Some(shown)) => token.as_bytes().ct_eq(shown.as_bytes()).into(),
            (Some(_), None) => false,
            (None, _) => true,
        };
        match fits {
            true => server.ask("pydevdSystemInfo", None, Asked::WhoAreYou),
            false => server.link.close(),
        }
    }

    fn on_introduction(&mut self, id: ServerId, outcome: &Outcome) {
        let body = outcome.as_ref().ok().map_or(Value::Null, |body| message::read(body.as_deref()));
        let (pid, parent) = (body["process"]["pid"].as_i64(), body["process"]["ppid"].as_i64());
        // A second one for the same process is none, unless the process became another program.
        let taken = |pid| self.servers.values().any(|other| other.pid() == Some(pid) && !other.replaced);
        let pid = pid.filter(|pid| !taken(*pid));
        let first = self.servers.values().all(|other| other.pid().is_none());
        let Some(server) = self.servers.get_mut(&id) else { return };
        match pid {
            None => server.link.close(),
            Some(pid) => {
                server.greeting = Greeting::Known { pid, parent };
                server.process = server.owner.process(pid);
                self.on_process(id, first);
            }
        }
    }

    fn on_event(&mut self, id: ServerId, event: Event) {
        let Some(server) = self.servers.get_mut(&id) else { return };
        let Some(session) = server.session.and_then(|session| self.sessions.get_mut(&session)) else {
            if event.name == "terminated" {
                server.link.close();
            }
            return;
        };
        let by_program = session.program.is_some();
        let visual_studio = session
            .client
            .as_ref()
            .is_some_and(|client| ["visualstudio", "vsformac"].contains(&client.id.as_str()));
        match event.name.as_str() {
            // We say these ourselves.
            "initialized" => {}
            "terminated" => server.link.close(),
            "exited" if event.body()["pydevdReason"] == "processReplaced" => server.replaced = true,
            "exited" | "process" if by_program => {}
            // It takes every `continued` for one that it has not caused.
            "continued" if visual_studio => {}
            _ => session.tell(event),
        }
    }

    /// An event of the client's: there is none in the protocol yet.
    pub(super) fn pass_event_on(&mut self, id: SessionId, event: &Event) {
        let server = self.sessions.get(&id).and_then(|session| session.server);
        if let Some(server) = server.and_then(|server| self.servers.get_mut(&server)) {
            server.link.event(event);
        }
    }

    pub(super) fn on_server_gone(&mut self, id: ServerId) {
        let Some(mut server) = self.servers.remove(&id) else { return };
        let Some(session_id) = server.session else { return };
        if let Some(session) = self.sessions.get_mut(&session_id) {
            session.server = None;
        }
        self.answer_for_the_process(session_id, server.take_unanswered());
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        if server.replaced && session.ending.is_none() {
            session.replaced =
                Replaced::Awaited { until: std::time::Instant::now() + super::starting::SPAWN };
            return;
        }
        self.finalize(session_id, None, None);
    }

    /// What it was asked and will not answer any more.
    pub(super) fn answer_for_the_process(&mut self, id: SessionId, unanswered: Vec<Asked>) {
        let gone = || Err("the process has gone".to_owned());
        for asked in unanswered {
            match asked {
                Asked::Token | Asked::WhoAreYou | Asked::Aside => {}
                Asked::Initialize => self.fail_start(id, "the process has gone before it could be debugged"),
                // It may end faster than it can say that it has begun, or that it goes on.
                Asked::Start | Asked::Idle => self.start_is_answered(id),
                Asked::ConfigurationDone(request) => self.on_configured(id, &request, &Ok(None)),
                Asked::Forwarded(request) if request.command == "continue" => {
                    let body = message::raw(&json!({"allThreadsContinued": true}));
                    self.on_forwarded(id, &request, &Ok(body));
                }
                Asked::Forwarded(request) => self.on_forwarded(id, &request, &gone()),
                Asked::SystemInfo(request) => self.on_system_info(id, &request, &gone()),
                Asked::Disconnect => self.on_server_let_go(id),
            }
        }
    }
}
