//! The registrar's side of the bridge: JSON lines on stdin, each answered by one on stdout, and state changes in between.
//!
//! It decides when the bridge ends, and uses nothing of the bridge but its public interface.

use std::io::{self, BufRead, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use breakroom_hub::Token;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::{Bridge, BridgeError, Options, SessionId, StateChange, io_error};

/// What the loop of the bridge waits for.
enum Event {
    Line(String),
    /// The registrar has closed its end.
    InputClosed,
    Changed(StateChange),
    /// SIGTERM or SIGINT.
    Terminate,
}

/// One command of the registrar.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Command {
    Register { register: String, token_file: PathBuf },
    End { end: String },
}

/// Whether the registrar can still say something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registrar {
    /// It writes lines, and the end of its input ends the bridge with its last session.
    Listening,
    /// Its input has ended.
    Gone,
    /// There never was one on stdin: the bridge runs until it gets a signal.
    Signals,
}

/// Runs a bridge for a registrar on stdin and stdout, until the registrar or a signal ends it.
pub fn run(options: Options, first: &[String], token: Option<&Token>) -> Result<(), BridgeError> {
    let (sender, events) = channel();
    let changes = sender.clone();
    let bridge = Bridge::listen(options, move |change| {
        // The loop that receives it ends only with the process.
        let _ = changes.send(Event::Changed(change));
    })?;
    for session in first {
        bridge.register(session, token.ok_or(BridgeError::NoToken)?.clone())?;
    }
    let registrar = match input_is_null() {
        true => Registrar::Signals,
        false => Registrar::Listening,
    };
    let socket = bridge.socket().to_owned();
    watch_signals(sender.clone(), socket)
        .map_err(|source| io_error("cannot install signal handlers", source))?;
    let mut control = Control { bridge, registrar };
    control.print(&json!({"socket": control.bridge.socket()}));
    if registrar == Registrar::Listening {
        let read =
            std::thread::Builder::new().name("registrar".to_owned()).spawn(move || read_lines(&sender));
        read.map_err(|source| io_error("cannot start the thread that reads stdin", source))?;
    }
    control.run(&events);
    Ok(())
}

struct Control {
    bridge: Bridge,
    registrar: Registrar,
}

impl Control {
    fn run(&mut self, events: &Receiver<Event>) {
        let mut ending = false;
        for event in events {
            match event {
                Event::Line(line) => self.print(&obey(&self.bridge, &line)),
                Event::Changed(change) => self.report(&change),
                Event::InputClosed => self.registrar = Registrar::Gone,
                Event::Terminate => {
                    ending = true;
                    self.bridge.end_all();
                }
            }
            if (ending || self.registrar == Registrar::Gone) && !self.bridge.any_live() {
                break;
            }
        }
        for event in events.try_iter() {
            if let Event::Changed(change) = event {
                self.report(&change);
            }
        }
    }

    fn report(&mut self, change: &StateChange) {
        self.print(&serde_json::to_value(change).unwrap_or_default());
    }

    /// A registrar that reads no more is gone, but its sessions go on.
    fn print(&mut self, line: &Value) {
        let mut stdout = io::stdout();
        let printed = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
        if let Err(error) = printed {
            tracing::debug!("the registrar does not read: {error}");
            if self.registrar == Registrar::Listening {
                self.registrar = Registrar::Gone;
            }
        }
    }
}

/// Carries out one line, and gives the answer to it.
fn obey(bridge: &Bridge, line: &str) -> Value {
    match serde_json::from_str(line) {
        Ok(Command::Register { register, token_file }) => {
            let token = read_token(&token_file);
            match token.and_then(|token| bridge.register(&register, token).map_err(|error| error.to_string()))
            {
                Ok(()) => json!({"registered": register}),
                Err(error) => json!({"register": register, "error": error}),
            }
        }
        Ok(Command::End { end }) => match bridge.end(&SessionId(end.clone())) {
            true => json!({"ended": end}),
            false => json!({"end": end, "error": "bridge session not found"}),
        },
        Err(_) => json!({
            "error": "the line is not a command; use {\"register\": ID, \"token_file\": PATH} or {\"end\": ID}"
        }),
    }
}

/// The token in a file, without the newline that editors add.
pub fn read_token(path: &std::path::Path) -> Result<Token, String> {
    let bytes = std::fs::read(path)
        .map_err(|error| format!("cannot read the token file {}: {error}", path.display()))?;
    let token = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let token = token.strip_suffix(b"\r").unwrap_or(token);
    if token.is_empty() {
        return Err(format!("the token file {} is empty", path.display()));
    }
    Ok(Token::new(token))
}

fn read_lines(sender: &Sender<Event>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if !line.trim().is_empty() && sender.send(Event::Line(line)).is_err() {
            return;
        }
    }
    let _ = sender.send(Event::InputClosed);
}

/// Whether stdin is `/dev/null`, which also stands for a stdin that was closed at the start.
fn input_is_null() -> bool {
    let device = |path| std::fs::metadata(path).ok().filter(|file| file.file_type().is_char_device());
    let (input, null) = (device("/proc/self/fd/0"), device("/dev/null"));
    input.zip(null).is_some_and(|(input, null)| input.rdev() == null.rdev())
}

/// The first signal ends the sessions, and the bridge after them. The second ends the bridge at once, also if it waits for
/// the hub or for a registrar that does not read. The hub ends what is left, because it loses the bridge.
fn watch_signals(sender: Sender<Event>, socket: PathBuf) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    drop(guard);
    let watch = async move {
        for is_first in [true, false] {
            let signal = tokio::select! {
                _ = terminate.recv() => SignalKind::terminate(),
                _ = interrupt.recv() => SignalKind::interrupt(),
            };
            if !is_first {
                let _ = std::fs::remove_file(&socket);
                std::process::exit(128 + signal.as_raw_value());
            }
            // The loop that receives it ends only with the process.
            let _ = sender.send(Event::Terminate);
        }
    };
    let threads = std::thread::Builder::new().name("signals".to_owned());
    threads.spawn(move || runtime.block_on(watch)).map(drop)
}
