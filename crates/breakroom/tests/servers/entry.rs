//! The stop on entry, whatever the server makes of its start.

use serde_json::json;

use crate::support::ez::Ez;
use crate::{CALL, CALLS, ENTRY, LAST};

#[test]
fn an_entry_that_is_wanted_is_reported_although_there_are_breakpoints() {
    for habits in ["", "started-late"] {
        let mut ez = Ez::open(habits, CALLS);
        ez.launch(&[LAST], json!({"stopOnEntry": true}));
        ez.stopped("entry", &[("main", ENTRY)]);
        ez.go("continue");
        ez.stopped("breakpoint", &[("main", LAST)]);
        ez.go("continue");
        ez.ended(0, "added\ndone\n", "");
    }
}

#[test]
fn an_entry_that_is_not_wanted_is_passed() {
    for habits in ["", "real"] {
        let mut ez = Ez::open(habits, CALLS);
        ez.launch(&[], json!({}));
        ez.ended(0, "added\ndone\n", "");
    }
}

#[test]
fn two_stops_before_any_command_are_the_entry() {
    let mut ez = Ez::open("real", CALLS);
    ez.launch(&[LAST], json!({"stopOnEntry": true}));
    ez.stopped("entry", &[("main", ENTRY + 1)]);
    ez.go("continue");
    ez.stopped("breakpoint", &[("main", LAST)]);
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn a_server_that_runs_ahead_and_stops_only_once_is_at_the_entry_too() {
    let mut ez = Ez::open("real,ahead-once", CALLS);
    ez.launch(&[LAST], json!({"stopOnEntry": true}));
    ez.stopped("entry", &[("main", ENTRY)]);
    ez.go("next");
    ez.stopped("step", &[("main", ENTRY + 1)]);
    ez.left("", "");
}

#[test]
fn stops_ahead_that_come_late_do_not_cost_the_first_breakpoint() {
    let mut ez = Ez::open("real,ahead-late", CALLS);
    ez.launch(&[LAST], json!({}));
    ez.stopped("breakpoint", &[("main", LAST)]);
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn a_breakpoint_where_a_server_that_ran_ahead_waits_is_hit() {
    let mut ez = Ez::open("real", CALLS);
    ez.launch(&[ENTRY + 1], json!({}));
    ez.stopped("breakpoint", &[("main", ENTRY + 1)]);
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}

#[test]
fn a_program_that_ends_before_its_server_could_stop_twice_has_a_session_and_an_end() {
    let mut ez = Ez::open("real", "print only this\n");
    let launch = ez.request_launch(json!({}));
    ez.client.response(launch);
    ez.client.allow(&["initialized"]);
    ez.ended(0, "only this\n", "");
}

#[test]
fn started_may_come_after_the_stop_it_causes() {
    let mut ez = Ez::open("started-late", CALLS);
    ez.launch(&[CALL], json!({}));
    ez.stopped("breakpoint", &[("main", CALL)]);
    ez.go("continue");
    ez.ended(0, "added\ndone\n", "");
}
