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
    #[error("the commands cannot be read: {reason}; end the session and start it again")]
    Input { reason: String },
    #[error("nothing can be shown: {source}; is the terminal still there?")]
    Show { source: std::io::Error },
    #[error("there is no {what}; {advice}")]
    Missing { what: String, advice: String },
    #[error("the program runs{by}; wait for its stop, or `pause` it")]
    Runs { by: String },
    #[error("the program has moved on: {by} resumed it; see where it is and type it again")]
    Moved { by: String },
    #[error("{what} is not for observers; attach without --observe")]
    OnlyObserves { what: &'static str },
}

impl Error {
    /// Whether it costs only the command that it is about.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Silent { .. }
            | Self::Missing { .. }
            | Self::Runs { .. }
            | Self::Moved { .. }
            | Self::OnlyObserves { .. } => true,
            Self::Disconnected { .. } | Self::Send { .. } | Self::Input { .. } | Self::Show { .. } => false,
        }
    }

    /// Whether the debugger is gone, of which its stream tells next.
    pub(crate) fn is_loss(&self) -> bool {
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
