//! Agents at a desk: what each is told of a stop, and how it ends.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::io::BufRead;
use std::path::{Path, PathBuf};

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, adapters, wait};
use serde_json::{Value, json};

use super::editor::{Desk, Hub};

/// The longest that a call may wait. What is expected comes long before.
pub const LONG: u64 = 45_000;

/// A desk with one agent at it, unless one of these debuggers was left out by hand.
pub fn desk(needs: &[&str]) -> Option<(Desk, Mcp)> {
    if needs.iter().any(|adapter| adapters::skipped(adapter)) {
        return None;
    }
    let desk = Desk::new();
    let agent = Mcp::new(&desk.sandbox);
    Some((desk, agent))
}

/// A file of the desk's own.
pub fn write(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let path = desk.sandbox.work().join(name);
    let folder = path.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).expect("the work folder is writable");
    std::fs::write(&path, text).expect("the work folder is writable");
    path
}

/// The agent goes, and nothing is left.
pub fn leave(desk: Desk, agent: Mcp) {
    agent.finish();
    desk.leave(Hub::Shared);
}

/// Starts and waits for the first stop.
pub fn start(agent: &Mcp, more: Value) -> Reply {
    patiently(agent, "debugger_start", more)
}

/// A call that waits for a stop or the end, however slow the machine.
pub fn patiently(agent: &Mcp, tool: &str, arguments: Value) -> Reply {
    let reply = at_last(agent, tool, arguments);
    assert!(!reply.is_error, "{tool} failed: {}", reply.text);
    reply
}

/// The same of one that may fail. What was captured in all that time is in the last answer.
pub fn at_last(agent: &Mcp, tool: &str, mut arguments: Value) -> Reply {
    arguments["wait_ms"] = LONG.into();
    let room = arguments.get("max_tokens").cloned();
    waited(agent, agent.call(tool, arguments), room)
}

/// The same of a call that was begun before: it waits on where that one could wait no longer.
pub fn at_last_of(agent: &Mcp, reply: Reply) -> Reply {
    waited(agent, reply, None)
}

fn waited(agent: &Mcp, mut reply: Reply, room: Option<Value>) -> Reply {
    let mut more = json!({"wait_ms": LONG});
    if let Some(room) = room {
        more["max_tokens"] = room;
    }
    for _ in 0..4 {
        if !matches!(reply.state(), "starting" | "running") {
            break;
        }
        more["session_id"] = reply.session().into();
        more["after_epoch"] = reply.data["epoch"].clone();
        reply = agent.call("debugger_wait", more.clone()).behind(&reply);
    }
    reply
}

/// Goes on to the next stop.
pub fn go_on(agent: &Mcp) -> Reply {
    patiently(agent, "debugger_continue", json!({}))
}

/// Fails unless it says all of these.
pub fn says(reply: &Reply, words: &[&str]) {
    for word in words {
        assert!(reply.text.contains(word), "no {word:?} in:\n{}", reply.text);
    }
}

/// Fails unless it stands at this line of this file.
pub fn stands(reply: &Reply, file: &Path, line: u64) {
    assert_eq!(reply.state(), "paused", "{}", reply.text);
    let there = reply.data["file"].as_str().map(Path::new);
    let same = there.is_some_and(|there| there.canonicalize().ok() == file.canonicalize().ok());
    assert!(same && reply.data["line"] == line, "not at {}:{line}:\n{}", file.display(), reply.text);
}

/// Fails unless it stands in this function.
pub fn stands_in(reply: &Reply, function: &str) {
    assert_eq!((reply.state(), &reply.data["function"]), ("paused", &json!(function)), "{}", reply.text);
}

/// The rows of what was captured.
pub fn rows(reply: &Reply) -> Vec<Value> {
    reply.data["captured"].as_array().cloned().unwrap_or_default()
}

/// Waits until it stands or has ended, however long that takes, and gathers what is captured on the way.
pub fn settled(agent: &Mcp, mut reply: Reply) -> (Reply, Vec<Value>) {
    let mut captured = rows(&reply);
    while ["running", "starting"].contains(&reply.state()) {
        reply = patiently(agent, "debugger_wait", json!({"max_tokens": 20_000}));
        captured.extend(rows(&reply));
    }
    (reply, captured)
}

pub fn ended(reply: &Reply, code: i64) {
    assert_eq!((reply.state(), &reply.data["exit_code"]), ("ended", &json!(code)), "{}", reply.text);
}

/// What an expression is, without its quotes.
pub fn value(agent: &Mcp, expression: &str) -> String {
    value_in(agent, json!({"expression": expression}))
}

pub fn value_in(agent: &Mcp, arguments: Value) -> String {
    let reply = agent.ok("debugger_evaluate", arguments);
    let result = reply.data["result"].as_str().unwrap_or_else(|| panic!("no result in {reply:?}"));
    result.trim_matches(['\'', '"']).to_owned()
}

/// Waits until the program has printed this, all in all.
pub fn printed(agent: &Mcp, session: &str, text: &str) {
    let has = || {
        let arguments = json!({"session_id": session, "what": "output", "max_tokens": 5000});
        let reply = agent.ok("debugger_inspect", arguments);
        reply.data["output"].as_str().is_some_and(|output| output.contains(text)).then_some(())
    };
    wait::until(wait::DEADLINE, has).unwrap_or_else(|| panic!("never printed {text:?}"));
}

/// Fails unless a program that prints how often it ticked goes on. What was printed before is in the pipe.
pub fn ticks_on(lines: &mut impl BufRead, before: i64) {
    let goes_on = || {
        let mut line = String::new();
        lines.read_line(&mut line).expect("its output can be read");
        line.trim().parse::<i64>().is_ok_and(|ticks| ticks > before + 3).then_some(())
    };
    wait::until(wait::DEADLINE, goes_on).expect("it runs on");
}
