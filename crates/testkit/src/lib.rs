//! What the tests of Breakroom stand on: a strict client, a scriptable adapter, a census of what is left behind.
//!
//! Everything here blocks and uses threads, so that a test reads from top to bottom.
//! It knows the framing crate and nothing else of the hub: a mistake of the hub must not be shared by its judge.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "failing the test with a clear text is what this crate is for"
)]

pub mod adapters;
pub mod binary;
pub mod census;
pub mod client;
pub mod fake;
pub mod fake_ez;
pub mod fixtures;
pub mod frames;
pub mod mcp;
pub mod programs;
pub mod scripted;
pub mod wait;

pub use binary::Sandbox;
pub use census::Census;
pub use client::{Arrival, Request, Rule, Strict};
pub use mcp::Mcp;
pub use programs::{copy_program, write_program};
