//! What a person types while the program runs and what it reads is not theirs to give: commands, each in its time.

use breakroom_door_terminal::{Ending, Request};
use serde_json::{Value, json};

use crate::stage::{PROMPT, Stage};
use breakroom_testkit::scripted::{Say, output, stopped};

/// A debugger that takes input for its program, which runs until somebody manages to stop it.
fn takes_input(command: &str, _: &Value) -> Option<Vec<Say>> {
    match command {
        "initialize" => Some(vec![Say::Answer(
            json!({"supportsConfigurationDoneRequest": true, "supportsBreakroomInput": true}),
        )]),
        "attach" => Some(vec![Say::Event("initialized", Value::Null), Say::Answer(Value::Null)]),
        "continue" => Some(vec![Say::Answer(Value::Null), output("stdout", "running\n")]),
        _ => None,
    }
}

/// The same, of a program that ran before.
fn attached(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    match command {
        "configurationDone" => Some(vec![Say::Answer(Value::Null), output("stdout", "serving\n")]),
        _ => takes_input(command, arguments),
    }
}

fn runs_on(command: &str, _: &Value) -> Option<Vec<Say>> {
    match command {
        "continue" => Some(vec![Say::Answer(Value::Null), output("stdout", "running\n")]),
        _ => None,
    }
}

#[test]
fn what_is_typed_to_a_program_that_was_attached_to_is_a_command() {
    let mut stage = Stage::open(|setup| setup.request = Request::Attach, attached);
    stage.sees("serving\n");
    stage.types("threads");
    stage.sees("   1 Main   running\n");
    stage.types("hello");
    stage.sees("error: the program runs, and what it reads is its own: `hello` was not sent\n");
    stage.types("b 4");
    stage.sees("breakpoint 2 at t.py:4\n");
    stage.types("q");
    let played = stage.end();
    assert_eq!(played.outcome.ending, Ending::Quit);
    assert_eq!((played.count("breakroom/input"), played.count("disconnect")), (0, 1));
}

#[test]
fn what_needs_no_stop_overtakes_what_waits_for_one() {
    let mut stage = Stage::open(|_| {}, runs_on);
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("running\n");
    for waits in ["c", "p a"] {
        stage.types(waits);
        stage.sees(&format!("`{waits}` waits until the program stops; Ctrl-C stops it\n"));
    }
    stage.types("threads");
    stage.sees("   1 Main   running\n");
    stage.types("q");
    let played = stage.end();
    assert_eq!(played.outcome.ending, Ending::Quit);
    assert_eq!((played.count("continue"), played.count("evaluate")), (1, 0));
}

#[test]
fn what_waits_for_a_stop_is_carried_out_there_in_its_order() {
    let mut stage = Stage::open(
        |_| {},
        |command, arguments| match command {
            "pause" => Some(vec![Say::Answer(Value::Null), stopped("pause")]),
            _ => runs_on(command, arguments),
        },
    );
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("running\n");
    for waits in ["p first", "p second"] {
        stage.types(waits);
        stage.sees(&format!("`{waits}` waits until the program stops; Ctrl-C stops it\n"));
    }
    stage.types("pause");
    stage.sees("stopped: pause");
    stage.sees("first = 42\n");
    stage.sees("second = 42\n");
    stage.sees(PROMPT);
    stage.types("q");
    assert_eq!(stage.end().count("evaluate"), 2);
}

#[test]
fn an_end_that_is_typed_while_a_program_runs_that_is_given_nothing_leaves_at_once() {
    let mut stage = Stage::open(|_| {}, runs_on);
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("running\n");
    stage.ends_typing();
    assert_eq!(stage.end().outcome.ending, Ending::Quit);
}

#[test]
fn a_program_that_does_not_stop_when_it_is_told_is_spoken_of_and_commands_are_taken_meanwhile() {
    type Script = fn(&str, &Value) -> Option<Vec<Say>>;
    for (request, script, parting, why) in [
        (
            Request::Launch,
            takes_input as Script,
            "another Ctrl-C leaves, and ends it unless somebody else is here\n",
            "is to stop",
        ),
        (
            Request::Attach,
            attached,
            "another Ctrl-C leaves, and lets it run on\n",
            "what it reads is its own",
        ),
    ] {
        let mut stage = Stage::open(|setup| setup.request = request, script);
        match request {
            Request::Launch => {
                stage.sees(PROMPT);
                stage.types("c");
                stage.sees("running\n");
            }
            Request::Attach | Request::Join => drop(stage.sees("serving\n")),
        }
        stage.interrupts();
        let shown = stage.sees(parting);
        assert!(shown.contains("it was told to stop and has not yet"), "{shown}");
        stage.types("b 4");
        stage.sees("breakpoint 2 at t.py:4\n");
        stage.types("hello");
        stage.sees(&format!("error: the program runs, and {why}: `hello` was not sent\n"));
        // It may be waiting for something to read, and would stop with it.
        stage.types("input Ann");
        stage.types("threads");
        stage.sees("   1 Main   running\n");
        stage.interrupts();
        let played = stage.end();
        assert_eq!(played.outcome.ending, Ending::Quit);
        assert_eq!((played.count("breakroom/input"), played.count("pause")), (1, 1), "{}", played.shown);
        assert_eq!(played.arguments("breakroom/input"), &json!({"text": "Ann\n"}));
    }
}

/// A debugger that never answers this, and a place where it is heard that it was asked.
fn silent_about(
    silent: &'static str,
) -> (impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static, std::sync::mpsc::Receiver<()>) {
    let (asked, heard) = std::sync::mpsc::channel();
    let script = move |command: &str, arguments: &Value| match command == silent {
        true => {
            asked.send(()).unwrap();
            Some(vec![])
        }
        false => takes_input(command, arguments),
    };
    (script, heard)
}

#[test]
fn the_second_interrupt_leaves_a_running_program_whose_debugger_does_not_answer() {
    for silent in ["pause", "threads", "breakroom/input"] {
        let (script, asked) = silent_about(silent);
        let mut stage = Stage::open(|_| {}, script);
        stage.sees(PROMPT);
        stage.types("c");
        stage.sees("running\n");
        if silent == "breakroom/input" {
            stage.types("hello");
            asked.recv().unwrap();
        }
        stage.interrupts();
        stage.interrupts();
        let played = stage.end();
        assert_eq!(played.outcome.ending, Ending::Quit, "no answer to {silent}: {}", played.shown);
        assert_eq!(played.arguments("disconnect")["terminateDebuggee"], true);
    }
}

#[test]
fn the_second_interrupt_leaves_a_running_program_that_cannot_be_paused() {
    let refuses = |command: &str, arguments: &Value| match command {
        "pause" => Some(vec![Say::Fail("the process has gone")]),
        _ => takes_input(command, arguments),
    };
    let mut stage = Stage::open(|_| {}, refuses);
    stage.sees(PROMPT);
    stage.types("c");
    stage.sees("running\n");
    stage.interrupts();
    stage.sees("error: cannot pause: the process has gone\n");
    stage.sees("another Ctrl-C leaves, and ends it unless somebody else is here\n");
    stage.interrupts();
    assert_eq!(stage.end().outcome.ending, Ending::Quit);
}

#[test]
fn the_second_interrupt_leaves_a_stopped_program_whose_debugger_does_not_answer() {
    let (script, asked) = silent_about("evaluate");
    let mut stage = Stage::open(|_| {}, script);
    stage.sees(PROMPT);
    stage.types("p forever()");
    asked.recv().unwrap();
    stage.interrupts();
    stage.interrupts();
    assert_eq!(stage.end().outcome.ending, Ending::Quit);
}
