//! What a client asks for. Most of it is for the debugger in the process and only passed on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::Asked;
use super::session::{Asked as AskedClient, Client, Entrance, Program, Stage};
use super::{Adapter, SessionId};
use crate::arguments::OnTerminate;
use crate::message::{self, Outcome, Raw, Request, Response};

/// As debugpy's adapter answers, letter for letter: some client may compare.
const CAPABILITIES: &str = concat!(
    r#"{"supportsCompletionsRequest": true, "supportsConditionalBreakpoints": true, "#,
    r#""supportsConfigurationDoneRequest": true, "supportsDebuggerProperties": true, "#,
    r#""supportsDelayedStackTraceLoading": true, "supportsEvaluateForHovers": true, "#,
    r#""supportsExceptionInfoRequest": true, "supportsExceptionOptions": true, "#,
    r#""supportsFunctionBreakpoints": true, "supportsHitConditionalBreakpoints": true, "supportsLogPoints": true, "#,
    r#""supportsModulesRequest": true, "supportsSetExpression": true, "supportsSetVariable": true, "#,
    r#""supportsValueFormattingOptions": true, "supportsTerminateDebuggee": true, "supportsTerminateRequest": true, "#,
    r#""supportsGotoTargetsRequest": true, "supportsClipboardContext": true, "exceptionBreakpointFilters": ["#,
    r#"{"filter": "raised", "label": "Raised Exceptions", "default": false, "#,
    r#""description": "Break whenever any exception is raised."}, "#,
    r#"{"filter": "uncaught", "label": "Uncaught Exceptions", "default": true, "#,
    r#""description": "Break when the process is exiting due to unhandled exception."}, "#,
    r#"{"filter": "userUnhandled", "label": "User Uncaught Exceptions", "default": false, "#,
    r#""description": "Break when exception escapes into library code."}], "supportsStepInTargetsRequest": true}"#,
);

/// Requests after which threads run or stop. The client hears their answers before the events that follow from them, as from
/// debugpy's adapter.
const MOVES: [&str; 6] = ["continue", "next", "stepIn", "stepOut", "goto", "pause"];
/// How long events wait for such an answer: debugpy gives it at once or never.
const ORDER: Duration = Duration::from_secs(1);

/// Said by a client that knows `breakroom/input`, and only then by us: others have no way to answer a program that reads.
pub(super) const INPUT: &str = "supportsBreakroomInput";

