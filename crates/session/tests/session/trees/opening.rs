//! From the announcement of a child to the point where it runs, and what happens if it does not get there.

use breakroom_session::{EngineChoice, Opening};
use serde_json::json;

use super::super::rig::{Rig, setup};
use super::stage::js_capabilities;

#[test]
fn engines_are_always_told_that_children_can_be_opened() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    assert_eq!(rig.got(node, "initialize")["arguments"]["supportsStartDebuggingRequest"], true);
}

#[test]
fn a_child_of_js_debug_is_opened_on_its_parents_server_and_started_as_announced() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (child, seq) = rig.announce_js(root, "t.js [1802]");
    assert_eq!(rig.opened, [(child, root, Opening::SameServer)]);
    assert!(rig.engine_heard(root).is_empty(), "it is answered when the connection is there");
    rig.child_up(child, js_capabilities());
    let answer = rig.got(root, "startDebugging");
    assert_eq!((answer["success"].as_bool(), answer["request_seq"].as_i64()), (Some(true), Some(seq)));
    let launch = rig.got(child, "launch");
    let announced = json!({"type": "pwa-node", "name": "t.js [1802]", "__pendingTargetId": "t-t.js [1802]"});
    assert_eq!(launch["arguments"], announced);
    assert!(rig.engine_names(child).is_empty(), "nothing before it says that it can be configured");
    rig.tell(child, "initialized", json!({}));
    let done = rig.got(child, "configurationDone");
    rig.answer(child, &done, json!({}));
    rig.answer(child, &launch, json!({}));
    rig.tell(child, "initialized", json!({}));
    assert!(rig.engine_names(child).is_empty(), "it is configured once");
    assert!(rig.names(tess).is_empty(), "a client that cannot open sessions hears nothing of that");
}

#[test]
fn a_subprocess_of_debugpy_is_opened_where_it_says_and_attached_to() {
    let (mut rig, _, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.announce_python(root, 77);
    assert_eq!(rig.opened[0].2, Opening::At { host: "127.0.0.1".into(), port: 5678 });
    rig.child_runs(child);
    assert_eq!(rig.got(root, "startDebugging")["success"], true);
    assert_eq!(rig.session.describe().tree[1].name, "Subprocess 77");
}

#[test]
fn debugpys_own_event_opens_a_child_and_is_not_passed_on() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let body = json!({"name": "Subprocess 7", "request": "attach", "subProcessId": 7, "connect": {"host": "127.0.0.1", "port": 9}});
    rig.tell(root, "debugpyAttach", body.clone());
    let child = rig.opened[0].0;
    rig.child_up(child, js_capabilities());
    assert_eq!(rig.got(child, "attach")["arguments"], body);
    assert!(rig.names(tess).is_empty());
    assert!(rig.engine_names(root).is_empty(), "there is nothing to answer");
}

#[test]
fn a_child_of_another_type_gets_an_engine_of_its_own() {
    let (mut rig, _, root) = Rig::coordinated(setup(), json!({}));
    rig.ask(
        root,
        "startDebugging",
        json!({"request": "launch", "configuration": {"type": "go", "program": "."}}),
    );
    let arguments = json!({"type": "go", "program": "."});
    assert_eq!(rig.opened[0].2, Opening::Engine { choice: EngineChoice::Type("go".into()), arguments });
}

#[test]
fn children_of_children_are_opened_too() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (child, _) = rig.js_child(tess, root, "a.js");
    let (worker, _) = rig.js_child(tess, child, "worker 1");
    assert_eq!(rig.opened[1], (worker, child, Opening::SameServer));
    let tree = rig.session.describe().tree;
    let parents: Vec<_> = tree.iter().map(|node| node.parent).collect();
    assert_eq!(parents, [None, Some(root.0), Some(child.0)]);
}

#[test]
fn a_child_that_cannot_be_opened_is_failed_to_its_parent_and_everybody_is_told_why() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, seq) = rig.announce_python(root, 77);
    rig.node_failed(child, "nobody listens on 127.0.0.1:5678");
    let answer = rig.got(root, "startDebugging");
    assert_eq!((answer["success"].as_bool(), answer["request_seq"].as_i64()), (Some(false), Some(seq)));
    let told = rig.event(tess, "output")["body"]["output"].as_str().unwrap().to_owned();
    for part in ["failed to open child session Subprocess 77", "target 77", "127.0.0.1:5678"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(rig.session.describe().nodes, 1, "and nothing of it is left");
    rig.finish(tess, root);
}

