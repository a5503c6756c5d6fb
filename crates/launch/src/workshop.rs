//! Where commands are run for a launch: builds, tasks and the questions that they need answered.
//!
//! Each runs under a guard of its own, with the launcher's environment, folder and umask. Whoever calls the launch off gets
//! the workshop back only when nothing of it runs any more. What a command's output means is not decided here.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use breakroom_engines::{Closer, Context, EnvVar, Exit, Piped, Stop, open_inspector, run_piped};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::failure::Failure;

/// How long output is waited for once the command has ended: what it left behind may hold the pipe open for ever.
const LINGER: Duration = Duration::from_secs(1);
/// More of one stream is not kept; the errors that are looked for come first.
const MOST_KEPT: usize = 16 << 20;
/// More lines of one command are not shown: a console is no log.
const MOST_SHOWN: usize = 1000;

/// Called off by `true`, or by dropping it.
pub type CallOff = watch::Sender<bool>;

pub struct Workshop<'a> {
    pub context: &'a Context,
    guard: &'a Path,
    show: &'a dyn Fn(String),
    keep: &'a dyn Fn(Closer),
    called_off: watch::Receiver<bool>,
}

#[derive(Debug, Clone)]
pub struct Command {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<EnvVar>,
}

impl Command {
    pub fn new(cwd: &Path, argv: &[&str]) -> Self {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Command { argv, cwd: cwd.to_path_buf(), env: Vec::new() }
    }

    pub fn and<T: Into<String>>(mut self, words: impl IntoIterator<Item = T>) -> Self {
        self.argv.extend(words.into_iter().map(Into::into));
        self
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push(EnvVar { name: name.to_owned(), value: Some(value.to_owned()) });
        self
    }

    /// What it is called in messages.
    pub fn name(&self) -> String {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        program.rsplit('/').next().unwrap_or(program).to_owned()
    }
}

/// Which of a command's streams are shown while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Nothing,
    /// The other one is for programs.
    Stderr,
    Both,
}

#[derive(Debug)]
pub struct Finished {
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn succeeded(&self) -> bool {
        self.exit == Exit::Code(0)
    }
}

impl<'a> Workshop<'a> {
    /// `show` is given whole lines, each with its end; `keep` what the session has until its end.
    pub fn new(
        context: &'a Context,
        guard: &'a Path,
        show: &'a dyn Fn(String),
        keep: &'a dyn Fn(Closer),
        called_off: watch::Receiver<bool>,
    ) -> Self {
        Workshop { context, guard, show, keep, called_off }
    }

    /// Where a process lets debuggers in. If it does so only for this session, it does as long as that lasts.
    pub async fn open_inspector(&self, process: u32, programs: &[String]) -> Result<SocketAddr, Failure> {
        let door = tokio::select! {
            door = open_inspector(process, programs, self.guard) => door.map_err(Failure::said)?,
            () = self.called_off() => return Err(Failure::CalledOff),
        };
        door.closer.into_iter().for_each(self.keep);
        Ok(door.address)
    }

    pub fn say(&self, line: &str) {
        (self.show)(format!("{line}\n"));
    }

    /// Runs a command to its end.
    pub async fn run(&self, command: &Command, shown: Shown) -> Result<Finished, Failure> {
        let started = run_piped(&command.argv, &command.cwd, &command.env, self.context, self.guard).await;
        let Piped { stdout, stderr, mut process } =
            started.map_err(|error| Failure::said(error.to_string()))?;
        let (out, err) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let exit = {
            let show = |wanted: bool| wanted.then_some(self.show);
            let reading = async {
                tokio::join!(
                    drain(stdout, &out, show(shown == Shown::Both)),
                    drain(stderr, &err, show(shown != Shown::Nothing))
                )
            };
            tokio::pin!(reading);
            let mut open = true;
            let exit = loop {
                tokio::select! {
                    exit = process.exited() => break Some(exit),
                    _ = &mut reading, if open => open = false,
                    () = self.called_off() => break None,
                }
            };
            if open && exit.is_some() {
                let _ = tokio::time::timeout(LINGER, reading).await;
            }
            exit
        };
        process.stop(Stop::End { grace: Duration::ZERO });
        process.gone().await;
        let text = |kept: RefCell<Vec<u8>>| String::from_utf8_lossy(&kept.into_inner()).into_owned();
        let exit = exit.ok_or(Failure::CalledOff)?;
        Ok(Finished { exit, stdout: text(out), stderr: text(err) })
    }

    async fn called_off(&self) {
        // An error is a sender that is gone, and nobody is left who wants this.
        let _ = self.called_off.clone().wait_for(|off| *off).await;
    }
}

/// Reads a stream to its end, keeps what it can, and shows it line by line.
async fn drain(stream: OwnedFd, kept: &RefCell<Vec<u8>>, show: Option<&dyn Fn(String)>) {
    let Ok(mut stream) = pipe::Receiver::from_owned_fd(stream) else { return };
    let mut buffer = vec![0; 64 << 10];
    let (mut line, mut lines) = (Vec::new(), 0);
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let bytes = &buffer[..read];
        let room = MOST_KEPT.saturating_sub(kept.borrow().len());
        kept.borrow_mut().extend_from_slice(&bytes[..read.min(room)]);
        for byte in bytes.iter().filter(|_| show.is_some()) {
            line.push(*byte);
            if *byte == b'\n' {
                present(&mut line, &mut lines, show);
            }
        }
    }
    if !line.is_empty() {
        line.push(b'\n');
        present(&mut line, &mut lines, show);
    }
}

fn present(line: &mut Vec<u8>, lines: &mut usize, show: Option<&dyn Fn(String)>) {
    *lines += 1;
    if let Some(show) = show {
        match (*lines).cmp(&MOST_SHOWN) {
            std::cmp::Ordering::Less => show(String::from_utf8_lossy(line).into_owned()),
            std::cmp::Ordering::Equal => show("(more is not shown)\n".to_owned()),
            std::cmp::Ordering::Greater => {}
        }
    }
    line.clear();
}
