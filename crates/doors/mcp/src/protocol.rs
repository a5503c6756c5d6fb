//! The protocol's side of the door: what it is asked, over stdio or HTTP. Its library is used here and nowhere else.

pub mod http;
pub mod prompts;
pub mod resources;
pub mod server;
pub mod stdin;
pub mod stdio;
pub mod visits;
