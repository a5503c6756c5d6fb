//! One engine of the session: how far it has come, and what it owes. What waits to be sent to it is in `lanes`, what an
//! answer will mean in `pending`, and what may have to be asked again in `repeating`.

mod declared;
mod lanes;
mod pending;
mod repeating;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use breakroom_dap::view::Capabilities;
use breakroom_dap::{Message, Packet, request};
use breakroom_habits::BareHits;
use serde_json::json;
use smallvec::SmallVec;

use crate::attached::{Leavable, Standing};
use crate::core_file::Subject;
use crate::entry::FirstStop;
use crate::facts::{EngineFacts, Stdin};
use crate::farewell::Farewell;
use crate::functions::Functions;
use crate::ids::{ClientId, FromClient, NodeId, Time, ToEngine};
use crate::inside::Inside;
use crate::judgement::Judgement;
use crate::ledger::one_hit_less;
use crate::numbers::Keep;
use crate::panics::Panicking;
use crate::passing::Passing;
use crate::paths::Paths;
use crate::paused::Pausing;
use crate::picture::Picture;
use crate::progress;
use crate::scopes::Scopes;
use crate::source_numbers::SourceNumbers;
use crate::stepping::Stepping;
use crate::thread_numbers::ThreadNumbers;
use crate::threads::{Life, Threads};
use crate::tree::{Child, Lineage};
use crate::unnamed::Unnamed;
use lanes::{Asked, Lanes};
pub(crate) use lanes::{Lane, Waiting};
pub(crate) use pending::{Pending, Purpose, Resumes, Then};
use repeating::Question;

/// After this a client is told that the engine does not answer.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Node {
    pub id: NodeId,
    pub lineage: Lineage,
    pub facts: EngineFacts,
    pub phase: Phase,
    pub announced: Announced,
    pub children_announced: u32,
    pub gate: Gate,
    pub configuration: Configuration,
    pub capabilities: Capabilities,
    pub stdin: Stdin,
    pub fed: Fed,
    /// Its program is in a terminal of the hub's, by whose end its code will be known.
    pub is_in_terminal: bool,
    pub threads: Threads,
    pub thread_numbers: ThreadNumbers,
    pub source_numbers: SourceNumbers,
    /// What its engine calls the clients' files.
    pub paths: Paths,
    /// What a client is told of it that comes late.
    pub picture: Picture,
    /// The last lines that its process wrote to its stderr.
    pub last_words: VecDeque<String>,
    /// A stop that nobody was told of yet.
    pub judgement: Option<Judgement>,
    /// The step that the program is in the midst of, for an engine about whose steps something is to be known.
    pub stepping: Option<Stepping>,
    pub inside: Inside,
    pub leavable: Leavable,
    pub standing: Standing,
    /// The thread that stopped last or that the engine is asked about behind that, if that is known.
    pub seen: Option<i64>,
    /// Stops at breakpoints that it did not name, and at which nobody has looked yet.
    pub unnamed: Vec<Unnamed>,
    pub hushed: Hushed,
    pub pausing: Pausing,
    pub passing: Passing,
    pub scopes: Scopes,
    pub entry: FirstStop,
    pub subject: Subject,
    /// Breakpoints that the engine made to stop on entry, by its numbers: nobody hears of them.
    pub hidden: Vec<i64>,
    /// The numbers of its function breakpoints, where its answers do not tell which is which.
    pub functions: Functions,
    /// What it said about why its program does not start.
    pub explanation: Option<String>,
    pub farewell: Farewell,
    pub panicking: Panicking,
    /// The signal that stopped the program last, if it was one.
    pub stopped_by: Option<i32>,
    /// The line of its output that has yet to end, where an end is told in one.
    pub unfinished: String,
    pub hearing: Hearing,
    lanes: Lanes,
    pending: HashMap<ToEngine, Pending>,
    /// Those of them that may have to be asked again.
    questions: HashMap<ToEngine, Question>,
    /// Requests in the order they were sent; answered ones leave when they reach the front.
    watch: VecDeque<(Time, ToEngine)>,
    last: ToEngine,
}

#[derive(Debug)]
pub(crate) enum Phase {
    /// The driver is starting the process or connecting to it.
    Starting,
    /// It is there, and no client has sent the `initialize` from which the hub's own is made.
    Connected,
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

/// What the program was given to read by the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    Nothing,
    /// The end alone, because nobody was there who could give more.
    Nobodys,
    /// Some text or its end, by somebody.
    Something,
}

/// Whether the engine hears anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hearing {
    All,
    /// Not a word before what it started is killed, or this has passed: at the next one it might let that run on.
    NothingUntil(Time),
}

