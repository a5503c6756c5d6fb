//! A server with a scripted runner, on a thread of its own.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use breakroom_frontend_ide::{Ide, Notify, Plan, Run, RunId, Runner, Token, unsupported_type};
use breakroom_ide_protocol::{CERTIFICATE, Change, ErrorBody, PORT, Port, RunSession, TOKEN};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

pub struct Server {
    pub port: u16,
    pub token: String,
    pub certificate: String,
    pub environment: Vec<(&'static str, String)>,
    /// The run sessions that were started, in their order.
    pub started: UnboundedReceiver<Started>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

pub struct Started {
    pub id: RunId,
    pub request: RunSession,
    pub notify: Notify,
    /// One message for each call of `stop`.
    pub stops: UnboundedReceiver<()>,
}

/// Where the runner waits for the test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Held {
    InPlan,
    InStart,
}

/// Lets the runner go on when it is dropped.
pub struct Hold {
    /// One message each time that the runner begins to wait.
    pub waits: UnboundedReceiver<()>,
    _release: std::sync::mpsc::Sender<()>,
}

impl Server {
    /// Serves these types of launch configurations.
    pub fn start(types: &[&str]) -> Server {
        Server::start_with(types, None)
    }

    /// A server whose runner waits, with all of its thread, until the [`Hold`] is dropped.
    pub fn start_held(types: &[&str], held: Held) -> (Server, Hold) {
        let (_release, released) = std::sync::mpsc::channel();
        let (begins, waits) = unbounded_channel();
        let wait = Arc::new(Wait { held, begins, released: Mutex::new(released) });
        (Server::start_with(types, Some(wait)), Hold { waits, _release })
    }

    fn start_with(types: &[&str], held: Option<Arc<Wait>>) -> Server {
        let types = types.iter().map(|kind| (*kind).to_owned()).collect();
        let (starts, started) = unbounded_channel();
        let (end, ended) = oneshot::channel();
        let (ready, listening) = std::sync::mpsc::channel();
        let serve = async move {
            let runner = Arc::new(Script { types, starts, held });
            let ide = Ide::listen(Token::random().unwrap(), runner).await.unwrap();
            let variables = ide.environment().variables();
            let variables: Vec<_> = variables.map(|(name, value)| (name, value.to_owned())).collect();
            ready.send(variables).unwrap();
            // A test that is over drops its half.
            let _ = ide.serve(ended).await;
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let thread = std::thread::spawn(move || runtime.block_on(serve));
        let environment = listening.recv().unwrap();
        let value = |name| environment.iter().find(|(other, _)| *other == name).unwrap().1.clone();
        Server {
            port: value(PORT).parse::<Port>().unwrap().0,
            token: value(TOKEN),
            certificate: value(CERTIFICATE),
            environment,
            started,
            end: Some(end),
            thread: Some(thread),
        }
    }

    pub fn variable(&self, name: &str) -> &str {
        &self.environment.iter().find(|(other, _)| *other == name).unwrap().1
    }

    /// Ends the server, as the end of its command does.
    pub fn tell_to_end(&mut self) {
        self.end.take().unwrap().send(()).unwrap();
    }

    pub fn join(&mut self) {
        self.thread.take().unwrap().join().unwrap();
    }

    pub async fn next_started(&mut self) -> Started {
        self.started.recv().await.unwrap()
    }

    /// Whether no run session was started. Every request before was answered.
    pub fn started_none(&mut self) -> bool {
        self.started.try_recv().is_err()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
    }
}

struct Wait {
    held: Held,
    begins: UnboundedSender<()>,
    released: Mutex<std::sync::mpsc::Receiver<()>>,
}

struct Script {
    types: Vec<String>,
    starts: UnboundedSender<Started>,
    held: Option<Arc<Wait>>,
}

fn wait(held: Option<&Arc<Wait>>, here: Held) {
    if let Some(wait) = held
        && wait.held == here
    {
        let _ = wait.begins.send(());
        // It ends with the hold.
        let _ = wait.released.lock().unwrap().recv();
    }
}

impl Runner for Script {
    fn types(&self) -> Vec<String> {
        self.types.clone()
    }

    fn plan(&self, request: RunSession) -> Result<Box<dyn Plan>, ErrorBody> {
        wait(self.held.as_ref(), Held::InPlan);
        let kind = request.configuration().unwrap().kind();
        match self.types.iter().any(|served| served == kind) {
            true => {
                Ok(Box::new(ScriptedPlan { request, starts: self.starts.clone(), held: self.held.clone() }))
            }
            false => Err(unsupported_type(kind, &self.types)),
        }
    }
}

struct ScriptedPlan {
    request: RunSession,
    starts: UnboundedSender<Started>,
    held: Option<Arc<Wait>>,
}

impl Plan for ScriptedPlan {
    fn start(self: Box<Self>, id: RunId, notify: Notify) -> Box<dyn Run> {
        wait(self.held.as_ref(), Held::InStart);
        let (stopped, stops) = unbounded_channel();
        let started = Started { id, request: self.request, notify: notify.clone(), stops };
        // The test may be over.
        let _ = self.starts.send(started);
        Box::new(Scripted { stopped, notify })
    }
}

struct Scripted {
    stopped: UnboundedSender<()>,
    notify: Notify,
}

impl Run for Scripted {
    fn stop(&self) {
        let _ = self.stopped.send(());
        self.notify.send(Change::terminated(None));
    }
}