impl Adapter {
    pub(super) fn on_request(&mut self, id: SessionId, request: Request) {
        match request.command.as_str() {
            // A request that is never answered must not keep the session's end off.
            "terminate" => self.terminate(id, request),
            "disconnect" => self.disconnect(id, request),
            _ => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.waiting.push_back(request);
                }
            }
        }
    }

    /// Takes up what waits, as far as nothing is at work.
    pub(super) fn proceed(&mut self, id: SessionId) {
        self.look_for_server(id);
        while let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_free()) {
            let Some(request) = session.waiting.pop_front() else { return };
            self.perform(id, request);
            if self.elsewhere.is_some() {
                return;
            }
        }
    }

    fn perform(&mut self, id: SessionId, request: Request) {
        match request.command.as_str() {
            "initialize" => self.initialize(id, request),
            "launch" => self.launch(id, request),
            "attach" => self.attach(id, request),
            "configurationDone" => self.configuration_done(id, request),
            "debugpySystemInfo" => self.system_info(id, request),
            "breakroom/input" => self.give_input(id, &request),
            "pause" | "continue" => self.forward_for_all_threads(id, request),
            _ => self.forward(id, request, None),
        }
    }

    fn initialize(&mut self, id: SessionId, request: Request) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.client.is_some() {
            session.fail(&request, "this session was initialized before");
            return;
        }
        let arguments = request.arguments();
        if !matches!(arguments["pathFormat"].as_str(), None | Some("path")) {
            session.fail(&request, "`pathFormat` must be \"path\": files are named by paths here");
            return;
        }
        let says = |key: &str| arguments[key].as_bool().unwrap_or(false);
        session.client = Some(Client {
            id: arguments["clientID"].as_str().unwrap_or_default().to_owned(),
            has_terminals: says("supportsRunInTerminalRequest"),
            expands_arguments: says("supportsArgsCanBeInterpretedByShell"),
            starts_children: says("supportsStartDebuggingRequest"),
            gives_input: says(INPUT),
            arguments: request.arguments.clone(),
        });
        // A child process reads from wherever its parent said.
        let capabilities = match says(INPUT) && session.entrance == Entrance::Streams {
            true => CAPABILITIES.replacen('{', &format!("{{\"{INPUT}\": true, "), 1),
            false => CAPABILITIES.to_owned(),
        };
        session.respond(&request, &Ok(serde_json::from_str(&capabilities).ok()));
    }

    fn forward_for_all_threads(&mut self, id: SessionId, request: Request) {
        let mut arguments = request.arguments();
        if !arguments.is_object() {
            arguments = json!({});
        }
        arguments["threadId"] = json!("*");
        self.forward(id, request, message::raw(&arguments));
    }

    /// Passes a request on, with other arguments if there are any. Others are not kept waiting for its answer: debugpy works
    /// off what it reads in order, and answers what it does not know, or a `continue` while nothing is stopped, never.
    fn forward(&mut self, id: SessionId, request: Request, arguments: Option<Raw>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(server) = session.server.and_then(|server| self.servers.get_mut(&server)) else {
            session.fail(&request, "no process is debugged here");
            return;
        };
        if MOVES.contains(&request.command.as_str()) {
            session.moves.push((request.seq, Instant::now() + ORDER));
        }
        let arguments = arguments.or_else(|| request.arguments.clone());
        let command = request.command.clone();
        server.ask(&command, arguments.as_deref(), Asked::Forwarded(request));
    }

    pub(super) fn on_forwarded(&mut self, id: SessionId, request: &Request, outcome: &Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.respond(request, outcome);
        session.forget_moves(|(seq, _)| *seq == request.seq);
        self.proceed(id);
    }

    fn work_is_done(&mut self, id: SessionId, seq: i64) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.at_work == Some(seq) {
            session.at_work = None;
            session.release_held();
        }
        self.proceed(id);
    }

    fn configuration_done(&mut self, id: SessionId, request: Request) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !matches!(session.stage, Stage::Configuring(_)) {
            session.fail(&request, "there is no launch or attach that waits for `configurationDone`");
            return;
        }
        session.at_work = Some(request.seq);
        match session.server.and_then(|server| self.servers.get_mut(&server)) {
            Some(server) => {
                let arguments = request.arguments.clone();
                server.ask("configurationDone", arguments.as_deref(), Asked::ConfigurationDone(request));
            }
            None => self.on_configured(id, &request, &Ok(None)),
        }
    }

    /// Now the start is answered too, and the client hears what has happened since.
    pub(super) fn on_configured(&mut self, id: SessionId, request: &Request, outcome: &Outcome) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.respond(request, outcome);
        session.stage = match std::mem::replace(&mut session.stage, Stage::Over) {
            Stage::Configuring(start) => {
                session.link.respond(&start.request, &outcome.as_ref().map(|_| None).map_err(Clone::clone));
                Stage::Started(start)
            }
            stage => stage,
        };
        session.release_deferred();
        self.work_is_done(id, request.seq);
        self.tell_of_children(id);
    }

    fn system_info(&mut self, id: SessionId, request: Request) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match session.server.and_then(|server| self.servers.get_mut(&server)) {
            Some(server) => {
                session.at_work = Some(request.seq);
                server.ask("pydevdSystemInfo", None, Asked::SystemInfo(request));
            }
            None => self.on_system_info(id, &request, &Ok(None)),
        }
    }

    /// What a process cannot tell is left out.
    pub(super) fn on_system_info(&mut self, id: SessionId, request: &Request, outcome: &Outcome) {
        let mut info = json!({"debugpy": {"version": self.debugpy.version}});
        let body = outcome.as_ref().ok().map(|body| message::read(body.as_deref()));
        if let (Some(Value::Object(more)), Some(info)) = (body, info.as_object_mut()) {
            info.extend(more);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.respond(request, &Ok(message::raw(&info)));
        self.work_is_done(id, request.seq);
    }

    fn give_input(&mut self, id: SessionId, request: &Request) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let input = match &mut session.program {
            Some(Program::Direct(debuggee)) => debuggee.input.as_mut(),
            Some(Program::Launched(_)) | None => None,
        };
        let given = match input {
            Some(input) => input.give(&request.arguments()),
            None => Err("there is no way to the program's input; it reads from its terminal".to_owned()),
        };
        session.respond(request, &given.map(|()| None));
    }

    fn terminate(&mut self, id: SessionId, request: Request) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.restart = false;
        // The program is interrupted and may end by itself; who wants more sends `disconnect`.
        if session.on_terminate == OnTerminate::Interrupt && session.server.is_some() {
            return self.forward(id, request, None);
        }
        self.finalize(id, Some(true), Some(request));
    }

    fn disconnect(&mut self, id: SessionId, request: Request) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.restart = false;
        let terminate = request.arguments()["terminateDebuggee"].as_bool();
        self.finalize(id, terminate, Some(request));
    }

    pub(super) fn on_client_answer(&mut self, id: SessionId, response: Response) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match (session.asked.remove(&response.request_seq), response.outcome) {
            (Some(AskedClient::RunInTerminal), Err(why)) => {
                self.fail_start(id, &format!("the client could not run the program in a terminal: {why}"));
            }
            (Some(AskedClient::StartDebugging(server)), Err(_)) => self.let_run(server),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capabilities_are_json() {
        let read: Value = serde_json::from_str(CAPABILITIES).unwrap();
        assert_eq!(read.as_object().unwrap().len(), 21);
    }
}
