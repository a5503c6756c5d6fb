//! Node.js: a parent that only coordinates, its program, worker threads, forked processes and their children.

use std::collections::HashSet;

use breakroom_testkit::{census, wait};
use rustix::process::Signal;
use serde_json::json;

use crate::support::company::{listed, run};
use crate::support::editor::{Desk, Hub};
use crate::support::family::{Mark, NODE, Viewer, depth, tree, with};
use crate::support::rig::signal;

const MAIN: Mark = ("main.js", "main");
const WORKER: Mark = ("worker.js", "worker");
const WORKER_NEXT: Mark = ("worker.js", "next");
const FORKED: Mark = ("forked.js", "forked");
const FORKED_NEXT: Mark = ("forked.js", "next");

fn launched(hub: Hub, start: &[&str], breakpoints: &[Mark]) -> Option<(Desk, Viewer)> {
    if NODE.skipped() {
        return None;
    }
    let desk = Desk::new();
    let mut viewer = Viewer::at(&desk, hub, &["--type", NODE.kind], json!({}));
    viewer.launch(NODE.launch(start), breakpoints);
    Some((desk, viewer))
}

#[test]
fn a_program_without_children_looks_like_one_engine() {
    let Some((desk, mut viewer)) = launched(Hub::Shared, &[], &[MAIN]) else { return };
    let stop = viewer.stop();
    assert!(stop.is_at(MAIN), "{stop:?}");
    assert_eq!(viewer.evaluate(&stop, "sum + 1"), "1");
    let threads = viewer.threads();
    assert!(threads.len() == 1 && threads[0].0 == stop.thread, "{threads:?}");

    let session = listed(&desk).remove(0);
    assert_eq!((&session["state"], &session["nodes"]), (&json!("stopped"), &json!(2)), "{session}");
    let nodes = tree(&session);
    let [root, child] = &nodes[..] else { panic!("{nodes:?}") };
    assert!(root["parent"].is_null() && child["parent"] == root["id"], "{nodes:?}");
    assert_eq!((&root["engine"], &child["state"]), (&json!("js-debug"), &json!("stopped")), "{nodes:?}");

    let next = viewer.step(&stop);
    assert_eq!(next.body["reason"], "step", "{next:?}");
    viewer.resume(&next);
    viewer.client.output_containing("main 42");
    viewer.terminated();
    desk.leave(Hub::Shared);
}

#[test]
fn one_of_three_children_is_stepped_while_the_others_stay_stopped() {
    let start = ["worker", "worker", "fork"];
    let Some((desk, mut viewer)) = launched(Hub::Shared, &start, &[WORKER, FORKED]) else { return };
    let stops = viewer.stops(3);
    for stop in &stops {
        assert!(stop.is_at(WORKER) || stop.is_at(FORKED), "{stop:?}");
        assert_eq!(stop.body["allThreadsStopped"], false, "{stop:?}");
    }
    let (workers, forked): (Vec<_>, Vec<_>) = stops.iter().partition(|stop| stop.is_at(WORKER));
    let ([one, two], [forked]) = (&workers[..], &forked[..]) else { panic!("{stops:?}") };
    assert!(forked.words().contains("forked.js"), "a stop says whose it is: {forked:?}");
    assert_eq!(viewer.evaluate(forked, "name"), "fork2");
    let mut names: Vec<_> = [one, two].map(|stop| viewer.evaluate(stop, "name")).into();
    names.sort();
    assert_eq!(names, ["worker0", "worker1"]);

    let threads = viewer.threads();
    assert_eq!(threads.len(), 4, "{threads:?}");
    let named = |thread: i64| threads.iter().find(|(id, _)| *id == thread).unwrap().1.clone();
    // js-debug's thread is called like its child, and that is said once.
    assert_eq!(named(forked.thread).matches("forked.js").count(), 1, "{threads:?}");

    // One goes its way; the others' frames and variables stay what they were.
    let stepped = viewer.step(one);
    assert!(stepped.is_at(WORKER_NEXT), "{stepped:?}");
    let stepped_fork = viewer.step(forked);
    assert!(stepped_fork.is_at(FORKED_NEXT), "{stepped_fork:?}");
    viewer.still_stopped(two);
    viewer.still_stopped(&stepped);
    assert_eq!(viewer.evaluate(two, "steps"), "0");
    assert_eq!(viewer.evaluate(&stepped_fork, "steps"), "1");

    for stop in [&stepped, two, &stepped_fork] {
        assert_ne!(viewer.resume(stop)["allThreadsContinued"], true);
        viewer.thread_ends(stop.thread);
    }
    for said in ["worker0 2", "worker1 2", "fork2 2", "main 42"] {
        viewer.client.output_containing(said);
    }
    viewer.terminated();
    desk.leave(Hub::Shared);
}

