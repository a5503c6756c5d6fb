//! A door that listens, for tests that come in over TCP or a unix socket.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use breakroom_testkit::Strict;

use super::rig::Rig;

/// A door that listens, and where.
pub struct Listening {
    pub door: Child,
    pub place: String,
    pub stderr: PathBuf,
}

impl Listening {
    pub fn start(rig: &Rig, arguments: &[&str]) -> Listening {
        let stderr = rig.sandbox.work().join("door.log");
        let mut command = rig.sandbox.command(["--log", "trace", "dap"]);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).unwrap());
        let mut door = command.env("RUST_LOG", "trace").spawn().unwrap();
        let mut line = String::new();
        BufReader::new(door.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let place =
            line.strip_prefix("listening on ").unwrap_or_else(|| panic!("the first line is {line:?}"));
        Listening { door, place: place.trim_end().to_owned(), stderr }
    }

    pub fn address(&self) -> SocketAddr {
        self.place.parse().unwrap()
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).unwrap()
    }

    pub fn client(&self) -> Strict {
        Strict::tcp(self.connect())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.door.kill();
        let _ = self.door.wait();
    }
}

/// Everything a peer says until it closes. A reset is an end, too.
pub fn rest(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
