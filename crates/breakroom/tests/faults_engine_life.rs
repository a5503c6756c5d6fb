//! Adapters that die, hang, do not read or say much and go: every request is answered with the reason, what was said
//! arrives, and nothing is left running.
//!
//! Those that break the protocol are in `faults_engine.rs`.
//!
//! | fault                                          | test |
//! |------------------------------------------------|------|
//! | body shorter than promised                     | `an_adapter_that_dies_in_the_middle_of_a_message_delivers_no_part_of_it` |
//! | never answers                                  | `a_silent_adapter_is_named_after_ten_seconds_and_can_be_left` |
//! | never answers `initialize`                     | `an_adapter_that_never_answers_initialize_can_be_left_at_once` |
//! | answers after its client left                  | `faults_client.rs` `a_client_that_crashes_...` |
//! | crash in the middle of a request               | `a_crash_answers_every_open_request_with_the_last_words` |
//! | dies before it connects                        | `an_adapter_that_dies_before_it_connects_is_told_at_once_with_its_last_lines` |
//! | never listens, or elsewhere                    | `an_adapter_that_never_listens_is_given_up_with_its_output` |
//! | exits without `terminated`                     | `an_adapter_that_just_exits_is_ended_properly_for_its_client` |
//! | closes its stdout but lives                    | `an_adapter_that_closes_its_stdout_but_lives_is_ended` |
//! | hangs on disconnect, ignores SIGTERM           | `a_client_is_let_go_within_six_seconds_whatever_the_adapter_does` |
//! | does not read                                  | `an_adapter_that_does_not_read_is_not_fed_for_ever_and_can_be_left` |
//! | event flood                                    | `faults_client.rs` `a_client_that_does_not_read_a_flood_...`; `everything_an_adapter_says_before_it_exits_arrives_...` |
//! | port in use or stolen                          | engines `a_port_taken_by_somebody_else_is_given_up_for_another`, `a_listener_of_another_user_is_not_spoken_to` |
//! | number of a process used again                 | engines `a_child_is_found_signalled_once_and_then_gone` |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod faulty;
    pub mod rig;
}

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::faulty::{once_asked, output, said, sees_it_end};
use support::rig::{BOUND, Rig, SLACK, begin, end, initialize, launch, message, peak};

#[test]
fn an_adapter_that_dies_in_the_middle_of_a_message_delivers_no_part_of_it() {
    let rig = Rig::new();
    let half = r#"{"seq":5,"type":"event","event":"output","body":{"output":"half"#;
    let raw = format!("Content-Length: 500\r\n\r\n{half}");
    let fault = [json!({"stderr": "out of luck\n"}), json!({"raw": raw}), json!({"exit": 3})];
    let mut client = rig.client();
    begin(&mut client, rig.fake(&once_asked(&fault)));
    let asked = client.request("threads", Value::Null);
    let refusal = client.failure(asked);
    let reason = said(&refusal);
    assert!(
        reason.contains("exit code 3")
            && reason.contains("out of luck")
            && reason.contains("of a message's 500"),
        "{reason}"
    );
    let output = client.output_containing("exit code 3");
    assert!(!output.contains("half"), "{output}");
    client.event("terminated");
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_silent_adapter_is_named_after_ten_seconds_and_can_be_left() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&once_asked(&[json!({"expect": "pause"}), json!({"respond": "pause"})])));
    let asked = client.request("threads", Value::Null);
    client.output_containing("has not answered `threads` for 10 s");
    client.call("pause", json!({"threadId": 1}));
    let left = client.request("disconnect", json!({}));
    let refusal = client.failure(asked);
    assert!(said(&refusal).contains("`threads` had no answer"), "{refusal}");
    client.response(left);
    client.finish();
    rig.only_the_daemon_is_left();
}

