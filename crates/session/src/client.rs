//! One client of the session: what it declared, how far it has come, and what waits to be sent to it.

use std::collections::{HashMap, VecDeque};

use breakroom_dap::view::Initialize;
use breakroom_dap::{Edit, Envelope, Message, Packet, event};
use serde_json::json;
use smallvec::SmallVec;

use crate::access::Access;
use crate::belief::Belief;
use crate::company::Manners;
use crate::edge::{Dialect, Spellings};
use crate::ids::{FromClient, FromEngine, NodeId, ToClient};
use crate::joining::{Heard, Missing};
use crate::others::ToldOfOthers;

/// Above this the engine is not read until the client catches up: nothing is lost and nothing grows.
const MARK_BYTES: usize = 4 << 20;
const MARK_MESSAGES: usize = 16_384;
/// Beyond this a client that does not keep up while others do is let go: answers and states are never left out.
const HOPELESS_BYTES: usize = 64 << 20;

#[derive(Debug)]
pub(crate) struct Client {
    pub access: Access,
    pub phase: Phase,
    pub declared: Initialize,
    pub spellings: Spellings,
    pub manners: Manners,
    /// Reverse requests that it was asked and has not answered.
    pub asked: HashMap<ToClient, Asked>,
    pub belief: Belief,
    pub told_of_others: ToldOfOthers,
    told: Told,
    outbox: Outbox,
}

/// How far a client has come.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Only `initialize` is legal.
    Connected,
    /// It waits for the engine's capabilities; events that came earlier are held for it.
    Initializing { seq: FromClient, held: Vec<Outgoing> },
    /// `initialize` is answered, `initialized` is still to come.
    Ready,
    /// It was told `initialized`, and hears what everybody hears.
    Configuring,
    /// The debuggee was there before it: it hears nothing live until it was shown everything.
    Joining { heard: Heard, missing: Missing },
    /// Nothing is sent any more; the connection is closed once all is written.
    Leaving(CloseReason),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The client asked for it.
    Disconnected,
    /// Its bytes made no messages.
    Broken(String),
    /// The hub is going away.
    Shutdown(String),
}

/// Whether the client heard that the session is over. DAP wants that said once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Terminated,
}

/// A reverse request in a client's hands.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub node: NodeId,
    pub seq: FromEngine,
    pub command: Box<str>,
}

#[derive(Debug)]
pub(crate) struct Outgoing {
    pub message: Message,
    pub edits: SmallVec<[Edit; 2]>,
    pub asks: Option<Asked>,
}

impl Outgoing {
    pub fn plain(message: Message) -> Self {
        Outgoing { message, edits: SmallVec::new(), asks: None }
    }
}

/// What the driver should do with a client's connection now.
#[derive(Debug)]
pub enum Next {
    Send(Packet),
    Wait,
    Close(CloseReason),
}

/// Numbers are given when a message leaves, so that what is held, dropped or put in front never leaves a gap.
#[derive(Debug, Default)]
struct Outbox {
    queue: VecDeque<Outgoing>,
    bytes: usize,
    last: ToClient,
    /// Outputs that were left out since it was last told how many.
    missed: u64,
}

impl Client {
    pub fn new(access: Access) -> Self {
        Client {
            access,
            phase: Phase::Connected,
            declared: Initialize::default(),
            spellings: Spellings::default(),
            manners: Manners::default(),
            asked: HashMap::new(),
            belief: Belief::default(),
            told_of_others: ToldOfOthers::default(),
            told: Told::Nothing,
            outbox: Outbox::default(),
        }
    }

