//! The server: one loop over what Visual Studio asks and what the debugger reports.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::Instant;

use breakroom_client::{Client, Messages};
use breakroom_debug_client::HandleTable;
use breakroom_remote_runtime::{Command, Request, Unreadable, is_answered};

use crate::Setup;
use crate::breakpoints::Breakpoints;
use crate::debugger::Debugger;
use crate::inspect::{Slot, TypeIds};
use crate::mailbox::{ConnectionId, Mail, Mailbox};
use crate::session::Phase;
use crate::threads::Threads;
use crate::visual_studio::{Answer, VisualStudio};

/// More connections than these do not wait for their turn.
const MOST_CONNECTIONS: usize = 16;
/// More requests than these are not kept for a connection whose turn has not come.
const MOST_REQUESTS: usize = 1000;

pub struct Server {
    pub setup: Setup,
    pub mailbox: Mailbox,
    pub debugger: Debugger,
    pub vs: Option<VisualStudio>,
    /// Those that connected while another one is served.
    waiting: VecDeque<Waiting>,
    pub phase: Phase,
    /// Waits until the session has let go of this client.
    pub close: Option<Box<dyn FnOnce() -> Option<String>>>,
    pub exit_code: Option<i64>,
    pub threads: Threads,
    pub breakpoints: Breakpoints,
    pub slots: HandleTable<Slot>,
    pub types: TypeIds,
}

/// A connection whose turn has not come, with what it has asked already.
struct Waiting {
    id: ConnectionId,
    stream: TcpStream,
    requests: Vec<(Result<Request, Unreadable>, bool)>,
}

impl Server {
    pub fn new(setup: Setup, mailbox: Mailbox) -> Server {
        let client = Client::unconnected();
        mailbox.set_waker(client.waker());
        Server {
            setup,
            mailbox,
            debugger: Debugger { client },
            vs: None,
            waiting: VecDeque::new(),
            phase: Phase::Idle,
            close: None,
            exit_code: None,
            threads: Threads::default(),
            breakpoints: Breakpoints::default(),
            slots: HandleTable::default(),
            types: TypeIds::default(),
        }
    }

    pub fn run(mut self) {
        loop {
            while let Some(mail) = self.mailbox.take() {
                self.on_mail(mail);
            }
            // What the program does is not taken in before Visual Studio has read what it did, and keeps no request waiting.
            let is_behind = self.vs.as_ref().is_some_and(VisualStudio::is_behind);
            if !is_behind && let Some(happening) = self.debugger.client.happened() {
                self.on_happening(happening);
                continue;
            }
            let deadline = self.ready_deadline();
            if deadline.is_some_and(|at| at <= Instant::now()) {
                self.stop_waiting_for_ready();
            } else if self.mailbox.is_empty() {
                let messages = if is_behind { Messages::Left } else { Messages::Taken };
                self.debugger.client.wait_for_anything(messages, deadline);
            }
        }
    }

    fn on_mail(&mut self, mail: Mail) {
        match mail {
            Mail::Connected(id, stream) => {
                if self.waiting.len() < MOST_CONNECTIONS {
                    self.waiting.push_back(Waiting { id, stream, requests: Vec::new() });
                }
                self.serve_next();
            }
            Mail::Closed(id) => {
                self.waiting.retain(|waiting| waiting.id != id);
                if self.vs.as_ref().is_some_and(|vs| vs.id == id) {
                    self.leave();
                    self.serve_next();
                }
            }
            Mail::Request { from, request, is_duplicate } => {
                if self.vs.as_ref().is_some_and(|vs| vs.id == from) {
                    self.on_line(*request, is_duplicate);
                    self.serve_next();
                } else if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.id == from)
                    && waiting.requests.len() < MOST_REQUESTS
                {
                    waiting.requests.push((*request, is_duplicate));
                }
            }
        }
    }

    fn serve_next(&mut self) {
        while self.vs.is_none()
            && let Some(Waiting { id, stream, requests }) = self.waiting.pop_front()
        {
            self.vs = VisualStudio::new(id, stream, &self.mailbox).ok();
            self.breakpoints = Breakpoints::default();
            for (request, is_duplicate) in requests {
                self.on_line(request, is_duplicate);
            }
        }
    }

    fn on_line(&mut self, line: Result<Request, Unreadable>, is_duplicate: bool) {
        let Some(vs) = &mut self.vs else { return };
        vs.last_request = Instant::now();
        let id = vs.id;
        match line {
            Ok(request) if is_duplicate => {
                let why = format!("the request {} is still in flight", request.seq);
                vs.refuse(request.seq, &request.name, &request.message, &why);
            }
            Ok(request) => {
                let answer = self.perform(&request);
                self.mailbox.answered(id, request.seq);
                if let (Some(vs), Some(answer)) = (&mut self.vs, answer) {
                    vs.answer(&request, answer);
                }
            }
            Err(Unreadable::Refused { seq, name, message, why }) if is_answered(&name) => {
                if !is_duplicate {
                    self.mailbox.answered(id, seq);
                }
                vs.refuse(seq, &name, &message, &why);
            }
            Err(Unreadable::Refused { name, why, .. }) => {
                vs.complain("error", &format!("{name} failed: {why}"))
            }
            Err(Unreadable::NotARequest(why)) => vs.complain("error", &format!("a line was ignored: {why}")),
        }
    }

    /// Carries out a request. `None`: it is not answered.
    fn perform(&mut self, request: &Request) -> Option<Result<Answer, String>> {
        Some(match &request.command {
            Command::Ready => {
                self.ready();
                return None;
            }
            Command::Stop => {
                self.leave();
                return None;
            }
            Command::SetBreakpoint(breakpoint) => {
                self.set_breakpoint(breakpoint);
                return None;
            }
            Command::RemoveBreakpoint { file, line } => {
                self.remove_breakpoint(file, *line);
                return None;
            }
            Command::Start => self.start(),
            Command::Continue { thread_id } => self.resume(*thread_id),
            Command::Step { thread_id, step_kind, step_unit } => self.step(*thread_id, step_kind, step_unit),
            Command::Pause => self.pause(),
            Command::GetThreads => self.get_threads(),
            Command::GetStack { thread_id } => self.get_stack(*thread_id),
            Command::GetScope { thread_id, frame_id } => self.get_scope(*thread_id, *frame_id),
            Command::GetProperty(range) => self.get_property(range),
            Command::GetEvaluation { thread_id, frame_id, expression } => {
                self.get_evaluation(*thread_id, *frame_id, expression)
            }
            Command::SetVariable { thread_id, frame_id, addr, type_id, value } => {
                self.set_variable((*thread_id, *frame_id), (*addr, *type_id), value)
            }
        })
    }
}
