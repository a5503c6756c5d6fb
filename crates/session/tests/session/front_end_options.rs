//! What a front end fixes for a session: the adapter itself, ids of children, where output and terminals go.

use breakroom_session::{
    Access, ChildIds, EngineChoice, Input, Opening, Recording, Setup, Stream, TerminalHost, Ticket, Token,
};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::{Rig, capabilities, setup};
use crate::trees::stage::{js_capabilities, opens, shared_setup};

fn given() -> Setup {
    Setup { engine: Some(EngineChoice::Record(json!({"args": ["adapter"]}))), ..setup() }
}

#[test]
fn given_adapter_starts_with_its_client_and_is_introduced_by_it() {
    for up_first in [true, false] {
        let mut rig = Rig::with(given());
        let client = rig.join();
        let (node, choice) = rig.started[0].clone();
        assert_eq!(choice, EngineChoice::Record(json!({"args": ["adapter"]})));
        if up_first {
            rig.node_up(node);
            assert_eq!(rig.engine_names(node), [""; 0], "nothing is known of the client yet");
        }
        let seq = rig.request(client, "initialize", json!({"adapterID": "x", "clientName": "Ann"}));
        if !up_first {
            rig.node_up(node);
        }
        let initialize = rig.got(node, "initialize");
        assert_eq!(initialize["arguments"]["clientName"], "Ann");
        rig.answer(node, &initialize, json!({"supportsX": 7}));
        assert_eq!(rig.response(client, seq)["body"]["supportsX"], 7);
        assert_eq!(rig.started.len(), 1);
    }
}

#[test]
fn given_adapter_is_not_started_for_a_client_without_access() {
    let mut rig = Rig::with(given());
    rig.join_as(Access::NeedsToken(Token::new(*b"secret")));
    assert!(rig.started.is_empty());
}

#[test]
fn output_is_recorded_by_category_until_the_hub_runs_a_terminal() {
    let mut rig =
        Rig::with(Setup { recording: Recording::Events, terminal_host: TerminalHost::Hub, ..given() });
    let client = rig.join();
    let node = rig.started[0].0;
    rig.node_up_with(node, facts_with(|_| {}));
    rig.request(client, "initialize", json!({"adapterID": "x", "supportsRunInTerminalRequest": true}));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.request(client, "launch", json!({"program": "x"}));
    for body in [
        json!({"output": "a"}),
        json!({"output": "b", "category": "stdout"}),
        json!({"output": "c", "category": "console"}),
        json!({"output": "d", "category": "stderr"}),
        json!({"output": "e", "category": "telemetry"}),
        json!({"output": "f", "category": "important"}),
    ] {
        rig.tell(node, "output", body);
    }
    let recorded = [("a", Stream::Out), ("b", Stream::Out), ("c", Stream::Out), ("d", Stream::Err)];
    assert_eq!(rig.recorded, recorded.map(|(text, stream)| (stream, text.to_owned())));
    // The client could run it and is not asked.
    rig.ask(node, "runInTerminal", json!({"args": ["program"], "cwd": "/"}));
    let (ticket, _): (Ticket, _) = rig.terminals[0].clone();
    rig.on(Input::Terminal { ticket, result: Ok(7) });
    rig.tell(node, "output", json!({"output": "repeated"}));
    assert_eq!(rig.recorded.len(), 4);
}

