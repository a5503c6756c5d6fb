//! Child sessions: the ids under which they are announced, and the connections that clients open for them.
//!
//! How children look to a client that opens none is in the hub's own tests.

use breakroom_testkit::{Strict, fake, wait};
use serde_json::{Value, json};

use crate::support::bridging::{Bridging, TOKEN};
use crate::support::rig::{LONG, Rig, end, text};

/// The configuration of a child. Its type has nothing to do with the adapter.
fn worker() -> Value {
    json!({"type": "python", "request": "launch", "name": "worker", "program": "w.py"})
}

/// An adapter that announces a child at each of so many `vendor/spawn`, and then exits at `vendor/exit`. The adapters of its
/// children do the same.
fn announcing(children: usize) -> Vec<Value> {
    let arguments = json!({"request": "launch", "configuration": worker()});
    let announce = [
        json!({"expect": "vendor/spawn"}),
        json!({"send": {"type": "request", "command": "startDebugging", "arguments": arguments}}),
        json!({"respond": "vendor/spawn"}),
    ];
    let exit = [json!({"expect": "vendor/exit"}), json!({"exit": 0})];
    std::iter::repeat_n(announce, children).flatten().chain(exit).collect()
}

/// From `initialize` to a program that runs.
fn begin(client: &mut Strict, launch: Value) {
    client.allow(&["thread", "output"]);
    client.call("initialize", json!({"adapterID": "fake", "supportsStartDebuggingRequest": true}));
    let launch = client.request("launch", launch);
    client.event("initialized");
    client.call("configurationDone", json!({}));
    client.response(launch);
}

/// Has a client's adapter announce a child. The client hears of it as it was announced, with its id.
fn announce(client: &mut Strict, id: &str) -> Value {
    client.call("vendor/spawn", json!({}));
    let asked = client.reverse("startDebugging");
    let mut announced = worker();
    announced["__dcp_child_session_id"] = id.into();
    assert_eq!(asked["arguments"], json!({"request": "launch", "configuration": announced}));
    client.reply(&asked, true, json!({}));
    announced
}

fn open(bridge: &Bridging, id: &str, announced: Value) -> Strict {
    let mut child = bridge.child(id);
    begin(&mut child, announced);
    child.call("threads", Value::Null);
    child
}

fn assert_not_found(bridge: &Bridging, id: &str) {
    for token in [TOKEN, "wrong"] {
        let (_, answer) = bridge.ask_for_child(id, token);
        assert_eq!(answer, json!({"success": false, "error": "bridge session not found"}), "{id} {token}");
    }
}

#[test]
fn r80_child_that_was_not_announced_or_has_ended_is_not_found() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let mut client = bridge.client("s", &rig.fake(&announcing(1)));
    begin(&mut client, json!({"program": "x"}));
    ["s:0", "s:12", "s:0:0"].into_iter().for_each(|id| assert_not_found(&bridge, id));
    let announced = announce(&mut client, "s:0");
    ["s:1", "s:12", "s:0:0"].into_iter().for_each(|id| assert_not_found(&bridge, id));
    let (_, refused) = bridge.ask_for_child("s:0", "wrong");
    assert_eq!(refused["error"], "invalid session token");
    let mut child = open(&bridge, "s:0", announced);
    announce(&mut child, "s:0:0");
    assert_not_found(&bridge, "s:0:1");
    let exits = child.request("vendor/exit", json!({}));
    child.failure(exits);
    child.event("terminated");
    child.closed();
    child.finish();
    // The child of the child has a process of its own and lives on, but its id has ended with its parent.
    ["s:0", "s:0:0"].into_iter().for_each(|id| assert_not_found(&bridge, id));
    // The client of the session sees it there.
    let mut threads = || client.call("threads", Value::Null)["body"]["threads"].as_array().unwrap().len();
    wait::until(LONG, || (threads() == 2).then_some(())).expect("the child of the ended child is shown");
    end(client);
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r09_grandchildren_have_ids_of_their_own_in_every_mode() {
    for (mode, options) in [
        ("stdio", &[][..]),
        ("tcp-connect", &["--serve", "{{port}}"]),
        ("tcp-callback", &["--connect", "{{port}}"]),
    ] {
        let rig = Rig::new();
        let bridge = Bridging::start(&rig, &["s"]);
        let mut adapter = rig.fake_with(&announcing(2), options);
        adapter["mode"] = mode.into();
        let mut client = bridge.client("s", &adapter);
        begin(&mut client, json!({"program": "x"}));
        let first = announce(&mut client, "s:0");
        let mut child = open(&bridge, "s:0", first);
        let second = announce(&mut client, "s:1");
        let sibling = open(&bridge, "s:1", second);
        let grandchild = announce(&mut child, "s:0:0");
        let mut grandchild = open(&bridge, "s:0:0", grandchild);
        announce(&mut grandchild, "s:0:0:0");
        let listed = rig.sandbox.command(["ls", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let ids: Vec<_> =
            listed[0]["tree"].as_array().unwrap().iter().map(|node| node["child_id"].clone()).collect();
        assert_eq!(
            ids,
            [Value::Null, json!("s:0"), json!("s:1"), json!("s:0:0"), json!("s:0:0:0")],
            "{mode}"
        );
        end(client);
        for mut child in [child, sibling, grandchild] {
            child.event("terminated");
            child.closed();
            child.finish();
        }
        assert!(bridge.finish().success());
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn r57_child_of_an_adapter_gets_the_same_adapter_whatever_its_type_is() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let mut client = bridge.client("s", &rig.fake(&announcing(1)));
    begin(&mut client, json!({"program": "x"}));
    let announced = announce(&mut client, "s:0");
    let child = open(&bridge, "s:0", announced);
    let program = text(fake::adapter_path());
    let processes = rig.sandbox.census().processes();
    let adapters = processes.iter().filter(|process| process.command_line.contains(&program)).count();
    assert!(adapters >= 2, "{processes:?}");
    assert!(!processes.iter().any(|process| process.command_line.contains("debugpy")), "{processes:?}");
    end(child);
    end(client);
}
