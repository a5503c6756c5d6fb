//! Any bytes as the text of an EZ program: it is parsed, what is told about it is told about places in it, and a text
//! without mistakes can be compiled. Nothing is run here.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the other half is for the target that runs programs")]
#[path = "../../crates/ez/tests/mutations/trial.rs"]
mod trial;

fuzz_target!(|bytes: &[u8]| trial::understand(&String::from_utf8_lossy(bytes)));
