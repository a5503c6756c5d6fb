//! Signals: the run session is stopped by DELETE, and nothing is waited for too long.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::rig::{Rig, SLACK};
use crate::support::scripted_ide::{Script, ScriptedIde, info};

fn body() -> Value {
    json!({"launch_configurations": [{"type": "python"}]})
}

fn terminated(exit_code: Option<u32>) -> Value {
    json!({"notification_type": "sessionTerminated", "session_id": "run-1", "exit_code": exit_code})
}

fn ide(change: impl FnOnce(&mut Script)) -> ScriptedIde {
    ScriptedIde::start(|script| {
        script.info = info(&["2025-10-01"]);
        change(script);
    })
}

#[test]
fn signal_deletes_the_run_session_and_its_exit_code_is_the_status() {
    for kind in [Signal::INT, Signal::TERM] {
        let rig = Rig::new();
        let ide = ide(|script| script.before_delete = vec![terminated(Some(9))]);
        let run = ide.run(&rig, &body());
        ide.started();
        ide.notify(&json!({"notification_type": "processRestarted", "session_id": "run-1"}));
        run.line();
        run.signal(kind);
        let delete = ide.call("delete");
        assert_eq!((delete.body, delete.version.as_deref()), (json!("run-1"), Some("2025-10-01")));
        let (status, lines, _) = run.finish();
        assert_eq!((status.code(), lines.len()), (Some(9), 1));
    }
}

#[test]
fn run_that_a_signal_stopped_without_an_exit_code_has_the_status_of_the_signal() {
    let rig = Rig::new();
    let ide = ide(|script| script.before_delete = vec![terminated(None)]);
    let run = ide.run(&rig, &body());
    ide.started();
    ide.notify(&json!({"notification_type": "processRestarted", "session_id": "run-1"}));
    run.line();
    run.signal(Signal::TERM);
    assert_eq!(run.finish().0.code(), Some(143));
}

#[test]
fn ide_that_does_not_report_the_end_is_waited_for_ten_seconds() {
    let rig = Rig::new();
    let ide = ide(|script| script.delete = 204);
    let run = ide.run(&rig, &body());
    ide.started();
    // The answer to PUT has been read when a notification is printed.
    ide.notify(&json!({"notification_type": "processRestarted", "session_id": "run-1"}));
    run.line();
    let at = Instant::now();
    run.signal(Signal::INT);
    ide.call("delete");
    let (status, _, stderr) = run.finish();
    assert_eq!(status.code(), Some(130));
    assert!(stderr.contains("within 10 s"), "{stderr}");
    let took = at.elapsed();
    assert!(took >= Duration::from_secs(10) && took < Duration::from_secs(10) + SLACK, "{took:?}");
}

#[test]
fn second_signal_leaves_at_once() {
    let rig = Rig::new();
    let ide = ide(|_| {});
    let mut run = ide.run(&rig, &body());
    ide.started();
    ide.notify(&json!({"notification_type": "processRestarted", "session_id": "run-1"}));
    run.line();
    run.signal(Signal::INT);
    ide.call("delete");
    // Signals within a second of the first are the same order.
    while run.is_running() {
        run.signal(Signal::INT);
        std::thread::park_timeout(Duration::from_millis(300));
    }
    let (status, _, stderr) = run.finish();
    assert_eq!((status.code(), &*stderr), (Some(130), ""));
}

#[test]
fn signal_before_the_answer_to_put_deletes_the_run_session_that_it_starts() {
    let rig = Rig::new();
    let ide = ide(|script| {
        script.holds_put = true;
        script.before_delete = vec![terminated(Some(0))];
    });
    let run = ide.run(&rig, &body());
    ide.started();
    run.signal(Signal::INT);
    ide.release_put();
    ide.call("delete");
    assert_eq!(run.finish().0.code(), Some(0));
}

#[test]
fn delete_that_is_refused_is_reported() {
    let rig = Rig::new();
    let ide = ide(|script| {
        script.delete = 500;
        script.before_delete = vec![terminated(Some(0))];
    });
    let run = ide.run(&rig, &body());
    ide.started();
    ide.notify(&json!({"notification_type": "processRestarted", "session_id": "run-1"}));
    run.line();
    run.signal(Signal::TERM);
    let (status, _, stderr) = run.finish();
    assert!(status.success() && stderr.contains("DELETE /run_session/run-1"), "{stderr}");
}

#[test]
fn signal_before_the_ide_answers_anything_ends_the_run() {
    let rig = Rig::new();
    let ide = ide(|_| {});
    let silent = std::net::TcpListener::bind("localhost:0").unwrap();
    let run = ide.run_with(&rig, &body(), |command| {
        command.env("DEBUG_SESSION_PORT", silent.local_addr().unwrap().port().to_string());
    });
    let _connection = silent.accept().unwrap();
    run.signal(Signal::INT);
    assert_eq!(run.finish().0.code(), Some(130));
}
