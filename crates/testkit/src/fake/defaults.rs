//! What the fake adapter answers to a request that its script does not mention: a small, well-behaved debugger.
//!
//! It keeps no state. A test that needs stops, output or failures says so in its script.

use serde_json::{Value, json};

use super::peer::Peer;

/// Whether the adapter goes on after an answer.
#[derive(PartialEq, Eq)]
pub enum Next {
    Go,
    End,
}

pub fn answer(peer: &mut Peer, request: &Value) -> Next {
    let command = request["command"].as_str().unwrap_or_default();
    respond(peer, request, true, body(command, &request["arguments"]));
    match command {
        "launch" | "attach" => event(peer, "initialized", Value::Null),
        "terminate" => event(peer, "terminated", json!({})),
        "disconnect" => return Next::End,
        _ => {}
    }
    Next::Go
}

pub fn respond(peer: &mut Peer, request: &Value, success: bool, body: Value) {
    let mut message = json!({
        "type": "response", "request_seq": request["seq"], "command": request["command"], "success": success,
    });
    if !body.is_null() {
        message["body"] = body;
    }
    peer.send(message);
}

pub fn event(peer: &mut Peer, name: &str, body: Value) {
    let mut message = json!({"type": "event", "event": name});
    if !body.is_null() {
        message["body"] = body;
    }
    peer.send(message);
}

fn body(command: &str, arguments: &Value) -> Value {
    match command {
        "initialize" => json!({
            "supportsConfigurationDoneRequest": true,
            "supportsConditionalBreakpoints": true,
            "supportsFunctionBreakpoints": true,
            "supportsEvaluateForHovers": true,
            "supportsSetVariable": true,
            "supportsTerminateRequest": true,
            "supportsCancelRequest": true,
        }),
        "setBreakpoints" | "setFunctionBreakpoints" => breakpoints(&arguments["breakpoints"]),
        "threads" => json!({"threads": [{"id": 1, "name": "main"}]}),
        "stackTrace" => json!({
            "stackFrames": [{"id": 1000, "name": "main", "line": 1, "column": 1}],
            "totalFrames": 1,
        }),
        "scopes" => json!({"scopes": [{"name": "Locals", "variablesReference": 2000, "expensive": false}]}),
        "variables" => json!({"variables": [{"name": "a", "value": "42", "variablesReference": 0}]}),
        "evaluate" => json!({"result": arguments["expression"], "variablesReference": 0}),
        "setVariable" => json!({"value": arguments["value"]}),
        "continue" => json!({"allThreadsContinued": true}),
        _ => Value::Null,
    }
}

fn breakpoints(asked: &Value) -> Value {
    let asked = asked.as_array().map(Vec::as_slice).unwrap_or_default();
    let set: Vec<Value> = (1..)
        .zip(asked)
        .map(|(id, breakpoint)| json!({"id": id, "verified": true, "line": breakpoint["line"]}))
        .collect();
    json!({"breakpoints": set})
}
