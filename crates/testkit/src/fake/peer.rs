//! The fake adapter's connection: where it is, how messages are numbered, and when they are flushed.
//!
//! Output is flushed when every request that was read is answered, as fast adapters do. A peer that is gone is no error: the adapter
//! goes on until its input ends.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use breakroom_wire::{Frame, header};
use rustix::io::fcntl_dupfd_cloexec;
use serde_json::{Value, json};

use crate::frames::FrameReader;

const OUTPUT_BUFFER: usize = 256 << 10;

pub enum Place {
    Stdio,
    Listen(u16),
    Connect(u16),
    Socket(PathBuf),
}

#[derive(Clone, Copy)]
pub enum Numbering {
    Normal,
    Zero,
    Missing,
}

impl Numbering {
    pub fn parse(text: &str) -> Result<Numbering, String> {
        match text {
            "normal" => Ok(Numbering::Normal),
            "zero" => Ok(Numbering::Zero),
            "missing" => Ok(Numbering::Missing),
            _ => Err(format!("--seq is normal, zero or missing, not {text:?}")),
        }
    }
}

pub struct Peer {
    reader: FrameReader,
    /// None once closed.
    out: Option<BufWriter<File>>,
    numbering: Numbering,
    last_seq: i64,
    log: Option<File>,
    /// Where we listen; 0 if we do not.
    pub port: u16,
}

impl Peer {
    pub fn open(place: &Place, numbering: Numbering) -> Peer {
        let (incoming, outgoing) = connect(place).expect("the place to speak at can be opened");
        let port = if let Place::Listen(port) = place { *port } else { 0 };
        Peer::new(incoming, outgoing, numbering, port)
    }

    /// One of the connections to a server.
    pub fn accepted(stream: OwnedFd, port: u16, numbering: Numbering) -> Peer {
        Peer::new(stream.try_clone().expect("a descriptor can be duplicated"), stream, numbering, port)
    }

    fn new(incoming: OwnedFd, outgoing: OwnedFd, numbering: Numbering, port: u16) -> Peer {
        let reader = FrameReader::new(incoming, breakroom_wire::Peer::Client);
        let out = Some(BufWriter::with_capacity(OUTPUT_BUFFER, File::from(outgoing)));
        Peer { reader, out, numbering, last_seq: 0, log: None, port }
    }

    pub fn log_to(&mut self, path: &Path, first: &Value) {
        let mut log = File::create(path).expect("the log can be written");
        writeln!(log, "{first}").expect("the log can be written");
        self.log = Some(log);
    }

    /// The next message's bytes. None: the input ended, or its framing is broken.
    pub fn receive_bytes(&mut self) -> Option<Frame> {
        if let Ok(Some(frame)) = self.reader.buffered() {
            return Some(frame);
        }
        self.flush();
        match self.reader.read() {
            Ok(frame) => frame,
            Err(error) => {
                eprintln!("fake-adapter: {error:?}");
                None
            }
        }
    }

    pub fn receive(&mut self) -> Option<Value> {
        let Frame::Message(body) = self.receive_bytes()? else {
            return None;
        };
        let message: Value =
            serde_json::from_slice(&body).unwrap_or_else(|error| json!({"invalid": error.to_string()}));
        if let Some(log) = &mut self.log {
            writeln!(log, "{message}").expect("the log can be written");
        }
        Some(message)
    }

    /// Sends a message, numbered unless it already has a seq; returns its seq.
    pub fn send(&mut self, mut message: Value) -> i64 {
        self.last_seq += 1;
        if message.get("seq").is_none() {
            match self.numbering {
                Numbering::Normal => message["seq"] = self.last_seq.into(),
                Numbering::Zero => message["seq"] = 0.into(),
                Numbering::Missing => {}
            }
        }
        self.send_frame(message.to_string().as_bytes());
        message["seq"].as_i64().unwrap_or_default()
    }

    /// `{"seq":N` and the given rest, which begins with a comma; for replies too large or too many to be built as values.
    pub fn send_after_seq(&mut self, rest: &[&[u8]]) {
        self.last_seq += 1;
        let seq = format!("{{\"seq\":{}", self.last_seq);
        let length = seq.len() + rest.iter().map(|part| part.len()).sum::<usize>();
        let mut head = Vec::with_capacity(64);
        header::write_content_length(&mut head, length);
        head.extend_from_slice(seq.as_bytes());
        self.write(&head);
        for part in rest {
            self.write(part);
        }
    }

    pub fn send_frame(&mut self, body: &[u8]) {
        let mut head = Vec::with_capacity(32);
        header::write_content_length(&mut head, body.len());
        self.write(&head);
        self.write(body);
    }

    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out
            && out.write_all(bytes).is_err()
        {
            self.out = None;
        }
    }

    pub fn flush(&mut self) {
        if let Some(out) = &mut self.out
            && out.flush().is_err()
        {
            self.out = None;
        }
    }

    /// Closes the writing side: the peer sees EOF while this process lives on.
    pub fn close(&mut self) {
        self.flush();
        if let Some(out) = self.out.take() {
            let _ = rustix::net::shutdown(out.get_ref(), rustix::net::Shutdown::Write);
        }
        // Descriptor 1 is a second handle of the same pipe and would keep it open.
        let null = File::options().write(true).open("/dev/null").expect("there is a null device");
        rustix::stdio::dup2_stdout(&null).expect("stdout can be replaced");
    }
}

fn connect(place: &Place) -> std::io::Result<(OwnedFd, OwnedFd)> {
    let stream: OwnedFd = match place {
        Place::Stdio => {
            // A child that inherited a duplicate would keep the protocol open, and only a script may ask for that.
            let incoming = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
            return Ok((incoming, fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?));
        }
        Place::Listen(port) => {
            let listener = TcpListener::bind(("127.0.0.1", *port))?;
            println!("listening on {}", listener.local_addr()?);
            without_delay(listener.accept()?.0)?
        }
        Place::Connect(port) => without_delay(TcpStream::connect(("127.0.0.1", *port))?)?,
        Place::Socket(path) => UnixListener::bind(path)?.accept()?.0.into(),
    };
    Ok((stream.try_clone()?, stream))
}

pub fn without_delay(stream: TcpStream) -> std::io::Result<OwnedFd> {
    stream.set_nodelay(true)?;
    Ok(stream.into())
}
