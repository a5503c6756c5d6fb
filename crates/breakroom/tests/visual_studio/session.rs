//! Start, ready, stop and what comes before, between and after them.

use serde_json::{Value, json};

use breakroom_testkit::wait;

use crate::support::editor::Hub;
use crate::support::visual_studio::{Server, VisualStudio};
use crate::{PROGRAM, WRITER};

#[test]
fn s121_nothing_is_sent_before_the_first_request() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    // The emulator fails on each message that comes before its first request.
    vs.breakpoint("nowhere.ez", 1);
    assert!(vs.rest().is_empty());
    vs.call("start", json!({}));
    vs.tell("ready", json!({}));
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s022_s023_s025_start_is_answered_each_time_and_brings_no_event() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.call("start", json!({}));
    vs.call("get_threads", json!({}));
    assert!(vs.rest().is_empty(), "{:?}", vs.rest());
    vs.breakpoint("g.ez", 11);
    vs.tell("ready", json!({}));
    assert_eq!(vs.stopped("breakpoint"), 11);
    vs.call("start", json!({}));
    assert_eq!(vs.variables(1)["x"]["value"], "1");
    vs.stop();
    server.end();
}

#[test]
fn s024_start_of_a_missing_program_fails_and_says_so() {
    let server = Server::over("g.ez", PROGRAM);
    std::fs::remove_file(server.file("g.ez")).unwrap();
    let mut vs = server.connect();
    let why = vs.refused("start", json!({}));
    assert!(why.contains("g.ez"), "{why}");
    // It can be tried again.
    std::fs::write(server.file("g.ez"), PROGRAM).unwrap();
    vs.begin("g.ez", &[]);
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s024_start_of_a_program_with_errors_says_what_is_wrong() {
    let server = Server::over("g.ez", "do main() {\n    temp x int = \"a\"\n}\n");
    let mut vs = server.connect();
    let seq = vs.send("start", json!({}));
    vs.tell("ready", json!({}));
    let response = vs.response(seq);
    let why = match response["success"] == true {
        true => vs.output("error", ""),
        false => response["message"].as_str().unwrap().to_owned(),
    };
    assert!(!why.trim().is_empty());
    vs.stop();
    server.end();
}

#[test]
fn s026_s028_ready_is_never_answered_and_may_be_repeated() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11]);
    vs.tell("ready", json!({}));
    assert_eq!(vs.stopped("breakpoint"), 11);
    vs.tell("ready", json!({}));
    assert_eq!(vs.step(1, "STEP_OVER"), 12);
    vs.call("continue", json!({"threadId": 1}));
    vs.event("program_exited");
    // The emulator fails on a response that answers nothing.
    vs.stop();
    server.end();
}

#[test]
fn s027_s029_nothing_runs_before_ready_and_the_first_line_can_stop() {
    let server = Server::over("w.ez", WRITER);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.breakpoint("w.ez", 7);
    for _ in 0..20 {
        vs.call("get_threads", json!({}));
    }
    assert!(!server.file("log").exists() && vs.rest().is_empty());
    vs.tell("ready", json!({}));
    assert_eq!(vs.stopped("breakpoint"), 7);
    assert!(!server.file("log").exists());
    vs.stop();
    server.end();
}

#[test]
fn s027_ready_that_never_comes_is_not_awaited_for_ever() {
    let server = Server::with("g.ez", PROGRAM, Hub::Private, &["--ready-timeout", "1"]);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.breakpoint("g.ez", 11);
    assert_eq!(vs.stopped("breakpoint"), 11);
    vs.tell("ready", json!({}));
    assert_eq!(vs.step(1, "STEP_OVER"), 12);
    vs.stop();
    server.end();
}

fn waits_for_log(server: &Server, text: &str) {
    let log = server.file("log");
    let read = || std::fs::read_to_string(&log).ok().filter(|log| log.contains(text));
    wait::until(wait::DEADLINE, read).expect("the program writes");
}

#[test]
fn s032_s034_stop_of_a_stopped_program_lets_it_run_to_its_end() {
    let server = Server::over("w.ez", WRITER);
    let mut vs = server.connect();
    vs.begin("w.ez", &[7, 9]);
    assert_eq!(vs.stopped("breakpoint"), 7);
    vs.rest();
    let before = vs.received.len();
    // Nothing is under way, so that whatever comes is an answer to `stop`.
    let received = vs.stop();
    assert_eq!(received.len(), before, "{:?}", &received[before..]);
    waits_for_log(&server, "end");
    server.end();
}

#[test]
fn s033_s105_stop_while_the_program_runs_does_not_end_it() {
    let server = Server::over("loop.ez", crate::LOOP);
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.output("stdout", "looping");
    vs.stop();
    // A second Visual Studio finds it running.
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.call("pause", json!({}));
    vs.stopped("pause");
    vs.stop();
    server.end();
}

