//! Breakpoints: set by line, text or function, listed and removed; and filters for exceptions.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use breakroom_client::breakpoints::Terms;
use breakroom_client::model;
use serde_json::{Value, json};

use crate::Wanted;
use crate::arguments::Arguments;
use crate::breakpoints::{Breakpoint, Place, State, Wish};
use crate::conditions::{LONGEST_REASON, point};
use crate::door::Door;
use crate::failure::Failure;
use crate::filters::{Filters, on_and_off};
use crate::reply::Reply;
use crate::session::Session;
use crate::source::{line_of, read};

/// What else may be said of a breakpoint.
const TERMS: [&str; 4] = ["capture", "condition", "hit_count", "log_message"];

/// A variable whose changes are to be stopped at, as the debugger calls it in the frame that is shown.
async fn watched(session: &Session, name: String, arguments: &Arguments) -> Result<Wish, Failure> {
    const INSTEAD: &str = "Set breakpoints with `capture` in the lines that write it.";
    // Most debuggers that watch take terms without a word and keep to none.
    if let Some(term) = TERMS.iter().find(|term| arguments.has(term)) {
        return Err(Failure::new(format!(
            "what is watched stops at every change; `{term}` has no effect there"
        ))
        .next("Set it without."));
    }
    if !session.seen().can("supportsDataBreakpoints") {
        return Err(Failure::new("this debugger watches no variables").next(INSTEAD));
    }
    let frame = session.frame_meant(None, None).await?;
    // A name alone would be an expression to some debuggers, and its value an address.
    let question = match session.holder(&frame, &name).await? {
        Some((holder, member)) => json!({"variablesReference": holder.0, "name": member}),
        None => json!({"name": name, "frameId": frame.id.0}),
    };
    let info = session.link.request("dataBreakpointInfo", question).await;
    let id = match info {
        Ok(info) => {
            info["dataId"].as_str().map(str::to_owned).ok_or_else(|| model::text(&info["description"]))
        }
        Err(failure) => Err(failure.what),
    };
    let cannot = |why: String| {
        let why = crate::budget::line(point(&why), LONGEST_REASON);
        Failure::new(format!("`{name}` cannot be watched: {why}")).next(INSTEAD)
    };
    let id = id.map_err(cannot)?;
    Ok(Wish::plain(Place::Data { name, id }))
}

/// What was asked for, with its file and its line found. `own` is the program's file, which is meant where none is named,
/// and in whose folder others may be.
pub fn resolve(arguments: &Arguments, folders: &[&Path], own: Option<PathBuf>) -> Result<Wish, Failure> {
    if arguments.text("watch")?.is_some() {
        return Err(Failure::new("nothing is there to be watched before the program is stopped")
            .next("Stop where the variable exists, then debugger_set_breakpoint with `watch`."));
    }
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
        let file = arguments.text("file")?.map(|file| file_of(&file, folders, own.as_deref()));
        return Ok(Wish { place: Place::Function(name), text: None, file, terms, capture });
    }
    let file = match arguments.text("file")? {
        Some(file) => file_of(&file, folders, own.as_deref()),
        None => canonical(
            own.ok_or_else(|| Failure::new("`file` is missing").next("Name the file of the breakpoint."))?,
        ),
    };
    let text = arguments.text("text")?;
    let line = match (arguments.line("line")?, &text) {
        (near, Some(text)) => line_of(&file, text, near)?,
        (Some(line), None) => line,
        (None, None) => {
            return Err(Failure::new("where? Name `line`, `text`, `function` or `watch`"));
        }
    };
    Ok(Wish { place: Place::Line { file, line }, text, file: None, terms, capture })
}

/// The file that a name means: in one of the folders, or beside the program. Where there is none, in the first folder.
pub fn file_of(name: &str, folders: &[&Path], program: Option<&Path>) -> PathBuf {
    let beside = program.and_then(Path::parent);
    let mut places = folders.iter().copied().chain(beside).map(|folder| folder.join(name));
    let first = folders.first().map_or_else(|| name.into(), |folder| folder.join(name));
    canonical(places.find(|place| place.exists()).unwrap_or(first))
}

/// One spelling for each file, since its breakpoints are told together.
fn canonical(file: PathBuf) -> PathBuf {
    std::fs::canonicalize(&file).or_else(|_| std::path::absolute(&file)).unwrap_or(file)
}

