//! What a client is asked to open a child session with: the words of its own `launch` or `attach`.

use breakroom_session::habits::Part;
use breakroom_session::{Access, ClientId, NodeId};
use serde_json::{Value, json};

use super::super::rig::Rig;
use super::stage::{ID, facts, js_capabilities, opens, shared_setup};

/// Joins with these arguments of `attach`.
fn joins(rig: &mut Rig, name: &str, arguments: Value) -> ClientId {
    let client = rig.join_as(Access::Granted);
    let declared = json!({"clientName": name, "adapterID": "python", "supportsStartDebuggingRequest": true});
    rig.request(client, "initialize", declared);
    rig.request(client, "attach", arguments);
    rig.request(client, "configurationDone", json!({}));
    client
}

/// Where the client would open a session for the child.
fn server(rig: &mut Rig, client: ClientId) -> Value {
    let asked = rig.asked(client, "startDebugging");
    asked["arguments"]["configuration"].get("debugServer").cloned().unwrap_or_default()
}

/// VS Code opens a child session with its own adapter unless the configuration names the server.
#[test]
fn a_child_is_offered_with_the_debug_server_of_the_client_asked() {
    type Announce = fn(&mut Rig, NodeId) -> NodeId;
    let kinds: [(Part, Announce); 2] = [
        (Part::Coordinates, |rig, root| rig.announce_js(root, "a.js").0),
        (Part::Debugs, |rig, root| rig.announce_python(root, 7).0),
    ];
    for (part, announce) in kinds {
        let mut rig = Rig::with(shared_setup());
        let launch = json!({"debugServer": 4711});
        let (ann, root) = rig.launch_as(facts(part), js_capabilities(), opens(), launch);
        let bob = joins(&mut rig, "Bob", json!({"debugServer": 4712}));
        let carl = joins(&mut rig, "Carl", json!({}));
        let child = announce(&mut rig, root);
        rig.child_runs(child);
        for (client, expected) in [(ann, json!(4711)), (bob, json!(4712)), (carl, Value::Null)] {
            assert_eq!(server(&mut rig, client), expected, "{part:?}");
        }
        let own = json!({"debugServer": 4711, "breakroom": {"session": ID, "node": child.0}});
        let opened = joins(&mut rig, "Ann", own);
        let worker = announce(&mut rig, child);
        rig.child_runs(worker);
        assert_eq!(server(&mut rig, opened), 4711, "{part:?}: what a child starts");
    }
}
