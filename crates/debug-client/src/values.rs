//! The variables of a frame: its scopes by what they hold, what is in them, and setting one.

use std::collections::HashSet;

use breakroom_client::model::{self, FrameId, Scope, Variable, VariablesReference};
use breakroom_client::scopes::Member;
use serde_json::{Value, json};

use crate::Requests;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    Locals,
    Globals,
    Registers,
}

/// What scopes are called that are not the frame's own.
const NAMES: [(&str, ScopeKind); 3] =
    [("global", ScopeKind::Globals), ("static", ScopeKind::Globals), ("register", ScopeKind::Registers)];

/// Which of the three a scope belongs to: by the debugger's hint, else by its name.
pub fn kind(scope: &Scope) -> ScopeKind {
    let hint = scope.hint.to_lowercase();
    if ["locals", "arguments", "returnvalue"].contains(&hint.as_str()) {
        return ScopeKind::Locals;
    }
    let says = |text: &str| NAMES.iter().find(|(word, _)| text.contains(word)).map(|(_, kind)| *kind);
    let found = says(&hint).or_else(|| says(&scope.name.to_lowercase()));
    found.unwrap_or(if scope.expensive { ScopeKind::Globals } else { ScopeKind::Locals })
}

pub async fn scopes<R: Requests>(to: &mut R, frame: FrameId) -> Result<Vec<Scope>, R::Error> {
    let body = to.request("scopes", json!({"frameId": frame.0})).await?;
    Ok(model::list(&body["scopes"], Scope::read))
}

/// What is in a scope or value.
pub async fn members<R: Requests>(to: &mut R, of: VariablesReference) -> Result<Vec<Member>, R::Error> {
    if of.0 <= 0 {
        return Ok(Vec::new());
    }
    let body = to.request("variables", json!({"variablesReference": of.0})).await?;
    Ok(model::list(&body["variables"], Member::read))
}

/// A variable and the scope that holds it.
#[derive(Debug, Clone)]
pub struct Held {
    pub holder: VariablesReference,
    pub member: Member,
}

/// The variables of a frame, the inner ones before those that they hide.
pub async fn variables<R: Requests>(
    to: &mut R,
    frame: FrameId,
    wanted: ScopeKind,
) -> Result<Vec<Held>, R::Error> {
    let (mut variables, mut names) = (Vec::new(), HashSet::new());
    for scope in scopes(to, frame).await?.iter().filter(|scope| kind(scope) == wanted) {
        for member in members(to, scope.reference).await? {
            if names.insert(member.variable.name.clone()) {
                variables.push(Held { holder: scope.reference, member });
            }
        }
    }
    Ok(variables)
}

/// The scope of a frame that has a variable of this name.
pub async fn holder_of<R: Requests>(
    to: &mut R,
    frame: FrameId,
    name: &str,
) -> Result<Option<VariablesReference>, R::Error> {
    let mut scopes = scopes(to, frame).await?;
    scopes.sort_by_key(|scope| kind(scope) != ScopeKind::Locals);
    for scope in scopes.iter().filter(|scope| kind(scope) != ScopeKind::Registers) {
        if members(to, scope.reference).await?.iter().any(|member| member.variable.name == name) {
            return Ok(Some(scope.reference));
        }
    }
    Ok(None)
}

/// Sets a variable: in the scope or value that holds it, else as an expression of the frame. The debugger says what it is
/// now, if it does.
pub async fn assign<R: Requests>(
    to: &mut R,
    holder: Option<VariablesReference>,
    (name, expression): (&str, Option<&str>),
    frame: FrameId,
    value: &str,
) -> Result<Variable, R::Error> {
    let can_set = to.can("supportsSetVariable");
    let body = match (holder.filter(|_| can_set), expression) {
        (Some(holder), _) => {
            let arguments = json!({"variablesReference": holder.0, "name": name, "value": value});
            to.request("setVariable", arguments).await?
        }
        (None, Some(expression)) if to.can("supportsSetExpression") => {
            let arguments = json!({"expression": expression, "value": value, "frameId": frame.0});
            to.request("setExpression", arguments).await?
        }
        (None, _) if can_set => return Err(to.refusal(format!("there is no variable {name} in this frame"))),
        (None, _) => return Err(to.refusal("this debugger cannot set variables".to_owned())),
    };
    let now = body["value"].as_str().unwrap_or(value).to_owned();
    Ok(Variable { name: name.to_owned(), value: now, kind: type_name(&body) })
}

fn type_name(body: &Value) -> String {
    model::text(&body["type"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_told_apart_by_their_hint_and_else_by_their_name() {
        let of = |name: &str, hint: &str, expensive: bool| {
            let value = json!({
                "name": name, "presentationHint": hint, "variablesReference": 1, "expensive": expensive
            });
            kind(&Scope::read(&value).unwrap())
        };
        assert_eq!(of("Locals", "locals", false), ScopeKind::Locals);
        assert_eq!(of("Block 2", "", false), ScopeKind::Locals);
        assert_eq!(of("Globals", "", false), ScopeKind::Globals);
        assert_eq!(of("Static", "", true), ScopeKind::Globals);
        assert_eq!(of("Global", "locals", false), ScopeKind::Locals);
        assert_eq!(of("CPU", "registers", true), ScopeKind::Registers);
        assert_eq!(of("Closure", "", true), ScopeKind::Globals);
    }
}
