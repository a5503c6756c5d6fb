//! One debug connection: the hub takes it over, and the front end follows the session's event log to its end.
//!
//! No DAP byte of a session passes through here. The one exception is a client that no hub takes: it still receives why.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

use breakroom_hub::{
    Context, Ending, Entry, FixedAdapter, Follow, IfSilent, Link, LinkError, Newcomer, PeerAccess, Purpose,
    SessionOptions, WhenAlone, Which, connect_or_start, end, read_journal,
};
use serde_json::{Value, json};

use crate::message::framed;
use crate::targets::Prepared;

/// Which sessions were begun here.
pub const LABEL: &str = "easydotnet";
/// Who ended a session, for those in it.
const ENDED_BY: &str = "breakroom easydotnet";

/// What becomes of a session, in this order. Only `Ended` always comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The hub has the connection.
    Connected {
        hub_session: String,
    },
    /// The adapter accepted the request that starts the program.
    Started,
    /// The program could not be started or its debugger failed.
    Failed(String),
    Ended,
}

/// What a debug connection is for.
#[derive(Debug)]
pub enum Debuggee {
    /// A program that is started for it.
    Program(Prepared),
    /// A session of the hub that it joins.
    Live { hub_session: String, name: String },
}

impl Debuggee {
    pub fn name(&self) -> &str {
        match self {
            Debuggee::Program(prepared) => &prepared.name,
            Debuggee::Live { name, .. } => name,
        }
    }

    pub fn is_live(&self) -> bool {
        matches!(self, Debuggee::Live { .. })
    }
}

/// Serves one debug connection to its end.
pub fn serve(executable: &Path, stream: TcpStream, debuggee: Debuggee, mut on_step: impl FnMut(Step)) {
    let name = debuggee.name().to_owned();
    match hand_over(executable, &stream, debuggee) {
        Ok(link) => {
            // The hub holds the connection now; a copy here would keep it open after the hub has closed it.
            drop(stream);
            let hub_session = link.session().to_owned();
            on_step(Step::Connected { hub_session: hub_session.clone() });
            let mut log = Log { on_step: &mut on_step, started: false, failed: false };
            if let Err(error) = log.follow(hub_session) {
                log.fail(error.to_string());
            }
            drop(link);
        }
        Err(error) => {
            let error = format!("cannot debug {name}: {error}");
            tell_of_failure(&stream, &error);
            on_step(Step::Failed(error));
        }
    }
    on_step(Step::Ended);
}

/// Ends a session of the hub, and returns when it is gone.
pub fn end_session(hub_session: &str) {
    let reason = Some(format!("the session was ended by the editor ({ENDED_BY})"));
    let ending = Ending { by: ENDED_BY.to_owned(), reason };
    if let Err(error) = end(Which::One(hub_session.to_owned()), &ending) {
        tracing::warn!("a session could not be ended: {error}");
    }
}

fn hand_over(executable: &Path, stream: &TcpStream, debuggee: Debuggee) -> Result<Link, LinkError> {
    let io = |source| LinkError::Io { what: "the connection cannot be used".to_owned(), source };
    let clone = || stream.try_clone().map(Into::into).map_err(io);
    let access = PeerAccess::SameUser;
    let (purpose, context) = match debuggee {
        Debuggee::Program(prepared) => {
            let options = SessionOptions {
                adapter: Some(FixedAdapter::Type(prepared.adapter)),
                start: Some(prepared.start),
                // The plugin answers `terminateDebugSession` by closing its debug connection.
                when_alone: WhenAlone::End,
                labels: BTreeMap::from([(LABEL.to_owned(), prepared.name)]),
                ..SessionOptions::default()
            };
            (Purpose::Start { options, access }, prepared.context)
        }
        Debuggee::Live { hub_session, .. } => {
            let session = Some(hub_session);
            (Purpose::Join { session, child: None, access }, Context::of_this_process())
        }
    };
    let newcomer = Newcomer { input: clone()?, output: clone()?, control: None, files: None, purpose };
    Link::hand_over(connect_or_start(executable)?, newcomer, &context, IfSilent::Keep)
}

/// The event log of a session, read until the session and its processes are gone.
struct Log<'a> {
    on_step: &'a mut dyn FnMut(Step),
    started: bool,
    failed: bool,
}

impl Log<'_> {
    fn follow(&mut self, hub_session: String) -> Result<(), LinkError> {
        let mut log = read_journal(Some(hub_session), Follow::UntilTheEnd)?;
        while let Some(page) = log.next_page()? {
            // A log that is too long to be kept is that of a program that ran.
            if page.missed > 0 {
                self.start();
            }
            page.notes.into_iter().for_each(|note| self.note(note.entry));
        }
        Ok(())
    }

    fn note(&mut self, entry: Entry) {
        match entry {
            Entry::StartAccepted => self.start(),
            Entry::StartRefused { reason } | Entry::EngineFailed { reason } => self.fail(reason),
            Entry::EngineEnded { failure: Some(reason), .. } => self.fail(reason),
            _ => {}
        }
    }

    fn start(&mut self) {
        if !self.started {
            self.started = true;
            (self.on_step)(Step::Started);
        }
    }

    /// The first failure is the cause of the others.
    fn fail(&mut self, reason: String) {
        if !self.failed {
            self.failed = true;
            (self.on_step)(Step::Failed(reason));
        }
    }
}

/// What a client receives that no hub took: `output`, `terminated`, and the end of the connection.
fn tell_of_failure(mut stream: &TcpStream, error: &str) {
    let event = |seq: i64, name: &str, body: Value| {
        framed(&json!({"seq": seq, "type": "event", "event": name, "body": body}))
    };
    let output = event(1, "output", json!({"category": "stderr", "output": format!("{error}\n")}));
    let written =
        stream.write_all(&output).and_then(|()| stream.write_all(&event(2, "terminated", json!({}))));
    if let Err(error) = written {
        tracing::debug!("a client left before it received the failure: {error}");
    }
}
