//! The first words on a connection to the hub, and the last.
//!
//! A door says who it is and where it stands; then the connection only exists: its end is the client's loss.
//! Folder and environment travel as raw bytes, since neither has to be UTF-8.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use breakroom_engines::Context;
use breakroom_session::{ChildIds, GivenStart, TerminalHost, WhenAlone};
use breakroom_wire::{FrameError, header};
use serde::{Deserialize, Serialize};

use crate::journal::Follow;
use crate::registry::Summary;

/// Hub and door of different majors share nothing but [`Lasting`]: the number is in the socket's name.
pub const PROTOCOL: u32 = 1;
/// An environment is at most a few megabytes.
pub(crate) const MAX_HELLO: usize = 16 << 20;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub version: String,
    pub umask: u32,
    pub namespaces: Namespaces,
    pub purpose: Purpose,
}

/// How every hello begins, in every version: the names of these members never change, nor those of [`Lasting`], of
/// [`Summary`] (members may be added) and of the welcomes `sessions` and `refused`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FirstWords {
    pub protocol: u32,
    #[serde(default)]
    pub version: String,
    pub namespaces: Option<Namespaces>,
    #[serde(default)]
    pub purpose: serde_json::Value,
    /// Who asks, for those whom it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What the clients of a session that is ended are told. Otherwise the hub makes it up from `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What every version understands from every other. It is the whole hello: nothing follows its opening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lasting {
    /// What `breakroom ls` asks.
    List,
    /// What `breakroom kill` asks; answered when they are gone.
    End(Which),
}

/// What a connection to the hub is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A client that gets a session of its own.
    Start {
        #[serde(default)]
        options: SessionOptions,
        access: PeerAccess,
    },
    /// A client for a live session: by id or name, or the only one.
    Join {
        session: Option<String>,
        /// The child session that the client is for, by the id that `SessionOptions::child_ids` gives it.
        #[serde(default)]
        child: Option<String>,
        access: PeerAccess,
    },
    /// What `breakroom log` asks.
    Read { session: Option<String>, follow: Follow },
}

/// What a front end fixes for a session before its client says anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionOptions {
    pub adapter: Option<FixedAdapter>,
    /// What starts the debuggee, whatever the first client sends.
    pub start: Option<GivenStart>,
    pub when_alone: WhenAlone,
    pub terminal_host: TerminalHost,
    /// How children are named to clients that open sessions for them.
    pub child_ids: Option<ChildIds>,
    /// What the session is called elsewhere. Lists show it.
    pub labels: BTreeMap<String, String>,
}

/// An adapter that a front end fixes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixedAdapter {
    /// By a name of the catalog.
    Type(String),
    /// By a record, as in `"breakroom": {"adapter": ...}`. It is started when the client comes, and gets the client's
    /// `launch` or `attach` as it came.
    Record(serde_json::Value),
}

impl SessionOptions {
    /// A session whose adapter the command line may name.
    pub fn with_type(name: Option<String>) -> Self {
        SessionOptions { adapter: name.map(FixedAdapter::Type), ..SessionOptions::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    All,
    One(String),
}

/// What a path and a port mean to the caller. In another mount or network namespace they mean something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Namespaces {
    pub mount: u64,
    pub network: u64,
}

impl Namespaces {
    pub fn of_this_process() -> Self {
        let inode =
            |name: &str| std::fs::metadata(format!("/proc/self/ns/{name}")).map_or(0, |file| file.ino());
        Namespaces { mount: inode("mnt"), network: inode("net") }
    }
}

/// What the door knows about who is at the other end of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerAccess {
    SameUser,
    NeedsToken,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Welcome {
    /// The id of the session.
    Come {
        session: String,
    },
    /// The caller sees other files or ports than the hub does and must run a hub of its own.
    OtherWorld,
    Refused(String),
    Sessions(Vec<Summary>),
}

/// What the hub says when it lets go of a client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Farewell {
    /// Absent if the client itself wanted to go.
    pub reason: Option<String>,
}

pub(crate) fn farewell(reason: Option<&str>) -> Result<Vec<u8>, FrameError> {
    frame(&to_json(&Farewell { reason: reason.map(str::to_owned) }))
}

/// Tells a door that its client is in the session's hands.
pub(crate) fn come(mut door: &UnixStream, session: &str) -> io::Result<()> {
    let welcome = Welcome::Come { session: session.to_owned() };
    door.write_all(&frame(&to_json(&welcome)).map_err(io::Error::other)?)
}

pub(crate) fn to_json(value: &impl Serialize) -> Vec<u8> {
    // Plain structs of strings and numbers cannot fail to serialize; an empty frame is refused by the reader.
    serde_json::to_vec(value).unwrap_or_default()
}

pub(crate) fn frame(bytes: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut framed = header::length_prefix(bytes.len())?.to_vec();
    framed.extend_from_slice(bytes);
    Ok(framed)
}

/// The caller's folder and environment, separated by the one byte neither can hold.
pub(crate) fn surroundings(context: &Context) -> Vec<u8> {
    let mut block = context.cwd.as_os_str().as_bytes().to_vec();
    for (name, value) in &context.env {
        block.push(0);
        block.extend_from_slice(name.as_bytes());
        block.push(b'=');
        block.extend_from_slice(value.as_bytes());
    }
    block
}

pub(crate) fn context(block: &[u8], umask: u32) -> Context {
    let mut parts = block.split(|byte| *byte == 0);
    let cwd = PathBuf::from(OsString::from_vec(parts.next().unwrap_or_default().to_vec()));
    let env = parts.filter_map(|pair| {
        // A name may begin with `=`, but not be empty.
        let equals = pair.iter().skip(1).position(|byte| *byte == b'=')? + 1;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&pair[..equals]), text(&pair[equals + 1..])))
    });
    Context { cwd, env: env.collect(), umask }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_survive_whatever_bytes_they_have() {
        let odd = OsString::from_vec(vec![0xff, b'=', b'\n', 0xfe]);
        let context_before = Context {
            cwd: PathBuf::from(OsString::from_vec(b"/\xffodd".to_vec())),
            env: vec![("A".into(), odd), ("EMPTY".into(), "".into())],
            umask: 0o27,
        };
        let after = context(&surroundings(&context_before), 0o27);
        assert_eq!(after.cwd, context_before.cwd);
        assert_eq!(after.env, context_before.env);
    }
}
