//! The strict client against the fake adapter: legal sessions pass, each broken rule is caught.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

use breakroom_testkit::client::Ended;
use breakroom_testkit::{Arrival, Rule, Strict, fake};
use serde_json::{Value, json};

struct Bench {
    client: Strict,
    /// Holds the script until the adapter has read it.
    _folder: tempfile::TempDir,
}

fn connect(steps: &[Value]) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-adapter"));
    command.arg(fake::write_script(folder.path(), steps));
    Bench { client: Strict::spawn(command), _folder: folder }
}

/// Initializes, makes one request, disconnects.
fn short_session(steps: &[Value], prepare: impl FnOnce(&mut Strict)) -> Ended {
    let Bench { mut client, _folder } = connect(steps);
    prepare(&mut client);
    client.call("initialize", json!({"adapterID": "fake"}));
    client.call("threads", Value::Null);
    client.call("disconnect", Value::Null);
    client.finish()
}

/// The text with which a test would have failed.
fn failure(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).expect_err("this should have failed");
    panic.downcast_ref::<String>().expect("the text of the failure").clone()
}

fn event(name: &str) -> Value {
    json!({"send": {"type": "event", "event": name}})
}

#[test]
fn a_legal_session_passes() {
    let stop = json!({"type": "event", "event": "stopped", "body": {"reason": "breakpoint", "threadId": 1}});
    let Bench { mut client, _folder } = connect(&[
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"send": stop}),
    ]);
    let capabilities = client.call("initialize", json!({"adapterID": "fake"}));
    assert_eq!(capabilities["body"]["supportsConfigurationDoneRequest"], true);
    let launch = client.request("launch", json!({"program": "x"}));
    client.event("initialized");
    let set = client
        .call("setBreakpoints", json!({"source": {"path": "x"}, "breakpoints": [{"line": 3}, {"line": 5}]}));
    assert_eq!(set["body"]["breakpoints"][1], json!({"id": 2, "verified": true, "line": 5}));
    client.call("configurationDone", Value::Null);
    client.response(launch);
    assert_eq!(client.event("stopped")["body"]["threadId"], 1);
    assert_eq!(client.call("threads", Value::Null)["body"]["threads"][0]["name"], "main");
    client.call("disconnect", Value::Null);
    let ended = client.finish();
    assert!(ended.status.unwrap().success());
    assert_eq!(ended.timeline.events("stopped").count(), 1);
}

