//! Another adapter serves the client from here on: what each says is passed on to the other.
//!
//! It was not there when the client said hello, so it hears that again, and its answer to it is kept from the client, which
//! has one. Nothing else is changed.

use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use breakroom_wire::Peer;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::ServeError;
use crate::link::Link;
use crate::message::{Message, Request};

pub(crate) struct Relay {
    client: Link,
    other: Link,
    /// The number of what it has to answer before anything is passed on.
    hello: Option<i64>,
    process: Option<Child>,
}

/// An adapter that does not know of its client yet.
pub(crate) struct Other {
    link: Link,
    process: Option<Child>,
}

impl Other {
    pub fn start(command: &[PathBuf]) -> Result<Other, ServeError> {
        let program = command.first().cloned().unwrap_or_default();
        let mut process = Command::new(&program);
        process.args(command.iter().skip(1)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |source| ServeError::Stock { program, source };
        let mut child = match process.spawn() {
            Ok(child) => child,
            Err(error) => return Err(failed(error)),
        };
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                Ok(Other { link: Link::on_streams(stdout.into(), stdin.into()), process: Some(child) })
            }
            _ => Err(failed(io::ErrorKind::BrokenPipe.into())),
        }
    }

    pub fn at(stream: TcpStream) -> io::Result<Other> {
        Ok(Other { link: Link::on_socket(stream, Peer::Adapter)?, process: None })
    }
}

impl Relay {
    /// `hello` and `start` are what the client has said and the other has not heard.
    pub fn new(client: Link, other: Other, hello: &Request, start: &Request) -> Relay {
        let Other { mut link, process } = other;
        link.repeat(hello);
        link.repeat(start);
        Relay { client, other: link, hello: Some(hello.seq), process }
    }

    pub fn run(mut self) -> Result<(), ServeError> {
        let ended = self.pass_all();
        self.other.close();
        if let Some(mut process) = self.process.take() {
            drop(self.other);
            // It ends when its client has gone; what it started ends with it.
            let _ = process.wait();
        }
        ended
    }

    /// Until one of the two has gone and the other has heard everything.
    fn pass_all(&mut self) -> Result<(), ServeError> {
        loop {
            self.pass();
            self.client.flush();
            self.other.flush();
            if !self.other.is_open() {
                self.client.finish();
            }
            if !self.client.is_open() {
                return Ok(());
            }
            self.wait()?;
        }
    }

    fn pass(&mut self) {
        while let Some(message) = self.client.next_bytes() {
            self.other.pass(&message);
        }
        while let Some(message) = self.other.next_bytes() {
            if let Some(hello) = self.hello {
                match Message::read(&message) {
                    Some(Message::Response(response)) if response.request_seq == hello => {
                        self.hello = None;
                        continue;
                    }
                    // What it says of itself before that was said by us already.
                    _ => continue,
                }
            }
            if !is_greeting(&message) {
                self.client.pass(&message);
            }
        }
    }

    fn wait(&mut self) -> Result<(), ServeError> {
        let links = [(&self.client, &self.other), (&self.other, &self.client)];
        let mut asked = Vec::new();
        // Only what is waited for: a stream that is closed would wake us again and again.
        for (at, (link, beyond)) in links.into_iter().enumerate() {
            if link.is_read() && beyond.wants_more() {
                asked.push((Some(at), PollFd::from_borrowed_fd(link.input(), PollFlags::IN)));
            }
            if link.has_unwritten() {
                asked.push((None, PollFd::from_borrowed_fd(link.output(), PollFlags::OUT)));
            }
        }
        let (whose, mut fds): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(ServeError::Wait(error.into())),
        }
        let ready = whose.into_iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
        let ready: Vec<usize> = ready.filter_map(|(whose, _)| whose).collect();
        drop(fds);
        for at in ready {
            let link = if at == 0 { &mut self.client } else { &mut self.other };
            link.read();
        }
        Ok(())
    }
}

/// Whether an adapter says who it is, which the client has heard from us. It may come behind the answer to `initialize`.
fn is_greeting(message: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Output {
        category: Option<String>,
        output: Option<String>,
    }
    let Some(Message::Event(event)) = Message::read(message) else { return false };
    let body = event.body.filter(|_| event.name == "output");
    let said = body.and_then(|body| serde_json::from_str::<Output>(body.get()).ok());
    said.is_some_and(|said| {
        said.category.as_deref() == Some("telemetry")
            && matches!(said.output.as_deref(), Some("ptvsd" | "debugpy"))
    })
}
