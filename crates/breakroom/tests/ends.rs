//! How sessions, hubs and doors end, and that nothing of them is left: no process, socket, descriptor or file.
//!
//! Here the hub itself is killed, told to go, started twice at once or left alone. Rows of the list of faults:
//! hub killed with -9, SIGTERM of the hub, zombie trees and double forks, stale sockets, client crash.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod rig;
}

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use breakroom_testkit::{Strict, wait};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::rig::{
    LONG, Rig, SLACK, begin, descriptors, end, initialize, launch, message, resident, signal, text,
};

/// A debuggee with children, one of which forked twice and left its process group and session.
fn family() -> Vec<Value> {
    vec![
        json!({"spawn": ["sh", "-c", "sleep 601 & exec sleep 602"]}),
        json!({"spawn": ["sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; sleep 603 & sleep 604' & exit"]}),
        json!({"expect": "threads"}),
        json!({"respond": "threads"}),
    ]
}

/// Waits until the whole family runs, so that its end means something.
fn family_is_there(rig: &Rig) {
    let there = wait::until(LONG, || {
        let processes = rig.sandbox.census().processes();
        let runs = |name: &str| processes.iter().any(|process| process.command_line.trim_end() == name);
        ["sleep 601", "sleep 602", "sleep 603", "sleep 604"].into_iter().all(runs).then_some(())
    });
    there.expect("the debuggee and its children run");
}

fn no_process_is_left(rig: &Rig) {
    let none = || rig.sandbox.census().processes().is_empty().then_some(());
    wait::until(LONG, none).unwrap_or_else(|| panic!("left behind:\n{}", rig.sandbox.census().left()));
}

fn socket(rig: &Rig) -> std::path::PathBuf {
    rig.sandbox.path("run").join("breakroom/hub-1.sock")
}

#[test]
fn a_daemon_that_is_killed_takes_adapter_debuggee_and_grandchildren_with_it() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake_with(&family(), &["--ignore-sigterm"]));
    client.call("threads", Value::Null);
    family_is_there(&rig);
    signal(rig.daemon(), Signal::KILL);
    client.closed();
    let door = client.finish();
    assert!(!door.status.unwrap().success(), "the door says that the hub is lost");
    no_process_is_left(&rig);
    // Its socket is still there, with nobody behind it; the next door replaces it.
    assert!(socket(&rig).exists());
    rig.serves_another();
    rig.end_daemon();
}

#[test]
fn a_private_hub_that_is_killed_takes_everything_with_it_too() {
    let rig = Rig::new();
    let mut client = rig.private();
    begin(&mut client, rig.fake_with(&family(), &["--ignore-sigterm"]));
    client.call("threads", Value::Null);
    family_is_there(&rig);
    client.abandon();
    rig.sandbox.assert_nothing_left(LONG);
}

