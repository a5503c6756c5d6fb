//! The orchestrator's side: registering and ending sessions, states, signals, and when the bridge itself ends.

use breakroom_testkit::wait;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::bridging::{Bridging, TOKEN, request};
use crate::support::rig::{LONG, Rig, end, initialize, signal};

#[test]
fn r67_r70_sessions_are_registered_and_ended_at_run_time() {
    let rig = Rig::new();
    let mut bridge = Bridging::start(&rig, &[]);
    let file = rig.sandbox.work().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let register = json!({"register": "late", "token_file": file});
    bridge.say(&register);
    let created = json!({"session": "late", "state": "created"});
    assert_eq!(bridge.answer_and_change(), [json!({"registered": "late"}), created]);
    bridge.say(&register);
    assert!(bridge.line()["error"].as_str().unwrap().contains("registered already"));
    for (line, part) in [
        (json!({"register": "x", "token_file": "/no/such/file"}), "/no/such/file"),
        (json!({"end": "x"}), "not found"),
        (json!({"what": 1}), "is not a command"),
    ] {
        bridge.say(&line);
        let answer = bridge.line();
        assert!(answer["error"].as_str().unwrap().contains(part), "{answer}");
    }
    let mut client = bridge.client("late", &rig.fake(&[]));
    initialize(&mut client);
    assert_eq!(bridge.line()["state"], "connected");
    bridge.say(&json!({"end": "late"}));
    let output = client.event("output")["body"]["output"].clone();
    assert!(output.as_str().unwrap().contains("ended by the orchestrator (breakroom bridge)"), "{output}");
    client.event("terminated");
    client.closed();
    client.finish();
    let terminated = json!({"session": "late", "state": "terminated"});
    assert_eq!(bridge.answer_and_change(), [json!({"ended": "late"}), terminated]);
    let (_, answer) = bridge.handshake(&request("late", &rig.fake(&[])));
    assert_eq!(answer["error"], "bridge session not found");
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn bridge_without_live_sessions_ends_with_its_input() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["never-connected"]);
    assert!(bridge.finish().success());
}

#[test]
fn bridge_whose_input_ended_stays_until_its_last_session_ends() {
    let rig = Rig::new();
    let mut bridge = Bridging::start(&rig, &["s"]);
    let mut client = bridge.client("s", &rig.fake(&[]));
    initialize(&mut client);
    bridge.close_stdin();
    client.call("threads", Value::Null);
    end(client);
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn bridge_without_a_registrar_runs_until_a_signal_and_ends_its_sessions() {
    for kind in [Signal::TERM, Signal::INT] {
        let rig = Rig::new();
        let mut bridge = Bridging::start_with(&rig, &["s"], &[], |command| {
            command.stdin(std::process::Stdio::null());
        });
        let mut client = bridge.client("s", &rig.fake(&[]));
        initialize(&mut client);
        signal(bridge.process.id().cast_signed(), kind);
        client.event("output");
        client.event("terminated");
        client.finish();
        let status = wait::for_exit(&mut bridge.process, LONG).expect("the bridge ends after its sessions");
        assert!(status.success());
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn bridged_session_is_listed_with_its_ids_and_can_be_joined() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["service-1"]);
    let mut client = bridge.client("service-1", &rig.fake(&[]));
    initialize(&mut client);
    let launch = client.request("launch", json!({"program": "x", "name": "the service"}));
    client.event("initialized");
    client.response(launch);
    client.call("configurationDone", Value::Null);
    let listed = rig.sandbox.command(["ls", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed[0]["labels"], json!({"session": "service-1", "run": "run-1"}));
    let mut joiner = rig.sandbox.client(["dap", "--session", listed[0]["id"].as_str().unwrap()]);
    initialize(&mut joiner);
    let attach = joiner.request("attach", json!({}));
    joiner.event("initialized");
    joiner.call("configurationDone", Value::Null);
    joiner.response(attach);
    joiner.call("threads", Value::Null);
    end(joiner);
    end(client);
    assert!(bridge.finish().success());
}

#[test]
fn missing_token_is_refused_with_what_to_do() {
    let rig = Rig::new();
    let refused = rig.sandbox.command(["bridge", "--session", "s"]).output().unwrap();
    assert!(!refused.status.success());
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("--token-file") && text.contains("DEBUG_SESSION_TOKEN"), "{text}");
}
