//! The commands that look at a stopped program: its scopes, its stack and its source; and those that change a value.

use std::io::Write;

use serde_json::{Value, json};

use super::stop::Stop;
use crate::breakpoints::Target;
use crate::error::Error;
use crate::front::{Front, Position};
use crate::view;
use breakroom_client::model::{self, FrameId, Scope, VariablesReference};
use breakroom_client::scopes::{self, Member};

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

    pub(super) fn scopes(&mut self) -> Result<Vec<Scope>, Error> {
        let frame = self.frame_id()?;
        let body = self.client.request("scopes", json!({"frameId": frame.0}))?;
        Ok(model::list(&body["scopes"], Scope::read))
    }

    fn local_scopes(&mut self) -> Result<Vec<Scope>, Error> {
        Ok(scopes::of_locals(self.scopes()?))
    }

    pub(super) fn global_scopes(&mut self) -> Result<Vec<Scope>, Error> {
        Ok(scopes::of_globals(self.scopes()?))
    }

    pub(super) fn variables(&mut self, reference: VariablesReference) -> Result<Vec<Member>, Error> {
        let body = self.client.request("variables", json!({"variablesReference": reference.0}))?;
        Ok(model::list(&body["variables"], Member::read))
    }

    pub(super) fn locals(&mut self) -> Result<Vec<Member>, Error> {
        let mut locals: Vec<Member> = Vec::new();
        for scope in self.local_scopes()? {
            let mut variables = self.variables(scope.reference)?;
            if let Some(inside) = Member::own_group_of(&scope, &variables) {
                variables = self.variables(inside)?;
                variables.sort_by_key(|member| scopes::is_cmakes_own(&member.variable.name));
            }
            // The innermost of a name hides the others, as it does in the program.
            let hidden = |name: &str| locals.iter().any(|inner| inner.variable.name == name);
            variables.retain(|outer| !hidden(&outer.variable.name));
            locals.extend(variables);
        }
        Ok(locals)
    }

    pub(super) fn evaluate(&mut self, expression: &str, context: &str) -> Result<Value, Error> {
        let frame = self.frame_id()?;
        let arguments = json!({"expression": expression, "frameId": frame.0, "context": context});
        Ok(self.client.request("evaluate", arguments)?)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let (mut holder, mut own_name) = (None, name);
        if self.client.can("supportsSetVariable") {
            let scopes = self.local_scopes()?;
            holder = self.holder_in(scopes, name)?;
            if let (None, Some((of, member)), false) =
                (holder, name.rsplit_once('.'), self.client.can("supportsSetExpression"))
            {
                (holder, own_name) = (self.holder_of_member(of, member)?, member);
            }
        }
        let new = match holder {
            Some(holder) => {
                let arguments = json!({"variablesReference": holder.0, "name": own_name, "value": value});
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
        let mut scopes = self.local_scopes()?;
        scopes.extend(self.global_scopes()?);
        let question = match self.holder_in(scopes, name)? {
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

    /// What holds a member of this name, for debuggers that set variables and nothing else: delve takes no assignment.
    fn holder_of_member(&mut self, of: &str, member: &str) -> Result<Option<VariablesReference>, Error> {
        let whole = match self.evaluate(of, "watch") {
            Err(error) if error.is_refusal() => return Ok(None),
            whole => whole?,
        };
        let reference = VariablesReference(model::integer(&whole["variablesReference"]).unwrap_or(0));
        if reference.0 == 0 {
            return Ok(None);
        }
        let members = self.variables(reference)?;
        Ok(members.iter().any(|one| one.variable.name == member).then_some(reference))
    }

    /// The first of these scopes that has a variable of this name: the innermost.
    fn holder_in(&mut self, scopes: Vec<Scope>, name: &str) -> Result<Option<VariablesReference>, Error> {
        for scope in scopes {
            let variables = self.variables(scope.reference)?;
            if variables.iter().any(|member| member.variable.name == name) {
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
}
