//! A hub that does not answer, because it is stopped: what its clients and the registrar learn, and how the bridge ends.
//!
//! A hub that is killed is in `kills.rs`.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use breakroom_testkit::{Strict, wait};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::steps::failure;
use crate::support::bridging::{Bridging, TOKEN};
use crate::support::rig::{LONG, Rig, end, initialize, signal};

/// A hub that is stopped until `resume`.
struct StoppedHub {
    pid: i32,
    /// The file in which callers find the process number of the hub, and so see that it is stopped.
    mark: PathBuf,
}

impl StoppedHub {
    fn of(rig: &Rig, bridge: &Bridging) -> StoppedHub {
        let pid = rig.daemon();
        signal(pid, Signal::STOP);
        StoppedHub { pid, mark: bridge.socket.with_file_name("hub-1.running.lock") }
    }

    /// The same for callers that cannot see that the hub is stopped: they connect and wait for its answer.
    fn unseen(rig: &Rig, bridge: &Bridging) -> StoppedHub {
        let stopped = StoppedHub::of(rig, bridge);
        assert_eq!(fs::read_to_string(&stopped.mark).unwrap(), stopped.pid.to_string());
        fs::write(&stopped.mark, "").unwrap();
        stopped
    }

    fn resume(self) {
        fs::write(&self.mark, self.pid.to_string()).unwrap();
        signal(self.pid, Signal::CONT);
    }
}

/// A session whose client hears of the silent hub, and then a session that works.
fn assert_client_is_told(stop: fn(&Rig, &Bridging) -> StoppedHub, reason: &str) {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    rig.serves_another();
    let hub = stop(&rig, &bridge);
    let text = failure(bridge.client("s", &rig.fake(&[])));
    assert!(text.starts_with("Failed to launch debug adapter: the hub ") && text.contains(reason), "{text}");
    let line = bridge.line();
    assert_eq!((&line["session"], &line["state"]), (&json!("s"), &json!("error")), "{line}");
    assert!(line["error"].as_str().unwrap().contains(reason), "{line}");
    hub.resume();
    end(bridge.client("s", &rig.fake(&[])));
    assert_eq!(bridge.line(), json!({"session": "s", "state": "connected"}));
    assert_eq!(bridge.line(), json!({"session": "s", "state": "terminated"}));
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn client_of_a_hub_that_is_stopped_is_told_once_and_its_connection_ends() {
    assert_client_is_told(StoppedHub::of, "is stopped");
}

#[test]
fn client_handed_to_a_hub_that_does_not_answer_is_told_once_and_its_connection_ends() {
    assert_client_is_told(StoppedHub::unseen, "does not answer within 30 s");
}

#[test]
fn child_session_of_a_hub_that_is_stopped_is_refused_with_the_reason() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let mut client = bridge.client("s", &rig.fake(&[]));
    initialize(&mut client);
    assert_eq!(bridge.line()["state"], "connected");
    let hub = StoppedHub::of(&rig, &bridge);
    let (_, answer) = bridge.ask_for_child("s:0", TOKEN);
    assert_eq!(answer["success"], false);
    assert!(answer["error"].as_str().unwrap().contains("is stopped"), "{answer}");
    hub.resume();
    end(client);
    assert!(bridge.finish().success());
}

/// A bridge with a session that a client is in.
fn with_session(rig: &Rig) -> (Bridging, Strict) {
    let bridge = Bridging::start(rig, &["s"]);
    let mut client = bridge.client("s", &rig.fake(&[]));
    initialize(&mut client);
    assert_eq!(bridge.line(), json!({"session": "s", "state": "connected"}));
    (bridge, client)
}

#[test]
fn second_signal_ends_the_bridge_at_once_while_the_hub_is_stopped() {
    for (kind, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let rig = Rig::new();
        let (mut bridge, client) = with_session(&rig);
        // The bridge would wait 30 s for the end of the session.
        let hub = StoppedHub::unseen(&rig, &bridge);
        let pid = bridge.process.id().cast_signed();
        signal(pid, kind);
        let is_closed = || UnixStream::connect(&bridge.socket).is_err().then_some(());
        wait::until(LONG, is_closed).expect("the first signal closes the socket");
        signal(pid, kind);
        let status = wait::for_exit(&mut bridge.process, LONG).expect("the second signal ends the bridge");
        assert_eq!(status.code(), Some(code));
        assert!(!bridge.socket.exists());
        hub.resume();
        client.abandon();
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn session_that_the_hub_does_not_end_is_given_up_and_does_not_keep_the_bridge() {
    let rig = Rig::new();
    let (mut bridge, client) = with_session(&rig);
    let hub = StoppedHub::of(&rig, &bridge);
    bridge.say(&json!({"end": "s"}));
    assert_eq!(bridge.line(), json!({"ended": "s"}));
    let line: Value = bridge.line();
    assert_eq!(line["state"], "error", "{line}");
    let error = line["error"].as_str().unwrap();
    assert!(error.starts_with("the session could not be ended: the hub ") && error.contains("is stopped"));
    assert!(bridge.finish().success());
    hub.resume();
    // The hub has lost the bridge, and ends the session for that.
    client.abandon();
    rig.only_the_daemon_is_left();
}

#[test]
fn first_signal_ends_the_bridge_although_the_hub_is_stopped() {
    let rig = Rig::new();
    let (mut bridge, client) = with_session(&rig);
    let hub = StoppedHub::of(&rig, &bridge);
    signal(bridge.process.id().cast_signed(), Signal::TERM);
    let status = wait::for_exit(&mut bridge.process, LONG).expect("the bridge does not wait for ever");
    assert!(status.success());
    assert_eq!(bridge.line()["state"], "error");
    hub.resume();
    client.abandon();
    rig.only_the_daemon_is_left();
}
