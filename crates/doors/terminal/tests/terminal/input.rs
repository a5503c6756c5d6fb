//! What the program reads: lines among the piped commands, what a person types, and the end of both.

use breakroom_door_terminal::{Ending, Outcome};
use serde_json::{Value, json};

use crate::play;
use crate::stage::{PROMPT, Stage};
use breakroom_testkit::scripted::{Say, output, stopped};

/// A program that reads on when it is continued: it stops when it has a line, and ends when there are no more.
fn reads(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    match command {
        "initialize" => Some(vec![Say::Answer(
            json!({"supportsConfigurationDoneRequest": true, "supportsBreakroomInput": true}),
        )]),
        "continue" => Some(vec![Say::Answer(Value::Null), output("stdout", "name?\n")]),
        "breakroom/input" if arguments["end"] == true => Some(vec![
            Say::Answer(Value::Null),
            output("stdout", "bye\n"),
            Say::Event("exited", json!({"exitCode": 0})),
            Say::Event("terminated", json!({})),
        ]),
        "breakroom/input" if arguments["text"] == "Bob\n" => {
            Some(vec![Say::Answer(Value::Null), stopped("breakpoint")])
        }
        _ => None,
    }
}

#[test]
fn a_piped_line_for_the_program_is_given_to_it_while_it_runs_and_other_commands_wait() {
    let played = play("c\ninput Ann\ninput Bob\np a\nc\n", |_| {}, reads);
    let told: Vec<(&str, &Value)> = played
        .asked
        .iter()
        .map(|(command, arguments)| (command.as_str(), arguments))
        .filter(|(command, _)| ["continue", "breakroom/input", "evaluate"].contains(command))
        .collect();
    let commands: Vec<&str> = told.iter().map(|(command, _)| *command).collect();
    let expected =
        ["continue", "breakroom/input", "breakroom/input", "evaluate", "continue", "breakroom/input"];
    assert_eq!(commands, expected, "{}", played.shown);
    assert_eq!((told[1].1, told[2].1), (&json!({"text": "Ann\n"}), &json!({"text": "Bob\n"})));
    // Nobody is left who could give it more.
    assert_eq!(told[5].1, &json!({"end": true}));
    assert!(played.shown.ends_with("name?\nbye\nthe program ended with exit code 0\n"), "{}", played.shown);
    assert_eq!(played.result.unwrap(), Outcome { ending: Ending::Ended, exit_code: Some(0) });
}

#[test]
fn the_end_of_the_commands_is_no_end_of_input_for_a_debugger_that_takes_none() {
    let played = play("c\n", |_| {}, |_, _| None);
    assert!(played.asked.iter().all(|(command, _)| command != "breakroom/input"), "{:?}", played.asked);
}

#[test]
fn a_program_that_ends_before_it_reads_costs_no_complaint() {
    let ends = |command: &str, arguments: &Value| match command {
        "breakroom/input" => Some(vec![
            Say::Event("terminated", json!({})),
            Say::Fail("there is no program that could read it"),
        ]),
        _ => reads(command, arguments),
    };
    for commands in ["c\ninput Bob\n", "c\n"] {
        let played = play(commands, |_| {}, ends);
        assert!(played.shown.ends_with("name?\nthe program ended\n"), "{}", played.shown);
    }
}

#[test]
fn the_end_of_what_a_person_types_while_the_program_runs_is_the_end_of_its_input() {
    let mut stage = Stage::open(
        |_| {},
        |command, arguments| match command {
            "breakroom/input" if arguments["end"] == true => {
                Some(vec![Say::Answer(Value::Null), stopped("breakpoint")])
            }
            _ => reads(command, arguments),
        },
    );
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("name?\n");
    stage.ends_typing();
    stage.sees("the program's input has ended\n");
    stage.sees("stopped: breakpoint");
    // No terminal, so that the end is there to stay, and at a stop it means to leave.
    let played = stage.end();
    assert_eq!(played.outcome.ending, Ending::Quit);
    assert_eq!((played.count("breakroom/input"), played.count("continue")), (1, 1));
}
