//! Steps that another stop cuts short: a breakpoint in what is called, an exception, a pause.
//!
//! A stop that nobody wants does not end the step that it came in the midst of: where the engine goes on with the step, it
//! is let go on, where the engine forgets the step it is led out of what was called, and where the step would have ended there
//! it is told as the end of the step. A stop that is told is the end of the step, and an engine that would still end it later
//! is made to forget it. Engines of which nothing is known ([`CutSteps`]) are left alone.

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Json, Message, request};
use breakroom_habits::{CutSteps, Steps};
use serde_json::json;
use smallvec::SmallVec;

use crate::commands::Pace;
use crate::ids::NodeId;
use crate::judgement::Judgement;
use crate::ledger::means_yes;
use crate::node::{Lane, Pending, Purpose, Resumes, Waiting};
use crate::session::Session;

/// A step that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stepping {
    thread: Option<i64>,
    kind: StepKind,
    /// How many frames there were where it began, as soon as that is known.
    depth: Option<usize>,
    leader: Leader,
}

/// Who sees to it that a step ends where it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leader {
    Engine,
    /// The engine has forgotten it and is told to leave one frame after the other.
    Hub,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    /// It ends wherever the program comes to a line.
    In,
    /// It ends in the frame that it began in, or in one above.
    Over,
    /// It ends in a frame above the one that it began in.
    Out,
    /// It ends where only the engine knows.
    Other,
}

/// What is found out last about a stop in the midst of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Whether the engine goes on with the step, from a stop that nobody wants.
    GoesOn,
    /// Nothing: the engine has forgotten the step, and is told to leave the frame.
    LedOut,
    /// Nothing: the step would have ended here too.
    Ends,
    /// Nothing: the stop is told.
    Told,
}

impl Stepping {
    /// Whether a line that a thread came to, this deep, is where the step would have ended.
    fn ends_at(&self, thread: Option<i64>, depth: usize) -> bool {
        let same = self.thread.is_none() || self.thread == thread;
        same && match self.kind {
            StepKind::In => true,
            StepKind::Over => self.depth.is_some_and(|began| depth <= began),
            StepKind::Out => self.depth.is_some_and(|began| depth < began),
            StepKind::Other => false,
        }
    }

    /// Whether it is known of every stop whether the step would have ended there.
    fn is_measured(&self) -> bool {
        self.kind != StepKind::Over || self.depth.is_some()
    }

    /// Whether the thread comes to where the step ends by leaving frames.
    fn can_be_led(&self, thread: Option<i64>) -> bool {
        let goes_up = matches!(self.kind, StepKind::Over | StepKind::Out);
        goes_up && self.depth.is_some() && self.thread == thread
    }

    /// The question that is left when a stop is judged that came in its midst. Where there is none, the stop is what it is.
    pub fn close(&self, cut: &CutSteps, judgement: &mut Judgement) -> Option<String> {
        judgement.findings.frame?;
        let Judgement { stops, findings, closing, .. } = judgement;
        let thread = stops.last().and_then(|stop| Run::of(stop.payload()).thread);
        let unwanted = !findings.is_wanted() && findings.trouble.is_none();
        let closed = match &cut.kept {
            _ if !unwanted => Closing::Told,
            _ if self.ends_at(thread, findings.depth) => Closing::Ends,
            Some(_) if self.is_measured() => Closing::GoesOn,
            None if cut.led_out && self.can_be_led(thread) => Closing::LedOut,
            Some(_) | None => {
                findings.under_way();
                Closing::Told
            }
        };
        *closing = Some(closed);
        match closed {
            Closing::GoesOn => cut.kept.clone(),
            Closing::LedOut => None,
            Closing::Ends | Closing::Told => cut.forget.clone(),
        }
    }
}

impl Judgement {
    /// The engine answered that question.
    pub fn step_closed(&mut self, value: Option<&str>) {
        if self.closing == Some(Closing::GoesOn) && !value.is_some_and(means_yes) {
            self.findings.under_way();
        }
    }
}

