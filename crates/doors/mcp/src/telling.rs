//! What an agent is told, within its budget: the state of a session as words and as data.

pub mod advice;
pub mod briefs;
pub mod budget;
pub mod children;
pub mod early;
pub mod frames;
pub mod output;
pub mod reply;
pub mod snapshot;
pub mod source;
pub mod unstopped;
pub mod values;
pub mod variable_paths;
