//! Two clients of the real binary, one of which does not read: it costs the hub a few megabytes and the other one
//! nothing at all, and it is heard to the end.
//!
//! What such a client is left to hear is the session's business and tested there, event by event; a client that is
//! alone is in `faults_client.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod listening;
    pub mod rig;
}

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use breakroom_testkit::frames::{FrameReader, write_message};
use breakroom_testkit::wait;
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};
use support::listening::Listening;
use support::rig::{LONG, Raw, Rig, message, peak, text};

/// What a client that reads nothing may cost, all in all.
const COST: u64 = 4 << 20;
/// What a client that is alone may cost if it asks and reads no answers: the limit for one that asks much before it reads,
/// with what an allocator cannot use.
const ANSWERS: u64 = 64 << 20;
const LINES: u64 = 30_000;
/// Of each the hub keeps all for whoever has not read it yet, so that it misses nothing however slowly a machine reads.
const PORTIONS: u64 = 60;

fn send(event: &str, body: Value, repeat: u64) -> Value {
    json!({"send": {"type": "event", "event": event, "body": body}, "repeat": repeat})
}

/// Waits for a request before each portion of a flood.
fn flood(on: &str, portions: u64) -> Vec<Value> {
    let output = json!({"category": "stdout", "output": "line {{i}} of many\n"});
    let portion = [
        json!({"expect": on}),
        json!({"respond": on}),
        send("output", output.clone(), LINES / portions),
        send("thread", json!({"reason": "started", "threadId": 7}), 1),
        send(
            "module",
            json!({"reason": "changed", "module": {"id": 1, "name": "version {{i}}"}}),
            LINES / 4 / portions,
        ),
        send(
            "stopped",
            json!({"reason": "pause", "threadId": 7, "description": "{{i}}"}),
            LINES / 4 / portions,
        ),
        send("output", output, LINES / portions),
        send("x-portion", json!({}), 1),
    ];
    let mut steps: Vec<Value> = (0..portions).flat_map(|_| portion.clone()).collect();
    steps.push(send("x-done", json!({}), 1));
    steps
}

