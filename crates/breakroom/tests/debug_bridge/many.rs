//! Many sessions on one socket at the same time, and what the bridge keeps of them.

use std::collections::BTreeMap;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::steps::event;
use crate::support::bridging::{Bridging, Plain, TOKEN, receive, request, send};
use crate::support::rig::{LONG, Rig, descriptors, threads};

const SESSIONS: usize = 100;

fn names() -> Vec<String> {
    (0..SESSIONS).map(|number| format!("s{number}")).collect()
}

fn start(rig: &Rig, names: &[String]) -> Bridging {
    Bridging::start(rig, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The lines of as many changes of each session, by session.
fn changes(bridge: &Bridging, each: usize) -> BTreeMap<String, Vec<Value>> {
    let mut changes = BTreeMap::<String, Vec<Value>>::new();
    for _ in 0..SESSIONS * each {
        let line = bridge.line();
        changes.entry(line["session"].as_str().unwrap().to_owned()).or_default().push(line);
    }
    changes
}

/// What a process holds: its descriptors and how many threads. Threads get their names only when they run for the first time.
fn held(pid: i32) -> (Vec<String>, usize) {
    (descriptors(pid), threads(pid).len())
}

fn until_as_before(pid: i32, before: &(Vec<String>, usize)) {
    let same = || (held(pid) == *before).then_some(());
    wait::until(LONG, same).unwrap_or_else(|| panic!("{:?} instead of {before:?}", held(pid)));
}

fn pid(bridge: &Bridging) -> i32 {
    bridge.process.id().cast_signed()
}

#[test]
fn hundred_sessions_at_once_each_come_to_their_end() {
    let rig = Rig::new();
    let names = names();
    let bridge = start(&rig, &names);
    let before = held(pid(&bridge));
    let adapter = |number: usize| {
        let exited = event("exited", json!({"exitCode": number}));
        let terminated = event("terminated", json!({}));
        rig.fake(&[json!({"expect": "x-end"}), exited, terminated, json!({"exit": 0})])
    };
    // Each step of all sessions before the next step of any, so that all of them live at the same time.
    let streams: Vec<_> = names.iter().map(|_| bridge.connect()).collect();
    for (number, (name, stream)) in names.iter().zip(&streams).enumerate() {
        send(stream, request(name, &adapter(number)).to_string().as_bytes());
    }
    for stream in &streams {
        assert_eq!(receive(stream), Some(json!({"success": true})));
    }
    let mut clients: Vec<Plain> = streams.into_iter().map(Plain::new).collect();
    clients.iter_mut().for_each(|client| client.send(1, "initialize"));
    clients.iter_mut().for_each(|client| drop(client.until("response", "initialize")));
    clients.iter_mut().for_each(|client| client.send(2, "launch"));
    clients.iter_mut().for_each(|client| drop(client.until("event", "initialized")));
    clients.iter_mut().for_each(|client| client.call(3, "configurationDone"));
    clients.iter_mut().for_each(|client| client.send(4, "x-end"));
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.until("event", "exited")["body"]["exitCode"], number);
        client.until("event", "terminated");
        client.until_closed();
    }
    let changes = changes(&bridge, 2);
    for (number, name) in names.iter().enumerate() {
        let wanted = [
            json!({"session": name, "state": "connected"}),
            json!({"session": name, "state": "terminated", "exit_code": number}),
        ];
        assert_eq!(changes[name], wanted);
    }
    until_as_before(pid(&bridge), &before);
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn hundred_adapters_that_cannot_start_are_each_reported_with_the_reason() {
    let rig = Rig::new();
    let names = names();
    let bridge = start(&rig, &names);
    let before = held(pid(&bridge));
    let adapter = |name: &String| json!({"args": [format!("/no/such/{name}")]});
    let clients: Vec<Plain> = names.iter().map(|name| bridge.plain(name, &adapter(name))).collect();
    for mut client in clients {
        client.until("event", "terminated");
        client.until_closed();
    }
    for (name, lines) in changes(&bridge, 2) {
        assert_eq!(lines[0], json!({"session": name, "state": "connected"}));
        assert_eq!(lines[1]["state"], "error");
        assert!(lines[1]["error"].as_str().unwrap().contains(&format!("/no/such/{name}")), "{}", lines[1]);
    }
    until_as_before(pid(&bridge), &before);
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r72_sessions_that_ended_and_refused_ones_leave_nothing_in_bridge_and_hub() {
    let rig = Rig::new();
    let names = names();
    let mut bridge = start(&rig, &names);
    rig.serves_another();
    rig.spare_guard();
    let (hub, before) = (rig.daemon(), [held(pid(&bridge)), held(rig.daemon())]);
    let missing = json!({"args": ["/no/such/adapter"]});
    for (number, name) in names[..60].iter().enumerate() {
        match number % 6 {
            // A session as it should be.
            0 => {
                let mut client = bridge.plain(name, &rig.fake(&[]));
                client.begin();
                client.call(4, "disconnect");
                client.until_closed();
            }
            // A client that is lost.
            1 => drop(bridge.plain(name, &rig.fake(&[]))),
            2 => bridge.plain(name, &missing).until_closed(),
            // Three that are refused: by their session, their token and their configuration.
            3 => {
                let unknown = json!({"session_id": format!("{name}:7"), "token": TOKEN});
                let wrong = json!({"session_id": name, "token": "wrong"});
                for refused in [unknown, wrong, request(name, &json!({"args": []}))] {
                    assert_eq!(bridge.handshake(&refused).1["success"], false);
                }
            }
            // A connection that ends before its handshake.
            4 => drop(bridge.connect()),
            // The registrar ends the session.
            _ => {
                let mut client = bridge.plain(name, &rig.fake(&[]));
                client.call(1, "initialize");
                bridge.say(&json!({"end": name}));
                client.until_closed();
            }
        }
    }
    // Two changes of 40 sessions, and the answers to ten commands.
    let lines = (0..90).map(|_| bridge.line());
    assert_eq!(lines.filter(|line| line["state"] == "connected").count(), 40);
    until_as_before(pid(&bridge), &before[0]);
    until_as_before(hub, &before[1]);
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn bridge_that_is_to_end_reports_every_session_first() {
    let rig = Rig::new();
    let names = names();
    let mut bridge = start(&rig, &names);
    let mut clients: Vec<Plain> = names[..50].iter().map(|name| bridge.plain(name, &rig.fake(&[]))).collect();
    clients.iter_mut().for_each(|client| client.call(1, "initialize"));
    crate::support::rig::signal(pid(&bridge), rustix::process::Signal::TERM);
    for client in &mut clients {
        client.until("event", "terminated");
        client.until_closed();
    }
    let status = wait::for_exit(&mut bridge.process, LONG).expect("the bridge ends after its sessions");
    assert!(status.success());
    let (mut connected, mut terminated) = (0, 0);
    for _ in 0..SESSIONS + 50 {
        let line = bridge.line();
        match line["state"].as_str() {
            Some("connected") => connected += 1,
            Some("terminated") => terminated += 1,
            _ => panic!("{line}"),
        }
    }
    assert_eq!((connected, terminated), (50, SESSIONS));
    rig.only_the_daemon_is_left();
}
