//! A running `breakroom ide` whose Python adapter is the fake one, and a bridge that does what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use breakroom_ide_protocol::{Change, Notification};
use breakroom_testkit::frames::{FrameReader, write_message};
use breakroom_testkit::{Strict, fake, wait};
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};

use crate::peer::{Call, Reply, Socket};
use crate::support::rig::{LONG, Rig, signal};

/// The id of the bridge's session.
pub const SESSION: &str = "the-session";

pub struct Server {
    pub rig: Rig,
    pub port: u16,
    pub token: String,
    pub certificate: String,
    process: Child,
    /// What it says on stderr, line by line.
    said: Receiver<String>,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    /// Its services of type `python` are debugged by a fake adapter that plays `steps`.
    pub fn start(steps: &[Value], options: &[&str]) -> Server {
        Server::start_with(steps, options, &[("fake", "python", fake::adapter_path())])
    }

    /// The same with other adapters: the name, the type of a launch and the program of each.
    pub fn start_with(steps: &[Value], options: &[&str], adapters: &[(&str, &str, &Path)]) -> Server {
        let rig = Rig::new();
        let script = fake::write_script(&rig.sandbox.work(), steps);
        let catalog = rig.sandbox.path("config").join("breakroom/catalog.toml");
        std::fs::create_dir_all(catalog.parent().unwrap()).unwrap();
        let entry = |(name, kind, program): &(&str, &str, &Path)| {
            format!(
                "[[adapter]]\nname = {name:?}\ntypes = [{kind:?}]\ninstall = \"true\"\n[[adapter.find]]\nprograms = [{program:?}]\nargs = [{script:?}]\n"
            )
        };
        std::fs::write(catalog, adapters.iter().map(entry).collect::<String>()).unwrap();
        let mut command = rig.sandbox.command(["ide"].iter().chain(options));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut exports = String::new();
        process.stdout.take().unwrap().read_to_string(&mut exports).unwrap();
        let value = |name: &str| {
            let line = exports.lines().find_map(|line| line.strip_prefix(&format!("export {name}='")));
            line.unwrap_or_else(|| panic!("{name} is missing in {exports}")).trim_end_matches('\'').to_owned()
        };
        let stderr = process.stderr.take().unwrap();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Server {
            port: value("DEBUG_SESSION_PORT").strip_prefix("localhost:").unwrap().parse().unwrap(),
            token: value("DEBUG_SESSION_TOKEN"),
            certificate: value("DEBUG_SESSION_SERVER_CERTIFICATE"),
            rig,
            process,
            said,
            runtime: runtime.unwrap(),
        }
    }

    pub fn send(&self, call: Call) -> Reply {
        self.runtime.block_on(call.send(self))
    }

    pub fn listen(&self) -> Notifications<'_> {
        Notifications { socket: self.runtime.block_on(Socket::open(self)), server: self }
    }

    /// Creates a run session and gives its id.
    pub fn run(&self, body: &Value) -> String {
        self.send(Call::put(self, &body.to_string())).run()
    }

    /// The hub's id of a run session, from the line that says how to join it.
    pub fn hub_session(&self, run: &str) -> String {
        let line = self.line();
        assert!(
            line.starts_with(&format!("breakroom: {run} service.py: join it with `breakroom attach ")),
            "{line}"
        );
        line.trim_end_matches('`').rsplit(' ').next().unwrap().to_owned()
    }

    /// The next line on stderr.
    pub fn line(&self) -> String {
        self.said.recv_timeout(LONG).expect("breakroom ide says something on stderr")
    }

    /// An editor that joins a session of the hub. It has sent `initialize` and `attach`, and its answers are still to come.
    pub fn editor(&self, session: &str) -> Strict {
        self.rig.sandbox.client(["dap", "--session", session])
    }

    /// The processes that it has started itself and that run.
    pub fn children(&self) -> Vec<String> {
        let pid = self.process.id();
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().map_while(Result::ok);
        let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        children.collect::<String>().split_whitespace().map(str::to_owned).collect()
    }

    /// Waits until `breakroom ls` shows this text.
    pub fn lists(&self, text: &str) {
        let listed = || {
            let output = self.rig.sandbox.command(["ls", "--tree"]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().contains(text).then_some(())
        };
        wait::until(LONG, listed).unwrap_or_else(|| panic!("`breakroom ls --tree` never shows {text}"));
    }

    /// Ends it as its user would, and waits until nothing is left.
    pub fn finish(mut self) {
        signal(self.process.id().cast_signed(), rustix::process::Signal::TERM);
        assert!(wait::for_exit(&mut self.process, LONG).expect("it ends").success());
        self.rig.only_the_daemon_is_left();
    }

    /// The same of one that has run nothing, so that there is no daemon.
    pub fn finish_unused(mut self) {
        signal(self.process.id().cast_signed(), rustix::process::Signal::TERM);
        assert!(wait::for_exit(&mut self.process, LONG).expect("it ends").success());
        self.rig.sandbox.assert_nothing_left(LONG);
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The body of a run session of a Python service.
pub fn service() -> Value {
    json!({"launch_configurations": [{"type": "python", "program_path": "/srv/service.py"}]})
}

/// The same through a bridge.
pub fn bridged(bridge: &Bridge) -> Value {
    let mut body = service();
    body["debug_bridge_socket_path"] = json!(bridge.path);
    body["debug_session_id"] = json!(SESSION);
    body
}

/// What comes on the WebSocket.
pub struct Notifications<'a> {
    socket: Socket,
    server: &'a Server,
}

impl Notifications<'_> {
    /// The next change of this run.
    pub fn next(&mut self, run: &str) -> Change {
        let Notification { session_id, change } = self.any();
        assert_eq!(session_id, run);
        change
    }

    pub fn any(&mut self) -> Notification {
        let next = async { tokio::time::timeout(LONG, self.socket.next()).await };
        self.server.runtime.block_on(next).expect("another notification comes")
    }

    /// Nothing more has been sent.
    pub fn expect_silence(&mut self) {
        self.server.runtime.block_on(self.socket.expect_silence());
    }
}