impl Session {
    /// A client resumes: what is to be known about its step if something cuts it short.
    pub(crate) fn note_step(&mut self, node: NodeId, command: &str, pace: Pace, resumes: Option<Resumes>) {
        let judges = self.may_judge(node);
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.stepping = None;
        let Some(Resumes { thread, .. }) = resumes.filter(|_| pace == Pace::Step) else { return };
        let kind = match command {
            "stepIn" => StepKind::In,
            "next" => StepKind::Over,
            "stepOut" => StepKind::Out,
            _ => StepKind::Other,
        };
        let cut = known.facts.running.cut_steps.as_ref();
        let measured = cut.is_some_and(|cut| kind == StepKind::Over || kind == StepKind::Out && cut.led_out);
        // What is asked again goes before the step.
        let unseen = known.seen != thread || known.asks_again_at().is_some();
        let turned = known.facts.running.steps == Steps::OfTheSeen && unseen;
        known.stepping = cut.map(|_| Stepping { thread, kind, depth: None, leader: Leader::Engine });
        // Nobody else needs it, and a stack may be long.
        if let Some(thread) = thread.filter(|_| judges && measured || turned) {
            let message = request("stackTrace", json!({"threadId": thread}));
            let pending = Pending { command: "stackTrace".into(), purpose: Purpose::StepBegins };
            let mut waiting = Waiting::new(message, SmallVec::new(), Some(pending));
            waiting.uses.push(known.threads.life(thread));
            known.push(Lane::Normal, waiting);
        }
    }

    pub(crate) fn on_step_begins(&mut self, node: NodeId, body: Option<Json>) {
        let stepping = self.nodes.get_mut(&node).and_then(|node| node.stepping.as_mut());
        if let Some((stepping, body)) = stepping.zip(body) {
            stepping.depth = Some(depth(body));
        }
    }

    /// What is known of the engine, if a step is under way that this stop may have cut short.
    pub(crate) fn cuts_step(&self, node: NodeId, reason: &str) -> Option<&CutSteps> {
        let known = self.nodes.get(&node)?;
        known.stepping.as_ref().filter(|_| reason != "step")?;
        known.facts.running.cut_steps.as_ref()
    }

    /// From here on the hub sees to it that the step ends where it should.
    pub(crate) fn lead_step(&mut self, node: NodeId) {
        if let Some(stepping) = self.nodes.get_mut(&node).and_then(|node| node.stepping.as_mut()) {
            stepping.leader = Leader::Hub;
        }
    }

    pub(crate) fn leads_step(&self, node: NodeId) -> bool {
        let stepping = self.nodes.get(&node).and_then(|node| node.stepping.as_ref());
        stepping.is_some_and(|stepping| stepping.leader == Leader::Hub)
    }
}

/// Whether an engine says that a step has ended.
pub(crate) fn is_step(stop: &Message) -> bool {
    stop.payload().and_then(|body| body.str("reason")).is_some_and(|reason| reason == "step")
}

/// A stop as the end of the step.
pub(crate) fn as_step(stop: &Message) -> Option<Message> {
    let body = stop.payload()?;
    let mut edits: SmallVec<[Edit; 2]> = Edit::member(body, "reason", "\"step\"").into_iter().collect();
    // They are about a breakpoint whose owner does not want it.
    for (key, instead) in [("description", "\"step\""), ("text", "\"step\""), ("hitBreakpointIds", "[]")] {
        edits.extend(body.get(key).and_then(Json::span).map(|at| Edit::text(at, instead)));
    }
    stop.edited(edits).ok()
}

/// How deep a stack is, of which all was asked for.
pub(crate) fn depth(stack: Json) -> usize {
    let shown = stack.get("stackFrames").map_or(0, |frames| frames.elements().count());
    let total = stack.i64("totalFrames").and_then(|total| usize::try_from(total).ok());
    total.unwrap_or(0).max(shown)
}
