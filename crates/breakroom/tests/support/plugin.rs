//! A running `breakroom easydotnet`, and a scripted client that behaves as the plugin easy-dotnet.nvim does.
//!
//! Its ids are strings, its empty parameters are lists, and it never answers a request that it does not know. It judges
//! only what every message must keep to; the rest is the tests' business.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use breakroom_testkit::frames::{FrameReader, write_message};
use breakroom_testkit::{Strict, fake, wait};
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};

use super::rig::{LONG, Rig, text};

const READY: &str = "Named pipe server started: ";

pub struct Server {
    pub process: Child,
    pub socket: PathBuf,
    folder: PathBuf,
}

impl Server {
    pub fn start(rig: &Rig) -> Server {
        Server::start_with(rig, &[], |_| {})
    }

    pub fn start_with(rig: &Rig, options: &[&str], change: impl FnOnce(&mut Command)) -> Server {
        let mut command = rig.sandbox.command(["easydotnet"].iter().chain(options));
        change(&mut command);
        Server::spawn(rig, command)
    }

    pub fn spawn(rig: &Rig, mut command: Command) -> Server {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it can start");
        let mut output = BufReader::new(process.stdout.take().expect("stdout was asked for"));
        let mut line = String::new();
        output.read_line(&mut line).expect("the server writes text");
        let name = line.strip_prefix(READY).unwrap_or_else(|| panic!("no ready line: {line:?}")).trim();
        let temporary = command.get_envs().find(|(key, _)| *key == "TMPDIR").and_then(|(_, value)| value);
        let folder = PathBuf::from(temporary.expect("the sandbox sets it"));
        let socket = folder.join(format!("CoreFxPipe_{name}"));
        std::thread::spawn(move || {
            let more: Vec<_> = output.lines().map_while(Result::ok).collect();
            assert!(more.is_empty(), "stdout has more than the ready line: {more:?}");
        });
        Server { process, socket, folder: rig.sandbox.work() }
    }

    pub fn connect(&self) -> Plugin {
        Plugin::new(UnixStream::connect(&self.socket).expect("the server accepts connections"))
    }

    /// A client after `initialize`, whose project is the folder of the test's files.
    pub fn client(&self) -> Plugin {
        let client = self.connect();
        client.initialize(&self.folder);
        client
    }

    /// Ends the input of the server, as the end of the editor does, and waits for its process.
    pub fn finish(mut self) -> ExitStatus {
        drop(self.process.stdin.take());
        wait::for_exit(&mut self.process, LONG).expect("the server ends with its editor")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Default)]
struct Inbox {
    messages: VecDeque<Value>,
    closed: bool,
}

pub struct Plugin {
    stream: UnixStream,
    inbox: Arc<(Mutex<Inbox>, Condvar)>,
    last_id: Mutex<u32>,
}

impl Plugin {
    fn new(stream: UnixStream) -> Plugin {
        let inbox = Arc::new((Mutex::new(Inbox::default()), Condvar::new()));
        let input = stream.try_clone().expect("a socket can be cloned");
        let filled = inbox.clone();
        std::thread::spawn(move || {
            let mut reader = FrameReader::new(input.into(), Peer::Adapter);
            while let Ok(Some(Frame::Message(body))) = reader.read() {
                let message: Value = serde_json::from_slice(&body).expect("the server sends JSON");
                check(&message);
                filled.0.lock().expect("no test panics with it").messages.push_back(message);
                filled.1.notify_all();
            }
            filled.0.lock().expect("no test panics with it").closed = true;
            filled.1.notify_all();
        });
        Plugin { stream, inbox, last_id: Mutex::new(0) }
    }

    pub fn bytes(&self, bytes: &[u8]) {
        (&self.stream).write_all(bytes).expect("the server reads");
    }

    pub fn send(&self, message: &Value) {
        write_message(&mut &self.stream, message.to_string().as_bytes()).expect("the server reads");
    }

