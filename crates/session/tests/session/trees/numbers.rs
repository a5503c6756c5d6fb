//! One number space for the threads of all nodes, and each request to the node that its numbers mean.

use serde_json::{Value, json};

use super::super::rig::{Rig, setup};

#[test]
fn threads_of_the_root_keep_their_numbers_and_those_of_children_are_given_new_ones() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    assert_eq!(rig.start_thread(tess, root, 1), 1);
    let (first, one) = rig.python_child(tess, root, 7);
    let (second, two) = rig.python_child(tess, root, 8);
    assert!(one != 1 && two != 1 && one != two, "{one} {two}");
    for (node, ours) in [(first, one), (second, two), (root, 1)] {
        rig.request(tess, "pause", json!({"threadId": ours}));
        assert_eq!(rig.got(node, "pause")["arguments"]["threadId"], 1);
    }
}

#[test]
fn frames_and_variables_lead_back_to_their_node() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let nodes = [rig.js_child(tess, root, "a.js"), rig.js_child(tess, root, "b.js")];
    let mut frames = Vec::new();
    for (node, thread) in nodes {
        rig.stop_alone(node, 0, "breakpoint");
        let stack = json!({"stackFrames": [{"id": 5, "name": "f", "line": 1, "column": 1}]});
        let answer = rig.round_trip(tess, node, "stackTrace", json!({"threadId": thread}), stack);
        frames.push(answer["body"]["stackFrames"][0]["id"].clone());
    }
    assert_ne!(frames[0], frames[1]);
    for ((node, _), frame) in nodes.into_iter().zip(&frames) {
        let scopes = json!({"scopes": [{"name": "Locals", "variablesReference": 9, "expensive": false}]});
        let answer = rig.round_trip(tess, node, "scopes", json!({"frameId": frame}), scopes);
        let reference = &answer["body"]["scopes"][0]["variablesReference"];
        rig.round_trip(
            tess,
            node,
            "variables",
            json!({"variablesReference": reference}),
            json!({"variables": []}),
        );
    }
}

#[test]
fn numbers_of_two_nodes_in_one_request_are_refused() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (_, one) = rig.js_child(tess, root, "a.js");
    let (b, two) = rig.js_child(tess, root, "b.js");
    let seq = rig.request(tess, "terminateThreads", json!({"threadIds": [one, two]}));
    assert!(rig.refusal(tess, seq).1.contains("two processes"));
    rig.stop_alone(b, 0, "pause");
    let stack = json!({"stackFrames": [{"id": 5, "name": "f", "line": 1, "column": 1}]});
    let answer = rig.round_trip(tess, b, "stackTrace", json!({"threadId": two}), stack);
    let frame = &answer["body"]["stackFrames"][0]["id"];
    let seq = rig.request(tess, "stepIn", json!({"threadId": one, "targetId": 1, "frameId": frame}));
    rig.refusal(tess, seq);
}

#[test]
fn a_request_that_names_nothing_goes_to_the_node_that_stopped_last_or_was_chosen() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let evaluated = |rig: &mut Rig, node| {
        rig.request(tess, "evaluate", json!({"expression": "1", "context": "repl"}));
        rig.got(node, "evaluate")
    };
    let seq = rig.request(tess, "evaluate", json!({"expression": "1"}));
    assert!(rig.refusal(tess, seq).1.contains("no process is being debugged yet"));
    let (a, _) = rig.js_child(tess, root, "a.js");
    let (b, _) = rig.js_child(tess, root, "b.js");
    evaluated(&mut rig, a);
    rig.stop_alone(b, 0, "breakpoint");
    evaluated(&mut rig, b);
    let seq = rig.request(tess, "breakroom/focus", json!({"node": a.0}));
    assert_eq!(rig.response(tess, seq)["success"], true);
    evaluated(&mut rig, a);
    let seq = rig.request(tess, "breakroom/focus", json!({"node": root.0}));
    assert!(rig.refusal(tess, seq).1.contains("a.js"), "the root debugs nothing");
    rig.closes(a);
    evaluated(&mut rig, b);
}

#[test]
fn what_one_client_looks_at_moves_nobody_elses_requests_and_lasts_until_something_stops() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (a, _) = rig.js_child(tess, root, "a.js");
    let (b, _) = rig.js_child(tess, root, "b.js");
    let bob = rig.join_late();
    rig.request(bob, "initialize", json!({"clientName": "Bob", "adapterID": "node"}));
    rig.request(bob, "attach", json!({}));
    rig.request(bob, "configurationDone", json!({}));
    rig.stop_alone(b, 0, "breakpoint");
    rig.request(tess, "breakroom/focus", json!({"node": a.0}));
    let asks = |rig: &mut Rig, client, node| {
        rig.request(client, "evaluate", json!({"expression": "1", "context": "repl"}));
        rig.got(node, "evaluate");
    };
    asks(&mut rig, tess, a);
    asks(&mut rig, bob, b);
    rig.stop_alone(b, 0, "step");
    asks(&mut rig, tess, b);
}