#[test]
fn each_broken_rule_is_caught_and_can_be_tolerated() {
    let after_threads = |steps: &[Value]| -> Vec<Value> {
        let first = [json!({"expect": "threads"}), json!({"respond": "threads"})];
        first.iter().chain(steps).cloned().collect()
    };
    let before_initialize = |steps: &[Value]| -> Vec<Value> {
        let first = json!({"expect": "initialize"});
        let last = json!({"respond": "initialize", "body": {}});
        [&[first], steps, &[last]].concat()
    };
    let threads_answered = |answer: Value| vec![json!({"expect": "threads"}), answer];
    let event_with_seq = json!({"send": {"type": "event", "event": "output", "seq": 77}});
    let stranger =
        json!({"send": {"type": "response", "request_seq": 99, "command": "next", "success": true}});
    let nameless = json!({"send": {"type": "response", "request_seq": 2, "command": "", "success": true}});
    let successless = json!({"send": {"type": "response", "request_seq": 2, "command": "threads"}});
    let plain = "{\"seq\":3,\"type\":\"event\",\"event\":\"output\"}";
    let table: Vec<(Rule, &str, Vec<Value>)> = vec![
        (Rule::Sequence, "seq is 77, expected 3", after_threads(&[event_with_seq])),
        (Rule::OneAnswer, "a response to 99", after_threads(&[stranger])),
        (Rule::OneAnswer, "a response to 2", after_threads(&[json!({"respond": "threads"})])),
        (Rule::Command, "says its command is \"\"", threads_answered(nameless)),
        (Rule::InitializeFirst, "event `output` before", before_initialize(&[event("output")])),
        (
            Rule::InitializeFirst,
            "reverse request `runInTerminal` before",
            before_initialize(&[json!({"send": {"type": "request", "command": "runInTerminal"}})]),
        ),
        (Rule::InitializedOnce, "number 2", after_threads(&[event("initialized"), event("initialized")])),
        (Rule::TerminatedOnce, "number 2", after_threads(&[event("terminated"), event("terminated")])),
        (
            Rule::DisconnectLast,
            "event `output` after",
            vec![
                json!({"expect": "disconnect"}),
                json!({"respond": "disconnect"}),
                event("output"),
                json!({"exit": 0}),
            ],
        ),
        (Rule::Message, "not JSON", after_threads(&[json!({"frame": "{\"seq\":3,"})])),
        (Rule::Message, "type is null", after_threads(&[json!({"send": {"hello": 1}})])),
        (Rule::Message, "without a name", after_threads(&[json!({"send": {"type": "event"}})])),
        (Rule::Message, "without `success`", threads_answered(successless)),
        (Rule::Framing, "text between messages", after_threads(&[json!({"raw": "hello\n"})])),
        (
            Rule::Framing,
            "headers are not plain",
            after_threads(&[json!({"raw": format!("content-length: {}\r\n\r\n{plain}", plain.len())})]),
        ),
        (
            Rule::Framing,
            "the stream ended",
            vec![
                json!({"expect": "disconnect"}),
                json!({"respond": "disconnect"}),
                json!({"raw": "Content-Length: 500\r\n\r\n{\"seq\":"}),
                json!({"exit": 0}),
            ],
        ),
    ];
    for (rule, text, steps) in table {
        let caught = failure(|| {
            short_session(&steps, |client| client.allow(&["output", "initialized", "terminated"]));
        });
        assert!(caught.starts_with("the peer broke the protocol"), "{rule:?}: {caught}");
        let expected = format!("{rule:?}: ");
        let line = caught.lines().find(|line| line.contains(&expected));
        assert!(line.is_some_and(|line| line.contains(text)), "{rule:?}, {text:?}: {caught}");
        let tolerant = catch_unwind(AssertUnwindSafe(|| {
            // One fault may break the numbering of the next message as well.
            short_session(&steps, |client| client.tolerate(&[rule, Rule::Sequence]));
        }));
        // What is tolerated must still be observed, which this session does not always do.
        if let Err(panic) = tolerant {
            let text = panic.downcast_ref::<String>().unwrap();
            assert!(!text.starts_with("the peer broke the protocol"), "{rule:?}: {text}");
        }
    }
}

#[test]
fn a_message_nobody_looked_at_fails_at_the_end_unless_allowed() {
    let steps = [json!({"expect": "threads"}), json!({"respond": "threads"}), event("module")];
    let text = failure(|| {
        short_session(&steps, |_| {});
    });
    assert!(text.starts_with("1 messages were not expected:"), "{text}");
    assert!(text.contains("<-?") && text.contains("\"module\""), "{text}");
    let ended = short_session(&steps, |client| client.allow(&["module"]));
    assert_eq!(ended.timeline.events("module").count(), 1);
}

#[test]
fn an_answer_nobody_looked_at_fails_at_the_end() {
    let text = failure(|| {
        short_session(&[], |client| {
            let _ = client.request("initialize", Value::Null);
        });
    });
    assert!(text.contains("1 messages were not expected"), "{text}");
}

#[test]
fn dropping_a_client_without_finish_fails() {
    let text = failure(|| drop(connect(&[])));
    assert!(text.contains("without `finish`"), "{text}");
}

#[test]
fn a_success_is_no_failure_and_the_reverse() {
    let failing = [
        json!({"expect": "threads"}),
        json!({"respond": "threads", "success": false, "message": "no threads here"}),
    ];
    let text = failure(|| {
        short_session(&failing, |_| {});
    });
    assert!(text.starts_with("`threads` failed") && text.contains("no threads here"), "{text}");
    let Bench { mut client, _folder } = connect(&failing);
    client.call("initialize", Value::Null);
    assert_eq!(client.call_failing("threads", Value::Null)["message"], "no threads here");
    let text = failure(|| {
        client.call_failing("scopes", Value::Null);
    });
    assert!(text.starts_with("`scopes` should have failed"), "{text}");
    client.abandon();
}

