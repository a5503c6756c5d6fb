//! What the fault tests share: a sandbox with the fake adapter in it, clients that may misbehave, and questions to the
//! kernel about what the hub holds.
//!
//! It judges nothing; that is the strict client's and the census's work.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use breakroom_testkit::frames::{FrameReader, write_message};
use breakroom_testkit::{Sandbox, Strict, census, fake, wait};
use breakroom_wire::{Frame, Peer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Only a broken hub takes this long.
pub const LONG: Duration = wait::DEADLINE;

/// What a loaded machine may add to a time that is promised. A hub that waits in vain takes longer than both together.
pub const SLACK: Duration = Duration::from_secs(25);

/// More than any hub of these tests needs, and less than what a hoarding one would take.
pub const BOUND: u64 = 64 << 20;

pub struct Rig {
    pub sandbox: Sandbox,
}

impl Rig {
    pub fn new() -> Rig {
        Rig { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_breakroom")) }
    }

    /// The record of a fake adapter on stdio that plays `steps`.
    pub fn fake(&self, steps: &[Value]) -> Value {
        self.fake_with(steps, &[])
    }

    pub fn fake_with(&self, steps: &[Value], options: &[&str]) -> Value {
        let script = fake::write_script(&self.sandbox.work(), steps);
        let mut args = vec![text(fake::adapter_path()), text(&script)];
        args.extend(options.iter().map(|&option| option.to_owned()));
        json!({"args": args})
    }

    /// The same over TCP, dialled by the hub.
    pub fn fake_tcp(&self, steps: &[Value]) -> Value {
        let mut record = self.fake_with(steps, &["--listen", "{{port}}"]);
        record["mode"] = "tcp-connect".into();
        record
    }

    /// One that serves any number of connections, as js-debug does: the first plays the first of these scripts, the second
    /// the second, all others the last. Each writes a log.
    pub fn fake_server(&self, scripts: &[&[Value]]) -> Value {
        self.fake_server_at("tcp-connect", "{{port}}", scripts)
    }

    /// The same in another mode, with what stands for its place.
    pub fn fake_server_at(&self, mode: &str, place: &str, scripts: &[&[Value]]) -> Value {
        let mut args = vec![text(fake::adapter_path())];
        let written = scripts.iter().map(|steps| text(&fake::write_script(&self.sandbox.work(), steps)));
        args.extend(written);
        args.extend(["--serve", place, "--log", &text(&self.log_path())].map(str::to_owned));
        json!({"name": "fake", "args": args, "mode": mode})
    }

    /// What came over one of a server's connections, counted from 0.
    pub fn log_of(&self, connection: usize) -> Vec<Value> {
        lines(&fake::log_of(&self.log_path(), connection))
    }

    /// Where a fake adapter with `--log` writes; and what it wrote, line by line.
    pub fn log_path(&self) -> PathBuf {
        self.sandbox.work().join("adapter.log")
    }

    pub fn log(&self) -> Vec<Value> {
        lines(&self.log_path())
    }

    /// A strict client in a session of the daemon.
    pub fn client(&self) -> Strict {
        self.sandbox.client(["dap"])
    }

    /// A strict client in a session of its own process.
    pub fn private(&self) -> Strict {
        self.sandbox.client(["dap", "--private"])
    }

    /// A client without rules, for bytes that no rule allows.
    pub fn raw(&self) -> Raw {
        Raw::spawn(self.sandbox.command(["dap"]))
    }

    /// The daemon's process.
    pub fn daemon(&self) -> i32 {
        self.daemon_now().expect("a daemon was started")
    }

    pub fn daemon_now(&self) -> Option<i32> {
        let processes = self.sandbox.census().processes();
        // Others may have that word somewhere in what they are told to do.
        let serves = |line: &str| line.split(' ').nth(1) == Some("serve");
        let mut hubs = processes.iter().filter(|process| !process.zombie && serves(&process.command_line));
        let hub = hubs.next()?;
        assert!(hubs.next().is_none(), "there is more than one daemon: {processes:?}");
        Some(hub.pid)
    }

    /// Waits until everything but the daemon has ended.
    pub fn only_the_daemon_is_left(&self) {
        self.only_the_daemon_is_left_beside(0);
    }

    /// The same with a door that goes on listening.
    pub fn only_the_daemon_is_left_beside(&self, door: u32) {
        let alone = || {
            let left = self.sandbox.census().left();
            let daemon = self.daemon_now()?;
            let processes =
                left.processes.iter().all(|process| [daemon, door.cast_signed()].contains(&process.pid));
            let sockets = left.sockets.len() == 1 && left.sockets[0].ends_with("/hub-1.sock");
            let known =
                |file: &PathBuf| file.ends_with("breakroom/hub-1.sock") || file.ends_with("breakroom/token");
            (processes && sockets && left.files.iter().all(known)).then_some(())
        };
        if wait::until(LONG, alone).is_none() {
            panic!("more than the daemon is left:\n{}", self.sandbox.census().left());
        }
        self.the_hub_did_not_panic();
    }

    /// The same after a js-debug that was ended by a signal, with the hub or without: it leaves a folder for temporary files.
    pub fn only_js_debugs_folder_is_left(&self) {
        for file in fs::read_dir(self.sandbox.path("tmp")).expect("the sandbox has one").map_while(Result::ok)
        {
            if file.file_name().to_string_lossy().starts_with("vscode-js-debug-") {
                fs::remove_dir_all(file.path()).expect("nobody uses it any more");
            }
        }
        self.only_the_daemon_is_left();
    }

    /// Waits until the daemon has a guard ready for whoever comes next, and says which.
    pub fn spare_guard(&self) -> i32 {
        let only = || match &self.sandbox.census().spare_guards()[..] {
            [spare] => Some(spare.pid),
            _ => None,
        };
        wait::until(LONG, only).unwrap_or_else(|| panic!("{:?}", self.sandbox.census().spare_guards()))
    }

    /// A panic ends one session only, so it could go unnoticed.
    fn the_hub_did_not_panic(&self) {
        let log = self.sandbox.path("state").join("breakroom/hub.log");
        let log = fs::read_to_string(log).unwrap_or_default();
        assert!(!log.contains("panicked") && !log.contains("error of the hub"), "the hub's log:\n{log}");
    }

    /// Proves that the daemon still serves: a whole session, start to end.
    pub fn serves_another(&self) {
        let mut client = self.client();
        begin(&mut client, self.fake(&[]));
        client.call("threads", Value::Null);
        end(client);
    }

    /// Ends the daemon as its user would, and waits until nothing is left.
    pub fn end_daemon(&self) {
        self.sandbox.census().processes();
        signal(self.daemon(), Signal::TERM);
        self.sandbox.assert_nothing_left(LONG);
        self.the_hub_did_not_panic();
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("the paths of tests are UTF-8").to_owned()
}

pub fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).expect("a process number is positive"), signal)
        .expect("the process is ours");
}

