//! A launch that is called off while something runs for it: nothing of it is left, whoever called it off and how.

use breakroom_testkit::{Request, Strict, wait};
use serde_json::{Value, json};

use crate::Place;
use crate::support::editor::Hub;

const LAUNCH: &str =
    r#"{"configurations": [{"name": "slow", "type": "mine", "request": "launch", "preLaunchTask": "wait"}]}"#;
/// A task with a child of its own, which says when it runs.
const TASKS: &str =
    r#"{"tasks": [{"label": "wait", "type": "shell", "command": "sleep 1000 & echo waiting; wait"}]}"#;

/// A client whose launch waits for a task that does not end.
fn waiting(hub: Hub) -> (Place, Strict, Request) {
    let place = Place::new();
    place.adapter("mine", &[]);
    place.write(".vscode/launch.json", LAUNCH);
    place.write(".vscode/tasks.json", TASKS);
    assert!(place.breakroom(".", &["trust"], "").status.success());
    let mut client = place.editor(hub);
    client.allow(&["output", "capabilities"]);
    let launch = client.request("launch", json!({"breakroom": {"configuration": "slow"}}));
    client.event_where("output", |output| output["output"] == "waiting\n");
    (place, client, launch)
}

fn nothing_runs_but_the_hub(place: &Place) {
    let sleeping = || {
        let processes = place.desk.sandbox.census().processes();
        processes.into_iter().filter(|process| process.command_line.contains("sleep 1000")).count()
    };
    wait::until(wait::DEADLINE, || (sleeping() == 0).then_some(())).expect("the task is ended");
}

#[test]
fn a_client_that_leaves_ends_what_runs_for_it() {
    let (place, mut client, launch) = waiting(Hub::Shared);
    let leaving = client.request("disconnect", json!({}));
    client.failure(launch);
    client.response(leaving);
    client.finish();
    nothing_runs_but_the_hub(&place);
    assert!(!place.path("adapter.log").exists(), "no adapter was started");
    place.leave(Hub::Shared);
}

#[test]
fn a_cancelled_launch_can_be_followed_by_another() {
    let (place, mut client, launch) = waiting(Hub::Private);
    client.call("cancel", json!({"requestId": launch.seq}));
    client.failure(launch);
    nothing_runs_but_the_hub(&place);
    place.tell(&mut client, "launch", json!({"type": "mine", "program": "x"}));
    assert_eq!(place.launched(), json!({"type": "mine", "program": "x"}));
    place.part(client, Hub::Private);
}

#[test]
fn a_client_that_is_lost_ends_what_runs_for_it() {
    let (place, client, _) = waiting(Hub::Shared);
    client.abandon();
    nothing_runs_but_the_hub(&place);
    place.leave(Hub::Shared);
}

#[test]
fn ending_the_session_or_the_hub_ends_what_runs_for_a_launch() {
    let (place, mut client, launch) = waiting(Hub::Shared);
    let listed = || {
        let listed = place.breakroom(".", &["ls", "--json"], "");
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        (listed[0]["state"] != "busy").then_some(listed)
    };
    let listed = wait::until(wait::DEADLINE, listed).expect("no session is busy for so long");
    assert_eq!(listed[0]["state"], "starting", "{listed}");
    assert!(place.breakroom(".", &["kill", "--all"], "").status.success());
    client.failure(launch);
    client.event("terminated");
    client.closed();
    client.abandon();
    nothing_runs_but_the_hub(&place);
    place.leave(Hub::Shared);

    let (place, client, _) = waiting(Hub::Private);
    client.abandon();
    place.leave(Hub::Private);
}
