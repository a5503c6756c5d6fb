//! Calls that nobody wants the answer of any more, or that something else answers before they have asked.

use std::sync::mpsc::channel;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::hub::{MadeUp, begin, call, said, until, word};
use super::orders::{says, standing, stands, start, stop};

#[tokio::test]
async fn what_stops_while_a_pause_is_prepared_is_told_and_not_paused() {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        let threads = engine.until("threads");
        engine.event("stopped", stop(7));
        engine.answer(&threads);
        asks.send(engine.all_that_it_was_asked()).unwrap();
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let reply = call(&door, "debugger_pause", json!({"wait_ms": 45_000})).await;
    stands(&reply, 7);
    says(&reply, &["it was stopped already"]);
    door.leave().await;
    assert!(!said(asked).await.contains(&"pause".to_owned()));
}

#[tokio::test]
async fn a_pause_that_is_given_up_during_a_build_stops_nothing() {
    let (builds, is_built) = word();
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let launch = engine.until("launch");
        is_built();
        engine.answer(&launch);
        engine.begin(&[]);
        asks.send(engine.all_that_it_was_asked()).unwrap();
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    let given_up = CancellationToken::new();
    let pause = begin(&door, "debugger_pause", json!({"wait_ms": 45_000}), &given_up);
    given_up.cancel();
    assert!(pause.await.unwrap().is_error);
    builds();
    until(&door, |seen| seen.life.has_begun()).await;
    door.leave().await;
    assert!(!said(asked).await.contains(&"pause".to_owned()));
}

#[tokio::test]
async fn input_that_is_given_up_takes_no_output_along() {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        let input = engine.until("breakroom/input");
        engine.answer(&input);
        asks.send(()).unwrap();
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let given_up = CancellationToken::new();
    let arguments = json!({"text": "x\n", "wait_ms": 45_000});
    let input = begin(&door, "debugger_input", arguments, &given_up);
    said(asked).await;
    given_up.cancel();
    let reply = input.await.unwrap();
    assert!(reply.is_error && reply.text.contains("cancelled"), "{reply:?}");
}

#[tokio::test]
async fn whoever_does_not_wait_does_not_wait_for_the_answer_of_a_resume() {
    let (ends, is_ended) = word();
    let door = standing(vec![stop(1)], move |mut engine| {
        let goes_on = engine.until("continue");
        is_ended();
        engine.answer(&goes_on);
        engine.rest();
    })
    .await;
    stands(&call(&door, "debugger_wait", json!({"wait_ms": 0})).await, 1);
    let running = call(&door, "debugger_continue", json!({"wait_ms": 0})).await;
    assert_eq!(running.data["state"], "running", "{running:?}");
    ends();
}
