//! Breakpoints, steps, variables: what is for the debugger in the process, and passes through.

use breakroom_testkit::adapters;
use serde_json::{Value, json};

use crate::talk::{Talk, Which};
use crate::{Folder, same};

/// Each line is written at once: what the log point says may come between any two pieces.
const PROGRAM: &str = "\
import sys
def add(a, b):
    c = a + b
    return c
def raises():
    raise ValueError('wrong')
x = [1, 2, 3]
for i in range(4):
    sys.stdout.write(f'sum {add(i, 1)}\\n')
try:
    raises()
except ValueError:
    print('caught')
print('err', file=sys.stderr)
sys.exit(3)
";

#[test]
fn breakpoints_steps_and_variables_are_the_same() {
    let (_folder, file) = Folder::with("t.py", PROGRAM);
    same(|mut talk: Talk| {
        talk.initialize();
        let launch = json!({"program": file, "console": "internalConsole"});
        talk.start("launch", launch, |talk| {
            talk.breakpoints(
                &file,
                json!([{"line": 3, "condition": "a == 1"}, {"line": 9, "logMessage": "i is {i}"}]),
            );
            talk.call("setFunctionBreakpoints", json!({"breakpoints": []}));
            talk.call("setExceptionBreakpoints", json!({"filters": ["raised"]}));
        });
        let thread = talk.stopped();
        talk.call("threads", Value::Null);
        let frame = talk.frame(&thread);
        let scopes = talk.call("scopes", json!({"frameId": frame}));
        let locals = scopes["body"]["scopes"][0]["variablesReference"].clone();
        talk.call("variables", json!({"variablesReference": locals}));
        talk.call("setVariable", json!({"variablesReference": locals, "name": "b", "value": "40"}));
        talk.call("evaluate", json!({"expression": "a + b", "frameId": frame, "context": "watch"}));
        talk.call("evaluate", json!({"expression": "nothing", "frameId": frame, "context": "watch"}));
        talk.call("setExpression", json!({"expression": "b", "value": "41", "frameId": frame}));
        talk.call("completions", json!({"text": "ad", "column": 3, "frameId": frame}));
        talk.call("gotoTargets", json!({"source": {"path": file}, "line": 4}));
        talk.call("modules", json!({}));
        talk.call("source", json!({"sourceReference": 0, "source": {"path": file}}));
        talk.call("noSuchRequest", json!({}));
        for step in ["next", "stepIn", "stepOut"] {
            talk.call(step, json!({"threadId": thread}));
            talk.stopped();
            talk.frame(&thread);
        }
        talk.call("continue", json!({"threadId": thread}));
        talk.stopped();
        talk.call("exceptionInfo", json!({"threadId": thread}));
        talk.call("setExceptionBreakpoints", json!({"filters": []}));
        talk.breakpoints(&file, json!([]));
        talk.call("continue", json!({"threadId": thread}));
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn function_breakpoints_hit_counts_and_uncaught_exceptions_are_the_same() {
    let text = "def f(n):\n    return n\nfor i in range(9):\n    f(i)\nraise KeyError('k')\n";
    let (_folder, file) = Folder::with("u.py", text);
    same(|mut talk: Talk| {
        talk.initialize();
        talk.start(
            "launch",
            json!({"program": file, "console": "internalConsole", "justMyCode": false}),
            |talk| {
                talk.call("setFunctionBreakpoints", json!({"breakpoints": [{"name": "f"}]}));
                talk.breakpoints(&file, json!([{"line": 4, "hitCondition": "3"}]));
                talk.call("setExceptionBreakpoints", json!({"filters": ["uncaught"]}));
            },
        );
        let thread = talk.stopped();
        talk.frame(&thread);
        talk.call("setFunctionBreakpoints", json!({"breakpoints": []}));
        talk.call("continue", json!({"threadId": thread}));
        let thread = talk.stopped();
        talk.frame(&thread);
        talk.call("continue", json!({"threadId": thread}));
        let thread = talk.stopped();
        talk.call("exceptionInfo", json!({"threadId": thread}));
        talk.call("continue", json!({"threadId": thread}));
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn a_program_that_spins_is_paused_the_same() {
    let (_folder, file) = Folder::with("spin.py", "print('on', flush=True)\nwhile True:\n    pass\n");
    same(|mut talk: Talk| {
        talk.initialize();
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        talk.output("on");
        talk.call("pause", json!({"threadId": 1}));
        talk.stopped();
        talk.call("terminate", json!({}));
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

/// debugpy answers neither what it has no function for, nor a `continue` while nothing is stopped.
#[test]
fn a_request_that_is_never_answered_holds_neither_others_nor_events() {
    if adapters::skipped("debugpy") {
        return;
    }
    let (_folder, file) = Folder::with("spin.py", "n = 0\nwhile True:\n    n += 1\n");
    for unanswered in ["readMemory", "continue"] {
        let mut talk = Talk::with(&Which::Ours);
        talk.initialize();
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        talk.send(unanswered, json!({"threadId": 1, "memoryReference": "1", "count": 1}));
        assert_eq!(talk.call("pause", json!({"threadId": 1}))["success"], true, "after `{unanswered}`");
        let thread = talk.stopped();
        let frame = talk.frame(&thread);
        assert!(frame.is_number(), "{unanswered}: {frame}");
        talk.call("terminate", json!({}));
        talk.ended();
    }
}

#[test]
fn what_the_adapter_knows_of_the_system_is_the_same() {
    let (_folder, file) = Folder::with("t.py", "x = 1\n");
    same(|mut talk: Talk| {
        talk.call("debugpySystemInfo", Value::Null);
        talk.initialize();
        talk.call("threads", Value::Null);
        talk.start(
            "launch",
            json!({"program": file, "console": "internalConsole", "stopOnEntry": true}),
            |_| {},
        );
        let thread = talk.stopped();
        talk.call("debugpySystemInfo", Value::Null);
        talk.call("continue", json!({"threadId": thread}));
        talk.ended();
        let mut heard = std::mem::take(&mut talk.heard);
        // Without a process, ours says so in its own words.
        let threads = heard.iter_mut().find(|message| message["command"] == "threads").unwrap();
        assert_eq!(threads["success"], false);
        threads["message"] = json!("");
        vec![heard]
    });
}
