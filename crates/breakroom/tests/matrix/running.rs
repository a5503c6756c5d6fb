//! Rows about a program that runs: from its start to its end, in steps, paused, with threads, output and input.

use std::io::Write;
use std::process::Stdio;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use super::adapter::{Adapter, Stdin, Worker};
use super::session::{DONE, SUMS, Session};
use crate::editor::extend;

pub fn launch(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    session.launch(None, json!([]));
    session.ended(0, &format!("{SUMS}{DONE}"));
}

/// Stops in the program itself before it has printed anything, and says that this is the entry. Nobody sees how.
pub fn entry_stop(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    session.launch_with(None, json!({"stopOnEntry": true}), json!([]));
    // What a whole module is called is the debugger's business.
    let stop = session.stopped("entry", "", adapter.stops.first);
    let printed = session.client.timeline().output();
    assert!(!printed.contains("sum 10"), "{printed}");
    let told = session.client.timeline().events("breakpoint").count();
    assert_eq!(told, 0, "nobody set one\n{}", session.client.timeline());
    session.runs_on(&stop, &format!("{SUMS}{DONE}"));
}

/// Into a function, over its line, and out again.
pub fn steps(adapter: &'static Adapter) {
    let names = &adapter.names;
    let (mut session, stop) = Session::at(adapter, None, "call", names.main);
    session.set_breakpoints(json!([]));
    let inside = session.step("stepIn", &stop, names.add, None);
    let inside =
        (0..adapter.stops.lines_before_sum).fold(inside, |at, _| session.step("next", &at, names.add, None));
    let inside = session.step("next", &inside, names.add, Some("add"));
    assert_eq!(session.evaluate(&inside, names.total), "10");
    let end =
        (1..adapter.stops.steps_out).fold(inside, |at, _| session.step("stepOut", &at, names.add, None));
    let outside = session.step("stepOut", &end, names.main, None);
    session.runs_on(&outside, &format!("{SUMS}{DONE}"));
}

pub fn pause(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    session.launch(Some("spin"), json!([]));
    session.client.output_containing("spinning");
    let threads = session.client.call("threads", Value::Null);
    let thread = threads["body"]["threads"][0]["id"].clone();
    session.client.call("pause", json!({"threadId": thread}));
    let stop = session.stopped_for(adapter.stops.pause);
    // It goes on from there.
    let spin = session.line_breakpoint("spin");
    session.set_breakpoints(spin);
    session.resume(&stop);
    session.stopped("breakpoint", adapter.names.spin, Some("spin"));
    session.abandoned();
}

pub fn threads(adapter: &'static Adapter) {
    let (mut session, stop) = match adapter.stops.worker {
        Worker::Thread => Session::at(adapter, Some("threads"), "work", "work"),
        Worker::None => Session::at(adapter, None, "call", adapter.names.main),
    };
    let threads = session.client.call("threads", Value::Null);
    let threads = threads["body"]["threads"].as_array().cloned().unwrap_or_default();
    assert!(threads.iter().any(|thread| thread["id"] == stop.thread), "{threads:?}");
    assert!(threads.iter().all(|thread| thread["name"].is_string()), "{threads:?}");
    match adapter.stops.worker {
        Worker::Thread => {
            assert!(threads.len() >= 2, "{threads:?}");
            for thread in &threads {
                // Not every debugger can look at a thread that is not the one that stopped, and then it says so.
                let stack = session.client.request("stackTrace", json!({"threadId": thread["id"]}));
                session.answered(stack);
            }
        }
        Worker::None => assert_eq!(threads.len(), 1, "{threads:?}"),
    }
    session.set_breakpoints(json!([]));
    session.resume(&stop);
    if adapter.stops.worker == Worker::Thread {
        session.client.output_containing("working");
    }
    // What a worker prints has no order among what others print.
    session.ended_but(0, &format!("{SUMS}{DONE}"), |line| line == "working\n");
}

/// Everything arrives, in order, before the end is told.
pub fn output(adapter: &'static Adapter) {
    use std::fmt::Write as _;
    let mut session = Session::open(adapter);
    session.launch(Some("talk"), json!([]));
    let mut lines = String::new();
    (0..500).for_each(|line| writeln!(lines, "line {line}").expect("memory can be written to"));
    session.client.output_containing("to stderr");
    // Where the program has a terminal, the two are one stream.
    session.ended_but(0, &format!("{lines}{SUMS}{DONE}"), |line| line == "to stderr\n");
}

