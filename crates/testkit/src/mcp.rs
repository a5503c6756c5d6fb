//! The strict agent: an MCP client on a server's stdio that fails on any message its test did not expect.
//!
//! A reader thread records and judges every line. Every function takes `&self`, so that threads may share one client; a
//! request is sent now and its answer taken later, in any order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Sandbox, wait};

/// The revision that [`Mcp::initialize`] asks for.
pub const REVISION: &str = "2025-11-25";

/// The longest that a tool may wait is 45 s, and a loaded machine may need as much again.
const DEADLINE: Duration = Duration::from_secs(180);
/// Of what was said, so many messages are shown when a test fails.
const MOST_SHOWN: usize = 40;
const LONGEST_SHOWN: usize = 2_000;

pub struct Mcp {
    child: Mutex<Child>,
    stdin: Mutex<Option<ChildStdin>>,
    shared: Arc<Shared>,
    over: bool,
}

/// A request that was sent. Its answer is to be taken.
#[must_use]
#[derive(Debug)]
pub struct Sent(i64);

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    /// `structuredContent`; an object.
    pub data: Value,
    pub is_error: bool,
}

impl Reply {
    /// The id of the session that it is about.
    pub fn session(&self) -> String {
        self.data["session_id"].as_str().unwrap_or_else(|| panic!("no session_id in {self:?}")).to_owned()
    }

    pub fn state(&self) -> &str {
        self.data["state"].as_str().unwrap_or_default()
    }

    /// What was captured is told once: that of the answer before this one, in front of its own.
    pub fn behind(mut self, before: &Reply) -> Reply {
        let rows = |of: &Value| of["captured"].as_array().cloned().unwrap_or_default();
        let told = rows(&before.data);
        if !told.is_empty() {
            self.data["captured"] = [told, rows(&self.data)].concat().into();
        }
        self
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    last_id: i64,
    /// Requests whose answer has not come.
    open: BTreeSet<i64>,
    /// Answers that nobody has taken.
    answers: BTreeMap<i64, Value>,
    /// Notifications that nobody has taken.
    news: VecDeque<Value>,
    allowed: BTreeSet<String>,
    violations: Vec<String>,
    said: VecDeque<String>,
    stderr: String,
    ended: bool,
}

impl Mcp {
    /// `breakroom mcp` in the work folder of a sandbox, and greeted.
    pub fn new(sandbox: &Sandbox) -> Mcp {
        Mcp::with(sandbox, &[])
    }

    /// `breakroom mcp` with more arguments, greeted.
    pub fn with(sandbox: &Sandbox, arguments: &[&str]) -> Mcp {
        let mut command = sandbox.command(["mcp"].iter().chain(arguments));
        command.current_dir(sandbox.work());
        let client = Mcp::spawn(command);
        client.initialize();
        client
    }

