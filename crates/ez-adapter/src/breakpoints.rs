//! Breakpoints of all kinds: what is asked for, and what came of it.

use std::path::{Path, PathBuf};

use breakroom_ez::debug::{HitCondition, Placed, Terms, Wish};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read;
use crate::inspect::{frame, source};
use crate::launch::FAULTS;
use crate::session::{Answer, Entry, Live};

#[derive(Deserialize)]
struct Source {
    path: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    line: Option<u32>,
    column: Option<u32>,
    name: Option<String>,
    data_id: Option<String>,
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
}

impl Asked {
    fn terms(&self) -> Result<Terms, String> {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let hits = said(&self.hit_condition).map(|text| HitCondition::parse(&text)).transpose()?;
        Ok(Terms { condition: said(&self.condition), hits, log: said(&self.log_message) })
    }
}

#[derive(Deserialize)]
struct Lines {
    source: Source,
    #[serde(default)]
    breakpoints: Vec<Asked>,
}

pub fn lines(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: Lines = read(arguments)?;
    let path = wanted.source.path.ok_or("the source has no `path`; EZ programs are files")?;
    if live.entry == Entry::Undisturbed {
        return Ok(undisturbed(wanted.breakpoints.len()));
    }
    let wishes = wanted.breakpoints.iter().map(|asked| {
        let line = asked.line.unwrap_or(0);
        Wish { line, column: asked.column, terms: asked.terms() }
    });
    let placed = live.debuggee.break_at_lines(&path, wishes.collect());
    let answers = placed.iter().zip(&wanted.breakpoints).map(|(placed, asked)| {
        let mut answer = answer(live, placed);
        let moved = placed.spot.filter(|spot| Some(spot.line) != asked.line);
        if let (Some(spot), Some(line), true) = (moved, asked.line, answer["message"].is_null()) {
            answer["message"] = format!("line {line} has no statement; moved to line {}", spot.line).into();
        }
        answer
    });
    let answers: Vec<Value> = answers.collect();
    Ok(json!({"breakpoints": answers}))
}

#[derive(Deserialize)]
struct Others {
    #[serde(default)]
    breakpoints: Vec<Asked>,
}

pub fn functions(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: Others = read(arguments)?;
    if live.entry == Entry::Undisturbed {
        return Ok(undisturbed(wanted.breakpoints.len()));
    }
    let wishes =
        wanted.breakpoints.iter().map(|asked| (asked.name.clone().unwrap_or_default(), asked.terms()));
    let placed = live.debuggee.break_at_functions(wishes.collect());
    let answers: Vec<Value> = placed.iter().map(|placed| answer(live, placed)).collect();
    Ok(json!({"breakpoints": answers}))
}

fn answer(live: &Live, placed: &Placed) -> Value {
    let mut answer =
        json!({"id": placed.id.0, "verified": placed.trouble.is_none() && placed.spot.is_some()});
    if let Some(spot) = placed.spot {
        answer["line"] = spot.line.into();
        answer["column"] = spot.column.into();
        answer["source"] = source(&live.debuggee.unit().sources.get(spot.file).path);
    }
    if let Some(trouble) = &placed.trouble {
        answer["message"] = trouble.as_str().into();
    }
    answer
}

fn undisturbed(count: usize) -> Value {
    let answer = json!({"verified": false, "message": "the program was launched with `noDebug`"});
    json!({"breakpoints": vec![answer; count]})
}

pub fn exceptions(live: &mut Live, arguments: &Value) -> Answer {
    let names = |key: &str| arguments[key].as_array().cloned().unwrap_or_default();
    let wanted = names("filters").iter().any(|filter| filter == FAULTS)
        || names("filterOptions").iter().any(|option| option["filterId"] == FAULTS);
    live.debuggee.stop_at_faults(wanted && live.entry != Entry::Undisturbed);
    Ok(Value::Null)
}

pub fn locations(live: &mut Live, arguments: &Value) -> Answer {
    let path = arguments["source"]["path"].as_str().ok_or("the source has no `path`")?;
    let line = arguments["line"].as_u64().ok_or("`line` is missing")?;
    let end = arguments["endLine"].as_u64().unwrap_or(line);
    let spots = live.debuggee.spots(Path::new(path), line, end);
    let spots: Vec<Value> =
        spots.iter().map(|spot| json!({"line": spot.line, "column": spot.column})).collect();
    Ok(json!({"breakpoints": spots}))
}

/// A variable can be watched if it is one of the frame's or the program's; not what is inside of it, which may move.
pub fn data_info(live: &mut Live, arguments: &Value) -> Answer {
    let name = arguments["name"].as_str().ok_or("`name` is missing")?;
    let reference = &arguments["variablesReference"];
    let (frame, scope) = match reference.as_u64() {
        None | Some(0) => match &arguments["frameId"] {
            Value::Null => (0, 0),
            id => (frame(live, id)?, 0),
        },
        Some(_) => {
            let (_, contents) = live.handles.contents(&live.debuggee, reference)?;
            if !contents.is_scope() {
                let text = format!("`{name}` is a part of a value; watch the variable that holds it");
                return Ok(json!({"dataId": null, "description": text}));
            }
            (contents.frame, contents.scope)
        }
    };
    Ok(match live.debuggee.watchable(frame, scope, name) {
        Some(id) => json!({
            "dataId": id,
            "description": format!("`{name}`, when it changes"),
            "accessTypes": ["write"],
            "canPersist": false,
        }),
        None => json!({"dataId": null, "description": format!("there is no variable `{name}` here")}),
    })
}

pub fn data(live: &mut Live, arguments: &Value) -> Answer {
    let wanted: Others = read(arguments)?;
    let wishes =
        wanted.breakpoints.iter().map(|asked| (asked.data_id.clone().unwrap_or_default(), asked.terms()));
    let placed = live.debuggee.watch(wishes.collect());
    let answers: Vec<Value> = placed.iter().map(|placed| answer(live, placed)).collect();
    Ok(json!({"breakpoints": answers}))
}
