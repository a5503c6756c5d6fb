//! The sessions that a server begins by `startDebugSession`: each is a child of ours for the hub, under an id of ours.
//!
//! The hub's adapter for the child connects to a port here, so that `terminateDebugSession` can end the session in the middle.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use breakroom_wire::Peer as Side;
use serde_json::{Value, json};

use super::transport::{Answers, Out, pump};
use crate::message::RpcError;
use crate::window::Window;

/// How long the hub may take to open a child.
const CHILD: Duration = Duration::from_secs(30);
/// How long a debugger may take to leave when it is asked to.
const DISCONNECT: Duration = Duration::from_secs(5);
/// What the plugin answers if no session could be made.
const NO_SESSION: i64 = -32001;

type ToServer = Arc<Out<TcpStream>>;

pub struct Sessions {
    out: Arc<Out<io::Stdout>>,
    answers: Answers,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    live: BTreeMap<i64, ToServer>,
    last: i64,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    pub fn new(out: Arc<Out<io::Stdout>>) -> Sessions {
        Sessions { out, answers: Answers::default(), state: Arc::default() }
    }

    pub fn answers(&self) -> Answers {
        self.answers.clone()
    }

    /// Connects where the server says, and has the hub open a child for it.
    pub fn start(&self, params: &Value) -> Result<Value, RpcError> {
        let host =
            params["host"].as_str().ok_or_else(|| RpcError::invalid_params("`host` must be a string"))?;
        let port = params["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let port = port.ok_or_else(|| RpcError::invalid_params("`port` must be the number of a port"))?;
        let no_session = |error: io::Error| {
            RpcError::new(NO_SESSION, format!("cannot connect to the debugger at {host}:{port}: {error}"))
        };
        let server = TcpStream::connect((host, port)).map_err(no_session)?;
        server.set_nodelay(true).map_err(no_session)?;
        let window = Window::open(CHILD).map_err(no_session)?;
        let connect = format!("127.0.0.1:{}", window.port());
        let to_server = Arc::new(Out::new(server.try_clone().map_err(no_session)?));
        let id = {
            let mut state = lock(&self.state.0);
            state.last += 1;
            let id = state.last;
            state.live.insert(id, to_server.clone());
            id
        };
        let state = self.state.clone();
        std::thread::spawn(move || {
            serve(window, &server, to_server);
            lock(&state.0).live.remove(&id);
            state.1.notify_all();
        });
        let configuration = json!({"type": "easy-dotnet", "request": "launch", "name": format!("easy-dotnet {id}"), "connect": connect});
        let arguments = json!({"request": "launch", "configuration": configuration});
        self.answers.expect();
        self.out.send(json!({"type": "request", "command": "startDebugging", "arguments": arguments}));
        Ok(json!(id))
    }

    /// Ends a session, and returns when it is gone. One that is not known is gone already.
    pub fn terminate(&self, params: &Value) -> Result<Value, RpcError> {
        let id = params["sessionId"].as_i64();
        let id = id.ok_or_else(|| RpcError::invalid_params("`sessionId` must be an integer"))?;
        let Some(to_server) = lock(&self.state.0).live.get(&id).cloned() else { return Ok(json!(true)) };
        let arguments = json!({"restart": false, "terminateDebuggee": true});
        to_server.send(json!({"type": "request", "command": "disconnect", "arguments": arguments}));
        if !self.is_gone_within(id, DISCONNECT) {
            to_server.end(|stream| stream.shutdown(Shutdown::Both));
            self.is_gone_within(id, DISCONNECT);
        }
        Ok(json!(true))
    }

    fn is_gone_within(&self, id: i64, time: Duration) -> bool {
        let is_live = |state: &mut State| state.live.contains_key(&id);
        let waited = self.state.1.wait_timeout_while(lock(&self.state.0), time, is_live);
        !waited.unwrap_or_else(PoisonError::into_inner).0.live.contains_key(&id)
    }

    /// Waits until every session has ended.
    pub fn wait(&self) {
        let waited = self.state.1.wait_while(lock(&self.state.0), |state| !state.live.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Both directions between the hub's adapter for the child and the server's port, until one of them ends.
fn serve(window: Window, server: &TcpStream, to_server: ToServer) {
    let end = |error: &dyn std::fmt::Display| {
        tracing::debug!("a session of the server ends: {error}");
        // It may have ended already.
        let _ = server.shutdown(Shutdown::Both);
    };
    let child = match window.accept() {
        Ok(child) => child,
        Err(error) => return end(&error),
    };
    let Ok(input) = child.try_clone() else { return end(&"no descriptor is left") };
    let sending = to_server.clone();
    std::thread::spawn(move || {
        let passed = pump(input, Side::Client, &sending, |_| true);
        tracing::debug!("the hub's messages for a session end: {passed:?}");
        sending.end(|stream| stream.shutdown(Shutdown::Write));
    });
    let passed = pump(server, Side::Adapter, &Out::new(&child), |_| true);
    tracing::debug!("the debugger's messages of a session end: {passed:?}");
    let _ = child.shutdown(Shutdown::Both);
    end(&"its debugger has ended");
}
