//! `initialize` and `launch`: what the engine can do, and a program that is ready to begin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use breakroom_ez::debug::{Debuggee, HISTORY};
use breakroom_ez::diagnostic::Severity;
use breakroom_ez::unit::{Broken, Unit};
use breakroom_ez::world::Surroundings;
use breakroom_ez::{Diagnostic, Sources};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read;
use crate::channel::Channel;
use crate::handles::Handles;
use crate::session::{Answer, Entry, Live, Phase, Run, Session};
use crate::world::{DebugWorld, Input, Sleep};

/// The filter for runtime errors: all of them end the program, so there is one.
pub const FAULTS: &str = "errors";

pub fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsDataBreakpoints": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsClipboardContext": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsStepBack": true,
        "supportsExceptionInfoRequest": true,
        "supportsCompletionsRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
        "supportsBreakroomInput": true,
        "exceptionBreakpointFilters": [{
            "filter": FAULTS,
            "label": "Runtime errors",
            "description": "Stop where the program cannot go on, before it ends.",
            "default": true,
        }],
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launch {
    program: PathBuf,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, Option<String>>,
    #[serde(default)]
    stop_on_entry: bool,
    #[serde(default)]
    no_debug: bool,
    #[serde(default)]
    history: HistoryWish,
}

/// `true`, `false`, or how many bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum HistoryWish {
    Kept(bool),
    Bytes(usize),
}

impl Default for HistoryWish {
    fn default() -> Self {
        HistoryWish::Kept(true)
    }
}

impl HistoryWish {
    fn bytes(&self) -> Option<usize> {
        match self {
            HistoryWish::Kept(true) => Some(HISTORY),
            HistoryWish::Kept(false) | HistoryWish::Bytes(0) => None,
            HistoryWish::Bytes(bytes) => Some(*bytes),
        }
    }
}

pub fn launch(session: &mut Session, arguments: &Value) -> Answer {
    if !matches!(session.phase, Phase::Fresh) {
        return Err("a program was launched already; one process debugs one program".to_owned());
    }
    let launch: Launch = read(arguments)?;
    let surroundings = surroundings(&launch)?;
    let program = surroundings.folder.join(&launch.program);
    let unit = Unit::load(&program).map_err(|broken| refuse(&session.channel, &program, &broken))?;
    for warning in unit.diagnostics.warnings() {
        tell(&session.channel, "console", &unit.sources, warning);
    }
    let (input, sleep) = (Input::default(), Sleep::default());
    let world = DebugWorld {
        channel: session.channel.clone(),
        mailbox: session.mailbox.clone(),
        input: input.clone(),
        surroundings,
        sleep: sleep.clone(),
    };
    let (entry, history) = match (launch.no_debug, launch.stop_on_entry) {
        (true, _) => (Entry::Undisturbed, None),
        (false, true) => (Entry::Stop, launch.history.bytes()),
        (false, false) => (Entry::Run, launch.history.bytes()),
    };
    let mut debuggee = Debuggee::new(unit, Box::new(world), history);
    // As the filter's `default` says, for clients that never mention it.
    debuggee.stop_at_faults(entry != Entry::Undisturbed);
    session.mailbox.raise(debuggee.attention());
    let mailbox = session.mailbox.clone();
    let live =
        Live { debuggee, input, mailbox, sleep, handles: Handles::default(), run: Run::Configuring, entry };
    session.phase = Phase::Live(Box::new(live));
    if history.is_none() {
        session.channel.event("capabilities", json!({"capabilities": {"supportsStepBack": false}}));
    }
    session.channel.event(
        "process",
        json!({"name": program, "systemProcessId": std::process::id(), "isLocalProcess": true, "startMethod": "launch"}),
    );
    Ok(Value::Null)
}

/// This process's own with what the launch changes; `null` takes a variable away.
fn surroundings(launch: &Launch) -> Result<Surroundings, String> {
    let mut surroundings = Surroundings::of_this_process(launch.args.clone())
        .map_err(|error| format!("the current folder cannot be read: {error}"))?;
    surroundings.folder.push(launch.cwd.as_deref().unwrap_or(Path::new("")));
    if !surroundings.folder.is_dir() {
        return Err(format!("`cwd`: {} is no folder", surroundings.folder.display()));
    }
    for (name, value) in &launch.env {
        match value {
            Some(value) => surroundings.environment.insert(name.clone(), value.clone()),
            None => surroundings.environment.remove(name),
        };
    }
    Ok(surroundings)
}

/// Each error goes to the client with its place, and the failure names the first.
fn refuse(channel: &Channel, program: &Path, broken: &Broken) -> String {
    let errors: Vec<&Diagnostic> = broken.diagnostics.errors().collect();
    for error in &errors {
        tell(channel, "important", &broken.sources, error);
    }
    let Some(first) = errors.first() else { return format!("{} cannot be loaded", program.display()) };
    let Some(span) = first.span else { return first.message.clone() };
    let at = broken.sources.position(span);
    let path = &broken.sources.get(span.file).path;
    let more = match errors.len() - 1 {
        0 => String::new(),
        1 => " (and one more error)".to_owned(),
        more => format!(" (and {more} more errors)"),
    };
    format!("{}:{}:{}: {} [{}]{more}", path.display(), at.line, at.column, first.message, first.code)
}

fn tell(channel: &Channel, category: &str, sources: &Sources, diagnostic: &Diagnostic) {
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut body = json!({"category": category});
    body["output"] = match diagnostic.span {
        None => format!("{}\n", diagnostic.message).into(),
        Some(span) => {
            let at = sources.position(span);
            let path = &sources.get(span.file).path;
            body["source"] =
                json!({"name": path.file_name().unwrap_or_default().to_string_lossy(), "path": path});
            body["line"] = at.line.into();
            body["column"] = at.column.into();
            format!("{kind}[{}]: {}\n", diagnostic.code, diagnostic.message).into()
        }
    };
    channel.event("output", body);
}
