//! Any bytes as what an IDE writes to the EZ door, and what a debugger answers: the door says only what the IDE can read.
//!
//! An input is the IDE's lines up to a `~`, then the debugger's messages. Without that character there is no debugger.
//! Whether the answers make sense is for the door's own tests.
#![no_main]

use std::io::{Cursor, Write, sink};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use breakroom_client::Request;
use breakroom_door_ez::{Connection, Setup, run};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// As much as a pipe takes in one piece.
const LONGEST: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'~');
    let lines = parts.next().unwrap_or_default().to_vec();
    let mut answers = parts.next().map(<[u8]>::to_vec);
    let written = Written::default();
    let (alive, gone) = std::sync::mpsc::channel::<()>();
    let setup = Setup {
        file: "Cargo.toml".to_owned(),
        cwd: PathBuf::from(env!("CARGO_MANIFEST_DIR")),
        name: "fuzzer".to_owned(),
        open: Box::new(move |_, _| match answers.take() {
            Some(answers) => Ok(connection(answers)),
            None => Err("there is no debugger".to_owned()),
        }),
        // Ends with this run, or threads would pile up.
        deaf: Box::new(move || {
            let _ = gone.recv();
        }),
    };
    run(setup, Cursor::new(lines), written.clone());
    drop(alive);
    for line in written.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        readable(line);
    }
});

fn connection(answers: Vec<u8>) -> Connection {
    Connection {
        reader: Box::new(Cursor::new(answers)),
        writer: Box::new(sink()),
        adapter: "fuzzed".to_owned(),
        request: Request::Launch,
        launch: json!({}),
        close: Box::new(|| None),
    }
}

/// Each write is one line, an event without null in it.
fn readable(line: &[u8]) {
    let shown = String::from_utf8_lossy(line);
    assert!(line.len() <= LONGEST, "{} bytes at once: {shown}", line.len());
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "no line: {shown}");
    let event: Value = serde_json::from_slice(line).unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(event["type"], "event", "{shown}");
    assert!(event["event"].is_string() && event["data"].is_object() && !has_null(&event), "{shown}");
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
