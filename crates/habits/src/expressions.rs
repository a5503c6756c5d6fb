//! How an engine is asked for a value, and what it answers if there is none. By default all of it is as it should be.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expressions {
    pub console: Console,
    pub hover: Hover,
    /// What is evaluated in the place of an expression, with `{}` for it, so that its failure can be told from a value.
    pub around: Option<String>,
    /// How a command of the engine's own begins in its console: nothing is put around it, or it would be none.
    pub command: Option<String>,
    /// How the result of that begins if the expression failed; the rest is the reason.
    pub raised: Option<String>,
    /// How other results begin that are none.
    pub failures: Vec<String>,
    /// Why there is no value if the answer is empty and has not even a type.
    pub nothing: Option<String>,
    /// How the language writes the value of a variable, with `{}` for its name, where only the name is an expression.
    pub variable: Option<String>,
}

/// What the engine takes an `evaluate` in the console for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Console {
    #[default]
    Expressions,
    /// Commands of the debugger's own language (gdb, CodeLLDB): a value has to be asked for as a watch.
    Commands,
}

/// What the engine takes an `evaluate` under the mouse for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hover {
    #[default]
    Expressions,
    /// Names and members only (lldb, rdbg): what has an operator has to be asked for as a watch.
    Names,
}
