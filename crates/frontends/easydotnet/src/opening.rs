//! From a prepared program to a session: the port, the thread that serves its one connection, and who learns of the end.
//!
//! Both flows use it. What tells the client of the port is in `debug`.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::client::Client;
use crate::debug_session::{self, Debuggee, Step};
use crate::message::RpcError;
use crate::sessions::Number;
use crate::window::Window;

/// A port that is open, and the session that comes of it.
pub struct Opening {
    pub port: u16,
    pub number: Number,
    /// Closed when the session has ended or no client came.
    pub outcome: Receiver<Outcome>,
}

/// How a start went, for the call that waits for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Started,
    Failed(String),
}

/// Who tells the user of a failed start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    /// The call that waits for the start.
    Call,
    /// The session itself: the call has been answered.
    Session,
}

/// Opens the port for a debuggee. A program's debugger is started when a client has connected.
pub fn open(client: &Arc<Client>, debuggee: Debuggee, reports: Reports) -> Result<Opening, RpcError> {
    let cannot = |error| RpcError::failed(format!("cannot open a port on 127.0.0.1: {error}"));
    let window = Window::open(client.options().connect_window).map_err(cannot)?;
    let closer = window.closer().map_err(cannot)?;
    let port = window.port();
    let gone = || RpcError::failed("the client is gone");
    let number = client.sessions.open(debuggee.name(), debuggee.is_live(), closer).ok_or_else(gone)?;
    let (sender, outcome) = channel();
    let client = client.clone();
    std::thread::spawn(move || serve(&client, number, window, debuggee, reports, &sender));
    Ok(Opening { port, number, outcome })
}

fn serve(
    client: &Arc<Client>,
    number: Number,
    window: Window,
    debuggee: Debuggee,
    reports: Reports,
    outcome: &Sender<Outcome>,
) {
    // The call may be over.
    let say = |step| drop(outcome.send(step));
    match window.accept() {
        Ok(stream) => {
            let _debugging = client.shared.debugging();
            let executable = &client.options().executable;
            debug_session::serve(executable, stream, debuggee, |step| match step {
                Step::Connected { hub_session } => {
                    if !client.sessions.connected(number, hub_session.clone()) {
                        std::thread::spawn(move || debug_session::end_session(&hub_session));
                    }
                    tell_of_running(client);
                }
                Step::Started => say(Outcome::Started),
                Step::Failed(reason) => {
                    if reports == Reports::Session {
                        client.peer.display_error(&reason);
                    }
                    say(Outcome::Failed(reason));
                }
                Step::Ended => {}
            });
        }
        Err(error) => {
            tracing::debug!("{}: {error}", debuggee.name());
            say(Outcome::Failed(error.to_string()));
        }
    }
    client.sessions.remove(number);
    tell_of_running(client);
}

/// Tells the client what is being debugged.
fn tell_of_running(client: &Client) {
    let project = |name: String| json!({"name": name, "isDebugging": true});
    let projects: Vec<Value> = client.sessions.names_of_connected().into_iter().map(project).collect();
    client.peer.notify("runningProcesses/changed", json!({"projects": projects}));
}
