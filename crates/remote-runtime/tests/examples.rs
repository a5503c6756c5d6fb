//! Each example line of the protocol's document, as it stands there: read, and written again with the same content.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use breakroom_remote_runtime::{
    Assigned, Evaluation, Event, Incoming, Properties, Reply, Request, Response, Scope, Stack, Threads,
    failure_fields, is_answered,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const EXAMPLES: &str = include_str!("examples.jsonl");

fn examples(kind: &str) -> Vec<Value> {
    let all = EXAMPLES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|message| message["type"] == kind).collect()
}

fn parsed(line: &str) -> Value {
    assert!(line.ends_with("}\n"), "{line:?}");
    serde_json::from_str(line).unwrap()
}

#[test]
fn s112_every_example_has_a_known_type() {
    let counts = ["request", "response", "event"].map(|kind| examples(kind).len());
    assert_eq!(counts.iter().sum::<usize>(), EXAMPLES.lines().count());
    assert!(counts.iter().all(|count| *count > 8), "{counts:?}");
}

#[test]
fn s112_requests_are_read_and_written_again() {
    for example in examples("request") {
        let request = Request::read(example.to_string().as_bytes()).unwrap();
        assert_eq!(request.name, request.command.name());
        assert_eq!(parsed(&Request::line(request.seq, &request.command)), example);
    }
}

#[test]
fn s112_events_are_read_and_written_again() {
    for example in examples("event") {
        let Incoming::Event(event) = Incoming::read(example.to_string().as_bytes()) else {
            panic!("{example}")
        };
        assert_eq!(parsed(&event.line()), example);
        assert!(matches!(Event::read(example), Ok(Some(read)) if read == event));
    }
}

fn written_again<T: DeserializeOwned + Serialize>(response: Response) -> Value {
    let command = response.command.clone();
    let reply = Reply { request_seq: response.request_seq, command: &command };
    let body: T = response.body().unwrap();
    parsed(&reply.success(body))
}

#[test]
fn s112_successes_are_read_and_written_again() {
    for example in examples("response").into_iter().filter(|response| response["success"] == true) {
        let Incoming::Response(response) = Incoming::read(example.to_string().as_bytes()) else {
            panic!("{example}")
        };
        assert!(is_answered(&response.command), "{example}");
        let again = match response.command.as_str() {
            "get_threads" => written_again::<Threads>(response),
            "get_stack" => written_again::<Stack>(response),
            "get_scope" => written_again::<Scope>(response),
            "get_property" => written_again::<Properties>(response),
            "get_evaluation" => written_again::<Evaluation>(response),
            "set_variable" => written_again::<Assigned>(response),
            command => parsed(&Reply { request_seq: response.request_seq, command }.success(json!({}))),
        };
        assert_eq!(again, example);
    }
}

/// What is written has all fields of the command, which the document demands and its examples leave out.
#[test]
fn s112_failures_are_read_and_written_again() {
    for example in examples("response").into_iter().filter(|response| response["success"] == false) {
        let response = Response::read(&example).unwrap();
        let why = response.result.unwrap_err();
        assert_eq!(why, example["message"]);
        let reply = Reply { request_seq: response.request_seq, command: &response.command };
        let again = parsed(&reply.failure(&why, &failure_fields(&example)));
        for (key, value) in example.as_object().unwrap() {
            assert_eq!(&again[key], value, "{key}: {again}");
        }
    }
}
