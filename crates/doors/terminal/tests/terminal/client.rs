//! The client alone against a scripted debugger.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use breakroom_door_terminal::{Client, Error};
use serde_json::{Value, json};

use crate::peer::{self, Say};

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