#[test]
fn a_killed_guard_leaves_nothing_of_its_session_and_all_of_others() {
    let rig = Rig::new();
    let mut other = rig.client();
    begin(&mut other, rig.fake(&[json!({"spawn": ["setsid", "sleep", "605"]})]));
    for start in [Rig::client, Rig::private] {
        let mut client = start(&rig);
        begin(&mut client, rig.fake_with(&family(), &["--ignore-sigterm"]));
        client.call("threads", Value::Null);
        family_is_there(&rig);
        let processes = rig.sandbox.census().processes();
        let child = processes.iter().find(|it| it.command_line.trim_end() == "sleep 602").unwrap();
        let adapter = processes.iter().find(|it| it.pid == child.parent).unwrap();
        signal(adapter.parent, Signal::KILL);
        client.output_containing("signal 9");
        client.event("terminated");
        end(client);
        let gone = || {
            let processes = rig.sandbox.census().processes();
            let is_its = |line: &str| (601..=604).any(|number| line.contains(&format!("sleep {number}")));
            (!processes.iter().any(|process| is_its(&process.command_line))).then_some(())
        };
        wait::until(LONG, gone).unwrap_or_else(|| panic!("left behind:\n{}", rig.sandbox.census().left()));
        let processes = rig.sandbox.census().processes();
        assert!(processes.iter().any(|process| process.command_line.trim_end() == "sleep 605"));
        other.call("threads", Value::Null);
    }
    end(other);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_guard_that_is_killed_during_the_start_leaves_nothing() {
    let rig = Rig::new();
    let script = "setsid sh -c 'sleep 606 & sleep 607' & kill -9 $PPID; exec sleep 608";
    for start in [Rig::client, Rig::private] {
        let mut client = start(&rig);
        initialize(&mut client);
        let refusal = client.call_failing("launch", launch(json!({"args": ["sh", "-c", script]})));
        assert!(refusal["message"].as_str().is_some_and(|text| text.contains("signal 9")), "{refusal}");
        end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn a_disconnect_ends_children_that_forked_twice() {
    let rig = Rig::new();
    for start in [Rig::client, Rig::private] {
        let mut client = start(&rig);
        begin(&mut client, rig.fake(&family()));
        client.call("threads", Value::Null);
        family_is_there(&rig);
        end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn a_daemon_that_is_told_to_go_tells_its_clients_and_is_gone_within_five_seconds() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake_with(&family(), &["--ignore-sigterm"]));
    client.call("threads", Value::Null);
    family_is_there(&rig);
    let mut idle = rig.client();
    initialize(&mut idle);
    let began = Instant::now();
    signal(rig.daemon(), Signal::TERM);
    client.output_containing("the hub is shutting down");
    client.event("terminated");
    client.closed();
    client.finish();
    idle.output_containing("the hub is shutting down");
    idle.event("terminated");
    idle.finish();
    rig.sandbox.assert_nothing_left(LONG);
    assert!(began.elapsed() < Duration::from_secs(5) + SLACK, "{:?}", began.elapsed());
    assert!(!socket(&rig).exists());
}

#[test]
fn a_daemon_that_nobody_needs_leaves_and_removes_its_socket() {
    // One that leaves before its first client has come is no fault: it is tried again with more time for that.
    let stays = [1, 8, 40].into_iter().find(|idle| {
        let rig = Rig::new();
        let mut serve = rig.sandbox.command(["serve", "--idle-exit", &format!("{idle}s")]);
        let mut serve = serve.stdin(Stdio::null()).spawn().unwrap();
        let came = |serve: &mut Child| socket(&rig).exists() || serve.try_wait().unwrap().is_some();
        wait::until(LONG, || came(&mut serve).then_some(())).expect("it listens");
        let mut client = rig.client();
        begin(&mut client, rig.fake(&[]));
        // As long as there is a session, it is needed.
        let stays = wait::for_exit(&mut serve, Duration::from_millis(idle * 1000 + 500)).is_none();
        end(client);
        if stays {
            let status = wait::for_exit(&mut serve, LONG + Duration::from_secs(*idle)).expect("it leaves");
            assert!(status.success());
            rig.sandbox.assert_nothing_left(LONG);
            assert!(!socket(&rig).exists());
        } else {
            rig.end_daemon();
        }
        stays
    });
    stays.expect("it stays for a session");
}

#[test]
fn a_second_daemon_is_refused_with_the_reason() {
    let rig = Rig::new();
    rig.serves_another();
    let second = rig.sandbox.command(["serve"]).output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("running already"), "{said}");
    rig.serves_another();
}

#[test]
fn doors_that_start_the_daemon_at_the_same_moment_share_one() {
    const DOORS: usize = 8;
    for _ in 0..5 {
        let rig = Rig::new();
        let start = Barrier::new(DOORS);
        let clients: Vec<Strict> = std::thread::scope(|scope| {
            let door = || {
                start.wait();
                let mut client = rig.client();
                begin(&mut client, rig.fake(&[]));
                client
            };
            let doors: Vec<_> = (0..DOORS).map(|_| scope.spawn(door)).collect();
            doors.into_iter().map(|door| door.join().unwrap()).collect()
        });
        // It fails if there are two.
        rig.daemon();
        clients.into_iter().for_each(end);
        rig.end_daemon();
    }
}

#[test]
fn a_socket_that_nobody_listens_on_is_replaced() {
    let rig = Rig::new();
    let folder = socket(&rig).parent().unwrap().to_owned();
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    drop(UnixListener::bind(socket(&rig)).unwrap());
    assert!(socket(&rig).exists());
    rig.serves_another();
    rig.end_daemon();
}

fn environment(pid: i32) -> BTreeMap<String, String> {
    let block = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let pairs = block.split(|byte| *byte == 0).filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| String::from_utf8_lossy(pair).into_owned());
    pairs.map(|pair| pair.split_once('=').map(|(name, value)| (name.into(), value.into())).unwrap()).collect()
}

#[test]
fn the_daemon_keeps_nothing_of_whoever_started_it() {
    let rig = Rig::new();
    let mut command = rig.sandbox.command(["dap"]);
    command.env("LAUNCHERS_SECRET", "x").env("PYTHONPATH", "/nowhere").current_dir(rig.sandbox.work());
    let mut client = Strict::spawn(command);
    begin(&mut client, rig.fake(&[]));
    let daemon = rig.daemon();
    assert_eq!(fs::read_link(format!("/proc/{daemon}/cwd")).unwrap(), Path::new("/"));
    let kept =
        ["HOME", "USER", "PATH", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "TMPDIR", "RUST_LOG", "RUST_BACKTRACE"];
    for name in environment(daemon).keys() {
        assert!(kept.contains(&name.as_str()), "the daemon kept {name}");
    }
    let stat = fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!(fields[3], daemon.to_string(), "it is in a session of its own");
    end(client);
}

#[test]
fn an_adapter_lives_in_its_own_launchers_folder_and_environment() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    for name in ["first", "second"] {
        let folder = rig.sandbox.work().join(name);
        fs::create_dir(&folder).unwrap();
        let mut command = rig.sandbox.command(["dap"]);
        command.current_dir(&folder).env("LAUNCHER", name).env("ODD", "a=b\nc");
        for ours in ["DEBUG_SESSION_TOKEN", "DEBUG_SESSION_PORT", "DCP_X", "BREAKROOM_X"] {
            command.env(ours, "never to be seen");
        }
        let wanted: BTreeMap<String, String> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.to_owned())))
            .collect();
        let mut client = Strict::spawn(command);
        let mut record = rig.fake_with(&[], &["--log", &log]);
        record["env"] = json!([{"name": "EXTRA", "value": "1"}, {"name": "HOME"}]);
        begin(&mut client, record);
        end(client);
        let surroundings = rig.log().remove(0);
        assert_eq!(surroundings["cwd"], text(&folder));
        let env = surroundings["env"].as_object().unwrap();
        assert_eq!(env["LAUNCHER"], name);
        assert_eq!(env["ODD"], "a=b\nc");
        assert_eq!(env["EXTRA"], "1");
        assert!(!env.contains_key("HOME"), "a variable without a value is unset");
        let ours = ["DEBUG_SESSION", "DCP_", "BREAKROOM_"];
        let is_ours = |name: &str| ours.iter().any(|prefix| name.starts_with(prefix));
        assert!(env.keys().all(|name| !is_ours(name)), "{env:?}");
        for (name, value) in wanted.iter().filter(|(name, _)| !is_ours(name)) {
            assert_eq!(env[name], value.as_str());
        }
        let inherited = std::env::vars()
            .filter(|(name, _)| !is_ours(name) && !wanted.contains_key(name) && name != "HOME");
        for (name, value) in inherited {
            assert_eq!(env.get(&name), Some(&json!(value)), "{name}");
        }
    }
}

