//! A program whose text cannot be read: its stop is nowhere in it, and whose business it is to let it go on.

use breakroom_door_terminal::{Request, Setup};
use serde_json::{Value, json};

use crate::stage::{PROMPT, Played, Stage};
use breakroom_testkit::scripted::{Say, stopped};

/// As js-debug: the exception is in what reads programs, and only says on demand what it is. These are in the session.
fn unread(clients: &'static [&'static str]) -> impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send {
    move |command, _| match command {
        "initialize" => Some(vec![Say::Answer(json!({
            "supportsConfigurationDoneRequest": true,
            "supportsExceptionInfoRequest": true,
            "exceptionBreakpointFilters": [{"filter": "all"}, {"filter": "uncaught", "default": true}],
        }))]),
        "launch" | "attach" => Some(vec![Say::Event("initialized", Value::Null), Say::Answer(Value::Null)]),
        "configurationDone" => Some(vec![Say::Answer(Value::Null), stopped("exception")]),
        "breakroom/sessions" => {
            Some(vec![Say::Answer(json!({"sessions": [{"id": "k7f2", "name": "t.py", "clients": clients}]}))])
        }
        "stackTrace" => Some(vec![Say::Answer(json!({"stackFrames": [
            {"id": 10, "name": "wrapSafe", "line": 2, "column": 1, "presentationHint": "subtle"},
        ]}))]),
        "exceptionInfo" => Some(vec![Say::Answer(json!({"description": "SyntaxError: Unexpected token"}))]),
        _ => None,
    }
}

fn joins(setup: &mut Setup) {
    setup.request = Request::Join;
    setup.launch = json!({"breakroom": {"events": true}});
    setup.breakpoints.clear();
}

/// Looks at the stop and leaves.
fn looked_at(mut stage: Stage) -> Played {
    stage.sees("stopped: exception at an unknown source in wrapSafe: SyntaxError: Unexpected token\n");
    stage.sees(PROMPT);
    stage.types("q");
    stage.end()
}

#[test]
fn whoever_is_alone_with_it_is_not_stopped() {
    let mut stage = Stage::open(|_| {}, unread(&["Ann"]));
    stage.sees("the program ended with exit code 7\n");
    let played = stage.end();
    assert!(!played.shown.contains("stopped"), "{}", played.shown);
    assert_eq!(played.count("continue"), 1);
}

#[test]
fn a_stop_that_others_see_is_not_taken_from_them() {
    for clients in [&["Ann", "Ed"][..], &["Ann"]] {
        let played = looked_at(Stage::open(joins, unread(clients)));
        assert_eq!(played.count("continue"), 0, "it is not the one who joined that lets it run: {clients:?}");
    }
    let played = looked_at(Stage::open(|_| {}, unread(&["Ann", "Ed"])));
    assert_eq!(played.count("continue"), 0);
}

#[test]
fn whoever_asked_for_exceptions_sees_this_one() {
    let mut hub = unread(&["Ann"]);
    let mut stage = Stage::open(
        |_| {},
        move |command, arguments| match command {
            "configurationDone" => Some(vec![Say::Answer(Value::Null), stopped("breakpoint")]),
            "continue" => Some(vec![Say::Answer(json!({"allThreadsContinued": true})), stopped("exception")]),
            _ => hub(command, arguments),
        },
    );
    stage.sees(PROMPT);
    stage.types("catch all");
    stage.sees(PROMPT);
    stage.types("c");
    let played = looked_at(stage);
    assert_eq!(played.count("continue"), 1);
}
