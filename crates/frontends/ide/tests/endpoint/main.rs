//! The IDE endpoint as an orchestrator meets it: real TLS, real HTTP and a real WebSocket, with a scripted runner.
//!
//! No hub and no adapter runs here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod intruders;
mod notifications;
mod peer;
mod requests;
mod server;
