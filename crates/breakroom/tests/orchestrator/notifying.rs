//! The WebSocket: what is printed, when it is opened, and how it is kept open.

use axum::extract::ws::{CloseFrame, Message};
use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::rig::{LONG, Rig};
use crate::support::scripted_ide::{Order, PREFIX, ScriptedIde, info};

fn body() -> Value {
    json!({"launch_configurations": [{"type": "python"}]})
}

fn about(session: &str, kind: &str, members: &Value) -> Value {
    let mut notification = json!({"notification_type": kind, "session_id": session});
    notification.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    notification
}

fn log(text: &str) -> Value {
    about("run-1", "serviceLogs", &json!({"is_std_err": false, "log_message": text}))
}

fn terminated() -> Value {
    about("run-1", "sessionTerminated", &json!({"exit_code": 0}))
}

/// An IDE without a bridge, which these tests do not need.
fn ide() -> ScriptedIde {
    ScriptedIde::start(|script| script.info = info(&["2025-10-01"]))
}

#[test]
fn r5_notifications_of_the_run_are_printed_and_others_ignored() {
    let rig = Rig::new();
    let ide = ide();
    let run = ide.run(&rig, &body());
    ide.started();
    let shown = [
        about("run-1", "processRestarted", &json!({"pid": 7})),
        log("one\ntwo"),
        about("run-1", "sessionMessage", &json!({"level": "info", "message": "m", "details": null})),
        terminated(),
    ];
    ide.notify(&shown[0]);
    ide.notify(&about("run-1", "sessionMoved", &json!({"to": {}})));
    ide.notify(&about("run-2", "sessionTerminated", &json!({"exit_code": 9})));
    ide.order(Order::Send(Message::Binary(b"{}".to_vec().into())));
    shown[1..].iter().for_each(|notification| ide.notify(notification));
    let (status, mut lines, stderr) = run.finish();
    let mut shown = shown.to_vec();
    shown[2].as_object_mut().unwrap().remove("details");
    assert_eq!((status.code(), std::mem::take(&mut lines), &*stderr), (Some(0), shown, ""));
}

#[test]
fn notification_that_comes_before_the_answer_to_put_is_printed() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| {
        script.info = info(&["2025-10-01"]);
        script.before_put = vec![log("early"), terminated()];
    });
    let run = ide.run(&rig, &body());
    ide.started();
    let (status, lines, _) = run.finish();
    assert_eq!((status.code(), lines), (Some(0), vec![log("early"), terminated()]));
}

#[test]
fn r5_ping_of_the_ide_is_answered() {
    let rig = Rig::new();
    let ide = ide();
    let run = ide.run(&rig, &body());
    ide.started();
    ide.order(Order::Send(Message::Ping(b"x".to_vec().into())));
    ide.call("pong");
    ide.notify(&terminated());
    assert!(run.finish().0.success());
}

#[test]
fn r6_lost_web_socket_is_opened_again_with_the_same_instance() {
    let rig = Rig::new();
    let ide = ide();
    let run = ide.run(&rig, &body());
    ide.call("info");
    let first = ide.call("notify");
    ide.call("put");
    ide.notify(&log("before"));
    assert_eq!(run.line(), log("before"));
    let close = CloseFrame { code: 1001, reason: "going away".into() };
    for (loss, frame) in [(Order::Drop, None), (Order::Send(Message::Close(Some(close))), Some("close"))] {
        ide.order(loss);
        frame.map(|frame| ide.call(frame));
        let again = ide.call("notify");
        assert_eq!((&again.instance, &again.version), (&first.instance, &first.version));
        assert!(again.instance.starts_with(PREFIX));
        ide.notify(&log("after"));
        assert_eq!(run.line(), log("after"));
    }
    ide.notify(&terminated());
    let (status, _, stderr) = run.finish();
    assert!(status.success() && stderr.contains("connecting again"), "{stderr}");
}

#[test]
fn frame_that_is_no_notification_closes_the_web_socket_and_a_new_one_comes() {
    let rig = Rig::new();
    let ide = ide();
    let run = ide.run(&rig, &body());
    ide.started();
    for bad in ["{", r#"{"notification_type": "processRestarted", "session_id": ""}"#] {
        ide.order(Order::Send(Message::Text(bad.into())));
        ide.call("close");
        ide.call("notify");
    }
    ide.notify(&terminated());
    assert!(run.finish().0.success());
}

#[test]
fn silent_ide_is_connected_to_again() {
    let rig = Rig::new();
    let ide = ide();
    let run = ide.run_with(&rig, &body(), |command| {
        command.env("DCP_IDE_NOTIFICATION_KEEPALIVE_SECONDS", "1");
        command.env("DCP_IDE_NOTIFICATION_TIMEOUT_SECONDS", "3");
    });
    ide.started();
    ide.call("ping");
    ide.order(Order::Stall);
    ide.call("notify");
    ide.notify(&terminated());
    assert!(run.finish().0.success());
}

#[test]
fn ide_that_has_ended_is_not_waited_for_without_end() {
    let rig = Rig::new();
    let mut ide = ide();
    let run = ide.run(&rig, &body());
    ide.started();
    ide.stop();
    let (status, _, stderr) = run.finish();
    assert_eq!(status.code(), Some(1));
    assert!(stderr.contains("no IDE can be reached"), "{stderr}");
}

#[test]
fn oldest_version_is_not_pinged() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.info = info(&["2024-03-03"]));
    let run = ide.run_with(&rig, &body(), |command| {
        command.env("DCP_IDE_NOTIFICATION_KEEPALIVE_SECONDS", "1");
        command.env("DCP_IDE_NOTIFICATION_TIMEOUT_SECONDS", "1");
    });
    ide.started();
    // Longer than the timeout for silence.
    std::thread::park_timeout(std::time::Duration::from_secs(3));
    ide.notify(&terminated());
    let (status, _, stderr) = run.finish();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
}

#[test]
fn reader_of_stdout_that_is_gone_does_not_end_the_run() {
    let rig = Rig::new();
    let ide = ide();
    let file = rig.sandbox.work().join("run.json");
    std::fs::write(&file, body().to_string()).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = ide.command(&rig, ["bridge".into(), "run".into(), file]);
    let mut run = command.stdout(writer).spawn().unwrap();
    ide.started();
    ide.notify(&log("unread"));
    ide.notify(&log("unread"));
    ide.notify(&about("run-1", "sessionTerminated", &json!({"exit_code": 4})));
    let status = wait::for_exit(&mut run, LONG).expect("the run ends");
    assert_eq!(status.code(), Some(4));
}
