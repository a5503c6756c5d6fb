//! An external `ez debugserver` as an engine, through the real binary: each way in which the real server is known to
//! deviate from the protocol's document, and a server that keeps to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod ez;
}

mod servers {
    mod ending;
    mod entry;
}

use breakroom_testkit::fake_ez;
use serde_json::{Value, json};
use support::editor::{Desk, Hub};
use support::ez::{Ez, path_with_ez};

/// With a call, so that there is a stack; lines are told by the numbers at their ends.
const CALLS: &str = "\
do add
let a int 40
let b int 2
print added
end
let x int 10
let y int 20
call add
print done
";
const ENTRY: i64 = 6;
const CALL: i64 = 8;
const LAST: i64 = 9;

#[test]
fn a_server_that_keeps_to_the_document_gives_all_that_the_protocol_has() {
    let mut ez = Ez::open("", CALLS);
    let set = ez.launch(&[3, CALL], json!({}));
    assert!(set.iter().all(|one| one["verified"] == true), "{set:?}");
    assert_eq!((&set[0]["line"], &set[1]["line"]), (&json!(3), &json!(CALL)));
    let frames = ez.stopped("breakpoint", &[("main", CALL)]);
    assert_eq!(ez.variables(&frames[0]), ["x int 10", "y int 20"]);
    let sum = ez.client.call("evaluate", json!({"expression": "x + y", "frameId": frames[0]}));
    assert_eq!((&sum["body"]["result"], &sum["body"]["type"]), (&json!("30"), &json!("int")));
    let unknown = ez.client.call_failing("evaluate", json!({"expression": "z", "frameId": frames[0]}));
    assert_eq!(unknown["message"], "undefined: z");
    ez.go("stepIn");
    ez.stopped("step", &[("add", 2), ("main", CALL)]);
    ez.go("next");
    let frames = ez.stopped("step", &[("add", 3), ("main", CALL)]);
    assert_eq!(ez.variables(&frames[0]), ["a int 40"]);
    assert_eq!(ez.variables(&frames[1]), ["x int 10", "y int 20"]);
    ez.go("stepOut");
    ez.stopped("step", &[("main", LAST)]);
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn reasons_of_stops_are_told_although_the_server_has_only_two_and_no_ids() {
    let mut ez = Ez::open("real", CALLS);
    let set = ez.launch(&[3, 4], json!({}));
    assert!(set.iter().all(|one| one["verified"] == true) && set[0]["id"] != set[1]["id"], "{set:?}");
    for (line, breakpoint) in [(3, &set[0]), (4, &set[1])] {
        let stopped = ez.client.event("stopped");
        assert_eq!(stopped["body"]["reason"], "breakpoint");
        assert_eq!(stopped["body"]["hitBreakpointIds"], json!([breakpoint["id"]]), "{stopped}");
        ez.stack(&[("<function>", line), ("main", CALL)]);
        ez.go("continue");
    }
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn a_breakpoint_is_told_to_the_server_by_the_path_it_was_started_with() {
    let mut ez = Ez::open("real", CALLS);
    let link = ez.desk.sandbox.work().join("linked");
    std::os::unix::fs::symlink(ez.desk.sandbox.work(), &link).unwrap();
    let launch = ez.request_launch(json!({}));
    ez.client.event("initialized");
    let through_link = json!({"source": {"path": link.join("program.ez")}, "breakpoints": [{"line": LAST}]});
    ez.client.call("setBreakpoints", through_link);
    ez.client.call("configurationDone", Value::Null);
    ez.client.response(launch);
    ez.stopped("breakpoint", &[("main", LAST)]);
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn a_program_named_by_a_relative_path_is_debugged_in_its_folder() {
    let mut ez = Ez::open("real", CALLS);
    let work = ez.desk.sandbox.work();
    ez.launch(&[LAST], json!({"program": "program.ez", "cwd": work}));
    ez.stopped("breakpoint", &[("main", LAST)]);
    ez.left("added\n", "");
}

#[test]
fn call_sites_without_names_become_a_stack_with_main() {
    let mut ez =
        Ez::open("real", "do inner\nlet c int 1\nend\ndo outer\ncall inner\nend\nlet x int 1\ncall outer\n");
    ez.launch(&[2], json!({}));
    let frames = ez.stopped("breakpoint", &[("<function>", 2), ("<function>", 5), ("main", 8)]);
    assert_eq!(ez.variables(&frames[2]), [""; 0]);
    ez.left("", "");
}

#[test]
fn main_without_frames_is_where_the_program_stopped_and_has_no_variables() {
    let mut ez = Ez::open("real", CALLS);
    ez.launch(&[CALL], json!({}));
    let frames = ez.stopped("breakpoint", &[("main", CALL)]);
    assert_eq!(ez.variables(&frames[0]), [""; 0]);
    ez.left("", "");
}

#[test]
fn internal_names_of_types_are_the_languages_own() {
    let text = "do f\nlet a int 1\nlet b string \"x\"\nlet c bool true\nlet d array {1, 2}\nprint x\nend\nlet x int 1\ncall f\n";
    let mut ez = Ez::open("real", text);
    ez.launch(&[6], json!({}));
    let frames = ez.stopped("breakpoint", &[("<function>", 6), ("main", 9)]);
    let wanted = ["a int 1", "b string \"x\"", "c bool true", "d array {1, 2}"];
    assert_eq!(ez.variables(&frames[0]), wanted);
    ez.left("", "");
}

#[test]
fn an_expression_that_the_server_cannot_evaluate_fails_with_its_words() {
    let mut ez = Ez::open("real", CALLS);
    ez.launch(&[CALL], json!({}));
    let frames = ez.stopped("breakpoint", &[("main", CALL)]);
    let refused = ez.client.call_failing("evaluate", json!({"expression": "x + y", "frameId": frames[0]}));
    assert_eq!(refused["message"], "Expression evaluation not yet implemented");
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn raw_output_between_events_is_output_and_nothing_of_it_is_lost() {
    let program = "\
print plain
say no newline
let x int 1
print {\"a\":1}
print [1]
print {\"type\":\"event\",\"event\":\"party\",\"data\":{}}
say {\"data\":
let y int 2
warn to stderr
print für
";
    let mut ez = Ez::open("real", program);
    ez.launch(&[3, 8, 10], json!({}));
    for line in [3, 8, 10] {
        ez.stopped("breakpoint", &[("main", line)]);
        ez.go("continue");
    }
    let printed = "plain\nno newline{\"a\":1}\n[1]\n{\"type\":\"event\",\"event\":\"party\",\"data\":{}}\n{\"data\":für\n";
    ez.ended(0, printed, "to stderr\n");
}

#[test]
fn a_line_without_bounds_costs_no_event_behind_it() {
    let bytes = 17 << 20;
    let mut ez = Ez::open("real", &format!("let x int 1\nlet y int 1\nwide {bytes}\nprint end\n"));
    ez.launch(&[4], json!({}));
    ez.stopped("breakpoint", &[("main", 4)]);
    ez.go("continue");
    ez.ended(0, &format!("{{{}\nend\n", "w".repeat(bytes)), "");
}

#[test]
fn a_program_that_does_not_parse_fails_the_launch_with_the_servers_words() {
    for (habits, words) in [("real", "Parse errors in file: see line 2"), ("", ":2:1: this is no statement")]
    {
        let mut ez = Ez::open(habits, "print x\noops\n");
        let launch = ez.request_launch(json!({}));
        let answer = ez.client.failure(launch);
        assert!(answer["message"].as_str().unwrap().contains(words), "{answer}");
        let stderr = if habits == "real" { "Parse errors in file: see line 2\n" } else { "" };
        ez.left("", stderr);
    }
}

#[test]
fn a_program_that_is_not_there_fails_the_launch() {
    let mut ez = Ez::open("real", "");
    std::fs::remove_file(&ez.program).unwrap();
    let launch = ez.request_launch(json!({}));
    let answer = ez.client.failure(launch);
    assert!(answer["message"].as_str().unwrap().contains("Error reading file"), "{answer}");
    ez.client.event("terminated");
    ez.client.allow(&["output"]);
    ez.client.call("disconnect", Value::Null);
    ez.client.finish();
    ez.desk.leave(Hub::Private);
}

#[test]
fn a_server_that_cannot_pause_says_so_and_the_program_goes_on() {
    for (habits, words) in [("real", "unknown command: pause"), ("silent", "may not know")] {
        let mut ez = Ez::open(habits, "let x int 1\nlet y int 1\nprint spins\nspin\n");
        ez.launch(&[], json!({}));
        ez.client.output_containing("spins");
        let refused = ez.client.call_failing("pause", json!({"threadId": 1}));
        assert!(refused["message"].as_str().unwrap().contains(words), "{refused}");
        ez.client.call("threads", Value::Null);
        ez.left("spins\n", "");
    }
}

#[test]
fn a_server_that_can_pause_stops_a_running_program() {
    let mut ez = Ez::open("pause", "print spins\nspin\n");
    ez.launch(&[], json!({}));
    ez.client.output_containing("spins");
    ez.go("pause");
    ez.stopped("pause", &[("main", 2)]);
    ez.left("spins\n", "");
}

#[test]
fn a_step_that_the_server_refuses_leaves_the_program_where_it_was() {
    let mut ez = Ez::open("real,no-step-out", CALLS);
    ez.launch(&[3], json!({}));
    ez.stopped("breakpoint", &[("<function>", 3), ("main", CALL)]);
    ez.go("stepOut");
    ez.stopped("step", &[("<function>", 3), ("main", CALL)]);
    ez.client.output_containing("unknown command: stepOut");
    ez.left("", "unknown command: stepOut\n");
}

#[test]
fn breakpoints_are_set_and_cleared_one_by_one_also_while_the_program_is_stopped() {
    for habits in ["", "real"] {
        let mut ez =
            Ez::open(habits, "let a int 1\nlet b int 1\nlet c int 1\nlet d int 1\nlet e int 1\nprint end\n");
        ez.launch(&[3, 4], json!({}));
        ez.stopped("breakpoint", &[("main", 3)]);
        let set = ez.set_breakpoints(&[3, 5]);
        assert!(set.iter().all(|one| one["verified"] == true), "{set:?}");
        ez.go("continue");
        ez.stopped("breakpoint", &[("main", 5)]);
        ez.set_breakpoints(&[]);
        ez.go("continue");
        ez.ended(0, "end\n", "");
    }
}

#[test]
fn a_breakpoint_is_where_the_server_puts_it() {
    let program = "let a int 1\nlet b int 1\n\n\nlet c int 1\nprint end\n";
    let mut ez = Ez::open("snap", program);
    let set = ez.launch(&[3, 99], json!({}));
    assert_eq!((&set[0]["line"], &set[0]["verified"]), (&json!(5), &json!(true)));
    assert_eq!(set[1]["verified"], false);
    assert_eq!(set[1]["message"], "there is no statement at or after that line");
    ez.stopped("breakpoint", &[("main", 5)]);
    ez.left("", "");

    let mut ez = Ez::open("move", program);
    let set = ez.launch(&[3], json!({}));
    assert_eq!(set[0]["line"], 3);
    let moved = ez.client.event("breakpoint");
    assert_eq!(moved["body"]["breakpoint"]["line"], 5, "{moved}");
    assert_eq!(moved["body"]["breakpoint"]["id"], set[0]["id"], "{moved}");
    ez.stopped("breakpoint", &[("main", 5)]);
    ez.left("", "");
}

#[test]
fn a_condition_is_refused_instead_of_being_ignored() {
    let mut ez = Ez::open("", CALLS);
    let launch = ez.request_launch(json!({}));
    ez.client.event("initialized");
    let conditional = json!([{"line": 3, "condition": "a == 1"}, {"line": LAST}]);
    let arguments = json!({"source": {"path": ez.program}, "breakpoints": conditional});
    let set = ez.client.call("setBreakpoints", arguments);
    assert_eq!(set["body"]["breakpoints"][0]["verified"], false, "{set}");
    ez.client.call("configurationDone", Value::Null);
    ez.client.response(launch);
    ez.stopped("breakpoint", &[("main", LAST)]);
    ez.left("added\n", "");
}

#[test]
fn an_answer_in_several_events_is_one_answer() {
    for habits in ["split", ""] {
        let mut ez = Ez::open(habits, "many 40 300\nprint end\n");
        ez.launch(&[2], json!({}));
        let frames = ez.stopped("breakpoint", &[("main", 2)]);
        let variables = ez.variables(&frames[0]);
        assert_eq!(variables.len(), 40);
        assert!(variables[39].starts_with("v39 string xxx"), "{}", variables[39]);
        ez.go("continue");
        ez.ended(0, "end\n", "");
    }
}

#[test]
fn the_launch_may_name_another_server() {
    let desk = Desk::new();
    let program = desk.sandbox.work().join("p.ez");
    std::fs::write(&program, CALLS).unwrap();
    let mut door = desk.door(Hub::Private, &["--type", "ez-debugserver"]);
    door.env("PATH", path_with_ez(&desk));
    let mut client = breakroom_testkit::Strict::spawn(door);
    client.allow(&["capabilities", "output"]);
    client.call("initialize", json!({"adapterID": "x"}));
    let missing = json!({"program": program, "debugserver": ["no-such-ez", "debugserver"]});
    let answer = client.call_failing("launch", missing);
    assert!(answer["message"].as_str().unwrap().contains("no such program in PATH"), "{answer}");
    client.event("terminated");
    client.call("disconnect", Value::Null);
    client.finish();

    let mut door = desk.door(Hub::Private, &["--type", "ez-debugserver"]);
    door.env("PATH", path_with_ez(&desk));
    let mut client = breakroom_testkit::Strict::spawn(door);
    client.allow(&["capabilities", "output"]);
    client.call("initialize", json!({"adapterID": "x"}));
    let server = json!([fake_ez::server_path(), "debugserver"]);
    let launch = client.request("launch", json!({"program": program, "debugserver": server}));
    client.event("initialized");
    client.call("configurationDone", Value::Null);
    client.response(launch);
    client.event("exited");
    client.event("terminated");
    client.call("disconnect", Value::Null);
    client.finish();
    desk.leave(Hub::Private);
}

#[test]
fn a_machine_without_ez_learns_how_to_get_it() {
    let desk = Desk::new();
    let mut door = desk.door(Hub::Private, &["--type", "ez-debugserver"]);
    door.env("PATH", "/nowhere");
    let mut client = breakroom_testkit::Strict::spawn(door);
    let answer = client.call_failing("initialize", json!({"adapterID": "x"}));
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("ez") && message.contains("go install"), "{message}");
    client.allow(&["output", "terminated"]);
    client.abandon();
    desk.leave(Hub::Private);
}

#[test]
fn our_own_debugserver_is_a_server_like_any_other() {
    let text = "import @std\nusing std\n\ndo double(n int) -> int {\n    temp twice = n * 2\n    return twice\n}\n\ndo main() {\n    println(double(21))\n    exit(3)\n}\n";
    let mut ez = Ez::open("", text);
    let ours = json!({"debugserver": [ez.desk.sandbox.binary(), "ez", "debugserver", "--private"]});
    let set = ez.launch(&[6], ours);
    assert_eq!((&set[0]["verified"], &set[0]["line"]), (&json!(true), &json!(6)));
    let frames = ez.stopped("breakpoint", &[("double", 6), ("main", 10)]);
    assert_eq!(ez.variables(&frames[0]), ["n int 21", "twice int 42"]);
    let sum = ez.client.call("evaluate", json!({"expression": "n + twice", "frameId": frames[0]}));
    assert_eq!(sum["body"]["result"], "63");
    ez.go("continue");
    ez.ended(3, "42\n", "");
}
