//! The end of a session: the process is let go or ended, what it still says is heard, and then the client is told.

use std::time::{Duration, Instant};

use rustix::process::{Signal, pidfd_send_signal};
use serde_json::json;

use super::server::Asked;
use super::session::{Entrance, Program, Replaced, Stage};
use super::{Adapter, ServerId, SessionId};
use crate::message::{self, Request};

/// How long a process that was let go has to end by itself, if it was launched.
const EXIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Ending {
    step: EndStep,
    /// Whether it was said that what was launched goes on. Its output is read until it ends: it would end of a closed pipe.
    pub spares: bool,
    /// The requests that asked for the end, answered when it has come.
    pub answers: Vec<Request>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndStep {
    /// The debugger in the process lets go of it.
    Server {
        until: Instant,
    },
    /// By then it has ended by itself; `None` of one that is to go on for as long as it likes.
    Exit {
        until: Option<Instant>,
    },
    /// What the program printed is read to its end.
    Output,
    Done,
}

impl Ending {
    pub fn is_done(&self) -> bool {
        self.step == EndStep::Done
    }

    pub fn deadline(&self) -> Option<Instant> {
        match self.step {
            EndStep::Server { until } => Some(until),
            EndStep::Exit { until } => until,
            EndStep::Output | EndStep::Done => None,
        }
    }
}

impl Adapter {
    /// Ends the session. Without a word about it, what was launched is ended and what was attached to is let go.
    pub(super) fn finalize(&mut self, id: SessionId, terminate: Option<bool>, asked: Option<Request>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Some(ending) = &mut session.ending {
            let by_request = !ending.answers.is_empty();
            ending.answers.extend(asked);
            if !by_request && !ending.answers.is_empty() && !ending.is_done() {
                // It ends by itself and takes its time; who asks for the end does not want to wait for that.
                if let Some(program) = &mut session.program {
                    program.kill();
                    program.let_go();
                }
            }
            return self.advance(id);
        }
        let step = EndStep::Server { until: Instant::now() + EXIT };
        session.ending =
            Some(Ending { step, spares: terminate == Some(false), answers: asked.into_iter().collect() });
        session.injector = None;
        let terminate = terminate.unwrap_or(session.program.is_some());
        let server = session.server.and_then(|server| self.servers.get_mut(&server));
        let live = session.program.as_mut().filter(|program| !program.is_over());
        match (server, live) {
            // Killed from outside, it runs no more code of its own.
            (Some(_), Some(program)) if terminate => {
                program.kill();
                self.on_server_let_go(id);
            }
            (Some(server), _) => {
                let arguments = message::raw(&json!({"terminateDebuggee": terminate}));
                server.ask("disconnect", arguments.as_deref(), Asked::Disconnect);
            }
            (None, _) => self.on_server_let_go(id),
        }
    }

    /// The debugger in the process has nothing more to do with this session.
    pub(super) fn on_server_let_go(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !session.ending.as_ref().is_some_and(|ending| matches!(ending.step, EndStep::Server { .. })) {
            return;
        }
        let server = session.server.take().and_then(|server| self.servers.get_mut(&server));
        if let Some(server) = server {
            server.session = None;
            let unanswered = server.take_unanswered();
            self.answer_for_the_process(id, unanswered);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(ending) = &mut session.ending else { return };
        ending.step = match session.replaced {
            // The new program goes on in the same process, and prints to the same place.
            Replaced::Yes => EndStep::Output,
            Replaced::No | Replaced::Awaited { .. } => {
                EndStep::Exit { until: (!ending.spares).then(|| Instant::now() + EXIT) }
            }
        };
        // Without a debugger in it, it was not asked to end.
        if session.pid.is_none()
            && let Some(program) = &mut session.program
        {
            program.kill();
        }
        self.advance(id);
    }

    /// Goes as far as it can.
    pub(super) fn advance(&mut self, id: SessionId) {
        let now = Instant::now();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let gone = !session.link.is_open();
        let Some(ending) = &mut session.ending else { return };
        if let EndStep::Server { until } = ending.step {
            // A process that stands still does not answer, and nobody should wait for it for ever.
            if gone || until <= now {
                self.on_server_let_go(id);
            }
            return;
        }
        if let (EndStep::Exit { until }, program) = (ending.step, &mut session.program) {
            match program {
                Some(program)
                    if program.exit_code().is_none()
                        && until.is_none_or(|until| until > now)
                        && !program.is_over() =>
                {
                    return;
                }
                Some(program) => program.kill(),
                None => {}
            }
            ending.step = EndStep::Output;
        }
        if ending.step == EndStep::Output {
            match &mut session.program {
                // Nobody listens to it any more.
                Some(program) if gone && program.exit_code().is_some() => program.let_go(),
                Some(program) if !program.is_over() => return,
                _ => {}
            }
            ending.step = EndStep::Done;
            self.tell_end(id);
        }
        self.answer_those_who_asked(id);
    }

    fn tell_end(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let stage = std::mem::replace(&mut session.stage, Stage::Over);
        if let Stage::Starting(start, _) | Stage::Configuring(start) = &stage {
            session.link.respond(&start.request, &Err("the session has ended before it began".to_owned()));
        }
        session.at_work = None;
        session.moves.clear();
        session.launching = None;
        session.release_held();
        let body = if session.restart { json!({"restart": true}) } else { json!({}) };
        session.say("terminated", body);
        let launched = match &stage {
            Stage::Starting(start, _) | Stage::Configuring(start) | Stage::Started(start) => {
                start.request.command == "launch"
            }
            Stage::Fresh | Stage::Over => false,
        };
        let replaced = session.replaced;
        if self.doors.launcher.as_ref().is_some_and(|(_, waits)| *waits == id) {
            self.close_launcher_door();
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if launched && replaced == Replaced::No {
            let own = session.program.as_ref().and_then(Program::pid);
            self.end_remaining(own);
        }
    }

    /// What a launched program has started ends with it.
    fn end_remaining(&mut self, own: Option<i64>) {
        if self.doors.servers.take().is_some() {
            self.report_doors();
        }
        for server in self.servers.values().filter(|server| server.pid() != own) {
            if let Some(process) = &server.process {
                let _ = pidfd_send_signal(process, Signal::TERM);
            }
        }
    }

    fn answer_those_who_asked(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(ending) = session.ending.as_mut().filter(|ending| ending.is_done()) else { return };
        let answers = std::mem::take(&mut ending.answers);
        let leaves = answers.iter().any(|request| request.command == "disconnect");
        for request in &answers {
            session.link.respond(request, &Ok(None));
        }
        if !leaves {
            return;
        }
        session.link.finish();
        if session.entrance == Entrance::Streams {
            // Nobody can come back through these.
            self.doors.servers = None;
            let idle: Vec<ServerId> = self
                .servers
                .iter()
                .filter(|(_, server)| server.session.is_none())
                .map(|(id, _)| *id)
                .collect();
            for server in idle {
                self.servers.remove(&server);
            }
        }
    }

    /// What has waited too long.
    pub(super) fn on_deadline(&mut self, id: SessionId, now: Instant) {
        self.on_start_deadline(id, now);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.forget_moves(|(_, until)| *until <= now);
        if let Replaced::Awaited { until } = session.replaced
            && until <= now
        {
            session.replaced = Replaced::No;
            self.finalize(id, None, None);
        }
        self.look_whether_over(id);
        if self.sessions.get(&id).is_some_and(|session| !session.link.is_open() && session.ending.is_none()) {
            self.finalize(id, None, None);
        }
        self.advance(id);
    }
}
