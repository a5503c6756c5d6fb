//! One adapter in the catalog, as its TOML says it.
//!
//! Only the shape and its sanity are here; looking for it is in `find`, choosing it in `choose`.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

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
    #[serde(default)]
    pub find: Vec<Candidate>,
    /// A command that a person can copy.
    pub install: String,
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
    #[serde(default)]
    pub quirks: Vec<Quirk>,
    /// An expression that makes a plain yes or no of a breakpoint's condition, with `{}` for the condition.
    #[serde(default)]
    pub truth: Option<String>,
    #[serde(default)]
    pub bare_hits: BareHits,
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
    #[serde(skip)]
    pub origin: Origin,
}

/// One way in which the adapter may be installed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Candidate {
    /// The first of these that exists is started; `{{breakroom}}` is the running program itself.
    pub programs: Vec<String>,
    /// Programs that the adapter starts in its turn; without each of these in PATH this candidate is none.
    #[serde(default)]
    pub needs_programs: Vec<String>,
    /// A file or folder in the adapters folder without which this candidate is none.
    #[serde(default)]
    pub needs: Option<String>,
    /// Arguments with which the program must succeed, or this candidate is none.
    #[serde(default)]
    pub check: Vec<String>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub version: Option<VersionQuery>,
}

/// How the version is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionQuery {
    /// A program in the same folder that knows it; by default the adapter's own program.
    #[serde(default)]
    pub beside: Option<String>,
    /// A program in PATH that knows it.
    #[serde(default)]
    pub of: Option<String>,
    pub args: Vec<String>,
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

/// A measured deviation from the protocol. The hub's order rules absorb all of them; the names let it expect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quirk {
    /// Sends events before it answers `initialize`, on TCP even before the request (debugpy).
    EventsBeforeInitializeResponse,
    /// Answers `launch` only after `configurationDone` (debugpy).
    LaunchAnsweredLast,
    /// Announces child processes by the event `debugpyAttach` if `startDebugging` is not supported (debugpy).
    ChildrenByEvent,
    /// Ends itself on a request with seq 0 (lldb-dap 22).
    DiesOnSeqZero,
    /// Sends `continued` before or after the response that caused it, differently from run to run (lldb-dap).
    ContinuedAroundResponse,
    /// Sends output after the response to `disconnect` (lldb-dap 19).
    OutputAfterDisconnect,
    /// Numbers every message 0 (delve).
    SeqAlwaysZero,
    /// Leaves `command` empty in failed responses (delve).
    FailedResponseWithoutCommand,
    /// Never sends `initialized` after a failed launch, and panics on breakpoints sent then (delve).
    NoInitializedAfterFailedLaunch,
    /// Sends `terminated` again after `disconnect`, and never `exited` (delve).
    TerminatedTwice,
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
        if self.connection_timeout_seconds == 0 {
            return Err("has a connection-timeout-seconds of 0: give at least 1".into());
        }
        if let Some(placeholder) = self.mode.placeholder() {
            let lacks = |candidate: &Candidate| !candidate.args.iter().any(|arg| arg.contains(placeholder));
            if self.find.iter().any(lacks) {
                return Err(format!(
                    "has a mode that needs {placeholder} in the `args` of each element of `find`"
                ));
            }
        }
        Ok(())
    }

    /// The name under which the protocol's clients know it best.
    pub fn kind(&self) -> &str {
        self.types.first().unwrap_or(&self.name)
    }
}
