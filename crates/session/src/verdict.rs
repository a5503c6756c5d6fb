//! What becomes of a stop that was judged: it is told, or the program goes on and nobody ever hears of it.
//!
//! What the engine said meanwhile is told behind the verdict. How it is found is the business of [`crate::judging`].

use breakroom_dap::view::Run;
use breakroom_dap::{Message, event, request};
use serde_json::json;
use smallvec::SmallVec;

use crate::ending::Ending;
use crate::entry::Beginning;
use crate::ids::{ClientId, NodeId};
use crate::inside::{Lead, Manner};
use crate::judgement::{Findings, Judgement, Trouble};
use crate::judging::because;
use crate::node::{Hushed, Lane, Pending, Purpose, Waiting};
use crate::session::Session;
use crate::stepping::{self, Closing};
use crate::stops::Cause;

impl Session {
    /// The verdict: the stop is told, or the program goes on. What was held is told behind it.
    pub(crate) fn conclude(&mut self, node: NodeId, trouble: Option<Trouble>) {
        let Some(judgement) = self.take_judgement(node) else { return };
        let Judgement { stops, resumer, held, findings, closing, begins, leaving, .. } = judgement;
        let is_wanted = findings.is_wanted();
        let Findings { wanted, logs, trouble: found, place, .. } = findings;
        let trouble = trouble.or(found);
        for text in logs {
            self.print_log(node, &text, place.as_ref());
        }
        let asked = begins == Some(Beginning::Asked);
        let line = place.as_ref().map(|(_, line)| *line);
        let lead = leaving.map(|leaving| leaving.lead(line));
        let ended = lead == Some(Lead::Ended);
        let unwanted = !is_wanted && trouble.is_none() && !asked && !ended;
        if unwanted && closing == Some(Closing::Ends) {
            for stop in stops {
                let step = stepping::as_step(&stop).unwrap_or(stop);
                self.tell_stopped(node, &step, Cause { resumer, ..Cause::default() });
            }
        } else if unwanted && closing == Some(Closing::LedOut) {
            self.lead_step(node);
            self.go_on_by("stepOut", &Manner::default(), node, stops, resumer);
        } else if let Some(lead) = lead.filter(|_| unwanted) {
            self.lead(node, lead, stops, resumer);
        } else if unwanted {
            self.go_on(node, stops, resumer);
        } else {
            let together = wanted.concat();
            for (stop, wanted) in stops.iter().zip(&wanted) {
                let cause = Cause { resumer, wanted, together: &together, trouble: trouble.as_ref() };
                self.tell_stopped(node, stop, cause);
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

    pub(crate) fn go_on(&mut self, node: NodeId, stops: Vec<Message>, by: Option<ClientId>) {
        self.go_on_by("continue", &Manner::default(), node, stops, by);
    }

    pub(crate) fn go_on_by(
        &mut self,
        command: &'static str,
        manner: &Manner,
        node: NodeId,
        stops: Vec<Message>,
        by: Option<ClientId>,
    ) {
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
            known.threads.go_on(thread.filter(|_| !all || manner.single), by);
            if command != "continue" {
                known.threads.step_goes_on(thread);
            }
            let message = request(command, manner.arguments(thread));
            let pending = Pending { command: command.into(), purpose: Purpose::GoOn { stops, by } };
            known.push(Lane::Urgent, Waiting::new(message, SmallVec::new(), Some(pending)));
        }
        self.forget_ended_references();
    }

    pub(crate) fn hush(&mut self, node: NodeId) {
        if let Some(known) = self.nodes.get_mut(&node) {
            known.hushed = Hushed::Continued;
        }
    }

    /// The engine answered the hub's own `continue` or `stepOut`. If it will not go on, the stop is told after all.
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
            let cause = Cause { resumer: by, trouble: Some(&trouble), ..Cause::default() };
            self.tell_stopped(node, stop, cause);
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
}
