//! Starting an adapter without the hub, and getting to it as soon as it can be got to.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::super::client::Client;
use super::super::lab::{PATIENCE, Process};
use super::known::{Known, Meeting, Ready};
use super::program::Debuggee;
use crate::needs::adapters_folder;

/// Short against what it takes any adapter to start.
const PAUSE: Duration = Duration::from_millis(1);

pub struct Direct<'a> {
    pub adapter: &'a Known,
    pub path: &'a Path,
    pub work: &'a Path,
}

/// Where it listens.
pub enum Place {
    Nowhere,
    Port(u16),
    Socket(PathBuf),
}

impl Place {
    pub fn connect(&self) -> Result<Client> {
        match self {
            Place::Nowhere => bail!("it does not listen"),
            Place::Port(port) => Client::over(TcpStream::connect(("127.0.0.1", *port))?),
            Place::Socket(path) => Client::over_unix(UnixStream::connect(path)?),
        }
    }

    fn connect_at_last(&self) -> Result<Client> {
        let began = Instant::now();
        loop {
            match self.connect() {
                Err(_) if began.elapsed() < PATIENCE => std::thread::park_timeout(PAUSE),
                met => return met,
            }
        }
    }
}

impl Direct<'_> {
    /// Started, connected to, and not yet spoken to.
    pub fn start(&self, debuggee: &Debuggee) -> Result<(Process, Client, Place)> {
        let place = match self.adapter.meeting {
            Meeting::Stdio => Place::Nowhere,
            Meeting::Tcp(_) => Place::Port(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port()),
            Meeting::Unix => {
                let socket = self.work.join("s");
                let _ = std::fs::remove_file(&socket);
                Place::Socket(socket)
            }
        };
        let mut command = self.command(debuggee, &place)?;
        let mut process = Process::start(&mut command)?;
        let child = &mut process.child;
        let client = match self.adapter.meeting {
            Meeting::Stdio => Client::on(child)?,
            Meeting::Tcp(ready) => {
                let stdout = child.stdout.take().context("stdout is not a pipe")?;
                let stderr = child.stderr.take().context("stderr is not a pipe")?;
                match ready {
                    Ready::Stdout(words) => wait_for_words(stdout, words)?,
                    Ready::Stderr(words) => wait_for_words(stderr, words)?,
                    Ready::Unsaid => {
                        read_on(stdout);
                        read_on(stderr);
                    }
                }
                place.connect_at_last()?
            }
            Meeting::Unix => {
                read_on(child.stdout.take().context("stdout is not a pipe")?);
                place.connect_at_last()?
            }
        };
        Ok((process, client, place))
    }

    fn command(&self, debuggee: &Debuggee, place: &Place) -> Result<Command> {
        let adapters = adapters_folder()?;
        let place = match place {
            Place::Nowhere => String::new(),
            Place::Port(port) => port.to_string(),
            Place::Socket(path) => path.to_string_lossy().into_owned(),
        };
        let fill = |word: &&str| {
            let word = word.replace("{path}", &self.path.to_string_lossy()).replace("{place}", &place);
            let word = word.replace("{adapters}", &adapters.to_string_lossy());
            word.replace("{program}", &debuggee.program.to_string_lossy())
        };
        let mut words = self.adapter.command.iter().map(fill);
        let mut command = Command::new(words.next().context("an adapter has a command")?);
        command.args(words).current_dir(self.work).env_remove("DEBUGINFOD_URLS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let stderr = matches!(self.adapter.meeting, Meeting::Tcp(_));
        command.stderr(if stderr { Stdio::piped() } else { Stdio::null() });
        Ok(command)
    }
}

/// What comes behind them is read all the same, or whoever writes it would wait.
fn wait_for_words(stream: impl Read + Send + 'static, words: &str) -> Result<()> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        ensure!(lines.read_line(&mut line)? > 0, "the adapter ended and did not say {words:?}");
    }
    read_on(lines);
    Ok(())
}

fn read_on(mut stream: impl Read + Send + 'static) {
    std::thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
}
