//! What an engine makes of the breakpoints that it is told, and which of their terms it cannot be told.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Breakpoints {
    /// An expression that makes a plain yes or no of a condition, with `{}` for the condition.
    pub truth: Option<String>,
    pub bare_hits: BareHits,
    pub unset: Unset,
    /// Terms of breakpoints that the engine is not told: it cannot judge them, or keeps the first that it was told.
    pub judged: Vec<Term>,
    pub function_order: FunctionOrder,
    pub functions: FunctionAnswers,
}

/// What an engine understands by a hit condition that is only a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BareHits {
    /// Stop at that hit and at no other.
    #[default]
    Exactly,
    /// Stop at that hit and at every later one.
    From,
    /// Pass over that many and stop at every later one (gdb). It is told one less, so that it stops from that hit on too.
    After,
}

/// One of the terms that a breakpoint may have, as the protocol calls it, or a form of one that the engine reads wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Term {
    Condition,
    HitCondition,
    LogMessage,
    /// A hit count that is more than a number.
    HitOperator,
    /// A hit count where there is a condition, too: only hits that meet it are to be counted.
    HitBesideCondition,
}

impl Term {
    /// What an engine claims that judges it itself.
    pub fn capability(self) -> &'static str {
        match self {
            Term::Condition => "supportsConditionalBreakpoints",
            Term::HitCondition | Term::HitOperator | Term::HitBesideCondition => {
                "supportsHitConditionalBreakpoints"
            }
            Term::LogMessage => "supportsLogPoints",
        }
    }
}

/// What becomes of a breakpoint that the engine is not told any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unset {
    #[default]
    Goes,
    /// The engine knows only how to add: it goes on stopping there (rdbg 1.4), and the hub lets it go on.
    Stays,
}

/// In which order function breakpoints are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionOrder {
    #[default]
    AsAsked,
    /// In one that nobody can know (lldb-dap 19).
    ItsOwn,
}

/// What it means that a function breakpoint is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionAnswers {
    /// There is such a function.
    #[default]
    Checked,
    /// Nothing: the engine compares names when something is called (debugpy).
    Unchecked,
}
