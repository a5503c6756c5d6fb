//! Engines started for real: every transport, every way to end, and the adapters that are installed.

// The lint knows only functions marked as tests; what they share may fail as loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ending;
mod real;
mod starting;
mod support;
mod terminal;
