//! A hub that is made up, for what real debuggers do too rarely to be waited for. It answers everything until a test says
//! otherwise.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use breakroom_client::Request;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::door::{Caller, Door};
use crate::session::seen::Seen;
use crate::telling::reply::Rendered;
use crate::{Connection, Hub, Secrets, Setup, Wanted};

pub const LONG: Duration = Duration::from_secs(60);
/// What is not to happen does not happen in this time.
pub const A_WHILE: Duration = Duration::from_millis(1_500);

/// Each connection is of the session that is next.
#[derive(Default)]
pub struct MadeUp {
    pub to_come: Mutex<VecDeque<(Option<&'static str>, mpsc::Sender<Engine>)>>,
    pub cannot_list: bool,
}

/// The hub's end of one connection.
pub struct Engine {
    id: Option<&'static str>,
    reader: BufReader<UnixStream>,
    pub farewell: Option<tokio::sync::oneshot::Sender<Option<String>>>,
    /// What it was asked so far.
    pub asked: Vec<String>,
    seq: i64,
}

impl Hub for MadeUp {
    fn open(&self, wanted: &Wanted) -> Result<Connection, String> {
        let (stream, theirs) = UnixStream::pair().map_err(|error| error.to_string())?;
        theirs.set_read_timeout(Some(LONG)).unwrap();
        let (says, farewell) = tokio::sync::oneshot::channel();
        let (id, comes) = self.to_come.lock().unwrap().pop_front().unwrap();
        let engine =
            Engine { id, reader: BufReader::new(theirs), farewell: Some(says), asked: Vec::new(), seq: 0 };
        comes.send(engine).unwrap();
        let request = match wanted {
            Wanted::Launch(_) => Request::Launch,
            Wanted::Attach(_) => Request::Attach,
            Wanted::Join(_) => Request::Join,
        };
        Ok(Connection { stream, adapter: "made-up".to_owned(), request, launch: json!({}), farewell })
    }

    fn sessions(&self) -> Result<Vec<Value>, String> {
        match self.cannot_list {
            true => Err("the hub does not answer".to_owned()),
            false => Ok(Vec::new()),
        }
    }

    fn language(&self, debugger: &str, _: Option<&str>, _: &[PathBuf]) -> Option<String> {
        Some(format!("the language of {debugger}"))
    }
}

impl MadeUp {
    /// The next connection is to a session with this id, whose engine plays this part in a thread of its own.
    pub fn with(self, id: Option<&'static str>, part: impl FnOnce(Engine) + Send + 'static) -> MadeUp {
        let (comes, came) = mpsc::channel();
        self.to_come.lock().unwrap().push_back((id, comes));
        std::thread::spawn(move || came.recv().map(part));
        self
    }

    pub fn door(self) -> Arc<Door> {
        let secrets = Secrets::shown();
        Door::new(Setup { name: "agent".to_owned(), cwd: "/".into(), hub: Arc::new(self), secrets })
    }
}

pub async fn call(door: &Door, tool: &str, arguments: Value) -> Rendered {
    let given: Map<String, Value> = arguments.as_object().unwrap().clone();
    door.call(tool, given, Caller::default()).await.unwrap()
}

/// A call that may be given up.
pub fn begin(
    door: &Arc<Door>,
    tool: &'static str,
    arguments: Value,
    given_up: &CancellationToken,
) -> tokio::task::JoinHandle<Rendered> {
    let (door, given_up) = (door.clone(), given_up.clone());
    let given = arguments.as_object().unwrap().clone();
    let caller = Caller { given_up, ..Caller::default() };
    tokio::spawn(async move { door.call(tool, given, caller).await.unwrap() })
}

/// Waits until the session `a` is seen like this.
pub async fn until(door: &Door, is_so: impl Fn(&Seen) -> bool) {
    let session = door.find("a").unwrap();
    let found = |seen: &mut Seen| is_so(seen).then_some(());
    session.watched.wait_for(Instant::now() + LONG, found).await.unwrap();
}

/// Two ends of a word that the test or the engine waits for.
pub fn word() -> (impl Fn() + Send + 'static, impl Fn() + Send + 'static) {
    let (says, said) = mpsc::channel();
    (move || says.send(()).unwrap(), move || said.recv_timeout(LONG).unwrap())
}

/// What the other thread says, without holding up the tasks of this one.
pub async fn said<T: Send + 'static>(said: mpsc::Receiver<T>) -> T {
    tokio::task::spawn_blocking(move || said.recv_timeout(LONG).unwrap()).await.unwrap()
}

