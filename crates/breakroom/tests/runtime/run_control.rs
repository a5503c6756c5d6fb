//! Continue, steps and pause against a runtime: one at a time, settled by responses or by events.

use serde_json::{Value, json};

use crate::one_thread;
use crate::support::script_runtime::{Attached, SCRIPT};

fn two_threads() -> Value {
    json!([{"id": 1, "name": "Main Thread"}, {"id": 7, "name": "Worker"}])
}

#[test]
fn s101_second_step_is_sent_after_the_first_is_answered() {
    let mut attached = Attached::without_hub(&[3], two_threads());
    attached.runtime.stopped("breakpoint", 1, SCRIPT, 3);
    let first = attached.stopped("breakpoint");
    attached.runtime.stopped("pause", 7, SCRIPT, 3);
    let second = attached.stopped("pause");
    let one = attached.client.request("next", json!({"threadId": first}));
    let other = attached.client.request("stepIn", json!({"threadId": second}));
    let step = attached.runtime.expect("step");
    let expected = json!(["STEP_OVER", "STEP_LINE", 1]);
    assert_eq!(json!([step["stepKind"], step["stepUnit"], step["threadId"]]), expected);
    // What comes next is an inspection: the second step waits.
    let asked = attached.client.request("threads", Value::Null);
    attached.runtime.serve("get_threads", json!({"threads": two_threads()}));
    attached.client.response(asked);
    attached.runtime.answer(&step, json!({}));
    attached.client.response(one);
    let step = attached.runtime.serve("step", json!({}));
    assert_eq!((&step["stepKind"], &step["threadId"]), (&json!("STEP_INTO"), &json!(7)));
    attached.client.response(other);
    attached.runtime.stopped("step", 7, SCRIPT, 4);
    attached.runtime.stopped("step", 1, SCRIPT, 4);
    attached.stopped("step");
    attached.stopped("step");
    attached.leave();
}

#[test]
fn s101_stop_that_comes_before_the_response_settles_the_step() {
    let mut attached = Attached::new(&[3], one_thread());
    attached.runtime.stopped("breakpoint", 1, SCRIPT, 3);
    let thread = attached.stopped("breakpoint");
    let stepped = attached.client.request("next", json!({"threadId": thread}));
    let step = attached.runtime.expect("step");
    attached.runtime.stopped("step", 1, SCRIPT, 4);
    attached.client.response(stepped);
    attached.stopped("step");
    attached.runtime.answer(&step, json!({}));
    let stepped = attached.client.request("stepOut", json!({"threadId": thread}));
    let step = attached.runtime.serve("step", json!({}));
    assert_eq!(step["stepKind"], "STEP_OUT");
    attached.client.response(stepped);
    attached.runtime.event("program_exited", json!({}));
    assert_eq!(attached.client.event("exited")["body"]["exitCode"], 0);
    attached.client.event("terminated");
    attached.leave();
}

#[test]
fn s018_s051_pause_that_is_refused_once_is_not_sent_again() {
    let mut attached = Attached::new(&[], one_thread());
    let asked = attached.client.request("threads", Value::Null);
    attached.runtime.serve("get_threads", json!({"threads": one_thread()}));
    let threads = attached.client.response(asked);
    let thread = &threads["body"]["threads"][0]["id"];
    let paused = attached.client.request("pause", json!({"threadId": thread}));
    let request = attached.runtime.expect("pause");
    assert!(request.get("threadId").is_none(), "{request}");
    attached.runtime.refuse(&request, "not today");
    assert!(attached.client.failure(paused)["message"].as_str().unwrap().contains("not today"));
    let refused = attached.client.call_failing("pause", json!({"threadId": thread}));
    assert!(refused["message"].as_str().unwrap().contains("cannot pause"), "{refused}");
    // The emulated runtime would see a second one here.
    let asked = attached.client.request("threads", Value::Null);
    attached.runtime.serve("get_threads", json!({"threads": one_thread()}));
    attached.client.response(asked);
    attached.leave();
}

#[test]
fn pause_stops_each_thread_that_the_runtime_names() {
    let mut attached = Attached::new(&[], two_threads());
    let asked = attached.client.request("threads", Value::Null);
    attached.runtime.serve("get_threads", json!({"threads": two_threads()}));
    let threads = attached.client.response(asked);
    let thread = &threads["body"]["threads"][0]["id"];
    let paused = attached.client.request("pause", json!({"threadId": thread}));
    attached.runtime.serve("pause", json!({}));
    attached.client.response(paused);
    attached.runtime.stopped("pause", 1, SCRIPT, 25);
    attached.runtime.stopped("pause", 7, "", 0);
    attached.stopped("pause");
    attached.stopped("pause");
    // A continue of all is one for each.
    let resumed = attached.client.request("continue", json!({"threadId": thread}));
    let mut asked: Vec<Value> = Vec::new();
    for _ in 0..2 {
        asked.push(attached.runtime.serve("continue", json!({}))["threadId"].clone());
    }
    assert_eq!(asked, [json!(1), json!(7)]);
    attached.client.response(resumed);
    attached.leave();
}

#[test]
fn continue_that_is_refused_leaves_the_thread_stopped() {
    let mut attached = Attached::new(&[3], one_thread());
    attached.runtime.stopped("breakpoint", 1, SCRIPT, 3);
    let thread = attached.stopped("breakpoint");
    let resumed = attached.client.request("continue", json!({"threadId": thread}));
    let request = attached.runtime.expect("continue");
    attached.runtime.refuse(&request, "invalid state: program exited");
    let refused = attached.client.failure(resumed);
    assert!(refused["message"].as_str().unwrap().contains("program exited"), "{refused}");
    let frame = json!({"id": 0, "name": "main", "file": SCRIPT, "line": 3});
    assert_eq!(attached.stack(&thread, 1, json!([frame])).len(), 1);
    attached.leave();
}

#[test]
fn exception_has_its_name_and_message() {
    let mut attached = Attached::new(&[], one_thread());
    attached.runtime.event(
        "stopped",
        json!({
            "reason": "exception", "threadId": 1, "file": SCRIPT, "line": 58,
            "exceptionName": "NullReference", "exceptionMessage": "not set",
        }),
    );
    let thread = attached.stopped("exception");
    let info = attached.client.call("exceptionInfo", json!({"threadId": thread}));
    assert_eq!(
        (&info["body"]["exceptionId"], &info["body"]["description"]),
        (&json!("NullReference"), &json!("not set"))
    );
    attached.leave();
}
