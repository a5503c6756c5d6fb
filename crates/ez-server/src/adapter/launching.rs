//! From `launch` to a server that is ready for breakpoints, and `configurationDone`.
//!
//! A server that keeps to the document waits for `start`. Others run ahead and stop twice before they are asked anything;
//! those are at their entry already, and a `start` would only take them a step further.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::running::{Run, Toward};
use super::{Adapter, Done, State, soon};
use crate::dap::Request;
use crate::event::{Location, Problem};
use crate::server::{Server, Start};

/// For the server to read and check the program.
const TO_BEGIN: Duration = Duration::from_secs(30);
/// From the first stop that nobody asked for to the second.
pub(super) const TO_STOP_AGAIN: Duration = Duration::from_secs(2);
/// For all the errors in the program, after the first.
const TO_SAY_ALL: Duration = Duration::from_millis(300);
/// How many stops a server that runs ahead makes.
const STOPS_AHEAD: u32 = 2;

/// What is debugged, in whose spelling.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// The absolute path that the server was started with, and the only spelling of it that it knows.
    pub program: String,
    pub cwd: PathBuf,
    /// The server's command line, for messages.
    shown: String,
    stop_on_entry: bool,
}

impl Stage {
    pub fn source(&self, file: &str) -> Value {
        let path = self.cwd.join(file);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        json!({"name": name.unwrap_or_default(), "path": path.to_string_lossy()})
    }
}

/// A server that was started and has not shown yet that it works.
#[derive(Debug)]
pub(super) struct Starting {
    request: Request,
    initialized: bool,
    stops: u32,
    at: Option<Location>,
    errors: Vec<String>,
    pub until: Instant,
}

impl Starting {
    pub fn note(&mut self, problem: &Problem) {
        self.errors.push(match &problem.at {
            Some(at) => format!("{}:{}:{}: {}", at.file, at.line, at.column, problem.message),
            None => problem.message.clone(),
        });
        self.until = self.until.min(soon(TO_SAY_ALL));
    }

    pub fn stopped(&mut self, at: Location) {
        self.stops += 1;
        self.at = Some(at);
        self.until = self.until.min(soon(TO_STOP_AGAIN));
    }

    fn is_ready(&self) -> bool {
        let is_between_stops = (1..STOPS_AHEAD).contains(&self.stops);
        self.errors.is_empty() && (self.stops >= STOPS_AHEAD || self.initialized && !is_between_stops)
    }
}

impl<W: Write> Adapter<W> {
    pub(super) fn launch(&mut self, request: Request) -> Done {
        if !matches!(self.state, State::Fresh) {
            return self.client.fail(&request, "there was a launch already; start another adapter");
        }
        let start = match read_launch(&request.arguments, &self.command) {
            Ok(start) => start,
            Err(problem) => return self.client.fail(&request, &problem),
        };
        let server = match Server::start(&start, &self.outbox) {
            Ok(server) => server,
            Err(error) => return self.client.fail(&request, &cannot_start(&start, &error)),
        };
        server.tell("initialize", json!({"file": start.program, "workingDir": start.cwd.to_string_lossy()}));
        self.server = Some(server);
        self.stage = Stage {
            shown: start.shown(),
            program: start.program,
            cwd: start.cwd,
            stop_on_entry: request.arguments["stopOnEntry"] == true,
        };
        self.state = State::Starting(Box::new(Starting {
            request,
            initialized: false,
            stops: 0,
            at: None,
            errors: Vec::new(),
            until: soon(TO_BEGIN),
        }));
        Ok(())
    }

    pub(super) fn on_initialized(&mut self) -> Done {
        if let State::Starting(starting) = &mut self.state {
            starting.initialized = true;
        }
        self.begin_if_ready()
    }

    pub(super) fn begin_if_ready(&mut self) -> Done {
        match &self.state {
            State::Starting(starting) if starting.is_ready() => self.begin(),
            _ => Ok(()),
        }
    }

    /// The time for the start is up.
    pub(super) fn started_or_not(&mut self) -> Done {
        let State::Starting(starting) = &self.state else { return Ok(()) };
        if starting.errors.is_empty() && starting.stops > 0 {
            return self.begin();
        }
        let problem = match starting.errors.is_empty() {
            true => format!("it said nothing within {} seconds", TO_BEGIN.as_secs()),
            false => starting.errors.join("\n"),
        };
        if let Some(server) = &self.server {
            server.kill();
        }
        self.launch_failed(&problem)
    }