#[test]
fn a_child_that_is_not_configured_in_time_is_let_go_with_the_adapters_last_words() {
    for stage in ["starting", "initializing", "unannounced"] {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        rig.on(breakroom_session::Input::Stderr { node: root, text: "Error: boom\n".into() });
        let (child, _) = rig.announce_js(root, "t.js");
        match stage {
            "starting" => {}
            "initializing" => rig.node_up(child),
            _ => rig.child_up(child, js_capabilities()),
        }
        rig.advance(19);
        assert!(rig.stopped.is_empty());
        rig.advance(1);
        let told = rig.heard(tess).iter().map(|heard| heard.text()).collect::<String>();
        for part in ["failed to open child session t.js", "t-t.js", "within 20 s", "Error: boom"] {
            assert!(told.contains(part), "{stage}: {part}: {told}");
        }
        if stage == "unannounced" {
            // A program that waits to be started must not wait for ever.
            let bye = rig.got(child, "disconnect");
            rig.answer(child, &bye, json!({}));
        }
        assert_eq!(rig.stopped[0].0, child);
        rig.closes(child);
        assert_eq!(rig.session.describe().nodes, 1);
        let threads = rig.request(tess, "threads", json!({}));
        assert_eq!(rig.response(tess, threads)["body"]["threads"], json!([]));
        rig.finish(tess, root);
    }
}

#[test]
fn a_child_whose_launch_fails_or_whose_connection_ends_is_told_of_and_the_rest_goes_on() {
    for ends in [false, true] {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        let (sound, thread) = rig.js_child(tess, root, "a.js");
        let (child, _) = rig.announce_js(root, "b.js");
        rig.child_up(child, js_capabilities());
        if ends {
            rig.node_ended(child, "exit code 1", "no such target");
        } else {
            let launch = rig.got(child, "launch");
            rig.fail(child, &launch, "no such target");
            assert_eq!(rig.stopped[0].0, child);
            rig.closes(child);
        }
        let told = rig.event(tess, "output")["body"]["output"].as_str().unwrap().to_owned();
        assert!(
            told.contains("failed to open child session b.js") && told.contains("no such target"),
            "{told}"
        );
        rig.stop_alone(sound, 0, "breakpoint");
        assert_eq!(rig.event(tess, "stopped")["body"]["threadId"], thread);
    }
}

#[test]
fn beyond_the_cap_a_child_is_not_debugged_and_everybody_is_told_once() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    for number in 1..64 {
        rig.announce_js(root, &format!("child {number}"));
    }
    assert_eq!(rig.session.describe().nodes, 64);
    rig.heard(tess);
    let configuration = json!({"type": "pwa-node", "name": "one too many", "__pendingTargetId": "x"});
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": configuration}));
    assert_eq!(rig.session.describe().nodes, 64);
    let told = rig.heard(tess);
    assert_eq!(told.len(), 1);
    assert!(told[0].text().contains("one too many") && told[0].text().contains("64"), "{}", told[0].text());
}

#[test]
fn a_launch_says_how_many_nodes_there_may_be() {
    let own = json!({"breakroom": {"nodes": 3}});
    let (mut rig, tess, root) = Rig::coordinated_with(setup(), own);
    let (first, _) = rig.announce_js(root, "one");
    rig.announce_js(root, "two");
    rig.heard(tess);
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": {"type": "pwa-node"}}));
    assert_eq!(rig.session.describe().nodes, 3);
    let told = rig.heard(tess)[0].text();
    assert!(told.contains("has 3 processes already") && told.contains("nodes"), "{told}");
    rig.node_failed(first, "refused");
    rig.announce_js(root, "instead");
    assert!(rig.heard(tess).iter().all(|heard| !heard.text().contains("instead")));
    assert_eq!(rig.session.describe().nodes, 3, "there is room again");
}

#[test]
fn a_session_that_is_ending_opens_nothing_more() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    rig.request(tess, "disconnect", json!({}));
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": {"type": "node"}}));
    assert!(rig.opened.is_empty());
    assert_eq!(rig.got(root, "startDebugging")["success"], false);
}

#[test]
fn an_announcement_without_a_configuration_is_failed() {
    let (mut rig, _, root) = Rig::coordinated(setup(), json!({}));
    rig.ask(root, "startDebugging", json!({"request": "launch"}));
    assert_eq!(rig.got(root, "startDebugging")["success"], false);
}
