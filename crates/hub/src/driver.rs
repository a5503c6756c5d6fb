//! The driver of one session: it owns the session core and everything that core must not touch.
//!
//! One task, one `poll`: read what can be read, let the core decide, write what can be written.
//! It ends when the session is over and no process of it is left.

mod children;
mod client_io;
mod effects;
mod elsewhere;
mod holding;
mod killing;
mod node_io;
mod process_io;
mod program_input;
mod recorder;
mod terminals;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Waker, Poll};
use std::time::{Duration, SystemTime};

use breakroom_engines::{Context, SpareGuard, Stop};
use breakroom_session::{Access, ClientId, Input, NodeId, Reach, Recording, Session, Setup, Time};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, Sleep};

use crate::choose;
use crate::hello::{self, Purpose, SessionOptions};
use crate::journal::{Follow, Page, Past};
use crate::preparing::Preparations;
use crate::registry::{Registry, SessionId};
use crate::secret;
use crate::supervise::{Arrived, News, Order, Sender};
use children::Awaited;
pub(crate) use client_io::Packed;
use client_io::{ClientIo, Lingering};
use killing::Killing;
use node_io::NodeIo;
pub use recorder::OutputFiles;
use recorder::Recorder;
use terminals::TerminalIo;

/// What is read of a terminal at most when its program has ended, before that is told.
const MOST_LAST_WORDS: usize = 16;

/// One client as a door hands it over.
#[derive(Debug)]
pub struct Newcomer {
    pub input: OwnedFd,
    pub output: OwnedFd,
    /// The door's own connection: its end is the client's loss.
    pub control: Option<std::os::unix::net::UnixStream>,
    /// Where the output of a session that begins is recorded.
    pub files: Option<OutputFiles>,
    pub purpose: Purpose,
}

impl Newcomer {
    fn access(&self) -> std::io::Result<Access> {
        match self.purpose {
            Purpose::Start { access, .. } | Purpose::Join { access, .. } => secret::access(access),
            Purpose::Read { .. } => Err(std::io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The child that the connection is for.
    fn child(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::Join { child, .. } => child.as_deref(),
            Purpose::Start { .. } | Purpose::Read { .. } => None,
        }
    }

    fn options(&self) -> SessionOptions {
        match &self.purpose {
            Purpose::Start { options, .. } => options.clone(),
            Purpose::Join { .. } | Purpose::Read { .. } => SessionOptions::default(),
        }
    }
}

/// Where a session is, and how it is found there.
pub(crate) enum Residence {
    /// A hub of its own, which nobody else comes to.
    Private,
    Shared {
        registry: Arc<Registry>,
        id: SessionId,
    },
}

pub(crate) struct Driver {
    session: Session,
    recorder: Recorder,
    /// What the session is called elsewhere.
    labels: BTreeMap<String, String>,
    context: Context,
    guards: Arc<SpareGuard>,
    registry: Option<Arc<Registry>>,
    began: Instant,
    began_at: SystemTime,
    clients: Vec<ClientIo>,
    /// Connections that are over and not closed yet.
    lingering: Vec<Lingering>,
    last_client: u32,
    nodes: Vec<NodeIo>,
    /// Engines that are being started, to be called off if the session ends first.
    starting: Vec<(NodeId, tokio::task::AbortHandle)>,
    awaited: Vec<Awaited>,
    terminals: Vec<TerminalIo>,
    killings: Vec<Killing>,
    preparations: Preparations,
    /// Those who wait for an entry of the journal, each for its number.
    readers: Vec<(u64, oneshot::Sender<Page>)>,
    news: mpsc::UnboundedReceiver<News>,
    sender: Sender,
    timer: Pin<Box<Sleep>>,
    armed: Option<Instant>,
}

/// Whether the loop must turn once more. What is read in a turn is also written in it, so that one is usually enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Again,
    Done,
}

impl std::ops::BitOrAssign for Step {
    fn bitor_assign(&mut self, other: Step) {
        if other == Step::Again {
            *self = Step::Again;
        }
    }
}

impl Driver {
    /// `line` is where the session is spoken to from elsewhere.
    pub fn new(
        mut newcomer: Newcomer,
        context: Context,
        guards: Arc<SpareGuard>,
        residence: Residence,
        line: (Sender, mpsc::UnboundedReceiver<News>),
    ) -> std::io::Result<Self> {
        let (reach, id, registry) = match residence {
            Residence::Private => (Reach::Private, None, None),
            Residence::Shared { registry, id } => (Reach::Shared, Some(id.0), Some(registry)),
        };
        let SessionOptions { adapter, start, when_alone, terminal_host, child_ids, labels } =
            newcomer.options();
        let (setup, makers) = choose::setup(&context, adapter, reach);
        let files = newcomer.files.take();
        let recording = if files.is_some() { Recording::Events } else { Recording::Nothing };
        let session =
            Session::new(Setup { id, start, when_alone, terminal_host, child_ids, recording, ..setup });
        let (sender, news) = line;
        let mut driver = Driver {
            session,
            recorder: Recorder::new(files),
            labels,
            context,
            guards,
            registry,
            began: Instant::now(),
            began_at: SystemTime::now(),
            clients: Vec::new(),
            lingering: Vec::new(),
            last_client: 0,
            nodes: Vec::new(),
            starting: Vec::new(),
            awaited: Vec::new(),
            terminals: Vec::new(),
            killings: Vec::new(),
            preparations: Preparations::new(makers),
            readers: Vec::new(),
            news,
            sender,
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            armed: None,
        };
        driver.join(newcomer)?;
        Ok(driver)
    }

