//! What a runtime may send that the document allows, or that it forbids and that is survived.

use breakroom_testkit::Strict;
use serde_json::{Value, json};

use crate::one_thread;
use crate::support::editor::{Desk, Hub, introduction};
use crate::support::script_runtime::{Attached, Listening, SCRIPT};

fn frame(id: i64) -> Value {
    json!({"id": id, "name": "main", "file": SCRIPT, "line": 3})
}

/// Stopped at line 3 in thread 1; the DAP thread.
fn stopped() -> (Attached, Value) {
    let mut attached = Attached::new(&[3], one_thread());
    attached.runtime.stopped("breakpoint", 1, SCRIPT, 3);
    let thread = attached.stopped("breakpoint");
    (attached, thread)
}

#[test]
fn s004_lines_that_end_in_a_carriage_return_are_read() {
    let (mut attached, thread) = stopped();
    let asked = attached.client.request("stackTrace", json!({"threadId": thread}));
    let request = attached.runtime.expect("get_stack");
    let answer = json!({
        "type": "response", "requestSeq": request["seq"], "command": "get_stack", "success": true,
        "threadId": 1, "frames": [frame(0)],
    });
    attached.runtime.write(&format!("{answer}\r\n\r\n"));
    assert_eq!(attached.client.response(asked)["body"]["stackFrames"][0]["line"], 3);
    attached.leave();
}

#[test]
fn s010_numbers_begin_again_with_each_connection() {
    let first = Attached::new(&[], one_thread());
    first.leave();
    // The emulated runtime fails unless `seq` is 1, 2, 3 and so on.
    Attached::new(&[], one_thread()).leave();
}

#[test]
fn s015_s020_failure_without_a_message_fails_the_request_with_one() {
    let (mut attached, thread) = stopped();
    for message in [json!(""), Value::Null, json!(7)] {
        let asked = attached.client.request("stackTrace", json!({"threadId": thread}));
        let request = attached.runtime.expect("get_stack");
        attached.runtime.answer(&request, json!({"success": false, "message": message}));
        let refused = attached.client.failure(asked);
        assert!(refused["message"].as_str().unwrap().contains("get_stack"), "{refused}");
    }
    attached.leave();
}

#[test]
fn s016_invalid_responses_fail_their_request_and_the_session_lives() {
    let (mut attached, thread) = stopped();
    for fields in [
        json!({"threadId": 1}),
        json!({"threadId": 1, "frames": 7}),
        json!({"threadId": 1, "frames": [{"id": 1}]}),
        json!({"threadId": 1, "frames": [], "success": "yes"}),
    ] {
        let asked = attached.client.request("stackTrace", json!({"threadId": thread}));
        let request = attached.runtime.expect("get_stack");
        attached.runtime.answer(&request, fields);
        let refused = attached.client.failure(asked);
        assert!(refused["message"].as_str().unwrap().contains("invalid"), "{refused}");
    }
    assert_eq!(attached.stack(&thread, 1, json!([frame(0)])).len(), 1);
    attached.leave();
}

#[test]
fn s017_s109_unknown_fields_and_events_are_ignored() {
    let (mut attached, thread) = stopped();
    attached.runtime.event("heartbeat", json!({"at": 3}));
    attached.runtime.send(&json!({"type": "request", "seq": 1, "command": "start"}));
    attached.runtime.event("thread_started", json!({"threadId": 8, "name": "x", "more": {}}));
    assert_eq!(attached.client.event("thread")["body"]["reason"], "started");
    let more = json!([{"id": 0, "name": "main", "file": SCRIPT, "line": 3, "column": 5, "module": null}]);
    assert_eq!(attached.stack(&thread, 1, more)[0]["line"], 3);
    attached.leave();
}

#[test]
fn s088_stop_without_a_thread_is_no_stop() {
    let mut attached = Attached::new(&[], one_thread());
    attached.runtime.event("stopped", json!({"reason": "pause", "file": "", "line": 0}));
    attached.runtime.stopped("pause", 1, "", 0);
    let stopped = attached.client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "pause");
    attached.client.output_containing("invalid");
    attached.leave();
}