#[test]
fn an_adapter_that_never_answers_initialize_can_be_left_at_once() {
    let rig = Rig::new();
    let mut client = rig.client();
    initialize(&mut client);
    let launched = client
        .request("launch", launch(rig.fake(&[json!({"expect": "initialize"}), json!({"expect": "never"})])));
    client.output_containing("has not answered");
    let began = Instant::now();
    let left = client.request("disconnect", json!({}));
    client.failure(launched);
    client.response(left);
    assert!(began.elapsed() < Duration::from_secs(6) + SLACK);
    client.finish();
    rig.only_the_daemon_is_left();
}

#[test]
fn a_crash_answers_every_open_request_with_the_last_words() {
    let rig = Rig::new();
    let fault = [
        json!({"expect": "evaluate"}),
        json!({"stderr": "first\npanic: index 7\n"}),
        json!({"send": output("before the end\n")}),
        json!({"exit": 139}),
    ];
    let mut client = rig.client();
    begin(&mut client, rig.fake(&once_asked(&fault)));
    let threads = client.request("threads", Value::Null);
    let evaluate = client.request("evaluate", json!({"expression": "x"}));
    for open in [threads, evaluate] {
        let refusal = client.failure(open);
        assert!(
            said(&refusal).contains("exit code 139") && said(&refusal).contains("panic: index 7"),
            "{refusal}"
        );
    }
    let output = client.output_containing("panic: index 7");
    assert!(output.starts_with("before the end\n"), "{output}");
    client.event("terminated");
    let refusal = client.call_failing("threads", Value::Null);
    assert!(said(&refusal).contains("not possible any more"), "{refusal}");
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn an_adapter_that_dies_before_it_connects_is_told_at_once_with_its_last_lines() {
    let rig = Rig::new();
    let dies = |mode: &str, place: &str| json!({"args": ["sh", "-c", "echo no license >&2; exit 4", place], "mode": mode, "connectionTimeoutSeconds": 600});
    for record in [
        dies("stdio", ""),
        dies("tcp-connect", "{{port}}"),
        dies("tcp-callback", "{{port}}"),
        dies("unix", "{{socket}}"),
    ] {
        let mut client = rig.client();
        initialize(&mut client);
        let refusal = client.call_failing("launch", launch(record));
        assert!(said(&refusal).contains("no license") && said(&refusal).contains("exit code 4"), "{refusal}");
        end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn an_adapter_that_never_listens_is_given_up_with_its_output() {
    let rig = Rig::new();
    let mut client = rig.client();
    initialize(&mut client);
    let slow = |seconds: u32| json!({"args": ["sh", "-c", "echo listening on port 1; exec sleep 600", "{{port}}"], "mode": "tcp-connect", "connectionTimeoutSeconds": seconds});
    // One that is given up before it has said a word is no fault: it is tried again with more time for that.
    let quoted = [1, 8, 40].into_iter().any(|seconds| {
        let refusal = client.call_failing("launch", launch(slow(seconds)));
        assert!(said(&refusal).contains(&format!("within {seconds} s")), "{refusal}");
        said(&refusal).contains("listening on port 1")
    });
    assert!(quoted, "what it said last is told");
    // The failure is the request's, not the session's: a better record may follow.
    let launched = client.request("launch", launch(rig.fake(&[])));
    client.event("capabilities");
    client.event("initialized");
    client.response(launched);
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn an_adapter_that_just_exits_is_ended_properly_for_its_client() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&once_asked(&[json!({"respond": "threads"}), json!({"exit": 0})])));
    client.call("threads", Value::Null);
    client.event("terminated");
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn an_adapter_that_closes_its_stdout_but_lives_is_ended() {
    let rig = Rig::new();
    for adapter in [Rig::fake, Rig::fake_tcp] {
        let mut client = rig.client();
        begin(
            &mut client,
            adapter(&rig, &once_asked(&[json!({"close_stdout": true}), json!({"hang": true})])),
        );
        sees_it_end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn a_client_is_let_go_within_six_seconds_whatever_the_adapter_does() {
    let rig = Rig::new();
    let spawn = || json!({"spawn": ["sh", "-c", "trap '' TERM; sleep 600 & wait; wait; sleep 600"]});
    for steps in [
        vec![spawn(), json!({"expect": "disconnect"}), json!({"hang": true})],
        vec![
            spawn(),
            json!({"expect": "disconnect"}),
            json!({"respond": "disconnect"}),
            json!({"hang": true}),
        ],
        vec![spawn(), json!({"expect": "threads"}), json!({"respond": "threads"}), json!({"hang": true})],
        vec![spawn(), json!({"expect": "disconnect"}), json!({"close_stdout": true}), json!({"hang": true})],
    ] {
        let mut client = rig.client();
        begin(&mut client, rig.fake_with(&steps, &["--ignore-sigterm"]));
        client.call("threads", Value::Null);
        let began = Instant::now();
        client.call("disconnect", json!({}));
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(6) + SLACK, "{steps:?} took {waited:?}");
        client.finish();
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn an_adapter_that_does_not_read_is_not_fed_for_ever_and_can_be_left() {
    const REQUESTS: i64 = 20_000;
    let rig = Rig::new();
    rig.serves_another();
    let mut client = rig.raw();
    client.begin(rig.fake(&once_asked(&[json!({"respond": "threads"}), json!({"hang": true})])));
    client.send(&message(4, "threads", json!({})));
    let expression = "x".repeat(1000);
    for seq in 0..REQUESTS {
        client.send(&message(100 + seq, "evaluate", json!({"expression": expression})));
    }
    let refusal = client.until("response", "evaluate");
    assert!(said(&refusal).contains("does not read"), "{refusal}");
    client.send(&message(5, "disconnect", json!({})));
    let began = Instant::now();
    let mut answers = 1;
    loop {
        let message = client.value().expect("the disconnect is answered");
        match message["command"].as_str() {
            Some("evaluate") => answers += 1,
            Some("disconnect") => break,
            _ => {}
        }
    }
    assert!(began.elapsed() < Duration::from_secs(6) + SLACK, "{:?}", began.elapsed());
    assert_eq!(answers, REQUESTS, "every request is answered once");
    assert!(peak(rig.daemon()) < 2 * BOUND, "{}", peak(rig.daemon()));
    client.finish();
    rig.only_the_daemon_is_left();
}

/// Runs an adapter a hundred times that says much and exits at once.
fn all_arrives(adapter: fn(&Rig, &[Value]) -> Value) {
    const EVENTS: u64 = 500;
    let rig = Rig::new();
    let exited = json!({"type": "event", "event": "exited", "body": {"exitCode": 3}});
    let steps = [
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"send": output("line {{i}}\n"), "repeat": EVENTS}),
        json!({"send": exited}),
        json!({"send": {"type": "event", "event": "terminated"}}),
        json!({"exit": 0}),
    ];
    let expected: String = (0..EVENTS).map(|line| format!("line {line}\n")).collect();
    for run in 0..100 {
        let mut client = rig.client();
        begin(&mut client, adapter(&rig, &steps));
        assert_eq!(client.event("exited")["body"]["exitCode"], 3);
        client.event("terminated");
        client.output_containing("line 499\n");
        let timeline = client.timeline();
        // The fake itself says on its stdout where it listens, which is not the debuggee's output.
        let lines = timeline.events("output").filter(|body| body["category"] == "stdout");
        let lines: String = lines.filter_map(|body| body["output"].as_str()).collect();
        assert!(lines == expected, "run {run} got only {lines}");
        end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn everything_an_adapter_says_before_it_exits_arrives_a_hundred_times_of_a_hundred_over_stdio() {
    all_arrives(Rig::fake);
}

#[test]
fn everything_an_adapter_says_before_it_exits_arrives_a_hundred_times_of_a_hundred_over_tcp() {
    all_arrives(Rig::fake_tcp);
}
