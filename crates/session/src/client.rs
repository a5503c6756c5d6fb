//! One client of the session: what it declared, how far it has come, and what waits to be sent to it.
//!
//! Its numbers are given when a message leaves, so that what is left out leaves no gap. It knows no other client.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use breakroom_dap::view::Initialize;
use breakroom_dap::{Edit, Envelope, Message, Packet};
use smallvec::SmallVec;

use crate::access::Access;
use crate::belief::Belief;
use crate::company::Manners;
use crate::edge::{Dialect, Spellings};
use crate::ids::{ClientId, FromClient, FromEngine, NodeId, ToClient};
use crate::joining::{Heard, Missing};
use crate::ledger::ShelfId;
use crate::others::ToldOfOthers;
use crate::outbox::{HOPELESS, Outbox};
use crate::views::{Home, View};

#[derive(Debug)]
pub(crate) struct Client {
    pub access: Access,
    pub phase: Phase,
    pub declared: Initialize,
    pub spellings: Spellings,
    pub manners: Manners,
    pub errand: Errand,
    /// Reverse requests that it was asked and has not answered.
    pub asked: HashMap<ToClient, Asked>,
    /// What it believes of each node that it sees.
    pub beliefs: BTreeMap<NodeId, Belief>,
    pub view: View,
    /// The node that it means if it names none, as it said itself; until something stops.
    pub focus: Option<NodeId>,
    /// The children that it was asked to open sessions for.
    pub offered: BTreeSet<NodeId>,
    /// The `type` of its own `launch` or `attach`, under which it would open a session.
    pub kind: Option<String>,
    /// The `debugServer` of the same request: VS Code connects to that port instead of starting an adapter.
    pub debug_server: Option<i64>,
    /// The client that was asked to open this connection for a child: the same editor.
    pub opened_for: Option<ClientId>,
    /// Whether its connection was made for one child, so that its `launch` or `attach` says nothing about what it joins.
    pub is_for_child: bool,
    /// Whether it has asked for `terminate`, which an adapter may decline, so that it may insist.
    pub has_terminated: bool,
    pub told_of_others: ToldOfOthers,
    /// Lists that it has from before it was lost, and has not said anything about since.
    pub inherited: Vec<ShelfId>,
    /// The outputs of the picture that it heard as they came, before it was made a joiner; without end until then.
    pub heard_live: Range<u64>,
    told: Parting,
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

/// Whether it has said what it came for: `launch` or `attach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errand {
    NotYet,
    Said,
}

impl Phase {
    /// Whether a client that is gone in this phase went as it wanted to, or as the hub had to.
    pub fn is_orderly(&self) -> bool {
        use CloseReason::{AdapterEnded, Disconnected, Shutdown};
        matches!(self, Phase::Leaving(Disconnected | Shutdown(_) | AdapterEnded { .. }))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The client asked for it.
    Disconnected,
    /// Its bytes made no messages.
    Broken(String),
    /// It did not read, and its connection is closed without waiting for that.
    Behind(String),
    /// The hub is going away.
    Shutdown(String),
    /// The adapter that the session was made for has ended, or could not be started.
    AdapterEnded { failure: Option<String> },
}

/// Whether the client heard that the session is over. DAP wants that said once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parting {
    Nothing,
    Terminated,
}

/// A reverse request in a client's hands.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub whose: Whose,
    pub command: Arc<str>,
}

/// Who waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Engine {
        node: NodeId,
        seq: FromEngine,
    },
    /// The hub itself, which wants the client to open a session for this child.
    Hub {
        child: NodeId,
    },
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

