//! Corners in which two rules meet.

use std::sync::atomic::{AtomicBool, Ordering};

use breakroom_session::{ClientId, FileId, Input, NodeId, Setup};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities, lines, setup};

fn set(rig: &mut Rig, client: ClientId, node: NodeId, path: &str, list: Value) {
    let seq = rig.request(client, "setBreakpoints", json!({"source": {"path": path}, "breakpoints": list}));
    if !rig.has_answer(client, seq) {
        let request = rig.got(node, "setBreakpoints");
        rig.agree(node, &request);
    }
    rig.response(client, seq);
}

/// The old engine goes, and the new one comes up to where it waits for its launch.
fn replaced(rig: &mut Rig, old: NodeId) -> NodeId {
    let disconnect = rig.got(old, "disconnect");
    rig.answer(old, &disconnect, json!({}));
    rig.node_ended(old, "exit code 0", "");
    let new = rig.started.last().unwrap().0;
    rig.node_up(new);
    let initialize = rig.got(new, "initialize");
    rig.answer(new, &initialize, capabilities());
    new
}

/// Bob joined with `attach {breakroom: {session}}`. VS Code sends its whole configuration with `restart`.
#[test]
fn restart_by_a_joiner_uses_the_launchers_arguments() {
    let (mut rig, _tess, bob, old) = Rig::shared();
    rig.request(
        bob,
        "restart",
        json!({"arguments": {"type": "breakroom", "request": "attach", "name": "Join", "breakroom": {"session": "abcd"}}}),
    );
    let new = replaced(&mut rig, old);
    assert_eq!(rig.got(new, "launch")["arguments"]["program"], "x.py");
}

/// A new program begins to count anew.
#[test]
fn hits_begin_anew_after_a_restart() {
    let (mut rig, tess, bob, old) = Rig::shared();
    set(&mut rig, tess, old, "x.py", json!([{"line": 3, "hitCondition": "2"}]));
    set(&mut rig, bob, old, "x.py", json!([{"line": 3, "condition": "b"}]));
    let run = |rig: &mut Rig, node: NodeId| {
        let seq = rig.request(tess, "continue", json!({"threadId": 1}));
        let request = rig.got(node, "continue");
        rig.answer(node, &request, json!({}));
        rig.response(tess, seq);
    };
    let hit = |rig: &mut Rig, node: NodeId| {
        rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]}));
        let request = rig.got(node, "stackTrace");
        let frame = json!({"id": 1000, "name": "f", "line": 3, "column": 1, "source": {"path": "x.py"}});
        rig.answer(node, &request, json!({"stackFrames": [frame]}));
        let request = rig.got(node, "evaluate");
        rig.answer(node, &request, json!({"result": "False", "variablesReference": 0}));
    };
    run(&mut rig, old);
    hit(&mut rig, old);
    let request = rig.got(old, "continue");
    rig.answer(old, &request, json!({}));
    hit(&mut rig, old);
    rig.heard(tess);
    rig.heard(bob);
    rig.request(tess, "restart", json!({}));
    let new = replaced(&mut rig, old);
    rig.tell(new, "initialized", json!({}));
    for request in rig.engine_heard(new) {
        match request.json["command"].as_str() {
            Some("setBreakpoints") => rig.agree(new, &request.json),
            _ => rig.answer(new, &request.json, json!({})),
        }
    }
    rig.heard(tess);
    hit(&mut rig, new);
    let request = rig.got(new, "continue");
    rig.answer(new, &request, json!({}));
    assert!(rig.heard(tess).is_empty());
    hit(&mut rig, new);
    rig.event(tess, "stopped");
}

static SAVED: AtomicBool = AtomicBool::new(false);

/// `git checkout`, or vim's save by rename: x.py's old inode is free and the next file that is written gets it.
fn identify(path: &str) -> Option<FileId> {
    let inode = match (path, SAVED.load(Ordering::SeqCst)) {
        ("/x.py", false) => 100,
        ("/y.py", false) => 101,
        ("/x.py", true) => 102,
        ("/y.py", true) => 100,
        _ => return None,
    };
    Some(FileId { device: 1, inode })
}

