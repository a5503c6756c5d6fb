//! A server with a scripted runner, on a thread of its own.

use std::sync::Arc;
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

impl Server {
    /// Serves these types of launch configurations.
    pub fn start(types: &[&str]) -> Server {
        let types = types.iter().map(|kind| (*kind).to_owned()).collect();
        let (starts, started) = unbounded_channel();
        let (end, ended) = oneshot::channel();
        let (ready, listening) = std::sync::mpsc::channel();
        let serve = async move {
            let runner = Arc::new(Script { types, starts });
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

    /// Ends the server, as its command's end does, and waits for it.
    pub fn end(&mut self) {
        self.tell_to_end();
        self.thread.take().unwrap().join().unwrap();
    }

    pub fn tell_to_end(&mut self) {
        self.end.take().unwrap().send(()).unwrap();
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

struct Script {
    types: Vec<String>,
    starts: UnboundedSender<Started>,
}

impl Runner for Script {
    fn types(&self) -> Vec<String> {
        self.types.clone()
    }

    fn plan(&self, request: RunSession) -> Result<Box<dyn Plan>, ErrorBody> {
        let kind = request.configuration().unwrap().kind();
        match self.types.iter().any(|served| served == kind) {
            true => Ok(Box::new(ScriptedPlan { request, starts: self.starts.clone() })),
            false => Err(unsupported_type(kind, &self.types)),
        }
    }
}

struct ScriptedPlan {
    request: RunSession,
    starts: UnboundedSender<Started>,
}

impl Plan for ScriptedPlan {
    fn start(self: Box<Self>, id: RunId, notify: Notify) -> Box<dyn Run> {
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
