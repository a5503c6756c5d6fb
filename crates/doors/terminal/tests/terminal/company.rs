//! The front in company: what others do while it waits at its prompt, and what leaving means.

use breakroom_door_terminal::{Ending, Request, Setup};
use serde_json::{Value, json};

use crate::stage::{PROMPT, Stage};
use breakroom_testkit::scripted::{Say, stopped};

fn as_usual(_: &str, _: &Value) -> Option<Vec<Say>> {
    None
}

fn resumed_by(name: &str) -> (&'static str, Value) {
    ("breakroom/activity", json!({"client": name, "deed": "resumed", "command": "continue", "threadId": 1}))
}

fn continued() -> (&'static str, Value) {
    ("continued", json!({"threadId": 1, "allThreadsContinued": true}))
}

fn stop(reason: &str, description: &str) -> (&'static str, Value) {
    let body =
        json!({"reason": reason, "description": description, "threadId": 1, "allThreadsStopped": true});
    ("stopped", body)
}

/// A hub with one session, in which these are.
fn hub_with(clients: &'static [&'static str]) -> impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send {
    hub_with_observers(clients, &[])
}

/// The same, and these of them only look on.
fn hub_with_observers(
    clients: &'static [&'static str],
    observers: &'static [&'static str],
) -> impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send {
    move |command, _| match command {
        "breakroom/sessions" => {
            let mut session = json!({"id": "k7f2", "name": "t.py", "state": "stopped", "clients": clients});
            session["observers"] = json!(observers);
            let other = json!({"id": "other", "name": "x.py", "clients": ["Eve"]});
            Some(vec![Say::Answer(json!({"sessions": [other, session]}))])
        }
        "configurationDone" => Some(vec![Say::Answer(Value::Null), stopped("breakpoint")]),
        "launch" | "attach" => Some(vec![Say::Event("initialized", Value::Null), Say::Answer(Value::Null)]),
        _ => None,
    }
}

fn joins(setup: &mut Setup) {
    setup.request = Request::Join;
    setup.launch = json!({"breakroom": {"events": true}});
    setup.breakpoints.clear();
}

#[test]
fn what_others_do_is_shown_at_the_prompt_as_it_happens() {
    let mut stage = Stage::open(|_| {}, as_usual);
    stage.sees(PROMPT);
    stage.voice.tell(&[("output", json!({"category": "stdout", "output": "from afar"}))]);
    assert_eq!(stage.sees(PROMPT), format!("\nfrom afar\n{PROMPT}"));
    stage.voice.tell(&[resumed_by("Bob"), continued()]);
    assert_eq!(stage.sees(PROMPT), format!("\nthe program runs again: Bob resumed it\n{PROMPT}"));
    stage.types("c");
    let refused = stage.sees(PROMPT);
    assert!(refused.starts_with("error: the program runs: Bob resumed it; "), "{refused}");
    stage.types("p a");
    assert!(stage.sees(PROMPT).starts_with("error: the program runs: Bob resumed it; "));
    stage.voice.tell(&[stop("breakpoint", "breakpoint, set by Bob (resumed by Bob)")]);
    let shown = stage.sees(PROMPT);
    assert!(shown.contains("stopped: breakpoint at t.py:2 in add, set by Bob (resumed by Bob)\n"), "{shown}");
    assert!(shown.contains("  a = 40\n  b = 2\n"), "with its variables: {shown}");
    stage.voice.tell(&[("exited", json!({"exitCode": 3})), ("terminated", json!({}))]);
    stage.sees("\nthe program ended with exit code 3\n");
    let played = stage.end();
    assert_eq!(played.outcome.ending, Ending::Ended);
    assert_eq!((played.count("continue"), played.count("evaluate")), (0, 0), "{:?}", played.asked);
    assert_eq!(played.asked.last().map(|(command, _)| command.as_str()), Some("disconnect"));
}

