//! The session: connecting, the handshake, and how it ends. The table of DAP requests is here.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use breakroom_adapter::Request;
use breakroom_remote_runtime::{Command, Response, Threads as ThreadList};
use serde_json::{Value, json};

use crate::adapter::{Adapter, GO_ON, Outcome, Purpose};
use crate::link::Link;

/// How long a response is awaited if the client does not say: the protocol has no deadline.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not connected.
    Fresh,
    Connecting,
    /// The client sets its breakpoints.
    Configuring,
    Running,
    /// The program has exited or the connection is lost.
    Over,
}

impl<W: Write> Adapter<W> {
    pub fn on_request(&mut self, request: Request) -> Outcome {
        match request.command.as_str() {
            "initialize" => self.client.respond(&request, capabilities())?,
            "launch" | "attach" => self.connect(request)?,
            "configurationDone" => {
                if self.phase == Phase::Configuring {
                    self.phase = Phase::Running;
                    self.notify(&Command::Ready);
                }
                self.client.respond(&request, Value::Null)?;
            }
            "disconnect" => {
                self.leave();
                self.client.respond(&request, Value::Null)?;
                return Ok(ControlFlow::Break(()));
            }
            "setExceptionBreakpoints" => self.client.respond(&request, Value::Null)?,
            _ if self.link.is_none() => {
                let why = match self.phase {
                    Phase::Over => "the session has ended",
                    _ => "not connected to a runtime; send `attach` first",
                };
                self.client.fail(&request, why)?;
            }
            "setBreakpoints" => self.set_breakpoints(&request)?,
            "threads" => {
                self.ask(&Command::GetThreads, Purpose::Threads(Some(request)));
            }
            "continue" | "next" | "stepIn" | "stepOut" | "pause" => self.control(request)?,
            "stackTrace" | "scopes" | "variables" | "evaluate" | "setVariable" | "setExpression"
            | "exceptionInfo" => self.inspect(request)?,
            other => self.client.fail(&request, &format!("a remote runtime has no request `{other}`"))?,
        }
        GO_ON
    }

    fn connect(&mut self, request: Request) -> std::io::Result<()> {
        let target = match self.phase {
            Phase::Fresh => Target::read(&request.arguments),
            _ => Err("the session is connected already".to_owned()),
        };
        let connected = target.and_then(|target| {
            let link = Link::connect(&target.host, target.port, target.timeout, &self.outbox)?;
            self.breakpoints.folder = target.cwd;
            Ok(link)
        });
        match connected {
            Ok(link) => {
                self.link = Some(link);
                self.phase = Phase::Connecting;
                self.ask(&Command::Start, Purpose::Start(request));
                self.ask(&Command::GetThreads, Purpose::Threads(None));
                Ok(())
            }
            Err(why) => self.client.fail(&request, &why),
        }
    }

    /// A refused `start` ends nothing: a runtime may refuse it until it has a program, and be ready afterwards.
    pub fn on_started(
        &mut self,
        request: &Request,
        response: Result<Response, String>,
    ) -> std::io::Result<()> {
        if let Err(why) = response.and_then(|response| response.result) {
            self.say(&format!("the runtime did not start: {why}"))?;
        }
        self.phase = Phase::Configuring;
        self.client.respond(request, Value::Null)?;
        self.client.event("initialized", Value::Null)
    }

    pub fn on_threads(
        &mut self,
        request: Option<&Request>,
        response: Result<Response, String>,
    ) -> std::io::Result<()> {
        let listed = response.and_then(Response::body::<ThreadList>);
        if let Ok(list) = &listed {
            self.threads.learn(&list.threads);
        }
        let Some(request) = request else { return Ok(()) };
        let threads: Vec<Value> =
            self.threads.list().map(|(id, name)| json!({"id": id, "name": name})).collect();
        match listed {
            Err(why) if threads.is_empty() => self.client.fail(request, &why),
            _ => self.client.respond(request, json!({"threads": threads})),
        }
    }

    pub fn ask(&mut self, command: &Command, purpose: Purpose) -> Option<i64> {
        self.link.as_mut().map(|link| link.request(command, purpose))
    }

    pub fn notify(&mut self, command: &Command) {
        if let Some(link) = &mut self.link {
            link.notify(command);
        }
    }

    /// Leaves the runtime, whose program goes on.
    pub fn leave(&mut self) {
        self.notify(&Command::Stop);
        self.link = None;
        self.phase = Phase::Over;
    }

    /// The end of the connection is not the end of the program, so no exit code is reported.
    pub fn on_link_lost(&mut self, why: Option<String>) -> Outcome {
        let Some(mut link) = self.link.take() else { return GO_ON };
        let why = why.unwrap_or_else(|| "the runtime closed it".to_owned());
        let text = format!("the connection to the runtime was lost: {why}");
        for purpose in link.all_open() {
            match purpose {
                Purpose::Start(request) => self.client.fail(&request, &text)?,
                purpose => self.settle(purpose, Err(text.clone()))?,
            }
        }
        self.fail_queued_run_control(&text)?;
        if self.phase != Phase::Over {
            let text = format!("{text}; the program may still run\n");
            self.client.event("output", json!({"category": "important", "output": text}))?;
            self.terminated()?;
        }
        GO_ON
    }

    pub fn terminated(&mut self) -> std::io::Result<()> {
        self.phase = Phase::Over;
        self.client.event("terminated", json!({}))
    }
}

struct Target {
    host: String,
    port: u16,
    cwd: Option<PathBuf>,
    timeout: Duration,
}

impl Target {
    fn read(arguments: &Value) -> Result<Target, String> {
        let host = match &arguments["host"] {
            Value::Null => "127.0.0.1".to_owned(),
            Value::String(host) if !host.is_empty() => host.clone(),
            other => return Err(format!("`host` is {other}; give the name or address of the runtime")),
        };
        let port = match &arguments["port"] {
            Value::Null => 9000,
            port => port
                .as_u64()
                .and_then(|port| u16::try_from(port).ok())
                .filter(|port| *port > 0)
                .ok_or_else(|| format!("`port` is {port}; give a number from 1 to 65535"))?,
        };
        let cwd = arguments["cwd"].as_str().filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
        let timeout = match &arguments["requestTimeout"] {
            Value::Null => REQUEST_TIMEOUT,
            seconds => seconds
                .as_f64()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .ok_or_else(|| format!("`requestTimeout` is {seconds}; give a number of seconds"))?,
        };
        Ok(Target { host, port, cwd, timeout })
    }
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "supportsSingleThreadExecutionRequests": true,
    })
}
