//! DAP messages as they travel: raw bytes, a scanned head, and the few edits the hub makes.
//!
//! A message is never turned into a tree and back: unknown commands, vendor fields, key order, big
//! integers, explicit nulls and duplicate keys survive because nobody touches them. What an adapter writes where DAP
//! has something else can be [repaired](repairs).
//! This crate does no I/O and knows neither framing nor sessions.

mod compose;
mod edit;
pub mod json;
mod message;
pub mod names;
pub mod references;
mod repair;
pub mod view;
pub mod walk;

pub use compose::{event, event_with, failure, request, response, response_with};
pub use edit::{Edit, Packet, Part, With};
pub use json::Json;
pub use message::{Envelope, Message, ScanError};
pub use repair::repairs;
