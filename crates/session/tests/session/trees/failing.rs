//! Children that something goes wrong with after they were configured and before they run.

use breakroom_session::EngineFacts;
use serde_json::json;

use super::super::rig::{Rig, setup};
use super::members::{member, runs};

/// What the client was shown since it was last asked.
fn shown(rig: &mut Rig, tess: breakroom_session::ClientId) -> String {
    rig.heard(tess)
        .iter()
        .filter_map(|heard| heard.json["body"]["output"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn a_member_that_dies_before_its_launch_is_answered_was_never_opened() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child =
        member(&mut rig, root, "launch", json!({"name": "api", "type": "go"}), EngineFacts::default());
    rig.got(child, "launch");
    rig.tell(child, "initialized", json!({}));
    let done = rig.got(child, "configurationDone");
    rig.answer(child, &done, json!({}));
    shown(&mut rig, tess);
    rig.node_ended(child, "exit code 1", "no such program: x");
    let said = shown(&mut rig, tess);
    assert!(said.contains("failed to open child session api"), "{said}");
    assert!(said.contains("no such program: x"), "{said}");
}

#[test]
fn a_member_that_runs_and_dies_has_ended() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child =
        member(&mut rig, root, "launch", json!({"name": "api", "type": "go"}), EngineFacts::default());
    runs(&mut rig, child);
    shown(&mut rig, tess);
    rig.node_ended(child, "exit code 1", "oh no");
    let said = shown(&mut rig, tess);
    assert!(said.contains("api:") && said.contains("oh no") && !said.contains("failed to open"), "{said}");
}

#[test]
fn a_member_whose_program_is_over_before_its_launch_is_answered_has_run() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child =
        member(&mut rig, root, "launch", json!({"name": "api", "type": "go"}), EngineFacts::default());
    rig.tell(child, "initialized", json!({}));
    let done = rig.got(child, "configurationDone");
    rig.answer(child, &done, json!({}));
    rig.tell(child, "exited", json!({"exitCode": 0}));
    rig.tell(child, "terminated", json!({}));
    rig.closes(child);
    let said = shown(&mut rig, tess);
    assert!(!said.contains("failed to open"), "{said}");
}

#[test]
fn a_member_whose_launch_is_not_answered_is_told_of() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let facts = EngineFacts { name: "delve".into(), ..EngineFacts::default() };
    let child = member(&mut rig, root, "launch", json!({"name": "api", "type": "go"}), facts);
    rig.got(child, "launch");
    rig.tell(child, "initialized", json!({}));
    let done = rig.got(child, "configurationDone");
    rig.answer(child, &done, json!({}));
    shown(&mut rig, tess);
    rig.advance(11);
    let said = shown(&mut rig, tess);
    assert!(said.contains("api: delve has not answered `launch` for 10 s"), "{said}");
    rig.advance(60);
    assert_eq!(shown(&mut rig, tess), "", "it is told once");
}

#[test]
fn a_root_that_dies_of_a_goodbye_leaves_no_answer_of_its_children_owed() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, thread) = rig.python_child(tess, root, 7);
    rig.stop_alone(child, 1, "breakpoint");
    let asked = rig.request(tess, "stackTrace", json!({"threadId": thread}));
    rig.got(child, "stackTrace");
    let goodbye = rig.request(tess, "disconnect", json!({}));
    rig.node_ended(root, "signal 11", "");
    rig.refusal(tess, asked);
    assert_eq!(rig.response(tess, goodbye)["success"], true);
    assert!(rig.closed(tess).is_some());
}
