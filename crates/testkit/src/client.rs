//! The strict client: a DAP client that fails on any message its test did not expect.
//!
//! A reader thread records and judges every message; the test sends requests and takes what comes, by name.
//! All answers, events and reverse requests are returned whole, with `seq` and `body`.
//! It has no opinion about the order of a debug session: that is the test's.

mod connection;
mod rules;
mod timeline;

use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

pub use rules::{Rule, Violation};
pub use timeline::{Arrival, Direction, Entry, Timeline};

use crate::{frames, wait};
use connection::{Attention, Link, State};

/// A request that was sent; hand it to [`Strict::response`] or [`Strict::failure`].
#[derive(Clone, Debug)]
#[must_use = "the answer must be observed, or `finish` fails"]
pub struct Request {
    pub seq: i64,
    pub command: String,
}

/// How a connection ended.
#[derive(Debug)]
pub struct Ended {
    /// Of the peer's process, if the client started it.
    pub status: Option<ExitStatus>,
    pub timeline: Timeline,
}

pub struct Strict {
    link: Link,
    next_seq: i64,
    allowed: Vec<String>,
    deadline: Duration,
    over: bool,
}

impl Strict {
    /// Starts a process and speaks with it on its stdin and stdout. Its last stderr lines are shown with a failure.
    pub fn spawn(mut command: Command) -> Strict {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let incoming = child.stdout.take().expect("stdout was asked for").into();
        let outgoing = child.stdin.take().expect("stdin was asked for").into();
        Strict::with(Link::new(incoming, outgoing, Some(child)))
    }

    pub fn tcp(stream: TcpStream) -> Strict {
        stream.set_nodelay(true).expect("a TCP stream takes NODELAY");
        let incoming = stream.try_clone().expect("a descriptor can be duplicated");
        Strict::over(incoming, stream)
    }

    pub fn unix(stream: UnixStream) -> Strict {
        let incoming = stream.try_clone().expect("a descriptor can be duplicated");
        Strict::over(incoming, stream)
    }

    pub fn over(incoming: impl Into<OwnedFd>, outgoing: impl Into<OwnedFd>) -> Strict {
        Strict::with(Link::new(incoming.into(), outgoing.into(), None))
    }

    fn with(link: Link) -> Strict {
        Strict { link, next_seq: 1, allowed: Vec::new(), deadline: wait::DEADLINE, over: false }
    }

    /// How long each call waits.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// Events that may come without being observed. They stay in the timeline and can still be taken.
    pub fn allow(&mut self, events: &[&str]) {
        self.allowed.extend(events.iter().map(|&event| event.to_owned()));
    }

    /// Rules that this peer is known to break, for real adapters driven without the hub.
    pub fn tolerate(&mut self, rules: &[Rule]) {
        self.link.shared.lock().tolerated.extend(rules);
    }

    /// Stops reading: what is sent from now on fills the pipe, and then it is the peer's. What is under way, up to a few
    /// messages, may still be read.
    pub fn stall(&mut self) {
        self.link.shared.change(|state| state.attention = Attention::Stalls);
    }

    /// Reads again, from where it stopped.
    pub fn wake(&mut self) {
        self.link.shared.change(|state| state.attention = Attention::Reads);
    }

    /// Process id of the peer, if the client started it.
    pub fn pid(&self) -> Option<u32> {
        self.link.child.as_ref().map(std::process::Child::id)
    }

    /// A copy of what was said so far.
    pub fn timeline(&self) -> Timeline {
        self.link.shared.lock().timeline.clone()
    }

    /// The last lines the peer's process wrote to its stderr.
    pub fn stderr(&self) -> String {
        Vec::from(self.link.shared.lock().stderr.clone()).join("\n")
    }

    /// Sends a request and does not wait. `Value::Null` as arguments sends none.
    pub fn request(&mut self, command: &str, arguments: Value) -> Request {
        let mut message = json!({"seq": self.next_seq, "type": "request", "command": command});
        if !arguments.is_null() {
            message["arguments"] = arguments;
        }
        self.next_seq += 1;
        self.send(message)
    }

