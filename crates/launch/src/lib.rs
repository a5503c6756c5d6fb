//! From what a person names to the arguments that an engine is launched with: an editor's configurations and compounds,
//! their variables and tasks, projects of every language, and builds where one is needed.
//!
//! It speaks no DAP and starts no engine. What it runs is run under a guard and can be called off at any time.

pub mod attach;
mod build;
mod cache;
mod choice;
mod editor;
mod environment;
mod failure;
mod fitting;
mod jsonc;
mod listing;
mod prepare;
mod project;
mod tasks;
mod variables;
mod workshop;

pub use failure::Failure;
pub use listing::{Runnable, request_of, runnable};
pub use prepare::{needs_nothing, prepare};
pub use workshop::{CallOff, Workshop};
