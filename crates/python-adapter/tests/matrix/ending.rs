//! How sessions end, and that nothing is left of them.

use std::cell::RefCell;
use std::time::Duration;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::talk::{Talk, Which};
use crate::{Folder, same};

const SPINS: &str = "import os\nprint(os.getpid(), flush=True)\nwhile True:\n    pass\n";

fn spinning(talk: &mut Talk, file: &std::path::Path, more: Value) -> u32 {
    talk.initialize();
    let mut launch = json!({"program": file, "console": "internalConsole"});
    launch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    talk.start("launch", launch, |_| {});
    talk.output("\n");
    let printed = crate::talk::output(&talk.heard, "stdout");
    printed.trim().parse().unwrap()
}

fn is_alive(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

fn assert_ends(pid: u32) {
    wait::until(Duration::from_secs(30), || (!is_alive(pid)).then_some(())).expect("the program ends");
}

/// The number of the process is printed, and never the same.
fn without_numbers(mut heard: Vec<Value>) -> Vec<Vec<Value>> {
    heard.retain(|message| message["body"]["category"] != "stdout");
    vec![heard]
}

#[test]
fn terminate_and_disconnect_end_what_was_launched() {
    let (_folder, file) = Folder::with("t.py", SPINS);
    for (command, arguments) in [
        ("terminate", json!({})),
        ("disconnect", json!({})),
        ("disconnect", json!({"terminateDebuggee": true})),
    ] {
        same(|mut talk: Talk| {
            let pid = spinning(&mut talk, &file, json!({}));
            talk.call(command, arguments.clone());
            assert_ends(pid);
            without_numbers(std::mem::take(&mut talk.heard))
        });
    }
}

#[test]
fn an_end_that_the_program_may_prepare_for_is_an_interrupt() {
    // In one piece, or the interrupt could come between the word and the end of its line. Whoever runs the tests may ignore
    // interrupts, as what a shell runs in the background does, and the program would with them.
    let text = "import signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\ntry:\n    print('on\\n', end='', flush=True)\n    while True:\n        time.sleep(0.05)\n\
                except KeyboardInterrupt:\n    print('interrupted')\n";
    let (_folder, file) = Folder::with("t.py", text);
    same(|mut talk: Talk| {
        talk.initialize();
        let launch =
            json!({"program": file, "console": "internalConsole", "onTerminate": "KeyboardInterrupt"});
        talk.start("launch", launch, |_| {});
        talk.output("on");
        talk.call("terminate", json!({}));
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn a_client_that_vanishes_takes_its_program_with_it() {
    let (_folder, file) = Folder::with("t.py", SPINS);
    let mut talk = Talk::with(&Which::Ours);
    let pid = spinning(&mut talk, &file, json!({}));
    drop(talk);
    assert_ends(pid);
}

#[test]
fn a_session_that_never_began_ends_the_same() {
    same(|mut talk: Talk| {
        talk.initialize();
        talk.call("disconnect", json!({}));
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn a_program_that_is_killed_is_told_of() {
    let (_folder, file) = Folder::with("t.py", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n");
    // They have different numbers for it, on purpose.
    let codes = RefCell::new(Vec::new());
    let compared = same(|mut talk: Talk| {
        talk.initialize();
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        talk.ended();
        let exited = talk.heard.iter_mut().find(|message| message["event"] == "exited").unwrap();
        codes.borrow_mut().push(exited["body"]["exitCode"].take());
        vec![std::mem::take(&mut talk.heard)]
    });
    assert!(!compared || codes.into_inner() == [256 - 9, 128 + 9]);
}

#[test]
fn output_after_the_debugger_has_gone_is_heard_to_its_end() {
    let text = "import atexit, sys\natexit.register(lambda: print('z' * 100000))\nprint('a')\n";
    let (_folder, file) = Folder::with("t.py", text);
    same(|mut talk: Talk| {
        talk.initialize();
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

/// A process that is killed at the end of a test.
struct Killed(u32);

impl Drop for Killed {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(self.0.cast_signed());
        let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
    }
}

#[test]
fn a_background_process_that_holds_the_pipes_does_not_keep_the_end_off() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    // The second keeps everything that the program has open, its connection to the debugger included.
    for background in ["subprocess.Popen(['sleep', '1000']).pid", "os.fork() or time.sleep(1000)"] {
        let text = format!(
            "import os, subprocess, sys, time\nprint({background}, flush=True)\nprint('z' * 60000)\nsys.exit(3)\n"
        );
        let (_folder, file) = Folder::with("t.py", &text);
        let mut talk = Talk::with(&Which::Ours);
        talk.initialize();
        let launch = json!({"program": file, "console": "internalConsole", "subProcess": false});
        talk.start("launch", launch, |_| {});
        talk.output("\n");
        let printed = crate::talk::output(&talk.heard, "stdout");
        let background = Killed(printed.lines().next().unwrap().parse().unwrap());
        talk.ended();
        assert!(is_alive(background.0));
        let exited = talk.heard.iter().find(|message| message["event"] == "exited").unwrap();
        assert_eq!(exited["body"]["exitCode"], 3);
        let printed = crate::talk::output(&talk.heard, "stdout");
        assert_eq!(printed.lines().nth(1).map(str::len), Some(60000));
    }
}

/// It is a part of what is debugged, and prints to the same pipe.
#[test]
fn the_end_waits_for_a_debugged_child_that_outlives_its_parent() {
    let text = "import os, time\nready, told = os.pipe()\nparent = os.getpid()\nif os.fork() == 0:\n    os.write(told, b'.')\n    \
                while os.getppid() == parent:\n        time.sleep(0.05)\n    print('later')\nelse:\n    os.read(ready, 1)\n";
    let (_folder, file) = Folder::with("t.py", text);
    same(|mut talk: Talk| {
        talk.initialize_with(json!({"supportsStartDebuggingRequest": true}));
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        let announced = talk.event("startDebugging");
        talk.answer(&announced, true);
        let mut child = crate::children::child(&announced);
        child.ended();
        talk.ended();
        assert_eq!(crate::talk::output(&talk.heard, "stdout"), "later\n");
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn a_request_that_is_never_answered_does_not_keep_the_end_off() {
    let (_folder, file) = Folder::with("t.py", "import time\nx = 1\nprint('end')\n");
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("launch", json!({"program": file, "console": "internalConsole"}), |talk| {
        talk.breakpoints(&file, json!([{"line": 2}]));
    });
    let thread = talk.stopped();
    let frame = talk.frame(&thread);
    let slow = json!({"expression": "time.sleep(1000)", "value": "1", "frameId": frame});
    let unanswered = talk.send("setExpression", slow);
    let waiting = talk.send("threads", Value::Null);
    talk.call("disconnect", json!({}));
    for seq in [unanswered, waiting] {
        let answered = talk.heard.iter().any(|message| message["request_seq"] == seq);
        assert!(answered || seq == waiting, "the request at work is answered before the end");
    }
}
