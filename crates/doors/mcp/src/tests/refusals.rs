//! What a call is refused for, or answered beside what it did, so that nothing is left out in silence.

use serde_json::json;

use super::hub::{Engine, MadeUp, call, until};
use super::orders::{says, standing, stop};

#[tokio::test]
async fn a_hit_count_that_is_none_is_refused_before_anything_is_set() {
    let door = standing(vec![stop(1)], Engine::rest).await;
    for count in ["sometimes", "-5", "%0", ">= x", "3 times"] {
        let told = call(&door, "debugger_set_breakpoint", json!({"function": "f", "hit_count": count})).await;
        assert!(told.is_error, "{count}: {told:?}");
        says(&told, &[&format!("`hit_count` is {count}"), "Next: Use 3"]);
    }
    for count in ["3", ">=3", "%2", "== 1", "<4"] {
        let told = call(&door, "debugger_set_breakpoint", json!({"function": "f", "hit_count": count})).await;
        assert!(!told.is_error, "{count}: {told:?}");
    }
}

#[tokio::test]
async fn a_breakpoint_in_the_place_of_another_says_so() {
    let door = standing(vec![stop(1)], Engine::rest).await;
    call(&door, "debugger_set_breakpoint", json!({"function": "f"})).await;
    let told = call(&door, "debugger_set_breakpoint", json!({"function": "f", "condition": "n > 1"})).await;
    says(&told, &["breakpoint 2 f", "in the place of breakpoint 1"]);
    let other = call(&door, "debugger_set_breakpoint", json!({"function": "g"})).await;
    assert!(!other.text.contains("in the place of"), "{other:?}");
}

#[tokio::test]
async fn more_than_one_call_does_is_refused_and_not_cut_in_silence() {
    let door = standing(vec![stop(1)], Engine::rest).await;
    let steps = call(&door, "debugger_step", json!({"count": 5_000})).await;
    assert!(steps.is_error, "{steps:?}");
    says(&steps, &["1000 steps are the most"]);
    let script = json!({"steps": ["step"], "repeat": 103});
    let rounds = call(&door, "debugger_script", script).await;
    assert!(rounds.is_error, "{rounds:?}");
    says(&rounds, &["100 rounds are the most"]);
}

#[tokio::test]
async fn a_thread_that_there_is_not_is_not_resumed_with_the_others() {
    let all = json!({"threadId": 7, "reason": "breakpoint", "allThreadsStopped": true});
    let door = standing(vec![all], Engine::rest).await;
    let told = call(&door, "debugger_continue", json!({"thread_id": 77, "wait_ms": 0})).await;
    assert!(told.is_error, "{told:?}");
    says(&told, &["has no thread 77"]);
}

#[tokio::test]
async fn a_change_that_is_not_to_be_seen_is_told_as_that_and_a_name_that_is_none_is_refused() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[stop(7)]);
        while let Some(request) = engine.next() {
            let expression = request["arguments"]["expression"].as_str().unwrap_or_default().to_owned();
            match request["command"].as_str().unwrap() {
                "stackTrace" => {
                    let frame = json!({"id": 1, "name": "main", "line": 1, "column": 1});
                    engine.answer_with(&request, json!({"stackFrames": [frame]}));
                }
                "evaluate" if expression == "totl" => engine.refuse(&request, "no such name"),
                "evaluate" => engine.answer_with(&request, json!({"result": "\"abc\""})),
                _ => engine.answer(&request),
            }
        }
    });
    let door = hub.door();
    call(&door, "debugger_start", json!({"program": "/bin/made-up", "wait_ms": 45_000})).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let told = call(&door, "debugger_set_variable", json!({"name": "name", "value": "\"zzz\""})).await;
    says(&told, &["evaluates it to \"abc\" as before"]);
    let same = call(&door, "debugger_set_variable", json!({"name": "name", "value": "abc"})).await;
    assert!(!same.text.contains("as before"), "{same:?}");
    let none = call(&door, "debugger_set_variable", json!({"name": "totl", "value": "1"})).await;
    assert!(none.is_error, "{none:?}");
    says(&none, &["totl was not found"]);
}
