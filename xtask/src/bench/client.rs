//! The client that measures: blocking reads and writes, no JSON where time is taken.
//!
//! It speaks just enough DAP to bring a session to where variables can be read. It is not strict; the tests are.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem;
use serde_json::{Value, json};

const READ_BUFFER: usize = 256 << 10;
const LONGEST_HEADER: usize = 256;
/// How much of a message's beginning, and of its end, is looked into.
const END: usize = 256;
/// A number without leading zeros that stays as long as it is for as many requests as any run sends.
pub const FIRST_SEQ: u64 = 100_000_000;
const DIGITS: usize = 9;

pub struct Client {
    input: File,
    output: File,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    seq: u64,
}

impl Client {
    pub fn over(stream: TcpStream) -> Result<Client> {
        stream.set_nodelay(true)?;
        let input = OwnedFd::from(stream.try_clone()?);
        Ok(Client::new(input.into(), OwnedFd::from(stream).into()))
    }

    pub fn over_unix(stream: UnixStream) -> Result<Client> {
        let input = OwnedFd::from(stream.try_clone()?);
        Ok(Client::new(input.into(), OwnedFd::from(stream).into()))
    }

    /// On the stdio of a process that was started with pipes.
    pub fn on(child: &mut Child) -> Result<Client> {
        let input = child.stdout.take().context("stdout is not a pipe")?;
        let output = child.stdin.take().context("stdin is not a pipe")?;
        Ok(Client::new(OwnedFd::from(input).into(), OwnedFd::from(output).into()))
    }

    fn new(input: File, output: File) -> Client {
        Client { input, output, bytes: vec![0; READ_BUFFER], start: 0, end: 0, seq: FIRST_SEQ }
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.output.write_all(bytes)?)
    }

    /// The next message.
    pub fn read(&mut self) -> Result<&[u8]> {
        let (header, body) = loop {
            if let Some(sizes) = header(&self.bytes[self.start..self.end])? {
                break sizes;
            }
            self.fill(1)?;
        };
        let whole = header + body;
        let here = self.end - self.start;
        if here < whole {
            self.fill(whole - here)?;
        }
        let from = self.start + header;
        self.start += whole;
        Ok(&self.bytes[from..from + body])
    }

    /// Reads until `least` more bytes are there.
    fn fill(&mut self, least: usize) -> Result<()> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.len() < self.end + least {
            self.bytes.resize(self.end + least, 0);
        }
        let until = self.end + least;
        while self.end < until {
            let read = self.input.read(&mut self.bytes[self.end..])?;
            ensure!(read > 0, "the connection was closed");
            self.end += read;
        }
        Ok(())
    }

    /// Takes messages until the next response, and makes sure that it is a success.
    pub fn read_answer(&mut self) -> Result<usize> {
        loop {
            if let Some(length) = self.read_if_answer()? {
                return Ok(length);
            }
        }
    }

    /// The same, and how many messages came before it.
    pub fn count_until_answer(&mut self) -> Result<u64> {
        let mut before = 0;
        while self.read_if_answer()?.is_none() {
            before += 1;
        }
        Ok(before)
    }

    /// Takes one message, and gives its length if it is a response. That must be a success.
    fn read_if_answer(&mut self) -> Result<Option<usize>> {
        let message = self.read()?;
        // A peer that sorts its keys writes what says so behind the body.
        let ends = [&message[..message.len().min(END)], &message[message.len().saturating_sub(END)..]];
        let says = |member: &[u8]| ends.iter().any(|end| memmem::find(end, member).is_some());
        if !says(b"\"type\":\"response\"") {
            return Ok(None);
        }
        if !says(b"\"success\":true") {
            bail!("a request failed: {}", String::from_utf8_lossy(message));
        }
        Ok(Some(message.len()))
    }

    pub fn call(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        let seq = self.send(command, arguments)?;
        let answer = self.wait(|message| message["type"] == "response" && message["request_seq"] == seq)?;
        ensure!(answer["success"] == true, "`{command}` failed: {answer}");
        Ok(answer)
    }

    pub fn send(&mut self, command: &str, arguments: &Value) -> Result<u64> {
        self.seq += 1;
        let request = Request::new(self.seq, command, arguments);
        self.write(request.bytes())?;
        Ok(self.seq)
    }

    /// Says yes to a request of the adapter's.
    pub fn answer(&mut self, request: &Value) -> Result<()> {
        self.seq += 1;
        let answer = json!({
            "seq": self.seq, "type": "response", "request_seq": request["seq"], "command": request["command"],
            "success": true,
        });
        let answer = answer.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{answer}", answer.len()).as_bytes())
    }

    /// Takes messages until one is `wanted`.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        loop {
            let message: Value = serde_json::from_slice(self.read()?)?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    /// From the first word to a session whose variables can be read; returns the reference to read them by.
    pub fn begin(&mut self, launch: &Value) -> Result<i64> {
        self.call("initialize", &json!({"adapterID": "bench", "clientID": "bench"}))?;
        self.call("launch", launch)?;
        self.call("configurationDone", &json!({}))?;
        let stack = self.call("stackTrace", &json!({"threadId": 1}))?;
        let frame = &stack["body"]["stackFrames"][0]["id"];
        let scopes = self.call("scopes", &json!({"frameId": frame}))?;
        let reference = &scopes["body"]["scopes"][0]["variablesReference"];
        reference.as_i64().context("the adapter has no variables")
    }

    /// Takes part in a session that has its debuggee; what is shown of it is still to be read.
    pub fn join(&mut self, attach: &Value) -> Result<()> {
        self.call("initialize", &json!({"adapterID": "bench", "clientID": "bench"}))?;
        self.call("attach", attach)?;
        self.call("configurationDone", &json!({})).map(drop)
    }

    /// Takes messages until this event.
    pub fn wait_for(&mut self, event: &str) -> Result<()> {
        self.wait(|message| message["event"] == event).map(drop)
    }

    /// Ends the session, so that the next one measured has the machine to itself.
    pub fn end(mut self) -> Result<()> {
        self.call("disconnect", &json!({})).map(drop)
    }
}

