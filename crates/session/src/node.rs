//! One engine of the session: how far it has come, what waits to be sent to it, and what it owes.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use breakroom_dap::view::Capabilities;
use breakroom_dap::{Edit, Message, Packet, request};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::entry::Entry;
use crate::evaluating::Tries;
use crate::farewell::Farewell;
use crate::gathering::Gathering;
use crate::ids::{Asker, ClientId, FromClient, NodeId, Time, ToEngine};
use crate::io::EngineFacts;
use crate::judgement::Judgement;
use crate::ledger::{BareHits, ShelfId, one_hit_less};
use crate::numbers::Keep;
use crate::picture::Picture;
use crate::reads::Read;
use crate::scopes::Scopes;
use crate::source_numbers::SourceNumbers;
use crate::thread_numbers::ThreadNumbers;
use crate::threads::{Epoch, Life, Resume, Threads};
use crate::tree::{Child, Lineage};

/// An engine that stops reading must not make the hub hoard what clients ask.
const MAX_WAITING: usize = 4096;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// After this a client is told that the engine does not answer.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Node {
    pub id: NodeId,
    pub lineage: Lineage,
    pub facts: EngineFacts,
    pub phase: Phase,
    pub announced: Announced,
    pub gate: Gate,
    pub configuration: Configuration,
    pub capabilities: Capabilities,
    pub threads: Threads,
    pub thread_numbers: ThreadNumbers,
    pub source_numbers: SourceNumbers,
    /// What a client is told of it that comes late.
    pub picture: Picture,
    /// The last lines that its process wrote to its stderr.
    pub last_words: VecDeque<String>,
    /// A stop that nobody was told of yet.
    pub judgement: Option<Judgement>,
    pub hushed: Hushed,
    pub pausing: Pausing,
    pub scopes: Scopes,
    pub entry: Entry,
    /// Breakpoints that the engine made to stop on entry, by its numbers: nobody hears of them.
    pub hidden: Vec<i64>,
    pub farewell: Farewell,
    lanes: Lanes,
    pending: HashMap<ToEngine, Pending>,
    /// Requests in the order they were sent; answered ones leave when they reach the front.
    watch: VecDeque<(Time, ToEngine)>,
    last: ToEngine,
}

#[derive(Debug)]
pub(crate) enum Phase {
    /// The driver is starting the process or connecting to it.
    Starting,
    /// The hub's own `initialize` is on its way. Nothing else may be sent yet.
    Initializing { until: Time },
    /// The engine's answer to `initialize`, kept for every client that comes.
    Ready { answer: Message },
    /// Its process is being ended; it is still heard.
    Ending,
    /// Why it is gone, for whoever asks it for something.
    Ended { why: String },
}

/// Whether the engine said `initialized`. js-debug says it twice, starlark before it answers `initialize`.
#[derive(Debug)]
pub(crate) enum Announced {
    NotYet,
    /// Its words, kept for every client that comes.
    Said(Message),
}

/// Whether what clients ask may go to the engine as soon as it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    Open,
    /// Only behind its own `initialized`: debugpy refuses breakpoints before that.
    UntilAnnounced,
}

/// Whether the engine was told that its configuration is done. It is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Configuration {
    Open,
    /// Somebody is done, but the launcher, whose word counts, is not.
    DoneByOthers,
    Told,
}

/// What of an engine's own words clients must not hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hushed {
    Nothing,
    /// That it goes on: the hub let it, and nobody knows that it stopped.
    Continued,
    /// The same, and it has said so.
    ContinuedAsItSaid,
}

/// Whether somebody wants the program to stop, wherever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pausing {
    No,
    Asked,
}

/// What to do with an answer of the engine.
#[derive(Debug)]
pub(crate) struct Pending {
    pub command: Box<str>,
    pub purpose: Purpose,
}

