//! The same debugging by the tools of two servers.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::agent::{Agent, Times};
use crate::bench::lab::PATIENCE;

/// A program that is stopped in two of its lines by turns, for ever.
pub struct Program<'a> {
    pub path: &'a Path,
    pub first_line: u32,
    pub second_line: u32,
    /// Known where the second line stands.
    pub expression: &'a str,
}

/// A server's tools, each as a deed that can be compared. All of them are about the one session that was started.
pub trait Debugger {
    /// From nothing to the stop at the first line.
    fn start(&mut self, program: &Program) -> Result<()>;
    fn set_breakpoint(&mut self, program: &Program) -> Result<()>;
    /// Until it is known that it stopped again.
    fn go_on(&mut self) -> Result<()>;
    fn step(&mut self) -> Result<()>;
    fn evaluate(&mut self, expression: &str) -> Result<()>;
    fn stack(&mut self) -> Result<()>;
    fn session(&mut self) -> Result<()>;
    fn stop(&mut self) -> Result<()>;
}

#[derive(Default)]
pub struct Took {
    pub start: Times,
    pub set_breakpoint: Times,
    pub go_on: Times,
    pub step: Times,
    pub evaluate: Times,
    pub stack: Times,
    pub session: Times,
    pub stop: Times,
}

impl Took {
    /// One session from its start to its end.
    pub fn note(&mut self, debugger: &mut dyn Debugger, program: &Program, turns: usize) -> Result<()> {
        self.start.take(|| debugger.start(program))?;
        self.set_breakpoint.take(|| debugger.set_breakpoint(program))?;
        for _ in 0..turns {
            self.go_on.take(|| debugger.go_on())?;
            self.evaluate.take(|| debugger.evaluate(program.expression))?;
            self.stack.take(|| debugger.stack())?;
            self.session.take(|| debugger.session())?;
            self.step.take(|| debugger.step())?;
            // To the first line again, from where the next turn begins.
            debugger.go_on()?;
        }
        self.stop.take(|| debugger.stop())
    }
}

pub struct Breakroom {
    pub agent: Agent,
    session: Value,
}

impl Breakroom {
    pub fn new(agent: Agent) -> Breakroom {
        Breakroom { agent, session: Value::Null }
    }

    fn tool(&mut self, name: &str, mut arguments: Value) -> Result<Value> {
        arguments["session_id"] = self.session.clone();
        Ok(self.agent.tool(name, &arguments)?["structuredContent"].take())
    }

    fn stopped(answer: &Value) -> Result<()> {
        ensure!(answer["state"] == "paused", "it is not paused: {answer}");
        Ok(())
    }
}

impl Debugger for Breakroom {
    fn start(&mut self, program: &Program) -> Result<()> {
        let arguments = json!({"program": program.path, "breakpoints": [program.first_line]});
        let answer = self.agent.tool("debugger_start", &arguments)?;
        self.session = answer["structuredContent"]["session_id"].clone();
        Breakroom::stopped(&answer["structuredContent"])
    }

    fn set_breakpoint(&mut self, program: &Program) -> Result<()> {
        let place = json!({"file": program.path, "line": program.second_line});
        self.tool("debugger_set_breakpoint", place).map(drop)
    }

    fn go_on(&mut self) -> Result<()> {
        Breakroom::stopped(&self.tool("debugger_continue", json!({}))?)
    }

    fn step(&mut self) -> Result<()> {
        Breakroom::stopped(&self.tool("debugger_step", json!({}))?)
    }

    fn evaluate(&mut self, expression: &str) -> Result<()> {
        self.tool("debugger_evaluate", json!({"expression": expression})).map(drop)
    }

    fn stack(&mut self) -> Result<()> {
        self.tool("debugger_inspect", json!({"what": "stack"})).map(drop)
    }

    fn session(&mut self) -> Result<()> {
        self.tool("debugger_get_session", json!({})).map(drop)
    }

    fn stop(&mut self) -> Result<()> {
        self.tool("debugger_stop", json!({})).map(drop)
    }
}

pub struct McpDebugger {
    agent: Agent,
    language: &'static str,
    session: Value,
    /// When it stopped last, by its own clock.
    stopped: Value,
}

impl McpDebugger {
    pub fn new(agent: Agent, language: &'static str) -> McpDebugger {
        McpDebugger { agent, language, session: Value::Null, stopped: Value::Null }
    }

    /// Its answers are JSON in a text, and so are its failures.
    fn tool(&mut self, name: &str, mut arguments: Value) -> Result<Value> {
        if !self.session.is_null() {
            arguments["sessionId"] = self.session.clone();
        }
        let result = self.agent.tool(name, &arguments)?;
        let text = result["content"][0]["text"].as_str().context("an answer has a text")?;
        let answer: Value = serde_json::from_str(text)?;
        ensure!(answer["success"] == true, "`{name}` failed: {answer}");
        Ok(answer)
    }

    /// It has no tool that waits for a stop, so it is asked until there is another one.
    fn wait_for_stop(&mut self) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let answer = self.tool("list_debug_sessions", json!({}))?;
            let sessions = answer["sessions"].as_array().context("it lists its sessions")?;
            let ours = sessions.iter().find(|session| session["id"] == self.session);
            let ours = ours.context("the session is gone")?;
            let stopped = &ours["lastStop"]["timestamp"];
            if ours["state"] == "paused" && !stopped.is_null() && *stopped != self.stopped {
                self.stopped = stopped.clone();
                return Ok(());
            }
            ensure!(ours["state"] != "error" && ours["state"] != "stopped", "it does not stop: {ours}");
        }
        bail!("it does not stop")
    }
}

impl Debugger for McpDebugger {
    fn start(&mut self, program: &Program) -> Result<()> {
        self.session = Value::Null;
        let language = json!({"language": self.language});
        self.session = self.tool("create_debug_session", language)?["sessionId"].take();
        self.tool("set_breakpoint", json!({"file": program.path, "line": program.first_line}))?;
        self.tool("start_debugging", json!({"scriptPath": program.path}))?;
        self.wait_for_stop()
    }

    fn set_breakpoint(&mut self, program: &Program) -> Result<()> {
        self.tool("set_breakpoint", json!({"file": program.path, "line": program.second_line})).map(drop)
    }

    fn go_on(&mut self) -> Result<()> {
        self.tool("continue_execution", json!({}))?;
        self.wait_for_stop()
    }

    fn step(&mut self) -> Result<()> {
        self.tool("step_over", json!({}))?;
        self.wait_for_stop()
    }

    fn evaluate(&mut self, expression: &str) -> Result<()> {
        self.tool("evaluate_expression", json!({"expression": expression})).map(drop)
    }

    fn stack(&mut self) -> Result<()> {
        self.tool("get_stack_trace", json!({})).map(drop)
    }

    fn session(&mut self) -> Result<()> {
        self.tool("list_debug_sessions", json!({})).map(drop)
    }

    fn stop(&mut self) -> Result<()> {
        self.tool("close_debug_session", json!({})).map(drop)
    }
}
