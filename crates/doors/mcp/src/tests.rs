//! Whole calls against a hub that is made up: orders of events that a real debugger keeps too rarely to be waited for.

mod answers;
mod beginnings;
mod given_up;
mod hub;
mod lives;
mod orders;
mod refusals;
mod runs;
mod scripts;
mod stopped;