/// One session that does not end as it should. Which way is chosen by the number, and so is how far it came.
fn end_badly(rig: &Rig, number: usize) {
    let steps = [json!({"spawn": ["sh", "-c", "sleep 600 & exec sleep 600"]})];
    let record = match number % 4 {
        0 => rig.fake(&steps),
        1 => rig.fake_tcp(&steps),
        2 => {
            let mut record = rig.fake_with(&steps, &["--connect", "{{port}}"]);
            record["mode"] = "tcp-callback".into();
            record
        }
        _ => {
            let mut record = rig.fake_with(&steps, &["--socket", "{{socket}}"]);
            record["mode"] = "unix".into();
            record
        }
    };
    let half_way = number.is_multiple_of(3);
    match (number / 4) % 4 {
        // The client's process is killed: its pipes end, and the door finds out by itself.
        0 => {
            let mut client = rig.raw();
            if half_way {
                client.send(&message(1, "initialize", json!({})));
                client.send(&message(2, "launch", launch(record)));
            } else {
                client.begin(record);
            }
            client.finish();
        }
        // The door's process is killed.
        1 => {
            let mut client = rig.client();
            if half_way {
                initialize(&mut client);
                let _ = client.request("launch", launch(record));
            } else {
                begin(&mut client, record);
            }
            client.abandon();
        }
        2 => {
            let mut client = rig.client();
            begin(&mut client, record);
            client.allow(&["output"]);
            end(client);
        }
        // The adapter is killed.
        _ => {
            let mut client = rig.client();
            client.allow(&["output"]);
            // By its own script: the adapter of the session before may still be leaving.
            let mut script = record["args"].as_array().unwrap().iter().filter_map(Value::as_str);
            let script = script.rfind(|word| word.ends_with(".jsonl")).unwrap().to_owned();
            begin(&mut client, record);
            let processes = rig.sandbox.census().processes();
            let adapter = processes.iter().find(|process| process.command_line.contains(&script)).unwrap();
            signal(adapter.pid, Signal::KILL);
            client.event("terminated");
            end(client);
        }
    }
}

#[test]
fn two_hundred_sessions_that_end_badly_leave_nothing_behind() {
    let rig = Rig::new();
    for round in 0..5 {
        rig.serves_another();
        rig.only_the_daemon_is_left();
        let daemon = rig.daemon();
        (0..8).for_each(|number| end_badly(&rig, number));
        rig.only_the_daemon_is_left();
        rig.spare_guard();
        let (before, memory) = (descriptors(daemon), resident(daemon));
        (8..39).for_each(|number| end_badly(&rig, number));
        rig.only_the_daemon_is_left();
        let same = wait::until(LONG, || (descriptors(daemon) == before).then_some(()));
        assert!(same.is_some(), "round {round}:\nbefore {before:?}\nafter  {:?}", descriptors(daemon));
        println!(
            "round {round}: {} descriptors, {} then {} bytes resident",
            before.len(),
            memory,
            resident(daemon)
        );
        // The fortieth: the hub itself is killed with a session in its hands.
        let mut client = rig.client();
        begin(&mut client, rig.fake(&family()));
        client.call("threads", Value::Null);
        family_is_there(&rig);
        signal(daemon, Signal::KILL);
        client.closed();
        client.finish();
        no_process_is_left(&rig);
    }
    rig.serves_another();
    rig.end_daemon();
}
