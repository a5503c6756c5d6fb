//! What is shown of variables, breakpoints and the debugger's words, by debuggers that differ from the usual one.

use serde_json::{Value, json};

use crate::{FIRST_STOP, Played, play};
use breakroom_testkit::scripted::Say;

fn rest(played: &Played) -> &str {
    played.shown.strip_prefix(FIRST_STOP).unwrap_or(&played.shown)
}

/// A frame with a block in a block, and globals.
fn blocks(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    let scope = |name: &str, hint: &str, reference: i64| json!({"name": name, "presentationHint": hint, "variablesReference": reference});
    let variable = |name: &str, value: &str| json!({"name": name, "value": value, "variablesReference": 0});
    match command {
        "scopes" => Some(vec![Say::Answer(json!({"scopes": [
            scope("Block of line 3", "locals", 1),
            scope("Block of line 2", "locals", 2),
            scope("Locals", "locals", 3),
            scope("Globals", "globals", 4),
        ]}))]),
        "variables" => {
            Some(vec![Say::Answer(json!({"variables": match arguments["variablesReference"].as_i64() {
                Some(1) => vec![variable("twice", "4"), variable("n", "inner")],
                Some(2) => vec![variable("i", "2")],
                Some(3) => vec![variable("n", "outer"), variable("name", "Bob")],
                _ => vec![variable("total", "7")],
            }}))])
        }
        _ => None,
    }
}

#[test]
fn the_variables_of_all_blocks_are_shown_the_innermost_first_and_globals_when_asked_for() {
    let played = play("locals\nglobals\nset i = 3\nq\n", |_| {}, blocks);
    let locals = "  twice = 4\n  n = inner\n  i = 2\n  name = Bob\n";
    assert!(
        played.shown.ends_with(&format!("{locals}{locals}  total = 7\ni = 3\n")),
        "at the stop and when asked for:\n{}",
        played.shown
    );
    assert_eq!(played.arguments("setVariable")["variablesReference"], 2);
}

#[test]
fn a_variable_is_watched_where_the_debugger_can_and_listed_and_deleted_like_a_breakpoint() {
    let cannot = play("watch a\nq\n", |_| {}, |_, _| None);
    assert!(rest(&cannot).starts_with("error: there is no watching of variables in this debugger; "));
    let played = play(
        "watch a if a > 1\nwatch z\nb\nd 2\nq\n",
        |_| {},
        |command, arguments| match command {
            "initialize" => Some(vec![Say::Answer(
                json!({"supportsConfigurationDoneRequest": true, "supportsDataBreakpoints": true}),
            )]),
            "dataBreakpointInfo" if arguments["name"] == "a" => {
                Some(vec![Say::Answer(json!({"dataId": "a of add"}))])
            }
            "dataBreakpointInfo" => {
                Some(vec![Say::Answer(json!({"dataId": null, "description": "no such variable"}))])
            }
            "setDataBreakpoints" => {
                Some(vec![Say::Answer(json!({"breakpoints": [{"id": 5, "verified": true}]}))])
            }
            _ => None,
        },
    );
    assert_eq!(
        rest(&played),
        "breakpoint 2 at changes of a if a > 1\n\
         error: z cannot be watched: no such variable\n\
         breakpoint 1 at t.py:2\nbreakpoint 2 at changes of a if a > 1\n\
         deleted breakpoint 2\n"
    );
    let asked = |command: &str| {
        let of = played.asked.iter().filter(move |(asked, _)| asked == command);
        of.map(|(_, arguments)| arguments.clone()).collect::<Vec<_>>()
    };
    let watched = json!({"dataId": "a of add", "accessType": "write", "condition": "a > 1"});
    assert_eq!(asked("setDataBreakpoints"), [json!({"breakpoints": [watched]}), json!({"breakpoints": []})]);
    // In its scope if it has one, and else in the frame.
    assert_eq!(
        asked("dataBreakpointInfo"),
        [json!({"variablesReference": 100, "name": "a"}), json!({"name": "z", "frameId": 10})]
    );
}

