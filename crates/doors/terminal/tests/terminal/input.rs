//! What the program reads: lines among the piped commands, what a person types, and the end of both.

use std::time::Duration;

use breakroom_door_terminal::{Ending, Outcome, Setup};
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
        "continue" => Some(vec![
            Say::Answer(Value::Null),
            output("stdout", "name?\n"),
            // The person sees the question, so this is not shown.
            Say::Event(
                "output",
                json!({"category": "console", "output": "it waits\n", "data": {"waitsForInput": true}}),
            ),
        ]),
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
    let Outcome { ending, exit_code, .. } = played.result.unwrap();
    assert_eq!((ending, exit_code), (Ending::Ended, Some(0)));
}

/// As [`reads`], and only when it runs: it finds what it was given before, and an end after that.
fn reads_when_it_runs() -> impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static {
    let (mut runs, mut given, mut ended) = (false, 0_usize, false);
    move |command, arguments| {
        let mut said = match command {
            "initialize" => return reads(command, arguments),
            "continue" => {
                runs = true;
                vec![Say::Answer(Value::Null), output("stdout", "name?\n")]
            }
            "breakroom/input" => {
                match arguments["end"] == true {
                    true => ended = true,
                    false => given += 1,
                }
                vec![Say::Answer(Value::Null)]
            }
            _ => return None,
        };
        if runs && given > 0 {
            given -= 1;
            runs = false;
            said.push(stopped("breakpoint"));
        } else if runs && ended {
            said.extend([Say::Event("exited", json!({"exitCode": 0})), Say::Event("terminated", json!({}))]);
        }
        Some(said)
    }
}

#[test]
fn a_program_that_reads_is_not_kept_waiting_by_commands_that_wait_for_its_stop() {
    // Once for each line that it has, and once more for the end.
    for (commands, stops) in [
        ("c\nbt\n", 0),
        ("c\np a\nq\n", 0),
        ("c\nbt\ninput Ann\nc\n", 1),
        ("c\nbt\nc\ninput Ann\np a\ninput Bob\nc\nbt\n", 2),
    ] {
        let played = play(commands, |_| {}, reads_when_it_runs());
        assert!(
            played.shown.ends_with("the program ended with exit code 0\n"),
            "{commands:?}: {}",
            played.shown
        );
        assert_eq!(played.shown.matches("stopped: ").count(), stops + 1, "{commands:?}: {}", played.shown);
        assert!(!played.shown.contains("error"), "{commands:?}: {}", played.shown);
    }
}

#[test]
fn what_a_program_reads_after_a_restart_is_not_given_to_it_before() {
    let played = play("c\nrestart\ninput Ann\nq\n", |_| {}, reads_when_it_runs());
    let given: Vec<&Value> = played
        .asked
        .iter()
        .filter(|(command, _)| command == "breakroom/input")
        .map(|(_, arguments)| arguments)
        .collect();
    assert_eq!(given, [&json!({"end": true})], "{}", played.shown);
}

