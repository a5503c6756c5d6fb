//! The end of a tree: children before their parents, and `terminated` when nothing is left.

use breakroom_session::Input;
use serde_json::json;

use super::super::rig::{Rig, setup};

#[test]
fn a_coordinating_roots_end_is_told_when_its_children_are_gone_with_the_first_childs_exit_code() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (a, _) = rig.js_child(tess, root, "a.js");
    let (b, _) = rig.js_child(tess, root, "b.js");
    rig.heard(tess);
    rig.tell(a, "exited", json!({"exitCode": 3}));
    rig.tell(a, "terminated", json!({}));
    rig.tell(b, "exited", json!({"exitCode": 4}));
    rig.tell(root, "terminated", json!({"restart": false}));
    assert_eq!(rig.names(tess), ["thread"], "one of two children is gone");
    rig.tell(b, "terminated", json!({}));
    let heard = rig.heard(tess);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["thread", "exited", "terminated"]);
    assert_eq!(heard[1].json["body"]["exitCode"], 3);
    assert_eq!(rig.session.describe().state, "ended");
    for child in [a, b] {
        let disconnect = rig.got(child, "disconnect");
        rig.answer(child, &disconnect, json!({}));
        rig.closes(child);
    }
    rig.finish(tess, root);
}

#[test]
fn js_debugs_own_order_at_the_end_is_that_of_one_engine() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (child, _) = rig.js_child(tess, root, "t.js");
    rig.heard(tess);
    rig.tell(child, "thread", json!({"reason": "exited", "threadId": 0}));
    rig.tell(child, "terminated", json!({}));
    rig.tell(root, "terminated", json!({"restart": false}));
    assert_eq!(rig.names(tess), ["thread", "terminated"]);
    rig.request(tess, "disconnect", json!({}));
    rig.both_let_go(child, root);
}

#[test]
fn a_code_in_a_coordinating_roots_output_is_the_sessions_and_one_that_a_program_prints_is_not() {
    for (says, goes_first) in [(true, true), (true, false), (false, true)] {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        let (child, _) = rig.js_child(tess, root, "t.js");
        rig.heard(tess);
        rig.tell(child, "output", json!({"category": "stdout", "output": "Process exited with code 3\n"}));
        if says {
            rig.tell(
                root,
                "output",
                json!({"category": "stderr", "output": "Process exited with code 7\r\n"}),
            );
        }
        rig.heard(tess);
        for node in if goes_first { [child, root] } else { [root, child] } {
            rig.tell(node, "terminated", json!({}));
        }
        let heard = rig.heard(tess);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        match says {
            true => {
                assert_eq!(names, ["thread", "exited", "terminated"]);
                assert_eq!(heard[1].json["body"]["exitCode"], 7);
            }
            false => assert_eq!(names, ["thread", "terminated"]),
        }
        let disconnect = rig.got(child, "disconnect");
        rig.answer(child, &disconnect, json!({}));
        rig.closes(child);
        rig.finish(tess, root);
    }
}

#[test]
fn a_root_that_goes_first_leaves_a_session_with_its_children() {
    for how in ["terminated", "closes", "crashes"] {
        let (mut rig, tess, root) = Rig::python(setup(), json!({}));
        rig.start_thread(tess, root, 1);
        let (child, thread) = rig.python_child(tess, root, 7);
        rig.stop_alone(root, 1, "breakpoint");
        rig.heard(tess);
        rig.tell(root, "exited", json!({"exitCode": 5}));
        match how {
            "terminated" => rig.tell(root, "terminated", json!({})),
            "closes" => rig.node_ended(root, "exit code 0", ""),
            _ => rig.node_ended(root, "signal 9", "killed"),
        }
        let names = rig.names(tess);
        let told: &[&str] = if how == "crashes" { &["output", "thread"] } else { &["thread"] };
        assert_eq!(names, told, "{how}");
        assert_eq!(rig.session.describe().state, "running", "{how}");
        rig.stop_alone(child, 1, "breakpoint");
        assert_eq!(rig.event(tess, "stopped")["body"]["threadId"], thread, "{how}");
        assert_eq!(rig.session.describe().state, "stopped", "{how}");
        rig.request(tess, "evaluate", json!({"expression": "1"}));
        rig.got(child, "evaluate");
        rig.heard(tess);
        rig.tell(child, "exited", json!({"exitCode": 6}));
        rig.closes(child);
        let heard = rig.heard(tess);
        let exited = heard.iter().find(|heard| heard.json["event"] == "exited");
        assert_eq!(exited.unwrap().json["body"]["exitCode"], 5, "{how}: the root's");
        assert_eq!(heard.last().unwrap().name(), "terminated", "{how}");
        let seq = rig.request(tess, "disconnect", json!({}));
        if how == "terminated" {
            let disconnect = rig.got(root, "disconnect");
            rig.answer(root, &disconnect, json!({}));
            rig.node_ended(root, "exit code 0", "");
        }
        assert_eq!(rig.response(tess, seq)["success"], true);
        rig.assert_over();
    }
}

#[test]
fn somebody_who_joins_after_the_root_went_finds_its_children() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, thread) = rig.python_child(tess, root, 7);
    rig.node_ended(root, "exit code 0", "");
    rig.stop_alone(child, 1, "breakpoint");
    let bob = rig.visitor("Bob", json!({}), json!({}));
    assert_eq!(rig.event(bob, "stopped")["body"]["threadId"], thread);
    assert!(!rig.names(bob).contains(&"terminated".to_owned()));
}