    /// The server has ended before it was ready.
    pub(super) fn ended_while_starting(&mut self, code: i64) -> Done {
        let State::Starting(starting) = &self.state else { return Ok(()) };
        if starting.errors.is_empty() && (starting.initialized || starting.stops > 0) {
            // A program of a single statement is over before a server that runs ahead could stop again.
            return self.begin();
        }
        let said: Vec<&str> =
            starting.errors.iter().map(String::as_str).chain(self.end.last_words()).collect();
        let problem = format!("it ended with exit code {code}\n{}", said.join("\n"));
        self.launch_failed(problem.trim_end())
    }

    fn launch_failed(&mut self, problem: &str) -> Done {
        let message = format!("`{}` could not debug the program: {problem}", self.stage.shown);
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Starting(starting) => self.client.fail(&starting.request, &message),
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> Done {
        let State::Starting(starting) = std::mem::replace(&mut self.state, State::Ended) else {
            return Ok(());
        };
        // A server stops at the entry only if it knows of no breakpoint when it starts.
        if self.stage.stop_on_entry && starting.stops == 0 {
            self.tell("start", json!({}));
        }
        // Of one that stopped once, and not again in the time it had, no second stop is to come.
        let stops = if starting.stops == 0 { 0 } else { STOPS_AHEAD };
        self.state = State::Configuring { at: starting.at, stops };
        self.client.respond(&starting.request, json!({}))?;
        self.client.event("initialized", json!({}))
    }

    pub(super) fn configuration_done(&mut self, request: &Request) -> Done {
        let (at, stops) = match &mut self.state {
            State::Configuring { at, stops } => (at.take(), *stops),
            State::Fresh => return self.client.fail(request, "nothing was launched yet"),
            _ => return self.client.respond(request, json!({})),
        };
        self.client.respond(request, json!({}))?;
        match (at, self.stage.stop_on_entry) {
            (Some(at), true) => self.stop("entry", at),
            (Some(at), false) if self.breakpoints.is_at(&at) => self.stop("breakpoint", at),
            (Some(_), false) if stops < STOPS_AHEAD => {
                self.await_second_stop();
                Ok(())
            }
            (Some(_), false) => {
                self.go_to_breakpoint();
                Ok(())
            }
            (None, true) => {
                self.state = State::Running(Run { toward: Toward::Entry, from: None });
                Ok(())
            }
            (None, false) => {
                self.state = State::Running(Run { toward: Toward::PastEntry, from: None });
                self.tell("start", json!({}));
                Ok(())
            }
        }
    }
}

fn read_launch(arguments: &Value, command: &[std::ffi::OsString]) -> Result<Start, String> {
    let Some(program) = arguments["program"].as_str().filter(|program| !program.is_empty()) else {
        return Err("the launch has no \"program\": name the EZ file to debug".into());
    };
    let here = std::env::current_dir().map_err(|error| format!("there is no working folder: {error}"))?;
    let cwd = arguments["cwd"].as_str().map(|cwd| here.join(cwd));
    let program = cwd.as_deref().unwrap_or(&here).join(program);
    let folder = || program.parent().map_or_else(|| here.clone(), Path::to_path_buf);
    let cwd = cwd.unwrap_or_else(folder);
    let command = match &arguments["debugserver"] {
        Value::Null => command.to_vec(),
        given => {
            let words = words(given).filter(|words| !words.is_empty());
            let words = words
                .ok_or("\"debugserver\" is not a list of words; write it as [\"ez\", \"debugserver\"]")?;
            words.into_iter().map(Into::into).collect()
        }
    };
    let args = match &arguments["args"] {
        Value::Null => Vec::new(),
        given => words(given).ok_or("\"args\" is not a list of words")?,
    };
    let env = match &arguments["env"] {
        Value::Null => Vec::new(),
        Value::Object(variables) => {
            let read = |(name, value): (&String, &Value)| match value {
                Value::Null => Ok((name.clone(), None)),
                Value::String(value) => Ok((name.clone(), Some(value.clone()))),
                _ => Err(format!("\"env\" has a value for {name} that is not a text")),
            };
            variables.iter().map(read).collect::<Result<_, _>>()?
        }
        _ => return Err("\"env\" is not an object of names and values".into()),
    };
    Ok(Start { command, program: program.to_string_lossy().into_owned(), args, cwd, env })
}

fn words(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

fn cannot_start(start: &Start, error: &std::io::Error) -> String {
    let shown = start.shown();
    if !start.cwd.is_dir() {
        return format!("`{shown}` cannot be started in {}: there is no such folder", start.cwd.display());
    }
    match error.kind() {
        ErrorKind::NotFound => format!(
            "`{shown}` cannot be started: there is no such program in PATH; install EZ, or name its path in the launch argument \"debugserver\": [\"/path/to/ez\", \"debugserver\"]"
        ),
        _ => format!("`{shown}` cannot be started: {error}"),
    }
}