#[test]
fn of_stops_that_piled_up_only_the_latest_is_shown_in_full() {
    let mut stage = Stage::open(|_| {}, as_usual);
    stage.sees(PROMPT);
    let (step, last) = (stop("step", "step (resumed by Bob)"), stop("exception", "boom"));
    stage.voice.tell(&[resumed_by("Bob"), continued(), step, resumed_by("Cid"), continued(), last]);
    stage.sees("stopped: exception at t.py:2 in add: boom\n");
    stage.sees(PROMPT);
    stage.types("q");
    let played = stage.end();
    let passed = "stopped: step (resumed by Bob), not for long\nthe program runs again: Cid resumed it\n";
    assert!(played.shown.contains(passed), "{}", played.shown);
    assert_eq!(played.shown.matches("a = 40").count(), 2, "the first and the last: {}", played.shown);
}

#[test]
fn a_stop_that_ended_with_the_program_gets_one_line() {
    let mut stage = Stage::open(
        |_| {},
        |command, _| match command {
            "continue" => Some(vec![
                Say::Answer(Value::Null),
                stopped("exception"),
                Say::Event("terminated", json!({})),
            ]),
            _ => None,
        },
    );
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("stopped: exception, not for long\nthe program ended\n");
    let played = stage.end();
    assert!(!played.shown.contains("error"), "{}", played.shown);
}

#[test]
fn only_the_thread_that_is_looked_at_matters_when_another_goes_on() {
    let mut stage = Stage::open(|_| {}, as_usual);
    stage.sees(PROMPT);
    stage.voice.tell(&[("stopped", json!({"reason": "step", "threadId": 2}))]);
    assert_eq!(stage.sees(PROMPT), format!("\nthread 2 stopped too: step at t.py:2 in add\n{PROMPT}"));
    stage.voice.tell(&[("continued", json!({"threadId": 2, "allThreadsContinued": false}))]);
    stage.types("p a");
    assert_eq!(stage.sees(PROMPT), format!("a = 42\n{PROMPT}"), "the first still stands");
    stage.voice.tell(&[
        ("stopped", json!({"reason": "step", "threadId": 2})),
        ("continued", json!({"threadId": 1, "allThreadsContinued": false})),
    ]);
    stage.sees(
        "the program runs again: somebody else resumed it\nstopped: step at t.py:2 in add, thread Other\n",
    );
    stage.types("n");
    stage.sees(PROMPT);
    stage.types("q");
    assert_eq!(stage.end().arguments("next")["threadId"], 2);
}

#[test]
fn deeds_of_others_are_told_in_a_line_and_looking_is_none() {
    let mut stage = Stage::open(|_| {}, as_usual);
    stage.sees(PROMPT);
    let deed = |deed: &str, command: &str| {
        ("breakroom/activity", json!({"client": "Bob", "deed": deed, "command": command}))
    };
    let mut set = deed("set a variable", "setVariable");
    set.1["name"] = "a".into();
    set.1["value"] = "7".into();
    stage.voice.tell(&[deed("joined", "attach"), deed("evaluated", "evaluate"), set]);
    stage.sees("\nBob joined\n");
    stage.sees("Bob set a variable: a = 7\n");
    stage.sees(PROMPT);
    stage.voice.tell(&[deed("restarted", "restart"), continued()]);
    assert_eq!(stage.sees(PROMPT), format!("\nthe program runs again: Bob restarted it\n{PROMPT}"));
    stage.voice.tell(&[deed("restarted", "restart")]);
    assert_eq!(stage.sees(PROMPT), format!("\nBob restarted\n{PROMPT}"));
    stage.types("q");
    let shown = stage.end().shown;
    assert!(!shown.contains("evaluated"), "{shown}");
}

#[test]
fn an_interrupt_at_the_prompt_makes_a_new_prompt() {
    let mut stage = Stage::open(|_| {}, as_usual);
    stage.sees(PROMPT);
    stage.interrupts();
    assert_eq!(stage.sees(PROMPT), format!("\n{PROMPT}"));
    stage.types("n");
    stage.sees("stopped: step");
    stage.sees(PROMPT);
    stage.types("q");
    assert_eq!(stage.end().count("pause"), 0);
}

