//! Looking at a program that stands still: stack, scopes, variables, the error it stopped at.

use std::ops::Range;
use std::path::Path;

use breakroom_ez::debug::{Children, ScopeKind, Shown};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read;
use crate::handles::Handle;
use crate::session::{Answer, Live, Reason, Run};

/// Longer texts of values are cut; whoever wants all of one evaluates it for the clipboard.
const LONGEST_VALUE: usize = 1024;
/// A client that does not ask for a part gets this many, and is told how many there are.
const MOST_AT_ONCE: usize = 1000;

pub fn source(path: &Path) -> Value {
    json!({"name": path.file_name().unwrap_or_default().to_string_lossy(), "path": path})
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StackArguments {
    #[serde(default)]
    start_frame: usize,
    #[serde(default)]
    levels: usize,
}

pub fn stack(live: &mut Live, arguments: &Value) -> Answer {
    let StackArguments { start_frame, levels } = read(arguments)?;
    let frames = live.debuggee.frames();
    let levels = if levels == 0 { usize::MAX } else { levels };
    let sources = &live.debuggee.unit().sources;
    let shown: Vec<Value> = frames
        .iter()
        .enumerate()
        .skip(start_frame)
        .take(levels)
        .map(|(index, frame)| {
            let at = sources.position(frame.span);
            json!({
                "id": index + 1,
                "name": frame.name,
                "source": source(&sources.get(frame.span.file).path),
                "line": at.line,
                "column": at.column,
            })
        })
        .collect();
    Ok(json!({"stackFrames": shown, "totalFrames": frames.len()}))
}

/// The index of the frame with this id.
pub fn frame(live: &Live, id: &Value) -> Result<usize, String> {
    let index = id.as_u64().and_then(|id| usize::try_from(id).ok()?.checked_sub(1));
    index
        .filter(|index| *index < live.debuggee.depth())
        .ok_or_else(|| format!("there is no frame {id} at this stop"))
}

pub fn scopes(live: &mut Live, arguments: &Value) -> Answer {
    let frame = frame(live, &arguments["frameId"])?;
    let scopes = live.debuggee.scopes(frame);
    let shown: Vec<Value> = scopes
        .iter()
        .enumerate()
        .map(|(index, scope)| {
            let (name, hint) = match &scope.kind {
                ScopeKind::Block { line } => (format!("Block of line {line}"), "locals"),
                ScopeKind::Function => ("Locals".to_owned(), "locals"),
                ScopeKind::Globals => ("Globals".to_owned(), "globals"),
            };
            json!({
                "name": name,
                "presentationHint": hint,
                "variablesReference": live.handles.give(Handle::Scope { frame, scope: index }),
                "namedVariables": scope.variables.len(),
                "expensive": false,
            })
        })
        .collect();
    Ok(json!({"scopes": shown}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VariablesArguments {
    variables_reference: Value,
    filter: Option<String>,
    #[serde(default)]
    start: usize,
    #[serde(default)]
    count: usize,
}

pub fn variables(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: VariablesArguments = read(arguments)?;
    let (reference, contents) = live.handles.contents(&live.debuggee, &wanted.variables_reference)?;
    let (kind, total) = match contents.count(&live.debuggee) {
        Children::None => ("named", 0),
        Children::Named(total) => ("named", total),
        Children::Indexed(total) => ("indexed", total),
    };
    if wanted.filter.is_some_and(|filter| filter != kind) {
        return Ok(json!({"variables": []}));
    }
    let range = part(wanted.start, wanted.count, total);
    let left = total - range.end;
    let mut variables: Vec<Value> = Vec::with_capacity(range.len());
    for number in range {
        if let Some(shown) = contents.part(&live.debuggee, number) {
            variables.push(variable(live, &shown, Handle::Part { of: reference, number }));
        }
    }
    if wanted.count == 0 && left > 0 {
        let text = format!("{left} more, which `start` and `count` of a request lead to");
        variables.push(json!({"name": "…", "value": text, "variablesReference": 0}));
    }
    Ok(json!({"variables": variables}))
}

fn part(start: usize, count: usize, total: usize) -> Range<usize> {
    let count = if count == 0 { MOST_AT_ONCE } else { count };
    let start = start.min(total);
    start..start.saturating_add(count).min(total)
}

fn variable(live: &mut Live, shown: &Shown, handle: Handle) -> Value {
    let mut variable = value(live, shown, handle, LONGEST_VALUE);
    variable["name"] = shown.name.as_str().into();
    if let (Some(expression), false) = (&shown.expression, shown.is_hidden) {
        variable["evaluateName"] = expression.as_str().into();
    }
    if shown.is_constant {
        variable["presentationHint"] = json!({"attributes": ["constant", "readOnly"]});
    }
    variable
}

/// What variables, evaluations and changes have in common. The text is under `value`; the handle is given out if there is
/// something inside.
pub fn value(live: &mut Live, shown: &Shown, handle: Handle, longest: usize) -> Value {
    let mut value = json!({
        "value": live.debuggee.text(shown, longest),
        "type": live.debuggee.type_name(shown),
        "variablesReference": 0,
    });
    let (key, count) = match live.debuggee.children(shown) {
        Children::None | Children::Named(0) | Children::Indexed(0) => return value,
        Children::Named(count) => ("namedVariables", count),
        Children::Indexed(count) => ("indexedVariables", count),
    };
    value["variablesReference"] = live.handles.give(handle).into();
    value[key] = count.into();
    value
}

pub fn exception(live: &mut Live, _: &Value) -> Answer {
    let Run::Stopped(Reason::Fault(fault)) = &live.run else {
        return Err("the program did not stop at an error".to_owned());
    };
    let mut details = json!({"message": fault.message, "typeName": fault.code});
    if let Some(text) = live.debuggee.last_words() {
        details["stackTrace"] = text.into();
    }
    Ok(json!({
        "exceptionId": fault.code,
        "description": fault.message,
        "breakMode": "unhandled",
        "details": details,
    }))
}

pub fn loaded_sources(live: &mut Live, _: &Value) -> Answer {
    let sources: Vec<Value> =
        live.debuggee.unit().sources.iter().map(|(_, file)| source(&file.path)).collect();
    Ok(json!({"sources": sources}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompletionsArguments {
    frame_id: Option<Value>,
    text: String,
    /// In characters, from 1.
    column: usize,
}

/// The names that can stand where the caret is. Only whole names: what is behind a dot is not guessed.
pub fn completions(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: CompletionsArguments = read(arguments)?;
    let frame = wanted.frame_id.map_or(Ok(0), |id| frame(live, &id))?;
    let before: String = wanted.text.chars().take(wanted.column.saturating_sub(1)).collect();
    let begun =
        before.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next().unwrap_or("");
    let is_behind_dot = before[..before.len() - begun.len()].ends_with('.');
    let mut names: Vec<String> = match is_behind_dot {
        true => Vec::new(),
        false => live.debuggee.names(frame),
    };
    names.retain(|name| name.starts_with(begun));
    names.dedup();
    let targets: Vec<Value> =
        names.into_iter().map(|name| json!({"label": name, "type": "variable"})).collect();
    Ok(json!({"targets": targets}))
}
