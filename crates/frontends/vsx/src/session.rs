//! The session that Visual Studio debugs in: launched or joined at `start`, let run at `ready`, left at `stop`.
//!
//! `stop` ends nothing: the program goes on, and the next Visual Studio finds it again.

use std::time::{Duration, Instant};

use breakroom_client::{Client, LAUNCH_PATIENCE, Request, RequestId, Signs, exception_filters, introduction};
use breakroom_debug_client::participants::has_others;
use breakroom_debug_client::{Connection, complete};
use breakroom_remote_runtime::Event;
use serde_json::{Value, json};

use crate::debugger::Failure;
use crate::server::Server;
use crate::visual_studio::{Answer, VisualStudio};

/// How long the debugger may take to let go of a program that has ended.
const GOODBYE: Duration = Duration::from_secs(3);

pub enum Phase {
    /// There is no session.
    Idle,
    /// The debugger takes breakpoints; nothing runs yet. The launch may be answered only when the program runs.
    Configuring {
        request: Request,
        launch: Option<RequestId>,
    },
    Live {
        request: Request,
    },
    Exited,
}

impl Server {
    pub fn start(&mut self) -> Result<Answer, String> {
        let Some(vs) = &mut self.vs else { return Err("not connected".to_owned()) };
        let is_first = !std::mem::replace(&mut vs.has_started, true);
        let needs_session = matches!(self.phase, Phase::Idle | Phase::Exited);
        if is_first && needs_session {
            let opened = self.open();
            if let Some(vs) = &mut self.vs {
                // It may be tried again.
                vs.has_started = opened.is_ok();
                vs.start_failure = opened.as_ref().err().cloned();
            }
            if opened.is_err() {
                self.phase = Phase::Idle;
            }
            opened?;
        }
        if is_first && self.vs.as_ref().is_some_and(|vs| vs.is_ready) {
            self.be_ready();
        }
        Ok(Answer::from(json!({})))
    }

    fn open(&mut self) -> Result<(), String> {
        let Connection { reader, writer, adapter, request, mut launch, close } = (self.setup.open)()?;
        let mut client = Client::unconnected();
        client.connect(reader, writer);
        self.mailbox.set_waker(client.waker());
        self.debugger.client = client;
        self.close = Some(close);
        self.exit_code = None;
        self.threads.clear();
        self.slots.clear();
        let capabilities = self.debugger.ask("initialize", introduction(&adapter, &self.setup.name));
        let capabilities = capabilities.map_err(|failure| self.reason(&failure))?;
        self.debugger.client.learn(capabilities);
        launch["breakroom"] = json!({"events": true});
        if request == Request::Launch {
            // If this process ends, nothing can come back for the program.
            launch["breakroom"]["onLastLeave"] = "terminate".into();
        }
        let launched = self.begin(request, launch);
        let launch = launched.map_err(|failure| self.reason(&failure))?;
        self.phase = Phase::Configuring { request, launch };
        Ok(())
    }

    /// Sends the launch and waits until the debugger takes breakpoints. The request, if it is still open.
    fn begin(&mut self, request: Request, arguments: Value) -> Result<Option<RequestId>, Failure> {
        let command = request.command();
        let id = self.debugger.client.send(command, arguments)?;
        let deadline = Instant::now() + LAUNCH_PATIENCE;
        let mut answered = false;
        loop {
            let client = &mut self.debugger.client;
            let Signs { is_ready, is_over } = client.signs();
            if !answered && let Some(answer) = client.take_answer(id, command) {
                answer?;
                answered = true;
            }
            if is_ready {
                client.take(|happening| happening.is_event("initialized"));
                return Ok((!answered).then_some(id));
            }
            if is_over && answered {
                return Err(Failure::Refused("the program ended before it could be debugged".to_owned()));
            }
            if self.vs.as_ref().is_some_and(|vs| self.mailbox.has_closed(vs.id)) {
                return Err(Failure::Lost("Visual Studio has closed the connection".to_owned()));
            }
            self.debugger.client.receive(Some(deadline), "initialized", LAUNCH_PATIENCE)?;
        }
    }

    /// Why the session could not begin: the hub's own reason is better than that a stream ended.
    fn reason(&mut self, failure: &Failure) -> String {
        let _ = self.debugger.client.request_within("disconnect", json!({"restart": false}), GOODBYE);
        let ended = self.close.take().and_then(|close| close());
        match (failure, ended) {
            (Failure::Lost(_), Some(why)) => why,
            _ => failure.to_string(),
        }
    }

    pub fn ready(&mut self) {
        let Some(vs) = &mut self.vs else { return };
        if let Some(why) = vs.start_failure.take() {
            // Visual Studio shows no failure of a request, and waits for what will never come.
            (vs.has_started, vs.is_ready) = (true, true);
            vs.release();
            vs.complain("error", &format!("start failed: {why}"));
            return vs.emit(Event::ProgramExited { exit_code: 0 });
        }
        if !std::mem::replace(&mut vs.is_ready, true) && vs.has_started {
            self.be_ready();
        }
    }

