//! Whatever ends a session with several nodes, nothing of it is left.

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::company::{nothing_is_listed, only_session, run};
use crate::support::editor::{Desk, Hub};
use crate::support::family::{Kin, Mark, NODE, PYTHON, Viewer};

/// A language, what its program starts, where that stops, and how often.
struct Stopped {
    kin: &'static Kin,
    start: &'static [&'static str],
    breakpoints: &'static [Mark],
    stops: usize,
}

const SITUATIONS: [Stopped; 2] = [
    Stopped {
        kin: &NODE,
        start: &["worker", "chain"],
        breakpoints: &[("worker.js", "worker"), ("forked.js", "forked")],
        stops: 3,
    },
    Stopped {
        kin: &PYTHON,
        start: &["chain"],
        breakpoints: &[("main.py", "main"), ("child.py", "child")],
        stops: 3,
    },
];

/// Everything stopped, in a session that ends with its last client.
fn each(hub: Hub, then: impl Fn(&Desk, Viewer)) {
    for Stopped { kin, start, breakpoints, stops } in &SITUATIONS {
        if kin.skipped() {
            continue;
        }
        let desk = Desk::new();
        let mut viewer = Viewer::at(&desk, hub, &["--type", kin.kind], json!({}));
        let mut launch = kin.launch(start);
        launch["breakroom"] = json!({"onLastLeave": "terminate"});
        viewer.launch(launch, breakpoints);
        viewer.stops(*stops);
        then(&desk, viewer);
        if hub == Hub::Shared {
            nothing_is_listed(&desk);
        }
        nothing_of_the_program_is_left(&desk);
        desk.leave(hub);
    }
}

fn nothing_of_the_program_is_left(desk: &Desk) {
    let census = desk.sandbox.census();
    let gone = || {
        let processes = census.processes();
        processes.iter().all(|process| process.command_line.contains(" serve")).then_some(())
    };
    wait::until(wait::DEADLINE, gone).unwrap_or_else(|| panic!("left behind:\n{}", census.left()));
}

#[test]
fn a_client_that_leaves_ends_all_that_it_launched() {
    each(Hub::Shared, |_, viewer| {
        viewer.leave();
    });
}

#[test]
fn a_private_session_ends_with_all_its_nodes() {
    each(Hub::Private, |_, viewer| {
        viewer.leave();
    });
}

#[test]
fn terminating_ends_every_node() {
    each(Hub::Shared, |_, mut viewer| {
        viewer.client.allow(&["exited", "stopped"]);
        viewer.client.call("terminate", Value::Null);
        viewer.terminated();
    });
}

#[test]
fn killing_a_session_ends_every_node() {
    each(Hub::Shared, |desk, mut viewer| {
        viewer.client.allow(&["exited", "stopped"]);
        let killed = run(desk, &["kill", &only_session(desk)], "");
        assert!(killed.status.success(), "{killed:?}");
        viewer.client.event("terminated");
        viewer.client.closed();
        viewer.client.abandon();
    });
}

#[test]
fn a_client_that_is_lost_takes_every_node_with_it() {
    each(Hub::Shared, |_, viewer| {
        viewer.client.abandon();
    });
}

#[test]
fn a_hub_that_is_killed_leaves_no_node_behind() {
    for Stopped { kin, start, breakpoints, stops } in &SITUATIONS {
        if kin.skipped() {
            continue;
        }
        let mut desk = Desk::new();
        let mut viewer = Viewer::at(&desk, Hub::Shared, &["--type", kin.kind], json!({}));
        viewer.launch(kin.launch(start), breakpoints);
        viewer.stops(*stops);
        desk.kill_hub(viewer.client);
    }
}

#[test]
fn a_restart_ends_the_children_and_begins_anew() {
    each(Hub::Shared, |_, mut viewer| {
        viewer.client.allow(&["exited", "initialized"]);
        viewer.client.call("restart", json!({}));
        let again = viewer.stop();
        assert_eq!(again.body["reason"], "breakpoint", "{again:?}");
        viewer.client.allow(&["stopped"]);
        viewer.leave();
    });
}
