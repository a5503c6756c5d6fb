//! Clients that open sessions of their own for children, beside those that see everything as one.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::stage::{ID, opens, shared_setup};

/// Ann, who can open sessions, has launched; `child` runs.
fn with_child() -> (Rig, ClientId, NodeId, NodeId) {
    let (mut rig, ann, root) = Rig::coordinated(shared_setup(), opens());
    let (child, _) = rig.announce_js(root, "a.js");
    rig.child_runs(child);
    (rig, ann, root, child)
}

/// Answers a `startDebugging` of the hub.
fn answer(rig: &mut Rig, client: ClientId, asked: &Value, success: bool) {
    let message = json!({"seq": 900, "type": "response", "request_seq": asked["seq"], "command": "startDebugging", "success": success});
    rig.send(client, message.to_string());
}

#[test]
fn a_client_that_can_is_asked_to_open_a_session_for_the_child_and_sees_nothing_else_of_it() {
    let (mut rig, ann, root, child) = with_child();
    assert_eq!(rig.got(root, "startDebugging")["success"], true, "whatever the client says");
    let asked = rig.asked(ann, "startDebugging");
    let configuration = json!({"type": "pwa-node", "name": "a.js", "request": "attach", "breakroom": {"session": ID, "node": child.0, "client": ann.0}});
    assert_eq!(asked["arguments"], json!({"request": "attach", "configuration": configuration}));
    answer(&mut rig, ann, &asked, true);
    rig.tell(child, "thread", json!({"reason": "started", "threadId": 0}));
    rig.tell(child, "output", json!({"output": "hello\n"}));
    rig.stop_alone(child, 0, "breakpoint");
    assert!(rig.names(ann).is_empty());
    let threads = rig.request(ann, "threads", json!({}));
    assert_eq!(rig.response(ann, threads)["body"]["threads"], json!([]));
}

#[test]
fn a_private_session_is_seen_as_one_by_everybody() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), opens());
    let (_, thread) = rig.js_child(tess, root, "a.js");
    assert_ne!(thread, 0, "it was told of the thread");
}

#[test]
fn a_client_joins_one_node_and_has_it_for_itself() {
    let (mut rig, ann, _root, child) = with_child();
    rig.heard(ann);
    rig.tell(child, "thread", json!({"reason": "started", "threadId": 0}));
    rig.tell(child, "output", json!({"output": "hello\n"}));
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 0, "allThreadsStopped": true}));
    let own = json!({"session": ID, "node": child.0});
    let client = rig.visitor("Ann", opens(), own);
    assert_eq!(
        rig.names(client),
        ["+initialize", "initialized", "+attach", "+configurationDone", "thread", "output", "stopped"]
    );
    assert!(rig.engine_names(child).is_empty(), "the hub has configured it");
    assert!(rig.names(ann).is_empty());
    let (other, _) = rig.announce_js(_root, "b.js");
    rig.child_runs(other);
    let list =
        rig.round_trip(client, child, "threads", json!({}), json!({"threads": [{"id": 0, "name": "main"}]}));
    assert_eq!(list["body"]["threads"][0]["name"], "main", "one node, as with one engine");
    let thread = list["body"]["threads"][0]["id"].clone();
    let resumed = rig.round_trip(
        client,
        child,
        "continue",
        json!({"threadId": thread}),
        json!({"allThreadsContinued": true}),
    );
    assert_eq!(resumed["body"]["allThreadsContinued"], true);
    rig.heard(client);
    rig.stop_alone(other, 0, "breakpoint");
    assert!(rig.names(client).is_empty(), "what another node does is not its business");
    let seq = rig.request(client, "attach", json!({}));
    rig.refusal(client, seq);
}