impl Client {
    pub fn new(access: Access) -> Self {
        Client {
            access,
            phase: Phase::Connected,
            declared: Initialize::default(),
            spellings: Spellings::default(),
            manners: Manners::default(),
            errand: Errand::NotYet,
            asked: HashMap::new(),
            beliefs: BTreeMap::new(),
            view: View::default(),
            offered: BTreeSet::new(),
            focus: None,
            kind: None,
            debug_server: None,
            opened_for: None,
            is_for_child: false,
            has_terminated: false,
            told_of_others: ToldOfOthers::default(),
            inherited: Vec::new(),
            heard_live: 0..0,
            told: Parting::Nothing,
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
        !self.is_outside() && matches!(self.phase, Phase::Ready | Phase::Configuring)
    }

    /// What it believes of a node.
    pub fn belief(&mut self, node: NodeId) -> &mut Belief {
        self.beliefs.entry(node).or_default()
    }

    /// Whether it is in the session for one child at most.
    pub fn is_at_child(&self) -> bool {
        matches!(self.view, View::Outside | View::Own { home: Home::Child(_), .. })
    }

    /// Whether it was refused what it came for.
    pub fn is_outside(&self) -> bool {
        matches!(self.view, View::Outside)
    }

    /// Its connection is closed when all is written, because the adapter that it came for has ended.
    pub fn leave_with_adapter(&mut self, failure: Option<&str>) {
        if !self.is_leaving() {
            self.phase = Phase::Leaving(CloseReason::AdapterEnded { failure: failure.map(str::to_owned) });
        }
    }

    pub fn is_leaving(&self) -> bool {
        matches!(self.phase, Phase::Leaving(_))
    }

    /// Whether it is told what happens.
    pub fn hears(&self) -> bool {
        let deaf = matches!(self.phase, Phase::Connected | Phase::Joining { .. } | Phase::Leaving(_));
        self.access.is_granted() && !deaf && !self.is_outside()
    }

    /// Queues an event for a client that is alone, in the order and as often as it tolerates it.
    pub fn event(&mut self, message: Message, edits: SmallVec<[Edit; 2]>) {
        self.queue(message, edits, Outbox::push_alone);
    }

    /// Queues an event for a client that others must not wait for. One that is too far behind to be helped is let go.
    pub fn event_in_company(&mut self, message: Message, edits: SmallVec<[Edit; 2]>) {
        self.queue(message, edits, Outbox::push_in_company);
        if self.outbox.is_hopeless() && !self.is_leaving() {
            self.outbox.give_up();
            let megabytes = HOPELESS >> 20;
            let reason =
                format!("this client did not read what it was sent and was more than {megabytes} MB behind");
            self.phase = Phase::Leaving(CloseReason::Behind(reason));
        }
    }

    fn queue(
        &mut self,
        message: Message,
        edits: SmallVec<[Edit; 2]>,
        push: impl FnOnce(&mut Outbox, Outgoing),
    ) {
        if !self.hears() {
            return;
        }
        if is_terminated(&message) {
            if self.told == Parting::Terminated {
                return;
            }
            self.told = Parting::Terminated;
        }
        let outgoing = Outgoing { message, edits, asks: None };
        match &mut self.phase {
            Phase::Initializing { held, .. } => held.push(outgoing),
            _ => push(&mut self.outbox, outgoing),
        }
    }

    /// Why its connection is to be closed although it has not read everything.
    pub fn cut_off(&self) -> Option<&CloseReason> {
        match &self.phase {
            Phase::Leaving(reason @ CloseReason::Behind(_)) => Some(reason),
            _ => None,
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
        asked.into_iter().map(|(_, asked)| asked).chain(self.outbox.into_asked())
    }

    /// Whether it takes part: it has said who it is, may act, and is not on its way out.
    pub fn takes_part(&self) -> bool {
        let there = !matches!(self.phase, Phase::Connected | Phase::Leaving(_));
        self.access.is_granted() && there && !self.is_outside()
    }

    pub fn is_behind(&self) -> bool {
        self.outbox.is_behind()
    }

    /// Whether it can be sent more without being behind. Nothing waits for a client that leaves, and nothing is sent to
    /// one without access.
    pub fn takes_more(&self) -> bool {
        self.is_leaving() || (self.access.is_granted() && !self.is_behind())
    }

    pub fn is_far_behind(&self) -> bool {
        self.outbox.is_far_behind()
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

fn is_terminated(message: &Message) -> bool {
    matches!(message.envelope(), Envelope::Event { event } if &**event == "terminated")
}
