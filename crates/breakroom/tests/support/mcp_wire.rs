//! The agents' protocol as it is on the wire: lines on stdio, requests over HTTP. For what no client of good manners says.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use super::rig::Rig;

/// The longest that a tool waits, and as much again for a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The revisions with a handshake.
pub const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The one without.
pub const STATELESS: &str = "2026-07-28";

pub fn hello(revision: &str) -> Value {
    json!({
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"},
    })
}

/// What every request of the revision without a handshake brings.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub fn tool(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// A client on the stdio of `breakroom mcp`.
pub struct Lines {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<Value>,
    /// What came and was not asked for yet.
    pub news: Vec<Value>,
    last: i64,
}

impl Lines {
    pub fn start(rig: &Rig) -> Lines {
        Lines::start_with(rig, &["mcp"], Stdio::inherit())
    }

    pub fn start_with(rig: &Rig, words: &[&str], stderr: Stdio) -> Lines {
        let mut command = rig.sandbox.command(words);
        command.current_dir(rig.sandbox.work()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap();
        let (sender, heard) = channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"no JSON": line}));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Lines { child, stdin, heard, news: Vec::new(), last: 0 }
    }

    /// A client that has shaken hands.
    pub fn greeted(rig: &Rig) -> Lines {
        let mut lines = Lines::start(rig);
        lines.greet();
        lines
    }

    pub fn greet(&mut self) {
        let answer = self.ask("initialize", hello(REVISIONS[3]));
        assert!(answer["result"].is_object(), "{answer}");
        self.notify("notifications/initialized", json!({}));
    }

    pub fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// What a tool answered.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", tool(name, arguments));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    pub fn answer(&mut self, id: i64) -> Value {
        self.first(|message| message["id"] == id && message.get("method").is_none())
    }

    pub fn notification(&mut self, method: &str) -> Value {
        self.first(|message| message["method"] == method)
    }

    /// The first message like this, whether it has come already or not.
    pub fn first(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.news.iter().position(&is_it) {
            return self.news.remove(at);
        }
        loop {
            match self.heard.recv_timeout(PATIENCE) {
                Ok(message) if is_it(&message) => return message,
                Ok(message) => self.news.push(message),
                Err(error) => panic!("{error}; it has said {:?}", self.news),
            }
        }
    }

    /// Says nothing more, and still listens.
    pub fn hang_up(&mut self) {
        drop(self.stdin.take());
    }

    /// Leaves, and waits until the server has ended.
    pub fn leave(mut self) -> ExitStatus {
        self.hang_up();
        wait::for_exit(&mut self.child, PATIENCE).expect("it ends when nobody is there any more")
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `breakroom mcp --http`, and where it is.
pub struct Web {
    pub door: Child,
    pub address: SocketAddr,
    pub token: String,
    /// What it said on stdout.
    pub said: String,
    pub stderr: PathBuf,
}

impl Web {
    pub fn start(rig: &Rig) -> Web {
        let stderr = rig.sandbox.work().join("door.log");
        let mut command = rig.sandbox.command(["--log", "trace", "mcp", "--http", "127.0.0.1:0"]);
        command.current_dir(rig.sandbox.work()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut door = command.stderr(File::create(&stderr).unwrap()).spawn().unwrap();
        let mut said = String::new();
        let mut stdout = BufReader::new(door.stdout.take().unwrap());
        stdout.read_line(&mut said).unwrap();
        stdout.read_line(&mut said).unwrap();
        let address = said.strip_prefix("listening on http://").and_then(|rest| rest.split_once("/mcp\n"));
        let address = address.unwrap_or_else(|| panic!("it said {said:?}")).0.parse().unwrap();
        let token = fs::read_to_string(rig.sandbox.path("run").join("breakroom/token")).unwrap();
        Web { door, address, token, said, stderr }
    }

    /// A request with everything that belongs to it.
    pub fn post(&self, message: &Value) -> Ask {
        let headers = [
            ("Host", self.address.to_string()),
            ("Authorization", format!("Bearer {}", self.token)),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
        ];
        Ask {
            method: "POST",
            path: "/mcp".to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            body: message.to_string().into_bytes(),
        }
    }

    pub fn get(&self) -> Ask {
        let mut ask = self.post(&Value::Null).with("Accept", "text/event-stream").without("Content-Type");
        (ask.method, ask.body) = ("GET", Vec::new());
        ask
    }

    /// A request of the revision without a handshake.
    pub fn alone(&self, method: &str, mut params: Value) -> Ask {
        let about = ["name", "uri"].iter().find_map(|key| params[*key].as_str().map(str::to_owned));
        let more = params["_meta"].take();
        params["_meta"] = meta();
        if let (Value::Object(meta), Value::Object(more)) = (&mut params["_meta"], more) {
            meta.extend(more);
        }
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let ask = self.post(&message).with("MCP-Protocol-Version", STATELESS).with("Mcp-Method", method);
        match about {
            Some(about) => ask.with("Mcp-Name", &about),
            None => ask,
        }
    }

    pub fn send(&self, ask: &Ask) -> Answer {
        let Stream { status, headers, mut body } = self.open(ask);
        let mut bytes = Vec::new();
        // A server that refuses may close before it has read everything.
        let _ = body.read_to_end(&mut bytes);
        Answer { status, headers, body: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// The same, with a body that comes bit by bit.
    pub fn open(&self, ask: &Ask) -> Stream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", ask.method, ask.path);
        for (name, value) in &ask.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", ask.body.len());
        // As above.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&ask.body));
        Stream::read(stream)
    }

    /// Proves that it still serves.
    pub fn serves(&self) {
        let answer = self.send(&self.alone("tools/list", json!({})));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.message()["result"]["tools"].is_array(), "{answer:?}");
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.door.kill();
        let _ = self.door.wait();
    }
}

#[derive(Clone)]
pub struct Ask {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Ask {
    pub fn with(mut self, name: &str, value: &str) -> Ask {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Ask {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Every message in it, be it one or a stream of events.
    pub fn messages(&self) -> Vec<Value> {
        match self.header("content-type") {
            Some("text/event-stream") => {
                let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
                data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
            }
            _ => serde_json::from_str(&self.body).into_iter().collect(),
        }
    }

    /// The one that answers.
    pub fn message(&self) -> Value {
        let mut answers = self.messages().into_iter().filter(|message| message.get("id").is_some());
        answers.next_back().unwrap_or_else(|| panic!("no answer in {self:?}"))
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// An answer whose body still comes.
pub struct Stream {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    body: Box<dyn BufRead>,
}

impl Stream {
    fn read(stream: TcpStream) -> Stream {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let body: Box<dyn BufRead> = match header(&headers, "transfer-encoding") {
            Some("chunked") => Box::new(BufReader::new(Chunks { reader, left: 0 })),
            _ => Box::new(reader),
        };
        Stream { status, headers, body }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The next message of a stream of events; None at its end.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            if let Ok(message) = serde_json::from_str(&self.data()?) {
                return Some(message);
            }
        }
    }

    /// The data of the next event, whether they are a message or not.
    pub fn data(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.body.read_line(&mut line).expect("it says something in time") == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data:") {
                return Some(data.trim().to_owned());
            }
        }
    }
}

struct Chunks {
    reader: BufReader<TcpStream>,
    left: usize,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.left == 0 {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Ok(0);
            }
            match line.trim() {
                // Behind each chunk is the end of a line.
                "" => {}
                "0" => return Ok(0),
                size => self.left = usize::from_str_radix(size, 16).map_err(std::io::Error::other)?,
            }
        }
        let wanted = buffer.len().min(self.left);
        let count = self.reader.read(&mut buffer[..wanted])?;
        self.left -= count;
        Ok(count)
    }
}

/// A client that has shaken hands over HTTP.
pub struct Visitor<'a> {
    web: &'a Web,
    revision: String,
    /// The number of its session of the protocol, which has nothing to do with debugging.
    pub session: String,
    pub greeting: Value,
}

impl Visitor<'_> {
    pub fn greet<'a>(web: &'a Web, revision: &str) -> Visitor<'a> {
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(revision)});
        let answer = web.send(&web.post(&message));
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").unwrap_or_else(|| panic!("no session in {answer:?}"));
        let visitor = Visitor {
            web,
            revision: revision.to_owned(),
            session: session.to_owned(),
            greeting: answer.message()["result"].clone(),
        };
        assert_eq!(visitor.notify("notifications/initialized", json!({})).status, 202);
        visitor
    }

    pub fn dressed(&self, ask: Ask) -> Ask {
        ask.with("MCP-Protocol-Version", &self.revision).with("Mcp-Session-Id", &self.session)
    }

    pub fn notify(&self, method: &str, params: Value) -> Answer {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.web.send(&self.dressed(self.web.post(&message)))
    }

    pub fn request(&self, id: i64, method: &str, params: Value) -> Ask {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.dressed(self.web.post(&message))
    }

    pub fn ask(&self, method: &str, params: Value) -> Value {
        let answer = self.web.send(&self.request(1, method, params));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()
    }

    pub fn call(&self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", tool(name, arguments));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }
}
