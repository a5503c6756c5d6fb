//! Who connects to the port for Python processes without being one that was started from here.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::Folder;
use crate::talk::{Talk, Which};

/// A program that stands still, and where its kind connects.
fn stopped(file: &Path) -> (Talk, Value, u16) {
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("launch", json!({"program": file, "console": "internalConsole", "stopOnEntry": true}), |_| {});
    let thread = talk.stopped();
    let ports = talk.heard.iter().filter(|message| message["event"] == "debugpySockets");
    let mut ports =
        ports.flat_map(|message| message["body"]["sockets"].as_array().cloned().unwrap_or_default());
    let port = ports.rfind(|socket| socket["internal"] == true).unwrap()["port"].as_u64().unwrap();
    (talk, thread, u16::try_from(port).unwrap())
}

/// As everybody on the machine can read it.
fn token(talk: &Talk) -> String {
    let process = talk.heard.iter().find(|message| message["event"] == "process").unwrap();
    let words =
        std::fs::read_to_string(format!("/proc/{}/cmdline", process["body"]["systemProcessId"])).unwrap();
    let mut words = words.split('\0').skip_while(|word| *word != "--adapter-access-token");
    words.nth(1).unwrap().to_owned()
}

/// One that nobody collects is still listed.
fn runs(pid: &str) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

/// Only root can start a process of another user.
#[test]
fn a_process_of_another_user_is_not_spoken_to() {
    const NOBODY: u32 = 65534;
    if breakroom_testkit::adapters::skipped("debugpy") || !rustix::process::geteuid().is_root() {
        return;
    }
    let (_folder, file) = Folder::with("t.py", "x = 1\nprint(x)\n");
    let (mut talk, thread, port) = stopped(&file);
    let script = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n\
                  try: print(len(s.recv(99)))\nexcept ConnectionResetError: print(0)";
    let mut command = Command::new("python3");
    command.args(["-c", script, &port.to_string()]).uid(NOBODY).gid(NOBODY).current_dir("/");
    // It is of the same parent as the program, and no descendant of it.
    let said = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "0\n", "{said:?}");
    talk.call("continue", json!({"threadId": thread}));
    talk.ended();
}

#[test]
fn a_process_that_claims_the_number_of_another_does_not_have_it_ended() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let (_folder, file) = Folder::with("t.py", "x = 1\nprint(x)\n");
    let (mut talk, thread, port) = stopped(&file);
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let mut stranger = Talk::to(port);
    let asked = stranger.event("pydevdAuthorize");
    stranger.answer_with(&asked, json!({"clientAccessToken": token(&talk)}));
    let asked = stranger.event("pydevdSystemInfo");
    stranger.answer_with(&asked, json!({"process": {"pid": other.id(), "ppid": 1}}));
    // It is believed to be a process, one that may run.
    stranger.event("configurationDone");
    talk.call("continue", json!({"threadId": thread}));
    talk.ended();
    // What ends it first is what it says, however long that takes.
    other.kill().unwrap();
    assert_eq!(other.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_child_that_outlives_its_program_is_ended_with_the_session() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let text = "import subprocess, sys\nif len(sys.argv) > 1:\n    while True: pass\n\
                child = subprocess.Popen([sys.executable, __file__, 'child'], start_new_session=True,\n\
                \x20   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n\
                print(child.pid, flush=True)\nbreakpoint()\nx = 1\n";
    let (_folder, file) = Folder::with("t.py", text);
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
    let thread = talk.stopped();
    if !talk.heard.iter().any(|message| message["event"] == "debugpyAttach") {
        talk.event("debugpyAttach");
    }
    talk.output("\n");
    let pid = crate::talk::output(&talk.heard, "stdout").trim().to_owned();
    assert!(runs(&pid));
    talk.call("continue", json!({"threadId": thread}));
    talk.ended();
    wait::until(Duration::from_secs(30), || (!runs(&pid)).then_some(())).expect("the child ends");
}

#[test]
fn a_process_that_does_not_know_the_token_is_not_listened_to() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let (_folder, file) = Folder::with("t.py", "x = 1\nprint(x)\n");
    let (mut talk, thread, port) = stopped(&file);
    for shown in [json!("0".repeat(64)), Value::Null] {
        let mut stranger = Talk::to(port);
        let asked = stranger.event("pydevdAuthorize");
        assert_eq!(asked["arguments"], json!({"debugServerAccessToken": null}), "it is told no secret");
        stranger.answer_with(&asked, json!({"clientAccessToken": shown}));
        assert!(stranger.is_shown_the_door(), "{shown}");
    }
    talk.call("continue", json!({"threadId": thread}));
    talk.ended();
    assert_eq!(crate::talk::output(&talk.heard, "stdout"), "1\n");
}

#[test]
fn what_is_no_message_or_comes_from_nowhere_is_passed_over() {
    let mut talk = Talk::with(&Which::Ours);
    talk.write_raw("Content-Length: 8\r\n\r\nnonsense");
    talk.write_raw("Content-Length: 2\r\n\r\n{}");
    talk.answer(&json!({"seq": 77, "command": "runInTerminal"}), false);
    talk.initialize();
    assert_eq!(talk.call("next", json!({"threadId": 1}))["success"], false);
    talk.call("disconnect", json!({}));
}
