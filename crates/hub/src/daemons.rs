//! All daemons of this user: an old version goes on with its sessions beside a new one.
//!
//! Listing and ending are understood between all versions. Everything else needs the same protocol, and whoever wants
//! more of a session that another version holds is told which one that is and what to do.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use breakroom_engines::folders;

use crate::hello::{self, FirstWords, Lasting, MAX_HELLO, Namespaces, PROTOCOL, Welcome, Which};
use crate::link::{self, LinkError, socket_name};
use crate::mark;
use crate::passing;
use crate::registry::{Summary, pick};

/// A daemon of another version that does not list its sessions in this time is left out.
const OTHERS_PATIENCE: Duration = Duration::from_secs(5);
/// A daemon asks its sessions and lists those that do not answer within two seconds as busy.
const LIST_PATIENCE: Duration = Duration::from_secs(10);
/// Ending may take a while, and so may anything on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon that may be there, by the protocol in its socket's name.
struct Daemon {
    protocol: u32,
    socket: PathBuf,
}

impl Daemon {
    /// Every socket that is named as a daemon's, this version's first.
    fn all() -> Result<Vec<Daemon>, LinkError> {
        let folder = folders::runtime_dir()?;
        let what = || format!("the runtime folder {} cannot be read", folder.display());
        let failed = |source| LinkError::Io { what: what(), source };
        let named = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry.ok()?;
            let protocol = socket_name::read(entry.file_name().to_str()?)?;
            Some(Daemon { protocol, socket: entry.path() })
        };
        let mut all: Vec<Daemon> = std::fs::read_dir(&folder).map_err(failed)?.filter_map(named).collect();
        if !all.iter().any(Daemon::is_ours) && mark::running(PROTOCOL).is_some() {
            // Its socket was removed, and it will make it again.
            all.push(Daemon { protocol: PROTOCOL, socket: folder.join(socket_name::write(PROTOCOL)) });
        }
        all.sort_by_key(|daemon| (daemon.protocol != PROTOCOL, daemon.protocol));
        Ok(all)
    }

    fn is_ours(&self) -> bool {
        self.protocol == PROTOCOL
    }

    /// What it answers; nothing if nobody is there. Of another version nothing is expected, so that its trouble is not
    /// this one's.
    fn list(&self) -> Result<Vec<Summary>, LinkError> {
        self.ask(Lasting::List, None)
    }

    /// The same of those that it ends.
    fn end(&self, which: Which, ending: &Ending) -> Result<Vec<Summary>, LinkError> {
        self.ask(Lasting::End(which), Some(ending))
    }

    fn ask(&self, lasting: Lasting, ending: Option<&Ending>) -> Result<Vec<Summary>, LinkError> {
        let reached = link::reach(&self.socket, self.protocol);
        let answered = match reached {
            Ok(None) => return Ok(Vec::new()),
            Ok(Some(stream)) => self.converse(&stream, lasting, ending),
            Err(error) => Err(error),
        };
        match answered {
            Ok(sessions) => Ok(sessions),
            Err(error) if self.is_ours() => Err(error),
            Err(error) => {
                tracing::warn!("the hub at {} was left out: {error}", self.socket.display());
                Ok(Vec::new())
            }
        }
    }

    fn converse(
        &self,
        stream: &UnixStream,
        lasting: Lasting,
        ending: Option<&Ending>,
    ) -> Result<Vec<Summary>, LinkError> {
        let failed = |source| LinkError::Io { what: "the hub did not answer".to_owned(), source };
        let patience = match lasting {
            Lasting::List if !self.is_ours() => OTHERS_PATIENCE,
            Lasting::List => LIST_PATIENCE,
            Lasting::End(_) => PATIENCE,
        };
        let opening = FirstWords {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            namespaces: Some(Namespaces::of_this_process()),
            purpose: serde_json::to_value(lasting).unwrap_or_default(),
            by: ending.map(|ending| ending.by.clone()),
            reason: ending.and_then(|ending| ending.reason.clone()),
        };
        let frame =
            hello::frame(&hello::to_json(&opening)).map_err(|error| failed(io::Error::other(error)))?;
        stream.set_read_timeout(Some(patience)).map_err(failed)?;
        passing::send(stream, &frame, &[]).map_err(failed)?;
        link::wait_for_answer(stream, self.protocol, patience)?;
        let answer = passing::receive_frame(stream, MAX_HELLO).map_err(failed)?;
        match serde_json::from_slice(&answer) {
            Ok(Welcome::Sessions(sessions)) => Ok(self.signed(sessions)),
            Ok(Welcome::Refused(reason)) => Err(LinkError::Refused(reason)),
            Ok(Welcome::Come { .. } | Welcome::OtherWorld) => Ok(Vec::new()),
            Err(error) => Err(LinkError::Unclear(format!("cannot be read: {error}"))),
        }
    }

    /// Only what another version holds has a version to tell.
    fn signed(&self, mut sessions: Vec<Summary>) -> Vec<Summary> {
        for session in &mut sessions {
            session.version = match self.is_ours() {
                true => None,
                false => {
                    Some(session.version.take().unwrap_or_else(|| format!("of protocol {}", self.protocol)))
                }
            };
        }
        sessions
    }
}

