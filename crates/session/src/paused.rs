//! A stop that somebody asked for with `pause`, whatever the engine calls it: native debuggers tell the signal by which they
//! did it, and people would take that for something that happened to the program.
//!
//! Of several processes that one client sees as one program, the one that it names may be unable to stop: debugpy stops a
//! thread at its next line, and one that waits for its children has none before they end. Then the others are stopped.
//! An engine that loses a pause of what does not run yet is asked again.

use std::time::Duration;

use breakroom_dap::{Edit, Json, Message, request};
use breakroom_habits::AskedPause;
use serde_json::json;
use smallvec::SmallVec;

use crate::ending::Ending;
use crate::entry::SIGNALS;
use crate::ids::{ClientId, NodeId, Time};
use crate::node::{Lane, Node, Pending, Purpose, Waiting};
use crate::session::Session;

/// How long a pause may take before it is meant for the others too.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long an engine that may not have heard of a pause has for it.
const HEARING: Duration = Duration::from_millis(200);
/// One that has not heard it by then never will.
const MOST_TIMES: u8 = 25;

/// Whether somebody wants the program to stop, wherever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pausing {
    No,
    Asked,
    /// The engine may not have heard it: after a while without a stop it is asked again, this many times at most.
    AskedAgain {
        thread: Option<i64>,
        until: Time,
        times: u8,
    },
    /// This client did, to which it is one of several: after a while without a stop it means whatever can be stopped.
    AskedOfSeveral {
        by: ClientId,
        until: Time,
    },
}

impl Pausing {
    pub fn is_asked(self) -> bool {
        self != Pausing::No
    }

    pub fn until(self) -> Option<Time> {
        match self {
            Pausing::No | Pausing::Asked => None,
            Pausing::AskedAgain { until, .. } | Pausing::AskedOfSeveral { until, .. } => Some(until),
        }
    }
}

impl Session {
    pub(crate) fn note_pause(&mut self, by: ClientId, node: NodeId, thread: Option<i64>) {
        let until = self.now.after(PATIENCE);
        // Where a stop was faster than the button none follows, and nobody else is meant, also if it goes on at once.
        let stands = self.nodes.get(&node).is_some_and(Node::stands);
        let several = self.debugged(by).len() > 1;
        let again = self.now.after(HEARING);
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.pausing = match known.facts.running.asked_pause {
            _ if several && !stands => Pausing::AskedOfSeveral { by, until },
            AskedPause::MayBeLost if !stands => {
                Pausing::AskedAgain { thread, until: again, times: MOST_TIMES }
            }
            AskedPause::MayBeLost | AskedPause::IsHeard => Pausing::Asked,
        };
    }

    /// A pause that has had no effect may not have been heard. A stop that comes meanwhile makes the next one one of what
    /// stands, of which nothing comes: whatever resumes it is told to the engine behind that.
    pub(crate) fn pause_again_in_time(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Pausing::AskedAgain { thread, until, times } = known.pausing else { return };
        if until > self.now {
            return;
        }
        known.pausing = Pausing::Asked;
        if known.stands() || times == 0 || !matches!(self.ending, Ending::No) {
            return;
        }
        let until = self.now.after(HEARING);
        if known.awaits("pause") {
            known.pausing = Pausing::AskedAgain { thread, until, times };
            return;
        }
        known.pausing = Pausing::AskedAgain { thread, until, times: times - 1 };
        let pause = request("pause", json!({"threadId": thread}));
        let pending = Pending { command: "pause".into(), purpose: Purpose::Nobody };
        known.push(Lane::Urgent, Waiting::new(pause, SmallVec::new(), Some(pending)));
    }

    /// A pause that has had no effect for too long is passed on to what else its client sees, as far as it runs.
    pub(crate) fn pause_others_in_time(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Pausing::AskedOfSeveral { by, until } = known.pausing else { return };
        if until > self.now {
            return;
        }
        known.pausing = Pausing::Asked;
        if known.stands() || !matches!(self.ending, Ending::No) {
            return;
        }
        let others: Vec<_> = self.debugged(by).into_iter().filter(|other| *other != node).collect();
        let paused: Vec<_> = others.into_iter().filter(|other| self.pause_other(*other)).collect();
        if paused.is_empty() {
            return;
        }
        let names: Vec<_> = paused.into_iter().map(|other| self.label(other)).collect();
        let label = self.label(node);
        let text = format!(
            "{label} does not stop yet: it may wait for something. It will at its next line; asked to stop as well: {}.",
            names.join(", ")
        );
        self.say(by, &text);
    }

    /// Whether there is anything to stop.
    fn pause_other(&mut self, node: NodeId) -> bool {
        let Some(known) = self.nodes.get_mut(&node) else { return false };
        if known.pausing.is_asked() || known.stands() {
            return false;
        }
        let Some(thread) = known.picture.known(&known.threads).into_iter().min() else { return false };
        let pause = request("pause", json!({"threadId": thread}));
        let pending = Pending { command: "pause".into(), purpose: Purpose::Nobody };
        known.pausing = Pausing::Asked;
        known.push(Lane::Urgent, Waiting::new(pause, SmallVec::new(), Some(pending)));
        true
    }

    /// The stop as clients are to hear of it, if it is that one and the engine calls it something else.
    pub(crate) fn as_pause(&self, node: NodeId, message: &Message) -> Option<Message> {
        let known = self.nodes.get(&node)?;
        let body = message.payload().filter(|_| known.pausing.is_asked())?;
        let reason = body.str("reason")?;
        let signal = |text: &str| SIGNALS.iter().any(|signal| text.contains(signal));
        let words = ["description", "text"].map(|key| body.str(key).unwrap_or_default());
        let signalled = signal(&reason) || reason == "exception" && words.iter().any(|word| signal(word));
        // js-debug steps on to a line of the program before it stops.
        let stepped = reason == "step" && !known.threads.any_step() && known.stepping.is_none();
        let wrong: &[&str] = match (signalled, stepped) {
            (true, _) => &["reason", "description", "text"],
            (false, true) => &["reason"],
            (false, false) => return None,
        };
        let said = wrong.iter().filter_map(|key| body.get(key).and_then(Json::span));
        let edits: SmallVec<[Edit; 2]> = said.map(|at| Edit::text(at, "\"pause\"")).collect();
        message.edited(edits).ok()
    }
}
