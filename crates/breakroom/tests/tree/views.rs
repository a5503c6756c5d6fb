//! Who sees which nodes: late joiners, and clients that take children as sessions of their own.

use serde_json::{Value, json};

use crate::support::company::{listed, only_session};
use crate::support::editor::{Desk, Hub};
use crate::support::family::{Mark, NODE, PYTHON, Stop, Viewer};

const MAIN: Mark = ("main.js", "main");
const WORKER: Mark = ("worker.js", "worker");
const FORKED: Mark = ("forked.js", "forked");
const BREAKPOINTS: [Mark; 2] = [WORKER, FORKED];

/// One that opens a session for every child, as VS Code does.
fn opens_children() -> Value {
    json!({"supportsStartDebuggingRequest": true, "clientName": "Opener"})
}

/// Such a client, which has launched a program that stops.
fn launched(desk: &Desk) -> Viewer {
    let mut root = Viewer::at(desk, Hub::Shared, &["--type", NODE.kind], opens_children());
    root.launch(NODE.launch(&[]), &[MAIN]);
    root
}

/// What it is asked to open, in a session of its own.
fn opened(desk: &Desk, parent: &mut Viewer) -> Viewer {
    let announced = parent.client.reverse("startDebugging");
    parent.client.reply(&announced, true, Value::Null);
    let mut child = Viewer::at(desk, Hub::Shared, &[], opens_children());
    child.attach_with(announced["arguments"]["configuration"].clone());
    child
}

#[test]
fn a_late_joiner_sees_three_nodes_stopped_and_may_let_one_go_on() {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut first = Viewer::at(&desk, Hub::Shared, &["--type", NODE.kind], json!({"clientName": "First"}));
    first.launch(NODE.launch(&["worker", "worker", "fork"]), &BREAKPOINTS);
    let stops = first.stops(3);
    let id = only_session(&desk);

    let mut second = Viewer::at(&desk, Hub::Shared, &["--session", &id], json!({"clientName": "Second"}));
    second.attach(json!({}));
    let shown = second.stops(3);
    let threads = |stops: &[Stop]| {
        let mut threads: Vec<i64> = stops.iter().map(|stop| stop.thread).collect();
        threads.sort_unstable();
        threads
    };
    assert_eq!(threads(&stops), threads(&shown));
    assert_eq!(first.threads(), second.threads());
    for stop in &shown {
        assert_eq!(second.evaluate(stop, "steps"), "0");
    }
    second.resume(&shown[0]);
    second.thread_ends(shown[0].thread);
    first.thread_ends(shown[0].thread);
    for stop in &shown[1..] {
        second.still_stopped(stop);
        let same = stops.iter().find(|known| known.thread == stop.thread).unwrap();
        first.still_stopped(same);
        second.resume(stop);
    }
    first.client.event("terminated");
    second.terminated();
    first.leave();
    desk.leave(Hub::Shared);
}

#[test]
fn a_client_that_opens_children_joins_each_while_another_sees_one_session() {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut root = Viewer::at(&desk, Hub::Shared, &["--type", NODE.kind], opens_children());
    root.launch(NODE.launch(&["fork"]), &[FORKED]);
    let id = only_session(&desk);

    // The hub's own request, and not the adapter's: whoever follows it comes to the hub.
    let announced = root.client.reverse("startDebugging");
    root.client.reply(&announced, true, Value::Null);
    let configuration = announced["arguments"]["configuration"].clone();
    assert_eq!(announced["arguments"]["request"], "attach", "{announced}");
    assert_eq!(configuration["type"], NODE.kind, "{announced}");
    assert_eq!(configuration["breakroom"]["session"], id, "{announced}");
    assert!(configuration["__pendingTargetId"].is_null(), "{announced}");

    let mut program = Viewer::at(&desk, Hub::Shared, &[], opens_children());
    program.attach_with(configuration);
    let mut forked = opened(&desk, &mut program);
    let stop = forked.stop();
    assert!(stop.is_at(FORKED), "{stop:?}");
    assert_eq!(forked.evaluate(&stop, "name"), "fork0");
    assert_eq!(forked.threads().len(), 1);
    assert!(root.threads().is_empty(), "nothing runs in the node that only coordinates");

    // Another client has them all in one list.
    let mut other = Viewer::at(&desk, Hub::Shared, &["--session", &id], json!({"clientName": "Other"}));
    other.attach(json!({}));
    let seen = other.stop();
    assert!(seen.is_at(FORKED), "{seen:?}");
    assert_eq!(other.threads().len(), 2);
    assert_eq!(listed(&desk)[0]["nodes"], 3);

    other.resume(&seen);
    forked.client.event("continued");
    forked.terminated();
    program.terminated();
    let timeline = root.terminated();
    assert_eq!(timeline.events("stopped").count(), 0, "{timeline}");
    other.terminated();
    desk.leave(Hub::Shared);
}

