//! `breakroom bridge run`: the orchestrator's client against an IDE that answers as each test tells it, over real TLS and a real
//! WebSocket.
//!
//! Names that begin with a number are those of the protocol's statements.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod bridging;
    pub mod rig;
    pub mod scripted_ide;
}

#[path = "orchestrator/bridged.rs"]
mod bridged;
#[path = "orchestrator/endings.rs"]
mod endings;
#[path = "orchestrator/notifying.rs"]
mod notifying;
#[path = "orchestrator/refusals.rs"]
mod refusals;
#[path = "orchestrator/signals.rs"]
mod signals;
