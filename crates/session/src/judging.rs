//! Stops that nobody is told of until the hub has judged them.
//!
//! From the engine's `stopped` to the verdict the clients believe that the program runs: their resumes are refused,
//! and what the engine says meanwhile is told behind the verdict. The engine itself is stopped, and answers the hub's
//! questions. What becomes of the stop then is the business of [`crate::verdict`].

use std::time::Duration;

use breakroom_dap::view::Run;
use breakroom_dap::{Json, Message, request};
use breakroom_habits::{Breakpoints, Unset};
use serde_json::json;
use smallvec::SmallVec;

use crate::ending::Ending;
use crate::entry::Beginning;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::inside::Leaving;
use crate::judgement::{Judgement, Move, Trouble};
use crate::ledger::{Judge, ShelfId};
use crate::node::{Lane, Node, Pending, Purpose, Waiting};
use crate::paused::Pausing;
use crate::session::Session;
use crate::stepping;
use crate::threads::ResumedBy;
use crate::unnamed::StoppedAt;

/// How long an engine may take to answer all questions about a stop.
const PATIENCE: Duration = Duration::from_secs(5);
/// An engine that says more than this during one is not stopped.
const MOST_HELD: usize = 4 << 20;

/// What becomes of a stop.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It is judged before anybody is told.
    Judged,
    /// It is told at once, with a word about why it was not judged if it should have been.
    Told(Option<Trouble>),
}

