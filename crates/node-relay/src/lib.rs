//! What stands between js-debug and the inspector of a Node.js process.
//!
//! js-debug has a process of its own there (its watchdog); here it is ours, because with that one every request takes 44 ms
//! on Linux: Node.js writes an answer and the event behind it in two pieces and waits for the first to be acknowledged.
//! What is said is the same, in the same order; only a process that is idle when it is to stop hears a line more. Nothing here
//! looks into it but for that, and for who comes and who leaves.

mod close;
mod error;
mod pass;
#[cfg(test)]
mod played;
mod quick;
mod target;
mod watch;
mod websocket;
mod workers;

pub use close::{Sight, close_after};
pub use error::RelayError;
pub use pass::pass;
pub use watch::{Watched, watch};
