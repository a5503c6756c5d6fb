//! Which of a frame's scopes people mean by locals and globals, and the variables in them.

use serde_json::Value;

use crate::model::{self, Scope, Variable, VariablesReference};

/// How the name of a scope begins that holds what a function uses of one around it (js-debug).
const CLOSURE: &str = "Closure";

/// A variable that can be looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub variable: Variable,
    pub children: Option<VariablesReference>,
    /// How many elements it says it has.
    pub indexed: usize,
    /// The debugger says that it is not for everybody.
    is_private: bool,
}

impl Member {
    pub fn read(value: &Value) -> Option<Self> {
        if Variable::is_group(value) {
            return None;
        }
        Some(Self {
            variable: Variable::read(value)?,
            children: model::children(value),
            indexed: indexed(value),
            is_private: value["presentationHint"]["visibility"] == "private",
        })
    }

    /// What is inside the variable that is there for the scope's own ones, if the scope is one of groups, as CMake's is.
    /// All in such a scope is private, and a group is worth how many it has: a variable of the program is not like that
    /// by its name alone.
    pub fn own_group_of(scope: &Scope, variables: &[Self]) -> Option<VariablesReference> {
        let counts = |member: &&Self| member.variable.value.parse::<usize>().is_ok();
        let all_private = variables.iter().all(|member| member.is_private);
        let own = variables.iter().find(|member| member.variable.name == scope.name);
        own.filter(|_| all_private).filter(counts)?.children
    }
}

pub fn indexed(value: &Value) -> usize {
    let count = model::integer(&value["indexedVariables"]).unwrap_or(0);
    usize::try_from(count).unwrap_or(0)
}

/// The scopes that are shown as locals: the first cheap one, its arguments if they are apart, the blocks around it if
/// the debugger has a scope for each, and what it uses of the functions around it.
pub fn of_locals(mut scopes: Vec<Scope>) -> Vec<Scope> {
    // gdb has no scope of locals where there are none, and does not call its registers expensive.
    scopes.retain(|scope| !scope.expensive && !is_of_registers(scope));
    let arguments = scopes.iter().take_while(|scope| scope.arguments).count();
    let around = scopes.split_off(scopes.len().min(arguments + 1));
    let (blocks, others): (Vec<_>, Vec<_>) = around.into_iter().partition(|scope| scope.hint == "locals");
    scopes.extend(blocks);
    scopes.extend(others.into_iter().filter(|scope| scope.name.starts_with(CLOSURE)));
    scopes
}

pub fn of_globals(mut scopes: Vec<Scope>) -> Vec<Scope> {
    let has_globals = |scope: &Scope| scope.name.to_lowercase().starts_with("global");
    scopes.retain(|scope| scope.hint == "globals" || has_globals(scope));
    scopes
}

/// What a processor holds are nobody's variables. Not every debugger calls it as the protocol does.
fn is_of_registers(scope: &Scope) -> bool {
    scope.hint == "registers" || scope.name.to_lowercase().ends_with("registers")
}

/// How the names of variables begin that are CMake's own: people look for those of their scripts first.
pub fn is_cmakes_own(name: &str) -> bool {
    name.starts_with("CMAKE_")
}
