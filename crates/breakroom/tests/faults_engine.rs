//! Adapters that break the protocol, through the real binary: the client gets one legal sequence and every answer.
//!
//! Those that die, hang or flood are in `faults_engine_life.rs`.
//!
//! | fault                                          | test |
//! |------------------------------------------------|------|
//! | bad or huge length, endless header             | `an_adapter_whose_framing_breaks_ends_its_session_with_the_reason`; wire `a_length_that_cannot_be_trusted_is_refused_from_both_sides` |
//! | odd headers, junk before a header              | `text_between_an_adapters_messages_becomes_output`; wire `what_an_adapter_prints_between_messages_is_junk` |
//! | text without end                               | `an_adapter_that_only_prints_text_takes_no_memory` |
//! | bad UTF-8 and the like                         | `faults_client.rs` `bytes_that_are_no_text_pass_in_both_directions` |
//! | no object, empty body, length 0, deep nesting  | `what_an_adapter_sends_that_is_no_message_is_dropped` |
//! | answers to nothing, twice, under number zero   | `answers_to_nothing_are_dropped` |
//! | `seq` missing or 0                             | `an_adapter_that_does_not_number_its_messages_is_numbered` |
//! | `initialized` early, late, twice               | `initialized_comes_once_and_in_order_whenever_the_adapter_says_it` |
//! | request that no client can answer              | `a_request_that_no_client_can_answer_is_answered_by_the_hub` |
//! | huge single value                              | `a_value_of_sixteen_megabytes_passes_whole` |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod faulty;
    pub mod rig;
}

use breakroom_testkit::{Arrival, fake, wait};
use serde_json::{Value, json};
use support::faulty::{once_asked, output, sees_it_end};
use support::rig::{BOUND, LONG, Rig, begin, end, initialize, launch, message, peak, text};