    pub fn dialect(&self) -> Dialect<'_> {
        Dialect { declared: &self.declared, spellings: &self.spellings }
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        let declared = self.declared.client_name.as_deref().or(self.declared.client_id.as_deref());
        declared.unwrap_or("a client")
    }

    /// Whether a request of an engine may be put to it: not before its `initialize` is answered.
    pub fn may_be_asked(&self) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Configuring)
    }

    pub fn is_leaving(&self) -> bool {
        matches!(self.phase, Phase::Leaving(_))
    }

    /// Queues an event, in the order and as often as this client tolerates it.
    pub fn event(&mut self, message: Message, edits: SmallVec<[Edit; 2]>) {
        if matches!(self.phase, Phase::Connected | Phase::Leaving(_)) || !self.access.is_granted() {
            return;
        }
        if matches!(self.phase, Phase::Joining { .. }) {
            return;
        }
        if is_terminated(&message) {
            if self.told == Told::Terminated {
                return;
            }
            self.told = Told::Terminated;
        }
        let outgoing = Outgoing { message, edits, asks: None };
        match &mut self.phase {
            Phase::Initializing { held, .. } => held.push(outgoing),
            _ => self.outbox.push(outgoing),
        }
    }

    /// Takes note of output that it does not get, because it is behind while others are not. It is told how much.
    pub fn miss_output(&mut self) {
        self.outbox.missed += 1;
    }

    /// Lets go of a client that is further behind than anybody can be helped.
    pub fn cut_off_if_hopeless(&mut self) {
        if self.outbox.bytes > HOPELESS_BYTES && !self.is_leaving() {
            self.outbox.queue.clear();
            self.outbox.bytes = 0;
            let megabytes = HOPELESS_BYTES >> 20;
            let reason =
                format!("this client did not read what it was sent and was more than {megabytes} MB behind");
            self.phase = Phase::Leaving(CloseReason::Broken(reason));
        }
    }

    /// Queues a response or a reverse request.
    pub fn send(&mut self, outgoing: Outgoing) {
        if !self.is_leaving() {
            self.outbox.push(outgoing);
        }
    }

    /// The answer to `initialize`, then what was held back for it.
    pub fn initialized_by(&mut self, answer: Outgoing) {
        let held = match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Initializing { held, .. } => held,
            _ => Vec::new(),
        };
        self.outbox.push(answer);
        held.into_iter().for_each(|outgoing| self.outbox.push(outgoing));
    }

    /// Every reverse request that it has not answered, also those that never left the queue, in their order.
    pub fn unanswered(self) -> impl Iterator<Item = Asked> {
        let mut asked: Vec<_> = self.asked.into_iter().collect();
        asked.sort_by_key(|(seq, _)| seq.0);
        let queued = self.outbox.queue.into_iter().filter_map(|outgoing| outgoing.asks);
        asked.into_iter().map(|(_, asked)| asked).chain(queued)
    }

    /// Whether it takes part: it has said who it is, may act, and is not on its way out.
    pub fn takes_part(&self) -> bool {
        self.access.is_granted() && !matches!(self.phase, Phase::Connected | Phase::Leaving(_))
    }

    pub fn is_behind(&self) -> bool {
        self.outbox.bytes > MARK_BYTES || self.outbox.queue.len() > MARK_MESSAGES
    }

    pub fn next(&mut self) -> Next {
        if let Some((seq, outgoing)) = self.outbox.pop() {
            if let Some(asked) = outgoing.asks {
                self.asked.insert(seq, asked);
            }
            return Next::Send(outgoing.message.renumbered(seq.0, outgoing.edits));
        }
        match &self.phase {
            Phase::Leaving(reason) => Next::Close(reason.clone()),
            _ => Next::Wait,
        }
    }
}

impl Outbox {
    fn push(&mut self, outgoing: Outgoing) {
        self.bytes += outgoing.message.len();
        self.queue.push_back(outgoing);
    }

    fn pop(&mut self) -> Option<(ToClient, Outgoing)> {
        let outgoing = match self.queue.pop_front() {
            Some(outgoing) => {
                self.bytes -= outgoing.message.len();
                outgoing
            }
            None if self.missed > 0 => {
                let text = format!(
                    "breakroom: {} outputs were left out here, because this client was behind\n",
                    self.missed
                );
                self.missed = 0;
                Outgoing::plain(event("output", Some(json!({"category": "console", "output": text}))))
            }
            None => return None,
        };
        self.last.0 += 1;
        Some((self.last, outgoing))
    }
}

fn is_terminated(message: &Message) -> bool {
    matches!(message.envelope(), Envelope::Event { event } if &**event == "terminated")
}
