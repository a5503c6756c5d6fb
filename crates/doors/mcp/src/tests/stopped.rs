//! What is told of a session that the agent has ended with `debugger_stop`.

use serde_json::json;

use super::hub::{MadeUp, call};
use crate::Setup;
use crate::door::Door;
use crate::secrets::Secrets;

/// A program that prints this and runs until it is ended.
fn printing(output: &'static str) -> MadeUp {
    MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        engine.event("output", json!({"category": "stdout", "output": output}));
        let terminate = engine.until("terminate");
        engine.event("terminated", json!({}));
        engine.answer(&terminate);
        engine.rest();
    })
}

#[tokio::test]
async fn a_stopped_session_is_told_as_terminated_with_its_last_output() {
    let hub = std::sync::Arc::new(printing("key abcdefgh, last line\n"));
    let secrets = Secrets::of([("API_TOKEN", "abcdefgh")]);
    let door = Door::new(Setup { name: "agent".to_owned(), cwd: "/".into(), hub, secrets });
    call(&door, "debugger_start", json!({"program": "/bin/made-up", "wait_ms": 0})).await;
    super::hub::until(&door, |seen| seen.journal.output.end() > 0).await;
    let stopped = call(&door, "debugger_stop", json!({})).await;
    assert_eq!(stopped.data["state"], "ended", "{stopped:?}");
    let known = call(&door, "debugger_get_session", json!({"session_id": "a"})).await;
    assert!(!known.is_error, "{known:?}");
    assert_eq!((&known.data["id"], &known.data["state"]), (&json!("a"), &json!("terminated")), "{known:?}");
    assert_eq!(known.data["output"], "key [API_TOKEN redacted], last line\n", "{known:?}");
    assert!(known.text.contains("session a · terminated") && known.text.contains("last line"), "{known:?}");
    let listed = call(&door, "debugger_get_session", json!({})).await;
    assert!(listed.text.contains("a  terminated"), "{listed:?}");
    let other = call(&door, "debugger_wait", json!({"session_id": "a"})).await;
    assert!(other.is_error && other.text.contains("was ended by debugger_stop"), "{other:?}");
    assert!(door.sessions().is_empty());
}

#[tokio::test]
async fn a_session_that_was_only_left_is_not_told_as_terminated() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[]);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_attach", json!({"session_id": "a", "wait_ms": 0})).await;
    super::hub::until(&door, |seen| seen.life.has_begun()).await;
    let left = call(&door, "debugger_stop", json!({})).await;
    assert_eq!(left.data["state"], "left", "{left:?}");
    let gone = call(&door, "debugger_get_session", json!({"session_id": "a"})).await;
    assert!(gone.is_error, "{gone:?}");
}
