//! What is shown of variables, breakpoints and the debugger's words, by debuggers that differ from the usual one.

use serde_json::{Value, json};

use crate::{FIRST_STOP, Played, play};
use breakroom_testkit::scripted::{Say, stopped};

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
    let aligned = "  twice = 4\n  n     = inner\n  i     = 2\n  name  = Bob\n";
    assert!(
        played.shown.ends_with(&format!("{locals}{aligned}  total = 7\ni = 3\n")),
        "at the stop and when asked for:\n{}",
        played.shown
    );
    assert_eq!(played.arguments("setVariable")["variablesReference"], 2);
}

/// A frame with one scope, which has these variables and `x` in the one that is named as the scope.
fn named_as_their_scope(variables: Value) -> impl Fn(&str, &Value) -> Option<Vec<Say>> {
    move |command, arguments| match command {
        "scopes" => Some(vec![Say::Answer(json!({"scopes": [{"name": "Locals", "variablesReference": 1}]}))]),
        "variables" => Some(vec![Say::Answer(match arguments["variablesReference"].as_i64() {
            Some(1) => json!({"variables": variables}),
            Some(2) => {
                json!({"variables": [
                    {"name": "CMAKE_ARGC", "value": "1", "variablesReference": 0},
                    {"name": "x", "value": "5", "variablesReference": 0},
                ]})
            }
            _ => json!({"variables": [{"name": "HOME", "value": "/", "variablesReference": 0}]}),
        })]),
        _ => None,
    }
}

#[test]
fn a_variable_that_is_named_as_its_scope_hides_no_other() {
    let all_open = json!([
        {"name": "Locals", "value": "{'x': 5}", "variablesReference": 2},
        {"name": "other", "value": "{}", "variablesReference": 3},
    ]);
    let alone = json!([{"name": "Locals", "value": "{'x': 5}", "variablesReference": 2}]);
    let hint = json!({"visibility": "private"});
    let counts = json!([
        {"name": "Locals", "value": "2", "variablesReference": 2, "presentationHint": hint},
        {"name": "other", "value": "2", "variablesReference": 0},
    ]);
    let all_private = json!([
        {"name": "Locals", "value": "{'x': 5}", "variablesReference": 2, "presentationHint": hint},
        {"name": "other", "value": "{}", "variablesReference": 3, "presentationHint": hint},
    ]);
    for variables in [all_open, alone, counts, all_private] {
        let played = play("locals\nq\n", |_| {}, named_as_their_scope(variables.clone()));
        let names: Vec<_> = rest(&played).lines().filter_map(|line| line.split_whitespace().next()).collect();
        for one in variables.as_array().unwrap() {
            assert!(names.contains(&one["name"].as_str().unwrap()), "{variables}\n{}", played.shown);
        }
    }
}

#[test]
fn where_a_scope_is_one_of_groups_the_variables_are_in_the_one_of_its_name() {
    let hint = json!({"kind": "property", "visibility": "private"});
    let groups = json!([
        {"name": "CurrentLine", "value": "3", "variablesReference": 0, "presentationHint": hint},
        {"name": "Directories", "value": "1", "variablesReference": 3, "presentationHint": hint},
        {"name": "Locals", "value": "2", "variablesReference": 2, "presentationHint": hint},
    ]);
    let played = play("locals\nq\n", |_| {}, named_as_their_scope(groups));
    assert!(played.shown.ends_with("  x          = 5\n  CMAKE_ARGC = 1\n"), "{}", played.shown);
    assert!(!played.shown.contains("Directories"), "{}", played.shown);
}

