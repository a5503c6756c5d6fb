//! How a launch fails, the same for every adapter: no program, no adapter, no sense.
//!
//! Each failure is told once, to the one who asked, with what to do; and nothing is left of it.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use breakroom_testkit::{Strict, frames};
use serde_json::{Value, json};

use super::editor::{Desk, Hub};
use super::scenario::{Language, Session, launch_of_late_choice, visit};

/// How an adapter says that there is no such program.
pub enum NoProgram {
    /// `launch` fails with a text that holds this.
    Refused(&'static str),
    /// The launch succeeds, the program's own launcher prints this and the session ends with an exit code.
    Ran { said: &'static str, code: i64 },
}

fn message(answer: &Value) -> String {
    answer["message"].as_str().unwrap_or_default().to_owned()
}

pub fn missing_program(language: &Language, known: &NoProgram) {
    let Some((desk, mut session)) = language.open(Hub::Private, &["--type", language.kind]) else {
        return;
    };
    session.initialize(json!({}));
    session.debuggee.program = desk.sandbox.work().join("missing");
    let arguments = language.arguments(&session.debuggee, json!({}));
    let launch = session.client.request("launch", arguments);
    match known {
        NoProgram::Refused(text) => {
            let answer = session.client.failure(launch);
            assert!(message(&answer).contains(text), "{answer}");
            let later = session.client.call_failing("threads", Value::Null);
            assert!(message(&later).contains("the launch failed"), "{later}");
            // Nobody is to wait for what never began.
            session.client.event("terminated");
        }
        NoProgram::Ran { said, code } => {
            session.client.event("initialized");
            session.configure(launch, json!([]));
            session.client.output_containing(said);
            assert_eq!(session.client.event("exited")["body"]["exitCode"], *code);
            session.client.event("terminated");
        }
    }
    session.disconnected("");
    desk.leave(Hub::Private);
}

/// A machine without the adapter: the failure names it and the command that installs it.
pub fn missing_adapter(language: &Language, install: &str) {
    let desk = Desk::new();
    let bare = |arguments: &[&str]| {
        let mut door = desk.door(Hub::Private, arguments);
        let nothing = desk.sandbox.path("state");
        door.env("PATH", &nothing).env("HOME", &nothing).env_remove("XDG_CACHE_HOME");
        Strict::spawn(door)
    };
    let helps = |answer: &Value| {
        let text = message(answer);
        assert!(text.contains(language.adapter) && text.contains(install), "{answer}");
        assert_eq!(answer["body"]["error"]["showUser"], true, "{answer}");
    };

    let mut client = bare(&["--type", language.kind]);
    helps(&client.call_failing("initialize", super::editor::introduction(json!({}))));
    client.finish();

    let mut client = bare(&[]);
    client.call("initialize", super::editor::introduction(json!({})));
    helps(&client.call_failing("launch", json!({"type": language.kind, "program": "x"})));
    // An editor may correct its launch and try again on the same connection.
    helps(&client.call_failing("launch", json!({"type": language.kind, "program": "y"})));
    client.call("disconnect", Value::Null);
    client.finish();
    desk.leave(Hub::Private);
}

/// Arguments that are no JSON or no object cost one request; the engine stays and the next launch works.
pub fn bad_arguments(language: &Language) {
    let Some((desk, mut session)) = language.open(Hub::Private, &[]) else {
        return;
    };
    session.initialize(json!({"adapterID": language.kind}));
    let broken = br#"{"seq":77,"type":"request","command":"launch","arguments":{"program": "t, }}"#;
    let mut frame = Vec::new();
    frames::write_message(&mut frame, broken).expect("memory can be written to");
    let expected = session.client.expect_answer(77);
    session.client.send_raw(&frame);
    let answer = session.client.failure(expected);
    assert!(message(&answer).contains("the session goes on"), "{answer}");

    refuses(&mut session, Value::Null, "no arguments");
    refuses(&mut session, json!(["t.py"]), "no arguments");
    visit(session);
    desk.leave(Hub::Private);
}

/// An inline record that cannot work, or names no program, is told with the reason; the next launch works.
pub fn bad_records(language: &Language) {
    let Some((desk, mut session)) = language.open(Hub::Private, &[]) else {
        return;
    };
    session.initialize(json!({}));
    let record = |record: Value| json!({"program": "x", "breakroom": {"adapter": record}});
    refuses(&mut session, record(json!({"args": "python3"})), "expected a sequence");
    refuses(&mut session, record(json!({"args": []})), "args");
    refuses(&mut session, record(json!({"args": ["x"], "mode": "pigeon"})), "tcp-callback");
    refuses(&mut session, record(json!({"args": ["/nowhere/adapter"]})), "/nowhere/adapter");
    let arguments = language.arguments(&session.debuggee, json!({"type": language.kind}));
    launch_of_late_choice(session, arguments);
    desk.leave(Hub::Private);
}

fn refuses(session: &mut Session<'_>, arguments: Value, reason: &str) {
    let answer = session.client.call_failing("launch", arguments);
    assert!(message(&answer).contains(reason), "{answer}");
}