/// Reads until this event, and gives how many outputs came, as they are or as a number of those left out.
fn read_until(client: &mut Raw, end: &str) -> (u64, u64) {
    let (mut came, mut missed) = (0, 0);
    loop {
        let message = client.value().expect("the hub goes on");
        match message["event"].as_str() {
            Some(event) if event == end => return (came, missed),
            Some("output") => {
                let text = message["body"]["output"].as_str().unwrap();
                match text.strip_prefix("breakroom: ").and_then(|text| text.split(' ').next()) {
                    Some(count) => missed += count.parse::<u64>().unwrap(),
                    None => came += 1,
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_stalled_client_costs_at_most_four_megabytes_and_delays_nobody() {
    let rig = Rig::new();
    let floods = ["x-one", "x-two", "x-three", "x-four"];
    let steps: Vec<Value> = floods.into_iter().flat_map(|on| flood(on, PORTIONS)).collect();
    let mut fast = rig.raw();
    fast.begin(rig.fake(&steps));
    let daemon = rig.daemon();
    let flooded = |fast: &mut Raw, seq: i64| {
        for _ in 0..PORTIONS {
            fast.send(&message(seq, floods[usize::try_from(seq).unwrap() - 4], json!({})));
            let portion = read_until(fast, "x-portion");
            assert_eq!(portion, (2 * LINES / PORTIONS, 0), "the one who reads misses nothing");
        }
        // The most that ever was: what is resident now depends on what the allocator gave back.
        peak(daemon)
    };

    // With the fast one alone first, so that only what the other one adds is measured.
    flooded(&mut fast, 4);
    let before = flooded(&mut fast, 5);

    let mut slow = Raw::spawn(rig.sandbox.command(["dap", "--session"]));
    slow.send(&message(1, "initialize", json!({"adapterID": "fake"})));
    slow.send(&message(2, "attach", json!({})));
    slow.send(&message(3, "configurationDone", json!({})));
    slow.until("response", "configurationDone");
    // The last of what it is shown.
    slow.until("event", "stopped");

    // A hub that waited for the slow one would never come to the end of this, and one that hoards would take twice as
    // much for twice the flood.
    let cost = [6, 7].map(|seq| flooded(&mut fast, seq) - before);
    eprintln!("a stalled client costs {} and {} kB", cost[0] >> 10, cost[1] >> 10);
    assert!(cost[1] <= COST, "{} kB for one that reads nothing", cost[1] >> 10);

    // It hears how much it missed, and is served again.
    let (first, second) = (read_until(&mut slow, "x-done"), read_until(&mut slow, "x-done"));
    let (came, missed) = (first.0 + second.0, first.1 + second.1);
    assert_eq!(came + missed, 4 * LINES);
    assert!(missed > LINES, "only {missed} were left out, so the memory was not put to the test");
    slow.send(&message(4, "threads", json!({})));
    slow.until("response", "threads");

    slow.send(&message(5, "disconnect", json!({})));
    slow.until("response", "disconnect");
    slow.finish();
    fast.send(&message(8, "disconnect", json!({})));
    fast.until("response", "disconnect");
    fast.finish();
    rig.only_the_daemon_is_left();
}

/// How somebody goes who has said goodbye and does not wait for the answer.
#[derive(Debug, Clone, Copy)]
enum Parting {
    ClosesItsPipes,
    ClosesItsSocket,
    EndsItsDoor,
}

/// One that takes part and is in no hurry to read.
struct Slow {
    input: std::fs::File,
    output: FrameReader,
    door: Option<Child>,
}

impl Slow {
    fn joins(rig: &Rig, parting: Parting, listening: &Listening) -> Slow {
        let mut slow = match parting {
            Parting::ClosesItsSocket => {
                let stream = UnixStream::connect(&listening.place).unwrap();
                let input = OwnedFd::from(stream.try_clone().unwrap()).into();
                Slow { input, output: FrameReader::new(stream.into(), Peer::Adapter), door: None }
            }
            Parting::ClosesItsPipes | Parting::EndsItsDoor => {
                let mut command = rig.sandbox.command(["dap", "--session"]);
                let mut door = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
                let input = OwnedFd::from(door.stdin.take().unwrap()).into();
                let output = FrameReader::new(door.stdout.take().unwrap().into(), Peer::Adapter);
                Slow { input, output, door: Some(door) }
            }
        };
        slow.says(&message(1, "initialize", json!({"adapterID": "fake", "clientName": "Slow"})));
        slow.says(&message(2, "attach", json!({})));
        slow.says(&message(3, "configurationDone", json!({})));
        loop {
            let Some(Frame::Message(heard)) = slow.output.read().unwrap() else { panic!("it is let in") };
            let heard: Value = serde_json::from_slice(&heard).unwrap();
            if heard["type"] == "response" && heard["command"] == "configurationDone" {
                return slow;
            }
        }
    }

    fn says(&mut self, message: &Value) {
        write_message(&mut self.input, message.to_string().as_bytes()).unwrap();
    }

    fn goes(self) {
        let Slow { input, output, door } = self;
        drop((input, output));
        if let Some(mut door) = door {
            wait::for_exit(&mut door, LONG).expect("a door ends with its client");
        }
    }
}

#[test]
fn a_goodbye_is_heard_although_its_sender_has_gone_before_it_was_read() {
    for parting in [Parting::ClosesItsPipes, Parting::ClosesItsSocket, Parting::EndsItsDoor] {
        let rig = Rig::new();
        let mut fast = rig.raw();
        fast.begin(rig.fake(&flood("x-flood", 1)));
        let socket = text(&rig.sandbox.work().join("door"));
        let listening = Listening::start(&rig, &["--session", "--socket", &socket]);
        let mut slow = Slow::joins(&rig, parting, &listening);
        // When all of it was written to the one, there is so much for the other that it is not listened to.
        fast.send(&message(4, "x-flood", json!({})));
        read_until(&mut fast, "x-done");
        slow.says(&message(4, "disconnect", json!({})));
        if let (Parting::EndsItsDoor, Some(door)) = (parting, &mut slow.door) {
            door.kill().unwrap();
        }
        slow.goes();
        let log = || {
            let log = rig.sandbox.command(["log"]).output().unwrap();
            let log = String::from_utf8(log.stdout).unwrap();
            ["Slow left", "Slow was lost"].iter().any(|end| log.contains(end)).then_some(log)
        };
        let log = wait::until(LONG, log).expect("it is gone");
        let of_it: Vec<&str> = log.lines().filter(|line| line.contains("Slow")).collect();
        let parted = of_it.iter().any(|line| line.ends_with("Slow left (drive)"));
        assert!(parted && !log.contains("was lost"), "{parting:?}: {of_it:?}");
        fast.send(&message(5, "disconnect", json!({})));
        fast.until("response", "disconnect");
        fast.finish();
        drop(listening);
        rig.only_the_daemon_is_left();
    }
}

/// Each question is answered by a thread of the hub, so the answers come later than what is read.
#[test]
fn unread_answers_of_the_hub_cost_little() {
    let rig = Rig::new();
    let mut sessions: Vec<Raw> = (0..8).map(|_| rig.raw()).collect();
    for session in &mut sessions {
        session.begin(rig.fake(&[]));
    }
    let hub = rig.daemon();
    let before = peak(hub);
    let mut asking = rig.sandbox.command(["dap"]);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut door = asking
        .stdin(Stdio::from(OwnedFd::from(theirs.try_clone().unwrap())))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(asking);
    const QUESTIONS: i64 = 30_000;
    let mut input = ours.try_clone().unwrap();
    // The hub stops to read when enough waits, so these are written while the answers are read below.
    let asks = std::thread::spawn(move || {
        write_message(
            &mut input,
            message(1, "initialize", json!({"adapterID": "fake"})).to_string().as_bytes(),
        )
        .unwrap();
        for seq in 2..QUESTIONS + 2 {
            let question = message(seq, "breakroom/sessions", json!({})).to_string();
            write_message(&mut input, question.as_bytes()).unwrap();
        }
    });
    let full = || asks.is_finished() || stands_still(hub);
    wait::until(LONG, || full().then_some(())).expect("the hub stops reading");
    let cost = peak(hub).saturating_sub(before);
    assert!(cost < ANSWERS, "{cost} bytes");
    // And nothing of it is lost.
    let mut output = ours.try_clone().unwrap();
    let mut reader = FrameReader::new(OwnedFd::from(ours), Peer::Adapter);
    let mut answered = 0;
    while answered < QUESTIONS {
        let Some(Frame::Message(body)) = reader.read().unwrap() else { panic!("{answered} answers came") };
        let body: Value = serde_json::from_slice(&body).unwrap();
        let is_answer = body["command"] == "breakroom/sessions";
        assert!(!is_answer || body["success"] == true, "{body}");
        answered += i64::from(is_answer);
    }
    asks.join().unwrap();
    let goodbye = message(QUESTIONS + 2, "disconnect", json!({})).to_string();
    write_message(&mut output, goodbye.as_bytes()).unwrap();
    while reader.read().unwrap().is_some() {}
    assert!(wait::for_exit(&mut door, LONG).unwrap().success());
}

/// Whether the process has used no time of a processor for a while.
fn stands_still(pid: i32) -> bool {
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<String> =
            stat.rsplit_once(')').unwrap().1.split_whitespace().map(str::to_owned).collect();
        (fields[11].clone(), fields[12].clone())
    };
    let before = used();
    std::thread::sleep(Duration::from_millis(500));
    used() == before
}
