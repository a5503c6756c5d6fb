//! An agent and an editor in one tree: each steps another process, and each sees what the other does.

use breakroom_testkit::fixtures::family;
use serde_json::json;

use crate::support::agents::{desk, ended, leave, patiently, says, start, value_in};
use crate::support::editor::Hub;
use crate::support::family::Viewer;

#[test]
fn an_agent_and_an_editor_step_two_processes_of_one_tree() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let breakpoints = json!([
        {"file": family("worker.js"), "text": "mark: worker"},
        {"file": family("forked.js"), "text": "mark: forked"},
    ]);
    let program =
        json!({"program": family("main.js"), "args": ["worker", "fork"], "breakpoints": breakpoints});
    let first = start(&agent, program);
    let second = patiently(&agent, "debugger_wait", json!({"after_epoch": first.data["epoch"]}));
    let door = ["--session".to_owned(), first.session()];
    let door: Vec<&str> = door.iter().map(String::as_str).collect();
    let mut editor = Viewer::at(&desk, Hub::Shared, &door, json!({"clientName": "Editor"}));
    editor.attach(json!({}));
    let stops = editor.stops(2);
    let theirs = stops.iter().find(|stop| first.data["thread_id"] == stop.thread).unwrap();
    let ours = second.data["thread_id"].clone();

    // The editor steps the one, the agent the other, at the same time.
    let steps = agent.begin("debugger_step", json!({"thread_id": ours, "wait_ms": 45_000}));
    let stepped = editor.step(theirs);
    let told = agent.reply(steps);
    assert_eq!((&told.data["thread_id"], &told.data["reason"]), (&ours, &json!("step")), "{}", told.text);
    editor.stop_of(ours.as_i64().unwrap());
    for thread in [&json!(stepped.thread), &ours] {
        assert_eq!(value_in(&agent, json!({"expression": "steps", "thread_id": thread})), "1");
    }
    // The editor's step is a stop that the agent has not seen; it waits in line.
    let seen = patiently(&agent, "debugger_wait", json!({}));
    assert_eq!(seen.data["thread_id"], stepped.thread, "{}", seen.text);
    says(&agent.ok("debugger_get_session", json!({})), &["MultiSessionParent", "Editor"]);

    ended(&patiently(&agent, "debugger_continue", json!({"all": true})), 0);
    editor.terminated();
    leave(desk, agent);
}
