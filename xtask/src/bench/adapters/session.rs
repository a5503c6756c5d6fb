//! One session from `initialize` through its first stop and some steps to its end, the same by every route.

use std::cell::Cell;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::client::Client;
use super::known::Known;
use super::program::Debuggee;

/// In milliseconds.
pub struct Took {
    pub first_stop: f64,
    pub step: f64,
}

impl Took {
    pub const NONE: Took = Took { first_stop: f64::INFINITY, step: f64::INFINITY };

    pub fn note(&mut self, other: Took) {
        self.first_stop = self.first_stop.min(other.first_stop);
        self.step = self.step.min(other.step);
    }
}

/// A program that is about to stop for the first time.
pub struct Debugged<'a> {
    adapter: &'a Known,
    debuggee: &'a Debuggee,
    client: Client,
    /// The connection that launched it, if another debugs it.
    parent: Option<Client>,
}

impl<'a> Debugged<'a> {
    pub fn begin(mut client: Client, adapter: &'a Known, debuggee: &'a Debuggee) -> Result<Self> {
        configure(&mut client, adapter, "launch", &(adapter.launch)(debuggee), debuggee)?;
        Ok(Debugged { adapter, debuggee, client, parent: None })
    }

    /// The same where the adapter asks for another connection to debug by.
    pub fn begin_child(
        mut parent: Client,
        adapter: &'a Known,
        debuggee: &'a Debuggee,
        connect: impl Fn() -> Result<Client>,
    ) -> Result<Self> {
        configure(&mut parent, adapter, "launch", &(adapter.launch)(debuggee), debuggee)?;
        let asked =
            parent.wait(|message| message["command"] == "startDebugging" && message["type"] == "request")?;
        parent.answer(&asked)?;
        let mut client = connect()?;
        let how = asked["arguments"]["request"].as_str().context("a child has a request")?;
        configure(&mut client, adapter, how, &asked["arguments"]["configuration"], debuggee)?;
        Ok(Debugged { adapter, debuggee, client, parent: Some(parent) })
    }

    /// The time since `began` to the first stop, and that of a middling step.
    pub fn measure(mut self, began: Instant) -> Result<Took> {
        let mut stopped = self.client.wait(|message| message["event"] == "stopped")?;
        let first_stop = milliseconds(began);
        look(&mut self.client, &stopped)?;
        // A step onto it would stop twice with some.
        self.client.call("setBreakpoints", &breakpoints(self.debuggee, &[]))?;
        let mut steps = Vec::new();
        for _ in 0..self.adapter.steps {
            let began = Instant::now();
            self.client.send("next", &json!({"threadId": stopped["body"]["threadId"]}))?;
            stopped = self
                .client
                .wait(|message| ["stopped", "terminated"].iter().any(|end| message["event"] == *end))?;
            ensure!(stopped["event"] == "stopped", "the program ended while it was stepped through");
            look(&mut self.client, &stopped)?;
            steps.push(milliseconds(began));
        }
        steps.sort_by(f64::total_cmp);
        self.end()?;
        Ok(Took { first_stop, step: steps[(steps.len() - 1) / 2] })
    }

    /// Some do not answer, but hang up.
    fn end(mut self) -> Result<()> {
        for client in [Some(&mut self.client), self.parent.as_mut()].into_iter().flatten() {
            client.send("disconnect", &json!({"terminateDebuggee": true}))?;
            let _ =
                client.wait(|message| message["command"] == "disconnect" || message["event"] == "terminated");
        }
        Ok(())
    }
}

/// Through the end of the configuration, with a breakpoint.
fn configure(
    client: &mut Client,
    adapter: &Known,
    how: &str,
    arguments: &Value,
    debuggee: &Debuggee,
) -> Result<()> {
    let hello = json!({
        "adapterID": adapter.name, "clientID": "bench", "linesStartAt1": true, "columnsStartAt1": true,
        "pathFormat": "path", "supportsVariableType": true, "supportsStartDebuggingRequest": false,
    });
    // It may come before the answer.
    let initialized = Cell::new(false);
    let note = |message: &Value| initialized.set(initialized.get() || message["event"] == "initialized");
    client.send("initialize", &hello)?;
    client.wait(|message| {
        note(message);
        message["command"] == "initialize"
    })?;
    client.send(how, arguments)?;
    while !initialized.get() {
        let told = client.wait(|_| true)?;
        note(&told);
        ensure!(told["type"] != "response" || told["success"] == true, "the launch failed: {told}");
    }
    client.call("setBreakpoints", &breakpoints(debuggee, &[debuggee.line]))?;
    client.send("configurationDone", &json!({})).map(drop)
}

fn breakpoints(debuggee: &Debuggee, lines: &[usize]) -> Value {
    let lines: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
    json!({"source": {"path": debuggee.source}, "breakpoints": lines})
}

/// The stack, the scopes and the variables of where it stopped.
fn look(client: &mut Client, stopped: &Value) -> Result<()> {
    let stack = client.call("stackTrace", &json!({"threadId": stopped["body"]["threadId"]}))?;
    let scopes = client.call("scopes", &json!({"frameId": stack["body"]["stackFrames"][0]["id"]}))?;
    let reference = &scopes["body"]["scopes"][0]["variablesReference"];
    let variables = client.call("variables", &json!({"variablesReference": reference}))?;
    let count = variables["body"]["variables"].as_array().map_or(0, Vec::len);
    ensure!(count > 0, "there are no variables where it stopped: {variables}");
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