/// What is resident of a process, in bytes.
pub fn resident(pid: i32) -> u64 {
    memory(pid, "VmRSS:")
}

/// The most that ever was.
pub fn peak(pid: i32) -> u64 {
    memory(pid, "VmHWM:")
}

pub fn memory(pid: i32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("the kernel tells the memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") * 1024
}

/// Descriptors by what they are, without their numbers: those depend on the order of events.
pub fn descriptors(pid: i32) -> Vec<String> {
    let kind = |target: String| target.split(':').next().unwrap_or_default().to_owned();
    let open = census::open_descriptors(pid.cast_unsigned());
    let mut kinds: Vec<String> = open.into_iter().map(|(_, target)| kind(target)).collect();
    kinds.sort();
    kinds
}

/// The names of a process's threads, without those that a runtime keeps for a moment in case they are needed again.
pub fn threads(pid: i32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the process lives");
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).ok();
    let names = tasks.filter_map(Result::ok).filter_map(name).map(|name| name.trim().to_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("tokio-")).collect();
    names.sort();
    names
}

/// Arguments of a launch with this adapter. Nobody comes back to it, so that a test sees the end of what it lost.
pub fn launch(record: Value) -> Value {
    json!({"program": "program", "breakroom": {"adapter": record, "onLastLeave": "terminate"}})
}

