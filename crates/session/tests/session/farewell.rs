//! The last words of a program: `exited` and then `terminated`, each once, whatever the engine says in which order.

use breakroom_session::{ClientId, EngineFacts, ExitWord, NodeId};
use serde_json::json;

use crate::engines::facts_of;
use crate::rig::{Rig, capabilities};

fn running(facts: EngineFacts) -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up_with(node, facts);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.start(client, node, "launch");
    (rig, client, node)
}

fn plain() -> EngineFacts {
    facts_of("perl")
}

#[test]
fn an_exit_code_that_comes_behind_the_end_is_told_before_it() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({"x": 1}));
    assert!(rig.names(client).is_empty());
    rig.tell(node, "thread", json!({"reason": "exited", "threadId": 1}));
    rig.tell(node, "exited", json!({"exitCode": 3}));
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["thread", "exited", "terminated"]);
    assert_eq!(heard[2].json["body"], json!({"x": 1}), "in the engine's own words");
    rig.finish(client, node);
}

#[test]
fn an_end_without_an_exit_code_waits_a_second_and_no_longer() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({}));
    assert!(rig.names(client).is_empty());
    rig.advance(1);
    assert_eq!(rig.names(client), ["terminated"]);
    rig.tell(node, "exited", json!({"exitCode": 3}));
    assert!(rig.names(client).is_empty(), "too late to be legal");
    rig.finish(client, node);
}

#[test]
fn an_end_without_an_exit_code_is_told_when_the_engine_is_gone() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({"x": 1}));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(rig.event(client, "terminated")["body"], json!({"x": 1}));
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_never_tells_an_exit_code_is_not_waited_for() {
    let (mut rig, client, node) = running(facts_of("js-debug-child"));
    rig.tell(node, "terminated", json!({}));
    assert_eq!(rig.names(client), ["terminated"]);
    rig.finish(client, node);
}

#[test]
fn everything_is_said_once_and_behind_it_nothing_of_a_program_that_is_over() {
    let (mut rig, client, node) = running(plain());
    for event in ["exited", "exited", "terminated", "terminated", "exited"] {
        rig.tell(node, event, json!({"exitCode": 3}));
    }
    assert_eq!(rig.names(client), ["exited", "terminated"]);
    for event in ["debugpySockets", "stopped", "continued", "module", "output"] {
        rig.tell(node, event, json!({"threadId": 1, "output": "x"}));
    }
    assert_eq!(rig.names(client), ["debugpySockets", "output"]);
    rig.finish(client, node);
}

#[test]
fn an_engine_that_is_the_program_ends_with_its_exit_code() {
    for (says, code) in [(false, 0), (false, 3), (true, 3)] {
        let (mut rig, client, node) = running(facts_of("rdbg-1.4"));
        if says {
            rig.tell(node, "terminated", json!({}));
        }
        rig.node_ended(node, &format!("exit code {code}"), "DEBUGGER: Disconnected.");
        let heard = rig.heard(client);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        assert_eq!(names, ["exited", "terminated"], "a program may end with {code}");
        assert_eq!(heard[0].json["body"]["exitCode"], code);
        rig.request(client, "disconnect", json!({}));
        rig.assert_over();
    }
    let (mut rig, client, node) = running(facts_of("rdbg-1.4"));
    rig.node_ended(node, "signal 11 (SIGSEGV)", "oops");
    assert_eq!(rig.names(client), ["output", "terminated"], "a crash has no code, and is said to be one");
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_tells_the_code_when_it_is_let_go_is_let_go_first() {
    let (mut rig, client, node) = running(facts_of("dlv-1.20"));
    rig.tell(node, "terminated", json!({}));
    assert!(rig.names(client).is_empty());
    let disconnect = rig.got(node, "disconnect");
    rig.tell(
        node,
        "output",
        json!({"category": "console", "output": "Process 7 has exited with status 3\n"}),
    );
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["output", "exited", "terminated"]);
    assert_eq!(heard[1].json["body"]["exitCode"], 3);
    // The client has yet to say so, and the engine is gone by then.
    rig.answer(node, &disconnect, json!({}));
    rig.tell(node, "terminated", json!({}));
    rig.node_ended(node, "exit code 0", "");
    let seq = rig.request(client, "disconnect", json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.assert_over();
}

#[test]
fn a_code_in_the_output_is_told_when_the_program_is_over() {
    let (mut rig, client, node) = running(facts_of("cdt-gdb13-c"));
    let line = |text: &str| json!({"category": "stdout", "output": text});
    rig.tell(node, "output", line("[Inferior 1 (process 7) exited normally]\n"));
    assert_eq!(rig.names(client), ["output"], "the program may have written that");
    rig.tell(node, "output", line("[Inferior 1 (process 7) exited with code 013]\n"));
    rig.tell(node, "terminated", json!({}));
    rig.event(client, "output");
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["exited", "terminated"]);
    assert_eq!(heard[0].json["body"]["exitCode"], 11);
    rig.finish(client, node);
}

#[test]
fn one_who_joins_after_the_end_is_told_it_in_the_same_order() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({}));
    rig.tell(node, "exited", json!({"exitCode": 3}));
    let late = rig.join_late();
    rig.request(late, "initialize", json!({"adapterID": "python"}));
    rig.request(late, "attach", json!({}));
    rig.request(late, "configurationDone", json!({}));
    let names = rig.names(late);
    assert!(names.ends_with(&["exited".into(), "terminated".into()]), "{names:?}");
    rig.request(late, "disconnect", json!({}));
    rig.finish(client, node);
}

#[test]
fn by_default_an_exit_code_is_waited_for() {
    assert_eq!(EngineFacts::default().exit, ExitWord::Event);
}
