//! The Python engine through the real binary: what stands in the place of debugpy's adapter, and how it is chosen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

use breakroom_testkit::census::Process;
use breakroom_testkit::{Strict, adapters, wait};
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

#[test]
fn a_program_reads_what_its_client_gives_it() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    let program = desk.sandbox.work().join("ask.py");
    std::fs::write(&program, "print('hello', input('name? '))\n").unwrap();
    session.initialize(json!({"supportsBreakroomInput": true}));
    session.launch(json!([]), json!({"program": program, "args": []}));
    session.client.output_containing("name? ");
    session.client.call("breakroom/input", json!({"text": "Ann\n"}));
    session.ended(0, "name? hello Ann\n");
    desk.leave(Hub::Shared);
}

/// A project's files must not be taken for the adapter's: whoever opens a folder has not run what is in it.
#[test]
fn files_of_the_project_are_not_taken_for_the_adapters() {
    if adapters::skipped("debugpy") {
        return;
    }
    for kind in ["debugpy-stock", "python"] {
        let desk = Desk::new();
        let work = desk.sandbox.work().to_owned();
        for name in ["debugpy", "pydevd", "json", "socket", "runpy", "argparse"] {
            let text = format!("import sys\nsys.stderr.write('taken: {name}')\nsys.exit(9)\n");
            std::fs::write(work.join(name).with_extension("py"), text).unwrap();
        }
        // Where debugpy is a module of Python and not in the adapters' folder.
        let mut door = desk.door(Hub::Private, &["--type", kind]);
        door.env("XDG_CACHE_HOME", work.join("cache")).env("PYTHONPATH", adapters::folder().join("debugpy"));
        let mut client = Strict::spawn(door);
        client.allow(PYTHON.events);
        client.allow(&["capabilities"]);
        client.call("initialize", json!({"adapterID": kind}));
        let elsewhere = tempfile::tempdir().unwrap();
        let program = elsewhere.path().join("t.py");
        std::fs::write(&program, "print('reached')\n").unwrap();
        let launch = client.request(
            "launch",
            json!({"program": program, "cwd": work, "console": "internalConsole", "args": []}),
        );
        client.event("initialized");
        client.call("configurationDone", Value::Null);
        client.response(launch);
        client.output_containing("reached");
        client.event("exited");
        client.event("terminated");
        client.call("disconnect", Value::Null);
        client.finish();
        desk.leave(Hub::Private);
    }
}

/// Its exit is its own affair; an error that nobody catches is not.
#[test]
fn the_terminal_does_not_stop_at_a_program_that_says_how_it_ends() {
    if adapters::skipped("debugpy") {
        return;
    }
    for (text, code, stops) in
        [("import sys\nsys.exit(3)\n", 3, false), ("raise ValueError('boom')\n", 1, true)]
    {
        let desk = Desk::new();
        let program = desk.sandbox.work().join("t.py");
        std::fs::write(&program, text).unwrap();
        let ran = company::run(&desk, &["run", "--private", "t.py"], "continue\ncontinue\n");
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(printed.contains("stopped: exception"), stops, "{printed}");
        assert!(printed.contains(&format!("ended with exit code {code}")), "{printed}");
        assert_eq!(ran.status.code(), Some(code));
        desk.leave(Hub::Private);
    }
}

/// The thread that feeds the child's queue stops with every step, and must not be taken for the one that was stepped.
#[test]
fn a_step_in_a_child_process_is_answered_by_the_thread_that_was_stepped() {
    const TEXT: &str = "import multiprocessing as mp, sys\n\
        def work(q):\n    q.put(1)\n    a = 2\n    q.put(a)\n\
        if __name__ == '__main__':\n    mp.set_start_method(sys.argv[1])\n    q = mp.Queue()\n    \
        p = mp.Process(target=work, args=(q,))\n    p.start()\n    print(q.get() + q.get())\n    p.join()\n";
    for how in ["fork", "spawn"] {
        let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
        let program = desk.sandbox.work().join("queue_test.py");
        std::fs::write(&program, TEXT).unwrap();
        session.initialize(json!({}));
        let launch = PYTHON.arguments(&session.debuggee, json!({"program": program, "args": [how]}));
        let launch = session.client.request("launch", launch);
        session.client.event("initialized");
        let breakpoints = json!({"source": {"path": program}, "breakpoints": [{"line": 3}]});
        session.client.call("setBreakpoints", breakpoints);
        session.client.call("configurationDone", Value::Null);
        session.client.response(launch);
        session.client.allow(&["breakpoint", "debugpyWaitingForServer"]);
        let thread = session.client.event("stopped")["body"]["threadId"].clone();
        session.client.call("next", json!({"threadId": thread}));
        let stepped = session.client.event("stopped")["body"].clone();
        assert_eq!((&stepped["threadId"], &stepped["reason"]), (&thread, &json!("step")), "{how}: {stepped}");
        // The others of its process are told behind it.
        session.client.allow(&["stopped"]);
        session.client.call("continue", json!({"threadId": thread}));
        session.ended(0, "3\n");
        desk.leave(Hub::Shared);
    }
}
