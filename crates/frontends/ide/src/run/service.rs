//! One run session: the hub's session in which a service is debugged, and what the orchestrator is told of it.
//!
//! It is a debug client that nobody sits at. It starts the program and follows it; editors and agents join the session.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use breakroom_client::{Client, Event, Happening, Interrupter, Request};
use breakroom_hub::{
    Context, FixedAdapter, IfSilent, Link, LinkError, Newcomer, PeerAccess, Purpose, SessionOptions,
    WhenAlone, connect_or_start,
};
use breakroom_ide_protocol::Change;
use serde_json::{Value, json};

use super::configurations::Launch;
use super::lines::Lines;
use super::runner::{Options, StartWhen};
use crate::run::{Notify, Run, RunId};

/// What others in the session see.
const NAME: &str = "breakroom ide";
/// How much of what came on stderr before the program ran is kept for the report of a failed start.
const MOST_STDERR: usize = 4096;

pub struct Service {
    pub id: RunId,
    pub launch: Launch,
    pub adapter: FixedAdapter,
    /// Whether the program's output is sent to the orchestrator.
    pub logs: bool,
    pub context: Context,
    pub options: Arc<Options>,
    pub notify: Notify,
}

/// Ends a service that runs on its own thread.
struct Running(Interrupter);

impl Run for Running {
    fn stop(&self) {
        self.0.leave();
    }
}

/// Runs a service on a thread of its own.
pub fn start(service: Service) -> Box<dyn Run> {
    let client = Client::unconnected();
    let running = Running(client.interrupter());
    let notify = service.notify.clone();
    let spawned = std::thread::Builder::new().name("run".to_owned()).spawn(move || service.run(client));
    if let Err(error) = spawned {
        end_with(&notify, &Failure::NotStarted(format!("no thread can be started: {error}")));
    }
    Box::new(running)
}

/// Why a service could not be debugged to its end.
#[derive(Debug)]
enum Failure {
    NotStarted(String),
    Lost(String),
}

impl Failure {
    fn code(&self) -> &'static str {
        match self {
            Failure::NotStarted(_) => "DebugSessionStartFailed",
            Failure::Lost(_) => "DebugSessionLost",
        }
    }

    fn text(&self) -> &str {
        match self {
            Failure::NotStarted(text) | Failure::Lost(text) => text,
        }
    }
}

fn end_with(notify: &Notify, failure: &Failure) {
    notify.send(Change::error(failure.code(), failure.text()));
    notify.send(Change::terminated(None));
}

/// What is known of the program so far.
#[derive(Default)]
struct Progress {
    stdout: Lines,
    stderr: Lines,
    /// What came on stderr, for the case that it says why nothing runs.
    early_stderr: String,
    /// How the adapter failed, in the hub's words.
    adapter_failure: Option<String>,
    has_started: bool,
    exit_code: Option<i64>,
}

impl Service {
    fn run(self, mut client: Client) {
        let mut progress = Progress::default();
        let ended = self.debug(&mut client, &mut progress);
        if self.logs {
            let rest = [(false, progress.stdout.rest()), (true, progress.stderr.rest())];
            for (is_std_err, line) in rest {
                line.into_iter().for_each(|line| self.notify.send(Change::log_line(is_std_err, &line)));
            }
        }
        match ended {
            Ok(()) => self.notify.send(Change::terminated(progress.exit_code)),
            Err(failure) => {
                self.announce(failure.text());
                end_with(&self.notify, &failure);
            }
        }
    }

    fn debug(&self, client: &mut Client, progress: &mut Progress) -> Result<(), Failure> {
        let not_started = |error: &dyn std::fmt::Display| Failure::NotStarted(error.to_string());
        let (stream, theirs) = UnixStream::pair().map_err(|error| not_started(&error))?;
        let link = self.hand_over(theirs).map_err(|error| not_started(&error))?;
        let reader = stream.try_clone().map_err(|error| not_started(&error))?;
        client.connect(reader, stream);
        let mut is_ready = false;
        let started = self.start(client, link.session(), &mut is_ready);
        if started.is_ok() {
            if is_ready && !self.launch.reports_process {
                progress.has_started = true;
                self.notify.send(Change::ProcessRestarted { pid: None });
            }
            self.follow(client, progress);
        }
        self.leave(client, progress);
        let failure = link.wait().or_else(|| progress.adapter_failure.take());
        match (started, failure) {
            (Err(Stopped::ByOrder), _) | (Ok(()) | Err(Stopped::Over), None) => Ok(()),
            (Err(Stopped::Failed(error)), failure) => {
                let text = failure.unwrap_or(error);
                Err(Failure::NotStarted(format!("{text}\n{}", progress.early_stderr).trim_end().to_owned()))
            }
            (Ok(()) | Err(Stopped::Over), Some(failure)) => Err(match progress.has_started {
                true => Failure::Lost(failure),
                false => Failure::NotStarted(failure),
            }),
        }
    }

    fn hand_over(&self, stream: UnixStream) -> Result<Link, LinkError> {
        let io =
            |source: io::Error| LinkError::Io { what: "the connection cannot be used".to_owned(), source };
        let output = stream.try_clone().map_err(io)?;
        let options = SessionOptions {
            adapter: Some(self.adapter.clone()),
            when_alone: WhenAlone::End,
            labels: BTreeMap::from([("run".to_owned(), self.id.0.clone())]),
            ..SessionOptions::default()
        };
        let purpose = Purpose::Start { options, access: PeerAccess::SameUser };
        let newcomer =
            Newcomer { input: stream.into(), output: output.into(), control: None, files: None, purpose };
        let hub = connect_or_start(&self.options.executable)?;
        Link::hand_over(hub, newcomer, &self.context, IfSilent::ShutDown)
    }