    /// Sends a message exactly as given. A request among them must be answered once, whatever its seq.
    pub fn send(&mut self, message: Value) -> Request {
        self.check();
        let seq = message["seq"].as_i64().unwrap_or_default();
        let command = message["command"].as_str().unwrap_or_default().to_owned();
        let mut frame = Vec::new();
        frames::write_message(&mut frame, message.to_string().as_bytes()).expect("memory can be written to");
        {
            let mut state = self.link.shared.lock();
            if message["type"] == "request" {
                state.referee.sent(seq, Some(&command));
            }
            self.link.shared.record(&mut state, Direction::Sent, message);
        }
        self.write(&frame);
        Request { seq, command }
    }

    /// Sends bytes as they are, for broken headers and bodies.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.check();
        let shown = timeline::shortened(&String::from_utf8_lossy(bytes));
        {
            let mut state = self.link.shared.lock();
            self.link.shared.record(&mut state, Direction::Sent, json!({"raw": shown}));
        }
        self.write(bytes);
    }

    /// Announces that what is sent raw next will be answered with this `request_seq`.
    pub fn expect_answer(&mut self, request_seq: i64) -> Request {
        self.link.shared.lock().referee.sent(request_seq, None);
        Request { seq: request_seq, command: format!("raw {request_seq}") }
    }

    /// Waits for the answer to a request; it must be a success.
    pub fn response(&mut self, request: Request) -> Value {
        let answer = self.answer(&request);
        if answer["success"] != true {
            self.fail(&format!("`{}` failed: {}", request.command, answer));
        }
        answer
    }

    /// Waits for the answer to a request; it must be a failure.
    pub fn failure(&mut self, request: Request) -> Value {
        let answer = self.answer(&request);
        if answer["success"] != false {
            self.fail(&format!("`{}` should have failed: {}", request.command, answer));
        }
        answer
    }

    fn answer(&mut self, request: &Request) -> Value {
        let wanted = format!("the response to `{}` (seq {})", request.command, request.seq);
        self.take(&wanted, |message| message["type"] == "response" && message["request_seq"] == request.seq).1
    }

    /// Sends a request and waits for its success.
    pub fn call(&mut self, command: &str, arguments: Value) -> Value {
        let request = self.request(command, arguments);
        self.response(request)
    }

    /// Sends a request and waits for its failure.
    pub fn call_failing(&mut self, command: &str, arguments: Value) -> Value {
        let request = self.request(command, arguments);
        self.failure(request)
    }

    /// Waits for the next event of this name that was not observed yet.
    pub fn event(&mut self, name: &str) -> Value {
        self.event_where(name, |_| true)
    }

    /// The same, of those whose body fits. Others of that name stay unobserved.
    pub fn event_where(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let arrival = Arrival::Event(name);
        self.take(&arrival.to_string(), |message| arrival.matches(message) && fits(&message["body"])).1
    }

    /// Waits until the text of all `output` events together contains `text`; observes them all and returns their text.
    pub fn output_containing(&mut self, text: &str) -> String {
        self.wait(&format!("output with {text:?}"), |state| {
            let output = state.timeline.output();
            output.contains(text).then(|| {
                let events = state.timeline.entries.iter_mut();
                events
                    .filter(|entry| Arrival::Event("output").matches(&entry.message))
                    .for_each(|entry| entry.observed = true);
                output
            })
        })
    }

    /// Waits for a request of the peer to us. Answer it with [`Strict::reply`].
    pub fn reverse(&mut self, command: &str) -> Value {
        let arrival = Arrival::Reverse(command);
        self.take(&arrival.to_string(), |message| arrival.matches(message)).1
    }

    /// Answers a reverse request. With `success` false, `body` as a text is the message.
    pub fn reply(&mut self, request: &Value, success: bool, body: Value) {
        let mut message = json!({
            "seq": self.next_seq, "type": "response", "request_seq": request["seq"],
            "command": request["command"], "success": success,
        });
        let key = if success || !body.is_string() { "body" } else { "message" };
        message[key] = body;
        self.next_seq += 1;
        let _ = self.send(message);
    }

    /// Waits for each of these messages, observes them and fails unless they came in this order.
    /// Others may lie between.
    pub fn expect_order(&mut self, arrivals: &[Arrival<'_>]) -> Vec<Value> {
        let mut before: Option<(usize, String)> = None;
        let mut messages = Vec::new();
        for arrival in arrivals {
            let (index, message) = self.take(&arrival.to_string(), |message| arrival.matches(message));
            if let Some((earlier, name)) = before
                && index < earlier
            {
                self.fail(&format!("{arrival} (line {index}) came before {name} (line {earlier})"));
            }
            before = Some((index, arrival.to_string()));
            messages.push(message);
        }
        messages
    }

    /// Waits until the peer has closed its side, without closing ours.
    pub fn closed(&mut self) {
        self.wait_or_fail("the peer to close the connection", |state| state.ended.then_some(()));
        self.check();
    }

    /// Closes our side, waits for EOF and for the peer's process, and fails if a message was not observed.
    pub fn finish(mut self) -> Ended {
        self.link.close_outgoing();
        self.closed();
        let deadline = self.deadline;
        let status = match &mut self.link.child {
            None => None,
            Some(child) => match wait::for_exit(child, deadline) {
                Some(status) => Some(status),
                None => self.fail("the peer closed its stdout but its process did not end"),
            },
        };
        let timeline = self.timeline();
        let unobserved = self.unobserved(&timeline);
        if !unobserved.is_empty() {
            self.fail(&format!(
                "{} messages were not expected:\n{}",
                unobserved.len(),
                unobserved.join("\n")
            ));
        }
        self.over = true;
        Ended { status, timeline }
    }

    /// Ends the connection as a crashed client would: its process is killed or its socket cut, nothing is drained.
    /// What came until now must have been legal, but need not have been observed.
    pub fn abandon(mut self) -> Timeline {
        self.check();
        self.over = true;
        self.link.cut();
        self.timeline()
    }

    fn unobserved(&self, timeline: &Timeline) -> Vec<String> {
        let entries = timeline.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| entry.direction == Direction::Received && !entry.observed)
            .filter(|(_, entry)| {
                !self.allowed.iter().any(|name| Arrival::Event(name).matches(&entry.message))
            })
            .map(|(index, entry)| format!("{index:4} {}", timeline::shortened(&entry.message.to_string())))
            .collect()
    }

    fn take(&mut self, wanted: &str, fits: impl Fn(&Value) -> bool) -> (usize, Value) {
        self.wait(wanted, |state| {
            let index = state.timeline.find_new(&fits)?;
            let entry = &mut state.timeline.entries[index];
            entry.observed = true;
            Some((index, entry.message.clone()))
        })
    }

    /// Waits for something that can no longer come once the peer has closed.
    fn wait<T>(&mut self, wanted: &str, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        let found = self.wait_or_fail(wanted, |state| match look(state) {
            None if state.ended || broken(state) => Some(None),
            None => None,
            found => Some(found),
        });
        self.check();
        match found {
            Some(found) => found,
            None => self.fail(&format!("the peer closed the connection before {wanted}")),
        }
    }

    fn wait_or_fail<T>(&mut self, wanted: &str, look: impl FnMut(&mut State) -> Option<T>) -> T {
        let deadline = self.deadline;
        match self.link.shared.wait(deadline, look) {
            Some(found) => found,
            None => self.fail(&format!("waited {deadline:?} in vain for {wanted}")),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Err(error) = self.link.write(bytes) {
            self.fail(&format!("cannot write to the peer: {error}"));
        }
    }

    /// Fails if a rule was broken that this test does not tolerate.
    fn check(&mut self) {
        if broken(&self.link.shared.lock()) {
            self.fail("the peer broke the protocol");
        }
    }

    fn fail(&mut self, why: &str) -> ! {
        let state = self.link.shared.lock();
        let violations: String =
            state.referee.violations.iter().map(|violation| format!("  {violation}\n")).collect();
        let stderr = Vec::from(state.stderr.clone()).join("\n");
        let timeline = state.timeline.to_string();
        drop(state);
        panic!(
            "{why}\nbroken rules:\n{violations}timeline (<-? was not observed):\n{timeline}stderr:\n{stderr}"
        );
    }
}

fn broken(state: &State) -> bool {
    state.referee.violations.iter().any(|violation| !state.tolerated.contains(&violation.rule))
}

impl Drop for Strict {
    fn drop(&mut self) {
        self.link.cut();
        if !self.over && !std::thread::panicking() {
            self.fail("the test ended without `finish`, so nothing was checked");
        }
    }
}
