//! How an engine's program comes to be stopped by an exception, a panic or an abort of its own, and what is known of why.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Raising {
    pub exceptions: ExceptionStops,
    /// How it is made to stop at the panics of a language whose runtime it knows nothing of.
    pub panics: Option<Panics>,
    /// What a program says that aborts itself.
    pub aborts: DyingWords,
}

/// How an engine tells that its program stopped by an exception.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExceptionStops {
    #[default]
    AreTold,
    /// As the hit of a breakpoint of its own, of which it says nothing before (CodeLLDB). This is what to call it.
    AreBreakpoints(String),
}

/// A filter for exceptions that the engine does not have: the hub makes it of a breakpoint on a function of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panics {
    pub filter: String,
    pub label: String,
    pub function: String,
    /// What such a stop is called if the program says nothing of it.
    pub name: String,
    #[serde(default)]
    pub words: DyingWords,
}

/// How a program says in its output why it gives up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DyingWords {
    /// Texts in the line that it begins with; `{}` in one stands for anything.
    pub from: Vec<String>,
    /// How a line begins that is no part of it any more.
    pub to: Vec<String>,
}
