//! How a thread is to go on, and what was known when it did.

use serde_json::Value;

use crate::captures::judging::Number;
use crate::session::stops::{Epoch, Thread};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Continue,
    Over,
    In,
    Out,
    Back,
}

impl Move {
    pub fn command(self) -> &'static str {
        match self {
            Move::Continue => "continue",
            Move::Over => "next",
            Move::In => "stepIn",
            Move::Out => "stepOut",
            Move::Back => "stepBack",
        }
    }
}

/// What was known when a thread set off: what is heard before the answer is of a later run.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    pub epoch: Epoch,
    /// Of the stop that was judged last.
    pub judged: Number,
}

/// Who goes on: a thread, and all others with it or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Going {
    pub thread: Thread,
    pub all: bool,
}

impl Going {
    pub fn alone(thread: Thread) -> Going {
        Going { thread, all: false }
    }

    /// What an event or an answer says of it: all go on unless it says otherwise.
    pub fn read(thread: Thread, body: &Value) -> Going {
        Going { thread, all: body["allThreadsContinued"] != Value::Bool(false) }
    }

    pub fn has(self, thread: Thread) -> bool {
        self.all || self.thread == thread
    }
}

/// What came of having a thread go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    On,
    /// Something is to be told first.
    NotYet,
}
