//! What real debuggers do once a month: children without end, children that never come up, parents that go first.

use std::net::TcpListener;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::family::Viewer;
use crate::support::rig::{Rig, begin};

/// How many nodes a session may have.
const MOST: usize = 64;

fn announcement(configuration: Value) -> Value {
    let arguments = json!({"request": "launch", "configuration": configuration});
    json!({"send": {"type": "request", "command": "startDebugging", "arguments": arguments}})
}

fn on_the_same_server(name: &str) -> Value {
    announcement(json!({"type": "fake", "name": name, "__pendingTargetId": "target-1"}))
}

fn event(name: &str, body: Value) -> Value {
    json!({"send": {"type": "event", "event": name, "body": body}})
}

/// A child that comes up and stops.
fn stopping_child() -> Vec<Value> {
    vec![
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        event("thread", json!({"reason": "started", "threadId": 1})),
        event("stopped", json!({"reason": "breakpoint", "threadId": 1})),
    ]
}

/// What comes before whatever a parent announces.
fn configured(more: &[Value]) -> Vec<Value> {
    let begun = [json!({"expect": "configurationDone"}), json!({"respond": "configurationDone"})];
    begun.into_iter().chain(more.iter().cloned()).collect()
}

fn nodes_of_the_only_session(rig: &Rig) -> u64 {
    // One that is busy does not say how many it has.
    let look = || {
        let listed = rig.sandbox.command(["ls", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let nodes = listed[0]["nodes"].as_u64().unwrap_or_else(|| panic!("{listed}"));
        (listed[0]["state"] != "busy").then_some(nodes)
    };
    wait::until(wait::DEADLINE, look).expect("no session is busy for so long")
}

#[test]
fn a_session_has_at_most_sixty_four_nodes_and_lets_the_others_run() {
    let rig = Rig::new();
    let wanted = 70;
    let mut children = on_the_same_server("child {{i}}");
    children["repeat"] = wanted.into();
    let mut root = vec![children];
    root.extend((0..wanted).map(|_| json!({"expect_response": "startDebugging"})));
    let mut viewer = Viewer::new(rig.client());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&root), &stopping_child()]));
    for _ in 0..MOST - 1 {
        viewer.client.event("stopped");
    }
    let beyond = usize::try_from(wanted).unwrap() + 1 - MOST;
    let told = |output: &str| output.matches("is not debugged: this session has 64 processes").count();
    let all = wait::until(wait::DEADLINE, || {
        let output = viewer.client.timeline().output();
        (told(&output) == beyond).then_some(output)
    });
    all.unwrap_or_else(|| panic!("{}", viewer.client.timeline().output()));
    assert_eq!(nodes_of_the_only_session(&rig), MOST as u64);
    assert_eq!(viewer.threads().len(), MOST);
    viewer.leave();
    rig.only_the_daemon_is_left();
    rig.end_daemon();
}

#[test]
fn a_child_that_never_answers_is_told_of_and_the_rest_goes_on() {
    let rig = Rig::new();
    // Connections to it succeed, and nobody ever reads from them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let configuration = json!({
        "type": "fake", "name": "mute", "subProcessId": 4711, "connect": {"host": "127.0.0.1", "port": port},
    });
    let root = [json!({"stderr": "the adapter's last line\n"}), announcement(configuration)];
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&root)]));
    let told = viewer.client.output_containing("failed to open child session");
    for word in ["mute", &port.to_string(), "4711", "the adapter's last line"] {
        assert!(told.contains(word), "{word} is not in {told}");
    }
    assert_eq!(viewer.threads(), [(1, "main".to_owned())]);
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

/// The kernel gives it to nobody, as it may one that was just given back.
const NOBODYS: u16 = 1;

