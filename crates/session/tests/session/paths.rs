//! Files that the engine knows under other paths: said in the launch, or guessed.

use std::sync::Arc;

use breakroom_session::{ClientId, Finder, NodeId, Search, Setup};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities, setup};

/// A session that was launched with these words of the hub's own.
fn launched(setup: Setup, own: Value) -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::with(setup);
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let launch = rig.request(client, "launch", json!({"program": "/app/x.py", "breakroom": own}));
    let request = rig.got(node, "launch");
    assert_eq!(request["arguments"]["program"], "/app/x.py");
    rig.tell(node, "initialized", json!({}));
    rig.answer(node, &request, json!({}));
    rig.response(client, launch);
    rig.heard(client);
    (rig, client, node)
}

fn mapped() -> (Rig, ClientId, NodeId) {
    launched(setup(), json!({"pathMap": {"/app": "/home/me/app"}}))
}

/// Sets breakpoints and gives what the engine is asked and what the client is answered.
fn set(rig: &mut Rig, client: ClientId, node: NodeId, path: &str, engine: &str) -> Value {
    let source = json!({"path": path});
    let set = rig.request(client, "setBreakpoints", json!({"source": source, "breakpoints": [{"line": 3}]}));
    let asked = rig.got(node, "setBreakpoints");
    assert_eq!(asked["arguments"]["source"]["path"], engine);
    let breakpoint = json!({"id": 1, "verified": true, "line": 3, "source": {"path": engine}});
    rig.answer(node, &asked, json!({"breakpoints": [breakpoint]}));
    rig.response(client, set)["body"]["breakpoints"][0].clone()
}

#[test]
fn breakpoints_go_by_the_engines_path_and_come_back_by_the_clients() {
    let (mut rig, client, node) = mapped();
    let told = set(&mut rig, client, node, "/home/me/app/x.py", "/app/x.py");
    assert_eq!(told["source"]["path"], "/home/me/app/x.py");
    let elsewhere = set(&mut rig, client, node, "/home/me/other.py", "/home/me/other.py");
    assert_eq!(elsewhere["source"]["path"], "/home/me/other.py");
    rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": {"id": 1, "verified": true, "source": {"path": "/app/x.py"}}}));
    assert_eq!(rig.event(client, "breakpoint")["body"]["breakpoint"]["source"]["path"], "/home/me/app/x.py");
}

#[test]
fn frames_sources_and_output_are_in_the_clients_paths() {
    let (mut rig, client, node) = mapped();
    rig.tell(node, "output", json!({"output": "/app/x.py", "source": {"path": "/app/x.py"}, "line": 1}));
    let output = rig.event(client, "output")["body"].clone();
    assert_eq!(
        (&output["source"]["path"], &output["output"]),
        (&json!("/home/me/app/x.py"), &json!("/app/x.py"))
    );
    rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": "/app/y.py"}}));
    assert_eq!(rig.event(client, "loadedSource")["body"]["source"]["path"], "/home/me/app/y.py");
    rig.tell(node, "thread", json!({"reason": "started", "threadId": 1}));
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1}));
    let stack = rig.request(client, "stackTrace", json!({"threadId": 1}));
    let asked = rig.got(node, "stackTrace");
    let frame = |id: i64, path: &str| json!({"id": id, "name": "f", "line": 1, "column": 1, "source": {"path": path}});
    rig.answer(node, &asked, json!({"stackFrames": [frame(1, "/app/lib/z.py"), frame(2, "/usr/lib/os.py")]}));
    let frames = rig.response(client, stack)["body"]["stackFrames"].clone();
    assert_eq!(frames[0]["source"]["path"], "/home/me/app/lib/z.py");
    assert_eq!(frames[1]["source"]["path"], "/usr/lib/os.py");
    let goto =
        rig.request(client, "gotoTargets", json!({"source": {"path": "/home/me/app/x.py"}, "line": 4}));
    let asked = rig.got(node, "gotoTargets");
    assert_eq!(asked["arguments"]["source"]["path"], "/app/x.py");
    rig.answer(node, &asked, json!({"targets": []}));
    rig.response(client, goto);
}

#[test]
fn a_late_joiner_has_the_same_paths() {
    let (mut rig, client, node) = mapped();
    let done = rig.request(client, "configurationDone", json!({}));
    let asked = rig.got(node, "configurationDone");
    rig.answer(node, &asked, json!({}));
    rig.response(client, done);
    rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": "/app/y.py"}}));
    let late = rig.join_late();
    rig.request(late, "initialize", json!({"clientID": "late"}));
    rig.request(late, "attach", json!({}));
    rig.request(late, "configurationDone", json!({}));
    assert_eq!(rig.event(late, "loadedSource")["body"]["source"]["path"], "/home/me/app/y.py");
}

#[test]
fn a_file_that_is_not_here_is_found_said_once_and_used_from_then_on() {
    let find = |path: &str| match path {
        "/app/src/x.py" => Search::Found("/home/me/p/src/x.py".to_owned()),
        _ => Search::Nothing,
    };
    let setup = Setup { find: Some(Finder(Arc::new(find))), ..setup() };
    let (mut rig, client, node) = launched(setup, json!({}));
    let told = set(&mut rig, client, node, "/home/me/p/src/other.py", "/home/me/p/src/other.py");
    assert_eq!(told["source"]["path"], "/home/me/p/src/other.py");
    rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": "/app/src/x.py"}}));
    assert_eq!(rig.event(client, "loadedSource")["body"]["source"]["path"], "/home/me/p/src/x.py");
    let said = rig.event(client, "output")["body"]["output"].as_str().unwrap().to_owned();
    assert!(said.contains("/app is not here; taken to be /home/me/p"), "{said}");
    let again = rig.got(node, "setBreakpoints");
    assert_eq!(again["arguments"]["source"]["path"], "/app/src/other.py", "what was set before is told anew");
    rig.answer(node, &again, json!({"breakpoints": [{"id": 2, "verified": true, "line": 3}]}));
    rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": "/app/z.py"}}));
    assert_eq!(rig.event(client, "loadedSource")["body"]["source"]["path"], "/home/me/p/z.py");
    assert!(rig.names(client).iter().all(|name| name != "output"), "it is said once");
}

#[test]
fn a_file_that_is_still_looked_for_is_asked_for_again() {
    let looks = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let find = move |path: &str| match looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => Search::UnderWay,
        _ if path == "/app/x.py" => Search::Found("/home/me/x.py".to_owned()),
        _ => Search::Nothing,
    };
    let setup = Setup { find: Some(Finder(Arc::new(find))), ..setup() };
    let (mut rig, client, node) = launched(setup, json!({}));
    for is in ["/app/x.py", "/home/me/x.py"] {
        rig.tell(node, "loadedSource", json!({"reason": "new", "source": {"path": "/app/x.py"}}));
        assert_eq!(rig.event(client, "loadedSource")["body"]["source"]["path"], is);
    }
}

#[test]
fn what_is_no_place_is_left_alone() {
    let (mut rig, client, node) = mapped();
    rig.tell(node, "module", json!({"reason": "new", "module": {"id": 1, "name": "m", "path": "/app/m.so"}}));
    assert_eq!(rig.event(client, "module")["body"]["module"]["path"], "/app/m.so");
}