#[test]
fn two_interrupts_leave_a_session_that_was_joined_and_claim_nothing_about_its_program() {
    let mut running = hub_with(&["Ann", "Bob"]);
    let mut stage = Stage::open(joins, move |command, arguments| match command {
        "configurationDone" => Some(vec![Say::Answer(Value::Null)]),
        "pause" => Some(vec![Say::Answer(Value::Null)]),
        _ => running(command, arguments),
    });
    stage.sees("joined k7f2 (t.py), with Bob\n");
    stage.sees(PROMPT);
    stage.interrupts();
    stage.interrupts();
    let played = stage.end();
    assert_eq!(played.outcome.ending, Ending::Quit);
    assert!(!played.shown.contains("ended"), "{}", played.shown);
    assert_eq!(played.count("pause"), 1);
    assert_eq!(played.arguments("disconnect"), &json!({"restart": false}));
}

#[test]
fn whoever_comes_back_by_joining_has_its_breakpoints_again_and_leaves_plainly() {
    let mut hub = hub_with(&["Ann"]);
    let mut stage = Stage::open(joins, move |command, arguments| match command {
        "breakroom/breakpoints" => Some(vec![Say::Answer(json!({"breakpoints": [
            {"own": true, "line": 3, "source": {"path": "/a/t.py"}, "condition": "a > 1", "hitCondition": "2"},
            {"own": false, "owner": "Bob", "line": 4, "source": {"path": "/a/t.py"}},
        ]}))]),
        _ => hub(command, arguments),
    });
    stage.sees("joined k7f2 (t.py), nobody else is here\nbreakpoint 1 at t.py:3 if a > 1 hits 2\n");
    stage.sees(PROMPT);
    stage.types("b /a/t.py:5 if b log \"b is {b}\"");
    stage.sees("breakpoint 2 at t.py:5 if b log \"b is {b}\"\n");
    stage.types("q");
    let played = stage.end();
    assert_eq!(
        played.arguments("setBreakpoints")["breakpoints"],
        json!([
            {"line": 3, "condition": "a > 1", "hitCondition": "2"},
            {"line": 5, "condition": "b", "logMessage": "b is {b}"},
        ])
    );
    assert_eq!(played.arguments("initialize")["clientName"], "Ann");
    assert_eq!(played.arguments("attach"), &json!({"breakroom": {"events": true}}));
    assert_eq!(played.arguments("disconnect"), &json!({"restart": false}));
}

#[test]
fn quitting_a_launched_program_leaves_it_to_the_others_and_says_so() {
    for (clients, observers, farewell) in [
        (&["Ann", "Bob"][..], &[][..], "1 other is still here; the session goes on as k7f2\n"),
        (&["Bob", "Ann", "Ann"], &[], "2 others are still here; the session goes on as k7f2\n"),
        (&["Bob", "Ann", "Cid"], &["Cid"], "2 others are still here; the session goes on as k7f2\n"),
        (&["Bob", "Ann"], &["Bob"], "only 1 observer was still here, so the session has ended\n"),
        (
            &["Ann", "Bob", "Ann"],
            &["Bob", "Ann"],
            "only 2 observers were still here, so the session has ended\n",
        ),
        (&["Ann"], &[], ""),
    ] {
        let mut stage = Stage::open(|_| {}, hub_with_observers(clients, observers));
        stage.sees("session k7f2: others join it with `breakroom attach k7f2`\n");
        stage.sees(PROMPT);
        stage.types("q");
        let played = stage.end();
        assert!(played.shown.ends_with(&format!("{PROMPT}{farewell}")), "{}", played.shown);
        assert_eq!(played.arguments("disconnect"), &json!({"restart": false}));
        assert_eq!(played.outcome.ending, Ending::Quit);
    }
}

