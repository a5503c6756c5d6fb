//! The ways to attach.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::talk::{Talk, Which, debugpy};
use crate::{Folder, same};

/// A process that looks for its debugger there, or waits for it.
fn process(words: &[&str], file: &std::path::Path) -> Child {
    let mut command = Command::new("python3");
    command.args(["-X", "frozen_modules=off"]).arg(debugpy()).args(words).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_process_that_connects_to_a_port_is_debugged_the_same() {
    let (_folder, file) = Folder::with("t.py", "import sys\nx = 1\nsys.exit(7)\n");
    same(|mut talk: Talk| {
        talk.initialize();
        let attach = talk.send("attach", json!({"listen": {"port": 0}, "restart": true}));
        let waiting = talk.event("debugpyWaitingForServer");
        let port = waiting["body"]["port"].to_string();
        let mut process = process(&["--connect", &port, "--wait-for-client"], &file);
        talk.event("initialized");
        talk.breakpoints(&file, json!([{"line": 2}]));
        talk.call("configurationDone", Value::Null);
        talk.response(attach);
        let thread = talk.stopped();
        talk.frame(&thread);
        talk.call("continue", json!({"threadId": thread}));
        talk.ended();
        process.wait().unwrap();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn what_was_attached_to_goes_on_when_the_client_leaves() {
    let (_folder, file) = Folder::with("t.py", "import sys\nx = 1\nsys.exit(7)\n");
    same(|mut talk: Talk| {
        talk.initialize();
        let attach = talk.send("attach", json!({"listen": {"port": 0}}));
        let waiting = talk.event("debugpyWaitingForServer");
        let port = waiting["body"]["port"].to_string();
        let mut process = process(&["--connect", &port, "--wait-for-client"], &file);
        talk.event("initialized");
        talk.breakpoints(&file, json!([{"line": 2}]));
        talk.call("configurationDone", Value::Null);
        talk.response(attach);
        talk.stopped();
        talk.call("disconnect", json!({}));
        assert_eq!(process.wait().unwrap().code(), Some(7));
        vec![std::mem::take(&mut talk.heard)]
    });
}

/// Asked of the kernel: a connection would be taken for a client.
fn is_listening(port: u16) -> bool {
    const LISTEN: &str = "0A";
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let place = format!("0100007F:{port:04X}");
    table.lines().any(|row| {
        let mut columns = row.split_whitespace().skip(1);
        columns.next() == Some(&place) && columns.nth(1) == Some(LISTEN)
    })
}

/// The kernel gives a port below its own range to nobody who does not name it, so it is still free when the process begins.
fn free_port() -> u16 {
    // Another process of tests has others.
    let own = 30_000 + u16::try_from(std::process::id() % 1000).unwrap() * 2;
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (own..32_768).find(is_free).expect("one of them is free")
}

/// debugpy's own adapter has nothing to compare with: through stdio it waits for ever.
#[test]
fn a_process_that_listens_is_reached_by_connect_or_host_and_port() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let (_folder, file) = Folder::with("t.py", "import sys\nx = 1\nsys.exit(7)\n");
    for by in ["connect", "port"] {
        let port = free_port();
        let mut process = process(&["--listen", &port.to_string(), "--wait-for-client"], &file);
        breakroom_testkit::wait::until(breakroom_testkit::wait::DEADLINE, || {
            is_listening(port).then_some(())
        })
        .expect("the process listens");
        let mut talk = Talk::with(&Which::Ours);
        talk.initialize();
        let place = json!({"host": "127.0.0.1", "port": port});
        let attach = if by == "connect" { json!({"connect": place}) } else { place };
        talk.start("attach", attach, |talk| {
            talk.breakpoints(&file, json!([{"line": 2}]));
        });
        let thread = talk.stopped();
        talk.frame(&thread);
        talk.call("continue", json!({"threadId": thread}));
        talk.event("terminated");
        talk.call("disconnect", json!({}));
        assert_eq!(process.wait().unwrap().code(), Some(7));
        let hellos = talk.heard.iter().filter(|message| message["command"] == "initialize").count();
        assert_eq!(hellos, 1, "the other adapter's answer to `initialize` is not passed on");
    }
}

#[test]
fn nothing_at_the_other_end_is_told_with_what_to_do() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    for (attach, part) in [
        (json!({"connect": {"host": "127.0.0.1", "port": 1}}), "debugpy --listen"),
        (json!({}), "`processId`"),
        (json!({"listen": {"port": 1}, "connect": {"port": 1}}), "together"),
    ] {
        let answer = talk.call("attach", attach);
        assert!(answer["message"].as_str().unwrap().contains(part), "{answer}");
    }
    talk.call("disconnect", json!({}));
}

#[test]
fn nobody_is_listened_for_on_the_network() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    for host in ["0.0.0.0", "::", "", "192.0.2.1", "::ffff:0.0.0.0"] {
        let attach = talk.send("attach", json!({"listen": {"host": host, "port": 0}}));
        // One that listens is not answered until somebody comes.
        let answer = talk.response(attach);
        assert_eq!(answer["success"], false, "{host}");
    }
    let answer = talk.call("attach", json!({"listen": {"host": "0.0.0.0", "port": 0}}));
    assert!(answer["message"].as_str().unwrap().contains("use 127.0.0.1"), "{answer}");
    let listening = |message: &&Value| {
        let sockets = message["body"]["sockets"].as_array();
        sockets.is_some_and(|sockets| sockets.iter().any(|socket| socket["internal"] == true))
    };
    assert_eq!(talk.heard.iter().find(listening), None);
    talk.send("attach", json!({"listen": {"host": "localhost", "port": 0}}));
    talk.event("debugpyWaitingForServer");
    talk.call("disconnect", json!({}));
}

#[test]
fn a_process_that_is_not_there_fails_soon() {
    if breakroom_testkit::adapters::skipped("debugpy") || breakroom_testkit::adapters::skipped("gdb") {
        return;
    }
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    let answer = talk.call("attach", json!({"processId": 999_999_999}));
    assert_eq!(answer["success"], false);
    assert!(crate::talk::output(&talk.heard, "stderr").contains("Attach to PID failed"), "{answer}");
    talk.call("disconnect", json!({}));
}

/// It computes all the time, so gdb stops it in the midst of something.
#[test]
fn a_process_that_is_attached_to_by_its_number_keeps_its_own_names_and_says_nothing() {
    use breakroom_testkit::adapters::skipped;
    if skipped("debugpy") || skipped("system-gdb") {
        return;
    }
    let text = "x = 0\nprint('ready', flush=True)\nwhile True:\n    x = sum([i for i in range(50)])\n";
    let (_folder, file) = Folder::with("t.py", text);
    let mut command = Command::new("python3");
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("attach", json!({"processId": process.id()}), |talk| {
        talk.breakpoints(&file, json!([{"line": 4}]));
    });
    let thread = talk.stopped();
    let frame = talk.frame(&thread);
    let names = "sorted(name for name in globals() if not name.startswith('__'))";
    let names = talk.call("evaluate", json!({"expression": names, "frameId": frame}));
    assert_eq!(names["body"]["result"], "['x']", "{names}");
    talk.call("disconnect", json!({}));
    assert_eq!(process.try_wait().unwrap(), None, "it lives on");
    process.kill().unwrap();
    let said = process.wait_with_output().unwrap().stderr;
    assert_eq!(String::from_utf8_lossy(&said), "");
}

/// So it is when the attach was called off before the process came to it, or when the process is in a container.
#[test]
fn a_busy_process_lives_on_when_it_cannot_reach_its_debugger() {
    use breakroom_testkit::adapters::skipped;
    if skipped("debugpy") || skipped("system-gdb") {
        return;
    }
    // What it answers is said outside of whatever interrupts it.
    let text = "import signal\nasked = []\nsignal.signal(signal.SIGUSR1, lambda *_: asked.append(1))\nprint('ready', flush=True)\nwhile True:\n    x = sum([i for i in range(50)])\n    while asked: print('alive', flush=True); asked.pop()\n";
    let (_folder, file) = Folder::with("t.py", text);
    let mut command = Command::new("python3");
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut complained = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(said.next().as_deref(), Some("ready"));
    let mut inject = Command::new("python3");
    inject.args(["-c", include_str!("../../src/inject.py")]).arg(debugpy());
    inject.args(["--connect", "127.0.0.1:1", "--pid", &process.id().to_string()]);
    let inject = inject.stdin(Stdio::null()).output().unwrap();
    assert!(inject.status.success(), "{inject:?}");
    assert!(complained.any(|line| line.starts_with("Traceback")), "it is told why");
    let process_id = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(process_id, rustix::process::Signal::USR1).unwrap();
    assert_eq!(said.next().as_deref(), Some("alive"));
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Once there is a second interpreter in it, a process says of every thread that it holds Python's lock. Its main thread has
/// nothing to run before the other ends.
#[test]
fn a_process_with_another_interpreter_is_reached_while_its_main_thread_waits() {
    use breakroom_testkit::adapters::skipped;
    if skipped("debugpy") || skipped("system-gdb") {
        return;
    }
    let text = "import threading, time\ntry: import _interpreters\nexcept ImportError: import _xxsubinterpreters as _interpreters\nother = _interpreters.create()\ndef tick():\n    while True:\n        time.sleep(0.1)\nthread = threading.Thread(target=tick)\nthread.start()\nprint('ready', flush=True)\nthread.join()\n";
    let (_folder, file) = Folder::with("t.py", text);
    let mut command = Command::new("python3");
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("attach", json!({"processId": process.id()}), |_| {});
    let threads = talk.call("threads", Value::Null);
    assert_eq!(threads["body"]["threads"].as_array().unwrap().len(), 2, "{threads}");
    talk.call("disconnect", json!({}));
    assert_eq!(process.try_wait().unwrap(), None, "it lives on");
    process.kill().unwrap();
    process.wait().unwrap();
}
