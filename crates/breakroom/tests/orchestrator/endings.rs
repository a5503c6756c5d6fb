//! The exit status, by how the run session ended.

use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::scripted_ide::{ScriptedIde, info};

/// Runs a session with these notifications. Gives the exit status and stderr.
fn ended(notifications: &[Value]) -> (Option<i32>, String) {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.info = info(&["2025-10-01"]));
    let run = ide.run(&rig, &json!({"launch_configurations": [{"type": "python"}]}));
    ide.started();
    for notification in notifications {
        let mut notification = notification.clone();
        notification["session_id"] = "run-1".into();
        ide.notify(&notification);
    }
    let (status, _, stderr) = run.finish();
    (status.code(), stderr)
}

#[test]
fn exit_code_of_the_service_is_the_exit_status() {
    for (code, status) in [(0_u32, 0), (3, 3), (u32::MAX, 255)] {
        let end = json!({"notification_type": "sessionTerminated", "exit_code": code});
        assert_eq!(ended(&[end]), (Some(status), String::new()));
    }
}

#[test]
fn service_that_ran_and_ended_without_an_exit_code_has_succeeded() {
    let started = json!({"notification_type": "processRestarted"});
    let end = json!({"notification_type": "sessionTerminated"});
    assert_eq!(ended(&[started, end]), (Some(0), String::new()));
}

#[test]
fn session_that_failed_is_a_failure_with_the_words_of_the_ide() {
    let message = json!({
        "notification_type": "sessionMessage", "level": "error", "code": "DebugSessionFailed", "message": "no adapter",
        "details": [{"code": "Spawn", "message": "no such file"}],
    });
    let end = json!({"notification_type": "sessionTerminated"});
    let (status, stderr) = ended(&[message, end]);
    assert_eq!(status, Some(1));
    assert_eq!(stderr, "breakroom: DebugSessionFailed: no adapter\n  Spawn: no such file\n");
}

#[test]
fn session_that_ended_before_it_started_is_a_failure() {
    let (status, stderr) = ended(&[json!({"notification_type": "sessionTerminated"})]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("before its service was started"), "{stderr}");
}
