//! Rows about breakpoints: at a line, with a condition, with a hit count, that log, on a function.

use serde_json::{Value, json};

use super::adapter::Adapter;
use super::session::{DONE, SUMS, Session};

fn all() -> String {
    format!("{SUMS}{DONE}")
}

/// Stops at the line, and the client is told by then that the breakpoint is verified there.
pub fn line(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    let line = session.line("call");
    let launch = session.begin(session.arguments(None));
    let set = session.set_breakpoints(json!([{"line": line}]))[0].clone();
    session.configured(launch);
    let stop = session.stopped("breakpoint", adapter.names.main, Some("call"));
    let id = &set["id"];
    if let Some(hit) = stop.told["hitBreakpointIds"].as_array() {
        assert_eq!(hit, std::slice::from_ref(id), "{}", stop.told);
    }
    session.client.allow(&["breakpoint"]);
    if set["verified"] != true {
        let verified =
            |body: &Value| body["breakpoint"]["id"] == *id && body["breakpoint"]["verified"] == true;
        session.client.event_where("breakpoint", verified);
    }
    session.resume(&stop);
    let stop = session.stopped("breakpoint", adapter.names.main, Some("call"));
    session.runs_on(&stop, &all());
}

pub fn conditional(adapter: &'static Adapter) {
    offers(adapter, "supportsConditionalBreakpoints", |session| {
        let condition = format!("{} == 2", adapter.names.first);
        session.launch(None, json!([{"line": session.line("add"), "condition": condition}]));
    });
}

pub fn hit_count(adapter: &'static Adapter) {
    offers(adapter, "supportsHitConditionalBreakpoints", |session| {
        session.launch(None, json!([{"line": session.line("add"), "hitCondition": "3"}]));
    });
}

/// Launched so, the program stops first when the first parameter of `add` is 2.
fn offers(adapter: &'static Adapter, capability: &str, launch: impl FnOnce(&mut Session)) {
    let mut session = Session::open(adapter);
    assert_eq!(session.offered[capability], true, "{}", session.offered);
    launch(&mut session);
    let stop = session.stopped("breakpoint", adapter.names.add, Some("add"));
    assert_eq!(session.evaluate(&stop, adapter.names.first), "2");
    session.runs_on(&stop, &all());
}

/// Says its text at each hit and never stops.
pub fn log(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    assert_eq!(session.offered["supportsLogPoints"], true, "{}", session.offered);
    let text = format!("first is {{{}}}!", adapter.names.first);
    session.launch(None, json!([{"line": session.line("add"), "logMessage": text}]));
    for first in 0..4 {
        session.client.output_containing(&format!("first is {first}!"));
    }
    // Some adapters say it in the same category as the program.
    session.ended_but(0, &all(), |line| line.contains("first is "));
}

pub fn function(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    assert_eq!(session.offered["supportsFunctionBreakpoints"], true, "{}", session.offered);
    let launch = session.begin(session.arguments(None));
    let breakpoints = json!({"breakpoints": [{"name": adapter.names.add_function}]});
    let set = session.client.call("setFunctionBreakpoints", breakpoints);
    assert_eq!(set["body"]["breakpoints"].as_array().map(Vec::len), Some(1), "{set}");
    session.configured(launch);
    let told = session.client.event("stopped")["body"].clone();
    // DAP knows both reasons, and adapters use both.
    assert!(["function breakpoint", "breakpoint"].iter().any(|reason| told["reason"] == *reason), "{told}");
    let top = session.stack(&told["threadId"])[0].clone();
    assert!(top["name"].as_str().is_some_and(|name| name.contains(adapter.names.add)), "{top}");
    session.client.call("setFunctionBreakpoints", json!({"breakpoints": []}));
    session.client.call("continue", json!({"threadId": told["threadId"]}));
    session.ended(0, &all());
}
