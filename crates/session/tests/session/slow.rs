//! A client that does not read while others do: what it is left to hear, and what never fails to reach it.

use breakroom_session::{ClientId, CloseReason, NodeId};
use serde_json::{Value, json};

use crate::rig::{Heard, Rig};

/// More than a client may be behind, in outputs of 100 kB.
const FLOOD: usize = 40;

/// Bob reads nothing, and Tess reads on.
fn behind(declared: Value) -> (Rig, ClientId, ClientId, NodeId) {
    let (mut rig, tess, bob, node) = Rig::shared_with(declared);
    rig.stall_client(bob);
    flood(&mut rig, node);
    (rig, tess, bob, node)
}

fn flood(rig: &mut Rig, node: NodeId) {
    let line = "x".repeat(100_000);
    for _ in 0..FLOOD {
        rig.tell(node, "output", json!({"category": "stdout", "output": line}));
    }
}

/// What Bob hears besides output once he reads on.
fn hears(rig: &mut Rig, bob: ClientId) -> Vec<(String, Value)> {
    rig.read_on(bob);
    let said = |heard: Heard| (heard.name(), heard.json["body"].clone());
    rig.heard(bob).into_iter().map(said).filter(|(name, _)| name != "output").collect()
}

fn names(heard: &[(String, Value)]) -> Vec<&str> {
    heard.iter().map(|(name, _)| &**name).collect()
}

#[test]
fn of_many_steps_a_client_that_is_behind_hears_that_it_ran_and_where_it_stands() {
    let (mut rig, tess, bob, node) = behind(json!({}));
    for line in 0..500 {
        rig.round_trip(tess, node, "next", json!({"threadId": 1}), json!({}));
        rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1, "line": line}));
    }
    assert_eq!(rig.names(tess).iter().filter(|name| *name == "stopped").count(), 500);
    let heard = hears(&mut rig, bob);
    assert_eq!(names(&heard), ["continued", "stopped"]);
    assert_eq!(heard[1].1["line"], 499);
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn a_client_that_is_behind_hears_once_that_the_program_runs() {
    let (mut rig, tess, bob, node) = behind(json!({}));
    for _ in 0..3 {
        rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({}));
        rig.stop(node, 1);
    }
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({}));
    assert_eq!(names(&hears(&mut rig, bob)), ["continued"]);
    rig.round_trip(tess, node, "pause", json!({"threadId": 1}), json!({}));
    rig.stop(node, 1);
    assert_eq!(rig.names(bob), ["stopped"], "and from there on what everybody hears");
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn threads_modules_and_sources_that_came_and_went_are_never_heard_of() {
    let (mut rig, tess, bob, node) = behind(json!({}));
    for id in 100..5100 {
        rig.tell(node, "thread", json!({"reason": "started", "threadId": id}));
        rig.tell(node, "module", json!({"reason": "new", "module": {"id": id, "name": "m"}}));
        rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": format!("/{id}")}}));
        rig.tell(node, "module", json!({"reason": "changed", "module": {"id": id, "name": "n"}}));
        if id < 5099 {
            rig.tell(node, "thread", json!({"reason": "exited", "threadId": id}));
            rig.tell(node, "module", json!({"reason": "removed", "module": {"id": id}}));
            rig.tell(
                node,
                "loadedSource",
                json!({"reason": "removed", "source": {"path": format!("/{id}")}}),
            );
        }
    }
    let heard = hears(&mut rig, bob);
    assert_eq!(names(&heard), ["thread", "loadedSource", "module"]);
    assert_eq!(heard[2].1, json!({"reason": "new", "module": {"id": 5099, "name": "n"}}));
    assert!(rig.names(tess).len() > 30_000, "the other one misses nothing");
    assert_eq!(rig.closed(bob), None);
}

