//! What is measured: the built programs in a folder of their own, the routes through them, and their end.
//!
//! The hub runs here as a daemon of its own, so that its memory can be read and nobody else's hub is met.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::client::Client;

/// Long enough for a busy machine; only a fault waits for so long.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How the client reaches the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    DirectTcp,
    /// Through a relay that only copies bytes.
    Socat,
    /// The client over TCP to the hub, the hub over TCP to the adapter.
    HubTcp,
    DirectStdio,
    HubStdio,
}

pub struct Lab {
    folder: PathBuf,
    /// How the ids of the only figures begin that are asked for.
    only: Option<String>,
    pub breakroom: PathBuf,
    pub adapter: PathBuf,
}

/// A client at the end of a route, ready to read variables.
pub struct Session {
    pub client: Client,
    pub reference: i64,
    /// Ended with the session, in this order.
    _processes: Vec<Process>,
}

impl Session {
    /// A session of a connection that was made elsewhere.
    pub fn begin(mut client: Client, launch: &Value) -> Result<Session> {
        let reference = client.begin(launch)?;
        Ok(Session { client, reference, _processes: Vec::new() })
    }
}

impl Lab {
    pub fn open(only: Option<String>) -> Result<Lab> {
        let this = std::env::current_exe()?;
        let programs = this.parent().context("this program lies in a folder")?;
        let folder = std::env::temp_dir().join(format!("breakroom-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Lab {
            breakroom: programs.join("breakroom"),
            adapter: programs.join("fake-adapter"),
            folder,
            only,
        })
    }

    /// Whether a figure is asked for whose id begins so.
    pub fn wants(&self, id: &str) -> bool {
        self.only.as_deref().is_none_or(|only| id.starts_with(only) || only.starts_with(id))
    }

    /// A new, empty folder for a hub: two of them never meet.
    pub fn room(&self, name: &str) -> Result<PathBuf> {
        use std::os::unix::fs::DirBuilderExt;
        let room = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&room);
        std::fs::DirBuilder::new().mode(0o700).create(&room)?;
        Ok(room)
    }

    pub fn breakroom(&self, room: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.breakroom);
        command.args(arguments);
        for variable in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(variable, room);
        }
        command.env_remove("RUST_LOG");
        command
    }

    /// A daemon in its own room, with a door that listens on TCP.
    pub fn hub(&self, name: &str) -> Result<Hub> {
        let room = self.room(name)?;
        let daemon = Process::start(&mut self.breakroom(&room, &["serve"]))?;
        let socket = room.join("breakroom");
        let began = Instant::now();
        while std::fs::read_dir(&socket).map_or(0, Iterator::count) < 2 {
            if began.elapsed() > PATIENCE {
                bail!("the hub made no socket in {}", socket.display());
            }
            std::thread::yield_now();
        }
        let (door, port) = self.door(&room, &[])?;
        Ok(Hub { room, port, _door: door, daemon })
    }

    /// A door that listens on TCP, and where.
    pub fn door(&self, room: &Path, more: &[&str]) -> Result<(Process, u16)> {
        let arguments = [&["dap", "--listen", "127.0.0.1:0"], more].concat();
        Process::listening(&mut self.breakroom(room, &arguments))
    }

    /// The id of the only session that a hub has.
    pub fn only_session(&self, hub: &Hub) -> Result<String> {
        let output = self.breakroom(&hub.room, &["ls", "--json"]).output()?;
        let sessions: Vec<Value> = serde_json::from_slice(&output.stdout)?;
        match &sessions[..] {
            [session] => Ok(session["id"].as_str().context("a session has an id")?.to_owned()),
            others => bail!("there are {} sessions instead of one", others.len()),
        }
    }

    pub fn session(&self, route: Route, hub: &Hub) -> Result<Session> {
        let (mut client, processes) = self.connect(route, hub)?;
        let reference = client.begin(&self.launch(route))?;
        Ok(Session { client, reference, _processes: processes })
    }

    fn connect(&self, route: Route, hub: &Hub) -> Result<(Client, Vec<Process>)> {
        let mut adapter = Command::new(&self.adapter);
        adapter.arg("bench");
        match route {
            Route::DirectTcp => {
                let (adapter, port) = Process::listening(adapter.args(["--listen", "0"]))?;
                Ok((connect(port)?, vec![adapter]))
            }
            Route::Socat => {
                let (adapter, port) = Process::listening(adapter.args(["--listen", "0"]))?;
                let (relay, relay_port) = socat(port)?;
                Ok((connect(relay_port)?, vec![relay, adapter]))
            }
            Route::HubTcp => Ok((hub.connect()?, Vec::new())),
            Route::DirectStdio => on_stdio(&mut adapter),
            Route::HubStdio => on_stdio(&mut self.breakroom(&hub.room, &["dap"])),
        }
    }

    /// The arguments of `launch` that make the hub start the same adapter as is reached directly.
    pub fn launch(&self, route: Route) -> Value {
        let program = self.adapter.to_string_lossy();
        let adapter = match route {
            Route::HubTcp => {
                json!({"args": [program, "bench", "--listen", "{{port}}"], "mode": "tcp-connect"})
            }
            Route::HubStdio => json!({"args": [program, "bench"]}),
            Route::DirectTcp | Route::Socat | Route::DirectStdio => return json!({}),
        };
        json!({"breakroom": {"adapter": adapter}})
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub struct Hub {
    pub room: PathBuf,
    port: u16,
    _door: Process,
    daemon: Process,
}

impl Hub {
    pub fn connect(&self) -> Result<Client> {
        connect(self.port)
    }

    /// Waits until no engine of it runs and the next guard is ready, as they are when a person comes.
    pub fn wait_for_rest(&self) -> Result<()> {
        let began = Instant::now();
        while !matches!(&self.children()?[..], [only] if is_ready_guard(only)) {
            ensure!(began.elapsed() < PATIENCE, "an engine of the hub does not end");
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Ok(())
    }

    /// The processes that the daemon started, as the kernel lists them.
    fn children(&self) -> Result<Vec<String>> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.daemon.child.id()))?;
        let lists = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("children")));
        let lists: String = lists.map(Result::unwrap_or_default).collect();
        Ok(lists.split_whitespace().map(str::to_owned).collect())
    }

    pub fn memory(&self, line: &str) -> Result<f64> {
        self.daemon.memory(line)
    }
}

