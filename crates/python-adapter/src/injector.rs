//! Getting the debugger into a process that runs already: a process of debugpy's own does it, and takes its time.
//!
//! What it prints is shown if it fails or takes long. Nothing here knows whether the debugger has connected.

use std::io::{PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Injector {
    child: Child,
    pid: i64,
    began: Instant,
    next: Instant,
    /// None once it has ended: then the process has too.
    pipe: Option<PipeReader>,
    printed: Vec<u8>,
    /// It was said that it takes long.
    excused: bool,
}

/// What there is to tell the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Progress(String),
    Printed(String),
    Failed(String),
}

impl Injector {
    pub fn start(python: &Path, words: &[String], pid: i64) -> std::io::Result<Injector> {
        let (pipe, writer) = std::io::pipe()?;
        let mut command = Command::new(python);
        command.args(words).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let child = command.spawn()?;
        let began = Instant::now();
        let (pipe, printed) = (Some(pipe), Vec::new());
        Ok(Injector { child, pid, began, next: began + EVERY, pipe, printed, excused: false })
    }

    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub fn next_word(&self) -> Option<Instant> {
        self.pipe.as_ref().map(|_| self.next)
    }

    /// To be called when there is output. The end of it is the end of the process.
    pub fn read(&mut self) -> Option<Word> {
        let pipe = self.pipe.as_mut()?;
        let mut bytes = [0; 4096];
        match pipe.read(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return None,
            Ok(read) if read > 0 => {
                self.printed.extend_from_slice(&bytes[..read]);
                return None;
            }
            _ => self.pipe = None,
        }
        let failed = self.child.wait().is_ok_and(|status| !status.success());
        failed.then(|| Word::Failed(self.take_printed()))
    }

    pub fn on_time(&mut self, now: Instant) -> Vec<Word> {
        if self.pipe.is_none() || now < self.next {
            return Vec::new();
        }
        self.next = now + EVERY;
        let took = now.saturating_duration_since(self.began);
        let seconds = took.as_secs_f64();
        let mut words =
            vec![Word::Progress(format!("Attaching to PID: {} (elapsed: {seconds:.2}s).\n", self.pid))];
        if took > LONG && !self.excused {
            self.excused = true;
            words.push(Word::Progress(
                "This takes long. The variable PYDEVD_GDB_SCAN_SHARED_LIBRARIES, such as `libdl, libltdl, libc`, \
                 has gdb look through fewer libraries; set it where your editor starts.\n"
                    .to_owned(),
            ));
        }
        if self.excused && !self.printed.is_empty() {
            words.push(Word::Printed(self.take_printed()));
        }
        words
    }

    fn take_printed(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.printed)).into_owned()
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        if self.pipe.is_some() {
            // gdb holds the other process still; without its end that one would stay so.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
