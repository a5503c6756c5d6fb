//! The bridge of the run: which IDE gets one, and what is left of it.

use breakroom_testkit::Strict;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::os::unix::net::UnixStream;

use crate::support::bridging::{TOKEN, receive, request, send};
use crate::support::rig::{LONG, Rig, end, initialize};
use crate::support::scripted_ide::{Call, PREFIX, ScriptedIde, info};

fn body() -> Value {
    json!({"launch_configurations": [{"type": "python", "program_path": "/x.py"}], "args": ["a"], "later": {"b": 1}})
}

/// The IDE's handshake at the bridge that PUT named.
fn client(rig: &Rig, put: &Call, token: &str) -> (UnixStream, Value) {
    let stream = UnixStream::connect(put.body["debug_bridge_socket_path"].as_str().unwrap()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut handshake = request(put.body["debug_session_id"].as_str().unwrap(), &rig.fake(&[]));
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