/// A guard takes another name when it is told what to start, and sleeps until it is.
fn is_ready_guard(process: &str) -> bool {
    let read = |file| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    read("cmdline").ends_with("\0guard\0") && read("stat").contains("(breakroom) S ")
}

/// Ended when dropped: asked first, since a hub has sessions and adapters of its own to end.
pub struct Process {
    pub child: Child,
}

impl Process {
    pub fn start(command: &mut Command) -> Result<Process> {
        let child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        Ok(Process { child })
    }

    /// A line of its `/proc/PID/status`, in MB of a million bytes: `VmRSS`, or `VmHWM` for the peak.
    pub fn memory(&self, line: &str) -> Result<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path)?;
        let line = status.lines().find_map(|row| row.strip_prefix(line)?.strip_prefix(':'));
        let kibibytes = line.and_then(|row| row.trim().strip_suffix(" kB")).with_context(|| path.clone())?;
        Ok(kibibytes.trim().parse::<f64>()? * 1024.0 / 1e6)
    }

    /// A program whose first line is `listening on HOST:PORT`.
    pub fn listening(command: &mut Command) -> Result<(Process, u16)> {
        let mut process = Process::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let stdout = process.child.stdout.take().context("stdout is not a pipe")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Ok((process, port.with_context(|| format!("{command:?} said {line:?}"))?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(pid) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) else {
            return;
        };
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if began.elapsed() < PATIENCE {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            } else {
                let _ = self.child.kill();
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

fn on_stdio(command: &mut Command) -> Result<(Client, Vec<Process>)> {
    let mut process = Process::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
    Ok((Client::on(&mut process.child)?, vec![process]))
}

pub fn connect(port: u16) -> Result<Client> {
    Client::over(TcpStream::connect(("127.0.0.1", port))?)
}

/// It says nothing when it is ready.
fn socat(to: u16) -> Result<(Process, u16)> {
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let listen = format!("TCP-LISTEN:{port},bind=127.0.0.1,nodelay,reuseaddr");
    let mut command = Command::new("socat");
    command.args([listen, format!("TCP:127.0.0.1:{to},nodelay")]);
    let relay = Process::start(&mut command).context("install socat to compare with it")?;
    let began = Instant::now();
    while !is_listening(port)? {
        if began.elapsed() > PATIENCE {
            bail!("socat does not listen on {port}");
        }
        std::thread::yield_now();
    }
    Ok((relay, port))
}

/// Asked of the kernel, because the relay takes one connection only and a trial would be it.
fn is_listening(port: u16) -> Result<bool> {
    const LISTEN: &str = "0A";
    let table = std::fs::read_to_string("/proc/net/tcp")?;
    let place = format!("0100007F:{port:04X}");
    Ok(table.lines().any(|row| {
        let mut columns = row.split_whitespace().skip(1);
        columns.next() == Some(&place) && columns.nth(1) == Some(LISTEN)
    }))
}
