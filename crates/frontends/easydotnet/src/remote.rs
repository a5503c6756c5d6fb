//! The client side: a debug adapter whose debugger is that of another easy-dotnet server.
//!
//! It asks the server for a port by `debugger/start` and passes DAP messages on between that port and its own stdin and
//! stdout. A session that the server begins by `startDebugSession` is announced to the hub as a child. No DAP message of the
//! debugger is changed.

mod sessions;
mod transport;

use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use breakroom_wire::Peer as Side;
use serde_json::{Value, json};

use crate::message::{self, Incoming, RpcError, code};
use crate::peer::{CallError, Peer};
use crate::pipe;
use sessions::Sessions;
use transport::{Out, frames, pump};

/// The version of the protocol that the plugin has.
const VERSION: &str = "3.0.0";
const INITIALIZE: Duration = Duration::from_secs(30);
/// A build may come before the port.
const START: Duration = Duration::from_secs(3600);

/// What to debug, and at which server.
#[derive(Debug, Clone, Default)]
pub struct Remote {
    /// The server's pipe, by its name or its path.
    pub server: String,
    pub program: String,
    pub framework: Option<String>,
    pub configuration: Option<String>,
    pub profile: Option<String>,
    /// The root of the project.
    pub root: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("cannot connect to the easy-dotnet server at {}: {source}", path.display())]
    NoServer { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Call(#[from] CallError),
    #[error("the easy-dotnet server answered `debugger/start` without a port: {0}")]
    NoPort(Value),
    #[error("the debug connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Debugs a program of a server, on stdin and stdout, until its session and those of the server have ended.
pub fn run(remote: &Remote) -> Result<(), RemoteError> {
    let path = path_of(&remote.server);
    let no_server = |source| RemoteError::NoServer { path: path.clone(), source };
    let stream = UnixStream::connect(&path).map_err(no_server)?;
    let peer = Arc::new(Peer::new(stream.try_clone()?)?);
    let out = Arc::new(Out::new(io::stdout()));
    let sessions = Arc::new(Sessions::new(out.clone()));
    let reading = (peer.clone(), sessions.clone(), out.clone());
    std::thread::spawn(move || {
        let (peer, sessions, out) = reading;
        read(&peer, &sessions, &out, stream);
        peer.close();
    });
    let port = start(&peer, remote)?;
    let server = TcpStream::connect(("127.0.0.1", port))?;
    server.set_nodelay(true)?;
    serve(&server, &sessions, &out)?;
    sessions.wait();
    peer.close();
    Ok(())
}

/// Passes the messages of a child session on.
pub fn join(address: &str) -> Result<(), RemoteError> {
    let server = TcpStream::connect(address)?;
    server.set_nodelay(true)?;
    let out = Arc::new(Out::new(io::stdout()));
    serve(&server, &Sessions::new(out.clone()), &out)?;
    Ok(())
}

/// Both directions between the hub and a debug connection, until that ends.
fn serve(server: &TcpStream, sessions: &Sessions, out: &Arc<Out<io::Stdout>>) -> io::Result<()> {
    let (input, answers) = (server.try_clone()?, sessions.answers());
    std::thread::spawn(move || {
        let to_server = Out::new(input);
        // Answers to what we have asked the hub ourselves are not for the debugger.
        let passed = pump(io::stdin(), Side::Client, &to_server, |body| !answers.is_ours(body));
        if let Err(error) = passed {
            tracing::debug!("the hub's messages end: {error}");
        }
        to_server.end(|stream| stream.shutdown(std::net::Shutdown::Write));
    });
    pump(server, Side::Adapter, out, |_| true)
}

fn path_of(server: &str) -> PathBuf {
    match server.contains('/') {
        true => PathBuf::from(server),
        false => pipe::path_of(&pipe::folder(|name| std::env::var(name).ok()), server),
    }
}

fn start(peer: &Peer, remote: &Remote) -> Result<u16, RemoteError> {
    let client = json!({"name": "breakroom", "version": VERSION, "pid": std::process::id()});
    let introduction = json!({"clientInfo": client, "projectInfo": {"rootDir": remote.root}, "options": {}});
    peer.call("initialize", json!({"request": introduction}), INITIALIZE)?;
    let mut request = json!({"targetPath": absolute(&remote.root, &remote.program)});
    let optional = [
        ("targetFramework", &remote.framework),
        ("configuration", &remote.configuration),
        ("launchProfileName", &remote.profile),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            request[name] = value.as_str().into();
        }
    }
    let started = peer.call("debugger/start", json!({"request": request}), START)?;
    let port = started["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    port.filter(|_| started["success"] == true).ok_or(RemoteError::NoPort(started))
}

fn absolute(root: &Path, program: &str) -> PathBuf {
    root.join(program)
}

/// What the server sends: answers, requests, and words for the user.
fn read(peer: &Arc<Peer>, sessions: &Arc<Sessions>, out: &Out<io::Stdout>, stream: UnixStream) {
    let ended = frames(stream, Side::Client, |body| match message::read(body) {
        Ok(Incoming::Response { id, outcome }) => peer.answered(&id, outcome),
        Ok(Incoming::Request { id, method, params }) => {
            let (peer, sessions) = (peer.clone(), sessions.clone());
            // The end of a session is waited for.
            std::thread::spawn(move || {
                let outcome = match method.as_str() {
                    "startDebugSession" => sessions.start(&params),
                    "terminateDebugSession" => sessions.terminate(&params),
                    _ => Err(RpcError::new(code::NO_METHOD, format!("there is no method `{method}`"))),
                };
                peer.send(&message::response(&id, outcome));
            });
        }
        Ok(Incoming::Notification { method, params }) if method == "displayError" => {
            let text = params["message"].as_str().unwrap_or_default();
            out.event("output", json!({"category": "stderr", "output": format!("{text}\n")}));
        }
        Ok(Incoming::Notification { .. }) | Err(_) => {}
    });
    if let Err(error) = ended {
        tracing::debug!("the server's messages end: {error}");
    }
}
