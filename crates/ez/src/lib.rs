//! The EZ language: from the text of a program to a machine that runs it and can be stopped anywhere.
//!
//! ```text
//! text ─ syntax ─► tree ─ modules ─► files ─ check ─► typed tree ─ compile ─► code ─ machine ─► effects on a World
//! ```
//! It knows no protocol and touches nothing outside but through [`World`]; `debug` is what a debugger asks of it.

pub mod check;
pub mod code;
pub mod compile;
pub mod debug;
pub mod diagnostic;
pub mod fault;
pub mod hir;
pub mod library;
pub mod machine;
pub mod modules;
pub mod source;
pub mod syntax;
pub mod types;
pub mod unit;
pub mod value;
pub mod world;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use fault::Fault;
pub use source::{Position, Sources, Span};
pub use types::Type;
pub use value::Value;
pub use world::World;
