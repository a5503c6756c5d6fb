//! What an agent does with a program: starts it in every way, sets breakpoints of every kind, steps, looks and changes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

mod agents {
    mod breakpoints;
    mod commands;
    mod running;
    mod scripts;
    mod starting;
    mod testing;
}
