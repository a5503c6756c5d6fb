//! The server's process: its three streams, each with a thread, and its end.
//!
//! It has a process group of its own, and the whole group is killed when this is dropped: a server goes on living after
//! its stdin has ended, and so may what the program started. It reads no meaning into what is said.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender, SyncSender};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value, json};

use crate::adapter::Incoming;
use crate::event::Category;
use crate::lines::{Lines, Piece, whole_characters};

const READ_SIZE: usize = 64 << 10;

/// What is started, and in which surroundings.
#[derive(Debug)]
pub(crate) struct Start {
    pub command: Vec<OsString>,
    pub program: String,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    /// Variables to set, or to unset if they have no value.
    pub env: Vec<(String, Option<String>)>,
}

impl Start {
    /// The command as a person would type it.
    pub fn shown(&self) -> String {
        let words = self.command.iter().map(|word| word.to_string_lossy().into_owned());
        words.chain([self.program.clone()]).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    group: Option<Pid>,
    /// Lines for the thread that writes: the server may stop reading, and we must go on.
    commands: Sender<String>,
}

impl Server {
    pub fn start(start: &Start, to: &SyncSender<Incoming>) -> std::io::Result<Server> {
        let (program, words) =
            start.command.split_first().ok_or(std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        let mut command = Command::new(program);
        command.args(words).arg(&start.program).args(&start.args).current_dir(&start.cwd);
        for (name, value) in &start.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let group = Pid::from_raw(child.id().cast_signed());
        let (commands, lines) = mpsc::channel::<String>();
        if let Some(stdin) = child.stdin.take() {
            std::thread::spawn(move || write_lines(stdin, lines));
        }
        if let Some(stdout) = child.stdout.take() {
            let to = to.clone();
            std::thread::spawn(move || read_stdout(stdout, &to));
        }
        if let Some(stderr) = child.stderr.take() {
            let to = to.clone();
            std::thread::spawn(move || read_stderr(stderr, &to));
        }
        if let Some(process) = group {
            let to = to.clone();
            std::thread::spawn(move || {
                // It is not collected here: until then its number, and its group's, cannot be another's.
                let until_it_ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while matches!(waitid(WaitId::Pid(process), until_it_ends), Err(rustix::io::Errno::INTR)) {}
                let _ = to.send(Incoming::ServerExited);
            });
        }
        Ok(Server { child, group, commands })
    }

    pub fn tell(&self, command: &str, params: Value) {
        // The order of the document, which a person who reads along expects.
        let line = format!(r#"{{"type":"command","command":{},"params":{params}}}{}"#, json!(command), '\n');
        // If nobody writes any more, the server's end is on its way to us.
        let _ = self.commands.send(line);
    }

    pub fn kill(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Collects it after it has ended; what its program left behind in the group ends too.
    pub fn collect(mut self) -> Option<ExitStatus> {
        self.kill();
        self.group = None;
        self.child.wait().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.group.is_some() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// The exit code as a shell tells it.
pub(crate) fn exit_code(status: ExitStatus) -> i64 {
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).map_or(1, i64::from)
}

fn write_lines(mut stdin: ChildStdin, lines: mpsc::Receiver<String>) {
    for line in lines {
        if stdin.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_stdout(mut stdout: impl Read, to: &SyncSender<Incoming>) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let read = read_some(&mut stdout, &mut buffer);
        let pieces = if read == 0 { lines.finish() } else { lines.feed(&buffer[..read]) };
        for piece in pieces {
            let incoming = match piece {
                Piece::Event { event, length } => Incoming::Said { event, length },
                Piece::Text(text) => Incoming::Printed { category: Category::Stdout, text },
            };
            if to.send(incoming).is_err() {
                return;
            }
        }
        if read == 0 {
            let _ = to.send(Incoming::StreamEnded);
            return;
        }
    }
}

fn read_stderr(mut stderr: impl Read, to: &SyncSender<Incoming>) {
    let mut held = Vec::new();
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let read = read_some(&mut stderr, &mut buffer);
        held.extend_from_slice(&buffer[..read]);
        let ready = if read == 0 { held.len() } else { whole_characters(&held) };
        if ready > 0 {
            let text = String::from_utf8_lossy(&held[..ready]).into_owned();
            held.drain(..ready);
            if to.send(Incoming::Printed { category: Category::Stderr, text }).is_err() {
                return;
            }
        }
        if read == 0 {
            let _ = to.send(Incoming::StreamEnded);
            return;
        }
    }
}

/// A stream that cannot be read has ended.
fn read_some(stream: &mut impl Read, buffer: &mut [u8]) -> usize {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read.unwrap_or(0),
        }
    }
}