/// The sockets of a process. One that two of them have is the same in both.
fn sockets(pid: i32) -> HashSet<String> {
    let open = census::open_descriptors(pid.cast_unsigned());
    open.into_iter().map(|(_, target)| target).filter(|target| target.starts_with("socket:")).collect()
}

/// The sockets of the one guard of the session.
fn held_by_the_guard(desk: &Desk) -> HashSet<String> {
    let processes = desk.sandbox.census().processes();
    let mut guards = processes.iter().filter(|process| process.command_line.trim_end().ends_with(" guard"));
    let (Some(guard), None) = (guards.next(), guards.next()) else { panic!("{processes:?}") };
    sockets(guard.pid)
}

#[test]
fn children_that_end_leave_nothing_with_the_guard() {
    let start = ["fork", "fork"];
    let Some((desk, mut viewer)) = launched(Hub::Shared, &start, &[MAIN, FORKED]) else { return };
    let stops = viewer.stops(3);
    let (main, children): (Vec<_>, Vec<_>) = stops.iter().partition(|stop| stop.is_at(MAIN));
    // Of the adapter, its program, and the two that were forked. They are sent to the guard, and nobody waits for it.
    let connections = || {
        let hub = sockets(desk.hub_pid().as_raw_nonzero().get());
        let connections = &held_by_the_guard(&desk) & &hub;
        (connections.len() == 4).then_some(connections)
    };
    let connections = wait::until(wait::DEADLINE, connections);
    let connections = connections.expect("the guard has each connection that the hub has");
    for child in &children {
        viewer.resume(child);
        viewer.thread_ends(child.thread);
    }
    let left = || (&held_by_the_guard(&desk) & &connections).len();
    let less = wait::until(wait::DEADLINE, || (left() == 2).then_some(()));
    assert!(less.is_some(), "the guard has {} of the four connections", left());
    viewer.resume(main[0]);
    viewer.client.output_containing("main 42");
    viewer.terminated();
    desk.leave(Hub::Shared);
}

#[test]
fn workers_that_a_session_has_no_room_for_run_all_the_same() {
    if NODE.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut viewer = Viewer::at(&desk, Hub::Shared, &["--type", NODE.kind], json!({}));
    // The adapter, its program, and one of the workers.
    let more = json!({"outputCapture": "std", "breakroom": {"nodes": 3}});
    viewer.launch(with(NODE.launch(&["worker"; 5]), more), &[WORKER]);
    let stop = viewer.stop();
    assert!(stop.is_at(WORKER), "{stop:?}");
    let debugged = viewer.evaluate(&stop, "name");
    for worker in (0..5).map(|number| format!("worker{number}")).filter(|worker| *worker != debugged) {
        viewer.client.output_containing(&format!("{worker} 2"));
    }
    assert_eq!(listed(&desk)[0]["nodes"], 3);
    viewer.still_stopped(&stop);
    viewer.resume(&stop);
    viewer.client.output_containing(&format!("{debugged} 2"));
    viewer.terminated();
    desk.leave(Hub::Shared);
}

#[test]
fn a_fork_of_a_fork_is_debugged_below_its_parent() {
    let Some((desk, mut viewer)) = launched(Hub::Shared, &["chain"], &[FORKED]) else { return };
    let stops = viewer.stops(2);
    let mut names: Vec<_> = stops.iter().map(|stop| viewer.evaluate(stop, "name")).collect();
    names.sort();
    assert_eq!(names, ["chain0", "chain0-child"]);

    let nodes = tree(&listed(&desk).remove(0));
    let mut depths: Vec<_> = nodes.iter().map(|node| depth(&nodes, node)).collect();
    depths.sort_unstable();
    assert_eq!(depths, [0, 1, 2, 3], "{nodes:?}");
    let shown = String::from_utf8(run(&desk, &["ls", "--tree"], "").stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 5, "{shown}");
    let deepest = lines[4];
    assert!(deepest.starts_with("        forked.js") && deepest.ends_with("stopped"), "{shown}");

    for stop in &stops {
        viewer.resume(stop);
    }
    viewer.client.output_containing("chain0-child 2");
    viewer.terminated();
    desk.leave(Hub::Shared);
}

