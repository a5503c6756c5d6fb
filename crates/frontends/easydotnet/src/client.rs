//! One JSON-RPC client: reads its messages, carries out each call on a thread of its own, and cleans up when it leaves.
//!
//! What the methods do is in the modules that the table in `methods` names.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakroom_wire::{ContentLength, Decode, Frame, Peer as Side};
use serde_json::Value;
use tokio::sync::watch;

use crate::message::{self, Incoming, RpcError, code};
use crate::methods;
use crate::peer::Peer;
use crate::sessions::Sessions;
use crate::{Options, Shared};

/// A larger message ends the connection.
const MAX_MESSAGE: usize = 16 << 20;
/// Calls of one client that are carried out at the same time. Beyond this a call fails.
const MAX_CALLS: usize = 256;

/// What a client said about itself in `initialize`.
#[derive(Debug, Clone, Default)]
pub struct Project {
    pub root: Option<PathBuf>,
    pub solution: Option<PathBuf>,
    /// The .NET debugger that the user configured.
    pub debugger: Option<PathBuf>,
}

pub struct Client {
    pub peer: Peer,
    pub sessions: Sessions,
    pub shared: Arc<Shared>,
    project: Mutex<Project>,
    streams: Mutex<Streams>,
    calls: AtomicUsize,
    /// What the user chose before, by the root of the project.
    chosen: Mutex<HashMap<PathBuf, PathBuf>>,
    /// The hub's sessions that were offered to it.
    offered: Mutex<BTreeSet<String>>,
}

/// Results that the client fetches in parts.
#[derive(Debug, Default)]
struct Streams {
    open: HashMap<i64, Vec<Value>>,
    last: i64,
}

/// One call of the client.
pub struct Call {
    pub client: Arc<Client>,
    pub cancelled: watch::Receiver<bool>,
}

impl Call {
    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }
}

impl Client {
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    pub fn project(&self) -> MutexGuard<'_, Project> {
        self.project.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn offered(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn chosen_target(&self, root: &Path) -> Option<PathBuf> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner).get(root).cloned()
    }

    pub fn choose_target(&self, root: &Path, target: &Path) {
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        chosen.insert(root.to_path_buf(), target.to_path_buf());
    }

    /// Keeps values for the client to fetch, under the token that is returned.
    pub fn open_stream(&self, values: Vec<Value>) -> i64 {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.last += 1;
        let token = streams.last;
        streams.open.insert(token, values);
        token
    }

    pub fn take_stream(&self, token: i64) -> Option<Vec<Value>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).open.remove(&token)
    }

    fn receive(self: &Arc<Self>, body: &[u8]) {
        match message::read(body) {
            Ok(Incoming::Request { id, method, params }) => self.begin(id, method, params),
            Ok(Incoming::Notification { method, params }) => match method.as_str() {
                "$/cancelRequest" => self.peer.cancel(&params["id"]),
                _ => tracing::debug!("the notification {method} is not used"),
            },
            Ok(Incoming::Response { id, outcome }) => self.peer.answered(&id, outcome),
            Err(refusal) => self.peer.send(&refusal),
        }
    }

    fn begin(self: &Arc<Self>, id: Value, method: String, params: Value) {
        if self.calls.fetch_add(1, Ordering::SeqCst) >= MAX_CALLS {
            self.calls.fetch_sub(1, Ordering::SeqCst);
            let text =
                format!("{MAX_CALLS} calls are carried out already; call again when one of them has ended");
            return self.peer.send(&message::response(&id, Err(RpcError::failed(text))));
        }
        let cancelled = self.peer.begin(&id);
        let client = self.clone();
        let is_immediate = methods::is_immediate(&method);
        let perform = move || {
            let call = Call { client: client.clone(), cancelled: cancelled.clone() };
            let outcome = methods::perform(&call, &method, params);
            let outcome = match outcome {
                Err(_) if *cancelled.borrow() => {
                    Err(RpcError::new(code::CANCELLED, "the call was cancelled"))
                }
                outcome => outcome,
            };
            client.peer.finish(&id);
            client.calls.fetch_sub(1, Ordering::SeqCst);
            client.peer.send(&message::response(&id, outcome));
        };
        match is_immediate {
            true => perform(),
            false => drop(std::thread::spawn(perform)),
        }
    }
}

/// Serves one client to its end.
pub fn serve(shared: &Arc<Shared>, stream: UnixStream) -> io::Result<()> {
    let client = Arc::new(Client {
        peer: Peer::new(stream.try_clone()?)?,
        sessions: Sessions::default(),
        shared: shared.clone(),
        project: Mutex::default(),
        streams: Mutex::default(),
        calls: AtomicUsize::new(0),
        chosen: Mutex::default(),
        offered: Mutex::default(),
    });
    shared.add(&client);
    let read = read(&client, &stream);
    client.peer.close();
    client.sessions.close();
    shared.remove(&client);
    read
}

fn read(client: &Arc<Client>, stream: &UnixStream) -> io::Result<()> {
    let mut decoder = ContentLength::new(Side::Client, MAX_MESSAGE);
    loop {
        while let Some(frame) = decoder.next().map_err(io::Error::other)? {
            match frame {
                Frame::Message(body) => client.receive(&body),
                Frame::Junk(_) => return Err(io::Error::other("the client's messages have no header")),
            }
        }
        let spare = rustix::buffer::spare_capacity(decoder.spare());
        match rustix::io::read(stream, spare) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
