//! Breakpoints: set by line, text or function, listed and removed; and filters for exceptions.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use breakroom_client::breakpoints::Terms;
use breakroom_client::model;
use serde_json::{Value, json};

use crate::Wanted;
use crate::arguments::Arguments;
use crate::breakpoints::{Breakpoint, Place, Wish};
use crate::door::Door;
use crate::failure::Failure;
use crate::filters::Filters;
use crate::reply::Reply;
use crate::session::Session;
use crate::source::{line_of, read};

/// What was asked for, with its file and its line found. `own` is the program's file, which is meant where none is named,
/// and in whose folder others may be.
pub fn resolve(arguments: &Arguments, cwd: &Path, own: Option<PathBuf>) -> Result<Wish, Failure> {
    let terms = Terms {
        condition: arguments.text("condition")?,
        hits: arguments.text("hit_count")?,
        log: arguments.text("log_message")?,
    };
    let capture = match arguments.get("capture") {
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(Vec::new()),
        Some(_) => Some(arguments.texts("capture")?.into_iter().filter(|text| !text.is_empty()).collect()),
    };
    if let Some(name) = arguments.text("function")? {
        return Ok(Wish { place: Place::Function(name), text: None, terms, capture });
    }
    let file = match arguments.text("file")? {
        Some(file) => file_of(&file, cwd, own.as_deref()),
        None => canonical(
            own.ok_or_else(|| Failure::new("`file` is missing").next("Name the file of the breakpoint."))?,
        ),
    };
    let text = arguments.text("text")?;
    let line = match (arguments.line("line")?, &text) {
        (near, Some(text)) => line_of(&file, text, near)?,
        (Some(line), None) => line,
        (None, None) => {
            return Err(Failure::new("where? Name `line`, `text` or `function`"));
        }
    };
    Ok(Wish { place: Place::Line { file, line }, text, terms, capture })
}

/// The file that a name means: in the working folder, or beside the program.
pub fn file_of(name: &str, cwd: &Path, program: Option<&Path>) -> PathBuf {
    let here = cwd.join(name);
    let beside = program.and_then(Path::parent).map(|folder| folder.join(name));
    canonical(beside.filter(|beside| !here.exists() && beside.exists()).unwrap_or(here))
}

/// One spelling for each file, since its breakpoints are told together.
fn canonical(file: PathBuf) -> PathBuf {
    std::fs::canonicalize(&file).or_else(|_| std::path::absolute(&file)).unwrap_or(file)
}

pub async fn set(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    if session.seen().is_over() {
        return Err(session.standing(None).err().unwrap_or_else(|| Failure::new("the session is over")));
    }
    let own = match arguments.has("file") || arguments.has("function") {
        true => session.program(),
        false => Some(session.own_file().await?),
    };
    let wish = resolve(&arguments, &session.cwd, own)?;
    // What was attached to may know files that are not here.
    if !matches!(session.wanted, Wanted::Attach(_)) {
        missing(&wish.place)?;
    }
    let number = session.set(wish).await?;
    let breakpoints = session.breakpoints.lock().await;
    let breakpoint =
        breakpoints.get(number).ok_or_else(|| Failure::new("it was removed at once by another call"))?;
    let mut reply = Reply::new(breakpoint.describe(), breakpoint.data());
    reply.put("session_id", session.id.clone());
    reply.put("state", breakpoint.truth.state.clone());
    if let Some(line) = line_at(breakpoint) {
        reply.add(&line);
    }
    if breakpoint.truth.state == "pending" {
        reply.add("(pending: it binds when the program loads that code)");
    }
    Ok(reply)
}

/// A file that is not there, or a line behind its end, can have no breakpoint; a debugger would only say that it is pending.
pub fn missing(place: &Place) -> Result<(), Failure> {
    let Place::Line { file, line } = place else { return Ok(()) };
    if !file.exists() {
        return Err(Failure::new(format!("there is no file {}", file.display()))
            .next("Name `file` by its whole path."));
    }
    let lines = read(file).map_or(i64::MAX, |text| i64::try_from(text.lines().count()).unwrap_or(i64::MAX));
    match *line > lines {
        true => Err(Failure::new(format!("{} has {lines} lines, and no line {line}", file.display()))
            .next("debugger_inspect with what=source shows the file; `text` finds a line by what is in it.")),
        false => Ok(()),
    }
}

/// The text of the line where it landed, so that a mistaken number is seen.
fn line_at(breakpoint: &Breakpoint) -> Option<String> {
    let Place::Line { file, line } = &breakpoint.place else { return None };
    let line = breakpoint.truth.line.unwrap_or(*line);
    let text = read(file).ok()?;
    let at = usize::try_from(line - 1).ok()?;
    text.lines().nth(at).map(|text| format!("> {line}  {}", crate::budget::line(text.trim_end(), 160)))
}

pub async fn breakpoints(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let mut said = Vec::new();
    if arguments.has("exceptions") {
        said.push(catch(&session, arguments.texts("exceptions")?).await?);
    }
    if arguments.has("remove") {
        said.push(remove(&session, &arguments).await?);
    }
    let mut breakpoints = session.breakpoints.lock().await;
    let others = session.learn(&mut breakpoints).await?;
    let data: Vec<Value> = breakpoints.all.iter().map(Breakpoint::data).collect();
    let mut reply = Reply::new(said.join("\n"), json!({"session_id": session.id, "breakpoints": data}));
    breakpoints.all.iter().for_each(|breakpoint| reply.add(&breakpoint.describe()));
    if breakpoints.all.is_empty() {
        reply.add("you have no breakpoints here");
    }
    for other in &others {
        let place = match (other["source"]["path"].as_str(), model::integer(&other["line"])) {
            (Some(path), Some(line)) => format!("{}:{line}", model::file_name(path)),
            _ => model::text(&other["name"]),
        };
        reply.add(&format!(
            "of {}: {place} · {}",
            model::text(&other["owner"]),
            model::text(&other["state"])
        ));
    }
    if let Some(known) = Filters::of(&session) {
        reply.add(&format!("exception filters: {}", known.names().join(", ")));
    }
    Ok(reply)
}

async fn remove(session: &Session, arguments: &Arguments) -> Result<String, Failure> {
    let wanted = arguments.texts("remove")?;
    let all = wanted.iter().any(|word| word == "all");
    let file = arguments.text("file")?.map(|file| file_of(&file, &session.cwd, session.program().as_deref()));
    let numbers: Vec<u32> = wanted.iter().filter_map(|word| word.parse().ok()).collect();
    let is_meant = |breakpoint: &Breakpoint| {
        let is_there = match (&file, &breakpoint.place) {
            (None, _) => true,
            (Some(file), Place::Line { file: its, .. }) => its == file,
            (Some(_), Place::Function(_)) => false,
        };
        is_there && (all || numbers.contains(&breakpoint.number))
    };
    match session.remove(is_meant).await? {
        0 => Err(Failure::new("there is no such breakpoint")
            .next("debugger_breakpoints lists them with their ids.")),
        count => Ok(format!("removed {count}")),
    }
}

async fn catch(session: &Session, words: Vec<String>) -> Result<String, Failure> {
    let filters = match Filters::of(session) {
        Some(known) => known.meant(words.clone())?,
        None => return Err(Failure::new("this debugger cannot stop at exceptions")),
    };
    session.link.request("setExceptionBreakpoints", json!({"filters": filters})).await?;
    *session.exceptions.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    Ok(match filters.is_empty() {
        true => "stops at no exceptions".to_owned(),
        false => format!("stops at exceptions: {}", filters.join(", ")),
    })
}
