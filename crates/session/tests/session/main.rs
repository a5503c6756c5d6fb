//! The session core under test, one concern a module. There is no process, socket or clock here: the rig plays
//! the driver, so every order of events can be written down.

// The lint knows only functions marked as tests; what they share may fail as loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod absence;
mod attached;
mod cancel_and_progress;
mod core_file;
mod corners;
mod ending;
mod engine_breakpoints;
mod engines;
mod entry;
mod evaluating;
mod failing;
mod farewell;
mod faults;
mod filters;
mod front_end_options;
mod inside;
mod joiner_stop;
mod joining;
mod journal;
mod judged_together;
mod judging;
mod late_engines;
mod ledger;
mod many_breakpoints;
mod orders;
mod panics;
mod passing;
mod paths;
mod paused;
mod preparing;
mod preparing_again;
mod quirks;
mod reads;
mod references;
mod repeating;
mod replay;
mod restarting;
mod reverse;
mod rig;
mod roles;
mod sharing;
mod silence;
mod simulation;
mod slow;
mod starting;
mod stepping;
mod transparency;
mod trees;
mod truth;
mod unattended;
mod undeclared;
mod unnamed;
mod verbs;
