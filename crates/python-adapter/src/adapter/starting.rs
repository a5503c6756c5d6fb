//! From the start of a process to a client that may configure: what `launch` and `attach` have in common.

use std::time::{Duration, Instant};

use serde_json::json;

use super::server::Asked;
use super::session::{Stage, Start, Step, Wanted};
use super::{Adapter, ServerId, SessionId};
use crate::idle;
use crate::injector::Word;
use crate::message::{self, Outcome, Request};

/// A process that has not come by then does not come.
pub(super) const SPAWN: Duration = Duration::from_secs(60);

/// A text that a failed attach prints, and what to do about it.
const KNOWN_FAILURES: [(&str, &str); 1] = [(
    "Couldn't write extended state status",
    "this gdb cannot call functions in a process on this processor: install one that can with \
     `breakroom doctor --fix gdb`",
)];

impl Adapter {
    /// Whether this session may begin now; otherwise the request is refused.
    pub(super) fn may_start(&mut self, id: SessionId, request: &Request) -> bool {
        let Some(session) = self.sessions.get_mut(&id) else { return false };
        let refusal = match (&session.client, &session.stage) {
            (None, _) => Some("`initialize` comes first"),
            (_, Stage::Fresh) => None,
            _ => Some("this session has begun before"),
        };
        if let Some(why) = refusal {
            session.fail(request, why);
        }
        refusal.is_none()
    }

    pub(super) fn begin(&mut self, id: SessionId, start: Start, step: Step) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stage = Stage::Starting(start, step);
        }
        self.look_for_server(id);
    }

    pub(super) fn step(&mut self, id: SessionId, step: Step) {
        if let Some(session) = self.sessions.get_mut(&id)
            && let Stage::Starting(_, now) = &mut session.stage
        {
            *now = step;
        }
    }

    /// If the session waits for a process that has come, it is the session's from here on.
    pub(super) fn look_for_server(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Stage::Starting(_, Step::Server { wanted, .. }) = &session.stage else { return };
        let wanted = *wanted;
        let fits = |pid: i64| matches!(wanted, Wanted::Any) || wanted == Wanted::Pid(pid);
        let mut free = self.servers.iter_mut().filter(|(_, server)| server.session.is_none());
        let Some((server_id, server)) = free.find(|(_, server)| server.pid().is_some_and(fits)) else {
            return;
        };
        server.session = Some(id);
        session.server = Some(*server_id);
        session.pid = server.pid();
        session.injector = None;
        let hello = session.client.as_ref().and_then(|client| client.arguments.clone());
        server.ask("initialize", hello.as_deref(), Asked::Initialize);
        self.step(id, Step::Initialize);
    }

    pub(super) fn on_initialized(&mut self, id: SessionId, outcome: Outcome) {
        if let Err(why) = outcome {
            return self.fail_start(id, &why);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Stage::Starting(start, _) = &session.stage else { return };
        let Some(server) = session.server.and_then(|server| self.servers.get_mut(&server)) else { return };
        let arguments = message::raw(&start.for_server.clone().into());
        server.ask(&start.request.command, arguments.as_deref(), Asked::Start);
        self.step(id, Step::Start);
    }

    pub(super) fn on_server_started(&mut self, id: SessionId, outcome: Outcome) {
        if let Err(why) = outcome {
            return self.fail_start(id, &why);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let launched = session.start().is_some_and(|start| start.request.command == "launch");
        let server = session.server.and_then(|server| self.servers.get_mut(&server));
        if let Some(server) = server.filter(|_| launched) {
            // Before the program begins: its main thread may never come to it later.
            let arguments = message::raw(&json!({"expression": idle::words(), "context": "watch"}));
            return server.ask("evaluate", arguments.as_deref(), Asked::Idle);
        }
        self.may_be_configured(id);
    }

    pub(super) fn may_be_configured(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Stage::Starting(start, _) = std::mem::replace(&mut session.stage, Stage::Over) {
            session.stage = Stage::Configuring(start);
            session.say("initialized", serde_json::Value::Null);
        }
        self.proceed(id);
    }

    /// The start is answered without a configuration.
    pub(super) fn start_is_answered(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Stage::Starting(start, _) = std::mem::replace(&mut session.stage, Stage::Over) {
            session.link.respond(&start.request, &Ok(None));
            session.stage = Stage::Started(start);
        }
        session.release_deferred();
        self.proceed(id);
    }

    /// Whatever was started ends, and the client may try again.
    pub(super) fn fail_start(&mut self, id: SessionId, why: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !matches!(session.stage, Stage::Starting(..)) {
            return;
        }
        // What the program said is often the reason.
        session.release_deferred();
        session.defer();
        if let Stage::Starting(start, _) = std::mem::replace(&mut session.stage, Stage::Fresh) {
            session.fail(&start.request, why);
        }
        session.program = None;
        session.launching = None;
        session.injector = None;
        if self.doors.launcher.as_ref().is_some_and(|(_, waits)| *waits == id) {
            self.close_launcher_door();
        }
        self.forget_server(id);
        self.proceed(id);
    }

    /// A process that is no longer debugged goes on by itself.
    fn forget_server(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.pid = None;
        if let Some(server) = session.server.take().and_then(|server| self.servers.get_mut(&server)) {
            server.session = None;
            server.link.close();
        }
        let closed: Vec<ServerId> = self
            .servers
            .iter()
            .filter(|(_, server)| server.session.is_none() && !server.link.is_open())
            .map(|(id, _)| *id)
            .collect();
        for server in closed {
            self.servers.remove(&server);
        }
    }

    pub(super) fn on_injector(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Some(Word::Failed(said)) = session.injector.as_mut().and_then(|injector| injector.read()) {
            session.say_output("stderr", "Attach to PID failed.\n\n");
            session.say_output("stderr", &said);
            let known = KNOWN_FAILURES.iter().find(|(sign, _)| said.contains(sign));
            let advice = known.map_or("what was said about it is in the output", |(_, advice)| advice);
            self.fail_start(id, &format!("the debugger could not get into the process; {advice}"));
        }
    }

    /// A start that waits for somebody who does not come.
    pub(super) fn on_start_deadline(&mut self, id: SessionId, now: Instant) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        for word in session.injector.as_mut().map(|injector| injector.on_time(now)).unwrap_or_default() {
            match word {
                Word::Progress(text) => session.say_output("console", &text),
                Word::Printed(text) | Word::Failed(text) => session.say_output("stderr", &text),
            }
        }
        let Stage::Starting(start, step) = &session.stage else { return };
        let late = |until: &Option<Instant>| until.is_some_and(|until| until <= now);
        let why = match step {
            Step::Launcher { until } if late(until) => "debugpy's launcher did not connect within a minute",
            Step::Program { until } if *until <= now => {
                "debugpy's launcher did not start the program within a minute"
            }
            Step::Server { until, .. } if late(until) => match start.request.command.as_str() {
                "launch" => "the program did not connect to its debugger within a minute",
                _ => "no Python process connected within a minute",
            },
            _ => return,
        };
        self.fail_start(id, why);
    }
}
