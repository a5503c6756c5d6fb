//! EZ programs that run: each does the same with and without history, and going back and forth changes nothing.
//!
//! An input is the text of a program or, if it begins with a question mark, the choices by which one is made up.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/ez/tests/mutations/invent.rs"]
mod invent;
#[allow(dead_code, reason = "the other half is for the target that parses")]
#[path = "../../crates/ez/tests/mutations/trial.rs"]
mod trial;

fuzz_target!(|bytes: &[u8]| {
    match bytes {
        [b'?', choices @ ..] => trial::run(&invent::program(choices)),
        text => trial::run(&String::from_utf8_lossy(text)),
    };
});
