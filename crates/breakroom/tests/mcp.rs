//! The agents' door with real debuggers: every language of the catalog, and the public clients of the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/editor.rs"]
mod editor;

mod mcp {
    mod counts;
    mod hits;
    mod inspector;
    mod languages;
    mod place;
    mod public;
    mod truth;
}
