//! One connection: the handshake, then the client is the hub's, and the bridge only watches for the session's end.
//!
//! No DAP byte of a session passes through here. The one exception is a client whose handshake was accepted and whom no hub
//! takes: it must still hear why.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use breakroom_hub::{
    ChildIds, Context, Ending, Entry, FixedAdapter, Follow, IfSilent, Link, LinkError, Newcomer, OutputFiles,
    PeerAccess, Purpose, Reading, SessionOptions, WhenAlone, Which, connect_or_start, describe, end,
    read_journal,
};
use breakroom_wire::header;
use serde_json::{Value, json};

use crate::handshake::{self, DEADLINE, ReadError, Request, Response};
use crate::sessions::{Admission, Failed, Refusal, SessionId, State, StateChange};
use crate::{Shared, environment, logs, socket};

/// The member of a configuration that holds the id of a child session.
const CHILD_ID: &str = "__dcp_child_session_id";
/// How long a client that was told of a failure may keep sending.
const CLOSING: Duration = Duration::from_secs(1);
/// Connections that have not finished their handshake. Beyond this a new one is closed.
const MAX_UNAUTHENTICATED: usize = 256;

/// One of the places for connections that have not finished their handshake.
pub struct Permit(Arc<Shared>);

impl Permit {
    pub fn take(shared: &Arc<Shared>) -> Option<Permit> {
        let take = |count| (count < MAX_UNAUTHENTICATED).then_some(count + 1);
        let taken = shared.unauthenticated.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        taken.ok().map(|_| Permit(shared.clone()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let count: &AtomicUsize = &self.0.unauthenticated;
        count.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves one connection to its end.
pub fn serve(shared: &Arc<Shared>, stream: UnixStream, permit: Permit) {
    let Some((request, accepted)) = shake_hands(shared, &stream, permit) else { return };
    let id = SessionId(request.session_id.clone());
    let (record, files) = match accepted {
        Accepted::Session { record, files } => (record, files),
        Accepted::Child { hub_session } => {
            join_child(shared, &id, hub_session, stream);
            return shared.sessions.disconnect_child(&id);
        }
    };
    match run(shared, &id, &request, record, files, stream) {
        Outcome::Ended { exit_code } => {
            shared.sessions.remove(StateChange { exit_code, ..StateChange::new(&id, State::Terminated) });
        }
        Outcome::Failed { exit_code, error } => {
            let error = Some(error);
            shared.sessions.remove(StateChange { exit_code, error, ..StateChange::new(&id, State::Error) });
        }
        Outcome::NotStarted { error } => shared.sessions.disconnect(&id, Failed::Start(error)),
    }
}

/// How a session came to its end.
enum Outcome {
    Ended {
        exit_code: Option<i64>,
    },
    Failed {
        exit_code: Option<i64>,
        error: String,
    },
    /// Its adapter never ran, so a client may connect again.
    NotStarted {
        error: String,
    },
}

/// What the hub needs of an accepted handshake.
enum Accepted {
    Session { record: Value, files: Option<OutputFiles> },
    Child { hub_session: String },
}

/// Answers the handshake. Gives what the hub needs if it was accepted.
fn shake_hands(shared: &Shared, stream: &UnixStream, permit: Permit) -> Option<(Request, Accepted)> {
    let by = Instant::now() + DEADLINE;
    if let Err(error) = socket::check_peer(stream) {
        tracing::warn!("a connection was refused: {error}");
        return None;
    }
    let request = match handshake::read(stream, by) {
        Ok(request) => request,
        Err(ReadError::Lost(error)) => {
            tracing::debug!("a connection ended before its handshake: {error}");
            return None;
        }
        Err(ReadError::Invalid(text)) => {
            handshake::refuse(stream, &text, by);
            return None;
        }
    };
    let accepted = match accept(shared, &request) {
        Ok(accepted) => accepted,
        Err(refusal) => {
            handshake::refuse(stream, &refusal.to_string(), by);
            return None;
        }
    };
    if let Err(error) = handshake::write(stream, &Response::accepted(), by) {
        tracing::debug!("a client left before its handshake was answered: {error}");
        let id = SessionId(request.session_id);
        match accepted {
            Accepted::Session { .. } => shared.sessions.disconnect(&id, Failed::Handshake),
            Accepted::Child { .. } => shared.sessions.disconnect_child(&id),
        }
        return None;
    }
    drop(permit);
    Some((request, accepted))
}

/// Checks a handshake in the protocol's order.
fn accept(shared: &Shared, request: &Request) -> Result<Accepted, Refusal> {
    let id = SessionId(request.session_id.clone());
    let configuration = request.debug_adapter_config.as_ref();
    let announced_in = announced_in(shared, &id)?;
    match shared.sessions.connect(&id, &request.token, configuration.is_some(), announced_in.as_deref())? {
        Admission::Child { hub_session } => return Ok(Accepted::Child { hub_session }),
        Admission::Session => {}
    }
    let accepted = || {
        let configuration = configuration.ok_or(Refusal::ConfigurationRequired)?;
        let record = configuration.record().map_err(Refusal::InvalidConfiguration)?;
        let run = request.run_id.as_deref().filter(|run| !run.is_empty());
        let files = shared.options.logs.as_deref().zip(run).map(|(folder, run)| logs::open(folder, run));
        let files = files.transpose().map_err(Refusal::InvalidRun)?;
        Ok(Accepted::Session { record, files })
    };
    accepted().inspect_err(|_| shared.sessions.disconnect(&id, Failed::Handshake))
}

/// The session of the hub that has a child with this id.
fn announced_in(shared: &Shared, id: &SessionId) -> Result<Option<String>, Refusal> {
    let Some(hub_session) = shared.sessions.hub_session_of_child(id) else { return Ok(None) };
    let described = describe(&hub_session).map_err(|error| Refusal::HubFailed(error.to_string()))?;
    Ok(described.filter(|session| session.may_have_child(&id.0)).map(|_| hub_session))
}

/// Hands the client of a child session to the hub, and waits until the hub lets go of it.
fn join_child(shared: &Shared, id: &SessionId, hub_session: String, stream: UnixStream) {
    let child = Some(id.0.clone());
    let purpose = Purpose::Join { session: Some(hub_session), child, access: PeerAccess::SameUser };
    match hand_over(shared, purpose, None, &stream) {
        Ok(link) => {
            drop(stream);
            link.wait();
        }
        Err(error) => tell_of_failure(&stream, &format!("Failed to connect to debug adapter: {error}")),
    }
}

fn run(
    shared: &Arc<Shared>,
    id: &SessionId,
    request: &Request,
    record: Value,
    files: Option<OutputFiles>,
    stream: UnixStream,
) -> Outcome {
    let purpose =
        Purpose::Start { options: options(shared, id, request, record), access: PeerAccess::SameUser };
    let link = match hand_over(shared, purpose, files, &stream) {
        Ok(link) => link,
        Err(error) => {
            let error = format!("Failed to launch debug adapter: {error}");
            tell_of_failure(&stream, &error);
            return Outcome::NotStarted { error };
        }
    };
    // The hub holds the connection now; a copy here would keep it open after the hub has closed it.
    drop(stream);
    let hub_session = link.session().to_owned();
    let log = read_journal(Some(hub_session.clone()), Follow::UntilTheEnd);
    let stop = log.as_ref().ok().and_then(|log| log.stopper().ok());
    if !shared.sessions.run(id, hub_session.clone(), stop) {
        crate::end_in_hub(shared, id.clone(), hub_session);
    }
    let outcome = watch(log);
    // The hub ends a session whose link is closed.
    drop(link);
    outcome
}

fn options(shared: &Shared, id: &SessionId, request: &Request, record: Value) -> SessionOptions {
    let mut labels = BTreeMap::from([("session".to_owned(), id.0.clone())]);
    labels.extend(request.run_id.clone().map(|run| ("run".to_owned(), run)));
    SessionOptions {
        adapter: Some(FixedAdapter::Record(record)),
        when_alone: WhenAlone::End,
        terminal_host: shared.options.terminal_host,
        child_ids: Some(ChildIds { member: CHILD_ID.to_owned(), session: id.0.clone() }),
        labels,
        ..SessionOptions::default()
    }
}

fn hand_over(
    shared: &Shared,
    purpose: Purpose,
    files: Option<OutputFiles>,
    stream: &UnixStream,
) -> Result<Link, LinkError> {
    let io = |source| LinkError::Io { what: "the connection cannot be used".to_owned(), source };
    let clone = || stream.try_clone().map(Into::into).map_err(io);
    let newcomer = Newcomer { input: clone()?, output: clone()?, control: None, files, purpose };
    let context = environment::without_credentials(Context::of_this_process());
    let hub = connect_or_start(&shared.options.executable)?;
    Link::hand_over(hub, newcomer, &context, IfSilent::Keep)
}

/// Reads the event log of a session until the session and its processes are gone.
fn watch(log: Result<Reading, LinkError>) -> Outcome {
    let mut seen = Seen::default();
    let read = log.and_then(|log| seen.read(log));
    // If the log cannot be read, the hub ended, and with it the session.
    let failure = read.err().map(|error| error.to_string()).or(seen.failure);
    let exit_code = seen.exit_code;
    match failure {
        Some(error) if seen.started => Outcome::Failed { exit_code, error },
        Some(error) => Outcome::NotStarted { error },
        None => Outcome::Ended { exit_code },
    }
}

/// What the event log of a session has said so far.
#[derive(Default)]
struct Seen {
    /// Whether the adapter ran.
    started: bool,
    failure: Option<String>,
    exit_code: Option<i64>,
}

impl Seen {
    fn read(&mut self, mut log: Reading) -> Result<(), LinkError> {
        while let Some(page) = log.next_page()? {
            // A log that is too long to be kept is that of an adapter that ran.
            self.started |= page.missed > 0;
            page.notes.into_iter().for_each(|note| self.note(note.entry));
        }
        Ok(())
    }

    fn note(&mut self, entry: Entry) {
        match entry {
            Entry::EngineUp { .. } => (self.started, self.failure) = (true, None),
            Entry::EngineFailed { reason } => self.failure = Some(reason),
            Entry::EngineEnded { failure: Some(reason), .. } => self.failure = Some(reason),
            Entry::Exited { code } => self.exit_code = Some(code),
            _ => {}
        }
    }
}

/// What the client of a session hears that no hub took: `output`, `terminated`, and the end of the connection.
fn tell_of_failure(mut stream: &UnixStream, error: &str) {
    let events = [
        json!({"seq": 1, "type": "event", "event": "output", "body": {"category": "stderr", "output": format!("{error}\n")}}),
        json!({"seq": 2, "type": "event", "event": "terminated", "body": {}}),
    ];
    for event in events {
        let body = event.to_string();
        let mut framed = Vec::new();
        header::write_content_length(&mut framed, body.len());
        framed.extend_from_slice(body.as_bytes());
        if let Err(error) = stream.write_all(&framed) {
            return tracing::debug!("a client left before it heard of the failure: {error}");
        }
    }
    handshake::close(stream, Instant::now() + CLOSING);
}

/// Ends a session of the hub. If the hub does not do it, the bridge stops waiting for the session.
pub fn end_session(shared: &Shared, id: &SessionId, hub_session: &str) {
    let ending = Ending {
        by: "breakroom bridge".to_owned(),
        reason: Some("the session was ended by the orchestrator (breakroom bridge)".to_owned()),
    };
    let Err(error) = end(Which::One(hub_session.to_owned()), &ending) else { return };
    // A session that has ended by itself in the meantime is reported when its event log is read to the end.
    if !matches!(describe(hub_session), Ok(None)) {
        shared.sessions.give_up(id, hub_session, format!("the session could not be ended: {error}"));
    }
}
