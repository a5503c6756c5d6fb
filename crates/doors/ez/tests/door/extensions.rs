//! What the document only hopes for, with a debugger that can do it all.

use breakroom_testkit::scripted::{Say, output, stopped};
use serde_json::{Value, json};

use crate::ide::Ide;

fn able(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    match command {
        "initialize" => Some(vec![Say::Answer(json!({
            "supportsConfigurationDoneRequest": true, "supportsStepBack": true, "supportsDataBreakpoints": true,
            "supportsSetVariable": true, "supportsFunctionBreakpoints": true, "supportsLogPoints": true,
            "supportsConditionalBreakpoints": true,
        }))]),
        "stepBack" | "reverseContinue" => Some(vec![Say::Answer(Value::Null), stopped("step")]),
        "dataBreakpointInfo" => {
            let name = arguments["name"].as_str().unwrap();
            let data = if name == "a" { json!("data of a") } else { Value::Null };
            Some(vec![Say::Answer(json!({"dataId": data, "description": format!("no storage: {name}")}))])
        }
        "setDataBreakpoints" => {
            Some(vec![Say::Answer(json!({"breakpoints": [{"id": 40, "verified": true}]}))])
        }
        "continue" => Some(vec![
            Say::Answer(Value::Null),
            Say::Event(
                "stopped",
                json!({"reason": "data breakpoint", "threadId": 1, "hitBreakpointIds": [40]}),
            ),
        ]),
        "breakroom/input" => Some(vec![Say::Answer(Value::Null)]),
        _ => None,
    }
}

#[test]
fn data_breakpoints_have_numbers_like_the_others() {
    let mut ide = Ide::stopped(able);
    ide.sends("setDataBreakpoint", json!({"name": "a", "accessType": "write"}));
    assert_eq!(ide.hears("dataBreakpointSet"), json!({"name": "a", "id": 2}));
    ide.sends("setDataBreakpoint", json!({"name": "zz"}));
    assert_eq!(ide.hears("error")["message"], "Cannot set data breakpoint: no storage: zz");
    ide.sends("continue", json!({}));
    let hit = ide.hears("stopped");
    assert_eq!((&hit["reason"], &hit["breakpointId"]), (&json!("breakpoint"), &json!(2)));
    ide.sends("clearDataBreakpoint", json!({"name": "a"}));
    assert_eq!(ide.hears("dataBreakpointCleared"), json!({"name": "a"}));
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    let over = ide.ends();
    let set: Vec<&Value> = over
        .asked
        .iter()
        .filter(|(command, _)| command == "setDataBreakpoints")
        .map(|(_, arguments)| &arguments["breakpoints"])
        .collect();
    assert_eq!(set, [&json!([{"dataId": "data of a", "accessType": "write"}]), &json!([])]);
}

#[test]
fn going_back_threads_watches_values_and_input_work_with_a_debugger_that_can() {
    let mut ide = Ide::stopped(able);
    ide.sends("addWatch", json!({"expression": "a + b"}));
    assert_eq!(ide.hears("watchAdded"), json!({"id": 1, "expression": "a + b"}));
    let value = json!({"id": 1, "expression": "a + b", "result": "42", "type": "any"});
    assert_eq!(ide.hears("watchUpdate"), value);
    for command in ["stepBack", "reverseContinue"] {
        ide.sends(command, json!({}));
        assert_eq!(ide.hears("stopped")["reason"], "step");
        assert_eq!(ide.hears("watchUpdate"), value);
    }
    ide.sends("removeWatch", json!({"id": 1}));
    assert_eq!(ide.hears("watchRemoved"), json!({"id": 1}));
    ide.sends("removeWatch", json!({"id": 1}));
    assert_eq!(ide.hears("error")["message"], "Cannot remove watch: there is no watch 1");
    ide.sends("getThreads", json!({}));
    assert_eq!(ide.hears("threads")["threads"][1], json!({"id": 2, "name": "Other"}));
    ide.sends("stepBack", json!({"threadId": 2}));
    assert_eq!(ide.hears("stopped")["threadId"], 1);
    ide.sends("setVariable", json!({"name": "a", "value": "5"}));
    assert_eq!(ide.hears("variableSet"), json!({"name": "a", "value": "5", "type": "any", "frameIndex": 0}));
    ide.sends("setVariable", json!({"name": "zz", "value": "5"}));
    assert_eq!(ide.hears("error")["message"], "Cannot set variable: there is no variable zz in frame 0");
    ide.sends("getVariables", json!({"scope": "globals"}));
    assert_eq!(ide.hears("variables")["variables"][0]["name"], "total");
    ide.sends("input", json!({"text": "hello\n"}));
    assert_eq!(ide.hears("inputAccepted"), json!({}));
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    let over = ide.ends();
    assert_eq!(over.arguments("breakroom/input"), &json!({"text": "hello\n"}));
    assert_eq!(over.arguments("stepBack"), &json!({"threadId": 2}));
}