    /// Sends a request with the id that the plugin would give it, which is returned.
    pub fn request(&self, method: &str, params: Value) -> String {
        let mut last = self.last_id.lock().expect("no test panics with it");
        *last += 1;
        let id = format!("c-{last}");
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The first message that fits; other messages stay.
    pub fn take(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.within(LONG, fits).unwrap_or_else(|| {
            panic!("{what} did not come; there is {:?}", self.inbox.0.lock().expect("no panic").messages)
        })
    }

    pub fn within(&self, time: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let until = Instant::now() + time;
        let mut inbox = self.inbox.0.lock().expect("no test panics with it");
        loop {
            if let Some(at) = inbox.messages.iter().position(&fits) {
                return inbox.messages.remove(at);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || inbox.closed {
                return None;
            }
            inbox = self.inbox.1.wait_timeout(inbox, left).expect("no test panics with it").0;
        }
    }

    /// The methods and ids of the messages that came and were not taken, in order.
    pub fn order(&self) -> Vec<String> {
        let inbox = self.inbox.0.lock().expect("no test panics with it");
        let name =
            |message: &Value| message["method"].as_str().or(message["id"].as_str()).unwrap_or("").to_owned();
        inbox.messages.iter().map(name).collect()
    }

    pub fn response(&self, id: &str) -> Value {
        self.take(&format!("the response to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    pub fn call(&self, method: &str, params: Value) -> Value {
        let response = self.response(&self.request(method, params));
        assert!(response.get("error").is_none(), "{method} failed: {response}");
        response["result"].clone()
    }

    /// The error of a call that fails.
    pub fn failing(&self, method: &str, params: Value) -> (i64, String) {
        let response = self.response(&self.request(method, params));
        error_of(&response)
    }

    /// The next request of the server with this method: its id and parameters.
    pub fn asked(&self, method: &str) -> (Value, Value) {
        let mut request =
            self.take(method, |message| message["method"] == method && message.get("id").is_some());
        assert!(request["id"].is_i64(), "the server's ids are integers: {request}");
        (request["id"].take(), request["params"].take())
    }

    pub fn answer(&self, id: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub fn notified(&self, method: &str) -> Value {
        self.take(method, |message| message["method"] == method && message.get("id").is_none())["params"]
            .take()
    }

    pub fn initialize(&self, root: &Path) -> Value {
        self.call(
            "initialize",
            json!({"request": {
                "clientInfo": {"name": "EasyDotnet", "version": "3.0.0", "pid": std::process::id()},
                "projectInfo": {"rootDir": root},
                "options": {"useVisualStudio": false, "debuggerOptions": {"applyValueConverters": true, "engine": "netcoredbg"}},
            }}),
        )
    }

    /// `debugger/start` of a file. The result is the port.
    pub fn start(&self, target: &Path) -> u16 {
        let started = self.call("debugger/start", json!({"request": {"targetPath": target}}));
        port_of(&started)
    }

    /// Answers the server's `startDebugSession` as the plugin does, and connects.
    pub fn accept_session(&self, session: i64) -> Strict {
        let (id, params) = self.asked("startDebugSession");
        self.answer(&id, json!(session));
        dap(port_of(&params))
    }

    pub fn close(&self) {
        // It may be closed already.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        self.close();
    }
}

/// What every message of the server keeps to, because the plugin takes null for a value.
fn check(message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let both = message.get("result").is_some() && message.get("error").is_some();
    assert!(!both && message["error"].get("data").is_none_or(|data| !data.is_null()), "{message}");
    let has_null =
        |value: &Value| value.as_object().is_some_and(|members| members.values().any(Value::is_null));
    assert!(!has_null(&message["params"]) && !has_null(&message["result"]), "{message}");
}

pub fn error_of(response: &Value) -> (i64, String) {
    let error = &response["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("it did not fail: {response}"));
    (code, error["message"].as_str().expect("a message is text").to_owned())
}

pub fn port_of(result: &Value) -> u16 {
    result["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("there is a port")
}

/// A strict DAP client at a port.
pub fn dap(port: u16) -> Strict {
    Strict::tcp(TcpStream::connect(("127.0.0.1", port)).expect("the port accepts a connection"))
}

/// Puts the fake adapter into the catalog of the sandbox, for files that end in `.fake`. It plays `steps`.
pub fn fake_in_catalog(rig: &Rig, steps: &[Value]) {
    let script = fake::write_script(&rig.sandbox.work(), steps);
    let adapter = text(fake::adapter_path());
    let args = json!([text(&script), "--log", text(&rig.log_path())]);
    catalog(rig, &format!("programs = [{adapter:?}]\nargs = {args}"));
}

/// The same with another way to find the program.
pub fn catalog(rig: &Rig, find: &str) {
    let folder = rig.sandbox.path("config").join("breakroom");
    fs::create_dir_all(&folder).expect("the sandbox is writable");
    let entry = "[[adapter]]\nname = \"fake\"\ntypes = [\"fake\"]\nlanguages = [\"Fake\"]\nfiles = [\"*.fake\"]\n\
         install = \"it is part of the tests\"\n[[adapter.find]]\n";
    fs::write(folder.join("catalog.toml"), format!("{entry}{find}\n")).expect("the sandbox is writable");
}

/// A program for the fake adapter.
pub fn program(rig: &Rig, name: &str) -> PathBuf {
    let path = rig.sandbox.work().join(name);
    fs::write(&path, "a program\n").expect("the sandbox is writable");
    path
}

/// The DAP start as nvim-dap does it: `attach` with the plugin's own configuration.
pub fn attach_arguments(port: u16) -> Value {
    json!({"type": "easy-dotnet", "name": "easy-dotnet", "request": "attach", "host": "127.0.0.1", "port": port})
}

/// From the first message to a program that runs.
pub fn begin(client: &mut Strict) {
    client.allow(&["capabilities"]);
    client.call("initialize", json!({"adapterID": "nvim-dap", "clientID": "neovim", "clientName": "neovim"}));
    let attach = client.request("attach", attach_arguments(1));
    client.event("initialized");
    let done = client.request("configurationDone", Value::Null);
    client.response(attach);
    client.response(done);
}