#[test]
fn what_the_debugger_says_about_a_place_begins_with_it_and_the_programs_output_does_not() {
    let played = play(
        "p 1\nq\n",
        |_| {},
        |command, _| match command {
            "evaluate" => {
                let said = |category: &str, text: &str| {
                    let source = json!({"name": "x", "path": "/a/u.ez"});
                    let body = json!({"category": category, "output": text, "source": source, "line": 3});
                    Say::Event("output", body)
                };
                Some(vec![
                    said("important", "error: no\nmore of it\n"),
                    said("stdout", "printed\n"),
                    Say::Event(
                        "output",
                        json!({"output": "hm\n", "source": {"name": "u.ez"}, "line": 3, "column": 5}),
                    ),
                    Say::Answer(json!({"result": "1"})),
                ])
            }
            _ => None,
        },
    );
    assert_eq!(rest(&played), "1 = 1\n| u.ez:3: error: no\n| more of it\nprinted\n| u.ez:3:5: hm\n");
}

#[test]
fn a_breakpoint_that_is_refused_is_not_called_pending() {
    let played = play(
        "b 9\nq\n",
        |_| {},
        |command, arguments| match command {
            "setBreakpoints" if arguments["breakpoints"].as_array().is_some_and(|all| all.len() == 2) => {
                Some(vec![Say::Answer(json!({"breakpoints": [
                    {"verified": false}, {"verified": false, "message": "there is no statement there"}
                ]}))])
            }
            _ => None,
        },
    );
    assert_eq!(rest(&played), "breakpoint 2 at t.py:9 (not set: there is no statement there)\n");
}

#[test]
fn an_evaluation_without_a_result_is_done_and_a_line_that_is_not_there_is_said_to_be_none() {
    let played = play(
        "p total = 7\nl 500\nl 4\nhelp bt\nq\n",
        |_| {},
        |command, _| match command {
            "evaluate" => Some(vec![Say::Answer(json!({"result": ""}))]),
            _ => None,
        },
    );
    assert_eq!(
        rest(&played),
        "done\n\
         error: there is no line 500; the file has 4 lines\n\
         \x20     1  def add(a, b):\n->    2      return a + b\n      3  \n      4  print(add(40, 2))\n\
         \x20 bt (where, backtrace)  show the stack\n"
    );
}

#[test]
fn a_stop_in_the_past_says_so() {
    let played = play(
        "back\nrc\nq\n",
        |_| {},
        |command, _| {
            let stopped = |description: &str| {
                let body = json!({"reason": "step", "threadId": 1, "description": description});
                Some(vec![Say::Answer(Value::Null), Say::Event("stopped", body)])
            };
            match command {
                "initialize" => Some(vec![Say::Answer(
                    json!({"supportsConfigurationDoneRequest": true, "supportsStepBack": true}),
                )]),
                "stepBack" => stopped("in the past"),
                "reverseContinue" => stopped("the beginning of what is remembered"),
                _ => None,
            }
        },
    );
    let at =
        |text: &str| played.shown.find(text).unwrap_or_else(|| panic!("no {text:?} in {}", played.shown));
    let past = at("stopped: step at t.py:2 in add, in the past\n");
    assert!(past < at("stopped: step at t.py:2 in add, the beginning of what is remembered\n"));
}

#[test]
fn an_observer_is_told_how_to_do_more_than_look() {
    let observes =
        |setup: &mut breakroom_door_terminal::Setup| setup.launch["breakroom"]["role"] = "observe".into();
    let played = play("c\np a\nset a = 1\nlocals\nq\n", observes, |_, _| None);
    let refused = |what: &str| format!("error: {what} is not for observers; attach without --observe\n");
    let expected =
        format!("{}{}{}  a = 40\n  b = 2\n", refused("continue"), refused("print"), refused("set"));
    assert_eq!(rest(&played), expected);
}