#[test]
fn a_debugger_that_cannot_says_so_and_nothing_is_asked_of_it() {
    let mut ide = Ide::stopped(|command, arguments| match command {
        "initialize" => Some(vec![Say::Answer(json!({"supportsConfigurationDoneRequest": true}))]),
        "breakroom/input" => Some(vec![Say::Fail("what is that?")]),
        "setBreakpoints" => {
            Some(crate::breakpoints(arguments, |line| json!({"id": line, "verified": true, "line": line})))
        }
        _ => None,
    });
    for (command, params, message) in [
        ("stepBack", json!({}), "Cannot step back: this debugger cannot step back"),
        ("reverseContinue", json!({}), "Cannot continue backwards: this debugger cannot run backwards"),
        (
            "setDataBreakpoint",
            json!({"name": "a"}),
            "Cannot set data breakpoint: this debugger cannot stop at changes of data",
        ),
        (
            "setVariable",
            json!({"name": "a", "value": "1"}),
            "Cannot set variable: this debugger cannot set variables",
        ),
        (
            "setBreakpoint",
            json!({"function": "add"}),
            "Cannot set breakpoint at add: this debugger cannot stop at functions; give a line",
        ),
        ("input", json!({"text": "x"}), "Cannot give input: what is that?"),
    ] {
        ide.sends(command, params);
        assert_eq!(ide.hears("error"), json!({"message": message, "command": command}));
    }
    for (key, what) in [
        ("condition", "stop on conditions"),
        ("hitCondition", "count hits"),
        ("logMessage", "print log messages"),
    ] {
        ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 1, key: "2"}));
        let message = format!("Cannot set breakpoint at t.ez:1: this debugger cannot {what}");
        let place = json!({"file": "t.ez", "line": 1, "column": 1});
        assert_eq!(
            ide.hears("error"),
            json!({"message": message, "command": "setBreakpoint", "location": place})
        );
    }
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    let over = ide.ends();
    assert_eq!(over.arguments("setBreakpoints")["breakpoints"], json!([{"line": 2}]));
    for command in
        ["stepBack", "reverseContinue", "dataBreakpointInfo", "setFunctionBreakpoints", "setVariable"]
    {
        assert_eq!(over.count(command), 0, "{command}");
    }
}

#[test]
fn a_second_thread_that_stops_is_told_when_the_first_goes_on_alone() {
    let mut ide = Ide::stopped(|command, _| match command {
        "continue" => Some(vec![Say::Answer(json!({"allThreadsContinued": false}))]),
        _ => None,
    });
    ide.sends("getThreads", json!({}));
    ide.hears("threads");
    ide.voice
        .tell(&[("stopped", json!({"reason": "breakpoint", "threadId": 2, "allThreadsStopped": false}))]);
    ide.sends("evaluate", json!({"expression": "a"}));
    ide.hears("evaluateResult");
    ide.sends("continue", json!({}));
    assert_eq!(ide.hears("stopped")["threadId"], 2);
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn a_thread_that_is_not_there_is_an_error() {
    let mut ide = Ide::stopped(|_, _| None);
    for (command, deed) in [
        ("stepInto", "step"),
        ("continue", "continue"),
        ("getStackTrace", "get stack trace"),
        ("getVariables", "get variables"),
        ("evaluate", "evaluate"),
    ] {
        ide.sends(command, json!({"threadId": 99, "expression": "a"}));
        let message = format!("Cannot {deed}: there is no thread 99; getThreads lists them");
        assert_eq!(ide.hears("error"), json!({"message": message, "command": command}));
    }
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn a_value_that_is_awaited_keeps_nothing_waiting_that_never_waits() {
    let mut ide = Ide::stopped(|command, _| match command {
        "evaluate" => Some(Vec::new()),
        "breakroom/input" => Some(vec![Say::Answer(Value::Null)]),
        "pause" => Some(vec![
            output("stdout", "what it printed"),
            Say::Answer(Value::Null),
            Say::AnswerTo("evaluate", json!({"result": "42"})),
        ]),
        _ => None,
    });
    ide.sends("evaluate", json!({"expression": "forever()"}));
    ide.sends("getStackTrace", json!({}));
    ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 9}));
    assert_eq!(ide.hears("breakpointSet")["line"], 9);
    ide.sends("clearBreakpoint", json!({"file": "t.ez", "line": 9}));
    ide.hears("breakpointCleared");
    ide.sends("input", json!({"text": "Ada"}));
    ide.hears("inputAccepted");
    ide.sends("pause", json!({}));
    assert_eq!(ide.hears("output")["text"], "what it printed");
    assert_eq!(ide.hears("evaluateResult")["result"], "42");
    // What waits keeps its order.
    ide.hears("stackTrace");
    ide.sends("pause", json!({}));
    assert_eq!(ide.hears("error")["message"], "Cannot pause: program is stopped already");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}
