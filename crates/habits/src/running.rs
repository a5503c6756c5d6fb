//! What an engine tells and forgets while its program runs and stops.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Running {
    pub threads: ThreadList,
    pub pauses: Pauses,
    pub asked_pause: AskedPause,
    pub libraries: Libraries,
    /// How it refuses what it could answer a moment later.
    pub refuses_early: Option<RefusesEarly>,
    /// What is to be known of steps that another stop cuts short; without it such stops are told and not judged.
    pub cut_steps: Option<CutSteps>,
    pub hits: Hits,
    pub steps: Steps,
    pub children: Children,
}

/// When an engine tells its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadList {
    #[default]
    Always,
    /// Only while its program, which has one, is stopped (perl). Clients name a thread to pause it.
    WhenStopped,
}

/// Where a pause finds the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pauses {
    #[default]
    AtALine,
    /// Wherever it is, and mostly inside of a library that it waits with (native debuggers).
    Inside,
}

/// What becomes of a `pause` right behind what lets the program run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskedPause {
    #[default]
    IsHeard,
    /// It is agreed to, and nothing follows (lldb-dap): the program did not run yet. The hub asks again.
    MayBeLost,
}

/// Where sources are that are here, but none of the program's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Libraries {
    /// In these parts of a path.
    pub parts: Vec<String>,
    /// In the folder that has this one in it, as a frame's path has it that the engine says is subtle: the language's own
    /// library, which is somewhere else on every machine.
    pub beside: Option<String>,
}

/// An engine whose thread may not wait for questions yet when it is said to be stopped.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusesEarly {
    /// The whole of its refusal.
    pub says: String,
    pub commands: Vec<String>,
}

/// What becomes of processes that the program starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Children {
    #[default]
    MayBeFollowed,
    /// The engine has no part in them: no breakpoint stops one.
    RunFreely,
}

/// Which threads an engine tells of that hit breakpoints at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    #[default]
    OfEach,
    /// Of one, and a resume passes over what the others hit (delve). Those that may have hit something have this in their
    /// names.
    OfOne(String),
}

/// Which thread a step is one of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    #[default]
    OfTheNamed,
    /// The one that was asked about last, whichever is named (rdbg).
    OfTheSeen,
}

/// How an engine sees a step in the midst of which it stopped for another reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct CutSteps {
    /// An expression that says whether `continue` goes on with the step. Without it, it does not.
    pub kept: Option<String>,
    /// An expression that makes the engine forget the step, for one that would still end it after a `continue`.
    pub forget: Option<String>,
    /// The engine forgets the step, and the hub leads it out of what was called.
    pub led_out: bool,
}
