//! What can go wrong between the terminal and the debugger.
//!
//! A refused request is shown to the person and the session goes on; the others end it.

use std::time::Duration;

use breakroom_wire::FrameError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{command} failed: {message}")]
    Refused { command: String, message: String },
    #[error("the debugger has not answered {command} for {} s; go on waiting or quit", patience.as_secs())]
    Silent { command: String, patience: Duration },
    #[error("the connection to the debugger ended while {waiting_for} was awaited: {reason}")]
    Disconnected { waiting_for: String, reason: String },
    #[error("the debugger cannot be written to: {source}; it has probably ended")]
    Send { source: std::io::Error },
    #[error("the commands cannot be read: {source}; end the session and start it again")]
    Input { source: std::io::Error },
    #[error("nothing can be shown: {source}; is the terminal still there?")]
    Show { source: std::io::Error },
    #[error("there is no {what}; {advice}")]
    Missing { what: String, advice: String },
}

/// Why the debugger's stream ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamEnd {
    #[error("the debugger closed it")]
    Closed,
    #[error("{0}")]
    Framing(#[from] FrameError),
    #[error("it cannot be read any more: {0}")]
    Read(#[from] std::io::Error),
}
