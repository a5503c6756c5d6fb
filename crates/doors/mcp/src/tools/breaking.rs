//! Breakpoints: set by line, text or function, listed and removed; and filters for exceptions.

use std::path::Path;
use std::sync::PoisonError;

use breakroom_client::breakpoints::Terms;
use breakroom_client::model;
use serde_json::{Value, json};

use super::files::Files;
use crate::Wanted;
use crate::arguments::{Arguments, whole};
use crate::breakpoints::conditions::{LONGEST_REASON, point};
use crate::breakpoints::filters::{Filters, on_and_off};
use crate::breakpoints::{Breakpoint, Place, State, Wish};
use crate::door::Door;
use crate::failure::Failure;
use crate::session::Session;
use crate::telling::reply::Reply;

/// What else may be said of a breakpoint.
const TERMS: [&str; 4] = ["capture", "condition", "hit_count", "log_message"];

/// Whether a term was given: clients that fill in everything say nothing with these.
fn says(given: &Value) -> bool {
    match given {
        Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// A variable whose changes are to be stopped at, as the debugger calls it in the frame that is shown.
async fn watched(session: &Session, name: String, arguments: &Arguments) -> Result<Wish, Failure> {
    const INSTEAD: &str = "Set breakpoints with `capture` in the lines that write it.";
    // Most debuggers that watch take terms without a word and keep to none.
    if let Some(term) = TERMS.iter().find(|term| arguments.get(term).is_some_and(says)) {
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
        let why = crate::telling::budget::line(point(&why), LONGEST_REASON);
        Failure::new(format!("`{name}` cannot be watched: {why}")).next(INSTEAD)
    };
    let id = id.map_err(cannot)?;
    Ok(Wish::plain(Place::Data { name, id }))
}

/// A hit count that everybody can count by. Debuggers take others for none, or for one that is never met.
fn hit_count(said: String) -> Result<String, Failure> {
    const OPERATORS: [&str; 7] = [">=", "<=", "==", ">", "<", "=", "%"];
    let number = OPERATORS.iter().find_map(|operator| said.trim().strip_prefix(operator));
    let number = number.unwrap_or(&said).trim().parse::<u64>();
    let is_meant = number.is_ok_and(|number| number > 0 || !said.contains('%'));
    is_meant.then_some(()).ok_or_else(|| {
        Failure::new(format!("`hit_count` is {said}, which is none"))
            .next("Use 3 for the third hit, >=3 for it and all later ones, or %2 for every second one.")
    })?;
    Ok(said)
}

/// What was asked for, with its file and its line found.
pub fn resolve(arguments: &Arguments, files: &Files<'_>) -> Result<Wish, Failure> {
    if arguments.text("watch")?.is_some() {
        return Err(Failure::new("nothing is there to be watched before the program is stopped")
            .next("Stop where the variable exists, then debugger_set_breakpoint with `watch`."));
    }
    let terms = Terms {
        condition: arguments.text("condition")?,
        hits: arguments.text("hit_count")?.map(hit_count).transpose()?,
        log: arguments.text("log_message")?,
    };
    let capture = match arguments.get("capture").filter(|given| says(given)) {
        None => None,
        Some(Value::Bool(true)) => Some(Vec::new()),
        Some(_) => Some(arguments.texts("capture")?.into_iter().filter(|text| !text.is_empty()).collect()),
    };
    if let Some(name) = arguments.text("function")? {
        let file = arguments.text("file")?.map(|file| files.named(&file));
        return Ok(Wish { place: Place::Function(name), text: None, file, terms, capture });
    }
    let file = match arguments.text("file")? {
        Some(file) => files.named(&file),
        None => files.unnamed()?,
    };
    let text = arguments.text("text")?;
    let line = match (arguments.line("line")?, &text) {
        (near, Some(text)) => files.line(&file, text, near)?,
        (Some(line), None) => line,
        (None, None) => {
            return Err(Failure::new("where? Name `line`, `text`, `function` or `watch`"));
        }
    };
    Ok(Wish { place: Place::Line { file, line }, text, file: None, terms, capture })
}

pub async fn set(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    if session.seen().is_over() {
        return Err(session.standing(None).err().unwrap_or_else(Failure::over));
    }
    let mut files = Files::of(door, &session);
    let wish = match arguments.text("watch")? {
        Some(name) => watched(&session, name, &arguments).await?,
        None => {
            if let (None, None) = (arguments.text("file")?, arguments.text("function")?) {
                files = files.with_own(session.own_file().await?);
            }
            resolve(&arguments, &files)?
        }
    };
    // What was attached to may know files that are not here.
    if !matches!(session.wanted, Wanted::Attach(_)) {
        files.check(&wish.place)?;
    }
    let replaced = session.breakpoints.lock().await.at(&wish.place).map(|old| old.number);
    let number = session.set(wish).await?;
    let children = session.children_in_the_way().await;
    let breakpoints = session.breakpoints.lock().await;
    let breakpoint =
        breakpoints.get(number).ok_or_else(|| Failure::new("it was removed at once by another call"))?;
    // The `state` of this answer is the breakpoint's, and not how the session is.
    let mut reply = Reply::about(&session.id, breakpoint.describe()).with(breakpoint.data());
    if let Some(replaced) = replaced {
        reply.add(&format!(
            "(it is in the place of breakpoint {replaced}: there is one of yours at each place)"
        ));
    }
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

/// The text of the line where it landed, so that a mistaken number is seen.
fn line_at(session: &Session, breakpoint: &Breakpoint) -> Option<String> {
    let (file, line) = breakpoint.line()?;
    let text = session.file_text(file).ok()?;
    let at = usize::try_from(line - 1).ok()?;
    text.lines()
        .nth(at)
        .map(|text| format!("> {line}  {}", crate::telling::budget::line(text.trim_end(), 160)))
}

pub async fn breakpoints(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let mut said = Vec::new();
    if arguments.has("exceptions") {
        catch(&session, arguments.texts("exceptions")?).await?;
    }
    let file = arguments.text("file")?.map(|file| Files::of(door, &session).named(&file));
    // Clients that fill in everything name none of them.
    let unwanted: Vec<String> =
        arguments.texts("remove")?.into_iter().filter(|word| !word.is_empty()).collect();
    if !unwanted.is_empty() {
        said.push(remove(&session, &unwanted, file.as_deref()).await?);
    }
    // Those that are left are worth knowing of, in whatever file.
    let listed = file.filter(|_| unwanted.is_empty());
    let is_listed = |breakpoint: &&Breakpoint| {
        listed.as_deref().is_none_or(|file| breakpoint.line().is_some_and(|(its, _)| its == file))
    };
    let mut breakpoints = session.breakpoints.lock().await;
    let others = session.learn(&mut breakpoints).await?;
    let own: Vec<&Breakpoint> = breakpoints.all.iter().filter(is_listed).collect();
    if session.seen().is_over() {
        said.push(format!("of session {}, which is over:", session.id));
    }
    let mut reply = Reply::about(&session.id, said.join("\n"));
    reply.put("breakpoints", own.iter().map(|breakpoint| breakpoint.data()).collect::<Vec<_>>());
    own.iter().for_each(|breakpoint| reply.add(&breakpoint.describe()));
    match &listed {
        Some(file) if own.is_empty() => reply.add(&format!("you have no breakpoints in {}", file.display())),
        None if own.is_empty() => reply.add("you have no breakpoints here"),
        _ => {}
    }
    let is_in_it = |other: &&Value| {
        listed.as_deref().is_none_or(|file| other["source"]["path"].as_str().map(Path::new) == Some(file))
    };
    for other in others.iter().filter(is_in_it) {
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

async fn remove(session: &Session, unwanted: &[String], file: Option<&Path>) -> Result<String, Failure> {
    let all = unwanted.iter().any(|word| word == "all");
    let numbers: Vec<i64> = unwanted.iter().filter_map(|word| whole(word)).collect();
    let is_meant = |breakpoint: &Breakpoint| {
        let is_there = match (file, breakpoint.line()) {
            (None, _) => true,
            (Some(file), Some((its, _))) => its == file,
            (Some(_), None) => false,
        };
        is_there && (all || numbers.contains(&breakpoint.number.into()))
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