impl Session {
    /// Why a stop that comes now is not to be judged, whatever it is. To be asked before it changes anything.
    pub(crate) fn forbids_judging(&self, node: NodeId) -> Option<&'static str> {
        let known = self.nodes.get(&node)?;
        if known.pausing.is_asked() {
            // This stop is as good as any.
            return Some("somebody paused the program");
        }
        if known.threads.any_step() && known.facts.running.cut_steps.is_none() {
            return Some("a step was under way");
        }
        // To let this thread go on might let that one go on as well.
        known.threads.any_stopped().then_some("another thread is stopped")
    }

    /// Takes a stop in, if there is anything to find out about it.
    pub(crate) fn take_in(
        &mut self,
        node: NodeId,
        message: &Message,
        forbidden: Option<&'static str>,
        resumer: Option<ClientId>,
    ) -> Fate {
        let body = message.payload();
        let reason = body.and_then(|body| body.str("reason")).unwrap_or_default();
        let Some(thread) = Run::of(body).thread else { return Fate::Told(None) };
        let going = matches!(self.ending, Ending::No) && self.is_of_the_tree(node);
        let ids = self.named_ids(node, body);
        let is_vague = ids.len() < engine_ids(body).len();
        let breakpoint = StoppedAt::of(message).is_some();
        let forgets = self.cuts_step(node, &reason).is_some_and(|cut| cut.forget.is_some());
        if going && forgets {
            let trouble = (!breakpoint || forbidden.is_some()).then_some(Trouble::Unknown);
            return self.begin_judgement(node, thread, message, resumer, trouble);
        }
        if going && forbidden.is_none() && stepping::is_step(message) && self.leads_step(node) {
            return self.begin_judgement(node, thread, message, resumer, None);
        }
        if !going || !breakpoint {
            return Fate::Told(None);
        }
        let unnamed = ids.is_empty() && (is_vague || self.is_in_company()) && self.ledger.has_any(node);
        let left = ids.is_empty() && self.left_any(node);
        if !self.ledger.judges(node) && !unnamed && !left {
            return Fate::Told(None);
        }
        // The hub judges nothing here.
        let hits = self.ledger.hit(node, &ids);
        if !hits.is_empty() && hits.iter().all(|hit| hit.judge == Judge::Engine) {
            return Fate::Told(None);
        }
        if let Some(reason) = forbidden {
            let judged = hits.iter().any(|hit| hit.judge == Judge::Hub);
            return Fate::Told(judged.then(|| because(reason)));
        }
        self.begin_judgement(node, thread, message, resumer, None)
    }

    /// The stop before a program's first line: whoever has a breakpoint there is to hear of it as of any other.
    pub(crate) fn take_in_beginning(
        &mut self,
        node: NodeId,
        message: &Message,
        begins: Beginning,
        resumer: Option<ClientId>,
    ) -> Fate {
        let going = matches!(self.ending, Ending::No) && self.is_of_the_tree(node);
        let thread = Run::of(message.payload()).thread.filter(|_| going);
        let Some(thread) = thread else { return Fate::Told(None) };
        match (self.ledger.has_any(node), begins) {
            (false, Beginning::Asked) => return Fate::Told(None),
            (false, Beginning::Unasked) => {
                self.go_on(node, vec![message.clone()], resumer);
                return Fate::Judged;
            }
            (true, _) => {}
        }
        let fate = self.begin_judgement(node, thread, message, resumer, None);
        if let Some(judgement) = self.nodes.get_mut(&node).and_then(|node| node.judgement.as_mut()) {
            judgement.begins = Some(begins);
        }
        fate
    }

    /// A stop on the way out of what is not shown: it may be the end of that way.
    pub(crate) fn take_in_leaving(
        &mut self,
        node: NodeId,
        message: &Message,
        leaving: Option<Leaving>,
        resumer: Option<ClientId>,
    ) -> Fate {
        let Some(thread) = Run::of(message.payload()).thread else { return Fate::Told(None) };
        let fate = self.begin_judgement(node, thread, message, resumer, None);
        if let Some(judgement) = self.nodes.get_mut(&node).and_then(|node| node.judgement.as_mut()) {
            judgement.leaving = leaving;
        }
        fate
    }

    /// Nobody is told before it is known where the program stopped, and whatever else is to be found out. With trouble
    /// that is known already the stop is told in any case.
    fn begin_judgement(
        &mut self,
        node: NodeId,
        thread: i64,
        message: &Message,
        resumer: Option<ClientId>,
        trouble: Option<Trouble>,
    ) -> Fate {
        let number = self.next_judgement();
        let until = self.now.after(PATIENCE);
        let Some(known) = self.nodes.get_mut(&node) else { return Fate::Told(None) };
        let mut judgement = Judgement::new(number, until, message.clone(), resumer);
        judgement.findings.trouble = trouble;
        known.judgement = Some(judgement);
        self.ask_place(node, thread);
        Fate::Judged
    }

    /// The breakpoints that a stop names beyond doubt, in the engine's numbers.
    pub(crate) fn named_ids(&self, node: NodeId, body: Option<Json>) -> Vec<i64> {
        self.ledger.named(node, &engine_ids(body))
    }

    /// Whether the hub may have to find out about a stop whether anybody wants it.
    pub(crate) fn may_judge(&self, node: NodeId) -> bool {
        self.ledger.judges(node) || self.left_any(node)
    }

    /// Whether an engine may stop where nobody wants it to any more.
    fn left_any(&self, node: NodeId) -> bool {
        self.goes_on_stopping(node) && self.ledger.left_any(node)
    }

    /// Whether an engine stops where there is no breakpoint any more.
    fn goes_on_stopping(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.facts.breakpoints.unset == Unset::Stays)
    }

    /// Keeps what an engine says while a stop of it is judged. False if the message is to be handled as usual.
    pub(crate) fn hold(&mut self, node: NodeId, name: &str, message: &Message) -> bool {
        let Some(judgement) = self.nodes.get_mut(&node).and_then(|node| node.judgement.as_mut()) else {
            return false;
        };
        match name {
            // It runs after all: there is no stop left to judge, and nobody ever thought otherwise.
            "continued" if judgement.ends_with(Run::of(message.payload())) => {
                self.drop_judgement(node);
                self.hush(node);
                false
            }
            "exited" | "terminated" => {
                self.conclude(node, Some(Trouble::Unknown));
                false
            }
            // It ran and stopped again by itself; what was judged is past.
            "stopped" if judgement.is_about(Run::of(message.payload()).thread) => {
                self.conclude(node, Some(Trouble::Unknown));
                false
            }
            _ if judgement.held_bytes() >= MOST_HELD => {
                self.conclude(node, Some(because("the debugger said too much meanwhile")));
                false
            }
            _ => {
                judgement.held.push_back(message.clone());
                if name == "stopped" {
                    self.end_runs(node, message);
                }
                true
            }
        }
    }

    /// Another stop came that has to wait. What clients know of the run before it must not reach the engine any more.
    fn end_runs(&mut self, node: NodeId, message: &Message) {
        let Run { thread, all, .. } = Run::of(message.payload());
        if let Some(known) = self.nodes.get_mut(&node) {
            known.threads.end_runs(thread, all.unwrap_or(false));
        }
        self.forget_ended_references();
    }

    /// Where the thread stopped. The answer also proves that the engine has said all it has to say about the stop.
    fn ask_place(&mut self, node: NodeId, thread: i64) {
        let steps = self.nodes.get(&node).is_some_and(|node| node.stepping.is_some());
        let arguments = match steps {
            // How deep it is tells whether the step has come to its end.
            true => json!({"threadId": thread}),
            false => json!({"threadId": thread, "startFrame": 0, "levels": 1}),
        };
        self.ask_engine(node, "stackTrace", request("stackTrace", arguments));
    }

    fn ask_engine(&mut self, node: NodeId, command: &str, message: Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Some(judgement) = &known.judgement else { return };
        let thread = judgement.stops.last().and_then(|stop| Run::of(stop.payload()).thread);
        let pending = Pending { command: command.into(), purpose: Purpose::Judgement(judgement.number) };
        let mut waiting = Waiting::new(message, SmallVec::new(), Some(pending));
        // The frame that it names is that stop's.
        waiting.uses.extend(thread.map(|thread| known.threads.life(thread)));
        // Before whatever clients ask meanwhile, and never behind a `pause`.
        known.push(Lane::Urgent, waiting);
    }

    /// The engine answered a question about a stop, or did not want to.
    pub(crate) fn on_judgement_answered(
        &mut self,
        node: NodeId,
        number: u64,
        command: &str,
        message: &Message,
        success: bool,
    ) {
        let is_it = |judgement: &mut Judgement| judgement.number == number;
        let Some(mut judgement) = self.nodes.get_mut(&node).and_then(|node| node.judgement.take_if(is_it))
        else {
            return;
        };
        let body = message.payload();
        let failure = || message.failure_text().unwrap_or_default().trim().to_owned();
        let step = match (command, success) {
            ("stackTrace", true) => self.on_place(node, &mut judgement, body),
            ("stackTrace", false) => Err("the debugger does not say where it stopped"),
            (_, success) if judgement.closing.is_some() => {
                judgement
                    .step_closed(body.filter(|_| success).and_then(|body| body.str("result")).as_deref());
                Ok(Move::Concluded)
            }
            (_, success) => {
                let value = body.and_then(|body| body.str("result"));
                let value = if success { Ok(value.as_deref().unwrap_or_default()) } else { Err(failure()) };
                let plain = Breakpoints::default();
                let habits = self.nodes.get(&node).map_or(&plain, |node| &node.facts.breakpoints);
                Ok(judgement.evaluated(value, &mut self.ledger, habits))
            }
        };
        let frame = judgement.findings.frame;
        if let Some(known) = self.nodes.get_mut(&node) {
            known.judgement = Some(judgement);
        }
        match step {
            Err(trouble) => self.conclude(node, Some(because(trouble))),
            Ok(Move::Evaluate(expression)) => {
                self.ask_value(node, &expression, frame);
            }
            Ok(Move::Decided) => self.next_stop(node),
            Ok(Move::Concluded) => self.conclude(node, None),
        }
    }

    fn ask_value(&mut self, node: NodeId, expression: &str, frame: Option<i64>) {
        let expression = self.worded(node, expression);
        let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
        self.ask_engine(node, "evaluate", request("evaluate", arguments));
    }

    fn on_place(
        &mut self,
        node: NodeId,
        judgement: &mut Judgement,
        body: Option<Json>,
    ) -> Result<Move, &'static str> {
        let top = body.and_then(|body| body.get("stackFrames")).and_then(|frames| frames.elements().next());
        let top = top.ok_or("the debugger does not say where it stopped")?;
        let line = top.i64("line").unwrap_or(0);
        let source = top.get("source").and_then(Json::raw).and_then(|raw| std::str::from_utf8(raw).ok());
        judgement.findings.frame = top.i64("id");
        judgement.findings.place = source.map(|source| (source.into(), line));
        judgement.findings.depth = body.map_or(0, stepping::depth);
        if let Some(leaving) = &mut judgement.leaving {
            self.look_outside(leaving, top);
        }
        // Of a step that the hub leads only the depth is asked.
        let leads = judgement.stops.last().is_some_and(stepping::is_step);
        if leads || judgement.findings.trouble.is_some() {
            return Ok(Move::Decided);
        }
        let ids = judgement.stops.last().map(|stop| self.named_ids(node, stop.payload())).unwrap_or_default();
        let mut hits = self.ledger.hit(node, &ids);
        if hits.is_empty() {
            hits = self.hits_at(node, judgement.stops.last().and_then(StoppedAt::of), top);
        }
        if hits.is_empty() && top.get("source").is_some() && self.goes_on_stopping(node) {
            let shelf: ShelfId = self.shelf(node, "setBreakpoints", Some(top));
            if self.ledger.left_at(node, &shelf, line) {
                return Ok(Move::Decided);
            }
        }
        if hits.is_empty() && judgement.begins.is_some() {
            return Ok(Move::Decided);
        }
        let plain = Breakpoints::default();
        let habits = self.nodes.get(&node).map_or(&plain, |node| &node.facts.breakpoints);
        Ok(judgement.hit(hits, &mut self.ledger, habits))
    }

    /// One stop is judged. If another came with it, that one is next.
    fn next_stop(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Some(judgement) = &mut known.judgement else { return };
        let is_stop = |message: &Message| message.event_name() == Some("stopped");
        let Some(at) = judgement.held.iter().position(is_stop) else {
            return self.close(node);
        };
        let Some(stop) = judgement.held.remove(at) else { return };
        let is_breakpoint = StoppedAt::of(&stop).is_some();
        let Run { thread, all, .. } = Run::of(stop.payload());
        judgement.and(stop);
        known.threads.on_stopped(thread, all.unwrap_or(false));
        match thread.filter(|_| is_breakpoint) {
            Some(thread) => self.ask_place(node, thread),
            None => self.conclude(node, Some(because("something else stopped the program too"))),
        }
    }

    /// All stops are judged. If a step was under way, its engine is asked about it, or told to forget it.
    fn close(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Some(judgement) = &mut known.judgement else { return };
        let steps = known.stepping.as_ref().zip(known.facts.running.cut_steps.as_ref());
        let question = steps.and_then(|(stepping, cut)| stepping.close(cut, judgement));
        let frame = judgement.findings.frame;
        match question {
            Some(question) => self.ask_value(node, &question, frame),
            None => self.conclude(node, None),
        }
    }

    /// A resume of a thread that stopped without anybody's knowing.
    pub(crate) fn refuse_hidden(&self, node: NodeId, thread: Option<i64>) -> Result<(), Failure> {
        let judgement = self.nodes.get(&node).and_then(|node| node.judgement.as_ref());
        let Some(judgement) = judgement else { return Ok(()) };
        if !judgement.holds(thread) {
            return Ok(());
        }
        Err(match judgement.resumer {
            Some(by) => self.resumed_by(ResumedBy(by)),
            None => Failure::quiet(FailureId::NotStopped, "not stopped: the program runs"),
        })
    }

    /// `pause` of a program that just stopped without anybody's knowing: it is paused, and everybody is told.
    pub(crate) fn pause(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there("pause")?;
        let node = self.target(client, "pause", message.payload())?;
        if !self.nodes.get(&node).is_some_and(Node::judges) {
            return self.forward_to(node, client, seq, "pause", message);
        }
        self.note_deed(client, "pause", message.payload());
        self.conclude(node, Some(because("somebody paused the program")));
        self.answer(client, seq, "pause", None);
        Ok(())
    }

    /// The engine will not pause.
    pub(crate) fn not_pausing(&mut self, node: NodeId) {
        if let Some(known) = self.nodes.get_mut(&node) {
            known.pausing = Pausing::No;
        }
    }

    /// A judgement takes too long.
    pub(crate) fn judge_in_time(&mut self, node: NodeId) {
        let late = |judgement: &Judgement| judgement.until <= self.now;
        if self.nodes.get(&node).and_then(|node| node.judgement.as_ref()).is_some_and(late) {
            self.conclude(node, Some(because("the debugger took too long to judge the breakpoint")));
        }
    }
}

pub(crate) fn because(reason: &str) -> Trouble {
    Trouble::Because(reason.to_owned())
}

/// The breakpoints that a stop names, in the engine's numbers.
pub(crate) fn engine_ids(body: Option<Json>) -> Vec<i64> {
    let hit = body.and_then(|body| body.get("hitBreakpointIds"));
    hit.into_iter().flat_map(Json::elements).filter_map(Json::as_i64).collect()
}
