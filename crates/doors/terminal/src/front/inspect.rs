//! The commands that look at a stopped program: variables, values, stack, threads.

use std::io::Write;

use serde_json::{Value, json};

use super::stop::{MOST_LOCALS, Stop};
use crate::breakpoints::Target;
use crate::error::Error;
use crate::front::{Front, Position};
use crate::view;
use breakroom_client::model::{self, FrameId, Scope, ThreadId, Variable, VariablesReference};

const LINES_AROUND_A_FRAME: i64 = 2;
const LINES_AROUND_A_LISTING: i64 = 5;

impl<O: Write> Front<'_, O> {
    pub(super) fn stop(&mut self) -> Result<&mut Stop, Error> {
        let runs = self.runs();
        match &mut self.position {
            Position::Stopped(stop) => Ok(stop),
            Position::Running { .. } | Position::Leaving | Position::Ended { .. } => Err(runs),
        }
    }

    fn frame_id(&mut self) -> Result<FrameId, Error> {
        self.stop()?.frame().map(|frame| frame.id).ok_or_else(|| Error::Missing {
            what: "frame to look into".to_owned(),
            advice: "the debugger showed no stack for this stop".to_owned(),
        })
    }

    fn scopes(&mut self) -> Result<Vec<Scope>, Error> {
        let frame = self.frame_id()?;
        let body = self.client.request("scopes", json!({"frameId": frame.0}))?;
        Ok(model::list(&body["scopes"], Scope::read))
    }

    /// The scopes that are shown as locals: the first cheap one, its arguments if they are apart, and the blocks around
    /// it if the debugger has a scope for each.
    fn local_scopes(&mut self) -> Result<Vec<Scope>, Error> {
        let mut scopes = self.scopes()?;
        scopes.retain(|scope| !scope.expensive);
        let arguments = scopes.iter().take_while(|scope| scope.arguments).count();
        let around = scopes.split_off(scopes.len().min(arguments + 1));
        scopes.extend(around.into_iter().filter(|scope| scope.hint == "locals"));
        Ok(scopes)
    }

    fn variables(&mut self, reference: VariablesReference) -> Result<Vec<Variable>, Error> {
        let body = self.client.request("variables", json!({"variablesReference": reference.0}))?;
        Ok(model::list(&body["variables"], |value| {
            if Variable::is_group(value) { None } else { Variable::read(value) }
        }))
    }

    pub(super) fn locals(&mut self) -> Result<Vec<Variable>, Error> {
        let mut locals: Vec<Variable> = Vec::new();
        for scope in self.local_scopes()? {
            let mut variables = self.variables(scope.reference)?;
            // The innermost of a name hides the others, as it does in the program.
            variables.retain(|variable| locals.iter().all(|inner| inner.name != variable.name));
            locals.extend(variables);
        }
        Ok(locals)
    }

    pub(super) fn show_locals(&mut self) -> Result<(), Error> {
        let locals = self.locals()?;
        self.screen.say(&view::variables(&locals, MOST_LOCALS, "  "))
    }

    pub(super) fn show_globals(&mut self) -> Result<(), Error> {
        let mut scopes = self.scopes()?;
        let has_globals = |scope: &Scope| scope.name.to_lowercase().starts_with("global");
        scopes.retain(|scope| scope.hint == "globals" || has_globals(scope));
        let mut globals = Vec::new();
        for scope in &scopes {
            globals.extend(self.variables(scope.reference)?);
        }
        match globals.is_empty() {
            true => self.screen.say("there are no globals here"),
            false => self.screen.say(&view::variables(&globals, MOST_LOCALS, "  ")),
        }
    }

    pub(super) fn print(&mut self, expression: &str) -> Result<(), Error> {
        let body = self.evaluate(expression, "watch")?;
        let result = model::text(&body["result"]);
        let children = model::children(&body);
        if result.is_empty() && children.is_none() {
            // It was done for its effect.
            return self.screen.say("done");
        }
        self.screen.say(&format!("{expression} = {}", view::value(&result)))?;
        match children {
            Some(reference) if tells_little(&result) => {
                let fields = self.variables(reference)?;
                self.screen.say(&view::variables(&fields, MOST_LOCALS, "  "))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn evaluate(&mut self, expression: &str, context: &str) -> Result<Value, Error> {
        let frame = self.frame_id()?;
        let arguments = json!({"expression": expression, "frameId": frame.0, "context": context});
        Ok(self.client.request("evaluate", arguments)?)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let holder = match self.client.can("supportsSetVariable") {
            true => self.holder_of(name)?,
            false => None,
        };
        let new = match holder {
            Some(holder) => {
                let arguments = json!({"variablesReference": holder.0, "name": name, "value": value});
                self.client.request("setVariable", arguments)?["value"].take()
            }
            None if self.client.can("supportsSetExpression") => {
                let frame = self.frame_id()?;
                let arguments = json!({"expression": name, "value": value, "frameId": frame.0});
                self.client.request("setExpression", arguments)?["value"].take()
            }
            None => {
                self.evaluate(&format!("{name} = {value}"), "repl")?;
                Value::Null
            }
        };
        let shown = new.as_str().filter(|new| !new.is_empty()).unwrap_or(value);
        self.screen.say(&format!("{name} = {}", view::value(shown)))
    }

    /// Where changes of a variable can be waited for.
    pub(super) fn watched(&mut self, name: &str) -> Result<Target, Error> {
        if !self.client.can("supportsDataBreakpoints") {
            return Err(Error::Missing {
                what: "watching of variables in this debugger".to_owned(),
                advice: "use `break PLACE if CONDITION` where it may change".to_owned(),
            });
        }
        let frame = self.frame_id()?;
        // A name alone would be an expression to some debuggers, and its value an address.
        let question = match self.holder_of(name)? {
            Some(holder) => json!({"variablesReference": holder.0, "name": name}),
            None => json!({"name": name, "frameId": frame.0}),
        };
        let info = self.client.request("dataBreakpointInfo", question)?;
        match info["dataId"].as_str() {
            Some(id) => Ok(Target::Data { name: name.to_owned(), id: id.to_owned() }),
            None => {
                Err(Error::NotWatched { name: name.to_owned(), reason: model::text(&info["description"]) })
            }
        }
    }

    /// The scope of the innermost variable of this name.
    fn holder_of(&mut self, name: &str) -> Result<Option<VariablesReference>, Error> {
        for scope in self.local_scopes()? {
            let variables = self.variables(scope.reference)?;
            if variables.iter().any(|variable| variable.name == name) {
                return Ok(Some(scope.reference));
            }
        }
        Ok(None)
    }

    pub(super) fn show_stack(&mut self) -> Result<(), Error> {
        let paint = self.screen.paint;
        let stop = self.stop()?;
        let text = view::stack(&stop.frames, stop.selected, paint);
        self.screen.say(&text)
    }

    pub(super) fn select_frame(&mut self, index: Option<usize>) -> Result<(), Error> {
        let stop = self.stop()?;
        let count = stop.frames.len();
        let Some(index) = index.filter(|index| *index < count) else {
            return Err(Error::Missing {
                what: "such frame".to_owned(),
                advice: format!("the stack has {count}, counted from 0"),
            });
        };
        stop.selected = index;
        let place = stop.frame().map(view::place).unwrap_or_default();
        self.screen.say(&format!("frame {index}: {place}"))?;
        self.show_source(None, LINES_AROUND_A_FRAME)
    }

    /// The frame `by` steps up towards the callers.
    pub(super) fn move_frame(&mut self, by: isize) -> Result<(), Error> {
        let selected = self.stop()?.selected;
        self.select_frame(selected.checked_add_signed(by))
    }

    pub(super) fn list(&mut self, line: Option<i64>) -> Result<(), Error> {
        self.stop()?;
        self.show_source(line, LINES_AROUND_A_LISTING)
    }

    pub(super) fn show_threads(&mut self) -> Result<(), Error> {
        let current = self.stop()?.thread;
        let body = self.client.request("threads", json!({}))?;
        let threads = model::list(&body["threads"], |thread| {
            Some((ThreadId(model::integer(&thread["id"])?), model::text(&thread["name"])))
        });
        for (thread, name) in threads {
            let text = format!("{} {name}", thread.0);
            let line = match thread == current {
                true => self.screen.paint.mark(&format!("-> {text}")),
                false => format!("   {text}"),
            };
            self.screen.say(&line)?;
        }
        Ok(())
    }

    pub(super) fn select_thread(&mut self, thread: ThreadId) -> Result<(), Error> {
        let stop = self.ask_stack(thread)?;
        self.position = Position::Stopped(stop);
        self.select_frame(Some(0))
    }
}

/// Debuggers of compiled languages show a structure as its type or address; its fields are what was asked for.
fn tells_little(result: &str) -> bool {
    result.is_empty() || result.contains("@ 0x") || result.contains("{...}")
}