#[derive(Debug)]
pub(crate) enum Purpose {
    /// Hand it to the client that asked.
    Client { client: ClientId, seq: FromClient, life: Life, then: Then },
    /// The hub's own `initialize`.
    Initialize,
    /// Breakpoints; the ledger knows who waits.
    Shelf(ShelfId),
    /// Something the hub told the engine for nobody in particular.
    Nobody,
    /// The launch of an engine that took another's place.
    Restart,
    /// The announced `launch` or `attach` of a child.
    StartChild,
    /// The hub's own `configurationDone` to a child.
    ConfigureChild,
    /// The hub's own `disconnect` to a child.
    EndChild,
    /// One part of an answer that several nodes give together.
    Gather(Gathering),
    /// A question about a stop that the hub judges.
    Judgement(u64),
    /// The hub's own `continue` after stops that nobody wanted.
    GoOn { stops: Vec<Message>, by: Option<ClientId> },
    /// The hub's own `disconnect`; the client whose `terminate` it carries out is answered with it.
    End { asker: Option<(ClientId, FromClient)> },
}

/// What an answer to a client means to others.
#[derive(Debug)]
pub(crate) enum Then {
    Nothing,
    Resumes(Resumes),
    /// Whoever asked the same gets the same answer.
    Serves(Read),
    /// It is asked for in another way if this one fails.
    Tries(Box<Tries>),
    /// It may have changed what others have read.
    Changes,
    /// It starts the program again; what was numbered before it was asked ends with the old one.
    Restarts(Epoch),
    /// These exception filters hold once the engine agrees.
    Filters(Value),
}

/// The request resumes this thread, or all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resumes {
    pub thread: Option<i64>,
    pub single: bool,
    pub resume: Resume,
}

/// Something to send, with what its answer will mean; an answer to the engine's own request has none.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub message: Message,
    pub edits: SmallVec<[Edit; 2]>,
    pub pending: Option<Pending>,
    /// The lives of the references it names, which may end while it waits.
    pub uses: SmallVec<[Life; 1]>,
}

impl Waiting {
    pub fn new(message: Message, edits: SmallVec<[Edit; 2]>, pending: Option<Pending>) -> Self {
        Waiting { message, edits, pending, uses: SmallVec::new() }
    }
}

/// What is to be done about the next thing that waits for an engine.
pub(crate) enum Turn {
    Send(Packet),
    /// It named something of a stop that ended meanwhile, and the engine must not see that number.
    TooLate(Pending),
}

/// `pause`, `disconnect` and `terminate` must get through however much else waits.
#[derive(Debug, Default)]
struct Lanes {
    urgent: VecDeque<Waiting>,
    normal: VecDeque<Waiting>,
    /// What the root may be told only when its children are gone.
    behind_children: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Urgent,
    Normal,
    BehindChildren,
}

impl Node {
    pub fn new(id: NodeId) -> Self {
        Node {
            id,
            lineage: Lineage::Root,
            facts: EngineFacts::default(),
            phase: Phase::Starting,
            announced: Announced::NotYet,
            gate: Gate::Open,
            configuration: Configuration::Open,
            capabilities: Capabilities::default(),
            threads: Threads::default(),
            thread_numbers: ThreadNumbers::default(),
            source_numbers: SourceNumbers::default(),
            picture: Picture::default(),
            last_words: VecDeque::new(),
            judgement: None,
            hushed: Hushed::Nothing,
            pausing: Pausing::No,
            scopes: Scopes::default(),
            entry: Entry::default(),
            hidden: Vec::new(),
            farewell: Farewell::default(),
            lanes: Lanes::default(),
            pending: HashMap::new(),
            watch: VecDeque::new(),
            last: ToEngine::default(),
        }
    }

    /// A child that was announced. It is asked for nothing before it says that it can be configured.
    pub fn child(id: NodeId, child: Child) -> Self {
        Node {
            lineage: Lineage::Child(Box::new(child)),
            gate: Gate::UntilAnnounced,
            configuration: Configuration::Told,
            thread_numbers: ThreadNumbers::new(Keep::None),
            source_numbers: SourceNumbers::new(Keep::None),
            ..Node::new(id)
        }
    }