    /// A server on the stdio of any command, not greeted yet.
    pub fn spawn(mut command: Command) -> Mcp {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        let stdin = child.stdin.take();
        let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let shared = Arc::new(Shared::default());
        let reader = shared.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                match line {
                    Ok(line) => reader.change(|state| state.came(&line)),
                    Err(error) => reader.change(|state| state.violations.push(error.to_string())),
                }
            }
            reader.change(|state| state.ended = true);
        });
        let reader = shared.clone();
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut part) {
                let text = String::from_utf8_lossy(&part[..count]).into_owned();
                reader.change(|state| state.stderr.push_str(&text));
            }
        });
        Mcp { child: Mutex::new(child), stdin: Mutex::new(stdin), shared, over: false }
    }

    pub fn pid(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// Greets the server, and returns what it says of itself.
    pub fn initialize(&self) -> Value {
        let client = json!({"name": "testkit", "version": "1"});
        let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
        let result = self.request("initialize", hello);
        self.notify("notifications/initialized", json!({}));
        result
    }

    /// Calls a tool and waits for what it answers, failed or not.
    pub fn call(&self, tool: &str, arguments: Value) -> Reply {
        let sent = self.begin(tool, arguments);
        self.reply(sent)
    }

    /// Calls a tool that must not fail.
    pub fn ok(&self, tool: &str, arguments: Value) -> Reply {
        let reply = self.call(tool, arguments.clone());
        if reply.is_error {
            self.fail(&format!("{tool} {arguments} failed: {}", reply.text));
        }
        reply
    }

    /// Calls a tool that must fail, as a result and not as an error of the protocol.
    pub fn failed(&self, tool: &str, arguments: Value) -> Reply {
        let reply = self.call(tool, arguments.clone());
        if !reply.is_error {
            self.fail(&format!("{tool} {arguments} did not fail: {}", reply.text));
        }
        reply
    }

    /// Calls a tool and does not wait. Take the answer with [`Mcp::reply`].
    pub fn begin(&self, tool: &str, arguments: Value) -> Sent {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub fn reply(&self, sent: Sent) -> Reply {
        let result = self.answer(sent);
        read_reply(&result).unwrap_or_else(|| self.fail(&format!("this is no result of a tool: {result}")))
    }

    /// Whether the answer is there.
    pub fn is_answered(&self, sent: &Sent) -> bool {
        self.shared.lock().answers.contains_key(&sent.0)
    }

    /// Any request; an error of the protocol fails the test.
    pub fn request(&self, method: &str, params: Value) -> Value {
        let sent = self.send(method, params);
        self.answer(sent)
    }

    /// Any request that must be refused with an error of the protocol, which is returned.
    pub fn refused(&self, method: &str, params: Value) -> Value {
        let sent = self.send(method, params);
        let mut answer = self.take(&sent);
        if answer["error"].is_null() {
            self.fail(&format!("{method} was not refused: {answer}"));
        }
        answer["error"].take()
    }

    pub fn send(&self, method: &str, params: Value) -> Sent {
        let mut state = self.shared.lock();
        state.last_id += 1;
        let id = state.last_id;
        state.open.insert(id);
        drop(state);
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        Sent(id)
    }

    pub fn answer(&self, sent: Sent) -> Value {
        let mut answer = self.take(&sent);
        if !answer["error"].is_null() {
            self.fail(&format!("the server refused: {answer}"));
        }
        answer["result"].take()
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Tells the server that the answer is not wanted any more. It need not come.
    pub fn cancel(&self, sent: Sent) {
        self.notify("notifications/cancelled", json!({"requestId": sent.0, "reason": "test"}));
        self.shared.change(|state| {
            state.answers.remove(&sent.0);
            state.allowed.insert(cancelled(sent.0));
        });
    }

    /// Notifications of this name may come and need not be taken.
    pub fn allow(&self, method: &str) {
        self.shared.lock().allowed.insert(method.to_owned());
    }

    /// Waits for a notification of this name and returns its params.
    pub fn notification(&self, method: &str) -> Value {
        self.wait(method, |state| {
            let at = state.news.iter().position(|news| news["method"] == method)?;
            state.news.remove(at).map(|mut news| news["params"].take())
        })
    }

    /// The notifications of this name that have come, without waiting.
    pub fn notifications(&self, method: &str) -> Vec<Value> {
        let mut state = self.shared.lock();
        let (taken, kept): (VecDeque<Value>, VecDeque<Value>) =
            state.news.drain(..).partition(|news| news["method"] == method);
        state.news = kept;
        taken.into_iter().map(|mut news| news["params"].take()).collect()
    }

    /// What the server wrote to stderr.
    pub fn stderr(&self) -> String {
        self.shared.lock().stderr.clone()
    }

    /// Closes stdin, waits for the end of stdout and of the process, and fails if something was not expected.
    pub fn finish(mut self) -> ExitStatus {
        drop(self.stdin.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.wait_or_fail("the server to close its stdout", |state| state.ended.then_some(()));
        let ended = wait::for_exit(&mut self.child.lock().unwrap_or_else(PoisonError::into_inner), DEADLINE);
        let Some(status) = ended else { self.fail("the server closed its stdout but did not end") };
        self.check();
        let state = self.shared.lock();
        let unanswered = state.open.iter().filter(|id| !state.allowed.contains(&cancelled(**id))).count();
        let untaken = state.answers.keys().count();
        let is_stray = |news: &&Value| !news["method"].as_str().is_some_and(|it| state.allowed.contains(it));
        let stray: Vec<String> = state.news.iter().filter(is_stray).map(Value::to_string).collect();
        drop(state);
        if unanswered + untaken + stray.len() > 0 {
            self.fail(&format!(
                "{unanswered} requests were not answered, {untaken} answers not taken, {stray:?} not expected"
            ));
        }
        self.over = true;
        status
    }

    /// Kills the server, as a client does that crashed. What came until now must have been legal.
    pub fn abandon(mut self) {
        self.check();
        self.over = true;
    }

    fn take(&self, sent: &Sent) -> Value {
        self.wait(&format!("the answer to {}", sent.0), |state| state.answers.remove(&sent.0))
    }

    fn write(&self, message: &Value) {
        let mut line = message.to_string();
        self.shared.change(|state| state.say("->", &line));
        line.push('\n');
        let mut stdin = self.stdin.lock().unwrap_or_else(PoisonError::into_inner);
        let written =
            stdin.as_mut().map(|stdin| stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()));
        drop(stdin);
        if !matches!(written, Some(Ok(()))) {
            self.fail(&format!("cannot write to the server: {written:?}"));
        }
    }

    /// Waits for something that can no longer come once the server has ended.
    fn wait<T>(&self, wanted: &str, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        let found = self.wait_or_fail(wanted, |state| match look(state) {
            None if state.ended || !state.violations.is_empty() => Some(None),
            None => None,
            found => Some(found),
        });
        self.check();
        found.unwrap_or_else(|| self.fail(&format!("the server ended before {wanted}")))
    }

    fn wait_or_fail<T>(&self, wanted: &str, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(state);
                self.fail(&format!("waited {DEADLINE:?} in vain for {wanted}"));
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn check(&self) {
        if !self.shared.lock().violations.is_empty() {
            self.fail("the server broke the protocol");
        }
    }

    fn fail(&self, why: &str) -> ! {
        let state = self.shared.lock();
        let said: Vec<_> = state.said.iter().cloned().collect();
        let (violations, stderr) = (state.violations.join("\n  "), state.stderr.clone());
        drop(state);
        panic!("{why}\nbroken rules: {violations}\nlast messages:\n{}\nstderr:\n{stderr}", said.join("\n"));
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        if !self.over && !std::thread::panicking() {
            self.fail("the test ended without `finish`, so nothing was checked");
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

impl State {
    fn say(&mut self, direction: &str, line: &str) {
        if self.said.len() == MOST_SHOWN {
            self.said.pop_front();
        }
        self.said.push_back(format!("{direction} {}", line.chars().take(LONGEST_SHOWN).collect::<String>()));
    }

    fn came(&mut self, line: &str) {
        self.say("<-", line);
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return self.violations.push(format!("a line is no JSON: {line:.200}"));
        };
        if message["jsonrpc"] != "2.0" {
            return self.violations.push(format!("no JSON-RPC 2.0: {line:.200}"));
        }
        let (id, method) = (message["id"].as_i64(), message["method"].as_str());
        match (id, method) {
            (None, Some(_)) if message.get("id").is_none() => self.news.push_back(message),
            (Some(id), None) if message.get("result").is_some() != message.get("error").is_some() => {
                let is_cancelled = self.allowed.contains(&cancelled(id));
                match self.open.remove(&id) {
                    true if is_cancelled => {}
                    true => drop(self.answers.insert(id, message)),
                    false => self.violations.push(format!("an answer to no request: {line:.200}")),
                }
            }
            _ => self.violations.push(format!("neither an answer nor a notification: {line:.200}")),
        }
    }
}

/// Among what is allowed: the answer to a request that was called off.
fn cancelled(id: i64) -> String {
    format!("answer to {id}")
}

fn read_reply(result: &Value) -> Option<Reply> {
    let content = result["content"].as_array()?;
    let texts: Option<Vec<&str>> =
        content.iter().map(|part| part["text"].as_str().filter(|_| part["type"] == "text")).collect();
    let data = result["structuredContent"].clone();
    let fits_the_schema = data.is_object()
        && data.get("state").is_none_or(Value::is_string)
        && data.get("epoch").is_none_or(Value::is_i64);
    let text = texts?.join("\n");
    let is_error = result["isError"].as_bool().unwrap_or(false);
    (fits_the_schema && !text.is_empty()).then_some(Reply { text, data, is_error })
}
