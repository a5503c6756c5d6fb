//! A hub of another version, as far as every version understands the others: it lists sessions and ends them.
//!
//! It is a thread of the test behind a socket of that version's name. It refuses everything else by saying nothing.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::rig::Rig;

/// Where the hub of a protocol listens.
pub fn socket(rig: &Rig, protocol: u32) -> PathBuf {
    let folder = rig.sandbox.path("run").join("breakroom");
    if !folder.exists() {
        fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    }
    folder.join(format!("hub-{protocol}.sock"))
}

pub fn write_frame(stream: &mut UnixStream, value: &Value) {
    let bytes = value.to_string().into_bytes();
    let prefix = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    stream.write_all(&[&prefix[..], &bytes].concat()).unwrap();
}

pub fn read_frame(stream: &mut UnixStream) -> Option<Value> {
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).ok()?;
    let mut bytes = vec![0; u32::from_be_bytes(prefix) as usize];
    stream.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A hub that holds one session.
pub struct OtherHub {
    path: PathBuf,
    sessions: Arc<Mutex<Vec<Value>>>,
}

impl OtherHub {
    pub fn start(rig: &Rig, protocol: u32, session: Value) -> OtherHub {
        let path = socket(rig, protocol);
        let listener = UnixListener::bind(&path).unwrap();
        let sessions = Arc::new(Mutex::new(vec![session]));
        let held = sessions.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&mut stream.unwrap(), &held);
            }
        });
        OtherHub { path, sessions }
    }

    pub fn holds_nothing(&self) -> bool {
        self.sessions.lock().unwrap().is_empty()
    }
}

impl Drop for OtherHub {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What a hub of any version answers to a caller of any other.
fn answer(stream: &mut UnixStream, held: &Mutex<Vec<Value>>) {
    let Some(hello) = read_frame(stream) else { return };
    assert_eq!(hello["protocol"], 1, "{hello}");
    let mut sessions = held.lock().unwrap();
    let purpose = &hello["purpose"];
    let told = if purpose == "list" {
        sessions.clone()
    } else if purpose["end"] == "all" {
        std::mem::take(&mut *sessions)
    } else if let Some(id) = purpose["end"]["one"].as_str() {
        sessions.extract_if(.., |session| session["id"] == id).collect()
    } else {
        return;
    };
    write_frame(stream, &json!({"sessions": told}));
}
