//! What the debugger reports, as events of the runtime.

use breakroom_client::model::{self, ThreadId};
use breakroom_client::{Event as DebuggerEvent, Happening, noise};
use breakroom_debug_client::breakpoints::Place;
use breakroom_debug_client::participants::has_others;
use breakroom_debug_client::{complete, stack};
use breakroom_remote_runtime::{Event, Exception, StopReason, cut};
use serde_json::{Value, json};

use crate::server::Server;
use crate::session::Phase;

impl Server {
    pub fn on_happening(&mut self, happening: Happening) {
        match happening {
            Happening::Event(event) => self.on_event(event),
            Happening::Disconnected { reason } => {
                if !matches!(self.phase, Phase::Idle | Phase::Exited) {
                    self.complain("error", &format!("the debugger is gone: {reason}"));
                    self.finish();
                }
            }
            Happening::Answered(_) | Happening::Interrupt | Happening::Leave | Happening::Typed(_) => {}
        }
    }

    fn on_event(&mut self, DebuggerEvent { name, body }: DebuggerEvent) {
        match name.as_str() {
            "stopped" => self.on_stopped(body),
            "continued" => {
                let all = body["allThreadsContinued"] != Value::Bool(false);
                let resumed = self.mark_running(ThreadId::read(&body).filter(|_| !all));
                for thread in resumed {
                    let thread_id = self.threads.number(thread.0);
                    self.emit(Event::Continued { thread_id });
                }
            }
            "thread" => {
                let Some(thread) = ThreadId::read(&body) else { return };
                let thread_id = self.threads.number(thread.0);
                match body["reason"].as_str() {
                    Some("started") => self.emit(Event::ThreadStarted { thread_id }),
                    Some("exited") => {
                        self.mark_running(Some(thread));
                        self.emit(Event::ThreadExited { thread_id });
                    }
                    _ => {}
                }
            }
            "output" => self.on_output(&body),
            "exited" => self.exit_code = model::integer(&body["exitCode"]),
            "breakpoint" => self.on_breakpoint(&body),
            "terminated" => self.finish(),
            _ => {}
        }
    }

    /// What comes with the end of the session.
    pub fn take_last_words(&mut self, happening: Happening) {
        match happening {
            Happening::Event(event) if ["output", "exited"].contains(&&*event.name) => self.on_event(event),
            _ => {}
        }
    }

    fn on_output(&mut self, body: &Value) {
        let text = body["output"].as_str().unwrap_or_default();
        let category = match body["category"].as_str() {
            None | Some("stdout") => "stdout",
            Some("stderr") => "stderr",
            Some("important") => "warn",
            Some("console") if !noise::is_noise(text) => "info",
            Some(_) => return,
        };
        if let Some(vs) = self.vs.as_mut().filter(|_| !text.is_empty()) {
            vs.output(category, text);
        }
    }

    fn on_stopped(&mut self, body: Value) {
        let thread = ThreadId::read(&body).or_else(|| self.first_thread()).unwrap_or(ThreadId(1));
        self.mark_running(Some(thread));
        self.threads.stop(thread, body.clone());
        if self.vs.is_none() {
            return self.continue_unattended(thread);
        }
        let event = self.stopped_event(thread, &body);
        let exception = match &event {
            Event::Stopped { exception: Some(exception), .. } => Some(exception.clone()),
            _ => None,
        };
        self.emit(event);
        if let Some(Exception { exception_name, exception_message }) = exception {
            let function = self.top_function(thread);
            let text = format!("Unhandled exception in {function}: {exception_name}: {exception_message}");
            self.complain("error", &text);
        }
    }

    fn first_thread(&mut self) -> Option<ThreadId> {
        let body = self.debugger.ask("threads", json!({})).ok()?;
        model::list(&body["threads"], |thread| model::integer(&thread["id"])).first().copied().map(ThreadId)
    }

    /// Without a Visual Studio the program runs on, unless others in the session look at it.
    fn continue_unattended(&mut self, thread: ThreadId) {
        if let Ok(false) = complete(has_others(&mut self.debugger, &self.setup.name))
            && self.debugger.ask("continue", json!({"threadId": thread.0})).is_ok()
        {
            self.mark_running(None);
        }
    }

    fn top_function(&mut self, thread: ThreadId) -> String {
        let frames = complete(stack::page(&mut self.debugger, thread, 0));
        let first = frames.ok().and_then(|(frames, _)| frames.into_iter().next());
        first.map_or_else(|| "the program".to_owned(), |frame| cut(frame.name))
    }

    /// Where and why a thread stopped. A breakpoint is named as it was set, wherever the debugger put it.
    pub fn stopped_event(&mut self, thread: ThreadId, body: &Value) -> Event {
        let frames =
            complete(stack::page(&mut self.debugger, thread, 0)).map_or_else(|_| Vec::new(), |page| page.0);
        let in_a_file =
            |frame: &&model::Frame| frame.source.as_ref().is_some_and(|source| source.path.is_some());
        let top = frames.iter().find(in_a_file);
        let path = top.and_then(|frame| frame.source.as_ref()?.path.clone()).unwrap_or_default();
        let (mut file, mut line) =
            (self.breakpoints.spelling(&path), top.map_or(0, |frame| frame.line.max(0)));
        let reason = body["reason"].as_str().unwrap_or_default();
        let reason = match reason {
            "step" => StopReason::Step,
            "exception" => StopReason::Exception,
            _ if reason.ends_with("breakpoint") => StopReason::Breakpoint,
            _ => StopReason::Pause,
        };
        if reason == StopReason::Breakpoint {
            let function = top.map(|frame| frame.name.as_str()).unwrap_or_default();
            let hit = self.breakpoints.set.hit_by(body, (&path, line, function), |one, other| one == other);
            if let Some(hit) = hit
                && let Place::Line { line: set, .. } = &hit.place
            {
                (file, line) = (hit.extra.clone(), *set);
            }
        }
        let exception = (reason == StopReason::Exception).then(|| self.exception(thread, body));
        Event::Stopped { reason, thread_id: self.threads.number(thread.0), file, line, exception }
    }

    fn exception(&mut self, thread: ThreadId, body: &Value) -> Exception {
        let can_ask = self.debugger.client.can("supportsExceptionInfoRequest");
        let info = match can_ask {
            true => self.debugger.ask("exceptionInfo", json!({"threadId": thread.0})).unwrap_or_default(),
            false => Value::Null,
        };
        let first = |texts: [&Value; 3], otherwise: &str| {
            let text = texts.map(model::text).into_iter().find(|text| !text.is_empty());
            cut(text.unwrap_or_else(|| otherwise.to_owned()))
        };
        Exception {
            exception_name: first([&info["exceptionId"], &body["description"], &Value::Null], "exception"),
            exception_message: first([&info["description"], &body["text"], &body["description"]], ""),
        }
    }
}
