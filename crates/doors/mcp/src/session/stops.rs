//! A thread that stands somewhere: how it came there, who else does, and whether the agent knows.

use std::fmt;

use breakroom_client::model::{self, ThreadId};
use serde_json::Value;

/// The reasons for which a breakpoint may have stopped it. What is watched is none of ours.
const BREAKPOINTS: [&str; 2] = ["breakpoint", "function breakpoint"];

/// The number of a stop, which only grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub u64);

impl Epoch {
    pub fn next(self) -> Epoch {
        Epoch(self.0 + 1)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Who stands, goes on or is to pause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Thread {
    Known(ThreadId),
    /// Something was told without a word about whose it is.
    #[default]
    Unnamed,
}

impl Thread {
    /// The one that an event is about.
    pub fn read(body: &Value) -> Thread {
        ThreadId::read(body).map_or(Thread::Unnamed, Thread::Known)
    }

    /// As debuggers and agents know it.
    pub fn number(self) -> Option<i64> {
        match self {
            Thread::Known(ThreadId(number)) => Some(number),
            Thread::Unnamed => None,
        }
    }
}

impl From<i64> for Thread {
    fn from(number: i64) -> Thread {
        Thread::Known(ThreadId(number))
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thread::Known(ThreadId(number)) => number.fmt(formatter),
            Thread::Unnamed => formatter.write_str("?"),
        }
    }
}

/// A thread that stands somewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stop {
    pub epoch: Epoch,
    pub thread: Thread,
    pub reason: String,
    pub description: String,
    pub text: String,
    /// The hub's numbers of our breakpoints there.
    pub hit: Vec<i64>,
    /// Whether every other thread stands, too.
    pub all: bool,
    /// Whether it is the end of a step, anybody's, or came in the midst of one.
    pub in_step: bool,
    /// Nothing but captures is there, and it stays because it came in the midst of a step.
    pub cuts_step: bool,
    /// What other threads have in their names that may have hit something, too, and are not told of.
    pub untold: Option<String>,
    /// Whoever wants it, we or others, only captures there.
    pub captures: Option<Captures>,
    pub told: Told,
}

impl Stop {
    /// What an event says by itself. It is nobody's yet, and has no number.
    pub fn read(body: &Value) -> Stop {
        let word = |key: &str| model::text(&body[key]);
        let own = &body["breakroom"];
        Stop {
            thread: Thread::read(body),
            reason: word("reason"),
            description: word("description"),
            text: word("text"),
            hit: model::list(&body["hitBreakpointIds"], model::integer),
            all: body["allThreadsStopped"] == Value::Bool(true),
            captures: model::integer(&own["captures"]["stop"]).map(|stop| Captures {
                stop,
                clients: model::integer(&own["captures"]["clients"]).unwrap_or_default(),
            }),
            untold: own["untold"].as_str().map(str::to_owned),
            ..Stop::default()
        }
    }

    pub fn is_at_breakpoint(&self) -> bool {
        BREAKPOINTS.contains(&self.reason.as_str())
    }

    /// Whether both are of one process. Where there are several, the hub names each behind its words.
    pub fn is_with(&self, other: &Stop) -> bool {
        self.all || other.all || process(&self.description) == process(&other.description)
    }
}

/// The process that the hub names behind what it says of a stop or a thread, where there are several.
pub fn process(words: &str) -> Option<&str> {
    words.strip_suffix(']')?.rsplit_once('[').map(|(_, process)| process)
}

/// Who captures at a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captures {
    /// The hub's number of it.
    pub stop: i64,
    pub clients: i64,
}

/// Whether the agent knows of a stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Told {
    #[default]
    Not,
    Shown,
    /// It stands only because another thread does, and is no news.
    Aside,
}

/// Which stop a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The oldest that the agent was not shown.
    New,
    /// The oldest that the agent was not shown, or that is behind this epoch: another call that waits may be told first.
    Next(Epoch),
    /// The oldest behind this epoch.
    Behind(Epoch),
    /// Where those stand that were there before: the hub tells last of the one that they look at.
    Latest,
    /// What a thread does that was asked to pause. debugpy plays it down where another one was to be in focus and does not
    /// stop, as one that waits for a lock.
    Pause { thread: Thread, behind: Epoch },
    /// The end of a thread's step, or what stopped all threads in the midst of it.
    Step { thread: Thread, behind: Epoch },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_thread_without_a_name_is_none_that_has_one() {
        let (named, unnamed) = (Thread::read(&json!({"threadId": 7})), Thread::read(&json!({})));
        assert_eq!((named, unnamed), (Thread::from(7), Thread::Unnamed));
        assert_eq!((json!(named.number()), json!(unnamed.number())), (json!(7), Value::Null));
        assert_eq!(format!("{named} {unnamed}"), "7 ?");
    }
}