#[test]
fn a_client_comes_from_another_session_to_a_node() {
    let (mut rig, ann, _, child) = with_child();
    rig.heard(ann);
    rig.tell(child, "thread", json!({"reason": "started", "threadId": 0}));
    let mut elsewhere = Rig::with(setup());
    let client = elsewhere.join();
    elsewhere.request(
        client,
        "initialize",
        json!({"clientName": "Ann", "adapterID": "pwa-node", "supportsStartDebuggingRequest": true}),
    );
    elsewhere.request(
        client,
        "attach",
        json!({"type": "pwa-node", "breakroom": {"session": ID, "node": child.0}}),
    );
    assert_eq!(elsewhere.moves[0].1, ID);
    let (side, traveller) = elsewhere.depart(client);
    let client = rig.arrive(side, traveller);
    rig.request(client, "configurationDone", json!({}));
    let names = rig.names(client);
    assert!(names.contains(&"initialized".to_owned()) && names.contains(&"thread".to_owned()), "{names:?}");
    let mut elsewhere = Rig::with(setup());
    let lost = elsewhere.join();
    elsewhere.request(lost, "initialize", json!({"clientName": "Eve", "adapterID": "x"}));
    let seq = elsewhere.request(lost, "attach", json!({"breakroom": {"session": ID, "node": 77}}));
    let (side, traveller) = elsewhere.depart(lost);
    let lost = rig.arrive(side, traveller);
    assert!(rig.refusal(lost, seq).1.contains("no node 77"));
}

#[test]
fn children_that_are_there_are_offered_to_whoever_comes_and_children_of_children_to_those_who_see_the_child()
{
    let (mut rig, ann, root, child) = with_child();
    rig.heard(ann);
    let late = rig.visitor("Late", opens(), json!({}));
    assert_eq!(rig.asked(late, "startDebugging")["arguments"]["configuration"]["breakroom"]["node"], child.0);
    let at_child = rig.visitor("Ann", opens(), json!({"session": ID, "node": child.0}));
    let flat = rig.visitor("Flat", json!({}), json!({}));
    for client in [ann, late, at_child, flat] {
        rig.heard(client);
    }
    let (worker, _) = rig.announce_js(child, "worker");
    rig.child_runs(worker);
    let asked = rig.asked(at_child, "startDebugging");
    assert_eq!(asked["arguments"]["configuration"]["breakroom"]["node"], worker.0);
    assert_eq!(asked["arguments"]["configuration"]["type"], "python", "its adapterID, for it named no type");
    for client in [ann, late, flat] {
        assert!(!rig.names(client).contains(&"?startDebugging".to_owned()));
    }
    assert!(rig.engine_names(root).iter().all(|name| name == "+startDebugging"));
}

#[test]
fn a_client_that_will_not_open_a_session_sees_that_child_in_its_own() {
    let (mut rig, ann, root, child) = with_child();
    let asked = rig.asked(ann, "startDebugging");
    rig.tell(child, "thread", json!({"reason": "started", "threadId": 0}));
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 0, "allThreadsStopped": true}));
    answer(&mut rig, ann, &asked, false);
    assert_eq!(rig.names(ann), ["thread", "stopped"], "it is told what there is");
    rig.tell(child, "output", json!({"output": "hello\n"}));
    assert_eq!(rig.names(ann), ["output"]);
    let (other, _) = rig.announce_js(root, "b.js");
    rig.child_runs(other);
    rig.stop_alone(other, 0, "breakpoint");
    assert_eq!(rig.names(ann), ["?startDebugging"], "the next child is asked for again");
}

#[test]
fn others_see_everything_as_one_while_some_see_nodes() {
    let (mut rig, ann, _, child) = with_child();
    let flat = rig.visitor("Flat", json!({}), json!({}));
    rig.heard(ann);
    rig.heard(flat);
    rig.tell(child, "thread", json!({"reason": "started", "threadId": 0}));
    rig.stop_alone(child, 0, "breakpoint");
    assert_eq!(rig.names(flat), ["thread", "stopped"]);
    assert!(rig.names(ann).is_empty());
}