    fn join(&mut self, newcomer: Newcomer) -> std::io::Result<()> {
        let access = newcomer.access()?;
        let child = match newcomer.child() {
            Some(id) => Some(self.session.child_named(id).ok_or_else(|| no_child(id))?),
            None => None,
        };
        self.last_client += 1;
        let id = ClientId(self.last_client);
        let control = newcomer.control.map(|control| {
            // Not by whoever brought it: a client that is let go at once must not hear of that first.
            hello::come(&control, self.session.id().unwrap_or_default())?;
            control.set_nonblocking(true)?;
            UnixStream::from_std(control)
        });
        self.clients.push(ClientIo::new(id, newcomer.input, newcomer.output, control.transpose()?, &access)?);
        self.on(Input::ClientJoined { client: id, access, child });
        Ok(())
    }

    /// Drives the session to its end, and gives what is worth remembering of it: nothing if no client had access.
    pub async fn run(mut self) -> Option<Past> {
        poll_fn(|cx| self.poll(cx)).await;
        if self.session.oddities() > 0 {
            tracing::info!(dropped = self.session.oddities(), "messages that were not legal were dropped");
        }
        let name = self.session.describe().name;
        let is_admitted = self.session.is_admitted();
        is_admitted.then(|| Past { name, began: self.began_at, journal: self.session.into_journal() })
    }

    fn on(&mut self, input: Input) {
        on(&mut self.session, self.began, input);
    }