#[test]
fn s096_ids_of_any_sign_are_tokens() {
    let threads = json!([{"id": 0, "name": "zero"}, {"id": -7, "name": "minus"}]);
    let mut attached = Attached::new(&[], threads.clone());
    attached.runtime.stopped("pause", 0, SCRIPT, 3);
    let zero = attached.stopped("pause");
    attached.runtime.stopped("pause", -7, SCRIPT, 3);
    let minus = attached.stopped("pause");
    assert_ne!(zero, minus);
    let asked = attached.client.request("threads", Value::Null);
    attached.runtime.serve("get_threads", json!({"threads": threads}));
    let listed = attached.client.response(asked);
    assert_eq!(listed["body"]["threads"][1], json!({"id": minus, "name": "minus"}));
    attached.stack(&zero, 0, json!([frame(0)]));
    let frames = attached.stack(&minus, -7, json!([frame(-1), frame(0)]));
    let scopes = attached.client.call("scopes", json!({"frameId": frames[0]["id"]}));
    let reference = &scopes["body"]["scopes"][0]["variablesReference"];
    let asked = attached.client.request("variables", json!({"variablesReference": reference}));
    let variable = json!({"addr": -9, "name": "o", "value": "{..}", "type": "T", "typeId": -4, "size": -1});
    let scope = json!({"threadId": -7, "frameId": -1, "variables": [variable]});
    let request = attached.runtime.serve("get_scope", scope);
    assert_eq!((&request["threadId"], &request["frameId"]), (&json!(-7), &json!(-1)));
    let variables = attached.client.response(asked);
    let child = &variables["body"]["variables"][0]["variablesReference"];
    let asked = attached.client.request("variables", json!({"variablesReference": child}));
    let found = json!({
        "threadId": -7, "frameId": -1, "addr": -9, "typeId": -4, "start": 0, "count": 0, "size": 0, "properties": [],
    });
    let request = attached.runtime.serve("get_property", found);
    assert_eq!(
        (&request["addr"], &request["typeId"], &request["count"]),
        (&json!(-9), &json!(-4), &json!(0))
    );
    attached.client.response(asked);
    attached.leave();
}

#[test]
fn s108_lost_connection_ends_the_session_with_a_reason_and_without_an_exit() {
    let (attached, thread) = stopped();
    let Attached { mut client, mut runtime, desk, .. } = attached;
    let asked = client.request("stackTrace", json!({"threadId": thread}));
    runtime.expect("get_stack");
    drop(runtime);
    let refused = client.failure(asked);
    assert!(refused["message"].as_str().unwrap().contains("connection to the runtime was lost"), "{refused}");
    client.output_containing("the program may still run");
    client.event("terminated");
    client.call("disconnect", Value::Null);
    let ended = client.finish();
    assert_eq!(ended.timeline.events("exited").count(), 0);
    desk.leave(Hub::Private);
}

#[test]
fn s111_silence_fails_that_request_alone() {
    let mut attached = Attached::with(&[3], one_thread(), json!({"requestTimeout": 0.5}));
    attached.runtime.stopped("breakpoint", 1, SCRIPT, 3);
    let thread = attached.stopped("breakpoint");
    let asked = attached.client.request("stackTrace", json!({"threadId": thread}));
    let silent = attached.runtime.expect("get_stack");
    let refused = attached.client.failure(asked);
    assert!(refused["message"].as_str().unwrap().contains("has not answered"), "{refused}");
    // Its late answer is no answer to the next request.
    attached.runtime.answer(&silent, json!({"threadId": 1, "frames": []}));
    assert_eq!(attached.stack(&thread, 1, json!([frame(0)])).len(), 1);
    attached.leave();
}

#[test]
fn runtime_that_does_not_listen_fails_the_attach() {
    let port = Listening::new().port();
    let desk = Desk::new();
    let mut client: Strict = desk.editor(Hub::Private, &["--type", "remote-runtime"]);
    client.allow(&["capabilities", "output", "terminated"]);
    client.call("initialize", introduction(json!({})));
    let arguments = json!({"type": "remote-runtime", "host": "127.0.0.1", "port": port});
    let refused = client.call_failing("attach", arguments);
    let why = refused["message"].as_str().unwrap();
    assert!(why.contains(&port.to_string()) && why.contains("cannot connect"), "{refused}");
    client.call("disconnect", Value::Null);
    client.finish();
    desk.leave(Hub::Private);
}

#[test]
fn garbage_between_messages_costs_nothing_but_itself() {
    let (mut attached, thread) = stopped();
    for text in [
        "test connection\n",
        "[1, 2]\n",
        "{not json\n",
        "{}\n",
        "{\"type\": 5}\n",
        "{\"type\": \"response\"}\n",
        "{\"type\": \"response\", \"requestSeq\": 999, \"command\": \"x\", \"success\": true}\n",
        "{\"type\": \"event\"}\n",
        "\u{feff}{\"type\": \"event\", \"event\": \"output\", \"output\": \"after a mark\"}\n",
    ] {
        attached.runtime.write(text);
    }
    attached.client.output_containing("after a mark");
    assert_eq!(attached.stack(&thread, 1, json!([frame(0)])).len(), 1);
    attached.leave();
}

