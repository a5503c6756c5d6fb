//! Evaluating expressions, and changing variables, which is evaluating an assignment.

use breakroom_ez::debug::Shown;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read;
use crate::handles::Handle;
use crate::inspect::{frame, value};
use crate::session::{Answer, Live, NOT_BEGUN, RUNNING, Run};

/// What a person typed may be answered at length; what hovers over a line may not.
const LONGEST_RESULT: usize = 16 * 1024;
const LONGEST_HOVER: usize = 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateArguments {
    expression: String,
    frame_id: Option<Value>,
    context: Option<String>,
}

pub fn evaluate(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: EvaluateArguments = read(arguments)?;
    let context = wanted.context.as_deref().unwrap_or_default();
    if live.run == Run::Running {
        // In a debug console, what is typed while the program waits for a line is that line.
        if context == "repl" && live.input.is_wanted() {
            live.input.add(&format!("{}\n", wanted.expression));
            return Ok(json!({"result": "", "variablesReference": 0}));
        }
        return Err(RUNNING.to_owned());
    }
    if live.run == Run::Configuring {
        return Err(NOT_BEGUN.to_owned());
    }
    let frame = wanted.frame_id.map_or(Ok(0), |id| frame(live, &id))?;
    let shown = live.evaluate(frame, &wanted.expression)?;
    let longest = match context {
        "clipboard" => usize::MAX,
        "hover" => LONGEST_HOVER,
        _ => LONGEST_RESULT,
    };
    Ok(match shown {
        Some(shown) => {
            let handle = Handle::Result { frame, shown: Box::new(shown.clone()) };
            result(value(live, &shown, handle, longest))
        }
        None => json!({"result": "", "variablesReference": 0}),
    })
}

/// `evaluate` calls `result` what everything else calls `value`.
fn result(mut value: Value) -> Value {
    value["result"] = value["value"].take();
    if let Some(members) = value.as_object_mut() {
        members.remove("value");
    }
    value
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetVariableArguments {
    variables_reference: Value,
    name: String,
    value: String,
}

pub fn set_variable(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: SetVariableArguments = read(arguments)?;
    let (of, contents) = live.handles.contents(&live.debuggee, &wanted.variables_reference)?;
    let number = contents.number_of(&live.debuggee, &wanted.name);
    let part = number.and_then(|number| Some((number, contents.part(&live.debuggee, number)?)));
    let (number, part) = part.ok_or_else(|| format!("there is no `{}` here", wanted.name))?;
    let target = part.expression.ok_or("this is no part of a variable, so it cannot be changed")?;
    let shown = live.set(contents.frame, contents.scope, &target, &wanted.value)?;
    Ok(value(live, &shown, Handle::Part { of, number }, LONGEST_HOVER))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetExpressionArguments {
    expression: String,
    value: String,
    frame_id: Option<Value>,
}

pub fn set_expression(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: SetExpressionArguments = read(arguments)?;
    let frame = wanted.frame_id.map_or(Ok(0), |id| frame(live, &id))?;
    let shown = live.set(frame, 0, &wanted.expression, &wanted.value)?;
    let handle = Handle::Result { frame, shown: Box::new(shown.clone()) };
    Ok(value(live, &shown, handle, LONGEST_HOVER))
}

impl Live {
    fn evaluate(&mut self, frame: usize, text: &str) -> Result<Option<Shown>, String> {
        let slept = self.sleep.take();
        let evaluated = self.debuggee.evaluate(frame, text, &mut || self.mailbox.is_urgent());
        self.sleep.set(slept);
        evaluated
    }

    /// `scope` is the innermost one whose names count: an outer variable may be hidden by an inner one of its name.
    fn set(&mut self, frame: usize, scope: usize, target: &str, to: &str) -> Result<Shown, String> {
        let slept = self.sleep.take();
        let assigned = self.debuggee.assign(frame, scope, target, to, &mut || self.mailbox.is_urgent());
        self.sleep.set(slept);
        assigned
    }
}
