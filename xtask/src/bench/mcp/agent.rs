//! An agent's end of an MCP server's stdio: one call at a time, and how long each took.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::bench::lab::Process;

/// All of the servers know it.
const REVISION: &str = "2025-06-18";

pub struct Agent {
    input: BufReader<ChildStdout>,
    output: ChildStdin,
    id: u64,
    pub process: Process,
}

impl Agent {
    /// Starts a server; it has answered `initialize` when this returns.
    pub fn meet(server: &mut Command) -> Result<Agent> {
        let mut process = Process::start(server.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let input = BufReader::new(process.child.stdout.take().context("stdout is not a pipe")?);
        let output = process.child.stdin.take().context("stdin is not a pipe")?;
        let mut agent = Agent { input, output, id: 0, process };
        let introduction = json!({
            "protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        });
        agent.call("initialize", &introduction)?;
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(agent)
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        Ok(self.output.write_all(format!("{message}\n").as_bytes())?)
    }

    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))?;
        let mut line = String::new();
        loop {
            line.clear();
            ensure!(self.input.read_line(&mut line)? > 0, "the server closed its stdout");
            let mut message: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            if message["id"] == self.id {
                ensure!(message["error"].is_null(), "`{method}` failed: {message}");
                return Ok(message["result"].take());
            }
        }
    }

    /// The result of a tool, which must be a success.
    pub fn tool(&mut self, name: &str, arguments: &Value) -> Result<Value> {
        let result = self.call("tools/call", &json!({"name": name, "arguments": arguments}))?;
        ensure!(result["isError"] != true, "`{name}` failed: {result}");
        Ok(result)
    }
}

/// What something takes, in milliseconds, each time that it is done.
#[derive(Default, Clone)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn take<T>(&mut self, what: impl FnOnce() -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let done = what()?;
        self.0.push(began.elapsed().as_secs_f64() * 1000.0);
        Ok(done)
    }

    pub fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
    }
}
