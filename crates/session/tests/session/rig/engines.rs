//! What engines say, what they hear, and how they come and go.

use breakroom_session::habits::ExitWord;
use breakroom_session::{ClientId, EngineFacts, Input, NodeEnd, NodeId};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{Heard, Rig, Stalled, capabilities};
use crate::engines::facts_with;

impl Rig {
    /// A client and the engine that came up for it, of which these facts are known. Nothing is launched yet.
    pub fn with_engine(facts: EngineFacts) -> (Rig, ClientId, NodeId) {
        let mut rig = Rig::new();
        let client = rig.join();
        rig.request(client, "initialize", json!({"adapterID": "python"}));
        let node = rig.started[0].0;
        rig.node_up_with(node, facts);
        let initialize = rig.got(node, "initialize");
        rig.answer(node, &initialize, capabilities());
        (rig, client, node)
    }

    pub fn node_up(&mut self, node: NodeId) {
        // It has no exit codes, so its `terminated` waits for none.
        let facts = facts_with(|facts| {
            facts.name = "fake".into();
            facts.ending.exit = ExitWord::Never;
        });
        self.node_up_with(node, facts);
    }

    pub fn node_up_with(&mut self, node: NodeId, facts: EngineFacts) {
        self.on(Input::NodeUp { node, facts });
    }

    pub fn node_failed(&mut self, node: NodeId, reason: &str) {
        let reason = reason.into();
        self.on(Input::NodeFailed { node, reason });
    }

    pub fn node_ended(&mut self, node: NodeId, exit: &str, stderr: &str) {
        let signal =
            exit.strip_prefix("signal ").and_then(|signal| signal.split(' ').next()?.parse::<i32>().ok());
        let code = exit.strip_prefix("exit code ").and_then(|code| code.parse().ok());
        let code = code.or(signal.map(|signal| 128 + signal));
        let clean = code == Some(0);
        let end = NodeEnd { exit: exit.into(), code, clean, stderr: stderr.into() };
        self.on(Input::NodeEnded { node, end });
    }

    /// The engine sends a message as it stands.
    pub fn engine(&mut self, node: NodeId, message: impl Into<Bytes>) {
        let message = message.into();
        self.on(Input::Engine { node, message });
    }

    pub fn tell(&mut self, node: NodeId, event: &str, body: Value) {
        let seq = self.next_engine_seq(node);
        let message = json!({"seq": seq, "type": "event", "event": event, "body": body});
        self.engine(node, message.to_string());
    }

    pub fn ask(&mut self, node: NodeId, command: &str, arguments: Value) -> i64 {
        let seq = self.next_engine_seq(node);
        let message = json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        self.engine(node, message.to_string());
        seq
    }

    pub fn answer(&mut self, node: NodeId, request: &Value, body: Value) {
        self.respond(node, request, json!({"success": true, "body": body}));
    }

    pub fn fail(&mut self, node: NodeId, request: &Value, text: &str) {
        self.respond(node, request, json!({"success": false, "message": text}));
    }

    fn respond(&mut self, node: NodeId, request: &Value, mut more: Value) {
        more["seq"] = self.next_engine_seq(node).into();
        more["type"] = "response".into();
        more["request_seq"] = request["seq"].clone();
        more["command"] = request["command"].clone();
        self.engine(node, more.to_string());
    }

    fn next_engine_seq(&mut self, node: NodeId) -> i64 {
        let side = self.engines.entry(node).or_default();
        side.last_seq += 1;
        side.last_seq
    }

    /// Takes the oldest message of that command which the engine got.
    pub fn got(&mut self, node: NodeId, command: &str) -> Value {
        let listener = &mut self.engines.entry(node).or_default().listener;
        let request = listener.take(|heard| heard.json["command"] == command);
        request.unwrap_or_else(|| panic!("the engine did not get `{command}`; {listener}")).json
    }

    pub fn engine_heard(&mut self, node: NodeId) -> Vec<Heard> {
        self.engines.entry(node).or_default().listener.take_all()
    }

    pub fn engine_names(&mut self, node: NodeId) -> Vec<String> {
        self.engine_heard(node).iter().map(Heard::name).collect()
    }

    /// Nothing more is said to an engine that is gone, and nobody looks at what it was told.
    pub fn forget_engine(&mut self, node: NodeId) {
        self.engines.remove(&node);
        self.stopped.retain(|(stopped, ..)| *stopped != node);
        self.opened.retain(|(opened, ..)| *opened != node);
    }

    pub fn stall_engine(&mut self, node: NodeId) {
        self.engines.entry(node).or_default().stalled = Stalled::Yes;
    }

    pub fn is_engine_stalled(&self, node: NodeId) -> bool {
        self.engines.get(&node).is_some_and(|side| side.stalled == Stalled::Yes)
    }

    pub fn engine_reads_on(&mut self, node: NodeId) {
        self.engines.entry(node).or_default().stalled = Stalled::No;
        self.drain();
    }
}
