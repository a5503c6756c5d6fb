//! How a session ends: by the program, by the client, at any time.

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

const LOOP: &str =
    "import @std\nusing std\n\ndo main() {\n    println(\"there\")\n    loop { // @here\n    }\n}\n";
const SLEEP: &str =
    "import @std\nusing std\n\ndo main() {\n    println(\"there\")\n    sleep_seconds(1000) // @here\n}\n";
const INPUT: &str =
    "import @std\nusing std\n\ndo main() {\n    println(\"there\")\n    temp _ = input() // @here\n}\n";
const PRINTS: &str = "import @std\nusing std\n\ndo main() {\n    println(\"there\")\n    loop {\n        println(\"and there\") // @here\n    }\n}\n";

/// A program in each state that it can be in, with `history` and without.
fn everywhere(mut then: impl FnMut(Engine)) {
    for history in [true, false] {
        for program in [LOOP, SLEEP, INPUT, PRINTS] {
            let mut engine = Engine::new(program);
            engine.launch(json!({"history": history}));
            engine.begin();
            engine.client.output_containing("there");
            then(engine);
        }
        let mut stopped = Engine::new(LOOP);
        stopped.launch(json!({"history": history}));
        stopped.break_at(&["here"]);
        stopped.begin();
        stopped.stopped("breakpoint");
        then(stopped);
        let mut configuring = Engine::new(LOOP);
        configuring.launch(json!({"history": history}));
        then(configuring);
    }
}

#[test]
fn a_program_can_be_terminated_at_any_time() {
    everywhere(|mut engine| {
        engine.client.call("terminate", Value::Null);
        engine.client.event("terminated");
        assert_eq!(engine.client.timeline().events("exited").count(), 0);
        // Twice is not once too often.
        engine.client.call("terminate", Value::Null);
        engine.leave();
    });
}

#[test]
fn a_client_can_leave_at_any_time() {
    everywhere(Engine::leave);
    Engine::new(LOOP).leave();
}

#[test]
fn the_end_of_its_input_ends_the_engine() {
    everywhere(|engine| {
        let ended = engine.client.finish();
        assert!(ended.status.is_some_and(|status| status.success()), "{:?}", ended.status);
        engine.sandbox.assert_nothing_left(wait::DEADLINE);
    });
}

#[test]
fn a_client_that_dies_takes_the_engine_with_it() {
    let mut engine = Engine::new(PRINTS);
    engine.launch(json!({}));
    engine.begin();
    engine.client.output_containing("there");
    engine.client.stall();
    engine.client.abandon();
    engine.sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn bytes_that_are_no_messages_end_the_engine() {
    let mut engine = Engine::new(LOOP);
    engine.client.send_raw(b"GET / HTTP/1.1\r\n\r\n");
    engine.client.closed();
    engine.client.finish();
}

#[test]
fn the_exit_code_is_the_programs() {
    for (program, code) in [
        ("do main() {\n}\n", 0),
        ("do main() {\n    exit(42)\n}\n", 42),
        ("do main() {\n    temp n = 1 / len(\"\")\n}\n", 1),
    ] {
        let mut engine = Engine::new(program);
        engine.launch(json!({"noDebug": true}));
        engine.begin();
        engine.ended(code);
    }
}

#[test]
fn after_the_end_everything_is_refused_and_nothing_is_said() {
    let mut engine = Engine::new("do main() {\n}\n");
    engine.launch(json!({}));
    engine.begin();
    engine.client.event("exited");
    engine.client.event("terminated");
    for command in ["continue", "stackTrace", "evaluate", "setBreakpoints", "breakroom/input"] {
        let answer = engine.client.call_failing(command, json!({}));
        assert_eq!(answer["message"], "the program has ended");
    }
    engine.client.call("terminate", Value::Null);
    engine.client.call("threads", Value::Null);
    engine.leave();
}
