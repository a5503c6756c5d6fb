//! One adapter in the catalog, as its TOML says it.
//!
//! Only the shape and its sanity are here; looking for it is in `find`, choosing it in `choose`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fix::Fix;
use super::from_launch::depends_on_launch;
use super::quirk::Quirk;
use crate::project::Trust;
use crate::spec::{EnvVar, Mode, default_timeout};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    pub name: String,
    /// Other names under which a launch request may ask for it.
    #[serde(default)]
    pub types: Vec<String>,
    #[serde(default)]
    pub languages: Vec<String>,
    /// Patterns of file names that it debugs, with `*` and `?`.
    #[serde(default)]
    pub files: Vec<String>,
    /// Programs in a `#!` line whose scripts it debugs.
    #[serde(default)]
    pub shebangs: Vec<String>,
    /// Patterns of source files that it debugs only when compiled.
    #[serde(default)]
    pub compiled: Vec<String>,
    /// Whether it debugs executables of this machine.
    #[serde(default)]
    pub executables: bool,
    /// What stands beside a file of `files` that can be debugged, in the place of its extension.
    #[serde(default)]
    pub beside: Option<String>,
    #[serde(default)]
    pub find: Vec<Candidate>,
    /// A command that a person can copy.
    pub install: String,
    /// What `breakroom doctor --fix` does, in order.
    #[serde(default)]
    pub fix: Vec<Fix>,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub env: Vec<EnvVar>,
    #[serde(default = "default_timeout")]
    pub connection_timeout_seconds: u64,
    #[serde(default)]
    pub debuggee_stdio: bool,
    #[serde(default)]
    pub banner: Vec<String>,
    /// What it says on its stderr when it may be connected to, if that is later than it listens.
    #[serde(default)]
    pub ready: Option<String>,
    /// How the names of files begin that it leaves in the temporary folder, with `{{pid}}` for its number.
    #[serde(default)]
    pub litter: Option<String>,
    #[serde(default)]
    pub quirks: Vec<Quirk>,
    /// An expression that makes a plain yes or no of a breakpoint's condition, with `{}` for the condition.
    #[serde(default)]
    pub truth: Option<String>,
    #[serde(default)]
    pub bare_hits: BareHits,
    #[serde(default)]
    pub unset: Unset,
    #[serde(default)]
    pub part: Part,
    #[serde(default)]
    pub entry: EntryStop,
    #[serde(default)]
    pub console: Console,
    #[serde(default)]
    pub hover: Hover,
    #[serde(default)]
    pub exit: ExitWord,
    #[serde(default)]
    pub threads: ThreadList,
    /// What the adapter itself calls the `type` of a launch, by what clients call it; `*` is any other, or none.
    #[serde(default)]
    pub type_for: BTreeMap<String, String>,
    /// Launch arguments that it cannot do without: given to every launch and attach that does not say them.
    #[serde(default)]
    pub defaults: Map<String, Value>,
    /// Launch arguments that `breakroom run` sends besides program, args and cwd.
    #[serde(default)]
    pub launch: Map<String, Value>,
    #[serde(default)]
    pub launch_when: Vec<LaunchWhen>,
    #[serde(default)]
    pub module: Option<Module>,
    /// What the adapter was recorded to answer to `initialize`.
    #[serde(default)]
    pub capabilities: Map<String, Value>,
    /// Capabilities that it claims and does not have.
    #[serde(default)]
    pub withdraw: Vec<String>,
    #[serde(default)]
    pub promises: Promises,
    #[serde(skip)]
    pub origin: Origin,
}

/// One way in which the adapter may be installed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Candidate {
    /// The first of these that exists is started; `{{breakroom}}` is the running program itself.
    pub programs: Vec<String>,
    /// Programs that the adapter starts in its turn; without each of these in PATH this candidate is none. `A|B` is either.
    #[serde(default)]
    pub needs_programs: Vec<String>,
    /// A file or folder in the adapters folder without which this candidate is none.
    #[serde(default)]
    pub needs: Option<String>,
    /// Arguments with which the program, or the first that it starts in its turn, must succeed, or this candidate is none.
    #[serde(default)]
    pub check: Vec<String>,
    #[serde(default)]
    pub args: Vec<String>,
    /// Other arguments for certain programs.
    #[serde(default)]
    pub args_when: Vec<ArgsWhen>,
    #[serde(default)]
    pub version: Option<VersionQuery>,
}

/// The arguments of an adapter that is started with the program, for certain programs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgsWhen {
    pub files: Vec<String>,
    pub args: Vec<String>,
}

