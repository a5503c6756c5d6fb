//! The Visual Studio front end over Python programs: several threads, containers of unknown size, exceptions; and sessions
//! that others are in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod visual_studio;
}

use breakroom_testkit::Strict;
use serde_json::{Value, json};
use support::editor::{Desk, Hub, introduction};
use support::visual_studio::Server;

const THREADS: &str = "\
import threading
import time

def work():
    n = 0
    while True:
        n += 1
        time.sleep(0.01)

threading.Thread(target=work, daemon=True, name='worker').start()
print('both run', flush=True)
work()
";

#[test]
fn s050_s092_pause_stops_threads_with_their_places_and_threads_are_announced() {
    let server = Server::over("t.py", THREADS);
    let mut vs = server.connect();
    vs.begin("t.py", &[]);
    vs.output("stdout", "both run");
    vs.event("thread_started");
    vs.call("pause", json!({}));
    let stopped = vs.event("stopped");
    assert_eq!(stopped["reason"], "pause");
    assert!(stopped["line"].as_i64() > Some(0) && stopped["file"] != "", "{stopped}");
    let threads = vs.call("get_threads", json!({}));
    let ids: Vec<i64> =
        threads["threads"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{threads}");
    for id in &ids {
        let stack = vs.call("get_stack", json!({"threadId": id}));
        let frames = stack["frames"].as_array().unwrap();
        assert!(frames.iter().any(|frame| frame["name"] == "work"), "{stack}");
    }
    // F5: one continue for each thread, back to back.
    let asked: Vec<i64> = ids.iter().map(|id| vs.send("continue", json!({"threadId": id}))).collect();
    for seq in asked {
        assert_eq!(vs.response(seq)["success"], true);
    }
    vs.event("continued");
    vs.stop();
    server.end();
}

#[test]
fn s076_s099_container_of_unknown_size_tells_it_when_it_is_expanded() {
    let text = "class Point:\n    def __init__(self):\n        self.x = 1\n        self.y = 2\n\n\npoint = Point()\nnumbers = [1, 2, 3]\nages = {'a': 1}\nempty = []\nprint('here')\n";
    let server = Server::over("v.py", text);
    let mut vs = server.connect();
    vs.begin("v.py", &[11]);
    assert_eq!(vs.stopped("breakpoint"), 11);
    let variables = vs.variables(vs_thread(&vs.received));
    let thread = vs_thread(&vs.received);
    for (name, part) in [("point", "x"), ("numbers", "0"), ("ages", "'a'")] {
        let variable = &variables[name];
        assert_ne!(variable["size"], 0, "{variable}");
        let expanded = vs.expand(thread, variable, 0, 0);
        assert_eq!(expanded["size"], expanded["count"], "{expanded}");
        let names =
            expanded["properties"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
        let names: Vec<&str> = names.collect();
        assert!(names.iter().any(|name| name.contains(part)), "{names:?}");
        // A part of it.
        let second = vs.expand(thread, variable, 1, 1);
        assert_eq!(second["size"], expanded["size"]);
    }
    vs.stop();
    server.end();
}

fn vs_thread(received: &[Value]) -> i64 {
    let stopped = received.iter().rev().find(|message| message["event"] == "stopped");
    stopped.and_then(|stopped| stopped["threadId"].as_i64()).expect("it has stopped")
}

#[test]
fn s087_s113_python_error_is_an_exception_stop_with_an_error_line() {
    let server = Server::over("e.py", "def fail():\n    return 1 / 0\n\n\nfail()\n");
    let mut vs = server.connect();
    vs.begin("e.py", &[]);
    let stopped = vs.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["line"]), (&json!("exception"), &json!(2)));
    assert!(stopped["exceptionName"].as_str().unwrap().contains("ZeroDivisionError"), "{stopped}");
    assert!(vs.output("error", "Unhandled exception in fail").contains("ZeroDivisionError"));
    vs.call("continue", json!({"threadId": stopped["threadId"]}));
    vs.event("program_exited");
    vs.stop();
    server.end();
}

/// An editor that has launched this EZ program in the shared hub, stopped at this line.
fn editor(desk: &Desk, line: i64) -> Strict {
    let file = desk.sandbox.work().join("shared.ez");
    let text = "import @std\nusing std\n\ndo main() {\n    temp x = 41\n    println(x)\n    x = x + 1\n    println(x)\n}\n";
    std::fs::write(&file, text).unwrap();
    let mut client = desk.editor(Hub::Shared, &["--type", "ez"]);
    client.allow(&["capabilities", "process", "output", "continued", "breakpoint", "thread", "stopped"]);
    client.call("initialize", introduction(json!({})));
    let launch = client.request("launch", json!({"program": file}));
    client.event("initialized");
    let breakpoints = json!({"source": {"path": file}, "breakpoints": [{"line": line}]});
    client.call("setBreakpoints", breakpoints);
    client.call("configurationDone", Value::Null);
    client.response(launch);
    client.event("stopped");
    client
}

#[test]
fn live_session_is_joined_looked_at_and_left_as_it_is() {
    let desk = Desk::new();
    let mut client = editor(&desk, 6);
    let server = Server::start(desk, Hub::Shared, &["--session"]);
    let mut vs = server.connect();
    vs.begin("shared.ez", &[8]);
    let stopped = vs.event("stopped");
    assert_eq!(stopped["line"], 6, "{stopped}");
    assert_eq!(vs.variables(1)["x"]["value"], "41");
    vs.call("continue", json!({"threadId": 1}));
    assert_eq!(vs.stopped("breakpoint"), 8);
    // The editor sees the stop too, and still stands there when Visual Studio has left.
    client.event("stopped");
    vs.stop();
    let stack = client.call("stackTrace", json!({"threadId": 1}));
    assert_eq!(stack["body"]["stackFrames"][0]["line"], 8);
    client.call("continue", json!({"threadId": 1}));
    client.event("exited");
    client.event("terminated");
    client.call("disconnect", Value::Null);
    client.finish();
    server.end();
}

#[test]
fn session_of_visual_studio_can_be_joined_by_others() {
    let text = "import @std\nusing std\n\ndo main() {\n    temp x = 41\n    println(x)\n}\n";
    let server = Server::with("g.ez", text, Hub::Shared, &[]);
    let mut vs = server.connect();
    vs.begin("g.ez", &[6]);
    assert_eq!(vs.stopped("breakpoint"), 6);
    let mut client = server.desk.editor(Hub::Shared, &["--session"]);
    client.allow(&["capabilities", "process", "output", "continued", "breakpoint", "thread", "initialized"]);
    client.call("initialize", introduction(json!({})));
    client.call("attach", json!({}));
    client.call("configurationDone", Value::Null);
    client.event("stopped");
    client.call("continue", json!({"threadId": 1}));
    // What others do is told.
    assert_eq!(vs.event("continued")["threadId"], 1);
    vs.event("program_exited");
    client.allow(&["exited", "terminated"]);
    client.call("disconnect", Value::Null);
    client.finish();
    vs.stop();
    server.end();
}
