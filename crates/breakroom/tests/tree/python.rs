//! Python: a program that is debugged itself and whose child processes announce where they wait.

use serde_json::{Value, json};

use crate::support::company::listed;
use crate::support::editor::{Desk, Hub};
use crate::support::family::{Kin, Mark, PYTHON, STOCK_PYTHON, Viewer, depth, tree};
use crate::support::rig::{Rig, begin};

const MAIN: Mark = ("main.py", "main");
const CHILD: Mark = ("child.py", "child");
const NEXT: Mark = ("child.py", "next");

fn launched(hub: Hub, start: &[&str], breakpoints: &[Mark]) -> Option<(Desk, Viewer)> {
    launched_as(&PYTHON, hub, start, breakpoints)
}

fn launched_as(kin: &Kin, hub: Hub, start: &[&str], breakpoints: &[Mark]) -> Option<(Desk, Viewer)> {
    if kin.skipped() {
        return None;
    }
    let desk = Desk::new();
    let mut viewer = Viewer::at(&desk, hub, &["--type", kin.kind], json!({}));
    viewer.launch(kin.launch(start), breakpoints);
    Some((desk, viewer))
}

#[test]
fn a_child_process_and_its_own_child_are_debugged_beside_the_program() {
    a_family_of_four(&PYTHON);
}

#[test]
fn debugpys_own_adapter_debugs_them_as_well() {
    a_family_of_four(&STOCK_PYTHON);
}

fn a_family_of_four(kin: &Kin) {
    let started = launched_as(kin, Hub::Shared, &["chain", "child"], &[MAIN, CHILD]);
    let Some((desk, mut viewer)) = started else { return };
    let stops = viewer.stops(4);
    let (main, children): (Vec<_>, Vec<_>) = stops.iter().partition(|stop| stop.is_at(MAIN));
    let [main] = &main[..] else { panic!("{stops:?}") };
    assert!(children.iter().all(|stop| stop.is_at(CHILD)), "{stops:?}");
    let mut kinds: Vec<_> = children.iter().map(|stop| viewer.evaluate(stop, "kind")).collect();
    kinds.sort();
    assert_eq!(kinds, ["chain", "child", "child"]);
    assert!(viewer.threads().len() >= 4);

    let nodes = tree(&listed(&desk).remove(0));
    let mut depths: Vec<_> = nodes.iter().map(|node| depth(&nodes, node)).collect();
    depths.sort_unstable();
    assert_eq!(depths, [0, 1, 1, 2], "{nodes:?}");

    let stepped = viewer.step(children[0]);
    assert!(stepped.is_at(NEXT), "{stepped:?}");
    for other in [main, children[1], children[2]] {
        viewer.still_stopped(other);
    }
    assert_eq!(viewer.evaluate(&stepped, "steps"), "1");
    assert_eq!(viewer.evaluate(main, "total"), "40");

    for stop in [&stepped, children[1], children[2]] {
        viewer.resume(stop);
    }
    // The program waits for them, and says so only when it goes on itself.
    viewer.still_stopped(main);
    viewer.resume(main);
    viewer.client.output_containing("codes [0, 0]");
    assert_eq!(viewer.client.event("exited")["body"]["exitCode"], 0);
    viewer.terminated();
    desk.leave(Hub::Shared);
}

const WAITS: &str = "import multiprocessing\n\n\ndef spin():\n    print('spinning', flush=True)\n    while True:\n        \
                     pass\n\n\nif __name__ == '__main__':\n    child = multiprocessing.Process(target=spin)\n    \
                     child.start()\n    child.join()\n";

/// Whether the first stop `of` the program itself or not is the program's, when it is paused while it waits for its child,
/// which never ends.
fn is_paused_while_it_waits(kin: &Kin, of: impl Fn(bool) -> bool) -> Option<bool> {
    if kin.skipped() {
        return None;
    }
    let desk = Desk::new();
    let program = desk.sandbox.work().join("waits.py");
    std::fs::write(&program, WAITS).unwrap();
    let mut viewer = Viewer::at(&desk, Hub::Private, &["--type", kin.kind], json!({}));
    viewer.launch(json!({"program": program, "console": "internalConsole", "subProcess": true}), &[]);
    viewer.client.output_containing("spinning");
    let threads = viewer.threads();
    let (parent, _) = threads.first().expect("the program has a thread").clone();
    viewer.client.call("pause", json!({"threadId": parent}));
    let told = viewer.client.event_where("stopped", |body| of(body["threadId"] == parent))["body"].clone();
    assert_eq!(told["reason"], "pause", "{told}");
    viewer.client.allow(&["exited", "terminated", "stopped"]);
    viewer.end(json!({"terminateDebuggee": true}));
    desk.leave(Hub::Private);
    Some(told["threadId"] == parent)
}

