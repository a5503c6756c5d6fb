//! Agents and people in one session: each sees what the others do, and nobody loses what is theirs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

mod agents {
    mod capturing;
    mod sharing;
}
