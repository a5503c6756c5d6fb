//! Three owners of one line on differing terms, with real debuggers: a condition, a hit count, a log message.
//!
//! The debugger stops there every time; who is told of which stop is for the hub to judge.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

use serde_json::{Value, json};
use support::company::{C, EZ, GO, PYTHON, all_see_the_end, join, only_session};
use support::editor::Hub;
use support::scenario::{Language, Session};

/// One breakpoint where `add` returns, on these terms.
fn on_terms(session: &mut Session<'_>, terms: Value) {
    let mut breakpoint = terms;
    breakpoint["line"] = json!(session.language.line("add"));
    session.set_breakpoints(json!([breakpoint]));
}

fn logged(session: &mut Session<'_>, text: &str) {
    session.client.event_where("output", |body| body["output"] == format!("{text}\n"));
}

/// `add` is called with 40, 41 and 42.
fn three_owners(language: &Language) {
    let Some((desk, mut first)) = language.open(Hub::Shared, &["--type", language.kind]) else { return };
    first.initialize(json!({"clientName": "First"}));
    first.client.allow(&["continued"]);
    first.launch(first.at("call"), json!({}));
    let stop = first.stopped("breakpoint", language.names.main, Some("call"));
    let id = only_session(&desk);
    let mut others: Vec<Session<'_>> = ["Second", "Third"]
        .into_iter()
        .map(|name| {
            let mut other = join(&desk, language, name, &["--session", &id], json!({}));
            other.client.allow(&["continued"]);
            other.client.event("stopped");
            other
        })
        .collect();
    on_terms(&mut first, json!({"condition": "a == 41"}));
    on_terms(&mut others[0], json!({"hitCondition": "3"}));
    on_terms(&mut others[1], json!({"logMessage": "a is {a}"}));

    // The first call of `add` stops nobody; the second is the first one's.
    first.resume(&stop);
    let at_41 = first.stopped("breakpoint", language.names.add, Some("add"));
    assert_eq!(first.evaluate(&at_41, "a"), "41");
    for other in &mut others {
        let told = other.client.event("stopped");
        let description = told["body"]["description"].as_str().unwrap_or_default();
        assert!(description.contains("set by First (resumed by First)"), "{told}");
        assert_eq!(
            told["body"].get("hitBreakpointIds").and_then(|ids| ids.as_array()).map_or(0, Vec::len),
            0
        );
        logged(other, "a is 40");
        logged(other, "a is 41");
    }

    // The third is the second one's, and counts the first, which nobody was told of.
    others[0].resume(&at_41);
    let at_42 = others[0].stopped("breakpoint", language.names.add, Some("add"));
    assert_eq!(others[0].evaluate(&at_42, "a"), "42");
    let told = first.client.event("stopped");
    assert!(told["body"]["description"].as_str().unwrap().contains("set by Second"), "{told}");
    others[1].client.event("stopped");
    logged(&mut others[1], "a is 42");
    let listed = first.client.call("breakroom/breakpoints", json!({}))["body"]["breakpoints"].clone();
    let hits: Vec<_> =
        listed.as_array().unwrap().iter().map(|each| (&each["owner"], &each["hits"])).collect();
    let expected = [("First", 1), ("Second", 3), ("Third", 3)].map(|(name, hits)| (json!(name), json!(hits)));
    assert_eq!(hits, expected.each_ref().map(|(name, hits)| (name, hits)), "{listed}");

    // And then the program runs to its end.
    others[0].resume(&at_42);
    all_see_the_end(others.into_iter().chain([first]));
    desk.leave(Hub::Shared);
}

#[test]
fn a_condition_a_hit_count_and_a_log_message_on_one_line_of_a_python_program() {
    three_owners(&PYTHON);
}

#[test]
fn a_condition_a_hit_count_and_a_log_message_on_one_line_of_a_c_program() {
    three_owners(&C);
}

#[test]
fn a_condition_a_hit_count_and_a_log_message_on_one_line_of_a_go_program() {
    three_owners(&GO);
}

#[test]
fn a_condition_a_hit_count_and_a_log_message_on_one_line_of_an_ez_program() {
    three_owners(&EZ);
}
