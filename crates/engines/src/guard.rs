//! The process guard: one small process of ours between the hub and everything an engine starts.
//!
//! It is the sub-reaper of what it spawned, so that nothing can slip away by forking twice, and it ends all of it
//! when the hub says so or is gone, however the hub went. No byte of a debug session passes through it.

pub mod handle;
pub mod process;
pub mod protocol;
pub mod ready;

mod descendants;
mod link;
mod lost;
mod mark;
