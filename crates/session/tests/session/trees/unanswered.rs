//! What was asked of a child, or for one, that nothing comes of.

use serde_json::json;

use super::super::rig::{Rig, setup};
use super::stage::{ID, opens, shared_setup};

#[test]
fn what_was_asked_of_a_child_that_could_not_be_opened_is_answered() {
    let (mut rig, ann, root) = Rig::coordinated(shared_setup(), opens());
    let (child, _) = rig.announce_js(root, "a.js");
    rig.heard(ann);
    let client = rig.visitor("Ann", opens(), json!({"session": ID, "node": child.0}));
    let seq = rig.request(client, "evaluate", json!({"expression": "1"}));
    rig.node_failed(child, "refused");
    let names = rig.names(client);
    let place = |name: &str| names.iter().position(|heard| heard.ends_with(name));
    assert!(rig.has_answer(client, seq), "{names:?}");
    assert!(place("evaluate").is_some() && place("evaluate") < place("terminated"), "{names:?}");
}

#[test]
fn a_parent_whose_child_is_let_go_while_it_connects_is_answered() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (_child, seq) = rig.announce_python(root, 7);
    rig.request(tess, "terminate", json!({}));
    let answered = rig.engine_heard(root).iter().filter(|heard| heard.json["request_seq"] == seq).count();
    assert_eq!(answered, 1);
}
