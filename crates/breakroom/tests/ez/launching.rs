//! What a launch takes, and what it refuses.

use breakroom_testkit::Arrival;
use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

const PROGRAM: &str = "\
import @std
import @os
using std

do main() {
    println(os.args())
    temp folder, _ = os.cwd()
    temp greeting, _ = os.get_env(\"GREETING\")
    temp _, missing = os.get_env(\"HOME\")
    println(folder, greeting, missing != nil)
    eprintln(\"to stderr\")
    exit(7)
}
";

#[test]
fn arguments_folder_and_environment_are_the_launchs() {
    let mut engine = Engine::new(PROGRAM);
    let folder = engine.path("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let env = json!({"GREETING": "hello", "HOME": null});
    engine.launch(json!({"args": ["one", "two words"], "cwd": folder, "env": env}));
    engine.begin();
    assert_eq!(engine.client.event("exited")["body"]["exitCode"], 7);
    engine.client.event("terminated");
    let printed = engine.outputs("stdout");
    assert!(printed[0].contains("\"one\", \"two words\""), "{printed:?}");
    assert_eq!(printed[1], format!("{} hello true\n", folder.display()));
    assert_eq!(engine.outputs("stderr"), ["to stderr\n"]);
    engine.leave();
}

#[test]
fn each_call_of_a_print_function_is_one_event_in_order() {
    let program = "\
import @std
using std

do main() {
    println(\"a\", 1)
    eprintln(\"b\")
    printf(\"c\")
    printf(\"d\\n\")
    eprintf(\"e\")
    println(\"two\\nlines\")
}
";
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine.begin();
    engine.client.event("exited");
    engine.client.event("terminated");
    let timeline = engine.client.timeline();
    let told: Vec<(&Value, &Value)> =
        timeline.events("output").map(|body| (&body["category"], &body["output"])).collect();
    let expected = [
        ("stdout", "a 1\n"),
        ("stderr", "b\n"),
        ("stdout", "c"),
        ("stdout", "d\n"),
        ("stderr", "e"),
        ("stdout", "two\nlines\n"),
    ]
    .map(|(category, text)| (json!(category), json!(text)));
    assert_eq!(told, expected.iter().map(|(category, text)| (category, text)).collect::<Vec<_>>());
    engine.leave();
}

#[test]
fn without_debugging_nothing_stops_the_program() {
    let mut engine = Engine::new(
        "import @std\nusing std\n\ndo main() {\n    println(1) // @first\n    temp list = {1}\n    println(list[3])\n}\n",
    );
    engine.launch(json!({"noDebug": true, "stopOnEntry": true}));
    let set = engine.break_at(&["first"]);
    assert_eq!(set[0]["verified"], false);
    assert_eq!(set[0]["message"], "the program was launched with `noDebug`");
    engine.client.call("setExceptionBreakpoints", json!({"filters": ["errors"]}));
    engine.begin();
    assert_eq!(engine.ended(1), "1\n");
}

#[test]
fn every_mistake_in_a_program_is_told_with_its_place() {
    let program = "do main() {\n    temp a int = \"text\"\n    nobody()\n}\n";
    let mut engine = Engine::new(program);
    let launch = engine.client.request("launch", json!({"program": engine.program}));
    let answer = engine.client.failure(launch);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("main.ez:2:") && message.ends_with("(and one more error)"), "{message}");
    let timeline = engine.client.timeline();
    let told: Vec<&Value> = timeline.events("output").collect();
    assert_eq!(told.len(), 2, "{told:?}");
    for (body, line) in told.iter().zip([2, 3]) {
        assert_eq!((&body["category"], &body["line"]), (&json!("important"), &json!(line)));
        assert_eq!(body["source"], json!({"name": "main.ez", "path": engine.program}));
        assert!(body["column"].as_i64().unwrap() > 1);
        assert!(body["output"].as_str().unwrap().starts_with("error[E"), "{body}");
    }
    // All of them before the failure.
    let at = |arrival: Arrival<'_>| {
        timeline.received().filter(|message| arrival.matches(message)).last().unwrap()["seq"].as_i64()
    };
    assert!(at(Arrival::Event("output")) < at(Arrival::Response("launch")));
    // The mistake can be mended and the launch repeated.
    std::fs::write(&engine.program, "do main() {\n}\n").unwrap();
    engine.launch(json!({}));
    engine.begin();
    engine.ended(0);
}

#[test]
fn a_mistake_that_is_the_only_one_is_told_with_its_place_too() {
    let mut engine = Engine::new("do main() {\n    nobody()\n}\n");
    let launch = engine.client.request("launch", json!({"program": engine.program}));
    let answer = engine.client.failure(launch);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("main.ez:2:5: ") && message.contains("nobody"), "{message}");
    let timeline = engine.client.timeline();
    let told: Vec<&Value> = timeline.events("output").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["line"], &told[0]["column"]), (&json!(2), &json!(5)));
    std::fs::write(&engine.program, "do main() {\n}\n").unwrap();
    engine.launch(json!({}));
    engine.begin();
    engine.ended(0);
}

#[test]
fn warnings_are_told_and_the_program_runs() {
    let mut engine = Engine::new(
        "import @std\nusing std\n\ndo helper() {\n}\n\ndo main() {\n    temp unused = 1\n    if true {\n        ensure helper()\n    }\n}\n",
    );
    engine.launch(json!({}));
    let told = engine.outputs("console");
    assert!(told.iter().any(|text| text.starts_with("warning[W")), "{told:?}");
    engine.begin();
    engine.ended(0);
}

#[test]
fn a_launch_that_cannot_be_says_why() {
    let mut engine = Engine::new("do main() {\n}\n");
    let program = engine.program.clone();
    for (arguments, reason) in [
        (json!({}), "missing field `program`"),
        (Value::Null, "missing field `program`"),
        (json!({"program": 5}), "the arguments are wrong"),
        (json!({"program": "nothing.ez"}), "nothing.ez"),
        (json!({"program": engine.sandbox.work()}), ""),
        (json!({"program": program, "args": "no list"}), "the arguments are wrong"),
        (json!({"program": program, "args": [1]}), "the arguments are wrong"),
        (json!({"program": program, "env": {"A": 1}}), "the arguments are wrong"),
        (json!({"program": program, "cwd": "nowhere"}), "nowhere is no folder"),
        (json!({"program": program, "history": "long"}), "the arguments are wrong"),
    ] {
        let answer = engine.client.call_failing("launch", arguments.clone());
        let why = answer["message"].as_str().unwrap();
        assert!(!why.is_empty() && why.contains(reason), "{arguments}: {why}");
    }
    engine.launch(json!({}));
    let again = engine.client.call_failing("launch", json!({"program": program}));
    assert_eq!(again["message"], "a program was launched already; one process debugs one program");
    engine.leave();
}

#[test]
fn requests_that_come_too_early_or_are_unknown_are_refused_with_the_reason() {
    let mut engine = Engine::new("do main() {\n    loop { // @loop\n    }\n}\n");
    let refused = |engine: &mut Engine, command: &str| {
        engine.client.call_failing(command, json!({"threadId": 1}))["message"].as_str().unwrap().to_owned()
    };
    for command in ["stackTrace", "continue", "evaluate", "setBreakpoints", "breakroom/input"] {
        assert_eq!(refused(&mut engine, command), "nothing is being debugged yet; send `launch` first");
    }
    assert_eq!(refused(&mut engine, "configurationDone"), "nothing is launched; send `launch` first");
    assert_eq!(refused(&mut engine, "pause"), "no program is running");
    assert_eq!(refused(&mut engine, "dance"), "the EZ debugger has no request `dance`");
    engine.launch(json!({}));
    for command in ["stackTrace", "continue", "next", "pause", "completions"] {
        assert_eq!(
            refused(&mut engine, command),
            "the program has not begun; send `configurationDone` first"
        );
    }
    engine.begin();
    assert_eq!(refused(&mut engine, "configurationDone"), "the program has begun already");
    for command in ["stackTrace", "continue", "next", "scopes", "setVariable"] {
        assert_eq!(refused(&mut engine, command), "the program is running; pause it first");
    }
    engine.client.call("terminate", Value::Null);
    engine.client.event("terminated");
    assert_eq!(refused(&mut engine, "continue"), "the program has ended");
    engine.leave();
}

#[test]
fn a_message_that_is_none_is_dropped_and_told_of() {
    let mut engine = Engine::at_entry("do main() {\n    loop {\n    }\n}\n");
    for body in [
        "{\"seq\": 1, \"type\": \"requ",
        "[1]",
        "{}",
        "{\"type\": \"request\", \"command\": \"threads\"}",
        "5",
    ] {
        engine.client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    let answer =
        json!({"seq": 900, "type": "response", "request_seq": 1, "command": "continue", "success": true});
    let _ = engine.client.send(answer);
    assert_eq!(engine.evaluate("1 + 1"), "2");
    let told = engine.outputs("console");
    assert_eq!(told.len(), 6, "{told:?}");
    assert!(
        told.iter().all(|text| text.starts_with("a message that is no request was dropped: ")),
        "{told:?}"
    );
    engine.leave();
}

#[test]
fn what_the_engine_can_do_is_told_in_the_beginning() {
    let mut engine = Engine::new("do main() {\n}\n");
    let capabilities = engine.client.call("initialize", Value::Null)["body"].take();
    for name in ["supportsStepBack", "supportsCancelRequest", "supportsDataBreakpoints", "supportsLogPoints"]
    {
        assert_eq!(capabilities[name], true, "{name}");
    }
    assert_eq!(capabilities["exceptionBreakpointFilters"][0]["filter"], "errors");
    engine.launch(json!({"history": false}));
    // What makes an editor's button grey.
    let withdrawn = engine.client.event("capabilities");
    assert_eq!(withdrawn["body"]["capabilities"], json!({"supportsStepBack": false}));
    engine.leave();
}