pub async fn set(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    if session.seen().is_over() {
        return Err(session.standing(None).err().unwrap_or_else(Failure::over));
    }
    let folders = [session.cwd.as_path(), &door.setup.cwd];
    let wish = match arguments.text("watch")? {
        Some(name) => watched(&session, name, &arguments).await?,
        None => {
            let own = match (arguments.text("file")?, arguments.text("function")?) {
                (None, None) => Some(session.own_file().await?),
                _ => session.program(),
            };
            resolve(&arguments, &folders, own)?
        }
    };
    // What was attached to may know files that are not here.
    if !matches!(session.wanted, Wanted::Attach(_)) {
        missing(&wish.place, &folders)?;
    }
    let number = session.set(wish).await?;
    let children = session.children_in_the_way().await;
    let breakpoints = session.breakpoints.lock().await;
    let breakpoint =
        breakpoints.get(number).ok_or_else(|| Failure::new("it was removed at once by another call"))?;
    // The `state` of this answer is the breakpoint's, and not how the session is.
    let mut reply = Reply::about(&session.id, breakpoint.describe()).with(breakpoint.data());
    if let Some(line) = line_at(&session, breakpoint) {
        reply.add(&line);
    }
    if breakpoint.truth.state == State::Pending && breakpoint.truth.reason.is_none() {
        reply.add("(pending: it binds when the program loads that code)");
    }
    if matches!(breakpoint.truth.state, State::Pending | State::Rejected) {
        children.iter().for_each(|children| reply.add(children));
    }
    Ok(reply)
}

/// A file that is not there, or a line behind its end, can have no breakpoint; a debugger would only say that it is pending.
pub fn missing(place: &Place, folders: &[&Path]) -> Result<(), Failure> {
    let Place::Line { file, line } = place else { return Ok(()) };
    if !file.exists() {
        let said = format!("there is no file {}{}", file.display(), tried_elsewhere(file, folders));
        return Err(Failure::new(said).next("Name `file` by its whole path."));
    }
    let lines = read(file).map_or(i64::MAX, |text| i64::try_from(text.lines().count()).unwrap_or(i64::MAX));
    match *line > lines {
        true => Err(Failure::new(format!("{} has {lines} lines, and no line {line}", file.display()))
            .next("debugger_inspect with what=source shows the file; `text` finds a line by what is in it.")),
        false => Ok(()),
    }
}

/// Where else a file was looked for that is not in the first folder.
fn tried_elsewhere(file: &Path, folders: &[&Path]) -> String {
    let Some((first, others)) = folders.split_first() else { return String::new() };
    let Ok(name) = file.strip_prefix(canonical(first.to_path_buf())) else { return String::new() };
    let is_none = |folder: &&&Path| *folder != first && !folder.join(name).exists();
    let others = others.iter().filter(is_none);
    others.map(|folder| format!(", and none of that name in {}", folder.display())).collect()
}

/// The text of the line where it landed, so that a mistaken number is seen.
fn line_at(session: &Session, breakpoint: &Breakpoint) -> Option<String> {
    let (file, line) = breakpoint.line()?;
    let text = session.file_text(file).ok()?;
    let at = usize::try_from(line - 1).ok()?;
    text.lines().nth(at).map(|text| format!("> {line}  {}", crate::budget::line(text.trim_end(), 160)))
}

pub async fn breakpoints(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let mut said = Vec::new();
    if arguments.has("exceptions") {
        catch(&session, arguments.texts("exceptions")?).await?;
    }
    if arguments.has("remove") {
        said.push(remove(&session, &arguments, &door.setup.cwd).await?);
    }
    let mut breakpoints = session.breakpoints.lock().await;
    let others = session.learn(&mut breakpoints).await?;
    let data: Vec<Value> = breakpoints.all.iter().map(Breakpoint::data).collect();
    if session.seen().is_over() {
        said.push(format!("of session {}, which is over:", session.id));
    }
    let mut reply = Reply::about(&session.id, said.join("\n"));
    reply.put("breakpoints", data);
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
        // What was refused is not on.
        let on = known.on(session.exceptions(), session.runs_tests).unwrap_or_default();
        reply.add(&on_and_off(&known.names(), &on));
    }
    Ok(reply)
}

async fn remove(session: &Session, arguments: &Arguments, here: &Path) -> Result<String, Failure> {
    let folders = [session.cwd.as_path(), here];
    let wanted = arguments.texts("remove")?;
    let all = wanted.iter().any(|word| word == "all");
    let file = arguments.text("file")?.map(|file| file_of(&file, &folders, session.program().as_deref()));
    let numbers: Vec<u32> = wanted.iter().filter_map(|word| word.parse().ok()).collect();
    let is_meant = |breakpoint: &Breakpoint| {
        let is_there = match (&file, breakpoint.line()) {
            (None, _) => true,
            (Some(file), Some((its, _))) => its == file,
            (Some(_), None) => false,
        };
        is_there && (all || numbers.contains(&breakpoint.number))
    };
    match session.remove(is_meant).await? {
        0 => Err(Failure::new("there is no such breakpoint")
            .next("debugger_breakpoints lists them with their ids.")),
        count => Ok(format!("removed {count}")),
    }
}

async fn catch(session: &Session, words: Vec<String>) -> Result<(), Failure> {
    let known =
        Filters::of(session).ok_or_else(|| Failure::new("this debugger cannot stop at exceptions"))?;
    let filters = known.meant(words.clone())?;
    session.link.request("setExceptionBreakpoints", json!({"filters": filters})).await?;
    *session.exceptions.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    Ok(())
}