    fn start(&self, client: &mut Client, session: &str, is_ready: &mut bool) -> Result<(), Stopped> {
        let mut launch = self.launch.arguments.clone();
        let name = format!("{} {}", self.id, self.launch.name);
        launch.insert("breakroom".to_owned(), json!({"name": name, "events": true, "unattended": true}));
        let kind = launch.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        // A stop at an exception would be seen by no one. Clients that join choose their own filters.
        client.choose_filters(Vec::new());
        client.initialize(&kind, NAME)?;
        let is_stopped = |client: &mut Client| match take_leave(client) {
            true => Err(Stopped::ByOrder),
            false => Ok(()),
        };
        client.start_watched(Request::Launch, launch.into(), is_stopped, |client| {
            *is_ready = true;
            // Not before: a client that attaches to a session without a program would have to bring one.
            self.announce(&format!("join it with `breakroom attach {session}`"));
            match self.options.start {
                StartWhen::AtOnce => Ok(()),
                StartWhen::Configured => wait_for_configured(client),
            }
        })
    }

    /// Tells the user something about the service.
    fn announce(&self, text: &str) {
        (self.options.announce)(&format!("{} {}: {text}", self.id, self.launch.name));
    }

    /// Tells the orchestrator what happens until the program has ended, or is to end.
    fn follow(&self, client: &mut Client, progress: &mut Progress) {
        loop {
            match client.next_happening() {
                Happening::Event(event) if event.name == "terminated" => return,
                Happening::Event(event) => self.on_event(&event, progress),
                Happening::Leave | Happening::Disconnected { .. } => return,
                Happening::Interrupt | Happening::Typed(_) | Happening::Answered(_) => {}
            }
        }
    }

    /// Ends the session, and hears it out.
    fn leave(&self, client: &mut Client, progress: &mut Progress) {
        // For all clients: some stay after the program's end. If it cannot be sent, the session has ended.
        let _ = client.send("disconnect", json!({"terminateDebuggee": true}));
        loop {
            match client.next_happening() {
                Happening::Event(event) => self.on_event(&event, progress),
                Happening::Disconnected { .. } => return,
                Happening::Leave | Happening::Interrupt | Happening::Typed(_) | Happening::Answered(_) => {}
            }
        }
    }

    fn on_event(&self, event: &Event, progress: &mut Progress) {
        match &*event.name {
            "output" => self.on_output(&event.body, progress),
            // A process that the program has started is attached to.
            "process" if event.body["startMethod"].as_str().is_some_and(|method| method != "launch") => {}
            "process" => {
                progress.has_started = true;
                progress.exit_code = None;
                let pid = event.body["systemProcessId"].as_u64().and_then(|pid| u32::try_from(pid).ok());
                self.notify.send(Change::ProcessRestarted { pid });
            }
            "exited" => progress.exit_code = event.body["exitCode"].as_i64(),
            _ => {}
        }
    }

    fn on_output(&self, body: &Value, progress: &mut Progress) {
        let text = body["output"].as_str().unwrap_or_default();
        if let Some(failure) = body["data"]["engineEnded"].as_str() {
            progress.adapter_failure = Some(failure.to_owned());
        }
        let (is_std_err, lines) = match body["category"].as_str() {
            Some("stdout") => (false, &mut progress.stdout),
            Some("stderr") => (true, &mut progress.stderr),
            // The debugger's own words.
            _ => return,
        };
        if is_std_err && !progress.has_started {
            keep_end(&mut progress.early_stderr, text);
        }
        if self.logs {
            for line in lines.push(text) {
                self.notify.send(Change::log_line(is_std_err, &line));
            }
        }
    }
}

/// Adds to a text of which only the end is kept.
fn keep_end(kept: &mut String, text: &str) {
    kept.push_str(text);
    let surplus = kept.len().saturating_sub(MOST_STDERR);
    let cut = (surplus..=kept.len()).find(|at| kept.is_char_boundary(*at)).unwrap_or_default();
    kept.drain(..cut);
}

/// Whether the service is to end.
fn take_leave(client: &mut Client) -> bool {
    client.take(|happening| matches!(happening, Happening::Leave)).is_some()
}

/// Why a service was not started.
enum Stopped {
    ByOrder,
    /// The session ended while the program was held.
    Over,
    Failed(String),
}

impl From<breakroom_client::Error> for Stopped {
    fn from(error: breakroom_client::Error) -> Self {
        match error {
            breakroom_client::Error::Left { .. } => Stopped::ByOrder,
            other => Stopped::Failed(other.to_string()),
        }
    }
}

/// Holds the program until another client is configured.
fn wait_for_configured(client: &mut Client) -> Result<(), Stopped> {
    let is_configured = |happening: &Happening| match happening {
        Happening::Event(event) => {
            event.name == "breakroom/activity" && event.body["deed"] == "is configured"
        }
        _ => false,
    };
    loop {
        if client.take(is_configured).is_some() {
            return Ok(());
        }
        if take_leave(client) {
            return Err(Stopped::ByOrder);
        }
        if client.take(|happening| happening.is_event("terminated")).is_some() {
            return Err(Stopped::Over);
        }
        client.receive(None, "a client that joins", std::time::Duration::MAX)?;
    }
}
