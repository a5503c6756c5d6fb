//! What ends the adapter itself. What goes wrong with the server or the program is told to the client instead.

use breakroom_adapter::ReadError;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client cannot be written to: {0}")]
    Output(#[from] std::io::Error),
    #[error(transparent)]
    Input(#[from] ReadError),
}
