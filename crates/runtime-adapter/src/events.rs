//! Events of the runtime as events of DAP.

use std::io::Write;

use breakroom_remote_runtime::{ChangeType, Event, Exception, StopReason};
use serde_json::{Value, json};

use crate::adapter::Adapter;
use crate::session::Phase;

impl<W: Write> Adapter<W> {
    pub fn on_event(&mut self, event: Event) -> std::io::Result<()> {
        if self.phase == Phase::Over {
            return Ok(());
        }
        match event {
            Event::Stopped { reason, thread_id, file, line, exception } => {
                self.settle_by_event()?;
                self.on_stopped(reason, thread_id, (&file, line), exception)
            }
            Event::Continued { thread_id } => {
                self.settle_by_event()?;
                let thread = self.threads.dap_id(thread_id);
                match self.mark_running(thread_id) {
                    true => {
                        let body = json!({"threadId": thread, "allThreadsContinued": false});
                        self.client.event("continued", body)
                    }
                    // The client knows it from the response to its own request.
                    false => Ok(()),
                }
            }
            Event::ProgramExited { exit_code } => {
                self.settle_by_event()?;
                self.client.event("exited", json!({"exitCode": exit_code}))?;
                self.terminated()
            }
            Event::Output { category, output } => self.on_output(&category, output),
            Event::ThreadStarted { thread_id } => self.on_thread(thread_id, "started"),
            Event::ThreadExited { thread_id } => {
                self.handles.forget(thread_id);
                self.on_thread(thread_id, "exited")?;
                self.threads.exit(thread_id);
                Ok(())
            }
            Event::BreakpointChanged { change_type, file, line, enabled } => {
                self.on_breakpoint_changed(change_type, (&file, line), enabled)
            }
        }
    }

    fn on_stopped(
        &mut self,
        reason: StopReason,
        runtime_id: i64,
        (file, line): (&str, i64),
        exception: Option<Exception>,
    ) -> std::io::Result<()> {
        let thread = self.threads.dap_id(runtime_id);
        // A runtime that stops again without `continued` has run in between.
        self.handles.forget(runtime_id);
        let mut body = json!({"threadId": thread, "allThreadsStopped": false});
        body["reason"] = match reason {
            StopReason::Breakpoint => "breakpoint",
            StopReason::Step | StopReason::Other => "step",
            StopReason::Pause => "pause",
            StopReason::Exception => "exception",
        }
        .into();
        if reason == StopReason::Breakpoint {
            let hit = self.breakpoints.at(file, line);
            if !hit.is_empty() {
                body["hitBreakpointIds"] = hit.into();
            }
        }
        if let Some(Exception { exception_name, exception_message }) = &exception {
            body["description"] = exception_name.as_str().into();
            body["text"] = exception_message.as_str().into();
        }
        if let Some(known) = self.threads.by_runtime_id(runtime_id) {
            known.is_stopped = true;
            known.exception = exception;
        }
        self.client.event("stopped", body)
    }

    fn on_output(&mut self, category: &str, mut output: String) -> std::io::Result<()> {
        let category = match category {
            "stdout" => "stdout",
            "stderr" => "stderr",
            // What a user needs to know although it is not the program's: a breakpoint that cannot be set.
            "warn" | "error" => "important",
            _ => "console",
        };
        if ["important", "console"].contains(&category) && !output.ends_with('\n') {
            output.push('\n');
        }
        self.client.event("output", json!({"category": category, "output": output}))
    }

    fn on_thread(&mut self, runtime_id: i64, reason: &str) -> std::io::Result<()> {
        let thread = self.threads.dap_id(runtime_id);
        self.client.event("thread", json!({"reason": reason, "threadId": thread}))
    }

    fn on_breakpoint_changed(
        &mut self,
        change: ChangeType,
        (file, line): (&str, i64),
        enabled: bool,
    ) -> std::io::Result<()> {
        let (verified, message) = match change {
            ChangeType::Removed => (false, "the runtime has removed it"),
            ChangeType::Added | ChangeType::Changed | ChangeType::Other if enabled => (true, ""),
            _ => (false, "the runtime has disabled it"),
        };
        for id in self.breakpoints.at(file, line) {
            let mut breakpoint = json!({"id": id, "verified": verified, "line": line});
            if !verified {
                breakpoint["message"] = Value::from(message);
            }
            self.client.event("breakpoint", json!({"reason": "changed", "breakpoint": breakpoint}))?;
        }
        Ok(())
    }
}