/// The live sessions. Nobody starts a hub to hear that it has none.
pub fn list() -> Result<Vec<Summary>, LinkError> {
    let asked = Daemon::all()?.iter().map(Daemon::list).collect::<Result<Vec<_>, _>>()?;
    Ok(asked.into_iter().flatten().collect())
}

/// A session that this version's hub holds, by its id. None if there is none, or no hub.
pub fn describe(id: &str) -> Result<Option<Summary>, LinkError> {
    let daemon = Daemon { protocol: PROTOCOL, socket: link::socket_path()? };
    Ok(daemon.list()?.into_iter().find(|session| session.id.0 == id))
}

/// Who ends sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The name of the user or tool.
    pub by: String,
    /// What the clients are told, if not that `breakroom kill` was used.
    pub reason: Option<String>,
}

/// Ends sessions and says which. They are gone when this returns, and whoever was in one knows by whom it was ended.
pub fn end(which: Which, ending: &Ending) -> Result<Vec<Summary>, LinkError> {
    let daemons = Daemon::all()?;
    let Which::One(wanted) = which else {
        let ended = daemons.iter().map(|daemon| daemon.end(Which::All, ending));
        return Ok(ended.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect());
    };
    let mut held = Vec::new();
    for daemon in &daemons {
        held.extend(daemon.list()?.into_iter().map(|session| (daemon, session)));
    }
    let sessions: Vec<Summary> = held.iter().map(|(_, session)| session.clone()).collect();
    let id = pick(&sessions, Some(&wanted)).map_err(LinkError::Refused)?.id.clone();
    let holder = held.iter().find(|(_, session)| session.id == id);
    holder.map_or(Ok(Vec::new()), |(daemon, _)| daemon.end(Which::One(id.0.clone()), ending))
}

/// The session to ask this version's daemon for. Refused if another version holds it. Without one that runs, the daemon
/// itself finds out what is meant.
pub fn locate(wanted: Option<String>) -> Result<Option<String>, LinkError> {
    let daemons = Daemon::all()?;
    let mut others = Vec::new();
    for daemon in daemons.iter().filter(|daemon| !daemon.is_ours()) {
        others.extend(daemon.list()?);
    }
    if others.is_empty() {
        return Ok(wanted);
    }
    let mut all = Vec::new();
    for daemon in daemons.iter().filter(|daemon| daemon.is_ours()) {
        all.extend(daemon.list()?);
    }
    all.extend(others);
    match pick(&all, wanted.as_deref()) {
        Ok(session) => match other_version(session) {
            Some(reason) => Err(LinkError::OtherVersion(reason)),
            None => Ok(Some(session.id.0.clone())),
        },
        Err(reason) => Err(LinkError::Refused(reason)),
    }
}

/// Why a session cannot be joined although it is there: another version holds it.
pub(crate) fn held_elsewhere(wanted: &str) -> Option<String> {
    let others = Daemon::all().ok()?.into_iter().filter(|daemon| !daemon.is_ours());
    let sessions: Vec<Summary> = others.filter_map(|daemon| daemon.list().ok()).flatten().collect();
    pick(&sessions, Some(wanted)).ok().and_then(other_version)
}

fn other_version(session: &Summary) -> Option<String> {
    let Summary { id, name, version, .. } = session;
    let version = version.as_ref()?;
    let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
    let this = env!("CARGO_PKG_VERSION");
    Some(format!(
        "the session {id}{name} is held by a hub of breakroom {version}, and this is {this}, which speaks another protocol with its hub. Join it with breakroom {version}, or end it with `breakroom kill {id}` and start it again"
    ))
}
