//! Ends: of the program, by the IDE's word, and of the IDE itself.

use std::time::Instant;

use breakroom_testkit::wait;
use serde_json::json;

use crate::support::company::nothing_is_listed;
use crate::support::editor::Hub;
use crate::support::ide::Ide;
use crate::{FAILURE, LOOP, SUM, desk, door, initialized, running};

#[test]
fn an_endless_loop_is_terminated_at_once() {
    let Some((desk, _)) = desk(LOOP) else { return };
    for (hub, words) in [(Hub::Private, &["t.py", "--private"][..]), (Hub::Shared, &["t.py"][..])] {
        let ide = running(&desk, words);
        let asked = Instant::now();
        ide.terminates();
        // The promise is one second; what a loaded machine adds has no bound, and a loop that goes on has no end.
        assert!(asked.elapsed() < wait::DEADLINE, "{hub:?}: {:?}", asked.elapsed());
    }
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn terminate_works_before_the_start_too() {
    let Some((desk, _)) = desk(LOOP) else { return };
    Ide::spawn(door(&desk, &["t.py"])).terminates();
    initialized(&desk, &["t.py"]).terminates();
    // And while the debugger is being started, with a step that has no chance to be made.
    let mut ide = initialized(&desk, &["t.py"]);
    ide.sends("start", json!({}));
    ide.sends("stepInto", json!({}));
    ide.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn a_runtime_error_is_told_and_the_exit_code_is_the_programs() {
    let Some((desk, file)) = desk(FAILURE) else { return };
    let mut ide = initialized(&desk, &[&file]);
    ide.sends("setBreakpoint", json!({"file": file, "line": 4}));
    ide.hears("breakpointSet");
    ide.sends("start", json!({}));
    ide.waits_for("stopped");
    ide.sends("continue", json!({}));
    let error = ide.hears("error");
    assert!(error["message"].as_str().unwrap().contains("division"), "{error}");
    assert_eq!((&error["location"]["file"], &error["location"]["line"]), (&json!(file), &json!(2)));
    assert_eq!(ide.waits_for("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code(), Some(1));
    desk.leave(Hub::Shared);
}

#[test]
fn the_end_of_the_commands_lets_the_program_run_and_then_ends_the_session() {
    let Some((desk, _)) = desk(SUM) else { return };
    let mut ide = running(&desk, &["t.py"]);
    ide.closes();
    assert_eq!(ide.waits_for("exited"), json!({"exitCode": 0}));
    assert!(ide.ends().success());
    let mut ide = initialized(&desk, &["t.py"]);
    ide.sends("start", json!({}));
    ide.closes();
    ide.hears("started");
    ide.hears("stopped");
    ide.hears("terminated");
    assert!(ide.ends().success());
    let mut ide = initialized(&desk, &["t.py"]);
    ide.closes();
    assert!(ide.ends().success());
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn an_ide_that_is_killed_leaves_nothing_behind() {
    let Some((desk, _)) = desk(LOOP) else { return };
    running(&desk, &["t.py"]).dies();
    nothing_is_listed(&desk);
    running(&desk, &["t.py", "--private"]).dies();
    desk.leave(Hub::Shared);
}
