//! What the driver knows about an engine that it started: its habits, as its entry in the catalog says them, and what the
//! driver made of the rest of the entry for this one start.
//!
//! Only the facts are here; what is made of each is in the module that reads it.

use std::collections::BTreeMap;
use std::sync::Arc;

use breakroom_habits::{Breakpoints, Claims, Ending, Expressions, Part, Raising, Running, Starting};
use serde_json::{Map, Value};

/// What the driver knows about an engine that it started.
#[derive(Debug, Clone, Default)]
pub struct EngineFacts {
    /// For messages to people.
    pub name: String,
    /// The names under which a configuration may ask for it: a child of one of these is on its parent's server.
    pub kinds: Vec<String>,
    /// Where it is connected to, for messages: `127.0.0.1:8123`.
    pub address: Option<String>,
    pub part: Part,
    pub stdin: Stdin,
    /// The types of configurations whose program reads nothing, whatever `stdin` says.
    pub no_input: Vec<String>,
    pub amendments: Amendments,
    pub starting: Starting,
    pub breakpoints: Breakpoints,
    pub running: Running,
    pub raising: Raising,
    pub expressions: Expressions,
    pub ending: Ending,
    pub claims: Claims,
    /// Outputs, without their ends of line, that are only about being debugged and that nobody is told.
    pub chatter: Vec<String>,
    /// Names that it gives to a process of which it knows none: that is called as whoever attached to it said.
    pub unnamed: Vec<String>,
    pub remark: Remark,
}

/// What everybody is to know of a program that is launched, at once, if anything.
#[derive(Clone, Default)]
pub struct Remark(pub Option<Arc<About>>);

type About = dyn Fn(&str) -> Option<String> + Send + Sync;

impl std::fmt::Debug for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Remark")
    }
}

/// What an engine needs of a `launch` or `attach` that its client cannot know.
#[derive(Debug, Clone, Default)]
pub struct Amendments {
    /// Arguments for which there is a value if the client gives none.
    pub defaults: Map<String, Value>,
    pub defaults_when: Vec<DefaultsWhen>,
    /// What the engine calls a `type`, by what clients call it; `*` is any other, or none.
    pub types: BTreeMap<String, String>,
    /// Where the engine takes what clients have in `args`, as one line for a shell.
    pub args_line: Option<String>,
    /// Commands for a `launch`, under this key and before those that the client has there.
    pub before: Option<(String, Vec<String>)>,
}

/// Such arguments for certain programs only.
#[derive(Debug, Clone)]
pub struct DefaultsWhen {
    pub fits: Fits,
    pub arguments: Map<String, Value>,
}

/// Tells whether a program is one of those, at once. A launch or attach may name none.
#[derive(Clone)]
pub struct Fits(pub Arc<Fit>);

type Fit = dyn Fn(Option<&str>) -> bool + Send + Sync;

impl std::fmt::Debug for Fits {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Fits")
    }
}

/// Who has the other end of what the program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stdin {
    /// The engine, the client's terminal or nobody.
    #[default]
    Others,
    /// The hub: the program's stdin is its adapter's (rdbg, delve), or a terminal of the hub.
    Hubs,
}