    /// Whether what clients ask reaches it at once.
    pub fn listens(&self) -> bool {
        self.gate == Gate::Open || matches!(self.announced, Announced::Said(_))
    }

    /// Whether a stop of it is being judged that nobody knows of.
    pub fn judges(&self) -> bool {
        self.judgement.is_some()
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        if self.facts.name.is_empty() { "the debug adapter" } else { &self.facts.name }
    }

    /// Whether a request of that lane finds no room any more.
    pub fn is_full(&self, lane: Lane) -> bool {
        match lane {
            Lane::Normal => self.lanes.normal.len() >= MAX_WAITING || self.lanes.bytes >= MAX_WAITING_BYTES,
            Lane::Urgent | Lane::BehindChildren => self.lanes.urgent.len() >= MAX_WAITING,
        }
    }

    pub fn push(&mut self, lane: Lane, mut waiting: Waiting) {
        waiting.edits.extend(self.thread_numbers.for_engine(&waiting.message));
        waiting.edits.extend(self.source_numbers.for_engine(&waiting.message));
        self.lanes.bytes += waiting.message.len();
        match lane {
            Lane::Urgent => self.lanes.urgent.push_back(waiting),
            Lane::Normal => self.lanes.normal.push_back(waiting),
            Lane::BehindChildren => self.lanes.behind_children.push_back(waiting),
        }
    }

    /// The children are gone: what waited for that is told.
    pub fn release(&mut self) {
        let Lanes { urgent, behind_children, .. } = &mut self.lanes;
        urgent.append(behind_children);
    }

    /// Makes sure that what follows is about this frame.
    pub fn look_into(&mut self, frame: i64, command: &str, life: Life) {
        if command != "scopes" && self.scopes.looks_elsewhere(frame) {
            let message = request("scopes", json!({"frameId": frame}));
            let pending = Pending { command: "scopes".into(), purpose: Purpose::Nobody };
            let mut waiting = Waiting::new(message, SmallVec::new(), Some(pending));
            waiting.uses.push(life);
            self.push(Lane::Normal, waiting);
        }
        self.scopes.select(frame);
    }

    /// Puts something before all that waits: `initialize`, and the `launch` that everything else builds on.
    pub fn push_first(&mut self, waiting: Waiting) {
        self.lanes.bytes += waiting.message.len();
        self.lanes.urgent.push_front(waiting);
    }

    /// The next message for the engine. Until it answered the hub's `initialize` it gets nothing but that, which
    /// is always the first thing in the urgent lane.
    pub fn next(&mut self, now: Time) -> Option<Turn> {
        let waiting = match self.phase {
            Phase::Starting | Phase::Ended { .. } => return None,
            Phase::Initializing { .. } if self.last.0 > 0 => return None,
            Phase::Initializing { .. } => self.lanes.urgent.pop_front()?,
            Phase::Ending if self.last.0 == 0 => return None,
            Phase::Ending => self.lanes.urgent.pop_front()?,
            Phase::Ready { .. } => match (self.lanes.urgent.pop_front(), &self.announced, self.gate) {
                (Some(urgent), ..) => urgent,
                (None, Announced::NotYet, Gate::UntilAnnounced) => return None,
                (None, ..) => self.lanes.normal.pop_front()?,
            },
        };
        self.lanes.bytes -= waiting.message.len();
        let ended = !waiting.uses.iter().all(|life| self.threads.is_alive(*life));
        let pending = match waiting.pending {
            Some(pending) if ended => return Some(Turn::TooLate(pending)),
            pending => pending,
        };
        self.last.0 += 1;
        let (mut message, mut edits) = (waiting.message, waiting.edits);
        // Only now is it certain which engine gets it.
        if pending.as_ref().is_some_and(|pending| matches!(pending.purpose, Purpose::Shelf(_)))
            && self.facts.bare_hits == BareHits::After
            && let Ok(whole) = message.edited(edits.clone())
        {
            edits = one_hit_less(&whole);
            message = whole;
        }
        if let Some(mut pending) = pending {
            if let Purpose::Client { client, then: Then::Resumes(resumes), .. } = &mut pending.purpose {
                let Resumes { thread, single, resume } = *resumes;
                resumes.resume = self.threads.resume_is_sent(resume, thread, single, *client);
            }
            self.pending.insert(self.last, pending);
            self.watch.push_back((now, self.last));
        }
        Some(Turn::Send(message.renumbered(self.last.0, edits)))
    }

