//! What the procedures of this crate need of a connection: requests with their answers.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

/// A connection to a debugger.
pub trait Requests {
    type Error;

    fn request(
        &mut self,
        command: &'static str,
        arguments: Value,
    ) -> impl Future<Output = Result<Value, Self::Error>> + Send;

    /// Whether the debugger says that it has this capability.
    fn can(&self, capability: &str) -> bool;

    /// A request that is refused without asking, and why.
    fn refusal(&self, why: String) -> Self::Error;

    /// Whether it was the debugger's answer, which costs only the request, and what it said.
    fn as_refusal(error: &Self::Error) -> Option<&str>;
}

/// The result of a procedure over a connection whose `request` blocks: it is there at the first poll.
pub fn complete<T>(procedure: impl Future<Output = T>) -> T {
    let mut procedure = pin!(procedure);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match procedure.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result,
            // Only a connection that does not block gets here. Another poll is all that it can be given.
            Poll::Pending => std::thread::yield_now(),
        }
    }
}