#[test]
fn s002_s093_s095_places_of_the_runtime_are_found_in_any_spelling() {
    let mut attached = Attached::new(&[3], one_thread());
    for spelled in [SCRIPT.replace('/', "\\"), SCRIPT.to_uppercase(), format!("C:{}", attached.script)] {
        attached.runtime.stopped("breakpoint", 1, &spelled, 3);
        let stopped = attached.client.event("stopped");
        assert!(stopped["body"]["hitBreakpointIds"].is_array(), "{spelled}: {stopped}");
        let thread = stopped["body"]["threadId"].clone();
        let frame = json!({"id": 0, "name": "größe()", "file": spelled, "line": 3});
        let frames = attached.stack(&thread, 1, json!([frame]));
        assert_eq!(frames[0]["source"]["path"], attached.script.as_str(), "{spelled}");
        assert_eq!(frames[0]["name"], "größe()");
        let resumed = attached.client.request("continue", json!({"threadId": thread}));
        attached.runtime.serve("continue", json!({}));
        attached.client.response(resumed);
        attached.runtime.event("continued", json!({"threadId": 1}));
    }
    attached.leave();
}

#[test]
fn s006_line_of_three_megabytes_is_read() {
    let (mut attached, thread) = stopped();
    let frames = attached.stack(&thread, 1, json!([frame(0)]));
    let asked =
        attached.client.request("evaluate", json!({"expression": "long", "frameId": frames[0]["id"]}));
    let request = attached.runtime.expect("get_evaluation");
    assert_eq!(request["expression"], "long");
    let value = "x".repeat(3 << 20);
    let result = json!({"addr": 1, "name": "long", "value": value, "type": "string", "typeId": 3, "size": 0});
    let fields = json!({"threadId": 1, "frameId": 0, "expression": "long", "result": result});
    attached.runtime.answer(&request, fields);
    let answer = attached.client.response(asked);
    assert_eq!(answer["body"]["result"].as_str().unwrap().len(), 3 << 20);
    attached.leave();
}

#[test]
fn s083_variable_is_set_by_its_address_and_type() {
    let (mut attached, thread) = stopped();
    let frames = attached.stack(&thread, 1, json!([frame(0)]));
    let scopes = attached.client.call("scopes", json!({"frameId": frames[0]["id"]}));
    let reference = &scopes["body"]["scopes"][0]["variablesReference"];
    let asked = attached.client.request("variables", json!({"variablesReference": reference}));
    let int =
        json!({"addr": 1_407_329_216, "name": "i", "value": "11", "type": "int", "typeId": 2, "size": 0});
    let fixed = json!({"addr": 7, "name": "null", "value": "null", "type": "", "typeId": 0, "size": 0});
    let fields = json!({"threadId": 1, "frameId": 0, "variables": [int, fixed]});
    attached.runtime.serve("get_scope", fields);
    attached.client.response(asked);
    let set = |name: &str| json!({"variablesReference": reference, "name": name, "value": "12"});
    let asked = attached.client.request("setVariable", set("i"));
    let assigned = json!({"threadId": 1, "frameId": 0, "addr": 1_407_329_216, "typeId": 2});
    let request = attached.runtime.serve("set_variable", assigned);
    assert_eq!(
        json!([request["addr"], request["typeId"], request["value"]]),
        json!([1_407_329_216, 2, "12"])
    );
    assert_eq!(attached.client.response(asked)["body"]["value"], "12");
    for name in ["null", "unknown"] {
        attached.client.call_failing("setVariable", set(name));
    }
    attached.leave();
}

#[test]
fn breakpoint_that_the_runtime_removes_is_not_verified() {
    let (mut attached, _) = stopped();
    let changed = |change: &str| json!({"changeType": change, "file": SCRIPT, "line": 3, "enabled": true});
    attached.runtime.event("breakpoint_changed", changed("removed"));
    let event = attached.client.event("breakpoint");
    assert_eq!(event["body"]["breakpoint"]["verified"], false, "{event}");
    attached.runtime.event("breakpoint_changed", changed("added"));
    let event = attached.client.event("breakpoint");
    assert_eq!(event["body"]["breakpoint"]["verified"], true, "{event}");
    attached.leave();
}

#[test]
fn launch_connects_as_attach_does() {
    let attached = Attached::with(&[3], one_thread(), json!({"request": "launch"}));
    attached.leave();
}

#[test]
fn s010_restart_connects_again_and_counts_from_one() {
    let Attached { desk, mut client, mut runtime, listening, script } = Attached::new(&[3], one_thread());
    client.allow(&["output", "continued", "thread", "exited", "breakpoint"]);
    let restarted = client.request("restart", json!({}));
    while runtime.next().is_some_and(|request| request["command"] != "stop") {}
    // The emulated runtime fails unless `seq` begins at 1.
    let mut runtime = listening.accept();
    runtime.serve("start", json!({}));
    runtime.serve("get_threads", json!({"threads": one_thread()}));
    let set = runtime.expect("set_breakpoint");
    assert_eq!((&set["file"], &set["line"]), (&json!(SCRIPT), &json!(3)), "{set}");
    runtime.expect("ready");
    client.response(restarted);
    let attached = Attached { desk, client, runtime, listening, script };
    attached.leave();
}