#[test]
fn an_adapter_whose_framing_breaks_ends_its_session_with_the_reason() {
    let rig = Rig::new();
    let long = format!("Content-Length: 5\r\nX: {}", "x".repeat(20_000));
    for (raw, why) in [
        ("Content-Length: -5\r\n\r\nhello", "-5"),
        ("Content-Length: 0x10\r\n\r\nhello", "0x10"),
        ("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "two lengths"),
        ("Content-Length: 99999999999999999999\r\n\r\nhello", "over the limit"),
        ("Content-Length: 2000000000\r\n\r\nhello", "over the limit"),
        (&long, "over 8192 bytes"),
    ] {
        let mut client = rig.client();
        begin(&mut client, rig.fake(&once_asked(&[json!({"raw": raw}), json!({"expect": "never"})])));
        let reason = sees_it_end(client);
        assert!(reason.contains(why), "{raw:.60?}: {reason}");
    }
    assert!(peak(rig.daemon()) < BOUND);
    rig.serves_another();
    rig.only_the_daemon_is_left();
}

#[test]
fn text_between_an_adapters_messages_becomes_output() {
    let rig = Rig::new();
    let steps = once_asked(&[
        json!({"raw": "loading plugins\n"}),
        json!({"respond": "threads"}),
        json!({"raw": "\r\n"}),
        json!({"raw": "content-length: 72\r\nContent-Type: x\n\n{\"seq\":1,\"type\":\"event\",\"event\":\"output\",\"body\":{\"output\":\"odd header\"}}"}),
    ]);
    let mut client = rig.client();
    begin(&mut client, rig.fake(&steps));
    client.call("threads", Value::Null);
    client.output_containing("loading plugins\n");
    client.output_containing("odd header");
    end(client);
}

#[test]
fn an_adapter_that_only_prints_text_takes_no_memory() {
    const BYTES: usize = 30_000_000;
    let rig = Rig::new();
    let mark = rig.sandbox.work().join("all-written");
    let print = format!("head -c {BYTES} /dev/zero | tr '\\0' x");
    let script = format!("{print}; {print} >&2; touch {}; exec sleep 600", text(&mark));
    let mut client = rig.raw();
    client.send(&message(1, "initialize", json!({})));
    client.send(&message(2, "launch", launch(json!({"args": ["sh", "-c", script]}))));
    let mut printed = 0;
    while printed < BYTES {
        printed += client.until("event", "output")["body"]["output"].as_str().unwrap().len();
    }
    assert_eq!(printed, BYTES);
    // What it writes to stderr is taken from it, too, and only the last lines are kept.
    wait::until(LONG, || mark.exists().then_some(())).expect("its stderr is read");
    assert!(peak(rig.daemon()) < BOUND, "{}", peak(rig.daemon()));
    client.send(&message(3, "disconnect", json!({})));
    client.until("response", "disconnect");
    client.finish();
    rig.only_the_daemon_is_left();
}

#[test]
fn what_an_adapter_sends_that_is_no_message_is_dropped() {
    let rig = Rig::new();
    let deep = "[".repeat(100_000);
    let junk = [
        "",
        " ",
        "[]",
        "42",
        "null",
        "{}",
        "{",
        "\"x\"",
        "{\"type\":\"dance\"}",
        "{\"type\":\"event\"}",
        &deep,
    ];
    let mut fault: Vec<Value> = junk.iter().map(|body| json!({"frame": body})).collect();
    fault.push(json!({"respond": "threads", "body": {"threads": []}}));
    let mut client = rig.client();
    begin(&mut client, rig.fake(&once_asked(&fault)));
    client.call("threads", Value::Null);
    client.call("evaluate", json!({"expression": "still here"}));
    end(client);
}

#[test]
fn answers_to_nothing_are_dropped() {
    let rig = Rig::new();
    let answer = |request_seq: Value| json!({"send": {"type": "response", "request_seq": request_seq, "command": "threads", "success": true, "body": {"wrong": true}}});
    let mut fault: Vec<Value> =
        [json!(0), json!(-1), json!(99), json!(1), json!("4"), Value::Null].map(answer).to_vec();
    fault.push(json!({"respond": "threads", "body": {"threads": []}}));
    fault.push(json!({"respond": "threads", "body": {"twice": true}}));
    // An answer before its request: the number is the next one the hub will use.
    fault.extend((5..8).map(|next| answer(json!(next))));
    let mut client = rig.client();
    begin(&mut client, rig.fake(&once_asked(&fault)));
    let answer = client.call("threads", Value::Null);
    assert_eq!(answer["body"], json!({"threads": []}));
    assert_eq!(client.call("evaluate", json!({"expression": "mine"}))["body"]["result"], "mine");
    end(client);
}

#[test]
fn an_adapter_that_does_not_number_its_messages_is_numbered() {
    let rig = Rig::new();
    for how in ["zero", "missing"] {
        let mut client = rig.client();
        begin(
            &mut client,
            rig.fake_with(
                &once_asked(&[json!({"send": output("x")}), json!({"respond": "threads"})]),
                &["--seq", how],
            ),
        );
        client.call("threads", Value::Null);
        client.output_containing("x");
        end(client);
    }
}

#[test]
fn initialized_comes_once_and_in_order_whenever_the_adapter_says_it() {
    let rig = Rig::new();
    let say = || json!({"send": {"type": "event", "event": "initialized"}});
    let expect = |command: &str| json!({"expect": command});
    let respond =
        |command: &str| json!({"respond": command, "body": {"supportsConfigurationDoneRequest": true}});
    let orders = [
        vec![say(), expect("initialize"), respond("initialize"), expect("launch"), respond("launch")],
        vec![expect("initialize"), say(), respond("initialize"), expect("launch"), respond("launch")],
        vec![expect("initialize"), respond("initialize"), say(), expect("launch"), respond("launch")],
        vec![expect("initialize"), respond("initialize"), expect("launch"), say(), respond("launch")],
        vec![expect("initialize"), respond("initialize"), expect("launch"), respond("launch"), say(), say()],
        vec![
            expect("initialize"),
            respond("initialize"),
            expect("launch"),
            say(),
            expect("configurationDone"),
            respond("configurationDone"),
            respond("launch"),
            say(),
        ],
    ];
    for steps in orders {
        let mut client = rig.client();
        initialize(&mut client);
        let launched = client.request("launch", launch(rig.fake(&steps)));
        client.expect_order(&[Arrival::Event("capabilities"), Arrival::Event("initialized")]);
        let done = client.request("configurationDone", Value::Null);
        client.response(done);
        client.response(launched);
        client.call("threads", Value::Null);
        end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn a_request_that_no_client_can_answer_is_answered_by_the_hub() {
    let rig = Rig::new();
    let ask = |command: &str, arguments: Value| json!({"send": {"type": "request", "command": command, "arguments": arguments}});
    let steps = once_asked(&[
        json!({"respond": "threads"}),
        ask("startDebugging", json!({"request": "launch", "configuration": {}})),
        json!({"expect_response": "startDebugging"}),
        ask("runInTerminal", json!({"cwd": "/", "args": ["sh", "-c", "tty && echo in a terminal"]})),
        json!({"expect_response": "runInTerminal"}),
    ]);
    let mut client = rig.client();
    begin(&mut client, rig.fake(&steps));
    client.call("threads", Value::Null);
    let output = client.output_containing("in a terminal");
    client.output_containing("processId");
    assert!(output.contains("failed to open child session"), "{output}");
    assert!(output.contains("/dev/pts/"), "{output}");
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_value_of_sixteen_megabytes_passes_whole() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, json!({"args": [text(fake::adapter_path()), "bench"]}));
    let answer = client
        .call("variables", json!({"variablesReference": 0, "bench": {"bytes": 16 << 20, "variables": 1}}));
    let value = answer["body"]["variables"][0]["value"].as_str().unwrap();
    assert!(value.len() > (16 << 20) - 100 && value.bytes().all(|byte| byte == b'x'));
    end(client);
}
