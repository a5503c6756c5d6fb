//! Clients that break the protocol, through the real binary: each gets one clear answer, loses at most its own
//! connection, and neither the hub nor the next session notices.
//!
//! | fault                                               | test |
//! |-----------------------------------------------------|------|
//! | length missing, negative, hex, `+5`, differing, > u64 | `a_client_whose_length_cannot_be_trusted_...`; wire `a_length_that_cannot_be_trusted_is_refused_from_both_sides` |
//! | length over the limit                               | `a_huge_length_takes_no_memory` |
//! | header too long, too many lines, endless            | `a_client_whose_length_cannot_be_trusted_...`; wire `a_header_block_has_bounds` |
//! | header dribbled byte by byte                        | `doors.rs` `a_header_that_never_ends_is_cut_off_after_ten_seconds` |
//! | other case, more headers, bare newline, blank lines, BOM | `odd_but_readable_headers_are_accepted`; wire `what_real_peers_send_is_understood_and_counted` |
//! | junk before a header                                | `a_client_whose_length_cannot_be_trusted_...` |
//! | body shorter than promised                          | `a_message_cut_short_is_never_carried_out` |
//! | bad UTF-8, control characters, lone surrogates      | `bytes_that_are_no_text_pass_in_both_directions` |
//! | deep nesting, many keys, `seq` twice, huge numbers  | `deep_wide_and_doubled_messages_cost_one_answer_at_most`; dap `every_top_level_seq_of_a_client_is_replaced_and_nested_ones_stay` |
//! | `seq` as text, float, negative, over 2^53           | `a_bad_seq_is_answered_with_the_reason` |
//! | no object, empty body, length 0                     | `what_is_no_message_is_answered_and_the_session_goes_on` |
//! | the same seq twice                                  | `two_requests_with_one_seq_are_both_answered` |
//! | answers to nothing                                  | `a_clients_answer_to_nothing_is_dropped` |
//! | client crashes                                      | `a_crashed_client_ends_what_it_launched_or_lets_go_of_it_as_it_said` |
//! | client crashes while it is asked something          | `a_client_that_dies_while_it_is_asked_fails_that_request_once` |
//! | late answer after the end                           | `a_late_answer_to_an_adapter_that_is_gone_is_ignored` |
//! | old references after a resume                       | `a_reference_of_an_earlier_stop_never_reaches_the_adapter` |
//! | slow reader, flood                                  | `a_client_that_does_not_read_a_flood_loses_nothing_and_costs_little` |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod rig;
}

use breakroom_testkit::{fake, wait};
use serde_json::{Value, json};
use support::rig::{
    BOUND, LONG, Rig, begin, begin_with, end, initialize, launch, message, peak, resident, text,
};

