//! The bridge of the run: which IDE gets one, and what is left of it.

use std::os::unix::net::UnixStream;

use breakroom_testkit::Strict;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::bridging::{Plain, TOKEN, receive, request, rest, send};
use crate::support::rig::{LONG, Rig, end, initialize};
use crate::support::scripted_ide::{Call, PREFIX, ScriptedIde, info};

fn body() -> Value {
    json!({"launch_configurations": [{"type": "python", "program_path": "/x.py"}], "args": ["a"], "later": {"b": 1}})
}

/// The IDE's handshake at the bridge that PUT named.
fn client(rig: &Rig, put: &Call, token: &str) -> (UnixStream, Value) {
    client_of(&rig.fake(&[]), put, token)
}

fn client_of(adapter: &Value, put: &Call, token: &str) -> (UnixStream, Value) {
    let stream = UnixStream::connect(put.body["debug_bridge_socket_path"].as_str().unwrap()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut handshake = request(put.body["debug_session_id"].as_str().unwrap(), adapter);
    handshake["token"] = token.into();
    send(&stream, handshake.to_string().as_bytes());
    let answer = receive(&stream).unwrap();
    stream.set_read_timeout(None).unwrap();
    (stream, answer)
}

fn terminated(exit_code: Option<u32>) -> Value {
    json!({"notification_type": "sessionTerminated", "session_id": "run-1", "exit_code": exit_code})
}

#[test]
fn r13_ide_without_the_bridge_version_gets_no_bridge_fields() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.info = info(&["2024-03-03", "2025-10-01", "2099-01-01"]));
    let run = ide.run(&rig, &body());
    let put = ide.started();
    assert_eq!(put.version.as_deref(), Some("2025-10-01"));
    assert_eq!(put.body, body());
    ide.notify(&terminated(Some(0)));
    assert!(run.finish().0.success());
    assert!(rig.daemon_now().is_none(), "no bridge, no hub");
}

#[test]
fn r13_ide_with_the_bridge_version_gets_both_fields_and_can_connect() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let run = ide.run(&rig, &body());
    let put = ide.started();
    assert_eq!(put.version.as_deref(), Some("2026-02-01"));
    let mut rest = put.body.clone();
    for field in ["debug_bridge_socket_path", "debug_session_id"] {
        assert!(rest.as_object_mut().unwrap().remove(field).unwrap().is_string());
    }
    assert_eq!(rest, body());
    let (_, refused) = client(&rig, &put, "wrong");
    assert_eq!(refused["error"], "invalid session token");
    let (stream, answer) = client(&rig, &put, TOKEN);
    assert_eq!(answer, json!({"success": true}));
    let mut client = Strict::unix(stream);
    initialize(&mut client);
    client.call("threads", Value::Null);
    end(client);
    ide.notify(&terminated(Some(7)));
    let (status, ..) = run.finish();
    assert_eq!(status.code(), Some(7));
    assert!(!std::path::Path::new(put.body["debug_bridge_socket_path"].as_str().unwrap()).exists());
    rig.only_the_daemon_is_left();
}

#[test]
fn r09_run_without_a_bridge_leaves_the_adapter_to_the_ide() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let run = ide.run_with(&rig, &body(), |command| {
        command.arg("--no-bridge");
    });
    let put = ide.started();
    assert_eq!((put.version.as_deref(), put.body), (Some("2026-02-01"), body()));
    ide.notify(&terminated(Some(0)));
    assert!(run.finish().0.success());
    assert!(rig.daemon_now().is_none(), "no bridge, no hub");
}

#[test]
fn r22_info_has_no_version_and_each_request_has_the_same_instance() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let run = ide.run(&rig, &body());
    let calls = [ide.call("info"), ide.call("notify"), ide.call("put")];
    let version = Some("2026-02-01".to_owned());
    assert_eq!(calls.each_ref().map(|call| &call.version), [&None, &version, &version]);
    assert!(calls.iter().all(|call| call.instance == calls[0].instance), "{calls:?}");
    let letters = calls[0].instance.strip_prefix(PREFIX).unwrap();
    assert!(letters.len() == 12 && letters.bytes().all(|letter| letter.is_ascii_lowercase()), "{letters}");
    assert_eq!(calls[2].content_type.as_deref(), Some("application/json"));
    ide.notify(&terminated(Some(0)));
    ide.call("close");
    assert!(run.finish().0.success());
}

