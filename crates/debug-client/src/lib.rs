//! What front ends that are DAP clients have in common: the breakpoints that a user wants, the stack, the variables of a
//! frame, who else is in the session.
//!
//! State is kept without I/O; procedures are written once over [`Requests`]. How something is shown, and in which protocol,
//! is the business of each front end.

pub mod breakpoints;
mod connection;
mod handles;
mod output;
pub mod participants;
mod requests;
pub mod stack;
pub mod values;

pub use connection::{Connection, Open};
pub use handles::HandleTable;
pub use output::{OutputClosed, OutputQueue};
pub use requests::{Requests, complete};