/// VS Code opens a child session with its own adapter unless the configuration names the server.
#[test]
fn child_sessions_are_opened_at_the_debug_server_of_the_launch() {
    for (kin, starts) in [(&NODE, &[][..]), (&PYTHON, &["child"][..])] {
        if kin.skipped() {
            continue;
        }
        let desk = Desk::new();
        let mut root = Viewer::at(&desk, Hub::Shared, &["--type", kin.kind], opens_children());
        let mut launch = kin.launch(starts);
        launch["debugServer"] = json!(4711);
        root.launch(launch, &[]);
        let announced = root.client.reverse("startDebugging");
        assert_eq!(announced["arguments"]["configuration"]["debugServer"], 4711, "{announced}");
        root.client.reply(&announced, false, json!("it is only looked at"));
        root.terminated();
        desk.leave(Hub::Shared);
    }
}

#[test]
fn a_program_and_its_child_process_are_two_sessions_to_who_opens_them() {
    if PYTHON.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut program = Viewer::at(&desk, Hub::Shared, &["--type", PYTHON.kind], opens_children());
    program.launch(PYTHON.launch(&["child"]), &[("main.py", "main"), ("child.py", "child")]);
    let main = program.stop();
    assert!(main.is_at(("main.py", "main")), "{main:?}");
    let announced = program.client.reverse("startDebugging");
    program.client.reply(&announced, true, Value::Null);

    let mut child = Viewer::at(&desk, Hub::Shared, &[], opens_children());
    child.attach_with(announced["arguments"]["configuration"].clone());
    let stop = child.stop();
    assert!(stop.is_at(("child.py", "child")), "{stop:?}");
    assert_eq!((program.threads().len(), child.threads().len()), (1, 1));
    let not_its_own = child.client.call_failing("stackTrace", json!({"threadId": main.thread}));
    assert!(not_its_own["message"].as_str().is_some(), "{not_its_own}");

    // One that is lost leaves the child to the program's client, and to whoever opens it again.
    child.client.abandon();
    let mut again = Viewer::at(&desk, Hub::Shared, &[], opens_children());
    again.attach_with(announced["arguments"]["configuration"].clone());
    let stop = again.stop();
    assert_eq!(again.evaluate(&stop, "kind"), "child");
    again.resume(&stop);
    again.terminated();
    program.still_stopped(&main);
    program.resume(&main);
    program.client.output_containing("codes [0]");
    program.client.event("exited");
    let timeline = program.terminated();
    assert_eq!(timeline.events("stopped").count(), 1, "{timeline}");
    desk.leave(Hub::Shared);
}

#[test]
fn a_client_that_cannot_open_a_child_sees_it_in_its_own_session() {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut root = launched(&desk);
    let announced = root.client.reverse("startDebugging");
    root.client.reply(&announced, false, json!("no room"));
    let stop = root.stop();
    assert!(stop.is_at(MAIN), "{stop:?}");
    root.resume(&stop);
    root.terminated();
    desk.leave(Hub::Shared);
}

