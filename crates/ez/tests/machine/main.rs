//! The machine from outside: programs as text, run to their end, stepped, taken back in time, and looked into.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod attention;
mod evaluation;
mod faults;
mod history;
mod language;
mod random_programs;
mod stepping;
mod support;
