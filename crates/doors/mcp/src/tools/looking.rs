//! Looking at a session: which of its parts is meant, its source, what it printed, and the rest of an answer.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use breakroom_client::model::Frame;
use serde_json::json;
use tokio::time::Instant;

use super::answering::answer;
use super::checking::unknown;
use super::{threads, variables};
use crate::arguments::Arguments;
use crate::budget::{Room, cut_as_data, fit};
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::output::fitting;
use crate::reply::Reply;
use crate::session::{Came, Session, Wait};
use crate::source::excerpt;
use crate::values::Inside;

const LINES_AROUND: i64 = 15;
/// Room for the words around a list.
pub const AROUND: usize = 160;

pub async fn inspect(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let room = caller.room(&arguments)?;
    let what = match arguments.text("what")? {
        Some(what) => what,
        None if arguments.text("cursor")?.is_some() => "rest".to_owned(),
        None if arguments.text("variable")?.is_some() => "variables".to_owned(),
        None => "stop".to_owned(),
    };
    let mut reply = match what.as_str() {
        "rest" => rest(&session, &arguments, room)?,
        "stack" => threads::stack(&session, &arguments, room).await?,
        "variables" => variables::variables(&session, &arguments, room).await?,
        "globals" => {
            let frame = frame(&session, &arguments).await?;
            let members = session.globals(&frame).await?;
            variables::list(&arguments, room, "globals", Inside { members, part: None })?
        }
        "threads" => threads::threads(&session).await?,
        "source" => source(&session, &arguments, room).await?,
        "output" => output(&session, &arguments, room)?,
        "stop" => {
            let stop = session.standing(arguments.thread()?)?;
            let wait = Wait { deadline: Instant::now(), given_up: caller.given_up.clone() };
            let is_untold = session.seen().threads.is_untold(&stop);
            match is_untold {
                true => answer(&session, Came::Stopped(stop), room, &wait).await?,
                // What is run to from elsewhere is still to be reached.
                false => session.stopped(&stop, room, &wait.given_up).await?,
            }
        }
        other => return Err(unknown("what", other)),
    };
    reply.session = Some(session.id.clone());
    reply.state = Some(session.seen().state());
    Ok(reply)
}

pub async fn frame(session: &Session, arguments: &Arguments) -> Result<Frame, Failure> {
    session.frame_meant(arguments.thread()?, arguments.integer("frame_id")?).await
}

async fn source(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let line = arguments.line("line")?;
    let (path, text, current) = match arguments.text("file")? {
        Some(file) => {
            let path = session.path(&file);
            (path.clone(), session.file_text(&path)?, None)
        }
        None if line.is_some() && session.standing(None).is_err() => {
            let path = session.own_file().await?;
            (path.clone(), session.file_text(&path)?, None)
        }
        None => {
            let frame = frame(session, arguments).await?;
            let text = session.source_text(&frame).await;
            let text =
                text.ok_or_else(|| Failure::new(format!("nobody has the source of {}", frame.name)))?;
            let name = frame
                .source
                .as_ref()
                .map(|source| source.path.clone().unwrap_or_else(|| source.name.clone()));
            (PathBuf::from(name.unwrap_or_default()), text, Some(frame.line))
        }
    };
    let lines: Vec<&str> = text.lines().collect();
    let middle = line.or(current).unwrap_or(LINES_AROUND + 1);
    let count = arguments.integer("count")?.map(|count| (count / 2).max(0)).unwrap_or(LINES_AROUND);
    let shown =
        excerpt(&lines, current.unwrap_or(0), middle.saturating_sub(count), middle.saturating_add(count));
    let (shown, _) = fit(shown, room.beside(AROUND).text, |line| line.len() + 1);
    let reply = Reply::new(format!("{} ({} lines):", display(&path), lines.len()));
    let data = json!({"file": path.to_string_lossy(), "lines": lines.len(), "text": shown.join("\n")});
    let mut reply = reply.with(data);
    shown.iter().for_each(|line| reply.add(line));
    Ok(reply)
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

/// From a cursor on, or the latest without one; of all, or of the lines that have something in them.
fn output(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let room = room.beside(AROUND);
    let cursor = arguments.integer("cursor")?.or(arguments.integer("start")?);
    let from = cursor.and_then(|cursor| u64::try_from(cursor).ok()).unwrap_or_default();
    let filter = arguments.raw_text("filter")?;
    let mut seen = session.seen();
    let part = match &filter {
        Some(filter) => seen.journal.output.lines_with(filter, from, room),
        None => {
            let part = fitting(room, |most| match cursor {
                Some(_) => seen.journal.output.from(from, most),
                None => seen.journal.output.latest(0, most),
            });
            seen.journal.show(part.next);
            part
        }
    };
    let lost = match (part.lost, cursor.or(filter.is_some().then_some(0))) {
        (0, _) => String::new(),
        (lost, Some(_)) => format!(" · {lost} bytes before are not kept"),
        (lost, None) => format!(" · {lost} bytes before: cursor=0"),
    };
    let left = if part.left > 0 { format!(" · {} bytes more", part.left) } else { String::new() };
    let reply = Reply::new(format!("output up to cursor {}{lost}{left}:", part.next));
    let mut reply = reply.with(json!({"output": part.text, "cursor": part.next, "left": part.left}));
    reply.add(&part.text);
    Ok(reply)
}

pub fn add_rest(session: &Session, reply: &mut Reply, rest: Option<String>) {
    let Some(rest) = rest else { return };
    let size = rest.len();
    let cursor = session.rests.lock().unwrap_or_else(PoisonError::into_inner).keep(rest);
    reply.add(&format!("... {size} more characters: debugger_inspect with cursor=\"{cursor}\""));
    reply.put("cursor", cursor);
}

fn rest(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let cursor = arguments.needed("cursor")?;
    let rest = session.rests.lock().unwrap_or_else(PoisonError::into_inner).take(&cursor);
    let gone = || {
        Failure::new(format!("nothing is kept under the cursor {cursor}")).next("Ask for the value again.")
    };
    let (kept, rest) = cut_as_data(rest.ok_or_else(gone)?, room.beside(AROUND));
    let mut reply = Reply::new(kept.clone());
    reply.put("text", kept);
    add_rest(session, &mut reply, rest);
    Ok(reply)
}
