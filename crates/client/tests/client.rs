//! The client against a scripted debugger.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use breakroom_client::{Client, Error, Messages, Request, Typed};
use serde_json::{Value, json};

use breakroom_testkit::scripted::{self as peer, Say};

fn client(
    script: impl FnMut(&str, &Value) -> Vec<Say> + Send + 'static,
) -> (Client, impl FnOnce() -> Vec<(String, Value)>) {
    let (stream, debugger): (UnixStream, _) = peer::start(script);
    let client = Client::new(stream.try_clone().unwrap(), stream);
    (client, move || debugger.join().unwrap())
}

#[test]
fn a_request_of_the_debugger_is_refused_with_its_own_seq() {
    let (mut client, asked) = client(|command, _| match command {
        "initialize" => vec![Say::Ask("runInTerminal"), Say::Answer(json!({}))],
        _ => vec![Say::Answer(Value::Null), Say::Close],
    });
    client.initialize("python", "Ann").unwrap();
    client.request("disconnect", json!({})).unwrap();
    let asked = asked();
    let (_, answer) = asked.iter().find(|(kind, _)| kind == "answer").unwrap();
    assert_eq!(
        (&answer["request_seq"], &answer["success"], &answer["seq"]),
        (&json!(77), &json!(false), &json!(2))
    );
}

#[test]
fn events_wait_in_order_while_an_answer_is_awaited() {
    let (mut client, _) = client(|_, _| {
        vec![
            Say::Event("one", Value::Null),
            Say::Event("two", Value::Null),
            Say::Answer(json!(5)),
            Say::Close,
        ]
    });
    assert_eq!(client.request("anything", json!({})).unwrap(), 5);
    let patience = Duration::from_secs(30);
    assert_eq!(client.next_event(patience).unwrap().name, "one");
    assert_eq!(client.next_event(patience).unwrap().name, "two");
    assert!(matches!(client.next_event(patience), Err(Error::Disconnected { .. })));
}

#[test]
fn a_silent_debugger_and_a_dead_one_are_told_apart() {
    let (mut silent, _) = client(|_, _| vec![]);
    let error = silent.request_within("threads", json!({}), Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error}");
    let (mut dead, _) = client(|_, _| vec![Say::Raw("Content-Length: 50\r\n\r\n{"), Say::Close]);
    let error = dead.request("threads", json!({})).unwrap_err().to_string();
    assert!(error.contains("1 of a message's 50 bytes"), "{error}");
}

#[test]
fn a_message_that_is_not_json_costs_only_itself() {
    let (mut client, _) =
        client(|_, _| vec![Say::Raw("Content-Length: 3\r\n\r\n{{{"), Say::Answer(json!(1))]);
    assert_eq!(client.request("threads", json!({})).unwrap(), 1);
    let event = client.next_event(Duration::from_secs(30)).unwrap();
    assert!(event.body["output"].as_str().unwrap().contains("not JSON"));
}

#[test]
fn what_was_taken_in_while_a_launch_is_watched_is_not_waited_for_again() {
    let (mut client, _) = client(|command, _| match command {
        "launch" => vec![
            Say::Event("initialized", Value::Null),
            Say::Event("mark", Value::Null),
            Say::Answer(Value::Null),
        ],
        _ => vec![Say::Answer(json!({}))],
    });
    client.initialize("python", "Ann").unwrap();
    let mut marked = false;
    let meanwhile = |client: &mut Client| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !marked {
            assert!(Instant::now() < deadline, "the mark has not come");
            marked = client.take(|happening| happening.is_event("mark")).is_some();
        }
        Ok::<_, Error>(())
    };
    client.start_watched(Request::Launch, json!({}), meanwhile, |_| Ok(())).unwrap();
}

#[test]
fn a_program_that_is_over_before_it_can_be_debugged_is_not_waited_for() {
    let (mut client, _) = client(|command, _| match command {
        "launch" => vec![Say::Answer(Value::Null), Say::Event("terminated", Value::Null)],
        _ => vec![Say::Answer(json!({}))],
    });
    client.initialize("perl", "Ann").unwrap();
    let configure = |_: &mut Client| panic!("there is nobody to tell breakpoints");
    client.start::<Error>(Request::Launch, json!({}), configure).unwrap();
    assert!(client.take(|happening| happening.is_event("terminated")).is_some(), "it is still to be shown");
}

#[test]
fn a_line_that_is_kept_apart_is_not_overlooked_while_events_are_taken() {
    let (mut client, _) = client(|_, _| vec![]);
    client.listen_apart(&b"hello\n"[..]);
    client.want_line();
    let deadline = Instant::now() + Duration::from_secs(60);
    // Looking for events takes the line in as well.
    while !client.has_typed() {
        assert!(Instant::now() < deadline && client.happened().is_none());
    }
    client.wait_for_anything(Messages::Taken, None);
    assert_eq!(client.typed(), Some(Typed::Line(b"hello\n".to_vec())));
}

#[test]
fn a_line_is_heard_before_all_that_the_debugger_said_earlier() {
    let (mut client, _) = client(|_, _| {
        let mut said: Vec<Say> = (0..20_000).map(|_| Say::Event("output", json!({"output": "x"}))).collect();
        said.insert(0, Say::Answer(Value::Null));
        said
    });
    client.listen_apart(&b"hello\n"[..]);
    client.request("continue", json!({})).unwrap();
    assert_eq!(client.next_event(Duration::from_secs(60)).unwrap().name, "output");
    client.want_line();
    while !client.has_typed() {
        client.wait_for_anything(Messages::Left, Some(Instant::now() + Duration::from_secs(60)));
    }
    assert_eq!(client.typed(), Some(Typed::Line(b"hello\n".to_vec())));
    // Most of it is still where it was.
    assert!(client.waiting().count() < 1000);
    for _ in 1..20_000 {
        assert_eq!(client.next_event(Duration::from_secs(30)).unwrap().name, "output");
    }
}
