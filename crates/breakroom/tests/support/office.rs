//! An agent at work in a sandbox: its door, the hub behind it, and programs that it writes and debugs.
//!
//! Every answer is measured: text and data together may have four characters for each token that the call allows.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use breakroom_testkit::Mcp;
use breakroom_testkit::mcp::{Reply, Sent};
use serde_json::{Value, json};

use super::rig::Rig;

/// As long as a call may wait.
pub const LONGEST_WAIT: u64 = 45_000;

pub struct Office {
    pub rig: Rig,
    pub agent: Mcp,
}

impl Office {
    pub fn new() -> Office {
        Office::with(&[])
    }

    pub fn with(arguments: &[&str]) -> Office {
        let rig = Rig::new();
        let agent = Mcp::with(&rig.sandbox, arguments);
        Office { rig, agent }
    }

    /// A program's source, or any file.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.rig.sandbox.work().join(name);
        fs::write(&path, text).expect("the work folder is writable");
        path
    }

    /// A C program, and its source for breakpoints.
    pub fn build_c(&self, name: &str, text: &str) -> (PathBuf, PathBuf) {
        let source = self.write(&format!("{name}.c"), text);
        let built = source.with_extension("");
        let done = Command::new("gcc").args(["-g", "-O0", "-o"]).args([&built, &source]).status();
        assert!(done.is_ok_and(|status| status.success()), "{} cannot be compiled", source.display());
        (built, source)
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Reply {
        let reply = self.agent.call(tool, arguments.clone());
        within_budget(tool, &arguments, &reply);
        reply
    }

    /// A call that must not fail.
    pub fn ok(&self, tool: &str, arguments: Value) -> Reply {
        let reply = self.agent.ok(tool, arguments.clone());
        within_budget(tool, &arguments, &reply);
        reply
    }

    /// A call that must fail, in a sentence and with the next step.
    pub fn failed(&self, tool: &str, arguments: Value) -> Reply {
        let reply = self.agent.failed(tool, arguments.clone());
        within_budget(tool, &arguments, &reply);
        let next = reply.text.lines().any(|line| line.starts_with("Next: "));
        assert!(next, "{tool} {arguments} says nothing of what to do: {}", reply.text);
        reply
    }

    pub fn begin(&self, tool: &str, arguments: Value) -> Sent {
        self.agent.begin(tool, arguments)
    }

    pub fn reply(&self, sent: Sent) -> Reply {
        let reply = self.agent.reply(sent);
        within_budget("a call", &json!({}), &reply);
        reply
    }

    /// Starts a program that stops at the first of these lines.
    pub fn stopped_at(&self, program: &PathBuf, line: usize) -> Reply {
        let start = json!({"program": program, "breakpoints": [line], "wait_ms": LONGEST_WAIT});
        self.paused(self.ok("debugger_start", start))
    }

    /// Waits on if it took longer than a call may wait.
    pub fn paused(&self, reply: Reply) -> Reply {
        self.until(reply, &["paused"])
    }

    pub fn ended(&self, reply: Reply) -> Reply {
        self.until(reply, &["ended"])
    }

    /// One of the two.
    pub fn settled(&self, reply: Reply) -> Reply {
        self.until(reply, &["paused", "ended"])
    }

    fn until(&self, mut reply: Reply, wanted: &[&str]) -> Reply {
        for _ in 0..10 {
            if wanted.contains(&reply.state()) {
                return reply;
            }
            assert!(["running", "starting"].contains(&reply.state()), "{reply:?}");
            let wait = json!({"session_id": reply.session(), "wait_ms": LONGEST_WAIT});
            reply = self.ok("debugger_wait", wait);
        }
        panic!("never {wanted:?}: {reply:?}");
    }

    /// The agent goes, the hub too, and nothing is left.
    pub fn close(self) {
        assert!(self.agent.finish().success());
        self.rig.only_the_daemon_is_left();
        self.rig.end_daemon();
    }
}

/// How many characters an answer may have.
pub fn budget(arguments: &Value) -> usize {
    let tokens = match &arguments["max_tokens"] {
        Value::String(text) => text.trim().parse().unwrap_or(2_000),
        given => given.as_u64().unwrap_or(2_000),
    };
    usize::try_from(tokens.clamp(100, 20_000)).unwrap() * 4
}

pub fn within_budget(tool: &str, arguments: &Value, reply: &Reply) {
    let size = reply.text.chars().count() + reply.data.to_string().chars().count();
    let most = budget(arguments);
    assert!(size <= most, "{tool} {arguments} answered {size} characters, {most} are allowed: {reply:?}");
}