pub fn initialize(client: &mut Strict) {
    client.call("initialize", json!({"adapterID": "fake", "clientID": "test"}));
}

/// From the first message to a debuggee that runs.
pub fn begin(client: &mut Strict, record: Value) {
    begin_with(client, "launch", launch(record));
}

pub fn begin_with(client: &mut Strict, command: &str, arguments: Value) {
    initialize(client);
    let launch = client.request(command, arguments);
    client.event("capabilities");
    client.event("initialized");
    let done = client.request("configurationDone", Value::Null);
    client.response(launch);
    client.response(done);
}

pub fn end(mut client: Strict) {
    client.call("disconnect", json!({}));
    client.finish();
}

pub fn message(seq: i64, command: &str, arguments: Value) -> Value {
    json!({"seq": seq, "type": "request", "command": command, "arguments": arguments})
}

/// A client that checks nothing and reads only when told to.
pub struct Raw {
    pub door: Child,
    pub input: Option<fs::File>,
    reader: FrameReader,
}

impl Raw {
    pub fn spawn(mut command: Command) -> Raw {
        let mut door = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it can start");
        let output = OwnedFd::from(door.stdout.take().expect("stdout was asked for"));
        let input = OwnedFd::from(door.stdin.take().expect("stdin was asked for"));
        Raw { door, input: Some(input.into()), reader: FrameReader::new(output, Peer::Adapter) }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("it is open").write_all(bytes).expect("the hub reads");
    }

    pub fn frame(&mut self, body: &[u8]) {
        write_message(self.input.as_mut().expect("it is open"), body).expect("the hub reads");
    }

    pub fn send(&mut self, message: &Value) {
        self.frame(message.to_string().as_bytes());
    }

    /// The next message's bytes. None: the hub closed the connection.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        match self.reader.read().expect("the hub's framing is sound") {
            Some(Frame::Message(body)) => Some(body.to_vec()),
            Some(Frame::Junk(junk)) => panic!("the hub wrote text: {:?}", String::from_utf8_lossy(&junk)),
            None => None,
        }
    }

    pub fn value(&mut self) -> Option<Value> {
        Some(serde_json::from_slice(&self.next()?).expect("the hub sends JSON"))
    }

    /// Reads until a message of this kind and name.
    pub fn until(&mut self, kind: &str, name: &str) -> Value {
        let key = if kind == "event" { "event" } else { "command" };
        loop {
            let message = self.value().unwrap_or_else(|| panic!("closed before {kind} {name}"));
            if message["type"] == kind && message[key] == name {
                return message;
            }
        }
    }

    /// Starts a session with this adapter.
    pub fn begin(&mut self, record: Value) {
        self.send(&message(1, "initialize", json!({"adapterID": "fake"})));
        self.send(&message(2, "launch", launch(record)));
        self.until("event", "initialized");
        self.send(&message(3, "configurationDone", json!({})));
        self.until("response", "configurationDone");
    }

    /// Waits for the door's process, and gives what it wrote to stderr.
    pub fn finish(mut self) -> (ExitStatus, String) {
        self.input = None;
        let status = wait::for_exit(&mut self.door, LONG).expect("the door ends with its client");
        let mut said = String::new();
        let mut stderr = self.door.stderr.take().expect("stderr was asked for");
        std::io::Read::read_to_string(&mut stderr, &mut said).expect("it is text");
        (status, said)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = self.door.kill();
        let _ = self.door.wait();
    }
}
