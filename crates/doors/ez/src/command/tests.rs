//! Lines as IDEs send them, and lines that none should.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(line: &str) -> Said {
    Said::read(line.as_bytes())
}

fn command(name: &str, params: Value) -> Command {
    match read(&json!({"type": "command", "command": name, "params": params}).to_string()) {
        Said::Command(_, command) => command,
        Said::Nonsense { message, .. } => panic!("{message}"),
    }
}

#[test]
fn commands_are_read_with_what_belongs_to_them() {
    let line = Spot::Line { file: "/a/t.ez".to_owned(), line: 25 };
    let here = json!({"file": "/a/t.ez", "line": 25});
    assert_eq!(command("clearBreakpoint", here), Command::ClearBreakpoint { spot: line.clone() });
    let terms =
        json!({"file": "/a/t.ez", "line": 25, "condition": "x > 1", "hitCondition": 3, "logMessage": "{x}"});
    let expected = Terms {
        condition: Some("x > 1".to_owned()),
        hits: Some("3".to_owned()),
        log: Some("{x}".to_owned()),
    };
    assert_eq!(command("setBreakpoint", terms), Command::SetBreakpoint { spot: line, terms: expected });
    let add = Command::SetBreakpoint { spot: Spot::Function("add".to_owned()), terms: Terms::default() };
    assert_eq!(command("setBreakpoint", json!({"function": "add"})), add);
    let variables = Command::GetVariables { frame: 0, scope: ScopeKind::Locals, thread: None };
    assert_eq!(command("getVariables", Value::Null), variables);
    assert_eq!(
        command("stepOut", json!({"threadId": 7})),
        Command::Resume { how: Resume::Out, thread: Some(7) }
    );
    assert_eq!(command("initialize", json!({})), Command::Initialize { file: None, working_dir: None });
}

#[test]
fn a_line_may_end_as_on_windows_and_leave_params_out() {
    let said = Said::read(b"{\"type\":\"command\",\"command\":\"start\"}\r\n");
    assert!(matches!(said, Said::Command(_, Command::Start)), "{said:?}");
}

#[test]
fn every_kind_of_nonsense_is_told_apart() {
    for (line, message, about) in [
        ("", "invalid JSON: the line is empty", None),
        ("{\"type\":", "invalid JSON: EOF while parsing", None),
        ("42", "invalid message: a command is a JSON object", None),
        ("[1]", "invalid message: a command is a JSON object", None),
        ("null", "invalid message: a command is a JSON object", None),
        ("{}", "invalid message: `type` is missing", None),
        (r#"{"type":"event","command":"start"}"#, "unknown message type: event", Some("start")),
        (r#"{"type":7}"#, "invalid message: `type` must be", None),
        (r#"{"type":"command"}"#, "invalid message: `command` is missing", None),
        (r#"{"type":"command","command":3}"#, "invalid message: `command` must be a string", None),
        (r#"{"type":"command","command":"fly"}"#, "unknown command: fly", Some("fly")),
        (
            r#"{"type":"command","command":"start","params":[]}"#,
            "Cannot start: `params` must be",
            Some("start"),
        ),
    ] {
        let Said::Nonsense { message: said, command } = read(line) else { panic!("{line}") };
        assert!(said.starts_with(message), "{line}: {said}");
        assert_eq!(command.as_deref(), about, "{line}");
    }
    assert!(matches!(Said::read(b"\"\xff\""), Said::Nonsense { message, .. } if message.contains("UTF-8")));
}

#[test]
fn fields_that_are_missing_or_wrong_are_named() {
    for (name, params, message) in [
        ("setBreakpoint", json!({}), "Cannot set breakpoint: `file` is missing"),
        ("setBreakpoint", json!({"file": "t.ez"}), "Cannot set breakpoint: `line` is missing"),
        ("setBreakpoint", json!({"file": 5, "line": 3}), "Cannot set breakpoint: `file` must be a string"),
        (
            "setBreakpoint",
            json!({"file": "t.ez", "line": "3"}),
            "Cannot set breakpoint: `line` must be a whole number",
        ),
        (
            "setBreakpoint",
            json!({"file": "t.ez", "line": 2.5}),
            "Cannot set breakpoint: `line` must be a whole number",
        ),
        ("setBreakpoint", json!({"file": "t.ez", "line": 0}), "Cannot set breakpoint: `line` counts from 1"),
        (
            "setBreakpoint",
            json!({"file": "t.ez", "line": 1, "hitCondition": []}),
            "Cannot set breakpoint: `hitCondition`",
        ),
        ("evaluate", json!({}), "Cannot evaluate: `expression` is missing"),
        ("getVariables", json!({"frameIndex": -1}), "Cannot get variables: `frameIndex` counts from 0"),
        (
            "getVariables",
            json!({"frameIndex": "0"}),
            "Cannot get variables: `frameIndex` must be a whole number",
        ),
        (
            "getVariables",
            json!({"scope": "all"}),
            "Cannot get variables: `scope` is locals, globals or registers",
        ),
        ("stepInto", json!({"threadId": "main"}), "Cannot step: `threadId` must be a whole number"),
        ("initialize", json!({"file": 1}), "Cannot initialize: `file` must be a string"),
    ] {
        let line = json!({"type": "command", "command": name, "params": params}).to_string();
        let Said::Nonsense { message: said, command } = read(&line) else { panic!("{line}") };
        assert!(said.starts_with(message), "{line}: {said}");
        assert_eq!(command.as_deref(), Some(name));
    }
}

#[test]
fn every_command_is_in_the_table_once() {
    for known in &COMMANDS {
        assert_eq!(COMMANDS.iter().filter(|other| other.name == known.name).count(), 1, "{}", known.name);
    }
}

proptest! {
    #[test]
    fn no_line_of_bytes_is_too_much_for_the_reader(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        Said::read(&line);
    }

    #[test]
    fn nothing_that_looks_like_a_command_is_too_much_either(
        which in 0..COMMANDS.len(),
        key in "file|line|frameIndex|expression|threadId|name|value|id|scope|text|hitCondition",
        value in "null|true|-1|0|3|1e400|9223372036854775808|2.5|\"x\"|\\[\\]|\\{\\}|\\{",
    ) {
        let name = COMMANDS[which].name;
        Said::read(format!(r#"{{"type":"command","command":"{name}","params":{{"{key}":{value}}}}}"#).as_bytes());
    }
}

#[test]
fn a_long_name_does_not_eat_the_complaint() {
    let long = "x".repeat(5000);
    let line = format!(r#"{{"type":"command","command":"{long}"}}"#);
    let Said::Nonsense { message, command } = Said::read(line.as_bytes()) else { panic!("it is known") };
    let short = format!("{}…", "x".repeat(64));
    assert_eq!((message, command), (format!("unknown command: {short}"), Some(short)));
}
