//! The connection to the session: requests with a deadline, since Visual Studio waits for each response for ever.

use std::time::{Duration, Instant};

use breakroom_client::{Client, Error};
use breakroom_debug_client::Requests;
use serde_json::Value;

/// How long the debugger may take for a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Debugger {
    pub client: Client,
}

/// Why a request to the debugger failed, in words for the user.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It costs only the request.
    #[error("{0}")]
    Refused(String),
    /// The debugger is gone, which its stream reports next.
    #[error("{0}")]
    Lost(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // The name of the request is one of another protocol.
            Error::Refused { message, .. } => Failure::Refused(message),
            Error::Silent { patience, .. } => Failure::Refused(format!(
                "timeout: the debugger has not answered for {} s",
                patience.as_secs()
            )),
            error => Failure::Lost(error.to_string()),
        }
    }
}

impl Debugger {
    pub fn ask(&mut self, command: &str, arguments: Value) -> Result<Value, Failure> {
        let id = self.client.send(command, arguments)?;
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        loop {
            if let Some(answer) = self.client.take_answer(id, command) {
                return Ok(answer?);
            }
            if let Err(error) = self.client.receive(Some(deadline), command, REQUEST_TIMEOUT) {
                // A debugger that goes on working on it would answer nothing else.
                self.client.cancel(id);
                return Err(error.into());
            }
        }
    }
}

impl Requests for Debugger {
    type Error = Failure;

    fn request(
        &mut self,
        command: &'static str,
        arguments: Value,
    ) -> impl Future<Output = Result<Value, Failure>> + Send {
        std::future::ready(self.ask(command, arguments))
    }

    fn can(&self, capability: &str) -> bool {
        self.client.can(capability)
    }

    fn refusal(&self, why: String) -> Failure {
        Failure::Refused(why)
    }

    fn as_refusal(failure: &Failure) -> Option<&str> {
        match failure {
            Failure::Refused(why) => Some(why),
            Failure::Lost(_) => None,
        }
    }
}
