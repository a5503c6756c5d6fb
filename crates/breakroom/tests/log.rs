//! `breakroom log`: what it tells of a session, while it lives and when it is over, and what its readers cost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod commands;
    pub mod rig;
}

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use breakroom_testkit::wait;
use rustix::process::Signal;
use serde_json::{Value, json};
use support::commands::{complaint, follow, lines_until, listed, only_id, run, said, story};
use support::rig::{BOUND, LONG, Rig, begin, end, message, resident, signal, text};

/// The session that has just ended is gone from the list when its guard is.
fn none_is_listed(rig: &Rig) {
    wait::until(LONG, || listed(rig).is_empty().then_some(())).expect("the session goes");
}

fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing or too early in\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_log_says_who_did_what_and_where_it_stopped_by_id_by_name_and_as_the_only_one() {
    let rig = Rig::new();
    let none = complaint(&run(&rig, &["log"]));
    assert!(none.contains("no live session"), "{none}");
    let client = story(&rig);
    let id = only_id(&rig);
    let logs = [&["log"][..], &["log", &id], &["log", "story"]].map(|arguments| said(&run(&rig, arguments)));
    in_order(
        &logs[0],
        &[
            "test joined (drive)",
            "test launched story",
            "fake-adapter is up",
            "test set breakpoints: /a.py: 1",
            "Z  stderr | one\n",
            "Z  stderr | two\n",
            "stopped in thread 1: breakpoint",
            "thread 1 is at an unknown source:1 in main",
            "test stepped (next, thread 1)",
        ],
    );
    assert!(logs[0].contains("stderr of fake-adapter | the adapter grumbles\n"), "{}", logs[0]);
    assert!(!logs[0].contains('\x1b'), "colours are for terminals");
    assert!(logs.iter().all(|log| *log == logs[0]));

    let objects = said(&run(&rig, &["log", "--json"]));
    let objects: Vec<Value> = objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stopped = objects.iter().find(|object| object["event"] == "stopped").unwrap();
    assert_eq!((&stopped["reason"], &stopped["thread"]), (&json!("breakpoint"), &json!(1)));
    assert!(stopped["time"].as_str().unwrap().ends_with('Z') && stopped["elapsed"].is_u64(), "{stopped}");

    let unknown = complaint(&run(&rig, &["log", "nope"]));
    assert!(
        unknown.starts_with("breakroom: there is no session `nope`") && unknown.contains(&id),
        "{unknown}"
    );
    let mut other = rig.client();
    begin(&mut other, rig.fake(&[]));
    let several = complaint(&run(&rig, &["log"]));
    assert!(several.contains("several sessions") && several.contains(&id), "{several}");
    end(other);
    end(client);
    none_is_listed(&rig);
    // How it ended can still be asked.
    for wanted in [&id, "story"] {
        let log = said(&run(&rig, &["log", wanted, "--follow"]));
        in_order(&log, &["test stepped", "test left (drive)", "fake-adapter ended with exit code 0"]);
    }
    rig.end_daemon();
}

#[test]
fn a_debugger_that_crashes_when_its_program_is_over_is_in_the_log_and_nowhere_else() {
    let rig = Rig::new();
    let says = |name: &str, body: Value| json!({"send": {"type": "event", "event": name, "body": body}});
    let steps = [
        json!({"expect": "threads"}),
        json!({"respond": "threads", "body": {"threads": []}}),
        says("exited", json!({"exitCode": 0})),
        says("terminated", json!({})),
        json!({"stderr": "free(): invalid pointer\n"}),
        json!({"exit": 134}),
    ];
    let mut client = rig.client();
    begin(&mut client, rig.fake(&steps));
    let id = only_id(&rig);
    client.call("threads", Value::Null);
    client.event("exited");
    client.event("terminated");
    let log = wait::until(LONG, || {
        let log = said(&run(&rig, &["log", &id]));
        log.contains("fake-adapter ended with exit code 134").then_some(log)
    });
    let log = log.expect("the end of the adapter is noted");
    assert!(log.contains("stderr of fake-adapter | free(): invalid pointer\n"), "{log}");
    // It would see an output that it was told of.
    end(client);
    rig.end_daemon();
}