#[test]
fn a_silent_peer_fails_at_the_deadline_and_a_dead_one_at_once() {
    let Bench { mut client, _folder } = connect(&[json!({"hang": true})]);
    client.set_deadline(Duration::from_millis(50));
    let text = failure(|| {
        client.call("initialize", Value::Null);
    });
    assert!(text.contains("in vain for the response to `initialize`"), "{text}");
    client.abandon();
    let steps = [json!({"expect": "initialize"}), json!({"stderr": "out of luck\n"}), json!({"exit": 3})];
    let Bench { mut client, _folder } = connect(&steps);
    let text = failure(|| {
        client.call("initialize", Value::Null);
    });
    assert!(text.contains("the peer closed the connection before the response to `initialize`"), "{text}");
    assert_eq!(client.finish().status.unwrap().code(), Some(3));
}

#[test]
fn messages_in_the_wrong_order_are_caught() {
    let steps = [
        json!({"expect": "configurationDone"}),
        event("process"),
        json!({"respond": "configurationDone"}),
        event("stopped"),
    ];
    let order = |arrivals: &[Arrival<'_>]| {
        let Bench { mut client, _folder } = connect(&steps);
        client.call("initialize", Value::Null);
        let _ = client.request("configurationDone", Value::Null);
        assert_eq!(client.expect_order(arrivals).len(), arrivals.len());
        client.call("disconnect", Value::Null);
        client.finish();
    };
    let [process, answer, stopped] =
        [Arrival::Event("process"), Arrival::Response("configurationDone"), Arrival::Event("stopped")];
    order(&[process, answer, stopped]);
    let text = failure(|| order(&[answer, process, stopped]));
    assert!(
        text.contains(
            "the event `process` (line 3) came before the response to `configurationDone` (line 4)"
        ),
        "{text}"
    );
}

#[test]
fn a_reverse_request_is_answered() {
    let steps = [
        json!({"expect": "launch"}),
        json!({"send": {"type": "request", "command": "runInTerminal", "arguments": {"args": ["x"]}}}),
        json!({"expect_response": "runInTerminal"}),
        json!({"respond": "launch"}),
    ];
    let Bench { mut client, _folder } = connect(&steps);
    client.call("initialize", Value::Null);
    let launch = client.request("launch", json!({}));
    let request = client.reverse("runInTerminal");
    assert_eq!(request["arguments"]["args"][0], "x");
    client.reply(&request, true, json!({"processId": 5}));
    assert!(client.output_containing("processId").contains("\"success\":true"));
    client.response(launch);
    client.call("disconnect", Value::Null);
    client.finish();
}

#[test]
fn one_seq_sent_twice_is_to_be_answered_twice() {
    let Bench { mut client, _folder } = connect(&[]);
    client.call("initialize", Value::Null);
    let threads = json!({"seq": 50, "type": "request", "command": "threads"});
    let first = client.send(threads.clone());
    let second = client.send(threads);
    client.response(first);
    client.response(second);
    let raw = client.expect_answer(51);
    let body = "{\"seq\":51,\"type\":\"request\",\"command\":\"scopes\" }";
    client.send_raw(format!("content-length:{}\n\n{body}", body.len()).as_bytes());
    client.response(raw);
    client.call("disconnect", Value::Null);
    client.finish();
}

#[test]
fn one_that_stalls_takes_nothing_until_it_is_woken() {
    const EVENTS: usize = 200;
    let mut output = event("x-big");
    output["send"]["body"] = json!({"text": "x".repeat(10_000)});
    output["repeat"] = EVENTS.into();
    let steps = [json!({"expect": "threads"}), output, json!({"respond": "threads"})];
    let Bench { mut client, _folder } = connect(&steps);
    client.call("initialize", json!({"adapterID": "fake"}));
    client.stall();
    let asked = client.request("threads", Value::Null);
    let received = client.timeline().received().count();
    assert!(received <= 2, "the answer to `initialize`, and what the reader was about to take: {received}");
    client.wake();
    client.response(asked);
    (0..EVENTS).for_each(|_| drop(client.event("x-big")));
    client.call("disconnect", Value::Null);
    client.finish();
}
