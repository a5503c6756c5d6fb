//! Why a call failed, in a sentence, and what to do next.
//!
//! A debuggee's failure is an answer like any other: agents read it. Only what is no call of ours at all is the protocol's.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Failure {
    /// What is wrong, and where.
    pub what: String,
    /// What to do about it.
    pub next: Option<String>,
}

impl Failure {
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), next: None }
    }

    #[must_use]
    pub fn next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// What to do, if nothing better is known.
    #[must_use]
    pub fn or_next(self, next: impl FnOnce() -> String) -> Self {
        Self { next: self.next.or_else(|| Some(next())), ..self }
    }

    pub fn silent(command: &str, patience: Duration) -> Self {
        Self::new(format!("the debugger did not answer `{command}` within {} s", patience.as_secs()))
            .next("Try debugger_pause, or debugger_stop to end the session.")
    }

    pub fn over() -> Self {
        Self::new("the session is over").next("debugger_restart runs the program again.")
    }

    pub fn cancelled() -> Self {
        Self::new("the call was cancelled")
    }

    pub fn text(&self) -> String {
        match &self.next {
            Some(next) => format!("{}\nNext: {next}", self.what),
            None => self.what.clone(),
        }
    }
}
