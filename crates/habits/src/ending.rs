//! How an engine's program is ended, how its exit code becomes known, and when the engine itself is gone.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::DyingWords;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Ending {
    pub exit: ExitWord,
    pub signals: SignalCode,
    /// The code by which it says that it missed the end (delve): it is not the program's, and nobody is told it.
    pub unknown: Option<i32>,
    pub program: ProgramEnd,
    /// The types of configurations whose program is ended by asking the engine, whatever `program` says.
    pub asked: Vec<String>,
    /// How a launch says what becomes of its program.
    pub wished: Option<Wished>,
    pub leaves: Leaves,
    pub detach: Detach,
    /// An expression that is evaluated once in a program that was attached to, so that it can be left (rdbg).
    pub leavable: Option<String>,
    /// What an engine that is the program's process says when it fails itself: otherwise that is the program's own end.
    pub failure: DyingWords,
}

/// How an engine tells the code that its program ended with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitWord {
    /// By `exited`, before `terminated` or right behind it (perl).
    #[default]
    Event,
    /// By `exited`, and if at all, before `terminated` (EZ).
    InOrder,
    /// Not at all.
    Never,
    /// By its own end: the program is the engine's process (rdbg).
    OwnEnd,
    /// In one of these lines of its output, before `terminated` (cdt-gdb, js-debug): with `{}` for the code, `{octal}` for
    /// one that is written so, `{signal}` for the name of the signal that was the end, or without any where it is 0.
    InOutput(Vec<String>),
    /// The same, but only when it is asked to disconnect (delve).
    AtDisconnect(Vec<String>),
}

impl ExitWord {
    pub const SIGNAL: &str = "{signal}";

    /// Whether an end by a signal is told by its name, and by a stop of no thread instead of `terminated` (cdt-gdb).
    pub fn names_signals(&self) -> bool {
        matches!(self, ExitWord::InOutput(lines) if lines.iter().any(|line| line.contains(Self::SIGNAL)))
    }
}

/// Which exit code an engine tells for a program that a signal ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignalCode {
    /// The one of a shell, or one that cannot be told from any other: it is left as it is.
    #[default]
    AsAny,
    /// The signal's number below zero (delve).
    Negative,
    /// The bare number (lldb, CodeLLDB), which a program may exit with too.
    Bare,
}

/// How a program that was launched is ended so that it runs no further line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramEnd {
    /// By asking the engine.
    #[default]
    Asked,
    /// Asked, the engine lets a stopped program run on (js-debug, JDI): what it started is killed first.
    KillPrograms,
    /// The same, and the program is the engine's own process (rdbg, CMake).
    KillAll,
}

/// A member of a launch by which somebody says how the program is to be ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wished {
    pub key: String,
    pub means: BTreeMap<String, WishedEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WishedEnd {
    /// At once, whether it runs or not.
    Kill,
    /// By SIGTERM, and then in its own time if at all.
    Ask,
    /// Not at all.
    Spare,
}

/// What an engine that is asked to leave a program does with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detach {
    /// It takes its breakpoints out and lets the program go on.
    #[default]
    LetsGo,
    /// Nothing, since others may come (delve with `--accept-multiclient`): a program that stands would stand for ever.
    LeavesAsItStands,
}

/// When the process of an engine ends that has agreed to `disconnect`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leaves {
    #[default]
    ByItself,
    /// Only by a signal (cdt-gdb): it is not waited for.
    WhenTold,
}