#[test]
fn a_coordinating_root_is_asked_for_nothing_but_the_launch() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let threads = rig.request(tess, "threads", json!({}));
    assert_eq!(rig.response(tess, threads)["body"]["threads"], json!([]));
    let (child, thread) = rig.js_child(tess, root, "a.js");
    rig.request(tess, "threads", json!({}));
    rig.request(tess, "pause", json!({"threadId": thread}));
    rig.request(tess, "loadedSources", json!({}));
    assert!(rig.engine_names(root).is_empty());
    assert_eq!(rig.engine_names(child), ["?threads", "?pause", "?loadedSources"]);
}

#[test]
fn a_thread_or_frame_of_a_child_that_ended_is_refused() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (a, thread) = rig.js_child(tess, root, "a.js");
    rig.js_child(tess, root, "b.js");
    rig.stop_alone(a, 0, "breakpoint");
    let stack = json!({"stackFrames": [{"id": 5, "name": "f", "line": 1, "column": 1}]});
    let answer = rig.round_trip(tess, a, "stackTrace", json!({"threadId": thread}), stack);
    let frame = &answer["body"]["stackFrames"][0]["id"];
    rig.closes(a);
    let seq = rig.request(tess, "stackTrace", json!({"threadId": thread}));
    assert!(rig.refusal(tess, seq).1.contains("gone"));
    let seq = rig.request(tess, "scopes", json!({"frameId": frame}));
    rig.refusal(tess, seq);
}

#[test]
fn a_thread_of_a_child_that_is_gone_is_never_taken_for_one_of_the_root() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    rig.start_thread(tess, root, 1);
    let (child, thread) = rig.python_child(tess, root, 7);
    rig.stop_alone(root, 1, "breakpoint");
    rig.tell(child, "terminated", json!({}));
    for heard in rig.engine_heard(child) {
        rig.answer(child, &heard.json, json!({}));
    }
    rig.closes(child);
    rig.heard(tess);
    rig.engine_heard(root);
    for command in ["continue", "next", "pause", "stackTrace"] {
        let seq = rig.request(tess, command, json!({"threadId": thread}));
        assert!(rig.refusal(tess, seq).1.contains("gone"), "{command}");
    }
    assert!(rig.engine_names(root).is_empty());
}

#[test]
fn reads_of_two_nodes_are_kept_apart() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let nodes = [rig.js_child(tess, root, "a.js"), rig.js_child(tess, root, "b.js")];
    for (node, thread) in nodes {
        rig.stop_alone(node, 0, "breakpoint");
        let stack =
            json!({"stackFrames": [{"id": 1, "name": format!("f{}", node.0), "line": 1, "column": 1}]});
        rig.round_trip(tess, node, "stackTrace", json!({"threadId": thread}), stack);
    }
    for (node, thread) in nodes {
        let seq = rig.request(tess, "stackTrace", json!({"threadId": thread}));
        let answer = rig.response(tess, seq);
        assert_eq!(answer["body"]["stackFrames"][0]["name"], format!("f{}", node.0), "from memory");
    }
    // What one program changes is forgotten of it alone.
    let (a, thread) = nodes[0];
    let frame = frame(&mut rig, tess, thread);
    let arguments = json!({"expression": "x", "value": "1", "frameId": frame});
    rig.round_trip(tess, a, "setExpression", arguments, json!({"value": "1"}));
    let seq = rig.request(tess, "stackTrace", json!({"threadId": nodes[1].1}));
    rig.response(tess, seq);
    rig.request(tess, "stackTrace", json!({"threadId": thread}));
    rig.got(a, "stackTrace");
}

fn frame(rig: &mut Rig, client: breakroom_session::ClientId, thread: i64) -> Value {
    let seq = rig.request(client, "stackTrace", json!({"threadId": thread}));
    rig.response(client, seq)["body"]["stackFrames"][0]["id"].clone()
}

#[test]
fn cancel_finds_the_node_that_has_the_request() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({"supportsProgressReporting": true}));
    rig.start_thread(tess, root, 1);
    let (child, _) = rig.announce_python(root, 7);
    rig.child_up(child, super::super::rig::capabilities());
    rig.tell(child, "initialized", json!({}));
    let thread = rig.start_thread(tess, child, 1);
    rig.engine_heard(child);
    let asked = rig.request(tess, "stackTrace", json!({"threadId": thread}));
    let at_engine = rig.got(child, "stackTrace")["seq"].clone();
    rig.request(tess, "cancel", json!({"requestId": asked}));
    assert_eq!(rig.got(child, "cancel")["arguments"]["requestId"], at_engine);
    rig.tell(child, "progressStart", json!({"progressId": "p", "title": "indexing"}));
    let told = rig.event(tess, "progressStart")["body"]["progressId"].clone();
    rig.request(tess, "cancel", json!({"progressId": told}));
    assert_eq!(rig.got(child, "cancel")["arguments"]["progressId"], "p");
}