    pub fn answered(&mut self, request: i64) -> Option<Pending> {
        let pending = self.pending.remove(&ToEngine(request));
        self.forget_answered();
        pending
    }

    fn forget_answered(&mut self) {
        while let Some((_, seq)) = self.watch.front()
            && !self.pending.contains_key(seq)
        {
            self.watch.pop_front();
        }
    }

    /// When the oldest unanswered request becomes a silence worth telling.
    pub fn silence_at(&self) -> Option<Time> {
        self.watch.front().map(|(asked, _)| asked.after(SILENCE))
    }

    /// The next request that has been silent for too long; each is told once.
    pub fn next_silent(&mut self, now: Time) -> Option<&Pending> {
        self.forget_answered();
        if self.silence_at()? > now {
            return None;
        }
        let (_, seq) = self.watch.pop_front()?;
        self.pending.get(&seq)
    }

    /// The engine's number of a request of this client, if it was sent and not answered.
    pub fn sent(&self, client: ClientId, asked: FromClient) -> Option<ToEngine> {
        let is_it = |pending: &Pending| pending.is_from(client, asked);
        // A client that repeats its numbers means the last one.
        let sent = self.pending.iter().filter(|(_, pending)| is_it(pending));
        sent.map(|(seq, _)| *seq).max()
    }

    /// A request of this client that has no answer, sent or not.
    pub fn find(&mut self, client: ClientId, asked: FromClient) -> Option<&mut Pending> {
        let sent = self.sent(client, asked);
        let mut waiting = self.lanes.normal.iter_mut().rev().filter_map(|waiting| waiting.pending.as_mut());
        let waiting = waiting.find(|pending| pending.is_from(client, asked));
        waiting.or(sent.and_then(|seq| self.pending.get_mut(&seq)))
    }

    /// Who waits for the answer to this request.
    pub fn asker_of(&self, request: ToEngine) -> Option<(ClientId, FromClient)> {
        self.pending.get(&request)?.asker()
    }

    /// Takes back a request that was not sent yet. Filters stay: what others want may be told together with them.
    pub fn withdraw(&mut self, client: ClientId, asked: FromClient) -> Option<Pending> {
        let is_it = |waiting: &Waiting| {
            let pending = waiting.pending.as_ref();
            pending.is_some_and(|it| it.is_from(client, asked) && &*it.command != "setExceptionBreakpoints")
        };
        let at = self.lanes.normal.iter().rposition(is_it)?;
        let waiting = self.lanes.normal.remove(at)?;
        self.lanes.bytes -= waiting.message.len();
        waiting.pending
    }

    /// Takes back all breakpoints and filters that it was to be told.
    pub fn withdraw_breakpoints(&mut self) {
        let sets = |waiting: &Waiting| {
            let pending = waiting.pending.as_ref();
            pending.is_some_and(|pending| {
                matches!(pending.purpose, Purpose::Shelf(_)) || &*pending.command == "setExceptionBreakpoints"
            })
        };
        let Lanes { normal, bytes, .. } = &mut self.lanes;
        normal.retain(|waiting| {
            let sets = sets(waiting);
            *bytes -= if sets { waiting.message.len() } else { 0 };
            !sets
        });
    }

    /// Takes back what was to be asked about a stop.
    pub fn withdraw_questions(&mut self) {
        let is_question = |waiting: &Waiting| {
            let purpose = waiting.pending.as_ref().map(|pending| &pending.purpose);
            matches!(purpose, Some(Purpose::Judgement(_)))
        };
        let Lanes { urgent, bytes, .. } = &mut self.lanes;
        urgent.retain(|waiting| {
            let question = is_question(waiting);
            *bytes -= if question { waiting.message.len() } else { 0 };
            !question
        });
    }

