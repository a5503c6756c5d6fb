//! Run sessions that cannot be debugged, or not to their end: one message with the reason, then the end, then nothing.

use std::io::Write;
use std::os::unix::net::UnixStream;

use breakroom_ide_protocol::{Change, MessageLevel};
use breakroom_testkit::Rule;
use serde_json::json;

use crate::server::{Adapter, Bridge, Notifications, Server, bridged, framed};

/// The text of the error that is sent, with the end of the run and nothing behind it.
fn error(notifications: &mut Notifications<'_>, run: &str, expected: &str) -> String {
    let Change::SessionMessage { level, message, code, .. } = notifications.next(run) else {
        panic!("no message says what failed");
    };
    assert_eq!((level, code.as_deref()), (MessageLevel::Error, Some(expected)), "{message}");
    assert_eq!(notifications.next(run), Change::SessionTerminated { exit_code: None });
    notifications.expect_silence();
    message
}

/// What is reported of a bridge that does `answer` when it has read the handshake.
fn report(answer: impl FnOnce(UnixStream)) -> String {
    let server = Server::start(&[], &[]);
    let mut notifications = server.listen();
    let bridge = Bridge::listen();
    let run = server.run(&bridged(&bridge));
    answer(bridge.accept().0);
    let message = error(&mut notifications, &run, "DebugSessionStartFailed");
    // The user sees it too.
    let line = server.line();
    assert!(line.starts_with(&format!("breakroom: {run} service.py: ")), "{line}");
    server.finish();
    message
}

#[test]
fn r24_r54_r95_refused_handshake_is_reported_in_the_bridges_words() {
    let refusal = framed(r#"{"success":false,"error":"invalid session token"}"#);
    let message = report(move |mut stream| stream.write_all(&refusal).unwrap());
    assert!(message.contains("invalid session token"), "{message}");
}

#[test]
fn r25_answer_that_is_too_large_or_missing_is_reported() {
    let message = report(|mut stream| stream.write_all(&65_537_u32.to_be_bytes()).unwrap());
    assert!(message.contains("65537 bytes"), "{message}");
    let message = report(drop);
    assert!(message.contains("closed the connection"), "{message}");
}

#[test]
fn r54_bridge_that_is_not_there_is_reported_with_its_socket() {
    let server = Server::start(&[], &[]);
    let mut notifications = server.listen();
    let bridge = Bridge::listen();
    let body = bridged(&bridge);
    let path = bridge.path.to_string_lossy().into_owned();
    drop(bridge);
    let run = server.run(&body);
    let message = error(&mut notifications, &run, "DebugSessionStartFailed");
    assert!(message.contains(&path), "{message}");
    server.finish();
}

#[test]
fn r55_adapter_that_cannot_be_started_is_reported_in_its_own_words() {
    let failure = "Failed to launch debug adapter: no such file\n";
    let message = report(|mut stream| {
        stream.write_all(&framed(r#"{"success":true}"#)).unwrap();
        let mut adapter = Adapter::new(stream);
        adapter.event("output", json!({"category": "stderr", "output": failure}));
        adapter.event("terminated", json!({}));
    });
    assert!(message.contains("no such file"), "{message}");
}

#[test]
fn r55_editor_hears_why_the_adapter_could_not_be_started() {
    let server = Server::start(&[], &[]);
    let bridge = Bridge::listen();
    server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    let mut editor = server.rig.sandbox.client(["dap", "--session"]);
    // A client that has sent nothing yet hears of a failed start, too.
    editor.tolerate(&[Rule::InitializeFirst]);
    // The answer depends on the adapter's.
    let asked = editor.request("initialize", json!({"adapterID": "x", "clientName": "the editor"}));
    server.lists("the editor");
    adapter.event(
        "output",
        json!({"category": "stderr", "output": "Failed to launch debug adapter: no such file\n"}),
    );
    adapter.event("terminated", json!({}));
    drop(adapter);
    editor.allow(&["output"]);
    editor.failure(asked);
    editor.output_containing("no such file");
    editor.event("terminated");
    editor.closed();
    editor.abandon();
    server.finish();
}

#[test]
fn r56_connection_that_drops_after_a_stop_is_reported_and_the_editor_hears_the_end() {
    let server = Server::start(&[], &[]);
    let mut notifications = server.listen();
    let bridge = Bridge::listen();
    let run = server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    adapter.start();
    let session = server.hub_session(&run);
    assert_eq!(notifications.next(&run), Change::ProcessRestarted { pid: Some(4711) });
    let mut editor = server.editor(&session);
    editor.allow(&["process", "output"]);
    editor.call("initialize", json!({"adapterID": "x"}));
    editor.call("attach", json!({}));
    editor.event("initialized");
    editor.call("configurationDone", json!({}));
    adapter.event("stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    editor.event("stopped");
    drop(adapter);
    editor.event("terminated");
    error(&mut notifications, &run, "DebugSessionLost");
    editor.abandon();
    server.finish();
}
