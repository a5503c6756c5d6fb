//! The EZ engine through the real binary: `breakroom ez dap` on pipes, driven by the strict client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod ez_engine;
    pub mod scenario;
}

mod ez {
    mod breakpoints;
    mod data;
    mod ending;
    mod evaluating;
    mod launching;
    mod looking;
    mod reverse;
    mod running;
    mod setting;
    mod sharing;
    mod stepping;
}
