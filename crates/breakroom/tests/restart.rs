//! `restart` of a real program inside a shared session: nobody leaves, nobody is told that it is over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

use serde_json::json;
use support::company::{C, GO, PYTHON, all_see_the_end, join, listed, only_session};
use support::editor::Hub;
use support::scenario::Language;

fn restart(language: &Language) {
    let Some((desk, mut first)) = language.open(Hub::Shared, &["--type", language.kind]) else { return };
    let offered = first.initialize(json!({"clientName": "First"}));
    assert_eq!(offered["body"]["supportsRestartRequest"], true, "{offered}");
    first.client.allow(&["continued", "thread", "module"]);
    first.launch(first.at("call"), json!({}));
    let stop = first.stopped("breakpoint", language.names.main, Some("call"));
    let id = only_session(&desk);
    let mut second = join(&desk, language, "Second", &["--session", &id], json!({}));
    second.client.allow(&["continued", "thread", "module"]);
    second.client.event("stopped");
    second.set_breakpoints(second.at("end"));

    // Past the first call, and back to it.
    first.resume(&stop);
    first.stopped("breakpoint", language.names.main, Some("call"));
    second.client.event("stopped");
    second.client.call("restart", json!({}));
    let again = second.stopped("breakpoint", language.names.main, Some("call"));
    assert_eq!(second.evaluate(&again, "i"), "0", "it began anew");
    first.client.event("stopped");
    let stale = first.client.call_failing("scopes", json!({"frameId": stop.frame}));
    assert!(stale["message"].as_str().is_some(), "{stale}");
    assert_eq!(listed(&desk)[0]["clients"], json!(["First", "Second"]));
    assert_eq!(listed(&desk)[0]["nodes"], 1);

    // Both owners' breakpoints are in the new program.
    first.set_breakpoints(json!([]));
    first.resume(&again);
    let end = first.stopped("breakpoint", language.names.main, Some("end"));
    second.client.event("stopped");
    first.resume(&end);
    all_see_the_end([second, first]);
    desk.leave(Hub::Shared);
}

#[test]
fn a_python_program_is_restarted_for_everybody() {
    restart(&PYTHON);
}

#[test]
fn a_c_program_is_restarted_for_everybody() {
    restart(&C);
}

#[test]
fn a_go_program_is_restarted_for_everybody() {
    restart(&GO);
}
