//! Launches that fail, in every way that adapters have: the client hears why, everything it asked is answered, it is told
//! that nothing runs, and the engine hears of nothing more but its end.

use serde_json::json;

use crate::rig::{Rig, capabilities};

/// When the engine says `initialized`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announced {
    Never,
    Before,
    /// Behind the failed answer, when nobody needs it any more.
    After,
}

/// How far the client has come when the launch fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Waits,
    /// Its breakpoints wait for an answer.
    SetsBreakpoints,
    IsConfigured,
}

/// How the answer names its command.
const COMMANDS: [Option<&str>; 4] = [Some("launch"), Some(""), None, Some("attach")];

#[test]
fn every_kind_of_failed_launch_ends_with_the_reason_and_without_another_word_to_the_engine() {
    for announced in [Announced::Never, Announced::Before, Announced::After] {
        for client in [Client::Waits, Client::SetsBreakpoints, Client::IsConfigured] {
            for command in COMMANDS {
                println!("{announced:?} {client:?} {command:?}");
                fails(announced, client, command);
            }
        }
    }
}

fn fails(announced: Announced, progress: Client, command: Option<&str>) {
    let (mut rig, client, node) = Rig::initialized();
    let launch = rig.request(client, "launch", json!({"program": "x"}));
    let asked = rig.got(node, "launch");
    if announced == Announced::Before {
        rig.tell(node, "initialized", json!({}));
    }
    let mut open = Vec::new();
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
    if progress != Client::Waits {
        open.push(rig.request(client, "setBreakpoints", list.clone()));
        open.push(rig.request(client, "setExceptionBreakpoints", json!({"filters": []})));
    }
    if progress == Client::IsConfigured {
        open.push(rig.request(client, "configurationDone", json!({})));
    }
    // The engine leaves unread what comes behind the launch.
    rig.engine_heard(node);
    let mut answer = json!({"seq": 0, "type": "response", "request_seq": asked["seq"], "success": false, "message": "no such program"});
    if let Some(command) = command {
        answer["command"] = command.into();
    }
    rig.engine(node, answer.to_string());
    if announced == Announced::After {
        rig.tell(node, "initialized", json!({}));
    }
    let failed = rig.response(client, launch);
    assert_eq!((&failed["success"], &failed["command"]), (&json!(false), &json!("launch")));
    assert_eq!(failed["message"], "no such program");
    for seq in open {
        let (_, text) = rig.refusal(client, seq);
        assert!(text.contains("the launch failed") && text.contains("no such program"), "{text}");
    }
    rig.event(client, "terminated");
    for (command, arguments) in [
        ("setBreakpoints", list),
        ("setExceptionBreakpoints", json!({"filters": []})),
        ("configurationDone", json!({})),
        ("threads", json!({})),
        ("evaluate", json!({"expression": "1"})),
        ("launch", json!({"program": "x"})),
    ] {
        let seq = rig.request(client, command, arguments);
        let (_, text) = rig.refusal(client, seq);
        assert!(text.contains("the launch failed"), "{command}: {text}");
    }
    assert!(rig.engine_names(node).is_empty(), "delve panics on anything but `disconnect`");
    rig.finish(client, node);
}

#[test]
fn breakpoints_that_the_engine_has_not_read_when_the_launch_fails_never_reach_it() {
    let (mut rig, client, node) = Rig::initialized();
    rig.request(client, "launch", json!({"program": "x"}));
    let launch = rig.got(node, "launch");
    rig.tell(node, "initialized", json!({}));
    rig.stall_engine(node);
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
    let set = rig.request(client, "setBreakpoints", list);
    let done = rig.request(client, "configurationDone", json!({}));
    rig.fail(node, &launch, "no such program");
    rig.engine_reads_on(node);
    assert!(rig.engine_names(node).is_empty());
    assert!(rig.refusal(client, set).1.contains("no such program"));
    assert!(rig.refusal(client, done).1.contains("no such program"));
    rig.finish(client, node);
}

#[test]
fn an_engine_that_dies_over_a_launch_fails_it_with_its_last_words() {
    let (mut rig, client, node) = Rig::initialized();
    let launch = rig.request(client, "launch", json!({"program": "x"}));
    rig.got(node, "launch");
    rig.node_ended(node, "signal 11 (SIGSEGV)", "panic: no module");
    let (_, text) = rig.refusal(client, launch);
    assert!(text.contains("SIGSEGV") && text.contains("no module"), "{text}");
    rig.event(client, "terminated");
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_hangs_over_a_launch_is_said_to_and_can_be_left() {
    let (mut rig, client, node) = Rig::initialized();
    let launch = rig.request(client, "launch", json!({"program": "x"}));
    rig.got(node, "launch");
    rig.advance(11);
    let said = rig.event(client, "output");
    assert!(said["body"]["output"].as_str().unwrap().contains("has not answered `launch`"));
    let disconnect = rig.request(client, "disconnect", json!({}));
    rig.advance(6);
    assert_eq!(rig.response(client, launch)["success"], false);
    assert_eq!(rig.response(client, disconnect)["success"], true);
    assert_eq!(rig.stopped.len(), 1);
    rig.node_ended(node, "signal 9 (SIGKILL)", "");
    rig.assert_over();
}

#[test]
fn whoever_waits_to_join_a_launch_that_fails_is_told_that_it_is_over() {
    let (mut rig, client, node) = Rig::initialized_with(capabilities(), json!({}));
    rig.request(client, "launch", json!({"program": "x"}));
    let launch = rig.got(node, "launch");
    let late = rig.join_late();
    rig.request(late, "initialize", json!({"adapterID": "python"}));
    rig.request(late, "attach", json!({}));
    rig.request(late, "configurationDone", json!({}));
    rig.fail(node, &launch, "no such program");
    rig.event(client, "terminated");
    rig.event(late, "terminated");
    rig.request(late, "disconnect", json!({}));
    rig.finish(client, node);
}
