//! The trees that the tests play with: js-debug, whose root only coordinates, and debugpy, whose root debugs.

use breakroom_session::habits::{ExitWord, Part};
use breakroom_session::{Access, ClientId, EngineFacts, Input, NodeId, Reach, Setup};
use serde_json::{Value, json};

use super::super::rig::{Rig, capabilities, setup};
use crate::engines::facts_with;

/// The id under which others find the session.
pub const ID: &str = "s1";

pub fn shared_setup() -> Setup {
    Setup { id: Some(ID.into()), reach: Reach::Private, ..setup() }
}

/// What js-debug can do, as far as the hub looks.
pub fn js_capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportTerminateDebuggee": true,
        "supportsTerminateRequest": false,
        "supportsRestartRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsSetExpression": true,
        "supportsFunctionBreakpoints": true,
        "exceptionBreakpointFilters": [{"filter": "all"}, {"filter": "uncaught"}],
    })
}

pub fn facts(part: Part) -> EngineFacts {
    let exit = match part {
        Part::Debugs => ExitWord::Event,
        Part::Coordinates => ExitWord::InOutput(vec!["Process exited with code {}".into()]),
    };
    facts_with(|facts| {
        facts.name = "fake".into();
        facts.part = part;
        facts.ending.exit = exit;
        facts.kinds = vec!["pwa-node".into(), "node".into()];
        facts.address = Some("127.0.0.1:8123".into());
    })
}

impl Rig {
    /// Both agree to the end, the child first, and are gone.
    pub fn both_let_go(&mut self, child: NodeId, root: NodeId) {
        let disconnect = self.got(child, "disconnect");
        self.answer(child, &disconnect, json!({}));
        self.closes(child);
        let disconnect = self.got(root, "disconnect");
        self.answer(root, &disconnect, json!({}));
        self.node_ended(root, "exit code 0", "");
        self.assert_over();
    }

    /// Tess has launched something with js-debug, which has no process yet.
    pub fn coordinated(setup: Setup, declared: Value) -> (Self, ClientId, NodeId) {
        let mut rig = Rig::with(setup);
        let (tess, root) = rig.launch_with(facts(Part::Coordinates), js_capabilities(), declared);
        (rig, tess, root)
    }

    /// The same of something that is launched with more than its name.
    pub fn coordinated_with(setup: Setup, launch: Value) -> (Self, ClientId, NodeId) {
        let mut rig = Rig::with(setup);
        let (tess, root) = rig.launch_as(facts(Part::Coordinates), js_capabilities(), json!({}), launch);
        (rig, tess, root)
    }

    /// Tess debugs a Python program.
    pub fn python(setup: Setup, declared: Value) -> (Self, ClientId, NodeId) {
        let mut rig = Rig::with(setup);
        let (tess, root) = rig.launch_with(facts(Part::Debugs), capabilities(), declared);
        (rig, tess, root)
    }

    /// Tess has launched something with an engine of this kind.
    pub fn launch_with(&mut self, facts: EngineFacts, can: Value, declared: Value) -> (ClientId, NodeId) {
        self.launch_as(facts, can, declared, json!({}))
    }

    pub fn launch_as(
        &mut self,
        facts: EngineFacts,
        can: Value,
        declared: Value,
        more: Value,
    ) -> (ClientId, NodeId) {
        let tess = self.join();
        let mut arguments = json!({"clientID": "test", "clientName": "Tess", "adapterID": "python"});
        for (key, value) in declared.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        self.request(tess, "initialize", arguments);
        let root = self.started.last().unwrap().0;
        self.on(Input::NodeUp { node: root, facts });
        let initialize = self.got(root, "initialize");
        self.answer(root, &initialize, can);
        let mut launch = json!({"type": "pwa-node", "name": "the program", "program": "x.py"});
        for (key, value) in more.as_object().unwrap() {
            launch[key] = value.clone();
        }
        self.request(tess, "launch", launch);
        self.tell(root, "initialized", json!({}));
        self.request(tess, "configurationDone", json!({}));
        for heard in self.engine_heard(root) {
            self.answer(root, &heard.json, json!({}));
        }
        self.heard(tess);
        (tess, root)
    }

