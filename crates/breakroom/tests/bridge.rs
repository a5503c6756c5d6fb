//! The debug bridge against its protocol's statements, over a real socket with the real binary and the fake adapter.
//!
//! Names begin with the number of the statement. Real adapters are in `bridge_adapters.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod bridging;
    pub mod rig;
}

#[path = "debug_bridge/children.rs"]
mod children;
#[path = "debug_bridge/failures.rs"]
mod failures;
#[path = "debug_bridge/handshakes.rs"]
mod handshakes;
#[path = "debug_bridge/kills.rs"]
mod kills;
#[path = "debug_bridge/many.rs"]
mod many;
#[path = "debug_bridge/messages.rs"]
mod messages;
#[path = "debug_bridge/output.rs"]
mod output;
#[path = "debug_bridge/registrar.rs"]
mod registrar;
#[path = "debug_bridge/silent_hub.rs"]
mod silent_hub;
#[path = "debug_bridge/slow_client.rs"]
mod slow_client;
#[path = "debug_bridge/steps.rs"]
mod steps;
