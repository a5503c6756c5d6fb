//! The slow side of an engine: starting it, watching its process, ending it.
//!
//! These are tasks of their own beside the driver, since nothing in them is on the path of a message.
//! They tell the driver through one channel; when the driver is gone, they drop the process, and its guard
//! ends whatever it had started.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakroom_engines::{
    Banner, Connection, Context, EnvVar, Exit, Force, Heard, Held, Place, SpareGuard, Stop, Supervised,
    Terminal, WhenLost, Whom, run_in_pty,
};
use breakroom_session::{ClientId, EngineFacts, NodeId, Stdin, TerminalRequest, Ticket, Traveller, Verb};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::choose::{Wanted, choose};
use crate::daemons;
use crate::driver::{Newcomer, Packed};
use crate::journal::{Follow, Page};
use crate::makers::Makers;
use crate::registry::{Registry, SessionId, Summary};

/// What the driver hears from beside the path of messages.
pub(crate) enum News {
    Started {
        node: NodeId,
        outcome: Result<Box<Arrived>, String>,
    },
    /// What became of a connection to a server that was there.
    Connected {
        node: NodeId,
        outcome: Result<Connection, String>,
    },
    /// The engine's own process ended.
    Exited {
        node: NodeId,
        exit: Exit,
    },
    /// A kill that was ordered is done.
    Killed {
        node: NodeId,
    },
    /// Nothing of it is left.
    Gone {
        node: NodeId,
    },
    Terminal {
        ticket: Ticket,
        node: NodeId,
        outcome: Result<Terminal, String>,
    },
    /// What came of looking at a launch.
    Prepared {
        ticket: Ticket,
        result: Result<Option<Value>, String>,
    },
    /// A line to show meanwhile.
    Progress {
        ticket: Ticket,
        text: String,
    },
    /// A client wants to take part.
    Join {
        newcomer: Box<Newcomer>,
        reply: std::sync::mpsc::Sender<Result<(), String>>,
    },
    /// What the hub says to a client that asked it for something.
    HubAnswered {
        ticket: Ticket,
        result: Result<Value, String>,
    },
    /// The session that a client wants to go to, or why it cannot.
    Found {
        client: ClientId,
        session: Result<Sender, String>,
    },
    /// A client comes from another session.
    Arrive {
        packed: Packed,
        traveller: Box<Traveller>,
    },
    /// Somebody wants to know what the session is doing.
    Describe {
        id: SessionId,
        reply: std::sync::mpsc::Sender<Summary>,
    },
    /// Somebody reads the journal, from this entry on. One who follows waits until there is something.
    Read {
        from: u64,
        follow: Follow,
        reply: oneshot::Sender<Page>,
    },
    /// Somebody wants the session ended.
    Kill {
        reason: String,
    },
    /// The hub is going away.
    Shutdown {
        reason: String,
    },
}

/// An engine that runs, before the driver has taken its descriptors.
pub(crate) struct Arrived {
    pub engine: breakroom_engines::Engine,
    pub facts: EngineFacts,
    pub debuggee_stdio: bool,
    pub banner: Banner,
}

pub(crate) type Sender = mpsc::UnboundedSender<News>;

pub(crate) fn start(
    node: NodeId,
    wanted: Wanted,
    makers: Makers,
    context: Context,
    guards: Arc<SpareGuard>,
    news: Sender,
) -> AbortHandle {
    let task = tokio::task::spawn_local(async move {
        let outcome = start_engine(wanted, makers, &context, &guards).await.map(Box::new);
        // The driver is gone: dropping the engine ends it.
        let _ = news.send(News::Started { node, outcome });
    });
    task.abort_handle()
}

/// Makes a connection for a child, to the first of these places that answers.
pub(crate) fn connect(node: NodeId, places: Vec<Place>, patience: Duration, news: Sender) -> AbortHandle {
    let task = tokio::task::spawn_local(async move {
        let met = breakroom_engines::connect(&places, patience).await;
        let outcome = met.map_err(|error| error.to_string());
        let _ = news.send(News::Connected { node, outcome });
    });
    task.abort_handle()
}

async fn start_engine(
    wanted: Wanted,
    makers: Makers,
    context: &Context,
    guards: &SpareGuard,
) -> Result<Arrived, String> {
    // Looking for an adapter may run a program, and that must not keep other sessions waiting.
    let surroundings = context.clone();
    let ready = guards.take().ok();
    let chosen = tokio::task::spawn_blocking(move || choose(wanted, &surroundings, &makers)).await;
    let (spec, mut facts) = chosen.map_err(|error| error.to_string())??;
    let started = breakroom_engines::start_under(ready, &spec, context, guards.executable()).await;
    let engine = started.map_err(|error| format!("{} could not be started: {error}", spec.name))?;
    facts.address = engine.place.as_ref().map(ToString::to_string);
    if engine.stdin.is_none() {
        facts.stdin = Stdin::Others;
    }
    if let (Some(path), Some((_, commands))) = (&engine.input, &mut facts.amendments.before) {
        commands.iter_mut().for_each(|command| *command = command.replace(breakroom_engines::INPUT, path));
    }
    Ok(Arrived { engine, facts, debuggee_stdio: spec.debuggee_stdio, banner: spec.banner })
}