/// With debugpy's own adapter it would stop at its next line, which is behind the end of its child.
#[test]
fn a_program_that_waits_for_its_child_does_not_keep_that_from_being_paused() {
    assert_ne!(is_paused_while_it_waits(&STOCK_PYTHON, |_| true), Some(true));
}

/// It is woken where it waits. If that takes longer than a second its child is paused too, and may stop before it.
#[test]
fn a_program_that_waits_for_its_child_is_paused_where_it_waits() {
    assert_ne!(is_paused_while_it_waits(&PYTHON, |is_its_own| is_its_own), Some(false));
}

#[test]
fn a_child_process_that_crashes_ends_alone() {
    let Some((desk, mut viewer)) = launched(Hub::Private, &["crash"], &[CHILD]) else { return };
    let stop = viewer.stop();
    assert!(stop.is_at(CHILD), "{stop:?}");
    viewer.resume(&stop);
    viewer.thread_ends(stop.thread);
    viewer.client.output_containing("codes [7]");
    assert_eq!(viewer.client.event("exited")["body"]["exitCode"], 0, "the code is the program's own");
    viewer.terminated();
    desk.leave(Hub::Private);
}

#[test]
fn a_child_process_outlives_its_program() {
    let Some((desk, mut viewer)) = launched(Hub::Shared, &["leave", "child"], &[CHILD]) else { return };
    let stop = viewer.stop();
    assert!(stop.is_at(CHILD), "{stop:?}");
    viewer.client.output_containing("main 42");
    viewer.client.event_where("thread", |body| {
        body["reason"] == "exited" && body["threadId"].as_i64().is_some_and(|thread| thread != stop.thread)
    });
    viewer.still_stopped(&stop);
    let stepped = viewer.step(&stop);
    assert!(stepped.is_at(NEXT), "{stepped:?}");
    viewer.resume(&stepped);
    viewer.client.output_containing("child 2");
    assert_eq!(viewer.client.event("exited")["body"]["exitCode"], 0);
    viewer.terminated();
    desk.leave(Hub::Shared);
}

/// What debugpy sends if it is not told that the client knows `startDebugging`: nobody but the hub hears it.
#[test]
fn a_child_that_is_announced_by_an_event_is_debugged_too() {
    let rig = Rig::new();
    let announcement = json!({
        "name": "Subprocess 4711", "type": "python", "request": "attach", "subProcessId": 4711,
        "connect": {"host": "127.0.0.1", "port": "{{port}}"},
    });
    let root = [
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"send": {"type": "event", "event": "debugpyAttach", "body": announcement}}),
    ];
    let child = [
        json!({"expect": "attach"}),
        json!({"respond": "attach"}),
        json!({"send": {"type": "event", "event": "initialized"}}),
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"send": {"type": "event", "event": "thread", "body": {"reason": "started", "threadId": 1}}}),
        json!({"send": {"type": "event", "event": "stopped", "body": {"reason": "pause", "threadId": 1}}}),
    ];
    let mut viewer = Viewer::new(rig.private());
    begin(&mut viewer.client, rig.fake_server(&[&root, &child]));
    let stop = viewer.client.event("stopped");
    let thread = stop["body"]["threadId"].as_i64().unwrap();
    assert_ne!(thread, 1, "the program's own thread has that number");
    assert_eq!(viewer.client.call("stackTrace", json!({"threadId": thread}))["success"], true);
    let attach = rig.log_of(1).into_iter().find(|message| message["command"] == "attach").unwrap();
    assert_eq!(attach["arguments"]["subProcessId"], 4711, "{attach}");
    let timeline = viewer.end(Value::Null);
    assert_eq!(timeline.events("debugpyAttach").count(), 0, "{timeline}");
    rig.sandbox.assert_nothing_left(breakroom_testkit::wait::DEADLINE);
}
