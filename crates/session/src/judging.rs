//! Stops that nobody is told of until the hub has judged them.
//!
//! From the engine's `stopped` to the verdict the clients believe that the program runs: their resumes are refused,
//! and what the engine says meanwhile is told behind the verdict. The engine itself is stopped, and answers the hub's
//! questions. If no owner wants the stop, the hub lets the program go on and nobody ever hears of it.

use std::time::Duration;

use breakroom_dap::view::Run;
use breakroom_dap::{Json, Message, event, request};
use serde_json::json;
use smallvec::SmallVec;

use crate::ending::Ending;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::io::Unset;
use crate::judgement::{Findings, Judgement, Step, Trouble};
use crate::ledger::{Judge, ShelfId};
use crate::node::{Hushed, Lane, Node, Pausing, Pending, Purpose, Waiting};
use crate::session::Session;
use crate::threads::ResumedBy;

/// How long an engine may take to answer all questions about a stop.
const PATIENCE: Duration = Duration::from_secs(5);
/// An engine that says more than this during one is not stopped.
const MOST_HELD: usize = 4 << 20;
/// The reasons for which the hub may let a program go on. Everything else somebody asked for.
const BREAKPOINTS: [&str; 2] = ["breakpoint", "function breakpoint"];

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
        if known.pausing == Pausing::Asked {
            // This stop is as good as any.
            return Some("somebody paused the program");
        }
        if known.threads.any_step() {
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
        if !going || !BREAKPOINTS.contains(&&*reason) {
            return Fate::Told(None);
        }
        let ids = engine_ids(body);
        let unnamed = ids.is_empty() && self.clients.len() > 1 && self.ledger.has_any(node);
        let left = ids.is_empty() && self.goes_on_stopping(node) && self.ledger.left_any(node);
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
        let number = self.next_judgement();
        let until = self.now.after(PATIENCE);
        let Some(known) = self.nodes.get_mut(&node) else { return Fate::Told(None) };
        known.judgement = Some(Judgement::new(number, until, message.clone(), resumer));
        self.ask_place(node, thread);
        Fate::Judged
    }

    /// Whether an engine stops where there is no breakpoint any more.
    fn goes_on_stopping(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.facts.unset == Unset::Stays)
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
        let arguments = json!({"threadId": thread, "startFrame": 0, "levels": 1});
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
            (_, success) => {
                let value = body.and_then(|body| body.str("result"));
                let value = if success { Ok(value.as_deref().unwrap_or_default()) } else { Err(failure()) };
                let facts = self.nodes.get(&node).map(|node| node.facts.clone()).unwrap_or_default();
                Ok(judgement.evaluated(value, &mut self.ledger, &facts.habits()))
            }
        };
        let frame = judgement.findings.frame;
        if let Some(known) = self.nodes.get_mut(&node) {
            known.judgement = Some(judgement);
        }
        match step {
            Err(trouble) => self.conclude(node, Some(because(trouble))),
            Ok(Step::Evaluate(expression)) => {
                let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
                self.ask_engine(node, "evaluate", request("evaluate", arguments));
            }
            Ok(Step::Decided) => self.next_stop(node),
        }
    }

    fn on_place(
        &mut self,
        node: NodeId,
        judgement: &mut Judgement,
        body: Option<Json>,
    ) -> Result<Step, &'static str> {
        let top = body.and_then(|body| body.get("stackFrames")).and_then(|frames| frames.elements().next());
        let top = top.ok_or("the debugger does not say where it stopped")?;
        let line = top.i64("line").unwrap_or(0);
        let source = top.get("source").and_then(Json::raw).and_then(|raw| std::str::from_utf8(raw).ok());
        judgement.findings.frame = top.i64("id");
        judgement.findings.place = source.map(|source| (source.into(), line));
        let ids = judgement.stops.last().map(|stop| engine_ids(stop.payload())).unwrap_or_default();
        let mut hits = self.ledger.hit(node, &ids);
        if hits.is_empty() && top.get("source").is_some() {
            let shelf: ShelfId = self.shelf(node, "setBreakpoints", Some(top));
            hits = self.ledger.hit_at(node, &shelf, line);
            if hits.is_empty() && self.goes_on_stopping(node) && self.ledger.left_at(node, &shelf, line) {
                return Ok(Step::Decided);
            }
        }
        let facts = self.nodes.get(&node).map(|node| node.facts.clone()).unwrap_or_default();
        Ok(judgement.hit(hits, &mut self.ledger, &facts.habits()))
    }

    /// One stop is judged. If another came with it, that one is next.
    fn next_stop(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Some(judgement) = &mut known.judgement else { return };
        let is_stop = |message: &Message| message.event_name() == Some("stopped");
        let Some(at) = judgement.held.iter().position(is_stop) else {
            return self.conclude(node, None);
        };
        let Some(stop) = judgement.held.remove(at) else { return };
        let body = stop.payload();
        let reason = body.and_then(|body| body.str("reason")).unwrap_or_default().into_owned();
        let Run { thread, all, .. } = Run::of(body);
        judgement.and(stop);
        known.threads.on_stopped(thread, all.unwrap_or(false));
        match thread.filter(|_| BREAKPOINTS.contains(&&*reason)) {
            Some(thread) => self.ask_place(node, thread),
            None => self.conclude(node, Some(because("something else stopped the program too"))),
        }
    }

    /// The verdict: the stop is told, or the program goes on. What was held is told behind it.
    pub(crate) fn conclude(&mut self, node: NodeId, trouble: Option<Trouble>) {
        let Some(judgement) = self.take_judgement(node) else { return };
        let Judgement { stops, resumer, held, findings, .. } = judgement;
        let Findings { wanted, logs, trouble: found, place, .. } = findings;
        let trouble = trouble.or(found);
        for text in logs {
            self.print_log(node, &text, place.as_ref());
        }
        if wanted.is_empty() && trouble.is_none() {
            self.go_on(node, stops, resumer);
        } else {
            for stop in stops {
                self.tell_stopped(node, &stop, resumer, &wanted, trouble.as_ref());
            }
        }
        self.release_from_judgement();
        held.into_iter().for_each(|message| self.on_event(node, message));
    }

    fn print_log(&mut self, node: NodeId, text: &str, place: Option<&(Box<str>, i64)>) {
        let mut body = json!({"category": "console", "output": format!("{text}\n")});
        if let Some((source, line)) = place {
            body["line"] = json!(line);
            body["source"] = serde_json::from_str(source).unwrap_or_default();
        }
        self.tell_printed(node, &event("output", Some(body)));
    }

    fn go_on(&mut self, node: NodeId, stops: Vec<Message>, by: Option<ClientId>) {
        if !matches!(self.ending, Ending::No) {
            return;
        }
        self.hush(node);
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let all = stops.iter().any(|stop| Run::of(stop.payload()).all == Some(true));
        // Threads that stopped each by itself are let go each by itself.
        let each: Vec<Vec<Message>> =
            if all { vec![stops] } else { stops.into_iter().map(|stop| vec![stop]).collect() };
        for stops in each {
            let thread = stops.first().and_then(|stop| Run::of(stop.payload()).thread);
            known.threads.go_on(thread.filter(|_| !all), by);
            let message = request("continue", json!({"threadId": thread}));
            let pending = Pending { command: "continue".into(), purpose: Purpose::GoOn { stops, by } };
            known.push(Lane::Urgent, Waiting::new(message, SmallVec::new(), Some(pending)));
        }
        self.forget_ended_references();
    }

    fn hush(&mut self, node: NodeId) {
        if let Some(known) = self.nodes.get_mut(&node) {
            known.hushed = Hushed::Continued;
        }
    }

    /// The engine answered the hub's own `continue`. If it will not go on, the stop is told after all.
    pub(crate) fn on_went_on(
        &mut self,
        node: NodeId,
        stops: &[Message],
        by: Option<ClientId>,
        message: &Message,
        success: bool,
    ) {
        // A refusal means nothing to one that went on by itself meanwhile.
        let waits = self.nodes.get(&node).is_some_and(|node| node.hushed == Hushed::Continued);
        if success || !waits {
            return;
        }
        let reason = message.failure_text().unwrap_or_default();
        let trouble = because(&format!("the debugger would not go on: {reason}"));
        for stop in stops {
            let Run { thread, all, .. } = Run::of(stop.payload());
            if let Some(known) = self.nodes.get_mut(&node) {
                known.threads.on_stopped(thread, all.unwrap_or(false));
            }
            self.tell_stopped(node, stop, by, &[], Some(&trouble));
        }
    }

    /// There is nothing to judge any more. Nobody knows of the stop, and what came behind it is told.
    pub(crate) fn drop_judgement(&mut self, node: NodeId) {
        let Some(judgement) = self.take_judgement(node) else { return };
        self.release_from_judgement();
        judgement.held.into_iter().for_each(|message| self.on_event(node, message));
    }

    /// Nothing more is asked for it.
    fn take_judgement(&mut self, node: NodeId) -> Option<Judgement> {
        let known = self.nodes.get_mut(&node)?;
        known.withdraw_questions();
        known.judgement.take()
    }

    /// A question was not asked in time.
    pub(crate) fn judged_too_late(&mut self, node: NodeId, number: u64) {
        let is_it = |judgement: &Judgement| judgement.number == number;
        if self.nodes.get(&node).and_then(|node| node.judgement.as_ref()).is_some_and(is_it) {
            self.conclude(node, Some(Trouble::Unknown));
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

fn because(reason: &str) -> Trouble {
    Trouble::Because(reason.to_owned())
}

/// The breakpoints that a stop names, in the engine's numbers.
pub(crate) fn engine_ids(body: Option<Json>) -> Vec<i64> {
    let hit = body.and_then(|body| body.get("hitBreakpointIds"));
    hit.into_iter().flat_map(Json::elements).filter_map(Json::as_i64).collect()
}