impl Hearing {
    pub fn until(self) -> Option<Time> {
        match self {
            Hearing::All => None,
            Hearing::NothingUntil(until) => Some(until),
        }
    }
}

/// What is to be done about the next thing that waits for an engine.
pub(crate) enum Turn {
    Send(Packet),
    /// It named something of a stop that ended meanwhile, and the engine must not see that number.
    TooLate(Pending),
}

impl Node {
    pub fn new(id: NodeId) -> Self {
        Node {
            id,
            lineage: Lineage::Root,
            facts: EngineFacts::default(),
            phase: Phase::Starting,
            announced: Announced::NotYet,
            children_announced: 0,
            gate: Gate::Open,
            configuration: Configuration::Open,
            capabilities: Capabilities::default(),
            stdin: Stdin::default(),
            fed: Fed::Nothing,
            is_in_terminal: false,
            threads: Threads::default(),
            thread_numbers: ThreadNumbers::default(),
            source_numbers: SourceNumbers::default(),
            paths: Paths::default(),
            picture: Picture::default(),
            last_words: VecDeque::new(),
            judgement: None,
            stepping: None,
            unnamed: Vec::new(),
            hushed: Hushed::Nothing,
            pausing: Pausing::No,
            passing: Passing::default(),
            scopes: Scopes::default(),
            entry: FirstStop::default(),
            subject: Subject::default(),
            hidden: Vec::new(),
            functions: Functions::default(),
            explanation: None,
            farewell: Farewell::default(),
            panicking: Panicking::default(),
            inside: Inside::default(),
            leavable: Leavable::default(),
            standing: Standing::default(),
            seen: None,
            stopped_by: None,
            unfinished: String::new(),
            hearing: Hearing::All,
            lanes: Lanes::default(),
            pending: HashMap::new(),
            questions: HashMap::new(),
            watch: VecDeque::new(),
            last: ToEngine::default(),
        }
    }

