//! A remote runtime as an adapter, through the real binary: DAP clients against a runtime that the test plays.
//!
//! Names begin with the number of the statement of the protocol's document that they are about.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod script_runtime;
    pub mod visual_studio;
}

#[path = "runtime/messages.rs"]
mod messages;
#[path = "runtime/reference.rs"]
mod reference;
#[path = "runtime/round_trip.rs"]
mod round_trip;
#[path = "runtime/run_control.rs"]
mod run_control;

use serde_json::{Value, json};
use support::script_runtime::{Attached, SCRIPT};

fn one_thread() -> Value {
    json!([{"id": 1, "name": "Main Thread"}])
}

#[test]
fn s008_s009_s030_session_over_a_runtime_stops_shows_values_and_continues() {
    let mut attached = Attached::new(&[3], one_thread());
    attached.runtime.stopped("breakpoint", 1, SCRIPT, 3);
    let thread = attached.stopped("breakpoint");
    let frame = json!({"id": 0, "name": "main", "file": SCRIPT, "line": 3});
    let frames = attached.stack(&thread, 1, json!([frame]));
    assert_eq!(frames[0]["name"], "main");
    assert_eq!(frames[0]["source"]["path"], attached.script.as_str());
    let scopes = attached.client.call("scopes", json!({"frameId": frames[0]["id"]}));
    let reference = &scopes["body"]["scopes"][0]["variablesReference"];
    let asked = attached.client.request("variables", json!({"variablesReference": reference}));
    let variable = json!({"addr": 5, "name": "i", "value": "11", "type": "int", "typeId": 2, "size": 0});
    let fields = json!({"threadId": 1, "frameId": 0, "variables": [variable]});
    attached.runtime.serve("get_scope", fields);
    let variables = attached.client.response(asked);
    let shown = &variables["body"]["variables"][0];
    assert_eq!((&shown["name"], &shown["value"], &shown["type"]), (&json!("i"), &json!("11"), &json!("int")));
    let resumed = attached.client.request("continue", json!({"threadId": thread}));
    let request = attached.runtime.serve("continue", json!({}));
    assert_eq!(request["threadId"], 1);
    attached.runtime.event("continued", json!({"threadId": 1}));
    attached.client.response(resumed);
    attached.runtime.event("output", json!({"category": "stdout", "output": "done\n"}));
    attached.runtime.event("program_exited", json!({"exitCode": 3}));
    attached.client.output_containing("done\n");
    assert_eq!(attached.client.event("exited")["body"]["exitCode"], 3);
    attached.client.event("terminated");
    attached.leave();
}