/// How the version is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VersionQuery {
    /// A program in the same folder that knows it; by default the adapter's own program.
    #[serde(default)]
    pub beside: Option<String>,
    /// A program in PATH that knows it. `A|B` is either.
    #[serde(default)]
    pub of: Option<String>,
    /// A file in the adapters folder that says it, as the member `version` of JSON. Nothing is run then.
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub args: Vec<String>,
    /// A candidate of an older version is none.
    #[serde(default)]
    pub at_least: Option<String>,
}

/// Launch arguments for certain files only.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchWhen {
    #[serde(default)]
    pub files: Vec<String>,
    /// For executables of this machine.
    #[serde(default)]
    pub executable: bool,
    pub arguments: Map<String, Value>,
}

/// A folder above the file, known by a file in it, in which the debuggee is built.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    pub marker: String,
    /// The launch argument that names the folder.
    pub key: String,
}

/// What a hit condition that is only a number means to the adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BareHits {
    /// Stop at that hit only.
    #[default]
    Exactly,
    /// Stop at that hit and every later one.
    From,
    /// Pass over that many and stop at every later one.
    After,
}

/// What the connection that is launched does itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    #[default]
    Debugs,
    /// It only opens others, which debug.
    Coordinates,
}

/// How it is made to stop before the program's first line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryStop {
    /// `stopOnEntry` means what it says.
    #[default]
    Native,
    /// It knows it under another key.
    Key(String),
    /// By a breakpoint on this function.
    Function(String),
    /// It stops first if it is asked to `attach`.
    ByAttach,
    /// It stops first if it is asked to `pause` before it is let go.
    Pause,
}

/// What becomes of a breakpoint that it is not told any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unset {
    #[default]
    Goes,
    /// It goes on stopping there.
    Stays,
}

/// What it takes an `evaluate` in the console for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Console {
    #[default]
    Expressions,
    /// Commands of its own language.
    Commands,
}

/// What it takes an `evaluate` under the mouse for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hover {
    #[default]
    Expressions,
    /// Names and members only.
    Names,
}

/// How it tells the code that its program ended with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitWord {
    #[default]
    Event,
    Never,
    /// By its own end: the program is its process.
    OwnEnd,
    /// In one of these lines of its output: with `{}` for the code, `{octal}` for one that is written so, or without
    /// either where it is 0.
    InOutput(Vec<String>),
    /// The same, but only when it is asked to disconnect.
    AtDisconnect(Vec<String>),
}

/// When it tells its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadList {
    #[default]
    Always,
    /// While its program, which has one, is stopped.
    WhenStopped,
}

/// Whether the recorded capabilities narrow what a client is promised before an engine is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promises {
    #[default]
    Count,
    /// It can do so little that the promise would be empty. What it cannot do is taken back when it is chosen.
    AreLeftOut,
}

/// Where an entry comes from: commands of a project's file are not run unless it is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    BuiltIn,
    User(PathBuf),
    Project {
        path: PathBuf,
        trust: Trust,
    },
}

impl Entry {
    /// What no TOML type can say.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.name.is_empty() {
            return Err("has an empty name".into());
        }
        if self.find.iter().any(|candidate| candidate.programs.is_empty()) {
            return Err("has an element of `find` without `programs`".into());
        }
        if self.truth.as_ref().is_some_and(|truth| !truth.contains("{}")) {
            return Err("has a `truth` without {}, where the condition goes".into());
        }
        if let Some(both) = self.withdraw.iter().find(|key| self.capabilities.contains_key(*key)) {
            return Err(format!("has `{both}` in both `capabilities` and `withdraw`: leave one out"));
        }
        if self.connection_timeout_seconds == 0 {
            return Err("has a connection-timeout-seconds of 0: give at least 1".into());
        }
        if let Some(placeholder) = self.mode.placeholder() {
            let lacks = |args: &Vec<String>| !args.iter().any(|arg| arg.contains(placeholder));
            if self.find.iter().flat_map(Candidate::arguments).any(lacks) {
                return Err(format!(
                    "has a mode that needs {placeholder} in the `args` of each element of `find`"
                ));
            }
        }
        Ok(())
    }

    /// Whether something of it depends on the program, so that it is started with the launch and not before.
    pub fn starts_with_launch(&self) -> bool {
        let mut arguments = self.find.iter().flat_map(Candidate::arguments).flatten();
        self.defaults_need_launch() || arguments.any(|arg| depends_on_launch(arg))
    }

    /// The name under which the protocol's clients know it best.
    pub fn kind(&self) -> &str {
        self.types.first().unwrap_or(&self.name)
    }
}

impl Candidate {
    /// Each list of arguments that it may be started with.
    fn arguments(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.args).chain(self.args_when.iter().map(|when| &when.args))
    }
}
