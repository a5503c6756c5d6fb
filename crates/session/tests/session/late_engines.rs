//! Engines that are started with their program, and what engines need of a launch that clients do not say.

use std::collections::BTreeMap;

use breakroom_session::{Amendments, EngineChoice, EngineFacts, Input, Setup};
use serde_json::{Value, json};

use crate::rig::{Rig, setup};

fn with_ruby() -> Setup {
    let recorded = json!({"supportsRuby": true, "supportsOldRuby": true, "supportsRestartRequest": true});
    let late_engines = BTreeMap::from([("ruby".to_owned(), recorded.as_object().unwrap().clone())]);
    Setup { known_engines: vec!["ruby".into(), "python".into()], late_engines, ..setup() }
}

#[test]
fn an_engine_that_needs_its_program_is_started_with_the_launch_and_its_record_answers_initialize() {
    let mut rig = Rig::with(with_ruby());
    let client = rig.join();
    let seq = rig.request(client, "initialize", json!({"adapterID": "Ruby"}));
    assert_eq!(rig.response(client, seq)["body"]["supportsRuby"], true);
    assert!(rig.started.is_empty(), "there is nothing to start it with yet");

    let launch = json!({"program": "x.rb", "args": [1], "breakroom": {"name": "mine"}});
    let seq = rig.request(client, "launch", launch);
    assert_eq!(rig.started[0].1, EngineChoice::Type("ruby".into()));
    assert_eq!(
        rig.started_for[0],
        Some(json!({"program": "x.rb", "args": [1]})),
        "without what is the hub's"
    );
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({"supportsRuby": true}));
    let exact = rig.event(client, "capabilities");
    assert_eq!(exact["body"]["capabilities"]["supportsOldRuby"], false, "what it cannot is taken back");
    rig.tell(node, "initialized", json!({}));
    let request = rig.got(node, "launch");
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
}

#[test]
fn an_engine_fixed_by_the_command_line_waits_for_its_program_too() {
    let mut rig = Rig::with(Setup {
        engine: Some(breakroom_session::EngineChoice::Type("ruby".into())),
        ..with_ruby()
    });
    let client = rig.join();
    let seq = rig.request(client, "initialize", json!({"adapterID": "anything"}));
    assert_eq!(rig.response(client, seq)["body"]["supportsRuby"], true);
    assert!(rig.started.is_empty());
    rig.request(client, "launch", json!({"type": "python", "program": "x.rb"}));
    assert_eq!(rig.started[0].1, EngineChoice::Type("ruby".into()));
}

#[test]
fn other_engines_are_started_before_it_is_known_what_they_launch() {
    let mut rig = Rig::with(with_ruby());
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    assert_eq!(rig.started_for, [None]);
}

fn launched(arguments: Value) -> Value {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "none"}));
    rig.request(client, "launch", arguments);
    let node = rig.started[0].0;
    let defaults = json!({"terminal": "console"}).as_object().unwrap().clone();
    let types = BTreeMap::from([("node".to_owned(), "pwa-node".to_owned())]);
    let facts = EngineFacts {
        amendments: Amendments { defaults, types, ..Amendments::default() },
        ..EngineFacts::default()
    };
    rig.on(Input::NodeUp { node, facts });
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    rig.got(node, "launch")["arguments"].clone()
}

#[test]
fn a_launch_gets_what_its_engine_cannot_do_without() {
    let told = launched(json!({"type": "node", "program": "x", "breakroom": {"name": "n"}}));
    assert_eq!(told, json!({"type": "pwa-node", "program": "x", "terminal": "console"}));
    let told = launched(json!({"type": "go", "program": "x", "terminal": "external"}));
    assert_eq!(told, json!({"type": "go", "program": "x", "terminal": "external"}));
}

#[test]
fn an_engine_that_is_started_again_gets_the_same_launch() {
    let mut rig = Rig::with(with_ruby());
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "ruby"}));
    rig.request(client, "launch", json!({"program": "x.rb"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    rig.tell(node, "initialized", json!({}));
    let launch = rig.got(node, "launch");
    rig.answer(node, &launch, json!({}));
    rig.request(client, "restart", json!({}));
    let goodbye = rig.got(node, "disconnect");
    rig.answer(node, &goodbye, json!({}));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(rig.started_for, [Some(json!({"program": "x.rb"})), Some(json!({"program": "x.rb"}))]);
}
