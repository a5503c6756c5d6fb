//! The numbers of a session. Mixing two number spaces must not compile.

use std::time::Duration;

/// One connection to the session. Never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

/// Who owns what the hub itself wants of an engine. No client has this number.
pub(crate) const NOBODY: ClientId = ClientId(u32::MAX);

/// One engine of the session. Never reused, so a late message of an engine that was replaced is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Time since the session began, as its driver tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(pub Duration);

impl Time {
    pub fn after(self, wait: Duration) -> Time {
        Time(self.0 + wait)
    }
}

/// A client's own number of one of its requests. Clients repeat them, so it is echoed and never a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FromClient(pub i64);

/// Our number of a message to a client: 1, 2, 3, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct ToClient(pub i64);

/// Our number of a message to an engine: 1, 2, 3, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct ToEngine(pub i64);

/// An engine's own number of one of its messages. Delve sends 0 always; used only to answer its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FromEngine(pub i64);

/// Names something that the driver was asked to do and will report on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub u32);

/// Somebody who waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asker {
    pub client: ClientId,
    pub seq: FromClient,
}
