//! What can go wrong between a client and the debugger.
//!
//! A refused request is one answer of many; a connection that ended is the end of the session for this client.

use std::time::Duration;

use breakroom_wire::FrameError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{command} failed: {message}")]
    Refused { command: String, message: String },
    #[error("the debugger has not answered {command} for {} s; go on waiting or quit", patience.as_secs())]
    Silent { command: String, patience: Duration },
    #[error("{command} is not awaited any more, since this program was told to end")]
    Left { command: String },
    #[error("the connection to the debugger ended while {waiting_for} was awaited: {reason}")]
    Disconnected { waiting_for: String, reason: String },
    #[error("the debugger cannot be written to: {source}; it has probably ended")]
    Send { source: std::io::Error },
}

impl Error {
    /// Whether the debugger is gone, of which its stream tells next.
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Disconnected { .. } | Self::Send { .. })
    }
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
