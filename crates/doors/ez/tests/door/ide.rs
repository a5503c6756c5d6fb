//! An IDE that reads as the real one does: what one write brings is whole lines, or it is lost.
//!
//! The debugger behind the door follows a script. Waiting is for an event, with a deadline, and never for time.

use std::io::{BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use breakroom_client::Request;
use breakroom_door_ez::{Connection, Setup, run};
use breakroom_testkit::scripted::{self, Say, Voice};
use serde_json::{Value, json};

pub const PATIENCE: Duration = Duration::from_secs(60);
pub const NAME: &str = "EZ IDE 1";

pub struct Ide {
    keys: UnixStream,
    written: Receiver<Vec<u8>>,
    pub voice: Voice,
    door: JoinHandle<i32>,
    debugger: JoinHandle<Vec<(String, Value)>>,
    pub program: String,
    _folder: tempfile::TempDir,
}

/// What the debugger was asked, and the code that the process would have ended with.
pub struct Over {
    pub code: i32,
    pub asked: Vec<(String, Value)>,
}

impl Over {
    pub fn count(&self, command: &str) -> usize {
        self.asked.iter().filter(|(asked, _)| asked == command).count()
    }

    pub fn arguments(&self, command: &str) -> &Value {
        let found = self.asked.iter().rev().find(|(asked, _)| asked == command);
        found.map_or(&Value::Null, |(_, arguments)| arguments)
    }
}

impl Ide {
    /// A door before `initialize`. The debugger does as usual, except where `differ` says otherwise.
    pub fn open(mut differ: impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static) -> Ide {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.ez");
        std::fs::write(&path, "do main() {\n}\n").unwrap();
        let program = path.to_string_lossy().into_owned();
        let mut usual = scripted::program(program.clone());
        let (stream, voice, debugger) = scripted::start_with_voice(move |command, arguments| {
            differ(command, arguments).unwrap_or_else(|| usual(command, arguments))
        });
        let (keys, read) = UnixStream::pair().unwrap();
        let (tell, written) = mpsc::channel();
        let (cwd, file) = (folder.path().to_owned(), program.clone());
        let door = std::thread::spawn(move || {
            let mut streams = Some((stream.try_clone().unwrap(), stream));
            let open = move |program: &std::path::Path, _: &std::path::Path| {
                let (reader, writer) = streams.take().ok_or("the door opened twice")?;
                Ok(Connection {
                    reader: Box::new(reader),
                    writer: Box::new(writer),
                    adapter: "ez".to_owned(),
                    request: Request::Launch,
                    launch: json!({"program": program}),
                    close: Box::new(|| None),
                })
            };
            let setup = Setup {
                file,
                cwd,
                name: NAME.to_owned(),
                open: Box::new(open),
                deaf: Box::new(|| {
                    loop {
                        std::thread::park()
                    }
                }),
            };
            run(setup, BufReader::new(read), Pipe(tell))
        });
        Ide { keys, written, voice, door, debugger, program, _folder: folder }
    }

    /// The same, started with a breakpoint in line 2 and stopped there.
    pub fn stopped(differ: impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static) -> Ide {
        let mut ide = Ide::open(differ);
        ide.sends("initialize", json!({}));
        ide.hears("initialized");
        let spot = json!({"file": ide.program, "line": 2});
        ide.sends("setBreakpoint", spot);
        ide.hears("breakpointSet");
        ide.sends("start", json!({}));
        ide.hears("started");
        ide.hears("stopped");
        ide
    }

    pub fn sends(&mut self, command: &str, params: Value) {
        self.types(&json!({"type": "command", "command": command, "params": params}).to_string());
    }

    /// All of them in one write.
    pub fn sends_at_once(&mut self, commands: &[(&str, Value)]) {
        let line = |(command, params): &(&str, Value)| {
            json!({"type": "command", "command": command, "params": params}).to_string()
        };
        self.types(&commands.iter().map(line).collect::<Vec<_>>().join("\n"));
    }

    pub fn types(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// No more commands.
    pub fn closes(&self) {
        self.keys.shutdown(Shutdown::Write).unwrap();
    }

    /// The next event, as it was written.
    pub fn line(&mut self) -> String {
        let bytes = self.written.recv_timeout(PATIENCE).unwrap();
        assert!(bytes.len() <= 4096 && bytes.ends_with(b"\n"), "{}", String::from_utf8_lossy(&bytes));
        String::from_utf8(bytes).unwrap().trim_end().to_owned()
    }

    /// The data of the next event, which must be this one.
    pub fn hears(&mut self, event: &str) -> Value {
        let line = self.line();
        let mut message: Value = serde_json::from_str(&line).unwrap();
        assert!(message["type"] == "event" && message["event"] == event, "{event} is due, and not {line}");
        message["data"].take()
    }

    /// The next events, which must be these in any order.
    pub fn hears_all(&mut self, events: &[&str]) {
        let mut due = events.to_vec();
        while !due.is_empty() {
            let line = self.line();
            let message: Value = serde_json::from_str(&line).unwrap();
            let at = due.iter().position(|event| message["event"] == *event);
            due.remove(at.unwrap_or_else(|| panic!("{due:?} are due, and not {line}")));
        }
    }

    /// The session is over, and nothing more was said.
    pub fn ends(self) -> Over {
        let more = self.written.recv_timeout(PATIENCE);
        assert_eq!(more, Err(RecvTimeoutError::Disconnected), "it should have ended in silence");
        let code = self.door.join().unwrap();
        Over { code, asked: self.debugger.join().unwrap() }
    }
}

/// A pipe on which each write stays by itself.
struct Pipe(Sender<Vec<u8>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_owned()).map_err(|_| std::io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