    /// The requests of this client that have no answer, sent or not, in the order they were asked.
    pub fn owed_to(&self, client: ClientId) -> Vec<(FromClient, Box<str>)> {
        let mut sent: Vec<_> = self.pending.iter().collect();
        sent.sort_by_key(|(seq, _)| **seq);
        let waiting = self.lanes.urgent.iter().chain(&self.lanes.normal).chain(&self.lanes.behind_children);
        let waiting = waiting.filter_map(|waiting| waiting.pending.as_ref());
        sent.into_iter()
            .map(|(_, pending)| pending)
            .chain(waiting)
            .filter_map(|pending| Some((pending.asker()?, pending)))
            .filter(|((whose, _), _)| *whose == client)
            .map(|((_, seq), pending)| (seq, pending.command.clone()))
            .collect()
    }

    /// A request that was to resume something will not be sent after all.
    pub fn take_back_resume(&mut self, pending: &Pending) {
        if let Purpose::Client { then: Then::Resumes(resumes), .. } = pending.purpose {
            self.threads.abort_resume(resumes.resume);
        }
    }

    /// What the engine owes beside its end, sent or not, in the order it was asked: nothing more is to be asked of it.
    pub fn abandon_all_but_the_end(&mut self) -> Vec<Pending> {
        let mut sent: Vec<_> = self.pending.extract_if(|_, pending| !pending.ends()).collect();
        sent.sort_by_key(|(seq, _)| *seq);
        self.forget_answered();
        let (ends, others): (VecDeque<_>, VecDeque<_>) = self
            .lanes
            .urgent
            .drain(..)
            .chain(self.lanes.normal.drain(..))
            // What it asked itself is still answered.
            .partition(|waiting| waiting.pending.as_ref().is_none_or(Pending::ends));
        self.lanes.bytes = ends.iter().map(|waiting| waiting.message.len()).sum();
        self.lanes.urgent = ends;
        let waiting = others.into_iter().filter_map(|waiting| waiting.pending);
        sent.into_iter().map(|(_, pending)| pending).chain(waiting).collect()
    }

    /// Everything the engine still owes, sent or not, in the order it was asked: it will never answer.
    pub fn abandon(&mut self) -> Vec<Pending> {
        let mut sent: Vec<_> = self.pending.drain().collect();
        sent.sort_by_key(|(seq, _)| *seq);
        self.watch.clear();
        self.lanes.bytes = 0;
        let Lanes { urgent, normal, behind_children, .. } = &mut self.lanes;
        let waiting = urgent.drain(..).chain(normal.drain(..)).chain(behind_children.drain(..));
        let waiting = waiting.filter_map(|waiting| waiting.pending);
        sent.into_iter().map(|(_, pending)| pending).chain(waiting).collect()
    }
}

impl Pending {
    /// Whether it ends the session.
    fn ends(&self) -> bool {
        matches!(&*self.command, "disconnect" | "terminate")
    }

    fn is_from(&self, client: ClientId, asked: FromClient) -> bool {
        matches!(self.purpose, Purpose::Client { client: whose, seq, .. } if whose == client && seq == asked)
    }

    /// Makes the request another's, and says which it is.
    pub fn hand_on(&mut self, to: Asker) -> Box<str> {
        if let Purpose::Client { client, seq, .. } = &mut self.purpose {
            (*client, *seq) = (to.client, to.seq);
        }
        self.command.clone()
    }

    /// Who waits for the answer.
    pub fn asker(&self) -> Option<(ClientId, FromClient)> {
        match self.purpose {
            Purpose::Client { client, seq, .. } => Some((client, seq)),
            Purpose::End { asker } => asker,
            Purpose::Initialize
            | Purpose::Shelf(_)
            | Purpose::Nobody
            | Purpose::Restart
            | Purpose::StartChild
            | Purpose::ConfigureChild
            | Purpose::EndChild
            | Purpose::Gather(_)
            | Purpose::Judgement(_)
            | Purpose::GoOn { .. } => None,
        }
    }
}
