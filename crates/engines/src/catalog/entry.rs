//! One adapter in the catalog, as its TOML says it.
//!
//! Only the shape and its sanity are here; looking for it is in `find`, choosing it in `choose`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use breakroom_habits::{
    Breakpoints, Claims, Ending, EntryStop, Expressions, Part, Raising, Running, Starting,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::companion::Companion;
use super::fix::Fix;
use super::from_launch::depends_on_launch;
use super::package::Package;
use super::quirk::Quirk;
use crate::executable::Ingredient;
use crate::project::Trust;
use crate::spec::{Banner, EnvVar, Mode, default_timeout};

/// The argument in whose place the entry's script is.
pub(crate) const SCRIPT: &str = "{{script}}";
/// The argument in whose place the path of the entry's companion is.
pub(crate) const COMPANION: &str = "{{companion}}";

/// A command with nothing of ours in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainCommand {
    pub mode: Mode,
    /// Behind the program; `{{path}}` is the file that was looked for.
    pub args: Vec<String>,
}

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
    /// A text for the adapter's own interpreter, which is `{{script}}` in the arguments.
    #[serde(default)]
    pub script: Option<String>,
    /// A file of ours, which is `{{companion}}` in the arguments.
    #[serde(default)]
    pub companion: Option<Companion>,
    /// How a program that is not ours starts it, where that has neither our sockets nor our pipes.
    #[serde(default)]
    pub plain: Option<PlainCommand>,
    /// Arguments, or how their paths end, by which an adapter that is given by its command line is known to be this one.
    #[serde(default)]
    pub command_marks: Vec<String>,
    /// A command that a person can copy.
    pub install: String,
    /// What `breakroom doctor --fix` does, in order.
    #[serde(default)]
    pub fix: Vec<Fix>,
    /// What `fix` installs, for a person to decide by.
    #[serde(default)]
    pub package: Option<Package>,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub env: Vec<EnvVar>,
    #[serde(default = "default_timeout")]
    pub connection_timeout_seconds: u64,
    #[serde(default)]
    pub debuggee_stdio: bool,
    #[serde(default)]
    pub input: InputSource,
    /// The types whose programs read nothing, whatever `input` says.
    #[serde(default)]
    pub no_input: Vec<String>,
    #[serde(default)]
    pub banner: Banner,
    /// What it says on its stderr when it may be connected to, if that is later than it listens.
    #[serde(default)]
    pub ready: Option<String>,
    /// How the names of files and folders begin that it leaves in the temporary folder, with `{{pid}}` for its number.
    #[serde(default)]
    pub litter: Vec<String>,
    /// How the names of files there begin that are its own if it has them open.
    #[serde(default)]
    pub held_litter: Option<String>,
    /// What it lets its program write besides its own words: whole texts that nobody needs to see.
    #[serde(default)]
    pub chatter: Vec<String>,
    /// Names that it gives to a process of which it knows none.
    #[serde(default)]
    pub unnamed: Vec<String>,
    #[serde(default)]
    pub quirks: Vec<Quirk>,
    #[serde(default)]
    pub part: Part,
    #[serde(default)]
    pub starting: Starting,
    #[serde(default)]
    pub breakpoints: Breakpoints,
    #[serde(default)]
    pub running: Running,
    #[serde(default)]
    pub expressions: Expressions,
    #[serde(default)]
    pub ending: Ending,
    #[serde(default)]
    pub raising: Raising,
    #[serde(default)]
    pub claims: Claims,
    /// What the adapter itself calls the `type` of a launch, by what clients call it; `*` is any other, or none.
    #[serde(default)]
    pub type_for: BTreeMap<String, String>,
    /// Launch arguments that it cannot do without: given to every launch and attach that does not say them.
    #[serde(default)]
    pub defaults: Map<String, Value>,
    #[serde(default)]
    pub defaults_when: Vec<DefaultsWhen>,
    /// Where it takes the program's arguments, as one line for a shell: it does not know `args`.
    #[serde(default)]
    pub args_line: Option<String>,
    /// Launch arguments that `breakroom run` sends besides program, args and cwd.
    #[serde(default)]
    pub launch: Map<String, Value>,
    #[serde(default)]
    pub launch_when: Vec<LaunchWhen>,
    #[serde(default)]
    pub module: Option<Module>,
    #[serde(default)]
    pub process_by_port: Option<ProcessByPort>,
    /// What the adapter was recorded to answer to `initialize`.
    #[serde(default)]
    pub capabilities: Map<String, Value>,
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

