//! Clients of another user that have not shown the token: what they may cost, and that no list names them.
//!
//! What they may do is in `intruders.rs`. The tests need root, to run a client as another user.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod commands;
    pub mod listening;
    pub mod rig;
    pub mod strangers;
}

use std::process::Child;
use std::time::{Duration, Instant};

use breakroom_testkit::{Strict, wait};
use serde_json::{Value, json};
use support::commands::{listed, run, said};
use support::listening::{Listening, rest};
use support::rig::{BOUND, LONG, Rig, SLACK, begin, descriptors, end, launch, peak};
use support::strangers;

/// The limit of connections without the token, and the time that each has to show it.
const MOST: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);
/// What a hub and a door have open for each client: its socket, by two descriptors, and the connection between them.
const DESCRIPTORS_OF_EACH: usize = 4;

struct Crowd(Child);

impl Drop for Crowd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A door that listens, and the process numbers of it and of its hub.
fn listen(rig: &Rig) -> (Listening, i32, i32) {
    let listening = Listening::start(rig, &["--listen", "127.0.0.1:0"]);
    end({
        let mut client = listening.client();
        begin(&mut client, rig.fake(&[]));
        client
    });
    let (door, hub) = (listening.door.id().cast_signed(), rig.daemon());
    (listening, door, hub)
}

/// Names that steer a terminal: a colour, the title of its window, and letters that are shown from right to left.
const STEERING: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e}drow\nline";

#[test]
fn silent_strangers_cost_the_hub_few_descriptors() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    let (listening, door, hub) = listen(&rig);
    let before = descriptors(hub).len() + descriptors(door).len();
    let began = Instant::now();
    let crowd = Crowd(strangers::crowd(listening.address(), 900, b""));
    let few = before + MOST * DESCRIPTORS_OF_EACH * 2;
    let open = || descriptors(hub).len() + descriptors(door).len();
    let limited = wait::until(LONG, || (open() <= few).then_some(()));
    assert!(limited.is_some(), "{} descriptors are open, {before} were before", open());
    end({
        let mut client = listening.client();
        begin(&mut client, rig.fake(&[]));
        client
    });
    let gone = wait::until(PATIENCE + SLACK, || (open() <= before).then_some(()));
    assert!(gone.is_some(), "{} descriptors are open, {before} were before", open());
    assert!(began.elapsed() < PATIENCE + SLACK, "{:?}", began.elapsed());
    drop(crowd);
    assert!(peak(hub) < BOUND && peak(door) < BOUND, "{} and {}", peak(hub), peak(door));
    rig.only_the_daemon_is_left_beside(listening.door.id());
}

#[test]
fn large_messages_announced_by_strangers_take_no_memory() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    let (listening, _, hub) = listen(&rig);
    let words = format!("Content-Length: 67000000\r\n\r\n{}", "x".repeat(60));
    let crowd = Crowd(strangers::crowd(listening.address(), 30, words.as_bytes()));
    let told = strangers::says(listening.address(), words.as_bytes(), 5);
    assert!(told.contains("over the limit of 65536"), "{told}");
    rig.serves_another();
    assert!(peak(hub) < BOUND, "{}", peak(hub));
    drop(crowd);
    rig.only_the_daemon_is_left_beside(listening.door.id());
}

#[test]
fn a_stranger_that_is_too_late_is_told_so_and_one_with_the_token_may_be_silent() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    let (listening, ..) = listen(&rig);
    let token = std::fs::read_to_string(rig.sandbox.path("run").join("breakroom/token"));
    let mut known = Strict::spawn(strangers::tcp(listening.address()));
    known.call("initialize", json!({"adapterID": "fake", "clientName": STEERING}));
    // The limit of a message is lifted with the token.
    let mut arguments = launch(rig.fake(&[]));
    arguments["breakroom"]["token"] = match token {
        Ok(token) => token.into(),
        Err(_) => {
            known.call_failing("launch", json!({"program": "x"}));
            std::fs::read_to_string(rig.sandbox.path("run").join("breakroom/token")).unwrap().into()
        }
    };
    let launched = known.request("launch", arguments);
    known.event("capabilities");
    known.event("initialized");
    known.response(launched);
    let began = Instant::now();
    let silent = rest(std::io::Cursor::new(strangers::says(listening.address(), b"", 60)));
    assert!(began.elapsed() > PATIENCE / 2 && began.elapsed() < PATIENCE + SLACK, "{:?}", began.elapsed());
    assert!(silent.contains("did not bring the token"), "{silent}");
    known.call("threads", Value::Null);

    let shown = said(&run(&rig, &["ls"]));
    assert!(shown.contains("\\u{1b}[31mred") && shown.contains("\\u{202e}drow\\nline"), "{shown}");
    assert!(!shown.chars().any(|letter| letter.is_control() && letter != '\n' || letter == '\u{202e}'));
    known.call("threads", json!({"padding": "x".repeat(100_000)}));
    end(known);
    rig.only_the_daemon_is_left_beside(listening.door.id());
}

#[test]
fn a_stranger_is_in_no_list() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    let (listening, ..) = listen(&rig);
    let mut owner = rig.client();
    begin(&mut owner, rig.fake(&[]));
    let live = listed(&rig);
    assert_eq!(live.len(), 1, "{live:?}");
    let id = live[0]["id"].as_str().unwrap().to_owned();
    let joining = Listening::start(&rig, &["--listen", "127.0.0.1:0", "--session", &id]);
    let mut others = [&listening, &joining].map(|door| Strict::spawn(strangers::tcp(door.address())));
    for stranger in &mut others {
        stranger.call("initialize", json!({"adapterID": "fake", "clientName": STEERING}));
    }
    assert_eq!(listed(&rig), live);
    for command in [&["ls"][..], &["ls", "--tree"], &["log", &id], &["kill", "nothing"]] {
        let output = rig.sandbox.command(command).output().unwrap();
        let shown = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(!shown.concat().contains("red"), "{command:?}: {shown:?}");
    }
    others.into_iter().for_each(end);
    end(owner);
}
