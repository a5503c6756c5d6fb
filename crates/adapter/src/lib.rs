//! What every debug adapter of ours needs to speak DAP on two byte streams: requests as they come, and answers and events
//! with their numbers.
//!
//! It knows no request by name and owns no thread: when something is read, and who answers, is the adapter's business.

mod incoming;
mod outgoing;

pub use incoming::{Answer, Message, ReadError, Request, read};
pub use outgoing::Outgoing;