/// A socket on which a test is the bridge.
pub struct Bridge {
    pub path: PathBuf,
    listener: UnixListener,
    _folder: tempfile::TempDir,
}

impl Bridge {
    pub fn listen() -> Bridge {
        // Outside of the sandbox, where it would be counted as left over.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bridge.sock");
        Bridge { listener: UnixListener::bind(&path).unwrap(), path, _folder: folder }
    }

    /// The next connection and its handshake.
    pub fn accept(&self) -> (UnixStream, Value) {
        let (mut stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut prefix = [0; 4];
        stream.read_exact(&mut prefix).unwrap();
        let mut body = vec![0; u32::from_be_bytes(prefix) as usize];
        stream.read_exact(&mut body).unwrap();
        (stream, serde_json::from_slice(&body).unwrap())
    }

    /// The next connection, with its handshake accepted, and the adapter behind it.
    pub fn adapter(&self) -> Adapter {
        let (mut stream, _) = self.accept();
        stream.write_all(&framed(r#"{"success":true}"#)).unwrap();
        Adapter::new(stream)
    }
}

pub fn framed(answer: &str) -> Vec<u8> {
    let length = u32::try_from(answer.len()).unwrap();
    [&length.to_be_bytes()[..], answer.as_bytes()].concat()
}

/// The debug adapter at the other end of a bridge, one message at a time.
pub struct Adapter {
    stream: UnixStream,
    reader: FrameReader,
    seq: i64,
}

impl Adapter {
    pub fn new(stream: UnixStream) -> Adapter {
        let reader = FrameReader::new(stream.try_clone().unwrap().into(), Peer::Client);
        Adapter { stream, reader, seq: 0 }
    }

    /// The next request, or nothing at the end of the connection.
    pub fn request(&mut self) -> Option<Value> {
        match self.reader.read() {
            Ok(Some(Frame::Message(message))) => Some(serde_json::from_slice(&message).unwrap()),
            Ok(Some(Frame::Junk(junk))) => panic!("no DAP: {junk:?}"),
            Ok(None) | Err(_) => None,
        }
    }

    /// Answers every request up to one with this command, which is given without an answer.
    pub fn until(&mut self, command: &str) -> Value {
        loop {
            let request = self.request().unwrap_or_else(|| panic!("the connection ended before {command}"));
            if request["command"] == command {
                return request;
            }
            self.answer(&request, Value::Null);
        }
    }

    pub fn answer(&mut self, request: &Value, body: Value) {
        self.send(json!({
            "type": "response", "request_seq": request["seq"], "command": request["command"], "success": true,
            "body": body,
        }));
    }

    pub fn event(&mut self, name: &str, body: Value) {
        self.send(json!({"type": "event", "event": name, "body": body}));
    }

    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        write_message(&mut self.stream, message.to_string().as_bytes()).unwrap();
    }

    /// Starts the program; gives what was asked to be launched.
    pub fn start(&mut self) -> Value {
        let initialize = self.until("initialize");
        self.answer(&initialize, json!({"supportsConfigurationDoneRequest": true}));
        let launch = self.until("launch");
        self.event("initialized", json!({}));
        let done = self.until("configurationDone");
        self.answer(&done, Value::Null);
        self.answer(&launch, Value::Null);
        self.event("process", json!({"name": "service.py", "systemProcessId": 4711}));
        launch["arguments"].clone()
    }

    /// Answers what is asked until the connection ends; gives the commands.
    pub fn rest(mut self) -> Vec<String> {
        let mut commands = Vec::new();
        while let Some(request) = self.request() {
            commands.push(request["command"].as_str().unwrap().to_owned());
            self.answer(&request, Value::Null);
            if request["command"] == "disconnect" {
                self.stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
        }
        commands
    }
}