#[test]
fn children_are_asked_to_go_before_the_root_is() {
    for command in ["disconnect", "terminate"] {
        let (mut rig, tess, root) = Rig::python(setup(), json!({}));
        let (a, _) = rig.python_child(tess, root, 7);
        let (b, _) = rig.python_child(tess, a, 8);
        let seq = rig.request(tess, command, json!({}));
        assert!(rig.engine_names(root).is_empty());
        for child in [b, a] {
            let disconnect = rig.got(child, "disconnect");
            assert_eq!(disconnect["arguments"]["terminateDebuggee"], true);
            rig.answer(child, &disconnect, json!({}));
            assert_eq!(rig.stopped.last().unwrap().0, child);
        }
        let asked = rig.got(root, command);
        rig.answer(root, &asked, json!({}));
        rig.closes(a);
        rig.closes(b);
        rig.tell(root, "terminated", json!({}));
        if command == "terminate" {
            assert_eq!(rig.response(tess, seq)["success"], true);
            rig.finish(tess, root);
        } else {
            rig.node_ended(root, "exit code 0", "");
            rig.assert_over();
        }
    }
}

#[test]
fn a_child_that_does_not_answer_is_not_waited_for() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    rig.request(tess, "disconnect", json!({}));
    rig.got(child, "disconnect");
    rig.advance(5);
    assert_eq!(rig.stopped[0].0, child);
    let asked = rig.got(root, "disconnect");
    rig.answer(root, &asked, json!({}));
    rig.closes(child);
    rig.node_ended(root, "exit code 0", "");
    rig.assert_over();
}

#[test]
fn a_detached_program_keeps_its_children() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    rig.request(tess, "disconnect", json!({"terminateDebuggee": false}));
    let disconnect = rig.got(child, "disconnect");
    assert_eq!(disconnect["arguments"]["terminateDebuggee"], false);
    rig.answer(child, &disconnect, json!({}));
    assert_eq!(rig.got(root, "disconnect")["arguments"]["terminateDebuggee"], false);
}

#[test]
fn a_kill_and_a_shutdown_end_the_whole_tree() {
    for kill in [false, true] {
        let (mut rig, _, root) = Rig::python(setup(), json!({}));
        let (child, _) = rig.announce_python(root, 7);
        rig.child_runs(child);
        let (coming, _) = rig.announce_python(root, 8);
        let reason = "because".to_owned();
        rig.on(if kill { Input::Killed { reason } } else { Input::Shutdown { reason } });
        assert_eq!(rig.stopped[0].0, coming, "nobody waits for one that is not there yet");
        rig.node_failed(coming, "called off");
        let disconnect = rig.got(child, "disconnect");
        rig.answer(child, &disconnect, json!({}));
        let disconnect = rig.got(root, "disconnect");
        rig.answer(root, &disconnect, json!({}));
        rig.closes(child);
        rig.node_ended(root, "exit code 0", "");
        rig.assert_over();
    }
}

#[test]
fn a_restart_ends_all_children_and_renews_the_root() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    rig.start_thread(tess, root, 1);
    let (child, thread) = rig.python_child(tess, root, 7);
    rig.stop_alone(child, 1, "breakpoint");
    rig.heard(tess);
    let seq = rig.request(tess, "restart", json!({}));
    let stopped: Vec<_> = rig.stopped.iter().map(|(node, ..)| *node).collect();
    assert_eq!(stopped, [child, root]);
    let gone: Vec<_> = rig.heard(tess).iter().map(|heard| heard.json["body"]["threadId"].as_i64()).collect();
    assert!(gone.contains(&Some(thread)) && gone.contains(&Some(1)), "{gone:?}");
    rig.stop_alone(child, 1, "breakpoint");
    assert!(rig.names(tess).is_empty(), "the old child has nothing to say any more");
    rig.node_ended(root, "exit code 0", "");
    rig.closes(child);
    let new = rig.started.last().unwrap().0;
    rig.node_up(new);
    let initialize = rig.got(new, "initialize");
    rig.answer(new, &initialize, super::super::rig::capabilities());
    rig.tell(new, "initialized", json!({}));
    let launch = rig.got(new, "launch");
    rig.answer(new, &launch, json!({}));
    assert_eq!(rig.response(tess, seq)["success"], true);
    for heard in rig.engine_heard(new) {
        rig.answer(new, &heard.json, json!({}));
    }
    let (child, _) = rig.python_child(tess, new, 9);
    assert_eq!(rig.session.describe().nodes, 2);
    rig.closes(child);
    rig.finish(tess, new);
}

#[test]
fn children_that_came_and_went_leave_nothing_behind() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    for pid in 0..200 {
        let (child, thread) = rig.python_child(tess, root, pid);
        rig.stop_alone(child, 1, "breakpoint");
        let seq = rig.request(tess, "stackTrace", json!({"threadId": thread}));
        rig.closes(child);
        rig.refusal(tess, seq);
        rig.heard(tess);
    }
    let description = rig.session.describe();
    assert_eq!((description.nodes, description.tree.len()), (1, 1));
    rig.finish(tess, root);
}

#[test]
fn what_a_child_started_lives_on_when_the_child_ends() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let (grandchild, thread) = rig.python_child(tess, child, 8);
    rig.closes(child);
    rig.heard(tess);
    let tree = rig.session.describe().tree;
    assert_eq!(tree[1].parent, Some(root.0));
    rig.stop_alone(grandchild, 1, "breakpoint");
    assert_eq!(rig.event(tess, "stopped")["body"]["threadId"], thread);
}

#[test]
fn a_session_that_nobody_is_in_any_more_ends_with_its_children() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    rig.lose(tess);
    let disconnect = rig.got(child, "disconnect");
    rig.answer(child, &disconnect, json!({}));
    rig.closes(child);
    let disconnect = rig.got(root, "disconnect");
    rig.answer(root, &disconnect, json!({}));
    rig.node_ended(root, "exit code 0", "");
    assert!(rig.session.is_over());
}
