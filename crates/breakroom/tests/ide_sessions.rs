//! Run sessions of `breakroom ide`: what an orchestrator hears of them, over real TLS and a real WebSocket, what their editors
//! hear, and what the debug bridge behind them hears.
//!
//! Names that begin with a number are those of the protocol's statements. The bridge is one that answers as each test tells it,
//! and the adapter at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../frontends/ide/tests/endpoint/peer.rs"]
#[allow(dead_code, reason = "helpers of another crate's tests, which need more of them")]
mod peer;
#[path = "run_sessions/server.rs"]
mod server;
mod support {
    pub mod rig;
}

#[path = "run_sessions/bridged.rs"]
mod bridged;
#[path = "run_sessions/failures.rs"]
mod failures;
#[path = "run_sessions/local.rs"]
mod local;