    /// Visual Studio has started and is ready: the program begins, or is shown as it is.
    fn be_ready(&mut self) {
        self.vs.iter_mut().for_each(VisualStudio::release);
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Live { request } => {
                self.phase = Phase::Live { request };
                if let Err(failure) = self.catch_exceptions() {
                    self.complain("error", &format!("exceptions do not stop the program: {failure}"));
                }
                for (thread, body) in self.threads.all_stops() {
                    let event = self.stopped_event(thread, &body);
                    self.emit(event);
                }
            }
            Phase::Configuring { request, launch } => {
                self.phase = Phase::Live { request };
                if let Err(failure) = self.configure(request, launch) {
                    self.complain("error", &format!("the program could not be started: {failure}"));
                    if matches!(failure, Failure::Refused(_)) {
                        self.finish();
                    }
                }
            }
            phase => self.phase = phase,
        }
    }

    fn configure(&mut self, request: Request, launch: Option<RequestId>) -> Result<(), Failure> {
        self.send_all_breakpoints()?;
        self.catch_exceptions()?;
        let client = &mut self.debugger.client;
        let done = match client.can("supportsConfigurationDoneRequest") {
            true => Some(client.send("configurationDone", json!({}))?),
            false => None,
        };
        // A failed launch is the cause of a failed configurationDone, so it is looked at first.
        for (id, command) in [(launch, request.command()), (done, "configurationDone")] {
            let Some(id) = id else { continue };
            let deadline = Instant::now() + LAUNCH_PATIENCE;
            loop {
                if let Some(answer) = self.debugger.client.take_answer(id, command) {
                    answer?;
                    break;
                }
                self.debugger.client.receive(Some(deadline), command, LAUNCH_PATIENCE)?;
            }
        }
        Ok(())
    }

    pub fn catch_exceptions(&mut self) -> Result<(), Failure> {
        let filters = exception_filters(self.debugger.client.capability("exceptionBreakpointFilters"));
        if filters.is_empty() {
            return Ok(());
        }
        match self.debugger.ask("setExceptionBreakpoints", json!({"filters": filters})) {
            // The program can be debugged without stopping at exceptions.
            Ok(_) | Err(Failure::Refused(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// When `ready` is not awaited any longer.
    pub fn ready_deadline(&self) -> Option<Instant> {
        let vs = self.vs.as_ref().filter(|vs| vs.has_started && !vs.is_ready)?;
        Some(vs.last_request + self.setup.ready_timeout?)
    }

    pub fn stop_waiting_for_ready(&mut self) {
        tracing::warn!("Visual Studio has not sent `ready`; the program begins without it");
        self.ready();
    }

    /// Visual Studio has left. Nothing more is sent to it; its breakpoints go, and what it stopped runs.
    pub fn leave(&mut self) {
        self.vs = None;
        let request = match &self.phase {
            Phase::Live { request } => *request,
            Phase::Configuring { request: Request::Join, .. } => Request::Join,
            Phase::Idle | Phase::Configuring { .. } | Phase::Exited => {
                self.breakpoints.clear();
                return;
            }
        };
        match request {
            // The hub removes what is this client's, and the others decide when the program runs.
            Request::Join => {
                let _ = self.debugger.client.request_within("disconnect", json!({"restart": false}), GOODBYE);
                self.close.take().and_then(|close| close());
                self.phase = Phase::Idle;
                self.breakpoints.clear();
                self.threads.clear();
            }
            Request::Launch | Request::Attach => {
                if let Err(failure) = self.release_program() {
                    tracing::warn!("the program could not be let go: {failure}");
                }
            }
        }
        self.slots.clear();
    }

    fn release_program(&mut self) -> Result<(), Failure> {
        let groups = self.breakpoints.set.groups();
        self.breakpoints.clear();
        for group in groups {
            complete(self.breakpoints.set.send(&group, &mut self.debugger))?;
        }
        if self.debugger.client.capability("exceptionBreakpointFilters").is_array() {
            self.debugger.ask("setExceptionBreakpoints", json!({"filters": []}))?;
        }
        if complete(has_others(&mut self.debugger, &self.setup.name))? {
            // They decide when the program runs.
            return Ok(());
        }
        for (thread, _) in self.threads.all_stops() {
            // One that runs already refuses.
            match self.debugger.ask("continue", json!({"threadId": thread.0})) {
                Ok(_) | Err(Failure::Refused(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        self.threads.clear();
        Ok(())
    }

    /// The program is over: its last output, its exit code, and the end of the session.
    pub fn finish(&mut self) {
        if matches!(self.phase, Phase::Idle | Phase::Exited) {
            return;
        }
        // Its last output, and with some debuggers the exit code, come with the goodbye.
        let _ = self.debugger.client.request_within("disconnect", json!({"restart": false}), GOODBYE);
        while let Some(happening) = self.debugger.client.happened() {
            self.take_last_words(happening);
        }
        self.close.take().and_then(|close| close());
        self.phase = Phase::Exited;
        self.threads.clear();
        self.slots.clear();
        self.emit(Event::ProgramExited { exit_code: self.exit_code.unwrap_or(0) });
    }

    pub fn emit(&mut self, event: Event) {
        if let Some(vs) = &mut self.vs {
            vs.emit(event);
        }
    }

    pub fn complain(&mut self, category: &str, text: &str) {
        if let Some(vs) = &mut self.vs {
            vs.complain(category, text);
        }
    }
}