#[test]
fn progress_memory_and_what_is_invalid_are_told_as_they_are_in_the_end() {
    let declared = json!({
        "supportsProgressReporting": true, "supportsInvalidatedEvent": true, "supportsMemoryEvent": true,
    });
    let (mut rig, tess, bob, node) = behind(declared);
    rig.request(bob, "evaluate", json!({"expression": "slow", "context": "watch"}));
    let request = rig.got(node, "evaluate")["seq"].clone();
    for id in ["done", "goes on"] {
        rig.tell(node, "progressStart", json!({"progressId": id, "title": "t", "requestId": request}));
        for percentage in 0..100 {
            rig.tell(node, "progressUpdate", json!({"progressId": id, "percentage": percentage}));
            rig.tell(node, "invalidated", json!({"areas": ["variables"]}));
            rig.tell(node, "memory", json!({"memoryReference": "0x1", "offset": 0, "count": 8}));
        }
    }
    rig.tell(node, "progressEnd", json!({"progressId": "done"}));
    let heard = hears(&mut rig, bob);
    assert_eq!(names(&heard), ["progressStart", "progressUpdate", "invalidated", "memory"]);
    assert_eq!(heard[0].1["progressId"], "goes on");
    assert!(heard[0].1["requestId"].is_number(), "it is the one who asked");
    assert_eq!(heard[1].1["percentage"], 99);
    rig.heard(tess);
}

#[test]
fn a_breakpoint_that_moved_often_is_told_where_it_is() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let id = rig.set_lines(bob, node, &[3])["body"]["breakpoints"][0]["id"].clone();
    rig.heard(bob);
    rig.stall_client(bob);
    flood(&mut rig, node);
    for line in 4..50 {
        let breakpoint = json!({"id": 103, "verified": true, "line": line});
        rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": breakpoint}));
    }
    let heard = hears(&mut rig, bob);
    assert_eq!(names(&heard), ["breakpoint"]);
    assert_eq!(heard[0].1["breakpoint"], json!({"id": id, "verified": true, "line": 49}));
    rig.heard(tess);
}

#[test]
fn answers_and_the_end_reach_a_client_that_is_behind() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.stall_client(bob);
    let asked: Vec<i64> = (0..50)
        .map(|number| rig.request(bob, "evaluate", json!({"expression": number, "context": "watch"})))
        .collect();
    flood(&mut rig, node);
    for _ in &asked {
        let request = rig.got(node, "evaluate");
        rig.answer(node, &request, json!({"result": "y".repeat(100_000), "variablesReference": 0}));
    }
    rig.tell(node, "terminated", json!({}));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(rig.names(tess).last().unwrap(), "terminated");
    let heard = hears(&mut rig, bob);
    assert_eq!(names(&heard).iter().filter(|name| **name == "+evaluate").count(), asked.len());
    assert_eq!(names(&heard).last(), Some(&"terminated"));
}

#[test]
fn what_can_not_be_left_out_ends_in_a_reason_when_it_is_too_much() {
    let (mut rig, tess, bob, node) = behind(json!({}));
    for _ in 0..700 {
        rig.tell(node, "x-vendor", json!({"text": "z".repeat(100_000)}));
    }
    rig.read_on(bob);
    let Some(CloseReason::Behind(reason)) = rig.closed(bob) else { panic!("it is still there") };
    assert!(reason.contains("64 MB behind"), "{reason}");
    assert_eq!(rig.names(tess).iter().filter(|name| *name == "x-vendor").count(), 700);
    rig.finish(tess, node);
}

#[test]
fn a_large_picture_is_shown_whole_to_whoever_joins() {
    let (mut rig, tess, node) = Rig::running();
    for id in 0..5000 {
        rig.tell(node, "module", json!({"reason": "new", "module": {"id": id, "name": "m"}}));
    }
    rig.tell(node, "output", json!({"category": "stdout", "output": "the last line"}));
    let bob = rig.bring("Bob", json!({}), json!({}));
    let heard = rig.heard(bob);
    assert_eq!(heard.iter().filter(|heard| heard.name() == "module").count(), 5000);
    assert!(heard.iter().any(|heard| heard.text().contains("the last line")));
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}
