//! The agents' door at its limits: programs that end at once or never, print or hold far too much, or are odd; many sessions
//! at once; calls that make no sense; agents that go without a word.
//!
//! Every answer in these tests, whatever the call was, is held to its budget.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod office;
    pub mod rig;
}

mod limits {
    mod budget;
    mod crowd;
    mod ends;
    mod hammer;
    mod large;
    mod leaving;
    mod mistakes;
    mod odd;
    mod secrets;
}
