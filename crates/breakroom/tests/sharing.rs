//! Several clients on one live session of the real binary, with real debuggers behind it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

use breakroom_testkit::wait;
use serde_json::json;
use support::company::{
    C, PYTHON, continues, join, leave_last, listed, nothing_is_listed, only_session, run,
};
use support::editor::{Desk, Hub};
use support::scenario::{Language, Session, Stop};

/// A session of the daemon that is stopped where `add` is called.
fn stopped(language: &Language) -> Option<(Desk, Session<'_>, Stop)> {
    let (desk, mut first) = language.open(Hub::Shared, &["--type", language.kind])?;
    first.initialize(json!({"clientName": "First"}));
    // The debugger may tell of the start.
    first.client.allow(&["continued"]);
    first.launch(first.at("call"), json!({}));
    let stop = first.stopped("breakpoint", language.names.main, Some("call"));
    Some((desk, first, stop))
}

fn share(language: &Language) {
    let Some((desk, mut first, stop)) = stopped(language) else { return };
    let names = &language.names;
    let id = only_session(&desk);
    let summary = listed(&desk).remove(0);
    assert_eq!((&summary["state"], &summary["clients"]), (&json!("stopped"), &json!(["First"])), "{summary}");
    assert_eq!(summary["nodes"], 1, "{summary}");

    // The second is shown the stop and reads the same variables under the same numbers.
    let mut second = join(&desk, language, "Second", &["--session", &id], json!({}));
    second.client.allow(&["continued"]);
    let shown = second.stopped("breakpoint", names.main, Some("call"));
    assert_eq!((&shown.thread, &shown.frame), (&stop.thread, &stop.frame));
    assert_eq!(first.locals(&stop), second.locals(&shown));

    // Its breakpoint leaves the first one's alone, and where it goes the first goes too.
    second.set_breakpoints(second.at("add"));
    let before = continues(&first);
    second.resume(&shown);
    let inside = second.stopped("breakpoint", names.add, Some("add"));
    first.client.event("continued");
    let told = first.client.event("stopped");
    let description = told["body"]["description"].as_str().unwrap_or_default();
    assert!(description.contains("resumed by Second"), "{told}");
    assert_eq!(continues(&first), before + 1, "the debugger's own word is not told twice");

    let stale = first.client.call_failing("scopes", json!({"frameId": stop.frame}));
    assert!(stale["message"].as_str().is_some(), "{stale}");
    let outside = second.step("stepOut", &inside, names.main, None);
    first.client.event("continued");
    first.client.event("stopped");
    assert_eq!(continues(&first), before + 2);

    // The first one's own breakpoint still holds.
    first.resume(&outside);
    first.stopped("breakpoint", names.main, Some("call"));
    second.client.event("stopped");

    // The first one leaves; its breakpoints go and the session stays.
    first.let_go();
    assert_eq!(listed(&desk)[0]["clients"], json!(["Second"]));
    let at_call = Stop { thread: outside.thread.clone(), frame: json!(0) };
    second.resume(&at_call);
    second.stopped("breakpoint", names.add, Some("add"));

    let output = run(&desk, &["attach", &id], "bt\nbreak\nquit\n");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("breakpoint of Second at "), "others' breakpoints are listed too: {said}");
    assert!(output.status.success() && said.contains("add") && said.contains("main"), "{output:?}");
    assert_eq!(listed(&desk)[0]["clients"], json!(["Second"]), "who attached and left ended nothing");

    let output = run(&desk, &["kill", &id], "");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.starts_with(&format!("ended {id}")), "{output:?}");
    second.client.event("terminated");
    second.client.closed();
    second.client.abandon();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn two_editors_drive_one_python_program() {
    share(&PYTHON);
}

#[test]
fn two_editors_drive_one_c_program() {
    share(&C);
}

#[test]
fn three_take_part_one_by_attach_one_as_an_observer() {
    let Some((desk, mut first, stop)) = stopped(&PYTHON) else { return };
    let id = only_session(&desk);
    // A client that did not say on the command line where it belongs.
    let debuggee = PYTHON.debuggee(&desk);
    let mut second = Session::new(desk.editor(Hub::Shared, &[]), &PYTHON, debuggee);
    second.client.allow(&["continued"]);
    second.initialize(json!({"clientName": "Second"}));
    let own = json!({"breakroom": {"session": id, "events": true}});
    let attach = second.client.request("attach", own);
    second.client.event("capabilities");
    second.client.event("initialized");
    second.client.response(attach);
    second.client.call("configurationDone", json!({}));
    second.stopped("breakpoint", "main", Some("call"));
    let others = second.client.event("breakpoint");
    assert_eq!(others["body"]["breakpoint"]["breakroom"]["owner"], "First", "{others}");

    let mut third = join(&desk, &PYTHON, "Third", &["--session"], json!({"role": "observe"}));
    third.client.allow(&["continued"]);
    let shown = third.stopped("breakpoint", "main", Some("call"));
    let refused = third.client.call_failing("next", json!({"threadId": shown.thread}));
    assert!(refused["message"].as_str().unwrap().contains("observers"), "{refused}");

    let joined = second.client.event("breakroom/activity")["body"].clone();
    assert_eq!(joined, json!({"client": "Third", "deed": "joined"}));
    first.step("next", &stop, "main", None);
    assert_eq!(second.client.event("breakroom/activity")["body"]["client"], "First");
    second.client.event("stopped");
    third.client.event("stopped");

    // Without a driver there is nothing to look at.
    second.let_go();
    leave_last(first);
    third.client.event("terminated");
    leave_last(third);
    desk.leave(Hub::Shared);
}

