//! Looking into a stopped program: variables, values, the stack.
//!
//! Values are the debugger's own words; types have the names of the document where it has one.

use breakroom_client::model::{self, Frame, Variable};
use breakroom_debug_client::complete;
use breakroom_debug_client::stack::all_frames;
use breakroom_debug_client::values::{self, ScopeKind};
use serde_json::json;

use crate::evaluations::Asked;
use crate::event::{Event, Json, Members};
use crate::failure::{Failure, cannot};
use crate::link::Link;
use crate::live::Live;
use crate::types;

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
        let frames = complete(all_frames(link, thread))?;
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
            true => complete(values::holder_of(link, frame.id, name))?,
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
            false => complete(all_frames(link, thread))?,
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
        let held = complete(values::variables(link, frame.id, wanted))?;
        Ok(held.into_iter().map(|held| held.member.variable).collect())
    }
}