#[test]
fn child_is_opened_by_the_given_adapter_whatever_its_type_is() {
    for (kind, address, target) in [
        ("own", None, None),
        ("foreign", None, None),
        ("own", Some("127.0.0.1:1"), None),
        ("foreign", Some("127.0.0.1:1"), None),
        ("own", None, Some("known only to the adapter")),
    ] {
        let mut rig = Rig::with(given());
        let client = rig.join();
        let node = rig.started[0].0;
        rig.node_up_with(
            node,
            facts_with(|facts| {
                facts.kinds = vec!["own".into()];
                facts.address = address.map(str::to_owned);
            }),
        );
        rig.request(client, "initialize", json!({"adapterID": "x"}));
        let initialize = rig.got(node, "initialize");
        rig.answer(node, &initialize, capabilities());
        rig.request(client, "launch", json!({"program": "x"}));
        let mut configuration = json!({"type": kind, "program": "y"});
        if let Some(target) = target {
            configuration["__pendingTargetId"] = target.into();
        }
        rig.ask(node, "startDebugging", json!({"request": "launch", "configuration": configuration}));
        let wanted = match address.is_some() || target.is_some() {
            true => Opening::SameServer,
            false => Opening::Engine {
                choice: EngineChoice::Record(json!({"args": ["adapter"]})),
                arguments: configuration,
            },
        };
        assert_eq!(rig.opened.last().unwrap().2, wanted, "{kind} {address:?} {target:?}");
    }
}

#[test]
fn child_of_an_adapter_that_is_reached_for_one_launch_gets_one_of_its_own() {
    let record = json!({"args": ["adapter", "{{launch.id=}}"]});
    let mut rig = Rig::with(Setup { engine: Some(EngineChoice::Record(record.clone())), ..setup() });
    let client = rig.join();
    let node = rig.started[0].0;
    rig.node_up(node);
    rig.request(client, "initialize", json!({"adapterID": "x"}));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.request(client, "launch", json!({"program": "x"}));
    let arguments = json!({"type": "x", "id": "web:0", "__pendingTargetId": "t"});
    rig.ask(node, "startDebugging", json!({"request": "launch", "configuration": arguments}));
    let choice = EngineChoice::Record(record);
    assert_eq!(rig.opened.last().unwrap().2, Opening::Engine { choice, arguments });
}

/// The id of a child in what a client is asked.
fn asked(rig: &mut Rig, client: breakroom_session::ClientId) -> Value {
    let asked = rig.asked(client, "startDebugging");
    assert_eq!(asked["arguments"]["request"], "launch");
    let configuration = &asked["arguments"]["configuration"];
    assert!(configuration["__pendingTargetId"].is_string() && configuration.get("breakroom").is_none());
    configuration["id"].clone()
}

#[test]
fn children_are_named_below_their_parents_and_clients_admitted_by_name() {
    let child_ids = Some(ChildIds { member: "id".into(), session: "web".into() });
    let setup = Setup { child_ids, ..shared_setup() };
    let (mut rig, client, root) = Rig::coordinated(setup, opens());
    let (first, _) = rig.announce_js(root, "a.js");
    rig.child_runs(first);
    let (second, _) = rig.announce_js(root, "b.js");
    rig.child_runs(second);
    assert_eq!([asked(&mut rig, client), asked(&mut rig, client)], ["web:0", "web:1"]);
    assert_eq!(rig.session.child_named("web:1"), Some(second));
    assert_eq!(rig.session.child_named("web:2"), None);
    let visitor = breakroom_session::ClientId(2);
    let joined = rig.join_for(Some(first));
    assert_eq!(joined, visitor);
    let introduced = rig.request(visitor, "initialize", opens());
    assert_eq!(rig.response(visitor, introduced)["body"], capabilities_of(&js_capabilities()));
    // Its configuration says `launch`, and it joins all the same.
    let launched = rig.request(visitor, "launch", json!({"type": "pwa-node", "__pendingTargetId": "t-a.js"}));
    rig.request(visitor, "configurationDone", json!({}));
    assert_eq!(rig.response(visitor, launched)["success"], true);
    let (grandchild, _) = rig.announce_js(first, "c.js");
    rig.child_runs(grandchild);
    assert_eq!(asked(&mut rig, visitor), "web:0:0");
}

/// With what the hub can always do.
fn capabilities_of(adapter: &Value) -> Value {
    let mut all = adapter.clone();
    all["supportsRestartRequest"] = true.into();
    all
}