/// A framed request whose number is written over the last one's, since building it anew would be measured as well.
pub struct Request {
    bytes: Vec<u8>,
    seq_at: usize,
}

impl Request {
    pub fn new(seq: u64, command: &str, arguments: &Value) -> Request {
        let rest = format!(r#","type":"request","command":"{command}","arguments":{arguments}}}"#);
        let seq = format!(r#"{{"seq":{seq:0DIGITS$}"#);
        let header = format!("Content-Length: {}\r\n\r\n", seq.len() + rest.len());
        let seq_at = header.len() + seq.len() - DIGITS;
        Request { bytes: [header, seq, rest].concat().into_bytes(), seq_at }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn number(&mut self, mut seq: u64) {
        for digit in self.bytes[self.seq_at..self.seq_at + DIGITS].iter_mut().rev() {
            *digit = b'0' + (seq % 10) as u8;
            seq /= 10;
        }
    }
}

/// The sizes of header and body of the message that `bytes` begin with. None: the header is not complete.
fn header(bytes: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(end) = memmem::find(&bytes[..bytes.len().min(LONGEST_HEADER)], b"\r\n\r\n") else {
        ensure!(bytes.len() < LONGEST_HEADER, "not a message header");
        return Ok(None);
    };
    // Perl's adapter has another line behind it.
    let line = memmem::find(&bytes[..end], b"\r\n").unwrap_or(end);
    let length = bytes[..line].strip_prefix(b"Content-Length: ").unwrap_or_default();
    let length = std::str::from_utf8(length)?.parse().context("not a message header")?;
    Ok(Some((end + 4, length)))
}