/// Sends `bytes` where a message is expected and returns the one error that must come back before the end.
fn refused(rig: &Rig, bytes: &[u8]) -> String {
    let mut client = rig.client();
    initialize(&mut client);
    let error = client.expect_answer(0);
    client.send_raw(bytes);
    let answer = client.failure(error);
    client.closed();
    let ended = client.finish();
    assert!(!ended.status.unwrap().success(), "a door whose client was cut off says so");
    answer["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_client_whose_length_cannot_be_trusted_is_told_why_and_let_go() {
    let rig = Rig::new();
    let long = format!("Content-Length: 5\r\nX-Long: {}", "x".repeat(9000));
    let many = "X-Line: 1\r\n".repeat(40);
    for (bytes, why) in [
        ("Content-Type: x\r\n\r\n{}", "no Content-Length"),
        ("Content-Length: -5\r\n\r\nhello", "-5"),
        ("Content-Length: 0x10\r\n\r\nhello", "0x10"),
        ("Content-Length: +5\r\n\r\nhello", "+5"),
        ("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "two lengths"),
        ("Content-Length: 99999999999999999999999\r\n\r\nhello", "over the limit"),
        ("Content-Length: 68719476736\r\n\r\nhello", "over the limit"),
        ("hello there\r\nContent-Length: 2\r\n\r\n{}", "hello there"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP"),
        ("Content-Length: 2\r\nOrigin: http://evil\r\n\r\n{}", "browsers"),
        (&long, "over 8192 bytes"),
        (&many, "over 32 lines"),
    ] {
        let said = refused(&rig, bytes.as_bytes());
        assert!(said.contains(why), "{bytes:?} was refused with {said:?}");
    }
    rig.serves_another();
    rig.only_the_daemon_is_left();
}

#[test]
fn a_huge_length_takes_no_memory() {
    let rig = Rig::new();
    rig.serves_another();
    let daemon = rig.daemon();
    let mut waiting = Vec::new();
    // Within the limit, so each could still come: only what comes may be kept.
    for _ in 0..20 {
        let mut client = rig.raw();
        client.send(&message(1, "initialize", json!({})));
        client.until("response", "initialize");
        client.bytes(b"Content-Length: 60000000\r\n\r\n{\"seq\":");
        waiting.push(client);
    }
    refused(&rig, b"Content-Length: 4000000000\r\n\r\n{");
    assert!(peak(daemon) < BOUND, "{} bytes are resident", peak(daemon));
    drop(waiting);
    rig.only_the_daemon_is_left();
}

#[test]
fn odd_but_readable_headers_are_accepted() {
    let rig = Rig::new();
    let mut client = rig.client();
    client.send_raw("\u{feff}".as_bytes());
    begin(&mut client, rig.fake(&[]));
    let body = |seq: i64| message(seq, "threads", json!({})).to_string();
    for (seq, head) in [
        (101, "content-length: {n}\r\n\r\n"),
        (102, "CONTENT-length:{n}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"),
        (103, "Content-Length: {n}\n\n"),
        (104, "\r\n\r\nContent-Length:  {n} \r\n\r\n"),
    ] {
        let answer = client.expect_answer(seq);
        let body = body(seq);
        client.send_raw((head.replace("{n}", &body.len().to_string()) + &body).as_bytes());
        assert_eq!(client.response(answer)["body"]["threads"][0]["id"], 1);
    }
    end(client);
}

#[test]
fn a_message_cut_short_is_never_carried_out() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let mut client = rig.raw();
    client.begin(rig.fake_with(&[], &["--log", &log]));
    let half = message(9, "evaluate", json!({"expression": "half"})).to_string();
    client.bytes(format!("Content-Length: {}\r\n\r\n{}", half.len() + 1, half).as_bytes());
    client.finish();
    rig.only_the_daemon_is_left();
    let asked: Vec<Value> = rig.log().into_iter().map(|line| line["command"].clone()).collect();
    assert!(!asked.contains(&json!("evaluate")), "half a message was carried out");
    assert_eq!(asked.last().unwrap(), "disconnect", "the adapter was told that its client is gone");
}

#[test]
fn bytes_that_are_no_text_pass_in_both_directions() {
    let rig = Rig::new();
    let odd = b"{\"seq\":4,\"type\":\"request\",\"command\":\"evaluate\",\"arguments\":{\"expression\":\"\xff\xfe \\ud800 \\u0000\"}}";
    let event = b"{\"seq\":9,\"type\":\"event\",\"event\":\"output\",\"body\":{\"output\":\"\xc3\x28 \x02 \\udfff\"}}";
    let recording = rig.sandbox.work().join("recording");
    let steps =
        [json!({"expect": "threads"}), json!({"frame": event.to_vec()}), json!({"respond": "threads"})];
    let script = fake::write_script(&rig.sandbox.work(), &steps);
    let adapter = text(fake::adapter_path());
    let mut client = rig.raw();
    client.begin(json!({"args": [adapter, "record", text(&recording), "--", adapter, text(&script)]}));
    client.frame(odd);
    client.send(&message(5, "threads", json!({})));
    let is_output = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains("\"output\"");
    let got = std::iter::from_fn(|| client.next()).find(is_output).unwrap();
    let after_seq = |bytes: &[u8]| bytes[bytes.iter().position(|byte| *byte == b',').unwrap()..].to_vec();
    assert_eq!(after_seq(&got), after_seq(event));
    let told = std::fs::read(recording.with_extension("to")).unwrap();
    let wanted = after_seq(odd);
    assert!(told.windows(wanted.len()).any(|window| window == wanted), "{}", String::from_utf8_lossy(&told));
    client.send(&message(6, "disconnect", json!({})));
    client.until("response", "disconnect");
    client.finish();
}

#[test]
fn deep_wide_and_doubled_messages_cost_one_answer_at_most() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let mut client = rig.client();
    begin(&mut client, rig.fake_with(&[], &["--log", &log]));
    let frame = |seq: i64, arguments: &str| {
        let body =
            format!(r#"{{"seq":{seq},"type":"request","command":"evaluate","arguments":{arguments}}}"#);
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let answer = client.expect_answer(100);
    client.send_raw(frame(100, &format!(r#"{{"expression":"x","deep":{deep}}}"#)).as_bytes());
    client.failure(answer);
    let wide = r#""key":1,"#.repeat(1_000_000);
    let answer = client.expect_answer(101);
    client.send_raw(frame(101, &format!(r#"{{{wide}"expression":"wide"}}"#)).as_bytes());
    assert_eq!(client.response(answer)["body"]["result"], "wide");
    let answer = client.expect_answer(102);
    client.send_raw(frame(102, r#"{"expression":"1e999999","n":123456789012345678901234567890}"#).as_bytes());
    client.response(answer);
    // Twice on purpose: the first one counts, and neither reaches the adapter.
    let answer = client.expect_answer(103);
    let doubled = r#"{"seq":103,"type":"request","command":"threads","seq":104}"#;
    client.send_raw(format!("Content-Length: {}\r\n\r\n{doubled}", doubled.len()).as_bytes());
    client.response(answer);
    end(client);
    let reached = rig.log();
    assert!(reached.iter().all(|line| line["seq"].as_i64().is_none_or(|seq| seq < 100)));
    rig.only_the_daemon_is_left();
}

#[test]
fn a_bad_seq_is_answered_with_the_reason() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    for (seq, answered_as) in [
        ("\"5\"", 0),
        ("5.5", 0),
        ("-3", 0),
        ("null", 0),
        ("[]", 0),
        ("1e400", 0),
        ("9223372036854775808", 0),
    ] {
        let answer = client.expect_answer(answered_as);
        let body = format!(r#"{{"seq":{seq},"type":"request","command":"threads"}}"#);
        client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = client.failure(answer);
        assert!(answer["message"].as_str().unwrap().contains("seq"), "{seq}: {answer}");
    }
    client.call("threads", Value::Null);
    end(client);
}

#[test]
fn what_is_no_message_is_answered_and_the_session_goes_on() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    for body in ["", " ", "[]", "42", "null", "\"text\"", "{}", "{", "{]", "{\"seq\":1,\"type\":\"dance\"}"] {
        let answer = client.expect_answer(0);
        client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = client.failure(answer);
        let said = answer["message"].as_str().unwrap();
        assert!(said.contains("session goes on"), "{body:?}: {said}");
    }
    client.call("threads", Value::Null);
    end(client);
}

#[test]
fn two_requests_with_one_seq_are_both_answered() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    let evaluate = |text: &str| message(77, "evaluate", json!({"expression": text}));
    let first = client.send(evaluate("first"));
    let second = client.send(evaluate("second"));
    assert_eq!(client.response(first)["body"]["result"], "first");
    assert_eq!(client.response(second)["body"]["result"], "second");
    end(client);
}

#[test]
fn a_clients_answer_to_nothing_is_dropped() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let mut client = rig.client();
    begin(&mut client, rig.fake_with(&[], &["--log", &log]));
    for request_seq in [json!(0), json!(1), json!(-1), json!(999), json!("2"), Value::Null] {
        let answer = json!({"seq": 50, "type": "response", "request_seq": request_seq, "command": "x", "success": true});
        let _ = client.send(answer);
    }
    let _ = client.send(json!({"seq": 51, "type": "event", "event": "stopped", "body": {}}));
    client.call("threads", Value::Null);
    end(client);
    assert!(rig.log().iter().all(|line| line["type"] != "response" && line["type"] != "event"));
}

#[test]
fn a_crashed_client_ends_what_it_launched_or_lets_go_of_it_as_it_said() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let mut stranger = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    for (command, on_last_leave, terminate) in [("launch", "terminate", true), ("attach", "detach", false)] {
        let mut client = rig.client();
        let record = rig.fake_with(&[json!({"spawn": ["sleep", "600"]})], &["--log", &log]);
        let mut arguments = launch(record);
        arguments["breakroom"]["onLastLeave"] = json!(on_last_leave);
        begin_with(&mut client, command, arguments);
        // A request is under way, and its answer will find nobody.
        let _ = client.request("threads", Value::Null);
        client.abandon();
        rig.only_the_daemon_is_left();
        let last = rig.log().pop().unwrap();
        assert_eq!(last["command"], "disconnect");
        assert_eq!(last["arguments"]["terminateDebuggee"], terminate);
    }
    assert!(stranger.try_wait().unwrap().is_none(), "a process that was only attached to goes on");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    rig.serves_another();
}

#[test]
fn a_client_that_dies_while_it_is_asked_fails_that_request_once() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let ask = json!({"type": "request", "command": "runInTerminal", "arguments": {"args": ["true"]}});
    let steps = [
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"send": ask}),
        json!({"expect_response": "runInTerminal"}),
    ];
    let mut client = rig.client();
    client.call("initialize", json!({"adapterID": "fake", "supportsRunInTerminalRequest": true}));
    let launched = client.request("launch", launch(rig.fake_with(&steps, &["--log", &log])));
    client.event("capabilities");
    client.event("initialized");
    client.response(launched);
    client.call("configurationDone", Value::Null);
    client.reverse("runInTerminal");
    client.abandon();
    rig.only_the_daemon_is_left();
    let answers: Vec<Value> = rig.log().into_iter().filter(|line| line["type"] == "response").collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["success"], false);
    assert!(answers[0]["message"].as_str().unwrap().contains("gone"));
}

#[test]
fn a_late_answer_to_an_adapter_that_is_gone_is_ignored() {
    let rig = Rig::new();
    let ask = json!({"type": "request", "command": "runInTerminal", "arguments": {"args": ["true"]}});
    let steps = [
        json!({"expect": "threads"}),
        json!({"respond": "threads"}),
        json!({"send": ask}),
        json!({"exit": 0}),
    ];
    let mut client = rig.client();
    client.call("initialize", json!({"adapterID": "fake", "supportsRunInTerminalRequest": true}));
    let launched = client.request("launch", launch(rig.fake(&steps)));
    client.event("capabilities");
    client.event("initialized");
    client.response(launched);
    client.call("threads", Value::Null);
    let asked = client.reverse("runInTerminal");
    client.event("terminated");
    client.reply(&asked, true, json!({"processId": 1}));
    let refused = client.call_failing("threads", Value::Null);
    assert!(refused["message"].as_str().unwrap().contains("not possible any more"), "{refused}");
    end(client);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_reference_of_an_earlier_stop_never_reaches_the_adapter() {
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let stop =
        json!({"send": {"type": "event", "event": "stopped", "body": {"reason": "step", "threadId": 1}}});
    let steps = [
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        stop.clone(),
        json!({"expect": "next"}),
        json!({"respond": "next"}),
        stop,
    ];
    let mut client = rig.client();
    begin(&mut client, rig.fake_with(&steps, &["--log", &log]));
    client.event("stopped");
    let stack = client.call("stackTrace", json!({"threadId": 1}));
    let frame = stack["body"]["stackFrames"][0]["id"].clone();
    client.call("scopes", json!({"frameId": frame}));
    client.call("next", json!({"threadId": 1}));
    client.event("stopped");
    let refused = client.call_failing("scopes", json!({"frameId": frame}));
    assert!(refused["message"].as_str().unwrap().contains("earlier stop"), "{refused}");
    end(client);
    let asked = rig.log().iter().filter(|line| line["command"] == "scopes").count();
    assert_eq!(asked, 1);
}

#[test]
fn a_client_that_does_not_read_a_flood_loses_nothing_and_costs_little() {
    const EVENTS: u64 = 200_000;
    let rig = Rig::new();
    rig.serves_another();
    let daemon = rig.daemon();
    let output = json!({"type": "event", "event": "output", "body": {"category": "stdout", "output": "line {{i}} of many\n"}});
    // Answered first: under load the flood takes long, and nothing but the flood shall be heard.
    let steps = [
        json!({"expect": "threads"}),
        json!({"respond": "threads"}),
        json!({"send": output, "repeat": EVENTS}),
        json!({"send": {"type": "event", "event": "x-done"}}),
    ];
    let mut client = rig.raw();
    client.begin(rig.fake(&steps));
    client.send(&message(4, "threads", json!({})));
    client.until("response", "threads");
    // The flood is on once the client's own pipe is full and the adapter waits.
    let full = wait::until(LONG, || {
        let before = resident(daemon);
        rig.serves_another();
        (resident(daemon) <= before).then_some(())
    });
    full.expect("the hub stops taking what nobody reads");
    assert!(peak(daemon) < BOUND, "{} bytes were resident", peak(daemon));
    let mut seq = None;
    for line in 0..EVENTS {
        let event = client.until("event", "output");
        assert_eq!(event["body"]["output"], format!("line {line} of many\n"));
        let number = event["seq"].as_u64().unwrap();
        assert!(seq.is_none_or(|before| number == before + 1), "a gap before {number}");
        seq = Some(number);
    }
    client.until("event", "x-done");
    assert!(peak(daemon) < BOUND, "{} bytes were resident", peak(daemon));
    client.send(&message(5, "disconnect", json!({})));
    client.until("response", "disconnect");
    client.finish();
    rig.only_the_daemon_is_left();
}

#[test]
fn a_client_that_asks_without_end_and_reads_nothing_costs_little_and_is_answered_in_the_end() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::io::Write;

    let rig = Rig::new();
    rig.serves_another();
    let daemon = rig.daemon();
    let mut client = rig.raw();
    client.send(&message(1, "initialize", json!({})));
    client.until("response", "initialize");
    let body = message(2, "threads", json!({})).to_string();
    let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let many = frame.repeat(1000);
    let mut input = client.input.take().unwrap();
    let flags = rustix::fs::fcntl_getfl(&input).unwrap();
    rustix::fs::fcntl_setfl(&input, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    let mut sent = 0;
    // Until the hub has not taken a byte for two seconds.
    loop {
        match input.write(&many.as_bytes()[sent % many.len()..]) {
            Ok(written) => sent += written,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                let patience = Timespec { tv_sec: 2, tv_nsec: 0 };
                if poll(&mut [PollFd::new(&input, PollFlags::OUT)], Some(&patience)).unwrap() == 0 {
                    break;
                }
            }
            Err(error) => panic!("{error}"),
        }
        assert!(sent < 256 << 20, "the hub takes more than anybody reads");
    }
    assert!(peak(daemon) < BOUND, "{} bytes were resident", peak(daemon));
    rustix::fs::fcntl_setfl(&input, flags).unwrap();
    let (whole, begun) = (sent / frame.len(), sent % frame.len());
    let rest = frame.as_bytes()[begun..].to_vec();
    let writer = std::thread::spawn(move || {
        input.write_all(&rest).unwrap();
        input
    });
    for _ in 0..=whole {
        assert_eq!(client.until("response", "threads")["success"], false);
    }
    client.input = Some(writer.join().unwrap());
    client.send(&message(3, "disconnect", json!({})));
    client.until("response", "disconnect");
    client.finish();
    rig.only_the_daemon_is_left();
}
