//! Programs that start others, with the real binary: every process and worker is a node of one session's tree.
//!
//! Real debuggers first; what they cannot be made to do is done by a fake one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod family;
    pub mod rig;
    pub mod scenario;
}

mod tree {
    mod chromium;
    mod ending;
    mod faults;
    mod node;
    mod python;
    mod views;
}
