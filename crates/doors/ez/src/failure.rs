//! What can come in the way of a command, and how far it reaches.

use breakroom_client::Error;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It costs only the command that it is about.
    #[error("{0}")]
    Refused(String),
    /// The IDE wants the end, and what it asked for before is not waited for any longer.
    #[error("the session was terminated")]
    Terminated,
    /// The debugger is gone, of which its stream tells next.
    #[error("{0}")]
    Lost(String),
    #[error("nobody reads the events any more: {0}")]
    Deaf(#[from] std::io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // The request's name says nothing to an IDE that speaks another protocol.
            Error::Refused { message, .. } => Failure::Refused(message),
            Error::Silent { patience, .. } => {
                Failure::Refused(format!("the debugger has not answered for {} s", patience.as_secs()))
            }
            Error::Disconnected { .. } | Error::Send { .. } | Error::Left { .. } => {
                Failure::Lost(error.to_string())
            }
        }
    }
}

/// What this debugger does not have.
pub fn cannot(what: &str) -> Failure {
    Failure::Refused(format!("this debugger cannot {what}"))
}