#[test]
fn a_client_of_a_child_leaves_without_a_trace_and_ends_only_its_node_if_it_says_so() {
    let (mut rig, ann, _root, child) = with_child();
    rig.heard(ann);
    let own = json!({"session": ID, "node": child.0});
    let one = rig.visitor("One", opens(), own.clone());
    rig.request(one, "disconnect", json!({}));
    assert_eq!(rig.engine_names(child), Vec::<String>::new());
    assert!(rig.closed(one).is_some());
    // Ann sees it where she sees its parent now, and would lose it.
    let beside = rig.visitor("Beside", opens(), own.clone());
    rig.request(beside, "disconnect", json!({"terminateDebuggee": true}));
    assert!(rig.closed(beside).is_some() && rig.engine_names(child).is_empty());
    let (mut rig, ann, root, child) = with_child();
    rig.heard(ann);
    let two = rig.visitor("Two", opens(), own.clone());
    rig.request(two, "disconnect", json!({"terminateDebuggee": true}));
    let disconnect = rig.got(child, "disconnect");
    assert_eq!(disconnect["arguments"]["terminateDebuggee"], true);
    rig.answer(child, &disconnect, json!({}));
    assert!(rig.closed(two).is_some());
    assert_eq!(rig.stopped[0].0, child);
    rig.closes(child);
    assert!(rig.engine_names(root).iter().all(|name| name == "+startDebugging"), "the root lives");
    assert!(rig.names(ann).is_empty());
    rig.finish(ann, root);
}

#[test]
fn terminate_by_a_client_of_a_child_ends_that_node() {
    let (mut rig, ann, root, child) = with_child();
    let own = json!({"session": ID, "node": child.0});
    let two = rig.visitor("Two", opens(), own);
    rig.heard(two);
    let seq = rig.request(two, "terminate", json!({}));
    let disconnect = rig.got(child, "disconnect");
    rig.answer(child, &disconnect, json!({}));
    rig.closes(child);
    assert_eq!(rig.response(two, seq)["success"], true);
    assert_eq!(rig.names(two), ["terminated"]);
    let seq = rig.request(two, "evaluate", json!({"expression": "1"}));
    rig.refusal(two, seq);
    rig.request(two, "disconnect", json!({}));
    rig.heard(ann);
    rig.finish(ann, root);
}

#[test]
fn a_client_of_a_child_hears_of_its_end() {
    for how in ["terminated", "closes", "crashes"] {
        let (mut rig, ann, root, child) = with_child();
        let client = rig.visitor("One", opens(), json!({"session": ID, "node": child.0}));
        rig.heard(client);
        rig.heard(ann);
        rig.tell(child, "exited", json!({"exitCode": 3}));
        match how {
            "terminated" => rig.tell(child, "terminated", json!({})),
            "closes" => rig.closes(child),
            _ => rig.node_ended(child, "signal 9", ""),
        }
        assert_eq!(rig.names(client), ["exited", "terminated"], "{how}");
        if how != "crashes" {
            assert!(rig.names(ann).is_empty(), "{how}");
        }
        let seq = rig.request(client, "disconnect", json!({}));
        assert_eq!(rig.response(client, seq)["success"], true);
        assert_eq!(rig.session.describe().state, "running");
        let _ = root;
    }
}

#[test]
fn clients_of_children_do_not_keep_a_session_from_its_last_client() {
    let (mut rig, ann, root, child) = with_child();
    let client = rig.visitor("One", opens(), json!({"session": ID, "node": child.0}));
    rig.heard(client);
    rig.request(ann, "disconnect", json!({}));
    let disconnect = rig.got(child, "disconnect");
    rig.answer(child, &disconnect, json!({}));
    rig.closes(child);
    assert_eq!(rig.names(client), ["terminated"]);
    let disconnect = rig.got(root, "disconnect");
    rig.answer(root, &disconnect, json!({}));
    rig.node_ended(root, "exit code 0", "");
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn a_lost_client_is_asked_nothing_and_costs_nothing() {
    let (mut rig, ann, root, child) = with_child();
    let flat = rig.visitor("Flat", json!({}), json!({}));
    rig.lose(ann);
    rig.stop_alone(child, 0, "breakpoint");
    assert_eq!(rig.event(flat, "stopped")["body"]["reason"], "breakpoint");
    assert!(rig.engine_names(root).iter().all(|name| name == "+startDebugging"));
}

#[test]
fn a_client_of_a_child_hears_its_end_in_its_engines_words() {
    let (mut rig, _ann, _root, child) = with_child();
    let client = rig.visitor("One", opens(), json!({"session": ID, "node": child.0}));
    rig.heard(client);
    rig.tell(child, "terminated", json!({"vendor": 1, "restart": true}));
    let ended = rig.event(client, "terminated");
    assert_eq!(ended["body"], json!({"vendor": 1}), "there is nothing that it could start again");
}
