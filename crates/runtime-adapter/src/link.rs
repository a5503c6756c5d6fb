//! The connection to the runtime: requests out with their numbers, messages in on a thread of its own.
//!
//! It knows which requests are open and until when a response is awaited, not what they mean.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use breakroom_remote_runtime::{Command, Incoming as RuntimeMessage, Request};
use breakroom_wire::{Decode, Frame, JsonLines};

use crate::adapter::Incoming;

/// How long connecting may take, and how long the runtime may leave what is sent to it unread.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A longer line is not a message of any runtime: the framing is lost.
const LONGEST_LINE: usize = 64 << 20;
const READ_SIZE: usize = 64 << 10;

pub struct Link<P> {
    stream: TcpStream,
    last_seq: i64,
    open: BTreeMap<i64, (P, Instant)>,
    timeout: Duration,
}

impl<P> Link<P> {
    /// Connects, and sends what comes to `inbox`.
    pub fn connect(
        host: &str,
        port: u16,
        timeout: Duration,
        inbox: &SyncSender<Incoming>,
    ) -> Result<Self, String> {
        let failed = |why: String| format!("cannot connect to the runtime at {host}:{port}: {why}");
        let addresses = (host, port).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
        let mut last = "the name has no address".to_owned();
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => {
                    return Link::over(stream, timeout, inbox).map_err(|error| failed(error.to_string()));
                }
                Err(error) => last = error.to_string(),
            }
        }
        Err(failed(format!("{last}; start the program with its debug server first")))
    }

    fn over(stream: TcpStream, timeout: Duration, inbox: &SyncSender<Incoming>) -> std::io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(CONNECT_TIMEOUT))?;
        let (reader, inbox) = (stream.try_clone()?, inbox.clone());
        std::thread::spawn(move || {
            let ended = read(reader, &inbox);
            let _ = inbox.send(Incoming::RuntimeGone(ended));
        });
        Ok(Link { stream, last_seq: 0, open: BTreeMap::new(), timeout })
    }

    /// Sends a command that is not answered.
    pub fn notify(&mut self, command: &Command) {
        self.last_seq += 1;
        let line = Request::line(self.last_seq, command);
        // A connection that cannot be written to has ended, which its reader reports.
        if self.stream.write_all(line.as_bytes()).is_err() {
            self.close();
        }
    }

    /// Sends a command; `purpose` comes back with its response. The number of the request.
    pub fn request(&mut self, command: &Command, purpose: P) -> i64 {
        self.notify(command);
        self.open.insert(self.last_seq, (purpose, Instant::now() + self.timeout));
        self.last_seq
    }

    pub fn answered(&mut self, seq: i64) -> Option<P> {
        self.open.remove(&seq).map(|(purpose, _)| purpose)
    }

    /// Changes what a request is for, which stays open.
    pub fn repurpose(&mut self, seq: i64, purpose: P) {
        if let Some((old, _)) = self.open.get_mut(&seq) {
            *old = purpose;
        }
    }

    /// When the first open request is given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.open.values().map(|(_, until)| *until).min()
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The requests whose time is over.
    pub fn overdue(&mut self, now: Instant) -> Vec<(i64, P)> {
        let late: Vec<i64> =
            self.open.iter().filter(|(_, (_, until))| *until <= now).map(|(seq, _)| *seq).collect();
        late.into_iter().filter_map(|seq| self.answered(seq).map(|purpose| (seq, purpose))).collect()
    }

    pub fn all_open(&mut self) -> Vec<P> {
        std::mem::take(&mut self.open).into_values().map(|(purpose, _)| purpose).collect()
    }

    pub fn close(&self) {
        // It fails only if the other side has closed it.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl<P> Drop for Link<P> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads until the stream ends; why, if the runtime did not just close it.
fn read(mut stream: TcpStream, inbox: &SyncSender<Incoming>) -> Option<String> {
    let mut decoder = JsonLines::new(LONGEST_LINE);
    loop {
        let spare = decoder.spare();
        let before = spare.len();
        spare.resize(before + READ_SIZE, 0);
        let read = stream.read(&mut spare[before..]);
        spare.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Some(error.to_string()),
        }
        loop {
            match decoder.next() {
                Ok(Some(Frame::Message(line))) => {
                    let message = RuntimeMessage::read(&line);
                    if message != RuntimeMessage::Ignored && inbox.send(Incoming::Runtime(message)).is_err() {
                        return None;
                    }
                }
                Ok(Some(Frame::Junk(_))) => {}
                Ok(None) => break,
                Err(error) => return Some(error.to_string()),
            }
        }
    }
}
