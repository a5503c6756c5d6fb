//! What is in progress in several nodes under one name.

use serde_json::json;

use super::super::rig::{Rig, capabilities, setup};

#[test]
fn what_two_nodes_call_the_same_is_told_apart_and_each_can_be_cancelled() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({"supportsProgressReporting": true}));
    let children = [7, 8].map(|pid| {
        let (child, _) = rig.announce_python(root, pid);
        rig.child_up(child, capabilities());
        rig.tell(child, "initialized", json!({}));
        rig.engine_heard(child).iter().for_each(|heard| rig.answer(child, &heard.json, json!({})));
        child
    });
    rig.heard(tess);
    let nodes = [root, children[0], children[1]];
    let mut ids = nodes.map(|node| {
        rig.tell(node, "progressStart", json!({"progressId": "1", "title": "indexing"}));
        rig.event(tess, "progressStart")["body"]["progressId"].as_str().unwrap().to_owned()
    });
    assert_eq!(ids[0], "1", "what was launched is alone most of the time");
    for (node, id) in nodes.into_iter().zip(&ids) {
        rig.tell(node, "progressUpdate", json!({"progressId": "1", "percentage": 5}));
        assert_eq!(rig.event(tess, "progressUpdate")["body"]["progressId"], **id);
        let seq = rig.request(tess, "cancel", json!({"progressId": id}));
        let asked = rig.got(node, "cancel");
        assert_eq!(asked["arguments"]["progressId"], "1");
        rig.answer(node, &asked, json!({}));
        rig.response(tess, seq);
    }
    rig.closes(children[1]);
    assert_eq!(rig.event(tess, "progressEnd")["body"]["progressId"], *ids[2], "it ends with its node");
    ids.sort();
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
}