pub fn stdin(adapter: &'static Adapter) {
    match &adapter.stdin {
        Stdin::Request => {
            by_request(adapter);
            from_nobody(adapter);
        }
        Stdin::RequestOrTerminal(arguments) => {
            by_request(adapter);
            from_nobody(adapter);
            in_a_terminal(adapter, arguments());
            in_a_terminal_of_the_hub(adapter, arguments());
        }
        Stdin::Terminal(arguments) => {
            in_a_terminal(adapter, arguments());
            in_a_terminal_of_the_hub(adapter, arguments());
        }
    }
}

fn by_request(adapter: &'static Adapter) {
    let mut session = Session::open_as(adapter, json!({"supportsBreakroomInput": true}));
    session.launch(Some("ask"), json!([]));
    session.client.call("breakroom/input", json!({"text": "Ann\n"}));
    session.ended(0, &format!("hello Ann\n{SUMS}{DONE}"));
}

/// With EZ every client can give input: what is typed in the console is a line of it. Perl's own server holds the other end,
/// and ends it when it is told to.
const WAIT: [&str; 2] = ["ez", "perl"];

/// The client has no way to give input: the program finds its end, and does not wait for ever.
fn from_nobody(adapter: &'static Adapter) {
    if WAIT.contains(&adapter.name) {
        return;
    }
    let mut session = Session::open(adapter);
    session.launch(Some("ask"), json!([]));
    // What a program makes of it differs: an empty name, or an exception.
    session.client.allow(&["exited", "output", "stopped"]);
    session.client.event("terminated");
    session.abandoned();
}

/// The client has no terminal and knows how to give input: the hub has one.
fn in_a_terminal_of_the_hub(adapter: &'static Adapter, more: Value) {
    let mut session = Session::open_as(adapter, json!({"supportsBreakroomInput": true}));
    session.launch_with(Some("ask"), more, json!([]));
    let offers = |body: &Value| body["capabilities"]["supportsBreakroomInput"] == true;
    session.client.event_where("capabilities", offers);
    let long = json!({"text": format!("{}\n", "x".repeat(5000))});
    let refused = session.client.call_failing("breakroom/input", long);
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("4095 bytes")), "{refused}");
    session.client.call("breakroom/input", json!({"text": "Ann\n"}));
    session.client.output_containing("hello Ann\n");
    session.client.output_containing(DONE);
    session.ended_but(0, "", |_| true);
}

/// The client is asked to run the program in a terminal, and what is typed there is the program's.
fn in_a_terminal(adapter: &'static Adapter, more: Value) {
    let mut session = Session::open_as(adapter, json!({"supportsRunInTerminalRequest": true}));
    let mut arguments = session.arguments(Some("ask"));
    extend(&mut arguments, more);
    let launch = session.client.request("launch", arguments);
    // Some ask before they can be configured, and some when they are.
    let asked_first = wait::until(wait::DEADLINE, || {
        let timeline = session.client.timeline();
        let asked = timeline.received().any(|message| message["command"] == "runInTerminal");
        asked.then_some(true).or_else(|| timeline.events("initialized").next().map(|_| false))
    });
    let done = (asked_first == Some(false)).then(|| {
        session.client.event("initialized");
        session.client.request("configurationDone", Value::Null)
    });
    let asked = session.client.reverse("runInTerminal");
    let words = asked["arguments"]["args"].as_array().cloned().unwrap_or_default();
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    let mut command = session.desk.sandbox.program(words[0]);
    command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    if let Some(folder) = asked["arguments"]["cwd"].as_str().filter(|folder| !folder.is_empty()) {
        command.current_dir(folder);
    }
    for (name, value) in asked["arguments"]["env"].as_object().into_iter().flatten() {
        match value.as_str() {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut terminal = command.spawn().expect("what the adapter wants to run can be run");
    terminal.stdin.take().expect("it was asked for").write_all(b"Ann\n").expect("it reads");
    session.client.reply(&asked, true, json!({"processId": terminal.id()}));
    match done {
        None => {
            session.client.event("initialized");
            session.configured(launch);
        }
        Some(done) => {
            session.client.response(done);
            session.client.response(launch);
        }
    }
    let mut printed = String::new();
    let mut stdout = terminal.stdout.take().expect("it was asked for");
    std::io::Read::read_to_string(&mut stdout, &mut printed).expect("it prints text");
    assert!(printed.contains("hello Ann\n") && printed.ends_with(DONE), "{printed}");
    wait::for_exit(&mut terminal, wait::DEADLINE).expect("the terminal's command ends with the program");
    // Besides the terminal, some tell it the client too.
    session.ended_but(0, "", |_| true);
}