#[test]
fn bridge_session_that_is_live_ends_with_the_run() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let run = ide.run(&rig, &body());
    let put = ide.started();
    let (stream, _) = client(&rig, &put, TOKEN);
    let mut client = Strict::unix(stream);
    initialize(&mut client);
    ide.notify(&terminated(Some(0)));
    client.event("output");
    client.event("terminated");
    client.finish();
    assert!(run.finish().0.success());
    rig.only_the_daemon_is_left();
}

#[test]
fn bridge_session_ends_with_a_second_signal_without_the_ide() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.holds_put = true);
    let mut run = ide.run(&rig, &body());
    let put = ide.started();
    let (stream, _) = client(&rig, &put, TOKEN);
    let mut client = Strict::unix(stream);
    initialize(&mut client);
    while run.is_running() {
        run.signal(Signal::INT);
        std::thread::park_timeout(std::time::Duration::from_millis(300));
    }
    client.event("output");
    client.event("terminated");
    client.finish();
    assert_eq!(run.finish().0.code(), Some(130));
    rig.only_the_daemon_is_left();
}

#[test]
fn bridge_session_whose_end_the_ide_does_not_report_ends_the_run() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let run = ide.run(&rig, &body());
    let put = ide.started();
    let (stream, _) = client(&rig, &put, TOKEN);
    let mut client = Strict::unix(stream);
    initialize(&mut client);
    end(client);
    let (status, _, stderr) = run.finish();
    assert_eq!(status.code(), Some(1));
    assert!(stderr.contains("the IDE has not reported"), "{stderr}");
    rig.only_the_daemon_is_left();
}

#[test]
fn bridge_session_of_an_ide_that_crashes_ends_with_the_run() {
    let rig = Rig::new();
    let mut ide = ScriptedIde::start(|_| {});
    let run = ide.run(&rig, &body());
    let put = ide.started();
    let (stream, _) = client(&rig, &put, TOKEN);
    let mut client = Plain::new(stream);
    client.call(1, "initialize");
    ide.stop();
    drop(client);
    assert_eq!(run.finish().0.code(), Some(1));
    rig.only_the_daemon_is_left();
}

#[test]
fn failure_of_the_adapter_is_on_stderr() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let run = ide.run(&rig, &body());
    let put = ide.started();
    let (stream, _) = client_of(&json!({"args": ["/no/such/adapter"]}), &put, TOKEN);
    assert!(String::from_utf8_lossy(&rest(&stream)).contains("terminated"));
    ide.notify(&terminated(None));
    let (status, _, stderr) = run.finish();
    assert_eq!(status.code(), Some(1));
    assert!(stderr.contains("/no/such/adapter"), "{stderr}");
}

#[test]
fn output_of_the_run_is_kept_under_its_id() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    let logs = rig.sandbox.work().join("logs");
    let run = ide.run_with(&rig, &body(), |command| {
        command.arg("--logs").arg(&logs);
    });
    let put = ide.started();
    let output =
        json!({"type": "event", "event": "output", "body": {"category": "stdout", "output": "one\n"}});
    let steps = [
        json!({"expect": "threads"}),
        json!({"send": output}),
        json!({"respond": "threads", "body": {"threads": []}}),
    ];
    let (stream, _) = client_of(&rig.fake(&steps), &put, TOKEN);
    let mut client = Strict::unix(stream);
    initialize(&mut client);
    let launch = client.request("launch", json!({"program": "x"}));
    client.event("initialized");
    client.response(launch);
    client.call("threads", Value::Null);
    client.output_containing("one");
    end(client);
    ide.notify(&terminated(Some(0)));
    assert!(run.finish().0.success());
    assert_eq!(std::fs::read_to_string(logs.join("run-1.out")).unwrap(), "one\n");
}