    /// A child that was announced. It is asked for nothing before it says that it can be configured.
    pub fn child(id: NodeId, child: Child, paths: Paths) -> Self {
        Node {
            lineage: Lineage::Child(Box::new(child)),
            gate: Gate::UntilAnnounced,
            configuration: Configuration::Told,
            thread_numbers: ThreadNumbers::new(Keep::None),
            source_numbers: SourceNumbers::new(Keep::None),
            paths,
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

    /// Whether anything of it is stopped, also if no client has been told yet.
    pub fn stands(&self) -> bool {
        self.threads.any_stopped() || self.judges()
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        if self.facts.name.is_empty() { "the debug adapter" } else { &self.facts.name }
    }

    /// Whether a request of that lane finds no room any more.
    pub fn is_full(&self, lane: Lane) -> bool {
        self.lanes.is_full(lane)
    }

    pub fn push(&mut self, lane: Lane, mut waiting: Waiting) {
        let asked = waiting.pending.as_ref().and_then(Pending::life).or(waiting.uses.last().copied());
        if let Some(Life::Thread(thread, _)) = asked {
            self.seen = Some(thread);
        }
        waiting.edits.extend(self.thread_numbers.for_engine(&waiting.message));
        waiting.edits.extend(self.source_numbers.for_engine(&waiting.message));
        if self.is_child() {
            waiting.edits.extend(progress::for_engine(self.id, &waiting.message));
        }
        self.lanes.push(lane, waiting);
    }

    /// The children are gone: what waited for that is told.
    pub fn release(&mut self) {
        self.lanes.release();
    }

    /// Tells it in the hub's own name that its configuration is done.
    pub fn end_configuration(&mut self, purpose: Purpose) {
        let pending = Pending { command: "configurationDone".into(), purpose };
        let done = request("configurationDone", json!({}));
        self.push(Lane::Normal, Waiting::new(done, SmallVec::new(), Some(pending)));
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
        self.lanes.push_first(waiting);
    }

    /// The next message for the engine. Until it answered the hub's `initialize` it gets nothing but that, which
    /// is always the first thing in the urgent lane.
    pub fn next(&mut self, now: Time) -> Option<Turn> {
        if self.hearing.until().is_some() {
            return None;
        }
        let waiting = match self.phase {
            Phase::Starting | Phase::Connected | Phase::Ended { .. } => return None,
            Phase::Initializing { .. } if self.last.0 > 0 => return None,
            Phase::Initializing { .. } => self.lanes.next_urgent()?,
            Phase::Ending if self.last.0 == 0 => return None,
            Phase::Ending => self.lanes.next_urgent()?,
            Phase::Ready { .. } => match (self.lanes.next_urgent(), &self.announced, self.gate) {
                (Some(urgent), ..) => urgent,
                (None, Announced::NotYet, Gate::UntilAnnounced) => return None,
                (None, ..) if self.is_turning() => return None,
                (None, ..) => self.lanes.next_normal()?,
            },
        };
        let ended = !waiting.uses.iter().all(|life| self.threads.is_alive(*life));
        let pending = match waiting.pending {
            Some(pending) if ended => return Some(Turn::TooLate(pending)),
            pending => pending,
        };
        self.last.0 += 1;
        let (mut message, mut edits) = (waiting.message, waiting.edits);
        // Only now is it certain which engine gets it.
        if pending
            .as_ref()
            .is_some_and(|pending| matches!(pending.purpose, Purpose::Shelf(_) | Purpose::Functions { .. }))
            && self.facts.breakpoints.bare_hits == BareHits::After
            && let Ok(whole) = message.edited(edits.clone())
        {
            edits = one_hit_less(&whole);
            message = whole;
        }
        if let Some(mut pending) = pending {
            if self.may_be_too_early(&pending) {
                let (message, edits, uses) = (message.clone(), edits.clone(), waiting.uses);
                let refused = match waiting.asked {
                    Asked::NotYet => 0,
                    Asked::Refused { times, .. } => times,
                };
                self.questions.insert(self.last, Question { message, edits, uses, refused });
            }
            if let Purpose::Client { client, then: Then::Resumes(resumes), .. } = &mut pending.purpose {
                let Resumes { thread, single, resume, .. } = *resumes;
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

    /// When the engine was asked what it has owed longest, its end aside.
    pub fn oldest_question(&self) -> Option<Time> {
        let waits = |seq| self.pending.get(seq).is_some_and(|pending| !pending.ends());
        self.watch.iter().find(|(_, seq)| waits(seq)).map(|(asked, _)| *asked)
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
        let waiting = self.lanes.last_that_can_wait(|pending| pending.is_from(client, asked));
        waiting.or(sent.and_then(|seq| self.pending.get_mut(&seq)))
    }

    /// Whether a child has yet to answer the request that starts it.
    pub fn owes_start(&self) -> bool {
        self.pending.values().any(|pending| matches!(pending.purpose, Purpose::StartChild))
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
        self.lanes.take_last_that_can_wait(is_it)?.pending
    }

    /// Takes back all breakpoints and filters that it was to be told.
    pub fn withdraw_breakpoints(&mut self) {
        let sets = |waiting: &Waiting| {
            let pending = waiting.pending.as_ref();
            pending.is_some_and(|pending| {
                matches!(pending.purpose, Purpose::Shelf(_) | Purpose::Functions { .. })
                    || &*pending.command == "setExceptionBreakpoints"
            })
        };
        self.lanes.drop_all(Lane::Normal, sets);
    }

    /// Takes back what was to be asked about a stop.
    pub fn withdraw_questions(&mut self) {
        let is_question = |waiting: &Waiting| {
            let purpose = waiting.pending.as_ref().map(|pending| &pending.purpose);
            matches!(purpose, Some(Purpose::Judgement(_)))
        };
        self.lanes.drop_all(Lane::Urgent, is_question);
        self.lanes.drop_all(Lane::Again, is_question);
    }

    /// The requests of this client that have no answer, sent or not, in the order they were asked.
    pub fn owed_to(&self, client: ClientId) -> Vec<(FromClient, Box<str>)> {
        let mut sent: Vec<_> = self.pending.iter().collect();
        sent.sort_by_key(|(seq, _)| **seq);
        let waiting = self.lanes.all().filter_map(|waiting| waiting.pending.as_ref());
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
        self.questions.clear();
        self.forget_answered();
        // What it asked itself is still answered.
        let others = self.lanes.keep_only(|waiting| waiting.pending.as_ref().is_none_or(Pending::ends));
        let waiting = others.into_iter().filter_map(|waiting| waiting.pending);
        sent.into_iter().map(|(_, pending)| pending).chain(waiting).collect()
    }

    /// Everything the engine still owes, sent or not, in the order it was asked: it will never answer.
    pub fn abandon(&mut self) -> Vec<Pending> {
        let mut sent: Vec<_> = self.pending.drain().collect();
        sent.sort_by_key(|(seq, _)| *seq);
        self.questions.clear();
        self.watch.clear();
        let waiting = self.lanes.take_all().filter_map(|waiting| waiting.pending);
        sent.into_iter().map(|(_, pending)| pending).chain(waiting).collect()
    }
}