    /// The node announces a child in js-debug's words, and the hub is opening it.
    pub fn announce_js(&mut self, parent: NodeId, name: &str) -> (NodeId, i64) {
        let configuration =
            json!({"type": "pwa-node", "name": name, "__pendingTargetId": format!("t-{name}")});
        let seq =
            self.ask(parent, "startDebugging", json!({"request": "launch", "configuration": configuration}));
        (self.opened.last().unwrap().0, seq)
    }

    /// The same in debugpy's words.
    pub fn announce_python(&mut self, parent: NodeId, pid: i64) -> (NodeId, i64) {
        let connect = json!({"host": "127.0.0.1", "port": 5678});
        let configuration = json!({"name": format!("Subprocess {pid}"), "type": "python", "request": "attach", "subProcessId": pid, "connect": connect});
        let seq =
            self.ask(parent, "startDebugging", json!({"request": "attach", "configuration": configuration}));
        (self.opened.last().unwrap().0, seq)
    }

    /// The connection is there and the child has answered `initialize`.
    pub fn child_up(&mut self, child: NodeId, can: Value) {
        self.child_up_with(child, facts(Part::Debugs), can);
    }

    pub fn child_up_with(&mut self, child: NodeId, facts: EngineFacts, can: Value) {
        self.on(Input::NodeUp { node: child, facts });
        let initialize = self.got(child, "initialize");
        self.answer(child, &initialize, can);
    }

    /// The child runs: it was started and configured in js-debug's order.
    pub fn child_runs(&mut self, child: NodeId) {
        self.child_runs_with(child, facts(Part::Debugs));
    }

    pub fn child_runs_with(&mut self, child: NodeId, facts: EngineFacts) {
        self.child_up_with(child, facts, js_capabilities());
        self.tell(child, "initialized", json!({}));
        let mut start = None;
        for heard in self.engine_heard(child) {
            match heard.json["command"].as_str() {
                Some("launch" | "attach") => start = Some(heard.json),
                Some("setBreakpoints") => self.agree(child, &heard.json),
                _ => self.answer(child, &heard.json, json!({})),
            }
        }
        self.answer(child, &start.expect("the child was not started"), json!({}));
        self.tell(child, "initialized", json!({}));
    }

    /// A child of js-debug that runs, with its thread, in the client's numbers.
    pub fn js_child(&mut self, tess: ClientId, parent: NodeId, name: &str) -> (NodeId, i64) {
        let (child, _) = self.announce_js(parent, name);
        self.child_runs(child);
        self.got(parent, "startDebugging");
        let thread = self.start_thread(tess, child, 0);
        (child, thread)
    }

    /// A subprocess of a Python program, with its first thread.
    pub fn python_child(&mut self, tess: ClientId, parent: NodeId, pid: i64) -> (NodeId, i64) {
        let (child, _) = self.announce_python(parent, pid);
        self.child_runs(child);
        self.got(parent, "startDebugging");
        let thread = self.start_thread(tess, child, 1);
        (child, thread)
    }

    /// A thread starts, and everything that Tess has heard so far is taken.
    pub fn start_thread(&mut self, tess: ClientId, node: NodeId, thread: i64) -> i64 {
        self.tell(node, "thread", json!({"reason": "started", "threadId": thread}));
        let heard = self.heard(tess);
        let started = heard.iter().rfind(|heard| heard.json["event"] == "thread");
        started.map_or(0, |started| started.json["body"]["threadId"].as_i64().unwrap())
    }

    pub fn stop_alone(&mut self, node: NodeId, thread: i64, reason: &str) {
        self.tell(node, "stopped", json!({"reason": reason, "threadId": thread}));
    }

    /// The connection of a child is gone, as agreed.
    pub fn closes(&mut self, node: NodeId) {
        self.node_ended(node, "exit code 0", "");
    }

    /// A client under this name joins the session, or one node of it.
    pub fn visitor(&mut self, name: &str, declared: Value, own: Value) -> ClientId {
        let client = self.join_as(Access::Granted);
        let mut arguments = json!({"clientName": name, "adapterID": "python"});
        for (key, value) in declared.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        self.request(client, "initialize", arguments);
        self.request(client, "attach", json!({"breakroom": own}));
        self.request(client, "configurationDone", json!({}));
        client
    }
}

/// What a client declares that can open sessions of its own.
pub fn opens() -> Value {
    json!({"supportsStartDebuggingRequest": true})
}
