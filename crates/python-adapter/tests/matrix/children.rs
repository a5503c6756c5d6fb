//! Processes that a program starts, and those that they start.

use serde_json::{Value, json};

use crate::talk::{Talk, Which, output};
use crate::{Folder, same};

/// Starts itself, as often as its argument says.
const STARTS: &str = "\
import subprocess, sys
left = int(sys.argv[1])
if left:
    code = subprocess.call([sys.executable, __file__, str(left - 1)])
    print('child', left - 1, 'ended with', code)
else:
    print('the last')
sys.exit(left + 10)
";

/// Attaches to the child that was announced.
pub fn child(announced: &Value) -> Talk {
    let configuration = match announced["command"] == "startDebugging" {
        true => announced["arguments"]["configuration"].clone(),
        false => announced["body"].clone(),
    };
    let port = configuration["connect"]["port"].as_u64().unwrap();
    let mut talk = Talk::to(u16::try_from(port).unwrap());
    talk.initialize_with(json!({"supportsStartDebuggingRequest": announced["command"] == "startDebugging"}));
    talk.seq_of_attach(configuration);
    talk
}

impl Talk {
    fn seq_of_attach(&mut self, configuration: Value) {
        self.start("attach", configuration, |_| {});
    }
}

fn family(mut talk: Talk, file: &std::path::Path, with_requests: bool, generations: u32) -> Vec<Vec<Value>> {
    let announcement = if with_requests { "startDebugging" } else { "debugpyAttach" };
    talk.initialize_with(json!({"supportsStartDebuggingRequest": with_requests}));
    let launch = json!({"program": file, "console": "internalConsole", "args": [generations.to_string()]});
    talk.start("launch", launch, |_| {});
    let mut talks = vec![talk];
    for _ in 0..generations {
        let parent = talks.last_mut().unwrap();
        let announced = parent.event(announcement);
        if with_requests {
            parent.answer(&announced, true);
        }
        talks.push(child(&announced));
    }
    for talk in talks.iter_mut().rev() {
        talk.ended();
    }
    talks.iter_mut().map(|talk| std::mem::take(&mut talk.heard)).collect()
}

#[test]
fn children_and_their_children_are_announced_by_a_request() {
    let (_folder, file) = Folder::with("t.py", STARTS);
    same(|talk| family(talk, &file, true, 2));
}

#[test]
fn children_and_their_children_are_announced_by_an_event() {
    let (_folder, file) = Folder::with("t.py", STARTS);
    same(|talk| family(talk, &file, false, 2));
}

/// What a client has for the program must not be sent to its child, which would refuse it.
#[test]
fn a_child_does_not_claim_to_take_input() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let (_folder, file) = Folder::with("t.py", STARTS);
    let mut talk = Talk::with(&Which::Ours);
    let declared = json!({"supportsStartDebuggingRequest": true, "supportsBreakroomInput": true});
    talk.initialize_with(declared.clone());
    talk.start("launch", json!({"program": file, "console": "internalConsole", "args": ["1"]}), |_| {});
    let announced = talk.event("startDebugging");
    talk.answer(&announced, true);
    let configuration = announced["arguments"]["configuration"].clone();
    let port = configuration["connect"]["port"].as_u64().unwrap();
    let mut child = Talk::to(u16::try_from(port).unwrap());
    child.initialize_with(declared);
    let claims = |talk: &Talk| json!(talk.heard).to_string().contains("\"supportsBreakroomInput\":true");
    assert!(claims(&talk) && !claims(&child), "{:?}", child.heard);
    child.seq_of_attach(configuration);
    child.ended();
    talk.ended();
}

/// A parent may read what its child prints.
#[test]
fn the_debugger_says_nothing_of_its_own_in_a_childs_output() {
    if breakroom_testkit::adapters::skipped("debugpy") {
        return;
    }
    let (_folder, file) = Folder::with("t.py", STARTS);
    let heard = family(Talk::with(&Which::Ours), &file, true, 1);
    let said: String = heard.iter().map(|heard| output(heard, "stderr")).collect();
    assert_eq!(said, "");
}

#[test]
fn a_child_that_the_client_does_not_want_runs_free() {
    let (_folder, file) = Folder::with("t.py", STARTS);
    same(|mut talk: Talk| {
        talk.initialize_with(json!({"supportsStartDebuggingRequest": true}));
        talk.start("launch", json!({"program": file, "console": "internalConsole", "args": ["1"]}), |_| {});
        let announced = talk.event("startDebugging");
        talk.answer(&announced, false);
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn children_that_are_not_wanted_at_all_are_not_announced() {
    let (_folder, file) = Folder::with("t.py", STARTS);
    same(|mut talk: Talk| {
        talk.initialize();
        let launch =
            json!({"program": file, "console": "internalConsole", "args": ["1"], "subProcess": false});
        talk.start("launch", launch, |_| {});
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn forked_children_are_announced_and_stop_at_breakpoints() {
    let text = "import os\npid = os.fork()\nif pid == 0:\n    x = 1\n    os._exit(5)\n\
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n";
    let (_folder, file) = Folder::with("t.py", text);
    same(|mut talk: Talk| {
        talk.initialize_with(json!({"supportsStartDebuggingRequest": true}));
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        let announced = talk.event("startDebugging");
        talk.answer(&announced, true);
        let configuration = announced["arguments"]["configuration"].clone();
        let port = configuration["connect"]["port"].as_u64().unwrap();
        let mut child = Talk::to(u16::try_from(port).unwrap());
        child.initialize();
        child.start("attach", configuration, |child| {
            child.breakpoints(&file, json!([{"line": 5}]));
        });
        let thread = child.stopped();
        child.frame(&thread);
        child.call("continue", json!({"threadId": thread}));
        child.ended();
        talk.ended();
        vec![std::mem::take(&mut talk.heard), std::mem::take(&mut child.heard)]
    });
}

#[test]
fn a_program_that_becomes_another_is_announced_as_a_child() {
    let text = "import os, sys\nif len(sys.argv) < 2:\n    os.execv(sys.executable, [sys.executable, __file__, 'again'])\n\
                print('became another')\nsys.exit(6)\n";
    let (_folder, file) = Folder::with("t.py", text);
    same(|mut talk: Talk| {
        talk.initialize_with(json!({"supportsStartDebuggingRequest": true}));
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        let announced = talk.event("startDebugging");
        talk.answer(&announced, true);
        let mut child = child(&announced);
        child.ended();
        talk.ended();
        vec![std::mem::take(&mut talk.heard), std::mem::take(&mut child.heard)]
    });
}

#[test]
fn a_child_that_has_gone_ends_its_session_at_once() {
    let (_folder, file) = Folder::with("t.py", "x = 1\n");
    same(|mut talk: Talk| {
        talk.initialize();
        talk.start(
            "launch",
            json!({"program": file, "console": "internalConsole", "stopOnEntry": true}),
            |_| {},
        );
        let thread = talk.stopped();
        let sockets = talk.heard.iter().find(|message| message["event"] == "debugpySockets").unwrap();
        let port = sockets["body"]["sockets"][0]["port"].as_u64().unwrap();
        let mut child = Talk::to(u16::try_from(port).unwrap());
        child.initialize();
        child.call("attach", json!({"subProcessId": 1}));
        child.ended();
        talk.call("continue", json!({"threadId": thread}));
        talk.ended();
        vec![std::mem::take(&mut talk.heard), std::mem::take(&mut child.heard)]
    });
}
