//! From what a person names to the arguments that an engine is launched with: an editor's configurations and compounds,
//! their variables and tasks, projects of every language, and builds where one is needed.
//!
//! It speaks no DAP and starts no engine. What it runs is run under a guard and can be called off at any time.

pub mod attach;
mod build;
mod by_port;
mod cache;
mod choice;
mod command;
pub mod core_file;
mod editor;
mod environment;
mod failure;
mod fitting;
mod interpreters;
mod jsonc;
mod listing;
mod prepare;
mod project;
mod python;
mod tasks;
mod tool;
mod variables;
mod workshop;

/// What a .NET project says about itself without being built.
pub use build::dotnet::{settings as dotnet_settings, solution as dotnet_solution};
pub use command::{Meant, is_go_test, meant, module, of_go_tests};
pub use failure::Failure;
pub use listing::{Listing, Runnable, request_of, runnable, types_of};
pub use prepare::{needs_nothing, prepare};
pub use project::debugged_by;
pub use python::{from_words as python_words, is_interpreter as is_python};
pub use tool::find as find_tool;
pub use workshop::{CallOff, Workshop};