#[test]
fn whoever_follows_hears_what_happens_until_the_session_ends() {
    let rig = Rig::new();
    let mut client = story(&rig);
    let mut follower = follow(&rig, &[]);
    let mut lines = BufReader::new(follower.stdout.take().unwrap());
    lines_until(&mut lines, "test stepped");
    client.call("evaluate", json!({"expression": "1 + 1", "context": "repl"}));
    lines_until(&mut lines, "test evaluated (evaluate): 1 + 1");
    // One that goes leaves nothing behind and disturbs nobody.
    let mut gone = follow(&rig, &["story"]);
    lines_until(&mut BufReader::new(gone.stdout.take().unwrap()), "test joined");
    gone.kill().unwrap();
    gone.wait().unwrap();
    end(client);
    lines_until(&mut lines, "fake-adapter ended with exit code 0");
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(wait::for_exit(&mut follower, LONG).expect("it ends with the session").success());
    rig.only_the_daemon_is_left();
    rig.end_daemon();
}

#[test]
fn whoever_follows_and_does_not_read_costs_nothing_and_is_told_what_was_missed() {
    let rig = Rig::new();
    let line = "x".repeat(1000);
    let output = json!({"category": "stdout", "output": format!("{{{{i}}}} {line}\n")});
    let flood = json!({"send": {"type": "event", "event": "output", "body": output}, "repeat": 100_000});
    let steps = [json!({"expect": "threads"}), flood, json!({"respond": "threads", "body": {"threads": []}})];
    let mut client = rig.raw();
    client.begin(rig.fake(&steps));
    let mut stalled = follow(&rig, &["--json"]);
    let mut lines = BufReader::with_capacity(256, stalled.stdout.take().unwrap());
    lines_until(&mut lines, "joined");
    let before = resident(rig.daemon());
    client.send(&message(9, "threads", json!({})));
    client.until("response", "threads");
    let after = resident(rig.daemon());
    assert!(after < before + BOUND, "{before} then {after}");
    client.send(&message(10, "disconnect", json!({})));
    client.until("response", "disconnect");
    client.finish();
    rig.serves_another();
    let mut text = String::new();
    lines.read_to_string(&mut text).unwrap();
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(objects.iter().any(|object| object["event"] == "missed"), "a stalled reader misses something");
    assert_eq!(objects.last().unwrap()["event"], "engine-ended");
    assert!(wait::for_exit(&mut stalled, LONG).unwrap().success());
    rig.end_daemon();
}

#[test]
fn a_log_whose_reader_has_seen_enough_ends_quietly() {
    let rig = Rig::new();
    let client = story(&rig);
    let mut shell = rig.sandbox.program("sh");
    shell.args(["-c", "\"$0\" log --follow | head -n 1"]).arg(rig.sandbox.binary());
    let mut pipe = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It finds out with the next line.
    let mut first = String::new();
    BufReader::new(pipe.stdout.take().unwrap()).read_line(&mut first).unwrap();
    end(client);
    assert!(wait::for_exit(&mut pipe, LONG).expect("it ends").success());
    let mut errors = String::new();
    pipe.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
    rig.end_daemon();
}

#[test]
fn whoever_asks_after_a_hub_that_was_killed_is_told_what_is_left() {
    let rig = Rig::new();
    let mut client = story(&rig);
    signal(rig.daemon(), Signal::KILL);
    client.closed();
    client.finish();
    let own = rig.sandbox.path("state").join("breakroom/hub.log");
    for words in [&["log"][..], &["log", "story"], &["log", "--follow", "--json"]] {
        let said = complaint(&run(&rig, words));
        assert!(said.contains("the hub was killed") && said.contains(&text(&own)), "{said}");
    }
}
