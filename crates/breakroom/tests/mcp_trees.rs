//! Programs that start others, as agents see them: one session, one view, every stop in its turn.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod company;
    pub mod editor;
    pub mod family;
    pub mod scenario;
}

mod agents {
    mod attaching;
    mod families;
    mod kinship;
    mod node;
    mod node_files;
    mod servers;
}
