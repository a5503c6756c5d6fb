//! The strict agent fails on what it should: servers of a few lines of shell that do one thing wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use breakroom_testkit::Mcp;
use serde_json::json;

/// A server that reads one line, says these, and ends when its stdin does.
fn server(says: &[&str]) -> Mcp {
    let mut command = Command::new("sh");
    command.args(["-c", "read line; for said; do echo \"$said\"; done; cat >/dev/null", "sh"]).args(says);
    Mcp::spawn(command)
}

/// Why a test with such a server fails, if it does.
fn failure(says: &[&str], test: impl FnOnce(Mcp)) -> Option<String> {
    let agent = server(says);
    let panic = catch_unwind(AssertUnwindSafe(|| test(agent))).err()?;
    Some(panic.downcast_ref::<String>().unwrap().lines().next().unwrap().to_owned())
}

fn calls(agent: Mcp) {
    agent.call("tool", json!({}));
    agent.finish();
}

const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"t"}],"structuredContent":{"state":"paused"}}}"#;
const NEWS: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#;

#[test]
fn what_is_right_is_read() {
    let agent = server(&[NEWS, REPLY]);
    let reply = agent.ok("tool", json!({}));
    assert_eq!((reply.text.as_str(), reply.state(), reply.is_error), ("t", "paused", false));
    assert_eq!(agent.notification("notifications/message"), json!({"level": "info"}));
    assert!(agent.finish().success());
    assert_eq!(
        failure(&[NEWS, REPLY], |agent| {
            agent.allow("notifications/message");
            calls(agent);
        }),
        None
    );
}

#[test]
fn what_breaks_the_protocol_fails_the_test() {
    let wrong = [
        "no JSON",
        r#"{"id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
    ];
    for wrong in wrong {
        assert_eq!(failure(&[wrong], calls).as_deref(), Some("the server broke the protocol"), "{wrong}");
    }
    assert_eq!(failure(&[REPLY, REPLY], calls).as_deref(), Some("the server broke the protocol"));
}

#[test]
fn an_answer_that_is_no_tools_fails_the_test() {
    let data = [r#""structuredContent":[]"#, r#""structuredContent":{"epoch":"1"}"#, r#""isError":false"#];
    for data in data {
        let text = r#""content":[{"type":"text","text":"t"}]"#;
        let said = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{text},{data}}}}}"#);
        let why = failure(&[&said], calls).unwrap();
        assert!(why.starts_with("this is no result of a tool"), "{why}");
    }
    let why = failure(&[REPLY], |agent| drop(agent.failed("tool", json!({})))).unwrap();
    assert!(why.contains("did not fail"), "{why}");
}

#[test]
fn what_nobody_expected_fails_the_test() {
    let why = failure(&[NEWS, REPLY], calls).unwrap();
    assert!(why.contains("notifications/message"), "{why}");
    let untaken = |agent: Mcp| {
        let _sent = agent.begin("tool", json!({}));
        agent.finish();
    };
    assert!(
        failure(&[REPLY], untaken).unwrap().starts_with("0 requests were not answered, 1 answers not taken")
    );
    assert!(failure(&[], untaken).unwrap().starts_with("1 requests were not answered"));
}