#[test]
fn a_reused_inode_is_not_the_file_that_had_it() {
    let mut rig = Rig::with(Setup { identify: Some(identify), ..setup() });
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientName": "Tess", "adapterID": "python"}));
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.start(tess, node, "launch");
    set(&mut rig, tess, node, "/x.py", json!([{"line": 3}]));
    SAVED.store(true, Ordering::SeqCst);
    rig.request(tess, "setBreakpoints", json!({"source": {"path": "/y.py"}, "breakpoints": [{"line": 7}]}));
    let told = rig.got(node, "setBreakpoints");
    assert_eq!((told["arguments"]["source"]["path"].as_str(), lines(&told)), (Some("/y.py"), vec![7]));
}

/// Somebody joins just while the hub judges a stop that nobody wants.
#[test]
fn a_joiner_hears_nothing_of_a_stop_that_is_judged() {
    let (mut rig, tess, bob, node) = Rig::shared();
    set(&mut rig, tess, node, "x.py", json!([{"line": 3, "condition": "a"}]));
    set(&mut rig, bob, node, "x.py", json!([{"line": 3, "condition": "b"}]));
    let seq = rig.request(tess, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({}));
    rig.response(tess, seq);
    rig.tell(
        node,
        "stopped",
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]}),
    );
    let request = rig.got(node, "stackTrace");
    let late = rig.bring("Late", json!({}), json!({}));
    let shown = rig.names(late);
    let frame = json!({"id": 1000, "name": "f", "line": 3, "column": 1, "source": {"path": "x.py"}});
    rig.answer(node, &request, json!({"stackFrames": [frame]}));
    for _ in 0..2 {
        let request = rig.got(node, "evaluate");
        rig.answer(node, &request, json!({"result": "False", "variablesReference": 0}));
    }
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({}));
    let after = rig.names(late);
    assert!(!shown.contains(&"stopped".into()), "{shown:?}, then {after:?}");
}

/// debugpy moves 9 to 10, and of two breakpoints in one line the last counts.
#[test]
fn breakpoints_that_the_engine_moves_to_one_place_are_merged() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.request(tess, "setBreakpoints", json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 9}]}));
    let request = rig.got(node, "setBreakpoints");
    rig.answer(node, &request, json!({"breakpoints": [{"id": 1, "verified": true, "line": 10}]}));
    rig.request(
        bob,
        "setBreakpoints",
        json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 10, "condition": "b"}]}),
    );
    let request = rig.got(node, "setBreakpoints");
    rig.answer(node, &request, json!({"breakpoints": [{"id": 2, "verified": true, "line": 10}, {"id": 3, "verified": true, "line": 10}]}));
    let last = rig
        .engine_heard(node)
        .into_iter()
        .map(|heard| heard.json)
        .filter(|json| json["command"] == "setBreakpoints")
        .last()
        .unwrap_or(request);
    assert!(!last.to_string().contains("condition"), "the engine still judges: {}", last["arguments"]);
}

/// Delve: every goroutine is a thread, and none is ever said to have exited.
#[test]
fn threads_that_stopped_once_are_forgotten() {
    let (mut rig, tess, _bob, node) = Rig::shared();
    let mut sizes = Vec::new();
    for goroutine in 2..2002 {
        let seq = rig.request(tess, "continue", json!({"threadId": goroutine - 1}));
        let request = rig.got(node, "continue");
        rig.answer(node, &request, json!({"allThreadsContinued": true}));
        rig.response(tess, seq);
        rig.tell(
            node,
            "stopped",
            json!({"reason": "pause", "threadId": goroutine, "allThreadsStopped": true}),
        );
        if goroutine % 1000 == 1 {
            sizes.push(format!("{:?}", rig.session).len());
        }
        for heard in [1, 2] {
            rig.heard(ClientId(heard));
        }
    }
    assert!(sizes[1] < sizes[0] + 200_000, "{sizes:?}");
}

/// A log full of objects: only those that are still in the picture can be opened by anybody new.
#[test]
fn console_objects_do_not_pile_up() {
    let (mut rig, tess, node) = Rig::running();
    let mut sizes = Vec::new();
    for number in 1..=20_000 {
        rig.tell(node, "output", json!({"category": "stdout", "output": "x", "variablesReference": number}));
        rig.heard(tess);
        if number % 10_000 == 0 {
            sizes.push(format!("{:?}", rig.session).len());
        }
    }
    assert!(sizes[1] < sizes[0] + 500_000, "{sizes:?}");
}

