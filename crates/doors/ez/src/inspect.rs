//! Looking into a stopped program: variables, values, the stack.
//!
//! Values are the debugger's own words; types have the names of the document where it has one.

use std::collections::HashSet;

use breakroom_client::model::{self, Frame, Scope, Variable, VariablesReference};
use serde_json::{Value, json};

use crate::command::ScopeKind;
use crate::evaluations::Asked;
use crate::event::{Event, Json, Members};
use crate::failure::{Failure, cannot};
use crate::link::Link;
use crate::live::Live;
use crate::stops::all_frames;
use crate::types;

/// What scopes are called that are not the frame's own.
const NAMES: [(&str, ScopeKind); 3] =
    [("global", ScopeKind::Globals), ("static", ScopeKind::Globals), ("register", ScopeKind::Registers)];

/// Which of the three a scope belongs to: by the debugger's hint, else by its name.
fn kind(scope: &Scope) -> ScopeKind {
    let hint = scope.hint.to_lowercase();
    if ["locals", "arguments", "returnvalue"].contains(&hint.as_str()) {
        return ScopeKind::Locals;
    }
    let says = |text: &str| NAMES.iter().find(|(word, _)| text.contains(word)).map(|(_, kind)| *kind);
    let found = says(&hint).or_else(|| says(&scope.name.to_lowercase()));
    found.unwrap_or(if scope.expensive { ScopeKind::Globals } else { ScopeKind::Locals })
}

pub fn variable(variable: &Variable) -> Members {
    let kind = types::name(&variable.kind);
    vec![("name", (&*variable.name).into()), ("value", (&*variable.value).into()), ("type", kind.into())]
}

impl Live {
    pub fn tell_variables(
        &mut self,
        link: &mut Link,
        index: usize,
        scope: ScopeKind,
        thread: Option<i64>,
    ) -> Result<(), Failure> {
        let frame = self.frame(link, index, thread)?;
        let variables = self.variables(link, &frame, scope)?;
        let list = variables.iter().map(|one| Json::Object(variable(one))).collect();
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        link.say(Event::new("variables").with("frameIndex", index).with("variables", Json::List(list)))
    }

    pub fn tell_stack(&mut self, link: &mut Link, thread: Option<i64>) -> Result<(), Failure> {
        let thread = self.thread(link, thread)?;
        let frames = all_frames(link, thread)?;
        let told = frames.iter().zip(0_i64..).map(|(frame, index)| {
            let file = self.plan.files.file_of(frame);
            Json::Object(vec![
                ("index", index.into()),
                ("function", (&*frame.name).into()),
                ("file", (&*file).into()),
                ("line", frame.line.into()),
                ("column", frame.column.into()),
            ])
        });
        let told = Json::List(told.collect());
        link.say(Event::new("stackTrace").with("frames", told))
    }

    pub fn tell_value(
        &mut self,
        link: &mut Link,
        expression: &str,
        index: usize,
        thread: Option<i64>,
    ) -> Result<(), Failure> {
        let frame = self.frame(link, index, thread)?;
        self.evaluate(link, Asked::Once { expression: expression.to_owned() }, &frame)
    }

    pub fn set_variable(
        &mut self,
        link: &mut Link,
        name: &str,
        value: &str,
        index: usize,
    ) -> Result<(), Failure> {
        let frame = self.frame(link, index, None)?;
        let holder = match link.client.can("supportsSetVariable") {
            true => self.holder_of(link, &frame, name)?,
            false => None,
        };
        let body = match holder {
            Some(holder) => {
                let arguments = json!({"variablesReference": holder.0, "name": name, "value": value});
                link.ask("setVariable", arguments)?
            }
            None if link.client.can("supportsSetExpression") => {
                let arguments = json!({"expression": name, "value": value, "frameId": frame.id.0});
                link.ask("setExpression", arguments)?
            }
            None if link.client.can("supportsSetVariable") => {
                return Err(Failure::Refused(format!("there is no variable {name} in frame {index}")));
            }
            None => return Err(cannot("set variables")),
        };
        // Not every debugger says what became of it.
        let now = Variable {
            name: name.to_owned(),
            value: body["value"].as_str().unwrap_or(value).to_owned(),
            kind: model::text(&body["type"]),
        };
        let event = variable(&now)
            .into_iter()
            .fold(Event::new("variableSet"), |event, (key, value)| event.with(key, value));
        link.say(event.with("frameIndex", i64::try_from(index).unwrap_or(i64::MAX)))
    }

    /// The scope of a frame that has a variable of this name.
    pub fn holder_of(
        &self,
        link: &mut Link,
        frame: &Frame,
        name: &str,
    ) -> Result<Option<VariablesReference>, Failure> {
        let mut scopes = scopes(link, frame)?;
        scopes.sort_by_key(|scope| kind(scope) != ScopeKind::Locals);
        for scope in scopes.iter().filter(|scope| kind(scope) != ScopeKind::Registers) {
            if children(link, scope.reference)?.iter().any(|variable| variable.name == name) {
                return Ok(Some(scope.reference));
            }
        }
        Ok(None)
    }

    /// The frame with this number, counted from the innermost.
    pub fn frame(&self, link: &mut Link, index: usize, thread: Option<i64>) -> Result<Frame, Failure> {
        let stop = self.stop()?;
        let thread = self.thread(link, thread)?;
        let known = stop.frames.get(index).filter(|_| thread == stop.thread);
        if let Some(frame) = known {
            return Ok(frame.clone());
        }
        let frames = match thread == stop.thread && index >= stop.depth {
            true => stop.frames.clone(),
            false => all_frames(link, thread)?,
        };
        let depth = frames.len().max(if thread == stop.thread { stop.depth } else { 0 });
        frames.get(index).cloned().ok_or_else(|| {
            Failure::Refused(format!("there is no frame {index}; the stack has {depth}, counted from 0"))
        })
    }

    /// The variables of a frame, the inner ones before those that they hide.
    pub fn variables(
        &self,
        link: &mut Link,
        frame: &Frame,
        wanted: ScopeKind,
    ) -> Result<Vec<Variable>, Failure> {
        let (mut variables, mut names) = (Vec::new(), HashSet::new());
        for scope in scopes(link, frame)?.iter().filter(|scope| kind(scope) == wanted) {
            for variable in children(link, scope.reference)? {
                if names.insert(variable.name.clone()) {
                    variables.push(variable);
                }
            }
        }
        Ok(variables)
    }
}

fn scopes(link: &mut Link, frame: &Frame) -> Result<Vec<Scope>, Failure> {
    let body = link.ask_quietly("scopes", json!({"frameId": frame.id.0}))?;
    Ok(model::list(&body["scopes"], Scope::read))
}

fn children(link: &mut Link, of: VariablesReference) -> Result<Vec<Variable>, Failure> {
    if of.0 <= 0 {
        return Ok(Vec::new());
    }
    let body = link.ask_quietly("variables", json!({"variablesReference": of.0}))?;
    let read = |value: &Value| if Variable::is_group(value) { None } else { Variable::read(value) };
    Ok(model::list(&body["variables"], read))
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
