//! Steps of scripted adapters, and the ways of clients that most tests share.
//!
//! What a session does beyond its beginning and its failure is the tests' business.

use breakroom_testkit::Strict;
use breakroom_testkit::client::Rule;
use serde_json::{Value, json};

use crate::support::bridging::Bridging;

/// The step in which an adapter sends an event.
pub fn event(name: &str, body: Value) -> Value {
    json!({"send": {"type": "event", "event": name, "body": body}})
}

/// An adapter that takes these steps when it is asked for its threads, and answers then.
pub fn at_threads(steps: &[Value]) -> Vec<Value> {
    let answer = json!({"respond": "threads", "body": {"threads": []}});
    [&[json!({"expect": "threads"})], steps, &[answer]].concat()
}

/// A client of session `s` that has launched a program.
pub fn launched(bridge: &Bridging, adapter: &Value) -> Strict {
    launched_with(bridge, adapter, json!({"adapterID": "fake", "clientID": "test"}))
}

/// The same with these arguments of `initialize`.
pub fn launched_with(bridge: &Bridging, adapter: &Value, initialize: Value) -> Strict {
    let mut client = bridge.client("s", adapter);
    client.call("initialize", initialize);
    let launch = client.request("launch", json!({"program": "x"}));
    client.event("initialized");
    client.response(launch);
    client
}

/// The text that a client gets that has sent nothing: in an `output`, followed by `terminated` and the end.
pub fn failure(mut client: Strict) -> String {
    client.tolerate(&[Rule::InitializeFirst]);
    let output = client.event("output");
    assert_eq!((&output["seq"], &output["body"]["category"]), (&json!(1), &json!("stderr")));
    let terminated = client.event("terminated");
    assert_eq!(terminated["seq"], 2);
    client.closed();
    client.finish();
    let text = output["body"]["output"].as_str().unwrap();
    assert!(text.ends_with('\n'), "{text:?}");
    text.to_owned()
}
