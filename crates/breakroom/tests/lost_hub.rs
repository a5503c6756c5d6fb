//! A hub that runs and cannot be reached as usual: it is stopped, or its socket was removed.
//!
//! Hubs of other versions, and how a hub goes, are in `daemon.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod commands;
    pub mod rig;
}

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use breakroom_testkit::{Strict, wait};
use rustix::process::Signal;
use serde_json::Value;
use support::commands::{complaint, listed, only_id, run};
use support::rig::{LONG, Rig, SLACK, begin, end, signal};

/// A few seconds, in which a person still waits.
const FEW: Duration = Duration::from_secs(4);

fn socket(rig: &Rig) -> PathBuf {
    rig.sandbox.path("run").join("breakroom/hub-1.sock")
}

fn session(rig: &Rig) -> Strict {
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    client
}

/// Continues the hub also if the test fails, so that it can be ended.
struct Stopped(i32);

impl Stopped {
    fn stop(rig: &Rig) -> Stopped {
        let hub = Stopped(rig.daemon());
        signal(hub.0, Signal::STOP);
        hub
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal(self.0, Signal::CONT);
    }
}

/// Every command that needs the hub says in a few seconds which process does not answer, and what to do.
fn all_say_which_hub_is_stopped(rig: &Rig, hub: &Stopped) {
    let commands = [
        &["ls"][..],
        &["kill", "--all"],
        &["kill", "x"],
        &["log"],
        &["attach"],
        &["dap"],
        &["dap", "--session"],
    ];
    for command in commands {
        let began = Instant::now();
        let said = complaint(&run(rig, command));
        assert!(began.elapsed() < FEW + SLACK, "{command:?} took {:?}", began.elapsed());
        let pid = hub.0;
        assert!(said.contains(&format!("the hub (process {pid}) does not answer")), "{command:?}: {said}");
        assert!(said.contains(&format!("kill -CONT {pid}")), "{command:?}: {said}");
    }
}

#[test]
fn a_stopped_hub_is_named_by_every_command() {
    let rig = Rig::new();
    let mut client = session(&rig);
    let hub = Stopped::stop(&rig);
    all_say_which_hub_is_stopped(&rig, &hub);
    drop(hub);
    client.call("threads", Value::Null);
    assert_eq!(listed(&rig).len(), 1);
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_hub_whose_socket_was_removed_is_reached_by_all_and_stays_the_only_one() {
    let rig = Rig::new();
    let client = session(&rig);
    let (id, hub) = (only_id(&rig), rig.daemon());
    for _ in 0..3 {
        fs::remove_file(socket(&rig)).unwrap();
        assert_eq!(only_id(&rig), id);
        assert_eq!(fs::metadata(socket(&rig)).unwrap().mode() & 0o777, 0o600);
        fs::remove_file(socket(&rig)).unwrap();
        rig.serves_another();
        assert_eq!(rig.daemon(), hub);
    }
    // With the whole folder its mark is gone, too, so it is first waited for.
    fs::remove_dir_all(socket(&rig).parent().unwrap()).unwrap();
    wait::until(LONG, || socket(&rig).exists().then_some(())).expect("it makes its socket again");
    fs::remove_file(socket(&rig)).unwrap();
    assert_eq!(only_id(&rig), id);
    end(client);
    rig.only_the_daemon_is_left();
    rig.end_daemon();
    assert!(!socket(&rig).exists());
}

#[test]
fn a_stopped_hub_whose_socket_was_removed_is_named_and_no_second_one_starts() {
    let rig = Rig::new();
    let client = session(&rig);
    let hub = Stopped::stop(&rig);
    fs::remove_file(socket(&rig)).unwrap();
    all_say_which_hub_is_stopped(&rig, &hub);
    assert_eq!(rig.daemon(), hub.0);
    drop(hub);
    assert_eq!(listed(&rig).len(), 1);
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_hub_that_goes_leaves_the_socket_of_another() {
    let rig = Rig::new();
    let mut serve =
        rig.sandbox.command(["serve"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait::until(LONG, || socket(&rig).exists().then_some(())).expect("it listens");
    fs::remove_file(socket(&rig)).unwrap();
    let other = UnixListener::bind(socket(&rig)).unwrap();
    signal(serve.id().cast_signed(), Signal::TERM);
    wait::for_exit(&mut serve, LONG).expect("it goes");
    assert!(socket(&rig).exists());
    drop(other);
    fs::remove_file(socket(&rig)).unwrap();
    rig.sandbox.assert_nothing_left(LONG);
}
