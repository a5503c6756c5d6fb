//! What is special about an engine, by concern: each group is a table of the catalog and a field of what a session knows.
//!
//! One definition for both: `engines` reads these types from TOML, `session` acts on them, and neither knows the other.
//! Only data is here. What is made of each is in the module of `session` that reads it.

mod breakpoints;
mod claims;
mod ending;
mod expressions;
mod raising;
mod running;
mod starting;

use serde::Deserialize;

pub use breakpoints::{BareHits, Breakpoints, FunctionAnswers, FunctionOrder, Term, Unset};
pub use claims::{Claims, UnknownRequests};
pub use ending::{Detach, Ending, ExitWord, Leaves, ProgramEnd, SignalCode, Wished, WishedEnd};
pub use expressions::{Console, Expressions, Hover};
pub use raising::{DyingWords, ExceptionStops, Panics, Raising};
pub use running::{
    AskedPause, Children, CutSteps, Hits, Libraries, Pauses, RefusesEarly, Running, Steps, ThreadList,
};
pub use starting::{AttachStop, CoreWord, EntryStop, Preload, Starting, Symbols, TerminalWord};

/// What the connection that is launched does itself. A child on its parent's server always debugs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    #[default]
    Debugs,
    /// It only opens children (js-debug, a group): it gets no breakpoints and is asked about no thread.
    Coordinates,
}