/// One attaches to the forked process of another's program, and leaves it by `command`.
fn visited(command: &str) {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut first = Viewer::at(&desk, Hub::Shared, &["--type", NODE.kind], json!({"clientName": "First"}));
    first.launch(NODE.launch(&["fork", "worker"]), &BREAKPOINTS);
    let stops = first.stops(2);
    let session = listed(&desk).remove(0);
    let nodes = crate::support::family::tree(&session);
    let forked =
        nodes.iter().find(|node| node["name"].as_str().is_some_and(|name| name.contains("forked.js")));
    let forked = forked.unwrap_or_else(|| panic!("{nodes:?}"));

    let mut visitor = Viewer::at(&desk, Hub::Shared, &[], json!({"clientName": "Visitor"}));
    visitor.attach(json!({"session": session["id"], "node": forked["id"]}));
    let stop = visitor.stop();
    assert!(stop.is_at(FORKED), "{stop:?}");
    assert_eq!(visitor.threads().len(), 1);
    visitor.client.allow(&["terminated", "exited"]);
    if command == "terminate" {
        visitor.client.call(command, json!({}));
    }
    visitor.end(json!({"terminateDebuggee": true}));

    let (forked, others): (Vec<_>, Vec<_>) = stops.iter().partition(|stop| stop.is_at(FORKED));
    if command == "disconnect" {
        first.still_stopped(forked[0]);
        first.resume(forked[0]);
    }
    first.thread_ends(forked[0].thread);
    first.still_stopped(others[0]);
    first.resume(others[0]);
    first.client.output_containing("worker1 2");
    first.terminated();
    desk.leave(Hub::Shared);
}

#[test]
fn a_client_of_a_child_that_terminates_it_ends_only_that_child() {
    visited("terminate");
}

#[test]
fn a_child_whose_visitor_presses_stop_goes_on_for_its_owner() {
    visited("disconnect");
}

/// nvim-dap's Stop, which leaves an owner's worker stopped for ever if it reaches js-debug.
#[test]
fn a_worker_whose_visitor_presses_stop_goes_on_for_its_owner() {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut first = Viewer::at(&desk, Hub::Shared, &["--type", NODE.kind], json!({"clientName": "First"}));
    first.launch(NODE.launch(&["worker"]), &[WORKER]);
    let stop = first.stop();
    let id = only_session(&desk);

    let mut second = Viewer::at(&desk, Hub::Shared, &["--session", &id], opens_children());
    second.attach(json!({}));
    let mut program = opened(&desk, &mut second);
    let mut worker = opened(&desk, &mut program);
    assert!(worker.stop().is_at(WORKER));
    worker.client.allow(&["terminated", "exited"]);
    worker.end(json!({"terminateDebuggee": true}));
    first.still_stopped(&stop);
    first.resume(&stop);
    program.terminated();
    second.terminated();
    first.terminated();
    desk.leave(Hub::Shared);
}

/// What an editor does whose Stop is pressed: js-debug only lets go of the program, which would run on.
#[test]
fn a_stopped_program_whose_own_client_ends_it_runs_no_further_line() {
    if NODE.skipped() {
        return;
    }
    for command in ["disconnect", "terminate"] {
        let desk = Desk::new();
        let mut root = launched(&desk);
        let mut program = opened(&desk, &mut root);
        program.stop();
        program.client.allow(&["terminated", "exited"]);
        if command == "terminate" {
            program.client.call(command, json!({}));
        }
        program.end(json!({"terminateDebuggee": true}));
        let timeline = root.terminated();
        let said = timeline.received().filter(|message| message["event"] == "output");
        let said: String = said.filter_map(|message| message["body"]["output"].as_str()).collect();
        assert!(!said.contains("main 42"), "{command}: {said}");
        desk.leave(Hub::Shared);
    }
}

#[test]
fn a_child_whose_viewer_left_is_seen_where_its_parent_is() {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut root = launched(&desk);
    let mut program = opened(&desk, &mut root);
    program.stop();
    program.end(json!({"terminateDebuggee": false}));
    let stop = root.stop();
    assert!(stop.is_at(MAIN), "{stop:?}");
    root.resume(&stop);
    root.client.output_containing("main 42");
    root.terminated();
    desk.leave(Hub::Shared);
}
