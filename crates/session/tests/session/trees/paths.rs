//! Files that the nodes of a tree know under other paths: each node by its own.

use std::sync::Arc;

use breakroom_session::{ClientId, EngineFacts, Finder, NodeId, Search, Setup};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::members::{member, runs};

/// The members of a group that runs: one in a container, one on another machine, one here.
fn group(rig: &mut Rig, root: NodeId, tess: ClientId) -> [NodeId; 3] {
    let maps = [json!({"/app": "/home/me/app"}), json!({"/srv": "/home/me/app"}), Value::Null];
    let members = maps.map(|map| {
        let mut configuration = json!({"name": "member", "type": "go"});
        if !map.is_null() {
            configuration["breakroom"] = json!({"pathMap": map});
        }
        let child = member(rig, root, "launch", configuration, EngineFacts::default());
        runs(rig, child);
        child
    });
    rig.heard(tess);
    members
}

fn loads(rig: &mut Rig, tess: ClientId, node: NodeId, path: &str) -> String {
    rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": path}}));
    rig.event(tess, "loadedSource")["body"]["source"]["path"].as_str().unwrap().to_owned()
}

/// Takes what a node is told of breakpoints and gives the path that it is told them by.
fn told(rig: &mut Rig, node: NodeId) -> String {
    let asked = rig.got(node, "setBreakpoints");
    rig.agree(node, &asked);
    asked["arguments"]["source"]["path"].as_str().unwrap().to_owned()
}

#[test]
fn each_member_of_a_group_has_the_map_of_its_own_launch() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let [container, machine, here] = group(&mut rig, root, tess);
    for (node, path, is) in [
        (container, "/app/x.py", "/home/me/app/x.py"),
        (machine, "/srv/x.py", "/home/me/app/x.py"),
        (machine, "/app/x.py", "/app/x.py"),
        (here, "/app/x.py", "/app/x.py"),
    ] {
        assert_eq!(loads(&mut rig, tess, node, path), is);
    }
    let list = json!({"source": {"path": "/home/me/app/x.py"}, "breakpoints": [{"line": 3}]});
    rig.request(tess, "setBreakpoints", list);
    for (node, path) in [(container, "/app/x.py"), (machine, "/srv/x.py"), (here, "/home/me/app/x.py")] {
        assert_eq!(told(&mut rig, node), path);
    }
}

#[test]
fn a_child_has_the_map_of_its_parent() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let [container, ..] = group(&mut rig, root, tess);
    let (child, _) = rig.python_child(tess, container, 7);
    assert_eq!(loads(&mut rig, tess, child, "/app/x.py"), "/home/me/app/x.py");
}

#[test]
fn what_is_guessed_of_one_node_is_told_to_it_again_and_to_no_other() {
    let find = |path: &str| match path {
        "/app/src/x.py" => Search::Found("/home/me/p/src/x.py".to_owned()),
        _ => Search::Nothing,
    };
    let setup = Setup { find: Some(Finder(Arc::new(find))), ..setup() };
    let (mut rig, tess, root) = Rig::coordinated(setup, json!({}));
    let [_, machine, here] = group(&mut rig, root, tess);
    let list = json!({"source": {"path": "/home/me/p/src/x.py"}, "breakpoints": [{"line": 3}]});
    rig.request(tess, "setBreakpoints", list);
    for node in [machine, here] {
        assert_eq!(told(&mut rig, node), "/home/me/p/src/x.py");
    }
    assert_eq!(loads(&mut rig, tess, machine, "/app/src/x.py"), "/home/me/p/src/x.py");
    assert_eq!(told(&mut rig, machine), "/app/src/x.py", "it did not know what it was told");
    assert!(rig.engine_names(here).is_empty(), "that one knew it");
    assert_eq!(loads(&mut rig, tess, machine, "/app/y.py"), "/home/me/p/y.py");
    assert_eq!(loads(&mut rig, tess, here, "/app/y.py"), "/app/y.py");
    let said = |rig: &mut Rig| rig.names(tess).iter().filter(|name| *name == "output").count();
    assert_eq!(said(&mut rig), 1);
    assert_eq!(loads(&mut rig, tess, here, "/app/src/x.py"), "/home/me/p/src/x.py");
    assert_eq!(said(&mut rig), 0, "it was said");
}

#[test]
fn a_node_that_has_yet_to_answer_is_told_by_its_own_path_when_it_has() {
    let find = |path: &str| match path {
        "/app/src/x.py" => Search::Found("/home/me/p/src/x.py".to_owned()),
        _ => Search::Nothing,
    };
    let setup = Setup { find: Some(Finder(Arc::new(find))), ..setup() };
    let (mut rig, tess, root) = Rig::coordinated(setup, json!({}));
    let [_, machine, _] = group(&mut rig, root, tess);
    let list = json!({"source": {"path": "/home/me/p/src/x.py"}, "breakpoints": [{"line": 3}]});
    rig.request(tess, "setBreakpoints", list);
    let first = rig.got(machine, "setBreakpoints");
    loads(&mut rig, tess, machine, "/app/src/x.py");
    rig.answer(machine, &first, json!({"breakpoints": [{"id": 1, "verified": false}]}));
    let second = rig.got(machine, "setBreakpoints");
    assert_eq!(second["arguments"]["source"]["path"], "/app/src/x.py");
    rig.answer(machine, &second, json!({"breakpoints": [{"id": 2, "verified": true, "line": 3}]}));
    rig.tell(machine, "breakpoint", json!({"reason": "changed", "breakpoint": {"id": 2, "verified": true}}));
    assert!(!rig.engine_names(machine).iter().any(|name| name.contains("setBreakpoints")));
}
