//! The order in which a client that sees several nodes as one program hears of them, from the first word to the last.

use std::collections::BTreeSet;

use breakroom_session::habits::{ExitWord, Part};
use serde_json::{Value, json};

use super::super::rig::{Heard, Rig, setup};
use super::members::{member, runs};
use super::stage::{facts, js_capabilities};
use crate::engines::facts_with;

fn events(heard: &[Heard], name: &str) -> Vec<usize> {
    let is_it = |heard: &Heard| heard.json["event"] == name;
    heard.iter().enumerate().filter(|(_, heard)| is_it(heard)).map(|(at, _)| at).collect()
}

/// The threads that an event of this kind was told of.
fn threads(heard: &[Heard], reason: &str) -> Vec<i64> {
    let told = heard.iter().filter(|heard| heard.json["event"] == "thread");
    let told = told.filter(|heard| heard.json["body"]["reason"] == reason);
    told.map(|heard| heard.json["body"]["threadId"].as_i64().unwrap()).collect()
}

#[test]
fn a_program_of_several_nodes_has_one_beginning_and_one_end() {
    let mut rig = Rig::with(setup());
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientID": "test", "adapterID": "python"}));
    let root = rig.started[0].0;
    rig.node_up_with(root, facts(Part::Coordinates));
    let initialize = rig.got(root, "initialize");
    rig.answer(root, &initialize, js_capabilities());
    rig.request(tess, "launch", json!({"type": "group", "name": "all"}));
    rig.tell(root, "initialized", json!({}));
    rig.request(tess, "configurationDone", json!({}));
    rig.engine_heard(root).iter().for_each(|heard| rig.answer(root, &heard.json, json!({})));
    let members = [ExitWord::Event, ExitWord::Never, ExitWord::OwnEnd].map(|exit| {
        let facts = facts_with(|facts| facts.ending.exit = exit);
        let child = member(&mut rig, root, "launch", json!({"name": "m", "type": "go"}), facts);
        runs(&mut rig, child);
        rig.tell(child, "thread", json!({"reason": "started", "threadId": 1}));
        rig.tell(child, "stopped", json!({"reason": "pause", "threadId": 2, "allThreadsStopped": true}));
        child
    });
    // The last one has a thread that is only known from its list.
    rig.request(tess, "threads", json!({}));
    for child in members {
        let asked = rig.got(child, "threads");
        let list: Value = (1..=3).map(|id| json!({"id": id, "name": "t"})).collect();
        rig.answer(child, &asked, json!({"threads": list}));
    }
    rig.tell(root, "terminated", json!({}));
    let [one, two, three] = members;
    // Each in its own disorder.
    rig.tell(one, "terminated", json!({}));
    rig.tell(one, "exited", json!({"exitCode": 0}));
    rig.tell(one, "terminated", json!({}));
    rig.tell(two, "thread", json!({"reason": "exited", "threadId": 1}));
    rig.tell(two, "terminated", json!({}));
    rig.tell(two, "terminated", json!({}));
    rig.node_ended(three, "exit code 4", "");
    let heard = rig.heard(tess);
    let names: Vec<_> = heard.iter().map(Heard::name).collect();
    for name in ["initialized", "exited", "terminated"] {
        assert_eq!(events(&heard, name).len(), 1, "{name}: {names:?}");
    }
    assert_eq!(names.last().unwrap(), "terminated");
    assert!(events(&heard, "exited")[0] < events(&heard, "terminated")[0]);
    let exited = &heard[events(&heard, "exited")[0]];
    assert_eq!(exited.json["body"]["exitCode"], 4, "the only one that failed");
    // A thread that was told of in any way ends once.
    let started: BTreeSet<i64> = threads(&heard, "started").into_iter().collect();
    let listed = heard.iter().filter(|heard| heard.json["command"] == "threads");
    let listed = listed.flat_map(|heard| heard.json["body"]["threads"].as_array().unwrap().clone());
    let known: BTreeSet<i64> =
        listed.map(|thread| thread["id"].as_i64().unwrap()).chain(started.iter().copied()).collect();
    let ended = threads(&heard, "exited");
    assert_eq!(known.len(), 9, "{names:?}");
    assert_eq!(ended.iter().copied().collect::<BTreeSet<_>>(), known, "{names:?}");
    assert_eq!(ended.len(), known.len(), "each once");
}