#[test]
fn a_session_that_is_not_named_must_be_the_only_one() {
    if PYTHON.skipped() {
        return;
    }
    let Some((desk, first, _)) = stopped(&PYTHON) else { return };
    let unknown = run(&desk, &["dap", "--session", "nope"], "");
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(!unknown.status.success() && said.contains("there is no session `nope`"), "{said}");
    assert!(said.contains(&only_session(&desk)), "it says which there are: {said}");

    let debuggee = PYTHON.debuggee(&desk);
    let mut other = Session::new(desk.editor(Hub::Shared, &["--type", "python"]), &PYTHON, debuggee);
    other.client.allow(&["continued"]);
    other.initialize(json!({}));
    other.launch(other.at("call"), json!({}));
    other.stopped("breakpoint", "main", Some("call"));
    for arguments in [&["dap", "--session"][..], &["attach"]] {
        let several = run(&desk, arguments, "");
        let said = String::from_utf8_lossy(&several.stderr).into_owned();
        assert!(!several.status.success() && said.contains("there are several sessions"), "{said}");
        for session in listed(&desk) {
            assert!(said.contains(session["id"].as_str().unwrap()), "{said}");
        }
    }
    leave_last(first);
    leave_last(other);
    nothing_is_listed(&desk);
    let none = run(&desk, &["dap", "--session"], "");
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success() && said.contains("there is no live session"), "{said}");
    let none = run(&desk, &["kill", "nope"], "");
    assert!(!none.status.success(), "{none:?}");
    desk.leave(Hub::Shared);
}

#[test]
fn a_lost_editor_leaves_the_session_and_for_a_while_its_breakpoints_to_the_other() {
    let Some((desk, first, _)) = stopped(&PYTHON) else { return };
    let mut second = join(&desk, &PYTHON, "Second", &["--session"], json!({}));
    second.client.allow(&["continued"]);
    let shown = second.stopped("breakpoint", "main", Some("call"));
    first.client.abandon();
    wait::until(wait::DEADLINE, || (listed(&desk)[0]["clients"] == json!(["Second"])).then_some(()))
        .expect("the hub sees that it is gone");
    second.resume(&shown);
    let told = second.client.event("stopped");
    assert_eq!(told["body"]["description"], "breakpoint, set by First", "{told}");
    leave_last(second);
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

fn come_back(language: &Language) {
    let Some((desk, mut first, _)) = stopped(language) else { return };
    let numbers = first.set_breakpoints(json!([
        {"line": language.line("call")},
        {"line": language.line("add"), "condition": "a == 42"}
    ]));
    first.client.abandon();
    let nobody = || (listed(&desk)[0]["clients"] == json!([])).then_some(());
    wait::until(wait::DEADLINE, nobody).expect("the hub sees that it is gone");
    assert_eq!(listed(&desk)[0]["state"], "stopped", "the program is where it was");

    let mut back = join(&desk, language, "First", &["--session"], json!({}));
    back.client.allow(&["continued"]);
    let shown = back.stopped("breakpoint", language.names.main, Some("call"));
    for number in numbers["body"]["breakpoints"].as_array().unwrap() {
        let still = back.client.event("breakpoint");
        assert_eq!(still["body"]["breakpoint"]["id"], number["id"], "it has not spoken of it yet");
    }
    let again = back.set_breakpoints(back.at("add"));
    assert_eq!(again["body"]["breakpoints"][0]["id"], numbers["body"]["breakpoints"][1]["id"]);
    back.set_breakpoints(json!([{"line": language.line("add"), "condition": "a == 42"}]));
    back.resume(&shown);
    let inside = back.stopped("breakpoint", language.names.add, Some("add"));
    assert_eq!(back.evaluate(&inside, "a"), "42");
    leave_last(back);
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn an_editor_that_crashed_comes_back_to_its_python_program_and_its_breakpoints() {
    come_back(&PYTHON);
}

#[test]
fn an_editor_that_crashed_comes_back_to_its_c_program_and_its_breakpoints() {
    come_back(&C);
}
