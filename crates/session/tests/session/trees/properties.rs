//! Properties of debuggers: whoever sets one means every debugger of the session that knows of such, also those to come.

use breakroom_session::NodeId;
use breakroom_session::habits::Part;
use serde_json::{Value, json};

use super::super::rig::{Rig, capabilities, setup};
use super::stage::facts;

const COMMAND: &str = "setDebuggerProperty";

fn can(knows: bool) -> Value {
    let mut can = capabilities();
    can["supportsDebuggerProperties"] = json!(knows);
    can
}

/// What an engine is told of them, and when.
fn told(rig: &mut Rig, node: NodeId) -> Vec<Value> {
    let heard: Vec<Value> = rig.engine_heard(node).into_iter().map(|heard| heard.json).collect();
    let done = heard.iter().position(|request| request["command"] == "configurationDone");
    let at = heard.iter().position(|request| request["command"] == COMMAND);
    assert!(done.is_none() || at < done, "before anything runs: {heard:?}");
    for request in &heard {
        rig.answer(node, request, json!({}));
    }
    let ours = heard.into_iter().filter(|request| request["command"] == COMMAND);
    ours.map(|mut request| request["arguments"].take()).collect()
}

#[test]
fn an_engine_that_comes_with_a_child_is_told_what_was_set_if_it_knows_of_such() {
    for knows in [true, false] {
        let mut rig = Rig::with(setup());
        let (tess, root) = rig.launch_with(facts(Part::Debugs), can(true), json!({}));
        for property in [json!({"skip": []}), json!({"print": ["x"]}), json!({"skip": ["y"]})] {
            rig.round_trip(tess, root, COMMAND, property, json!({}));
        }
        let (child, _) = rig.announce_python(root, 7);
        rig.child_up(child, can(knows));
        rig.tell(child, "initialized", json!({}));
        let all = json!({"print": ["x"], "skip": ["y"]});
        assert_eq!(told(&mut rig, child), if knows { vec![all] } else { Vec::new() });
    }
}

#[test]
fn what_is_set_while_there_are_several_is_told_to_all_that_know_of_such() {
    for knows in [true, false] {
        let mut rig = Rig::with(setup());
        let (tess, root) = rig.launch_with(facts(Part::Debugs), can(true), json!({}));
        let (child, _) = rig.announce_python(root, 7);
        rig.child_up(child, can(knows));
        rig.tell(child, "initialized", json!({}));
        assert_eq!(told(&mut rig, child), [] as [Value; 0], "nothing was set");
        let seq = rig.request(tess, COMMAND, json!({"skip": []}));
        let request = rig.got(root, COMMAND);
        let set = json!({"skip": []});
        assert_eq!(request["arguments"], set);
        assert_eq!(told(&mut rig, child), if knows { vec![set] } else { Vec::new() });
        rig.answer(root, &request, json!({}));
        rig.response(tess, seq);
    }
}