/// The launcher does not read; what it was to be asked is in its queue when it is let go.
#[test]
fn a_reverse_request_in_the_queue_of_a_hopeless_client_is_failed() {
    let (mut rig, tess, _bob, node) = Rig::shared_with(json!({"supportsRunInTerminalRequest": true}));
    rig.stall_client(tess);
    let seq = rig.ask(node, "runInTerminal", json!({"args": ["x"], "cwd": "/"}));
    for number in 0..80 {
        rig.tell(node, "vendor", json!({"number": number, "text": "x".repeat(1 << 20)}));
        rig.heard(ClientId(2));
    }
    rig.read_on(tess);
    rig.on(Input::Timer);
    let answered = rig.engine_heard(node).iter().any(|heard| heard.json["request_seq"] == seq);
    assert!(answered, "closed: {:?}", rig.closed(tess));
}

/// Thread 1 is judged; thread 2, which was resumed before, is only now said to run.
#[test]
fn a_word_about_another_thread_does_not_end_a_judgement() {
    let (mut rig, tess, bob, node) = Rig::shared();
    set(&mut rig, tess, node, "x.py", json!([{"line": 3, "condition": "a"}]));
    set(&mut rig, bob, node, "x.py", json!([{"line": 3, "condition": "b"}]));
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({}));
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [103]}));
    rig.got(node, "stackTrace");
    rig.tell(node, "continued", json!({"threadId": 2, "allThreadsContinued": false}));
    rig.advance(60);
    rig.event(tess, "stopped");
}

/// An engine that restarts by itself: what was numbered in the old program is not sent to the new one.
#[test]
fn references_end_with_a_restart_that_the_engine_does() {
    let mut can = capabilities();
    can["supportsRestartRequest"] = json!(true);
    let (mut rig, tess, node) = Rig::running_with(can, json!({}));
    let bob = rig.bring("Bob", json!({}), json!({}));
    rig.stop(node, 1);
    let frames = json!({"stackFrames": [{"id": 0, "name": "f", "line": 3, "column": 1}]});
    let stack = rig.round_trip(bob, node, "stackTrace", json!({"threadId": 1}), frames);
    rig.round_trip(tess, node, "restart", json!({}), json!({}));
    let seq = rig.request(bob, "scopes", json!({"frameId": stack["body"]["stackFrames"][0]["id"]}));
    rig.refusal(bob, seq);
}

/// The base set promised something that this engine has not.
#[test]
fn what_the_base_set_promised_and_the_engine_cannot_is_taken_back() {
    let mut rig = Rig::new();
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientName": "Tess", "adapterID": "unknown"}));
    rig.request(tess, "launch", json!({"program": "x", "breakroom": {"adapter": {"args": ["x"]}}}));
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    assert_eq!(rig.event(tess, "capabilities")["body"]["capabilities"]["supportsBase"], false);
}

/// nvim crashed and comes back without any breakpoints of its own.
#[test]
fn whoever_comes_back_is_told_of_what_it_still_owns() {
    let mut rig = Rig::with(Setup { reach: breakroom_session::Reach::Shared, ..setup() });
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientID": "t", "clientName": "Tess", "adapterID": "python"}));
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.start(tess, node, "launch");
    let bob = rig.bring("Bob", json!({}), json!({}));
    set(&mut rig, bob, node, "x.py", json!([{"line": 3}]));
    rig.lose(bob);
    let again = rig.bring("Bob", json!({}), json!({}));
    rig.event(again, "breakpoint");
}

#[test]
fn the_list_of_everybodys_breakpoints_counts_as_its_reader_does() {
    let (mut rig, tess, node) = Rig::running_with(capabilities(), json!({"linesStartAt1": false}));
    let seq = rig.request(
        tess,
        "setBreakpoints",
        json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 2}]}),
    );
    let request = rig.got(node, "setBreakpoints");
    rig.agree(node, &request);
    rig.response(tess, seq);
    let seq = rig.request(tess, "breakroom/breakpoints", json!({}));
    assert_eq!(rig.response(tess, seq)["body"]["breakpoints"][0]["line"], 2);
}