#[test]
fn a_variable_is_watched_where_the_debugger_can_and_listed_and_deleted_like_a_breakpoint() {
    let cannot = play("watch a\nq\n", |_| {}, |_, _| None);
    assert!(rest(&cannot).starts_with("error: there is no watching of variables in this debugger; "));
    let played = play(
        "watch a if a > 1\nwatch z\nwatch total\nb\nd 2\nq\n",
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
         error: total cannot be watched: no such variable\n\
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
        [
            json!({"variablesReference": 100, "name": "a"}),
            json!({"name": "z", "frameId": 10}),
            // Global ones are not the frame's, and lldb would take the value for an address.
            json!({"variablesReference": 101, "name": "total"}),
        ]
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
fn a_log_text_at_a_function_is_refused_since_debuggers_would_stop_there() {
    let played = play("b add log \"here\"\nq\n", |_| {}, |_, _| None);
    assert_eq!(rest(&played), "error: there is no log text at a function; give its line instead\n");
}

/// What the hub thinks of a breakpoint that its debugger has no words of the protocol for.
fn pending(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    let answer = |line: i64| json!({"id": line, "verified": false, "message": "Class not yet loaded, breakpoint pending"});
    match command {
        "setBreakpoints" => {
            let wanted = arguments["breakpoints"].as_array()?;
            let answers: Vec<_> =
                wanted.iter().filter_map(|wanted| wanted["line"].as_i64()).map(answer).collect();
            Some(vec![Say::Answer(json!({"breakpoints": answers}))])
        }
        "breakroom/breakpoints" => {
            let listed =
                |line: i64, state: &str| json!({"id": line, "own": true, "line": line, "state": state});
            Some(vec![Say::Answer(json!({"breakpoints": [listed(2, "pending"), listed(9, "rejected")]}))])
        }
        _ => None,
    }
}

#[test]
fn a_breakpoint_that_waits_for_its_code_is_pending_and_said_to_be_set_when_it_is() {
    let played = play(
        "b 9\np 1\nb\nq\n",
        |_| {},
        |command, arguments| match command {
            "evaluate" => Some(vec![
                Say::Event(
                    "breakpoint",
                    json!({"reason": "changed", "breakpoint": {"id": 2, "verified": true, "line": 2}}),
                ),
                Say::Answer(json!({"result": "1"})),
            ]),
            _ => pending(command, arguments),
        },
    );
    let lines: Vec<&str> = played.shown.lines().filter(|line| line.starts_with("breakpoint")).collect();
    assert_eq!(
        lines,
        [
            "breakpoint 1 at t.py:2 (pending: Class not yet loaded)",
            "breakpoint 2 at t.py:9 (not set: Class not yet loaded, breakpoint pending)",
            "breakpoint 1 is set at t.py:2",
            "breakpoint 1 at t.py:2",
            "breakpoint 2 at t.py:9 (not set: Class not yet loaded, breakpoint pending)",
        ],
        "{}",
        played.shown
    );
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

/// A stop whose innermost frames are these, each of the name and with what is said of it.
fn stops_inside(reason: &'static str, inner: Value) -> Played {
    let script = move |command: &str, _: &Value| match command {
        "configurationDone" => {
            Some(vec![Say::Answer(Value::Null), Say::AnswerTo("launch", Value::Null), stopped(reason)])
        }
        "stackTrace" => {
            let file = std::env::current_exe().unwrap();
            let main = json!({"id": 12, "name": "main", "line": 1, "column": 1, "source": {"path": file, "name": "t"}});
            let frames: Vec<Value> = inner.as_array().unwrap().iter().cloned().chain([main]).collect();
            Some(vec![Say::Answer(json!({"stackFrames": frames}))])
        }
        _ => None,
    };
    play("bt\nq\n", |_| {}, script)
}

#[test]
fn a_stop_inside_of_a_runtime_is_shown_where_the_program_called_it() {
    let source = json!({"path": "/nowhere/internal.js"});
    let named = |more: Value| {
        let mut frame = json!({"id": 10, "name": "poll", "line": 3, "column": 1});
        more.as_object().unwrap().iter().for_each(|(key, value)| frame[key] = value.clone());
        json!([frame])
    };
    for (reason, inner) in [
        ("pause", named(json!({}))),
        ("pause", named(json!({"source": source}))),
        ("step", named(json!({}))),
        ("step", named(json!({"source": source, "presentationHint": "subtle"}))),
        ("step", named(json!({"source": {"path": "/nowhere/x.js", "presentationHint": "deemphasize"}}))),
    ] {
        let shown = stops_inside(reason, inner.clone()).shown;
        assert!(shown.contains(" in main, inside poll\n"), "{reason} {inner}: {shown}");
        assert!(shown.contains("\n-> #1  "), "{reason} {inner}: {shown}");
    }
    // Whoever wanted to be there is there, be the source found or not.
    let shown = stops_inside("step", named(json!({"source": source}))).shown;
    assert!(shown.contains("stopped: step at internal.js:3 in poll\n"), "{shown}");
}

#[test]
fn a_member_is_set_where_it_is_held_if_the_debugger_takes_no_assignment() {
    let debugger = |expressions: bool| {
        move |command: &str, arguments: &Value| match command {
            "initialize" => Some(vec![Say::Answer(json!({
                "supportsConfigurationDoneRequest": true, "supportsSetVariable": true,
                "supportsSetExpression": expressions,
            }))]),
            "evaluate" if arguments["expression"] == "p" => {
                Some(vec![Say::Answer(json!({"result": "Point", "variablesReference": 7}))])
            }
            "variables" if arguments["variablesReference"] == 7 => Some(vec![Say::Answer(
                json!({"variables": [{"name": "x", "value": "1", "variablesReference": 0}]}),
            )]),
            "setExpression" => Some(vec![Say::Answer(json!({"value": "9"}))]),
            _ => None,
        }
    };
    let played = play("set p.x = 9\nq\n", |_| {}, debugger(false));
    assert_eq!(rest(&played), "p.x = 9\n");
    let held = json!({"variablesReference": 7, "name": "x", "value": "9"});
    assert_eq!(played.arguments("setVariable"), &held);
    // What is held by nothing that can be named is left to the debugger's own language.
    let played = play("set p.y = 9\nq\n", |_| {}, debugger(false));
    assert_eq!(played.arguments("evaluate")["expression"], "p.y = 9");
    let played = play("set p.x = 9\nq\n", |_| {}, debugger(true));
    assert_eq!(played.arguments("setExpression")["expression"], "p.x");
}

#[test]
fn registers_are_not_taken_for_variables_of_the_program() {
    for (name, hint) in [("Registers", "registers"), ("CPU Registers", ""), ("General Purpose Registers", "")]
    {
        let played = play(
            "locals\nq\n",
            |_| {},
            move |command, _| match command {
                "scopes" => Some(vec![Say::Answer(json!({"scopes": [
                    {"name": name, "presentationHint": hint, "variablesReference": 1, "expensive": false},
                ]}))]),
                "variables" => Some(vec![Say::Answer(json!({"variables": [
                    {"name": "rax", "value": "0x1", "variablesReference": 0},
                ]}))]),
                _ => None,
            },
        );
        assert!(!played.shown.contains("rax"), "{name}: {}", played.shown);
    }
}
