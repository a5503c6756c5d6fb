//! The registrar's side of the bridge: JSON lines on stdin, each answered by one on stdout, and state changes in between.
//!
//! It decides when the bridge ends. Sessions themselves are the business of `Bridge`.

use std::io::{self, BufRead, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};

use breakroom_hub::Token;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::sessions::{SessionId, State, StateChange};
use crate::{Bridge, BridgeError, io_error};

/// What the loop of the bridge waits for.
pub enum Event {
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

/// Runs the bridge for a registrar on stdin and stdout.
pub fn run(bridge: &Bridge, events: &Receiver<Event>, sender: Sender<Event>) -> Result<(), BridgeError> {
    print(&json!({"socket": bridge.socket()}))?;
    let mut registrar = match input_is_null() {
        true => Registrar::Signals,
        false => Registrar::Listening,
    };
    watch_signals(sender.clone()).map_err(|source| io_error("cannot install signal handlers", source))?;
    if registrar == Registrar::Listening {
        std::thread::spawn(move || read_lines(&sender));
    }
    let mut ending = false;
    for event in events {
        match event {
            Event::Line(line) => print(&obey(bridge, &line))?,
            Event::Changed(change) => {
                print(&serde_json::to_value(&change).unwrap_or_default())?;
            }
            Event::InputClosed => registrar = Registrar::Gone,
            Event::Terminate => {
                ending = true;
                bridge.end_all();
            }
        }
        if (ending || registrar == Registrar::Gone) && !bridge.any_live() {
            return Ok(());
        }
    }
    Ok(())
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

fn print(line: &Value) -> Result<(), BridgeError> {
    let mut stdout = io::stdout();
    let printed = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    printed.map_err(|source| io_error("stdout cannot be written", source))
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

fn watch_signals(sender: Sender<Event>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    drop(guard);
    std::thread::spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                if sender.send(Event::Terminate).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

/// A session was registered.
pub fn created(id: &SessionId) -> Event {
    Event::Changed(StateChange::new(id, State::Created))
}
