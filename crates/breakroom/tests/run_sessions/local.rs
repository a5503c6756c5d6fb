//! Run sessions whose adapter is started by the hub, as in the older versions of the protocol.

use std::collections::BTreeMap;

use breakroom_ide_protocol::{Change, Notification};
use serde_json::{Value, json};

use crate::peer::Call;
use crate::server::{Server, service};

/// A program that prints on both streams and ends.
fn prints() -> Vec<Value> {
    let output = |category: &str, text: &str| json!({"send": {"type": "event", "event": "output", "body": {"category": category, "output": text}}});
    vec![
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"send": {"type": "event", "event": "process", "body": {"name": "x", "systemProcessId": 7}}}),
        output("stdout", "one\ntw"),
        output("stderr", "bad\n"),
        output("stdout", "o\nend"),
        json!({"send": {"type": "event", "event": "exited", "body": {"exitCode": 5}}}),
        json!({"send": {"type": "event", "event": "terminated", "body": {}}}),
    ]
}

fn line(is_std_err: bool, text: &str) -> Change {
    Change::ServiceLogs { is_std_err, log_message: text.to_owned() }
}

#[test]
fn r09_r11_r33_r96_output_of_a_service_is_sent_in_whole_lines() {
    let server = Server::start(&prints(), &[]);
    let mut notifications = server.listen();
    let call = Call::put(&server, &service().to_string()).path("/run_session?api-version=2025-10-01");
    let run = server.send(call).run();
    let changes: Vec<Change> = (0..6).map(|_| notifications.next(&run)).collect();
    let (logs, others): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| matches!(change, Change::ServiceLogs { .. }));
    assert_eq!(logs, [line(false, "one"), line(true, "bad"), line(false, "two"), line(false, "end")]);
    let started = Change::ProcessRestarted { pid: Some(7) };
    assert_eq!(others, [started, Change::SessionTerminated { exit_code: Some(5) }]);
    notifications.expect_silence();
    server.finish();
}

#[test]
fn wait_holds_a_service_until_an_editor_is_configured() {
    let server = Server::start(&prints(), &["--wait"]);
    let mut notifications = server.listen();
    let run = server.run(&service());
    let mut editor = server.editor(&server.hub_session(&run));
    editor.allow(&["process", "output", "exited", "terminated"]);
    editor.call("initialize", json!({"adapterID": "x"}));
    editor.call("attach", json!({}));
    editor.event("initialized");
    editor
        .call("setBreakpoints", json!({"source": {"path": "/srv/service.py"}, "breakpoints": [{"line": 1}]}));
    notifications.expect_silence();
    editor.call("configurationDone", json!({}));
    assert_eq!(notifications.next(&run), Change::ProcessRestarted { pid: Some(7) });
    editor.abandon();
    server.finish();
}

#[test]
fn fifty_services_run_at_once_and_each_is_reported_once() {
    let server = Server::start(&prints(), &[]);
    let mut notifications = server.listen();
    let runs: Vec<String> = (0..50).map(|_| server.run(&service())).collect();
    let mut ends: BTreeMap<String, usize> = runs.iter().map(|run| (run.clone(), 0)).collect();
    while ends.values().any(|count| *count == 0) {
        let Notification { session_id, change } = notifications.any();
        match change {
            Change::SessionTerminated { exit_code } => {
                assert_eq!(exit_code, Some(5));
                *ends.get_mut(&session_id).unwrap() += 1;
            }
            Change::SessionMessage { message, .. } => panic!("{message}"),
            _ => assert_eq!(ends[&session_id], 0, "nothing comes after the end"),
        }
    }
    notifications.expect_silence();
    assert!(ends.values().all(|count| *count == 1));
    server.finish();
}

#[test]
fn stop_while_a_service_is_held_ends_its_run() {
    let server = Server::start(&[], &["--wait"]);
    let mut notifications = server.listen();
    let run = server.run(&service());
    let mut editor = server.editor(&server.hub_session(&run));
    editor.allow(&["output", "terminated", "exited"]);
    editor.call("initialize", json!({"adapterID": "x"}));
    editor.call("attach", json!({}));
    editor.event("initialized");
    editor.call("disconnect", json!({"terminateDebuggee": true}));
    editor.abandon();
    assert_eq!(notifications.next(&run), Change::SessionTerminated { exit_code: None });
    notifications.expect_silence();
    server.finish();
}

#[test]
fn adapter_that_crashes_is_reported_with_the_end() {
    let mut steps = prints();
    steps.truncate(3);
    steps.push(json!({"exit": 3}));
    let server = Server::start(&steps, &[]);
    let mut notifications = server.listen();
    let run = server.run(&service());
    assert_eq!(notifications.next(&run), Change::ProcessRestarted { pid: Some(7) });
    loop {
        match notifications.next(&run) {
            Change::ServiceLogs { .. } => {}
            Change::SessionMessage { code, .. } => {
                break assert_eq!(code.as_deref(), Some("DebugSessionLost"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(notifications.next(&run), Change::SessionTerminated { exit_code: None });
    notifications.expect_silence();
    server.finish();
}