#[test]
fn a_child_at_a_port_that_nobody_listens_on_is_told_of() {
    let rig = Rig::new();
    let configuration = json!({"type": "fake", "name": "nowhere", "subProcessId": 7, "connect": {"host": "127.0.0.1", "port": NOBODYS}});
    let root = [announcement(configuration), json!({"expect_response": "startDebugging"})];
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&root)]));
    let told = viewer.client.output_containing("failed to open child session");
    assert!(told.contains("nowhere") && told.contains(&format!("127.0.0.1:{NOBODYS}")), "{told}");
    viewer.client.output_containing("\"success\":false");
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn a_child_on_another_machine_is_refused() {
    let rig = Rig::new();
    let configuration = json!({"type": "fake", "name": "far", "subProcessId": 7, "connect": {"host": "192.0.2.1", "port": 5678}});
    let root = [announcement(configuration), json!({"expect_response": "startDebugging"})];
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&root)]));
    let told = viewer.client.output_containing("\"success\":false");
    assert!(told.contains("192.0.2.1:5678") && told.contains("loopback"), "{told}");
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn a_child_is_met_on_the_unix_socket_of_its_parent() {
    let rig = Rig::new();
    let root = configured(&[on_the_same_server("beside")]);
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server_at("unix", "{{socket}}", &[&root, &stopping_child()]));
    viewer.client.event("stopped");
    assert_eq!(viewer.threads().len(), 2);
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn an_adapter_on_stdio_cannot_have_children_on_its_own_server() {
    let rig = Rig::new();
    let root = [on_the_same_server("lost"), json!({"expect_response": "startDebugging"})];
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake(&configured(&root)));
    let told = viewer.client.output_containing("\"success\":false");
    assert!(told.contains("lost") && told.contains("does not listen"), "{told}");
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn an_adapter_that_dies_while_a_child_is_awaited_says_so() {
    let rig = Rig::new();
    let configuration = json!({"type": "fake", "name": "orphan", "subProcessId": 7, "connect": {"host": "127.0.0.1", "port": NOBODYS}});
    let root = [announcement(configuration), json!({"stderr": "gone for good\n"}), json!({"exit": 3})];
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&root)]));
    viewer.client.allow(&["exited"]);
    viewer.client.event("terminated");
    viewer.leave();
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn a_child_goes_on_when_its_parents_connection_ends_first() {
    let rig = Rig::new();
    let root = [
        on_the_same_server("survivor"),
        json!({"expect_response": "startDebugging"}),
        json!({"expect": "pause"}),
        json!({"respond": "pause"}),
        event("exited", json!({"exitCode": 5})),
        event("terminated", json!({})),
        json!({"close_stdout": true}),
    ];
    let child = [
        stopping_child(),
        vec![
            json!({"expect": "continue"}),
            json!({"respond": "continue"}),
            event("output", json!({"category": "stdout", "output": "survived\n"})),
            event("terminated", json!({})),
        ],
    ]
    .concat();
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&root), &child]));
    let stop = viewer.client.event("stopped")["body"].clone();
    assert_eq!(viewer.threads().len(), 2);
    viewer.client.call("pause", json!({"threadId": 1}));
    viewer.thread_ends(1);
    let thread = stop["threadId"].clone();
    assert_eq!(viewer.threads().len(), 1);
    viewer.client.call("continue", json!({"threadId": thread}));
    viewer.client.output_containing("survived");
    assert_eq!(viewer.client.event("exited")["body"]["exitCode"], 5, "the code is the program's own");
    viewer.terminated();
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn a_child_that_closes_its_connection_without_a_word_ends_alone() {
    let rig = Rig::new();
    let child =
        [stopping_child(), vec![json!({"expect": "continue"}), json!({"close_stdout": true})]].concat();
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&[on_the_same_server("brief")]), &child]));
    let thread = viewer.client.event("stopped")["body"]["threadId"].clone();
    let resumed = viewer.client.request("continue", json!({"threadId": thread}));
    viewer.thread_ends(thread.as_i64().unwrap());
    viewer.client.failure(resumed);
    assert_eq!(viewer.threads().len(), 1);
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn a_child_whose_messages_cannot_be_read_ends_alone() {
    let rig = Rig::new();
    let child = [stopping_child(), vec![json!({"raw": "Content-Length: banana\r\n\r\n"})]].concat();
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&configured(&[on_the_same_server("garbled")]), &child]));
    let thread = viewer.client.event("stopped")["body"]["threadId"].as_i64().unwrap();
    viewer.thread_ends(thread);
    assert_eq!(viewer.threads().len(), 1);
    viewer.end(Value::Null);
    rig.sandbox.assert_nothing_left(wait::DEADLINE);
}
