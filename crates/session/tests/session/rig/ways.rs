//! The usual ways into a session and out of it.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::{Rig, capabilities};

impl Rig {
    /// A client whose `adapterID` chose the engine, which is up and has answered `initialize`.
    pub fn initialized() -> (Self, ClientId, NodeId) {
        Self::initialized_with(capabilities(), json!({}))
    }

    pub fn initialized_with(capabilities: Value, declared: Value) -> (Self, ClientId, NodeId) {
        let mut rig = Rig::new();
        let client = rig.join();
        let mut arguments = json!({"clientID": "test", "clientName": "Tess", "adapterID": "python"});
        for (key, value) in declared.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        rig.request(client, "initialize", arguments);
        let node = rig.started.last().unwrap().0;
        rig.node_up(node);
        let initialize = rig.got(node, "initialize");
        rig.answer(node, &initialize, capabilities);
        (rig, client, node)
    }

    /// The debuggee runs.
    pub fn running() -> (Self, ClientId, NodeId) {
        Self::running_with(capabilities(), json!({}))
    }

    pub fn running_with(capabilities: Value, declared: Value) -> (Self, ClientId, NodeId) {
        let (mut rig, client, node) = Self::initialized_with(capabilities, declared);
        rig.start(client, node, "launch");
        (rig, client, node)
    }

    pub fn start(&mut self, client: ClientId, node: NodeId, command: &str) {
        self.request(client, command, json!({"program": "x.py"}));
        self.tell(node, "initialized", json!({}));
        self.request(client, "configurationDone", json!({}));
        let launch = self.got(node, command);
        self.answer(node, &launch, json!({}));
        for heard in self.engine_heard(node) {
            self.answer(node, &heard.json, json!({}));
        }
        self.heard(client);
    }

    /// The debuggee is stopped in thread 1, and all others with it.
    pub fn at_a_stop() -> (Self, ClientId, NodeId) {
        let (mut rig, client, node) = Self::running();
        rig.stop(node, 1);
        rig.heard(client);
        (rig, client, node)
    }

    pub fn stop(&mut self, node: NodeId, thread: i64) {
        let body = json!({"reason": "breakpoint", "threadId": thread, "allThreadsStopped": true});
        self.tell(node, "stopped", body);
    }

    /// Sends a request, lets the engine answer it with `body`, and gives the client's answer.
    pub fn round_trip(
        &mut self,
        client: ClientId,
        node: NodeId,
        command: &str,
        arguments: Value,
        body: Value,
    ) -> Value {
        let seq = self.request(client, command, arguments);
        let request = self.got(node, command);
        self.answer(node, &request, body);
        self.response(client, seq)
    }

    /// The client leaves in good order and the engine agrees.
    pub fn finish(mut self, client: ClientId, node: NodeId) {
        self.request(client, "disconnect", json!({}));
        let disconnect = self.got(node, "disconnect");
        self.answer(node, &disconnect, json!({}));
        self.node_ended(node, "exit code 0", "");
        self.assert_over();
    }

    pub fn assert_over(&self) {
        self.assert_nothing_owed();
        assert!(self.session.is_over(), "invariant 6: the session is not over");
        assert_eq!(self.session.next_deadline(), None, "invariant 6: a session that is over has no deadline");
    }
}