#[test]
fn s035_s010_later_connection_counts_from_one_and_debugs_again() {
    let server = Server::over("g.ez", PROGRAM);
    for _ in 0..3 {
        let mut vs = server.connect();
        vs.begin("g.ez", &[11]);
        assert_eq!(vs.stopped("breakpoint"), 11);
        vs.call("continue", json!({"threadId": 1}));
        vs.event("program_exited");
        vs.stop();
    }
    server.end();
}

#[test]
fn s120_reconnect_waits_for_start_and_has_no_breakpoint_of_before() {
    let server = Server::over("loop.ez", crate::LOOP);
    let mut vs = server.connect();
    vs.begin("loop.ez", &[8]);
    assert_eq!(vs.stopped("breakpoint"), 8);
    vs.vanish();
    let mut vs = server.connect();
    vs.tell("remove_breakpoint", json!({"file": "loop.ez", "line": 8}));
    vs.begin("loop.ez", &[]);
    vs.output("warn", "not found");
    vs.call("pause", json!({}));
    assert!(vs.stopped("pause") > 0);
    vs.call("continue", json!({"threadId": 1}));
    vs.event("continued");
    let stops = vs.rest().into_iter().filter(|message| message["event"] == "stopped");
    assert_eq!(stops.count(), 0);
    vs.stop();
    server.end();
}

#[test]
fn connection_that_waits_for_its_turn_is_served_when_the_first_has_left() {
    let server = Server::over("loop.ez", crate::LOOP);
    let mut first = server.connect();
    first.begin("loop.ez", &[]);
    first.output("stdout", "looping");
    let mut second = server.connect();
    let asked = second.send("start", json!({}));
    first.call("get_threads", json!({}));
    first.stop();
    assert_eq!(second.response(asked)["success"], true);
    second.tell("ready", json!({}));
    second.call("pause", json!({}));
    second.stopped("pause");
    second.stop();
    server.end();
}

#[test]
fn s065_threads_are_listed_before_ready_while_running_and_stopped() {
    let server = Server::over("loop.ez", crate::LOOP);
    let mut vs = server.connect();
    vs.call("get_threads", json!({}));
    vs.call("start", json!({}));
    vs.call("get_threads", json!({}));
    vs.tell("ready", json!({}));
    vs.output("stdout", "looping");
    let names = |threads: Value| threads["threads"][0]["name"].clone();
    assert_eq!(names(vs.call("get_threads", json!({}))), "main");
    vs.call("pause", json!({}));
    vs.stopped("pause");
    assert_eq!(names(vs.call("get_threads", json!({}))), "main");
    vs.stop();
    server.end();
}

#[test]
fn s090_s091_output_comes_before_the_exit_which_has_the_programs_code() {
    let text = "import @std\nusing std\n\ndo main() {\n    println(\"one\\ntwo\")\n    eprintln(\"err\")\n    exit(3)\n}\n";
    let server = Server::over("e.ez", text);
    let mut vs: VisualStudio = server.connect();
    vs.begin("e.ez", &[]);
    assert_eq!(vs.event("program_exited")["exitCode"], 3);
    let printed = |category: &str| -> String {
        let of = |message: &&Value| message["event"] == "output" && message["category"] == category;
        vs.received.iter().filter(of).map(|message| message["output"].as_str().unwrap()).collect()
    };
    assert_eq!((printed("stdout").as_str(), printed("stderr").as_str()), ("one\ntwo\n", "err\n"));
    vs.stop();
    server.end();
}

#[test]
fn s024_ready_after_a_failed_start_shows_the_reason_and_ends_the_session() {
    let server = Server::over("g.ez", PROGRAM);
    std::fs::remove_file(server.file("g.ez")).unwrap();
    let mut vs = server.connect();
    vs.refused("start", json!({}));
    vs.call("get_threads", json!({}));
    vs.tell("ready", json!({}));
    assert!(vs.output("error", "start failed").contains("g.ez"));
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s035_later_connection_stops_at_exceptions_again() {
    let text = "import @std, @io\nusing std\n\ndo main() {\n    temp list = {1}\n    temp at = 7\n    as_long_as !io.exists(\"go\") {\n        sleep_milliseconds(5)\n    }\n    println(list[at])\n}\n";
    let server = Server::over("x.ez", text);
    let mut vs = server.connect();
    vs.begin("x.ez", &[]);
    vs.stop();
    let mut vs = server.connect();
    vs.begin("x.ez", &[]);
    vs.call("get_threads", json!({}));
    std::fs::write(server.file("go"), "").unwrap();
    assert_eq!(vs.stopped("exception"), 10);
    vs.stop();
    server.end();
}
