//! The session core under test, one concern a module. There is no process, socket or clock here: the rig plays
//! the driver, so every order of events can be written down.

// The lint knows only functions marked as tests; what they share may fail as loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod absence;
mod cancel_and_progress;
mod corners;
mod ending;
mod faults;
mod joining;
mod journal;
mod judging;
mod ledger;
mod reads;
mod references;
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
mod transparency;
mod verbs;