    fn poll(&mut self, cx: &mut Waker) -> Poll<()> {
        loop {
            let steps = [
                self.read_clients(cx),
                self.perform(),
                self.write_nodes(cx),
                self.hear_news(cx),
                self.read_nodes(cx),
                self.read_terminals(cx),
                self.perform(),
                self.write_clients(cx),
                self.write_nodes(cx),
            ];
            self.forget_gone();
            if self.session.is_over() && self.lingering.is_empty() && self.processes_are_gone() {
                return Poll::Ready(());
            }
            if self.is_outlived() {
                return Poll::Ready(());
            }
            if steps.contains(&Step::Again) {
                continue;
            }
            self.clients.iter_mut().for_each(ClientIo::rest);
            self.nodes.iter_mut().for_each(NodeIo::rest);
            self.tell_readers();
            if self.poll_timer(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// A hub for one session need not stay for programs that outlive it: their guards see to the rest.
    fn is_outlived(&self) -> bool {
        let is_left = |node: &NodeIo| node.is_gone() || node.outlives_hub();
        self.registry.is_none()
            && self.clients.is_empty()
            && self.lingering.is_empty()
            && self.terminals.is_empty()
            && self.nodes.iter().any(NodeIo::outlives_hub)
            && self.nodes.iter().all(is_left)
    }

    fn read_clients(&mut self, cx: &mut Waker) -> Step {
        let mut step = Step::Done;
        for client in &mut self.clients {
            // One read at a time, so that a flood of requests is passed on while it comes.
            step |= client.read(cx, &mut self.session, self.began);
        }
        step
    }

    fn write_clients(&mut self, cx: &mut Waker) -> Step {
        let mut step = Step::Done;
        let heard = self.hears_engines();
        let (session, began) = (&mut self.session, self.began);
        let mut at = 0;
        while let Some(client) = self.clients.get_mut(at) {
            let open = client.write(cx, session);
            if !open || client.may_be_heard_again(session) {
                step = Step::Again;
            }
            if open {
                at += 1;
                continue;
            }
            let client = self.clients.remove(at);
            on(session, began, Input::ClientLeft { client: client.id() });
            self.lingering.extend(client.linger());
        }
        self.lingering.retain_mut(|connection| !connection.is_over(cx));
        // The engines were not read in this turn, so they would not wake us for what they have already written.
        if !heard && self.hears_engines() {
            step = Step::Again;
        }
        step
    }

    /// Whether engines are read: not while every client is behind, so that what waits does so in the engine and
    /// one large message at a time is in memory.
    fn hears_engines(&self) -> bool {
        // One and the same: a client that reads nothing may have little in line, and one that reads much.
        let takes_more = |client: &ClientIo| client.keeps_up() && self.session.takes_more(client.id());
        match self.clients.iter().any(|client| self.session.has_access(client.id())) {
            false => self.session.wants_engine(),
            true => self.clients.iter().any(takes_more),
        }
    }

    fn read_nodes(&mut self, cx: &mut Waker) -> Step {
        let mut step = Step::Done;
        let heard = self.hears_engines();
        for node in &mut self.nodes {
            if heard || !node.shares_stderr() {
                step |= node.read_stderr(cx, &mut self.session, self.began);
            }
            // One read at a time, so that a flood does not keep the others waiting or outgrow what clients take.
            if heard {
                step |= node.read(cx, &mut self.session, self.began);
            }
            step |= node.report_end(&mut self.session, self.began);
        }
        if !self.awaited.is_empty() {
            self.give_up_on_children();
        }
        step
    }

    fn write_nodes(&mut self, cx: &mut Waker) -> Step {
        self.nodes.iter_mut().for_each(|node| node.write(cx, &mut self.session));
        self.terminals.iter_mut().for_each(|terminal| terminal.input.write(cx));
        Step::Done
    }

    fn hear_news(&mut self, cx: &mut Waker) -> Step {
        let mut step = Step::Done;
        while let Poll::Ready(Some(news)) = self.news.poll_recv(cx) {
            step = Step::Again;
            match news {
                News::Started { node, outcome } => {
                    let Some(at) = self.starting.iter().position(|(starting, _)| *starting == node) else {
                        // It was called off just as it came up; dropping it ends it.
                        continue;
                    };
                    self.starting.swap_remove(at);
                    match outcome.and_then(|arrived| self.take_engine(node, *arrived)) {
                        Ok(facts) => self.on(Input::NodeUp { node, facts }),
                        Err(reason) => self.on(Input::NodeFailed { node, reason }),
                    }
                }
                News::Connected { node, outcome } => self.on_connected(node, outcome),
                News::Killed { node } => self.is_killed(node),
                News::Exited { node, exit } => {
                    self.is_killed(node);
                    let terminal = self.terminals.iter().find(|terminal| terminal.watched_as == node);
                    if let Some(node) = terminal.map(|terminal| terminal.node) {
                        // What it wrote comes first. What it has started may write for ever, so only so much is read.
                        for _ in 0..MOST_LAST_WORDS {
                            if self.read_terminals(cx) == Step::Done {
                                break;
                            }
                        }
                        self.on(Input::TerminalEnded { node, code: exit.shells_code() });
                    }
                    if let Some(node) = self.nodes.iter_mut().find(|known| known.id() == node) {
                        node.on_exit(exit);
                    }
                }
                News::Gone { node } => {
                    self.is_killed(node);
                    self.terminals.retain(|terminal| terminal.watched_as != node);
                    if let Some(node) = self.nodes.iter_mut().find(|known| known.id() == node) {
                        node.on_gone();
                    }
                }
                News::Prepared { ticket, result } => {
                    self.preparations.over(ticket);
                    self.on(Input::Prepared { ticket, result });
                }
                News::Progress { ticket, text } => self.on(Input::Progress { ticket, text }),
                News::Terminal { ticket, node, outcome } => self.take_terminal(ticket, node, outcome),
                News::Join { newcomer, reply } => {
                    // Whoever asked may have given up; then its connection is seen to be closed.
                    let _ = reply.send(self.join(*newcomer).map_err(|error| error.to_string()));
                }
                News::HubAnswered { ticket, result } => self.on(Input::HubAnswered { ticket, result }),
                News::Found { client, session } => self.let_go(client, session),
                News::Arrive { packed, traveller } => self.take_in(packed, traveller),
                News::Describe { id, reply } => {
                    // A question without an answer means that there is nothing to list.
                    if self.session.is_admitted() {
                        let _ = reply.send(self.describe(id));
                    }
                }
                News::Read { from, follow, reply } => {
                    self.readers.retain(|(_, waiting)| !waiting.is_closed());
                    match follow {
                        Follow::UntilTheEnd => self.readers.push((from, reply)),
                        // Whoever asked may be gone by now.
                        Follow::No => drop(reply.send(self.page(from))),
                    }
                }
                News::Kill { reason } => self.on(Input::Killed { reason }),
                News::Shutdown { reason } => self.on(Input::Shutdown { reason }),
            }
        }
        step
    }

    fn take_engine(
        &mut self,
        id: NodeId,
        arrived: Arrived,
    ) -> Result<breakroom_session::EngineFacts, String> {
        let facts = arrived.facts.clone();
        let node = NodeIo::new(id, arrived, self.sender.clone());
        let node =
            node.map_err(|error| format!("the connection to {} cannot be used: {error}", facts.name))?;
        tracing::debug!(node = id.0, engine = facts.name, "engine is up");
        self.nodes.push(node);
        Ok(facts)
    }

    /// Asks whatever is left of a session that is over to end, and says whether it has.
    fn processes_are_gone(&mut self) -> bool {
        for terminal in &self.terminals {
            let _ = terminal.orders.send(Order::Stop(Stop::End { grace: Duration::ZERO }));
        }
        self.preparations.call_off_all();
        self.preparations.is_empty() && self.terminals.is_empty() && self.nodes.iter().all(NodeIo::is_gone)
    }

    /// Wakes the session when its next deadline is due. A deadline that moved away is noticed when the timer fires:
    /// in the usual case requests are answered long before, and the timer is not touched for each of them.
    fn poll_timer(&mut self, cx: &mut Waker) -> Poll<()> {
        let session = self.session.next_deadline().map(|Time(after)| self.began + after);
        let nodes = self.nodes.iter().filter_map(NodeIo::deadline);
        let clients = self.clients.iter().filter_map(ClientIo::deadline);
        let lingering = self.lingering.iter().map(Lingering::deadline);
        let Some(due) = session.into_iter().chain(nodes).chain(clients).chain(lingering).min() else {
            self.armed = None;
            return Poll::Pending;
        };
        if self.armed.is_none_or(|armed| due < armed) {
            self.timer.as_mut().reset(due);
            self.armed = Some(due);
        }
        if self.timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.armed = None;
        let heard = self.hears_engines();
        let visits = self.nodes.iter().filter_map(NodeIo::host);
        let keepers: Vec<_> = visits.chain(self.awaited.iter().map(Awaited::host)).collect();
        for node in &mut self.nodes {
            let visited = keepers.contains(&node.id());
            node.on_timer(heard, visited);
        }
        self.clients.iter_mut().for_each(|client| client.on_timer(&mut self.session, self.began));
        self.on(Input::Timer);
        Poll::Ready(())
    }
}

fn on(session: &mut Session, began: Instant, input: Input) {
    session.on(Time(began.elapsed()), input);
}

fn no_child(id: &str) -> std::io::Error {
    let text = format!("the session has no child session {id}");
    std::io::Error::new(std::io::ErrorKind::NotFound, text)
}
