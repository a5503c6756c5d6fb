//! Any bytes as the handshake of a debug session: reading it never panics, takes no byte of what follows it, and an error
//! does not repeat the token.
//!
//! The first byte says in how many pieces the others arrive, which must make no difference.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/frontends/bridge/tests/handshakes/trial.rs"]
mod trial;

fuzz_target!(|bytes: &[u8]| trial::receive(bytes));