/// What the owner of a process is told to do about it.
#[derive(Debug)]
pub(crate) enum Order {
    Stop(Stop),
    Kill(Whom, Force),
    WhenLost(WhenLost),
    /// Duplicates of our ends of this node's connection, for the process's guard.
    Hold(NodeId, Vec<OwnedFd>),
    LetGo(NodeId),
}

impl Order {
    fn give(self, process: &mut Supervised) {
        match self {
            Order::Stop(how) => process.stop(how),
            Order::Kill(whom, force) => process.kill(whom, force),
            Order::WhenLost(what) => process.when_lost(what),
            Order::Hold(node, descriptors) => {
                let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                process.hold(Held::Connection(node.0), &descriptors);
            }
            Order::LetGo(node) => process.let_go(Held::Connection(node.0)),
        }
    }
}

/// Owns a process until nothing is left of it. Orders come through the returned channel; closing it is the order
/// to end at once.
pub(crate) fn watch(node: NodeId, mut process: Supervised, news: Sender) -> mpsc::UnboundedSender<Order> {
    let (orders, mut received) = mpsc::unbounded_channel::<Order>();
    tokio::task::spawn_local(async move {
        let exit = loop {
            tokio::select! {
                heard = process.hears() => match heard {
                    Heard::Exited(exit) => break exit,
                    Heard::Killed => drop(news.send(News::Killed { node })),
                },
                order = received.recv() => match order {
                    Some(order) => order.give(&mut process),
                    None => return,
                },
            }
        };
        let _ = news.send(News::Exited { node, exit });
        loop {
            tokio::select! {
                () = process.gone() => break,
                order = received.recv() => match order {
                    Some(order) => order.give(&mut process),
                    None => return,
                },
            }
        }
        let _ = news.send(News::Gone { node });
    });
    orders
}

/// Runs what an engine wants in a terminal, in one of ours.
pub(crate) fn open_terminal(
    ticket: Ticket,
    node: NodeId,
    request: TerminalRequest,
    context: Context,
    guard: PathBuf,
    news: Sender,
) {
    tokio::task::spawn_local(async move {
        let TerminalRequest { args, cwd, env } = request;
        let cwd = cwd.as_deref().map(std::path::Path::new);
        let env: Vec<_> = env.into_iter().map(|(name, value)| EnvVar { name, value }).collect();
        let outcome = run_in_pty(&args, cwd, &env, &context, &guard).await.map_err(|error| error.to_string());
        let _ = news.send(News::Terminal { ticket, node, outcome });
    });
}

/// Asks the hub for what a client wants of it. All sessions are asked who they are, this one too, so it must not wait for
/// the answer itself.
pub(crate) fn ask_hub(ticket: Ticket, verb: Verb, registry: Option<Arc<Registry>>, news: Sender) {
    tokio::task::spawn_blocking(move || {
        let answer = |result| drop(news.send(News::HubAnswered { ticket, result }));
        let Some(registry) = registry else {
            return answer(Err("a private hub has no other session; leave `--private` out".to_owned()));
        };
        match verb {
            Verb::Sessions => answer(Ok(json!({"sessions": registry.list()}))),
            Verb::Session => match registry.describe(&news) {
                Some(summary) => answer(Ok(json!({"session": summary}))),
                None => answer(Err("this session has just ended".to_owned())),
            },
            Verb::Kill { session, by } => match registry.find(Some(&session)) {
                // Answered first: it may be the asker's own.
                Ok((id, session)) => {
                    answer(Ok(json!({"session": id})));
                    let reason = format!("the session was ended by {by}");
                    let _ = session.send(News::Kill { reason });
                }
                Err(reason) => answer(Err(reason)),
            },
        }
    });
}

/// Looks for a session that a client wants to go to. All sessions are asked for their names, this one too, so it must
/// not wait for the answer itself.
pub(crate) fn find(client: ClientId, wanted: String, registry: Option<Arc<Registry>>, news: Sender) {
    tokio::task::spawn_blocking(move || {
        let session = match registry {
            Some(registry) => registry.find(Some(&wanted)).map(|(_, session)| session).map_err(|reason| {
                // Another version may hold it; that says more than that it is not here.
                daemons::held_elsewhere(&wanted).unwrap_or(reason)
            }),
            None => Err("a private hub has no other session; leave `--private` out".to_owned()),
        };
        let _ = news.send(News::Found { client, session });
    });
}
