//! Looking at a session: which of its parts is meant, its source, what it printed, and the rest of an answer.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use breakroom_client::model::Frame;
use serde_json::json;
use tokio::time::Instant;

use super::answering::answer;
use super::checking::unknown;
use super::files::Files;
use super::{threads, variables};
use crate::arguments::{Arguments, whole};
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::{Came, Session, Wait};
use crate::telling::budget::{Room, cut_as_data};
use crate::telling::output::fitting;
use crate::telling::reply::Reply;
use crate::telling::source::{excerpt, nearest};
use crate::telling::values::Inside;

const LINES_AROUND: i64 = 15;
/// Room for the words around a list.
pub const AROUND: usize = 160;

pub async fn inspect(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let room = caller.room(&arguments)?;
    let cursor = arguments.text("cursor")?;
    // Rests have names, and places in the output are numbers.
    let kept =
        if cursor.as_deref().is_some_and(|cursor| whole(cursor).is_some()) { "output" } else { "rest" };
    let what = match arguments.text("what")? {
        Some(what) if what == "rest" => kept.to_owned(),
        Some(what) => what,
        None if cursor.is_some() => kept.to_owned(),
        None if arguments.text("variable")?.is_some() => "variables".to_owned(),
        None if arguments.text("file")?.is_some() => "source".to_owned(),
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
        "source" => source(door, &session, &arguments, room).await?,
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

async fn source(door: &Door, session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let line = arguments.line("line")?;
    let (path, text, current) = match arguments.text("file")? {
        Some(file) => {
            let path = Files::of(door, session).named(&file);
            (path.clone(), session.file_text(&path)?, None)
        }
        // While nothing stands there is no frame to be shown the source of.
        None if arguments.thread()?.is_none() && session.standing(None).is_err() => {
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
    // Clients that fill in everything say 0.
    let said = |key: &str| Ok::<_, Failure>(arguments.integer(key)?.filter(|number| *number > 0));
    let (start, count) = (said("start")?, said("count")?.unwrap_or(2 * LINES_AROUND + 1));
    let wanted = match (start, line.or(current)) {
        (Some(start), _) => Lines::From(start),
        (None, Some(line)) => Lines::Around(line),
        (None, None) => Lines::From(1),
    };
    Ok(part_of(&path, &text, Part { wanted, count, current }, room))
}

/// Which lines are to be shown of a source.
struct Part {
    wanted: Lines,
    count: i64,
    /// Where the program stands.
    current: Option<i64>,
}

enum Lines {
    Around(i64),
    From(i64),
}

/// As much as there is room for, next to the line that is wanted, and how to go on behind that.
fn part_of(path: &Path, text: &str, part: Part, room: Room) -> Reply {
    let lines: Vec<&str> = text.lines().collect();
    let last = i64::try_from(lines.len()).unwrap_or(i64::MAX);
    let (line, around) = match part.wanted {
        Lines::Around(line) => (line, part.count / 2),
        Lines::From(line) => (line, 0),
    };
    let line = line.clamp(1, last.max(1));
    let from = line.saturating_sub(around).max(1);
    let to = match part.wanted {
        Lines::Around(_) => line.saturating_add(around),
        Lines::From(_) => line.saturating_add(part.count - 1),
    };
    let all = excerpt(&lines, part.current.unwrap_or(0), from, to);
    let path = path.to_string_lossy();
    let room = room.beside(AROUND + path.len());
    // Of those from a line on the first stay, and of those around one that line.
    let stays = usize::try_from(line - from).unwrap_or_default();
    let fitting = nearest(&all, stays, room);
    let (skipped, shown) = (fitting.start, &all[fitting]);
    let number = |at: usize| from.saturating_add(i64::try_from(at).unwrap_or(i64::MAX));
    let (first, next) = (number(skipped), number(skipped + shown.len()));
    let go_on = if next <= last { format!("; go on with start={next}") } else { String::new() };
    let which = match shown {
        [] => "no lines".to_owned(),
        _ => format!("lines {first}-{} of {last}{go_on}", next - 1),
    };
    let mut reply = Reply::new(format!("{path} ({which}):")).with(json!({
        "file": path, "first_line": first, "lines": last, "text": shown.join("\n"),
    }));
    if next <= last {
        reply.put("next", next);
    }
    shown.iter().for_each(|line| reply.add(line));
    reply
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand lines of 40 characters.
    fn long() -> String {
        (1..=1_000).map(|number| format!("{number:040}\n")).collect()
    }

    fn shown(wanted: Lines, count: i64, tokens: usize) -> (String, Option<i64>) {
        let part = Part { wanted, count, current: Some(3) };
        let reply = part_of(Path::new("/a/t.py"), &long(), part, Room::of_each(tokens * 2));
        (reply.text.clone(), reply.data().get("next").and_then(serde_json::Value::as_i64))
    }

    fn has(text: &str, line: usize) -> bool {
        text.contains(&format!(" {line:040}"))
    }

    #[test]
    fn of_a_source_that_is_too_long_the_lines_around_the_one_that_is_wanted_are_shown() {
        let (text, _) = shown(Lines::Around(100), 31, 200);
        assert!(has(&text, 100) && has(&text, 99) && has(&text, 101), "{text}");
        assert!(text.contains(" of 1000; go on with start=10") && text.len() <= 400, "{text}");
        let (text, _) = shown(Lines::Around(500), 400, 2_000);
        assert!(has(&text, 500) && has(&text, 470) && has(&text, 530) && !has(&text, 400), "{text}");
        let (text, next) = shown(Lines::Around(5_000), 31, 2_000);
        assert!(has(&text, 1_000) && text.contains("lines 985-1000 of 1000)"), "{text}");
        assert_eq!(next, None);
    }

    #[test]
    fn a_source_is_read_to_its_end_line_by_line() {
        let (mut start, mut seen) = (Some(1), 0);
        while let Some(from) = start {
            let (text, next) = shown(Lines::From(from), 31, 250);
            let numbers = text.lines().skip(1).filter_map(|line| line.rsplit("  ").next()?.parse().ok());
            for number in numbers.collect::<Vec<i64>>() {
                assert_eq!(number, seen + 1, "{text}");
                seen = number;
            }
            assert!(next.is_none_or(|next| next > from), "{text}");
            start = next;
        }
        assert_eq!(seen, 1_000);
    }
}