/// The same as `defaults`, for certain programs only.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DefaultsWhen {
    /// The name of a compiler that has a part in the program, or may have: one that is not known is given them.
    pub made_by: Option<String>,
    /// The same of a library.
    pub links: Option<String>,
    pub arguments: Map<String, Value>,
}

impl DefaultsWhen {
    /// What must have a part in the program, or may have.
    pub fn ingredients(&self) -> Vec<Ingredient> {
        let compiler = self.made_by.clone().map(Ingredient::Compiler);
        compiler.into_iter().chain(self.links.clone().map(Ingredient::Library)).collect()
    }
}

/// A folder above the file, known by a file in it, in which the debuggee is built.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    pub marker: String,
    /// The launch argument that names the folder.
    pub key: String,
}

/// Arguments of an `attach` to a process, for an adapter that knows only the port that the process lets debuggers in by.
/// It is opened by a signal if it is not open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessByPort {
    /// What clients say: the number of the process.
    pub process: String,
    /// What the adapter is told in its place.
    pub address: String,
    pub port: String,
    /// What a process has to execute to understand the signal.
    pub programs: Vec<String>,
}

/// What its program reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputSource {
    /// Nothing, a terminal, or what the adapter itself has for it.
    #[default]
    ItsOwn,
    /// The adapter's stdin, on which it does not speak.
    AdaptersStdin,
    /// A pipe of ours, which is `{{input}}` in the adapter's arguments.
    Pipe,
    /// The same, by commands of its own language in the launch, under this key and before whatever else is there.
    Commands { key: String, run: Vec<String> },
}

impl InputSource {
    pub(crate) fn is_a_pipe_of_ours(&self) -> bool {
        match self {
            InputSource::Pipe | InputSource::Commands { .. } => true,
            InputSource::ItsOwn | InputSource::AdaptersStdin => false,
        }
    }
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
        if self.breakpoints.truth.as_ref().is_some_and(|truth| !truth.contains("{}")) {
            return Err("has a `breakpoints.truth` without {}, where the condition goes".into());
        }
        if let Some(both) = self.claims.withdraw.iter().find(|key| self.capabilities.contains_key(*key)) {
            return Err(format!("has `{both}` in both `capabilities` and `claims.withdraw`: leave one out"));
        }
        if let Some(both) = self.claims.add.iter().find(|key| self.capabilities.contains_key(*key)) {
            return Err(format!("has `{both}` in both `capabilities` and `claims.add`: leave one out"));
        }
        // Both are the one breakpoint that the hub itself has in it.
        if self.raising.panics.is_some() && matches!(self.starting.entry, EntryStop::Function(_)) {
            return Err(
                "has both `raising.panics` and a `starting.entry` by a function: leave one out".into()
            );
        }
        let names_none = |when: &DefaultsWhen| {
            let named = [&when.made_by, &when.links].into_iter().flatten();
            named.clone().any(String::is_empty) || named.count() == 0
        };
        if self.defaults_when.iter().any(names_none) {
            return Err("has a `defaults-when` that names nothing in `made-by` or `links`".into());
        }
        if self.connection_timeout_seconds == 0 {
            return Err("has a connection-timeout-seconds of 0: give at least 1".into());
        }
        let mut arguments = self.find.iter().flat_map(Candidate::arguments).flatten();
        if self.script.is_some() != arguments.any(|arg| arg == SCRIPT) {
            return Err(format!("has one of `script` and {SCRIPT} in its `args`, and needs both"));
        }
        let mut arguments = self.find.iter().flat_map(Candidate::arguments).flatten();
        if self.companion.is_some() != arguments.any(|arg| arg == COMPANION) {
            return Err(format!("has one of `companion` and {COMPANION} in its `args`, and needs both"));
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