#[test]
fn whoever_joined_and_leaves_only_observers_behind_is_told_that_it_is_the_end() {
    for (observers, end) in [(&["Owl"][..], true), (&[], false)] {
        let mut stage = Stage::open(joins, hub_with_observers(&["Ann", "Owl"], observers));
        stage.sees(PROMPT);
        stage.types("q");
        let played = stage.end();
        assert_eq!(played.shown.contains("so the session has ended"), end, "{}", played.shown);
        assert_eq!(played.arguments("disconnect"), &json!({"restart": false}));
    }
}

#[test]
fn who_ended_the_session_is_told_in_one_line() {
    let mut stage = Stage::open(joins, hub_with(&["Ann", "Bob"]));
    stage.sees(PROMPT);
    let deed = |client: &str, deed: &str, command: &str| {
        ("breakroom/activity", json!({"client": client, "deed": deed, "command": command}))
    };
    stage.voice.tell(&[
        deed("Bob", "terminated", "terminate"),
        deed("Bob", "ended the session", "disconnect"),
        deed("Cid", "ended the session", "disconnect"),
        ("terminated", json!({})),
    ]);
    let shown = stage.sees("the program ended\n");
    assert_eq!(shown, "\nBob terminated\nCid ended the session\nthe program ended\n");
    stage.end();
}

#[test]
fn kill_ends_the_program_for_everybody_unless_one_only_observes() {
    let mut stage = Stage::open(joins, hub_with(&["Ann", "Bob"]));
    stage.sees(PROMPT);
    stage.types("kill");
    stage.sees("the program was ended for everybody\n");
    let played = stage.end();
    assert_eq!(played.arguments("disconnect")["terminateDebuggee"], true);
    assert_eq!(played.count("terminate"), 1, "which the others are told by name");

    let observes = |setup: &mut Setup| {
        joins(setup);
        setup.launch["breakroom"]["role"] = "observe".into();
    };
    let mut stage = Stage::open(observes, hub_with(&["Ann", "Bob"]));
    stage.sees("watching k7f2 (t.py), with Bob\n");
    stage.sees(PROMPT);
    stage.types("kill");
    stage.sees("error: kill is not for observers");
    stage.types("q");
    let played = stage.end();
    assert_eq!(played.arguments("disconnect"), &json!({"restart": false}));
}

#[test]
fn restart_runs_the_program_again_where_the_debugger_can() {
    let mut stage = Stage::open(
        |_| {},
        |command, _| match command {
            "initialize" => Some(vec![Say::Answer(
                json!({"supportsConfigurationDoneRequest": true, "supportsRestartRequest": true}),
            )]),
            "restart" => Some(vec![
                Say::Event("continued", json!({"threadId": 1})),
                Say::Answer(Value::Null),
                stopped("entry"),
            ]),
            _ => None,
        },
    );
    stage.sees(PROMPT);
    stage.types("restart");
    let shown = stage.sees(PROMPT);
    assert!(shown.starts_with("stopped: entry at t.py:2 in add\n"), "{shown}");
    stage.types("q");
    assert_eq!(stage.end().count("restart"), 1);

    let mut stage = Stage::open(|_| {}, as_usual);
    stage.sees(PROMPT);
    stage.types("restart");
    stage.sees("error: there is no restart in this debugger");
    stage.types("q");
    assert_eq!(stage.end().count("restart"), 0);
}

#[test]
fn a_connection_that_breaks_says_nothing_about_a_program_that_others_debug() {
    let mut hub = hub_with(&["Ann", "Bob"]);
    let mut stage = Stage::open(joins, move |command, arguments| match command {
        "evaluate" => Some(vec![Say::Close]),
        _ => hub(command, arguments),
    });
    stage.sees(PROMPT);
    stage.types("p a");
    stage.sees("the connection to the session ended: the debugger closed it\n");
    let played = stage.end();
    assert!(!played.shown.contains("the program ended"), "{}", played.shown);
}