impl Engine {
    /// Whether it was asked for this.
    pub fn was_asked(&self, command: &str) -> bool {
        self.asked.iter().any(|asked| asked == command)
    }

    /// The program is there, and stands as these say.
    pub fn begin(&mut self, stops: &[Value]) {
        let done = self.until("configurationDone");
        stops.iter().for_each(|stop| self.event("stopped", stop.clone()));
        self.answer(&done);
    }

    /// Answers whatever comes until this does, and returns that.
    pub fn until(&mut self, command: &str) -> Value {
        loop {
            let request = self.next().unwrap_or_else(|| panic!("the client goes before {command}"));
            if request["command"] == command {
                return request;
            }
            self.answer(&request);
        }
    }

    /// Answers whatever comes, to the end.
    pub fn rest(self) {
        self.all_that_it_was_asked();
    }

    /// Answers whatever comes, to the end, and says what it was asked from the beginning on.
    pub fn all_that_it_was_asked(mut self) -> Vec<String> {
        while let Some(request) = self.next() {
            self.answer(&request);
            if request["command"] == "disconnect" {
                break;
            }
        }
        self.asked
    }

    /// How long the next request is waited for.
    pub fn patience(&self, time: Duration) {
        self.reader.get_ref().set_read_timeout(Some(time)).unwrap();
    }

    pub fn next(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim().split_once(": ") {
                Some((_, size)) => length = size.parse().unwrap(),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        let request: Value = serde_json::from_slice(&body).unwrap();
        self.asked.push(request["command"].as_str().unwrap().to_owned());
        Some(request)
    }

    /// What everybody would answer.
    pub fn answer(&mut self, request: &Value) {
        let body = match request["command"].as_str().unwrap() {
            "initialize" => json!({
                "supportsConfigurationDoneRequest": true, "supportsFunctionBreakpoints": true,
                "supportsConditionalBreakpoints": true,
            }),
            "breakroom/session" => match self.id {
                Some(id) => json!({"session": {"id": id}}),
                None => return self.refuse(request, "there is no such request"),
            },
            "threads" => json!({"threads": [{"id": 7, "name": "main"}]}),
            "launch" | "attach" => {
                self.event("initialized", json!({}));
                json!({})
            }
            _ => json!({}),
        };
        self.answer_with(request, body);
    }

    pub fn answer_with(&mut self, request: &Value, body: Value) {
        let command = &request["command"];
        self.write(
            json!({"type": "response", "request_seq": request["seq"], "success": true, "command": command, "body": body}),
        );
    }

    pub fn refuse(&mut self, request: &Value, why: &str) {
        let command = &request["command"];
        self.write(
            json!({"type": "response", "request_seq": request["seq"], "success": false, "command": command, "message": why}),
        );
    }

    pub fn event(&mut self, name: &str, body: Value) {
        self.write(json!({"type": "event", "event": name, "body": body}));
    }

    pub fn stopped(&mut self, thread: i64, reason: &str) {
        self.event("stopped", json!({"threadId": thread, "reason": reason}));
    }

    fn write(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = self.seq.into();
        let body = message.to_string();
        // The client may have gone.
        let _ = write!(self.reader.get_ref(), "Content-Length: {}\r\n\r\n{body}", body.len());
    }
}
