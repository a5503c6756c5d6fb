//! Programs of several threads and processes: what each does, which one is looked at, and who keeps that.

use serde_json::{Value, json};

use crate::play;
use crate::stage::{PROMPT, Stage};
use breakroom_testkit::scripted::Say;

fn alone(reason: &str, thread: i64) -> (&'static str, Value) {
    ("stopped", json!({"reason": reason, "threadId": thread, "allThreadsStopped": false}))
}

fn with_another(thread: i64) -> (&'static str, Value) {
    let body = json!({
        "reason": "pause", "threadId": thread, "allThreadsStopped": false, "preserveFocusHint": true,
        "description": "stopped with another thread",
    });
    ("stopped", body)
}

fn say((event, body): (&'static str, Value)) -> Say {
    Say::Event(event, body)
}

/// Every thread goes on by itself; the first one stands at the beginning.
fn each_by_itself(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    let thread = arguments["threadId"].as_i64().unwrap_or_default();
    match command {
        "configurationDone" => Some(vec![
            Say::Answer(Value::Null),
            Say::AnswerTo("launch", Value::Null),
            say(alone("breakpoint", 1)),
        ]),
        "continue" => Some(vec![Say::Answer(json!({"allThreadsContinued": false}))]),
        "next" => Some(vec![Say::Answer(Value::Null), say(alone("step", thread))]),
        "pause" => Some(vec![Say::Answer(Value::Null), say(alone("pause", thread))]),
        _ => None,
    }
}

#[test]
fn threads_are_listed_with_what_they_do_and_where_they_stand() {
    let played = play("threads\npause 2\nthreads\nthread 2\nthreads\nq\n", |_| {}, each_by_itself);
    let at =
        |text: &str| played.shown.find(text).unwrap_or_else(|| panic!("no {text:?} in:\n{}", played.shown));
    let first = at("-> 1 Main   stopped: breakpoint at t.py:2 in add\n   2 Other  running\n");
    let second =
        at("-> 1 Main   stopped: breakpoint at t.py:2 in add\n   2 Other  stopped: pause at t.py:2 in add\n");
    let third =
        at("   1 Main   stopped: breakpoint at t.py:2 in add\n-> 2 Other  stopped: pause at t.py:2 in add\n");
    assert!(first < second && second < third, "{}", played.shown);
    assert_eq!(played.arguments("pause"), &json!({"threadId": 2}));
}

#[test]
fn a_thread_that_runs_cannot_be_looked_into() {
    let played = play("thread 2\nthread 9\nbt\nq\n", |_| {}, each_by_itself);
    assert!(played.shown.contains("error: thread 2 runs; `pause 2` stops it\n"), "{}", played.shown);
    assert!(played.shown.contains("error: there is no thread 9; `threads` lists"), "{}", played.shown);
    assert!(played.shown.ends_with("-> #0  t.py:2 in add\n   #1  t.py:4 in main\n"), "{}", played.shown);
}

#[test]
fn threads_of_several_processes_are_listed_below_each() {
    let played = play(
        "threads\nq\n",
        |_| {},
        |command, arguments| match command {
            "threads" => Some(vec![Say::Answer(json!({"threads": [
                {"id": 1, "name": "MainThread [app.py]"},
                {"id": 7, "name": "MainThread [child of 12]"},
                {"id": 8, "name": "QueueFeederThread [child of 12]"},
            ]}))]),
            "breakroom/sessions" => Some(vec![Say::Answer(json!({"sessions": [{
                "id": "k7f2", "name": "app.py", "clients": ["Ann"],
                "tree": [
                    {"id": 1, "name": "app.py", "state": "stopped"},
                    {"id": 2, "name": "child of 12", "state": "running"},
                ],
            }]}))]),
            _ => each_by_itself(command, arguments),
        },
    );
    let expected = "app.py\n-> 1 MainThread         stopped: breakpoint at t.py:2 in add\n\
                    child of 12\n   7 MainThread         running\n   8 QueueFeederThread  running\n";
    assert!(played.shown.ends_with(expected), "{}", played.shown);
}

#[test]
fn the_thread_that_was_stepped_is_looked_at_when_others_stop_with_it() {
    let played = play(
        "n\nthreads\nq\n",
        |_| {},
        |command, arguments| match command {
            "next" => Some(vec![Say::Answer(Value::Null), say(with_another(2)), say(alone("step", 1))]),
            _ => each_by_itself(command, arguments),
        },
    );
    let expected =
        "-> 1 Main   stopped: step at t.py:2 in add\n   2 Other  stopped: pause at t.py:2 in add\n";
    assert!(played.shown.ends_with(expected), "{}", played.shown);
    assert!(!played.shown.contains("too"), "that they stop together is no news: {}", played.shown);
}

#[test]
fn a_stop_of_another_thread_during_a_step_waits_for_the_one_that_was_stepped() {
    let mut stage = Stage::open(
        |_| {},
        |command, arguments| match command {
            "next" => {
                Some(vec![Say::Answer(Value::Null), say(alone("breakpoint", 2)), say(alone("step", 1))])
            }
            _ => each_by_itself(command, arguments),
        },
    );
    stage.sees(PROMPT);
    stage.types("n");
    stage.sees("stopped: step at t.py:2 in add\n");
    stage.sees("thread 2 stopped too: breakpoint at t.py:2 in add\n");
    stage.sees(PROMPT);
    stage.types("q");
    stage.end();
}

#[test]
fn another_thread_is_shown_if_the_one_that_was_stepped_does_not_stop() {
    let mut stage = Stage::open(
        |_| {},
        |command, arguments| match command {
            "next" => Some(vec![Say::Answer(Value::Null), say(alone("breakpoint", 2))]),
            _ => each_by_itself(command, arguments),
        },
    );
    stage.sees(PROMPT);
    stage.types("n");
    stage.sees("stopped: breakpoint at t.py:2 in add, thread Other\n");
    stage.sees(PROMPT);
    // It comes at last, and whoever looks at another is not taken away from it.
    stage.voice.tell(&[alone("step", 1)]);
    stage.sees("thread 1 stopped too: step at t.py:2 in add\n");
    stage.sees(PROMPT);
    stage.types("threads");
    stage.sees("-> 2 Other  stopped: breakpoint");
    stage.sees(PROMPT);
    stage.types("q");
    stage.end();
}

#[test]
fn an_empty_line_repeats_the_step_of_its_own_thread() {
    let mut stage = Stage::open(|_| {}, each_by_itself);
    stage.sees(PROMPT);
    stage.types("n");
    stage.sees(PROMPT);
    stage.voice.tell(&[alone("breakpoint", 2)]);
    stage.sees("thread 2 stopped too: breakpoint");
    stage.sees(PROMPT);
    stage.types("thread 2");
    stage.sees(PROMPT);
    stage.types("");
    stage.sees("next in thread 1\n");
    stage.sees("stopped: step at t.py:2 in add\n");
    stage.sees(PROMPT);
    stage.types("q");
    let played = stage.end();
    let stepped: Vec<_> = played.asked.iter().filter(|(command, _)| command == "next").collect();
    assert!(stepped.iter().all(|(_, arguments)| arguments["threadId"] == 1), "{stepped:?}");
    assert_eq!(stepped.len(), 2);
}

#[test]
fn another_thread_goes_on_by_its_number_and_the_one_that_is_looked_at_stands() {
    let played = play(
        "pause 2\ncontinue 2\nthreads\nc\n",
        |_| {},
        |command, arguments| match command {
            "continue" if arguments["threadId"] == 1 => Some(vec![
                Say::Answer(json!({"allThreadsContinued": false})),
                Say::Event("terminated", json!({})),
            ]),
            _ => each_by_itself(command, arguments),
        },
    );
    assert!(played.shown.contains("thread 2 goes on\n"), "{}", played.shown);
    assert!(
        played.shown.contains("-> 1 Main   stopped: breakpoint at t.py:2 in add\n   2 Other  running\n"),
        "{}",
        played.shown
    );
    let continued: Vec<_> = played.asked.iter().filter(|(command, _)| command == "continue").collect();
    assert_eq!(continued[0].1["threadId"], 2);
    assert_eq!(continued[1].1["threadId"], 1);
}

#[test]
fn when_the_thread_that_is_looked_at_ends_the_next_that_stands_is_shown() {
    let mut stage = Stage::open(|_| {}, each_by_itself);
    stage.sees(PROMPT);
    stage.voice.tell(&[alone("breakpoint", 2)]);
    stage.sees("thread 2 stopped too: breakpoint");
    stage.sees(PROMPT);
    stage.voice.tell(&[("thread", json!({"reason": "exited", "threadId": 1}))]);
    stage.sees("thread 1 has ended\n");
    stage.sees("stopped: breakpoint at t.py:2 in add, thread Other\n");
    stage.sees(PROMPT);
    stage.voice.tell(&[("thread", json!({"reason": "exited", "threadId": 2}))]);
    stage.sees("thread 2 has ended\n");
    stage.sees(PROMPT);
    stage.types("bt");
    stage.sees("error: the program runs; ");
    stage.sees(PROMPT);
    stage.types("q");
    stage.end();
}

#[test]
fn when_one_thread_goes_on_alone_the_next_that_stands_is_shown() {
    let played = play("pause 2\nthread 2\nc\nthreads\nq\n", |_| {}, each_by_itself);
    let expected = "-> 1 Main   stopped: breakpoint at t.py:2 in add\n   2 Other  running\n";
    assert!(played.shown.ends_with(expected), "{}", played.shown);
}

#[test]
fn a_stop_names_its_thread_if_it_is_another_than_the_one_before() {
    let played = play(
        "c\nn\nq\n",
        |_| {},
        |command, arguments| match command {
            "configurationDone" | "next" => {
                let reason = if command == "next" { "step" } else { "breakpoint" };
                let thread = arguments["threadId"].as_i64().unwrap_or(1);
                let launched = (command != "next").then_some(Say::AnswerTo("launch", Value::Null));
                let said = [Say::Answer(Value::Null)].into_iter().chain(launched);
                Some(said.chain([say(alone(reason, thread))]).collect())
            }
            "continue" => {
                let body = json!({"reason": "exception", "text": "bad", "threadId": 2});
                Some(vec![Say::Answer(Value::Null), Say::Event("stopped", body)])
            }
            _ => None,
        },
    );
    let headlines: Vec<&str> = played.shown.lines().filter(|line| line.starts_with("stopped: ")).collect();
    let expected = [
        "stopped: breakpoint at t.py:2 in add",
        "stopped: exception at t.py:2 in add, thread Other: bad",
        "stopped: step at t.py:2 in add",
    ];
    assert_eq!(headlines, expected, "{}", played.shown);
}
