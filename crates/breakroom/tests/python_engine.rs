//! The Python engine through the real binary: what stands in the place of debugpy's adapter, and how it is chosen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

use std::time::{Duration, Instant};

use breakroom_testkit::census::Process;
use breakroom_testkit::{adapters, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::company;
use support::editor::{Desk, Hub};
use support::scenario::{self, Language};

const PYTHON: Language = Language {
    events: &["output", "process", "thread", "module", "continued", "debugpySockets"],
    ..company::PYTHON
};

/// The sandbox's processes that have this in their command line.
fn running(desk: &Desk, part: &str) -> Vec<Process> {
    desk.sandbox
        .census()
        .processes()
        .into_iter()
        .filter(|process| process.command_line.contains(part))
        .collect()
}

#[test]
fn python_is_debugged_without_debugpys_own_adapter_and_the_stock_one_has_a_type_of_its_own() {
    for (kind, ours) in [("python", true), ("debugpy", true), ("debugpy-stock", false)] {
        let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", kind]) else { return };
        session.initialize(json!({}));
        session.launch(session.at("add"), json!({}));
        let stop = session.stopped("breakpoint", "add", Some("add"));
        assert_eq!(!running(&desk, "python dap").is_empty(), ours, "{kind}");
        assert_eq!(running(&desk, "debugpy/adapter").is_empty(), ours, "{kind}");
        session.set_breakpoints(json!([]));
        session.resume(&stop);
        session.client.event("exited");
        session.client.event("terminated");
        session.let_go();
        desk.leave(Hub::Shared);
    }
}

/// The stock adapter needs 180 ms for each, whatever the machine; half of that is more than a slow machine needs.
#[test]
fn a_step_does_not_wait_for_acknowledgements() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    session.initialize(json!({}));
    session.launch(session.at("call"), json!({}));
    let mut stop = session.stopped("breakpoint", "main", Some("call"));
    let mut took = Vec::new();
    for _ in 0..6 {
        let began = Instant::now();
        session.client.call("stepIn", json!({"threadId": stop.thread}));
        let stopped = session.client.event("stopped");
        stop.thread = stopped["body"]["threadId"].clone();
        stop.frame = session.stack(&stop.thread)[0]["id"].clone();
        let locals = session.locals(&stop);
        session.client.call("variables", json!({"variablesReference": locals}));
        took.push(began.elapsed());
    }
    let least = took.iter().min().unwrap();
    assert!(*least < Duration::from_millis(90), "the quickest of six steps took {least:?}");
    session.client.allow(&["exited", "terminated"]);
    session.let_go();
    desk.leave(Hub::Shared);
}

#[test]
fn a_launch_that_names_another_adapter_gets_it() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Private, &["--type", "python"]) else { return };
    session.initialize(json!({}));
    let adapter = adapters::folder().join("debugpy/debugpy/adapter");
    session.launch(session.at("add"), json!({"debugAdapterPath": adapter, "args": ["seven"]}));
    let stop = session.stopped("breakpoint", "add", Some("add"));
    assert!(!running(&desk, "debugpy/adapter").is_empty());
    session.set_breakpoints(json!([]));
    session.resume(&stop);
    session.ended(7, "hello 42 none\nhello 43 none\nhello 44 none\n");
    desk.leave(Hub::Private);
}

#[test]
fn the_tour_with_debugpys_own_adapter() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "debugpy-stock"]) else { return };
    session.initialize(json!({}));
    scenario::tour(session, json!({}));
    desk.leave(Hub::Shared);
}

/// Under the hub its guard sees to that, also when nothing is left that could be asked.
#[test]
fn an_adapter_that_is_killed_leaves_no_program_behind() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    session.initialize(json!({}));
    session.launch(json!([]), json!({"args": ["spin"]}));
    let programs = || running(&desk, "--adapter-access-token").len();
    wait::until(wait::DEADLINE, || (programs() > 0).then_some(())).expect("the program runs");
    let adapter =
        running(&desk, "python dap").first().and_then(|process| Pid::from_raw(process.pid)).unwrap();
    kill_process(adapter, Signal::KILL).unwrap();
    session.client.event("terminated");
    wait::until(wait::DEADLINE, || (programs() == 0).then_some(())).expect("the program ends");
    session.client.call("disconnect", Value::Null);
    session.client.finish();
    desk.leave(Hub::Shared);
}
