//! Several clients on one session.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::{Rig, capabilities};

impl Rig {
    /// A session that is stopped in thread 1, shared by Tess, who launched it, and Bob, who joined.
    pub fn shared() -> (Self, ClientId, ClientId, NodeId) {
        Self::shared_with(json!({}))
    }

    /// The same, with what both declare.
    pub fn shared_with(declared: Value) -> (Self, ClientId, ClientId, NodeId) {
        let (mut rig, tess, node) = Rig::running_with(capabilities(), declared.clone());
        let bob = rig.bring("Bob", declared, json!({}));
        rig.watch_runs();
        rig.stop(node, 1);
        rig.heard(tess);
        rig.heard(bob);
        (rig, tess, bob, node)
    }

    /// A client that joins under this name and is shown everything. What it heard is not taken.
    pub fn bring(&mut self, name: &str, declared: Value, own: Value) -> ClientId {
        let client = self.join_late();
        let mut arguments = json!({"clientName": name, "adapterID": "python"});
        for (key, value) in declared.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        self.request(client, "initialize", arguments);
        self.request(client, "attach", json!({"breakroom": own}));
        self.request(client, "configurationDone", json!({}));
        client
    }

    /// Sends breakpoints at these lines of `x.py`, lets the engine agree, and gives the client's answer.
    pub fn set_lines(&mut self, client: ClientId, node: NodeId, lines: &[i64]) -> Value {
        let seq = self.ask_lines(client, lines);
        if !self.has_answer(client, seq) {
            let request = self.got(node, "setBreakpoints");
            self.agree(node, &request);
        }
        self.response(client, seq)
    }

    pub fn ask_lines(&mut self, client: ClientId, lines: &[i64]) -> i64 {
        let list: Vec<_> = lines.iter().map(|line| json!({"line": line})).collect();
        self.request(client, "setBreakpoints", json!({"source": {"path": "x.py"}, "breakpoints": list}))
    }

    /// The engine verifies every breakpoint of a request, each under its line plus 100.
    pub fn agree(&mut self, node: NodeId, request: &Value) {
        let each = |breakpoint: &Value| {
            let line = breakpoint["line"].as_i64().unwrap();
            json!({"id": line + 100, "verified": true, "line": line})
        };
        let list: Vec<_> = request["arguments"]["breakpoints"].as_array().unwrap().iter().map(each).collect();
        self.answer(node, request, json!({"breakpoints": list}));
    }
}

/// The lines of a request or an answer with breakpoints.
pub fn lines(message: &Value) -> Vec<i64> {
    column(message, "line")
}

pub fn ids(message: &Value) -> Vec<i64> {
    column(message, "id")
}

fn column(message: &Value, key: &str) -> Vec<i64> {
    let list = message["arguments"].get("breakpoints").or(message["body"].get("breakpoints"));
    list.unwrap().as_array().unwrap().iter().map(|item| item[key].as_i64().unwrap_or(0)).collect()
}