/// Whoever writes the commands is slow: one that was asked for ahead comes while another is carried out.
#[test]
fn a_command_that_comes_late_does_not_overtake_those_that_were_read_before() {
    let mut stage = Stage::open(
        |setup| setup.interactive = false,
        |command, arguments| match command {
            // It does not stop, and so its stop is waited for at the prompt.
            "pause" => Some(vec![Say::Answer(Value::Null), output("stdout", "pausing\n")]),
            "breakroom/input" => {
                let alone = json!({"reason": "breakpoint", "threadId": 1});
                Some(vec![Say::Answer(Value::Null), Say::Event("stopped", alone)])
            }
            _ => reads(command, arguments),
        },
    );
    stage.sees("stopped: ");
    stage.types("c");
    stage.sees("name?\n");
    // The program reads what is behind the other commands, so by then the one behind that has been asked for.
    stage.types("pause 2\np first\ninput Bob");
    stage.sees("pausing\n");
    stage.types("p second");
    for named in ["first", "second", "third"] {
        assert_eq!(stage.sees(" = 42\n").lines().last(), Some(format!("{named} = 42").as_str()));
        if named == "second" {
            stage.types("p third");
        }
    }
    stage.types("q");
    assert_eq!(stage.end().outcome.ending, Ending::Quit);
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

#[test]
fn what_is_typed_after_the_end_of_the_programs_input_is_a_command() {
    let mut stage = Stage::open(
        |setup| setup.input = Some("Ann\nEve\n".to_owned()),
        |command, arguments| match command {
            "breakroom/input" => Some(vec![Say::Answer(Value::Null)]),
            "pause" => runs_on(command, arguments),
            _ => reads(command, arguments),
        },
    );
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("name?\n");
    stage.types("hello");
    stage.sees("error: the program runs, and its input has ended: `hello` was not sent\n");
    stage.types("pause");
    stage.sees("stopped: pause");
    stage.sees(PROMPT);
    stage.types("q");
    let played = stage.end();
    let given: Vec<_> = played.asked.iter().filter(|(command, _)| command == "breakroom/input").collect();
    assert_eq!(given.len(), 2, "{given:?}");
    assert_eq!(given[0].1, json!({"text": "Ann\nEve\n"}));
    assert_eq!(given[1].1, json!({"end": true}));
}

#[test]
fn what_is_typed_for_the_program_is_said_to_be_and_a_command_among_it_is_explained() {
    let mut stage = Stage::open(|_| {}, reads);
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("name?\n");
    stage.types("Ann");
    assert_eq!(stage.sees("program\n"), "  ^ to the program\n");
    stage.types("bt");
    stage.sees("  ^ to the program, as its input; Ctrl-C stops it for commands\n");
    stage.types("Bob");
    stage.sees(PROMPT);
    stage.types("q");
    let played = stage.end();
    assert_eq!(played.count("breakroom/input"), 3);
}

/// A program that runs until it is paused, by a debugger that has no way to its input.
fn runs_on(command: &str, _: &Value) -> Option<Vec<Say>> {
    match command {
        "continue" => Some(vec![Say::Answer(Value::Null), output("stdout", "running\n")]),
        "pause" => Some(vec![Say::Answer(Value::Null), stopped("pause")]),
        _ => None,
    }
}

#[test]
fn while_the_program_runs_commands_that_can_are_carried_out_and_others_wait_and_say_so() {
    let mut stage = Stage::open(|_| {}, runs_on);
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("running\n");
    stage.types("hello");
    stage.sees("error: the program runs, and this debugger gives it no input: `hello` was not sent\n");
    stage.types("threads");
    stage.sees("   1 Main   running\n");
    stage.types("b 4");
    stage.sees("breakpoint 2 at t.py:4\n");
    stage.types("p a");
    stage.sees("`p a` waits until the program stops; Ctrl-C stops it\n");
    stage.interrupts();
    stage.sees("stopped: pause at t.py:2 in add\n");
    stage.sees("a = 42\n");
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("running\n");
    stage.types("pause");
    stage.sees("stopped: pause");
    stage.sees(PROMPT);
    stage.types("q");
    let played = stage.end();
    assert_eq!((played.count("evaluate"), played.count("pause")), (1, 2));
}

#[test]
fn a_person_who_types_ahead_of_quick_steps_is_not_told_of_it_whether_the_program_reads_or_not() {
    // A slow machine's steps are quick enough here.
    let patient = |setup: &mut Setup| setup.quick_step = Duration::from_secs(60);
    let mut stage = Stage::open(patient, reads);
    stage.sees(PROMPT);
    stage.types("n\nn\nn\nq");
    let played = stage.end();
    assert_eq!((played.count("next"), played.count("breakroom/input")), (3, 0), "{}", played.shown);
    let mut stage = Stage::open(patient, |_, _| None);
    stage.sees(PROMPT);
    stage.types("n\nn\nn\nq");
    let played = stage.end();
    assert_eq!(played.count("next"), 3);
    assert!(!played.shown.contains("waits") && !played.shown.contains("error"), "{}", played.shown);
}