#[test]
fn a_worker_that_crashes_ends_alone() {
    let Some((desk, mut viewer)) = launched(Hub::Private, &["crash", "worker"], &[WORKER]) else { return };
    let stops = viewer.stops(2);
    let (crash, other): (Vec<_>, Vec<_>) =
        stops.iter().partition(|stop| viewer.evaluate(stop, "kind") == "crash");
    let ([crash], [other]) = (&crash[..], &other[..]) else { panic!("{stops:?}") };
    viewer.resume(crash);
    viewer.thread_ends(crash.thread);
    viewer.client.output_containing("main saw crash0 fell over");
    viewer.still_stopped(other);
    viewer.resume(other);
    viewer.client.output_containing("worker1 2");
    viewer.terminated();
    desk.leave(Hub::Private);
}

#[test]
fn a_forked_process_that_is_killed_ends_alone() {
    let Some((desk, mut viewer)) = launched(Hub::Private, &["killed", "fork"], &[FORKED]) else { return };
    let stops = viewer.stops(2);
    let (killed, other): (Vec<_>, Vec<_>) =
        stops.iter().partition(|stop| viewer.evaluate(stop, "kind") == "killed");
    let ([killed], [other]) = (&killed[..], &other[..]) else { panic!("{stops:?}") };
    viewer.resume(killed);
    viewer.thread_ends(killed.thread);
    viewer.still_stopped(other);
    viewer.resume(other);
    viewer.client.output_containing("fork1 2");
    viewer.terminated();
    desk.leave(Hub::Private);
}

#[test]
fn a_child_outlives_the_process_that_started_it() {
    // The worker keeps the program itself alive, which js-debug ends everything with.
    let started = launched(Hub::Private, &["chain", "worker"], &[WORKER, FORKED]);
    let Some((desk, mut viewer)) = started else { return };
    let stops = viewer.stops(3);
    let (worker, forked): (Vec<_>, Vec<_>) = stops.iter().partition(|stop| stop.is_at(WORKER));
    let (chain, child): (Vec<_>, Vec<_>) =
        forked.into_iter().partition(|stop| viewer.evaluate(stop, "kind") == "chain");
    let ([chain], [child], [worker]) = (&chain[..], &child[..], &worker[..]) else { panic!("{stops:?}") };
    let processes = desk.sandbox.census().processes();
    let parent = processes.iter().find(|process| process.command_line.contains("forked.js chain chain0 "));
    signal(parent.unwrap_or_else(|| panic!("{processes:?}")).pid, Signal::KILL);
    viewer.thread_ends(chain.thread);
    viewer.still_stopped(child);
    assert_eq!(viewer.evaluate(child, "name"), "chain0-child");
    viewer.resume(child);
    viewer.thread_ends(child.thread);
    viewer.still_stopped(worker);
    viewer.resume(worker);
    viewer.terminated();
    desk.leave(Hub::Private);
}

#[test]
fn an_adapter_that_is_killed_ends_every_node() {
    let Some((desk, mut viewer)) = launched(Hub::Shared, &["worker", "fork"], &[WORKER, FORKED]) else {
        return;
    };
    let stops = viewer.stops(2);
    let processes = desk.sandbox.census().processes();
    let server = processes.iter().find(|process| process.command_line.contains("vsDebugServer.cjs "));
    signal(server.unwrap_or_else(|| panic!("{processes:?}")).pid, Signal::KILL);
    viewer.client.event("terminated");
    let refused = viewer.client.call_failing("stackTrace", json!({"threadId": stops[0].thread}));
    assert!(refused["message"].as_str().is_some_and(|text| !text.is_empty()), "{refused}");
    viewer.leave();
    desk.leave(Hub::Shared);
}

#[test]
fn the_whole_session_ends_when_its_program_is_killed_first() {
    let Some((desk, mut viewer)) = launched(Hub::Shared, &["worker", "fork"], &[WORKER, FORKED]) else {
        return;
    };
    viewer.stops(2);
    let processes = desk.sandbox.census().processes();
    let program = processes.iter().find(|process| process.command_line.contains("main.js worker fork "));
    signal(program.unwrap_or_else(|| panic!("{processes:?}")).pid, Signal::KILL);
    viewer.terminated();
    desk.leave(Hub::Shared);
}

/// The sandbox's processes that have this in their command line.
fn running(desk: &Desk, part: &str) -> usize {
    desk.sandbox.census().processes().iter().filter(|process| process.command_line.contains(part)).count()
}

/// With js-debug's own process between it and the program each step takes 170 ms, whatever the machine.
#[test]
fn a_program_and_its_child_are_reached_without_js_debugs_own_process_in_between() {
    let Some((desk, mut viewer)) = launched(Hub::Shared, &["fork"], &[MAIN, FORKED]) else { return };
    for stop in viewer.stops(2) {
        viewer.step(&stop);
    }
    assert_eq!((running(&desk, "node watch"), running(&desk, "watchdog.js")), (2, 0));
    viewer.leave();
    desk.leave(Hub::Shared);
}
