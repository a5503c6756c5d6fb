//! Looking at a stopped program: stack, variables, threads, source, output; and expressions in it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use breakroom_client::model::{self, Frame};
use breakroom_client::scopes::Member;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, timeout};

use crate::arguments::Arguments;
use crate::budget::{Room, cut_as_data, fit, fit_both, line};
use crate::door::Door;
use crate::failure::Failure;
use crate::frames;
use crate::output::fitting;
use crate::reply::Reply;
use crate::session::{MOST_FRAMES, Session};
use crate::snapshot::{add_output, frame_data, in_stack, member_data, place, typed};
use crate::source::{excerpt, read};
use crate::values::{Inside, Of, Window, elements_of};

const LONGEST_VALUE: usize = 400;
const LONGEST_TYPE: usize = 80;
/// What is inside a value is told below it.
const LONGEST_TITLE: usize = 80;
const LINES_AROUND: i64 = 15;
/// So many frames tell where a thread stands.
const CALLERS: usize = 4;
/// Threads that nothing is heard of by then are listed without their place.
const FOR_PLACES: Duration = Duration::from_secs(3);
/// Room for the words around a list.
const AROUND: usize = 160;

pub async fn inspect(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let room = Room::of(&arguments)?;
    let what = match arguments.text("what")? {
        Some(what) => what,
        None if arguments.has("cursor") => "rest".to_owned(),
        None if arguments.has("variable") => "variables".to_owned(),
        None => "stop".to_owned(),
    };
    let mut reply = match what.as_str() {
        "stack" => stack(&session, &arguments, room).await?,
        "variables" | "locals" => variables(&session, &arguments, room).await?,
        "globals" => {
            let frame = frame(&session, &arguments).await?;
            let members = session.globals(&frame).await?;
            list(&arguments, room, "globals", Inside { members, part: None })?
        }
        "threads" => threads(&session).await?,
        "source" => source(&session, &arguments, room).await?,
        "output" => output(&session, &arguments, room)?,
        "stop" => session.stopped(&session.standing(arguments.integer("thread_id")?)?, room).await?,
        "rest" => rest(&session, &arguments, room)?,
        other => {
            return Err(Failure::new(format!("`what` is {other}"))
                .next("It can be stack, variables, globals, threads, source, output or stop."));
        }
    };
    reply.put("session_id", session.id.clone());
    reply.put("state", session.seen().state());
    Ok(reply)
}

async fn frame(session: &Session, arguments: &Arguments) -> Result<Frame, Failure> {
    session.frame_meant(arguments.integer("thread_id")?, arguments.integer("frame_id")?).await
}

async fn stack(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let stop = session.standing(arguments.integer("thread_id")?)?;
    let start = arguments.count("start", 0, u32::MAX.into())? as usize;
    let count = arguments.count("count", 50, 500)? as usize;
    let (frames, total) = session.stack(stop.thread, start, count).await?;
    let shown =
        (start..).zip(&frames).map(|(at, frame)| (in_stack(at, frame, &session.cwd), frame_data(frame)));
    let left = room.0.saturating_sub(AROUND);
    let (lines, data) = fit_both(shown, left, left);
    let next = start + lines.len();
    let mut reply = Reply::new(format!("thread {}, {total} frames:", stop.thread), json!({"stack": data}));
    lines.iter().for_each(|line| reply.add(line));
    if next < total {
        reply.add(&format!("  ... go on with start={next}"));
        reply.put("next", next);
    }
    Ok(reply)
}

async fn variables(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let frame = frame(session, arguments).await?;
    match arguments.text("variable")? {
        None => {
            let mut members = session.locals(&frame).await?;
            let start = arguments.count("start", 0, u32::MAX.into())? as usize;
            if let Some(shown) = members.get_mut(start..) {
                session.brief(shown).await;
            }
            list(arguments, room, &format!("locals of {}", frame.name), Inside { members, part: None })
        }
        Some(path) => {
            let start = arguments.count("start", 0, u32::MAX.into())? as usize;
            let (member, inside) =
                session.inside(&frame, &path, start, arguments.text("filter")?.as_deref()).await?;
            match inside.members.is_empty() {
                true => {
                    let mut reply = whole(session, &path, &member.variable.kind, member.variable.value, room);
                    let (value, kind) = (reply.data.remove("result"), reply.data.remove("type"));
                    reply
                        .put("variable", json!({"name": member.variable.name, "value": value, "type": kind}));
                    Ok(reply)
                }
                false => list(arguments, room, &typed(&member, LONGEST_TITLE.min(room.percent(20))), inside),
            }
        }
    }
}

/// A value in full: what has no room can be had by the cursor.
fn whole(session: &Session, name: &str, kind: &str, value: String, room: Room) -> Reply {
    let name = line(name, room.percent(20));
    let typed_as = if kind.is_empty() { String::new() } else { format!(": {}", line(kind, LONGEST_TYPE)) };
    let left = room.0.saturating_sub(name.len() + typed_as.len() + AROUND);
    let (kept, rest) = cut_as_data(value, left.max(room.percent(20)));
    let data = json!({"result": kept, "type": line(kind, LONGEST_TYPE)});
    let mut reply = Reply::new(format!("{name}{typed_as} = {kept}"), data);
    add_rest(session, &mut reply, rest);
    reply
}

fn add_rest(session: &Session, reply: &mut Reply, rest: Option<String>) {
    let Some(rest) = rest else { return };
    let size = rest.len();
    let cursor = session.rests.lock().unwrap_or_else(PoisonError::into_inner).keep(rest);
    reply.add(&format!("... {size} more characters: debugger_inspect with cursor=\"{cursor}\""));
    reply.put("cursor", cursor);
}

fn list(arguments: &Arguments, room: Room, title: &str, inside: Inside) -> Result<Reply, Failure> {
    let start = arguments.count("start", 0, u32::MAX.into())? as usize;
    let count = arguments.count("count", 1_000, 10_000)? as usize;
    let name = arguments.text("filter")?;
    let (part, total, start) = match inside.part {
        Some(_) if name.is_some() => {
            return Err(Failure::new(format!("{title} has elements, which have numbers and no names"))
                .next("Go to one by `start` instead of `filter`."));
        }
        Some((total, before)) => (inside.members.into_iter().take(count).collect(), total, before),
        None => {
            let (part, total) = Window { start, count, name: name.as_deref() }.of(inside.members);
            (part, total, start)
        }
    };
    let left = room.0.saturating_sub(title.len() + AROUND);
    let longest = LONGEST_VALUE.min(room.percent(20));
    let shown =
        part.iter().map(|member| (format!("  {}", typed(member, longest)), member_data(member, longest)));
    let (lines, data) = fit_both(shown, left, left);
    let next = start + lines.len();
    let mut reply = Reply::new(format!("{title} ({total}):"), json!({"variables": data, "total": total}));
    lines.iter().for_each(|line| reply.add(line));
    if next < total {
        reply.add(&format!("  ... {} more, go on with start={next}, or filter by name", total - next));
        reply.put("next", next);
    }
    Ok(reply)
}

/// Where each thread stands, and what led there.
async fn whereabouts(session: &Session, threads: &[i64]) -> HashMap<i64, (String, Value)> {
    let until = Instant::now() + FOR_PLACES;
    let mut places = HashMap::new();
    for thread in threads {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let stop = session.seen().of_thread(*thread);
        let Some(stop) = stop else { continue };
        // One by one: debugpy takes its time for each that waits for a lock, and whatever is asked next would wait too.
        let Ok(Ok((frames, _))) = timeout(left, session.stack(*thread, 0, MOST_FRAMES)).await else {
            continue;
        };
        places.extend(path_to(session, &stop.reason, &frames).map(|path| (*thread, path)));
    }
    places
}

fn path_to(session: &Session, reason: &str, frames: &[Frame]) -> Option<(String, Value)> {
    let at = frames::shown(reason, frames);
    let mut real: Vec<&Frame> = frames.iter().skip(at).filter(|frame| !frame.is_label).collect();
    // What the runtime called is of interest only where there is nothing else.
    if real.first().is_some_and(|top| frames::is_own(top)) {
        real.retain(|frame| frames::is_own(frame));
    }
    real.truncate(CALLERS);
    let one = |frame: &&Frame| format!("{} {}", line(&frame.name, LONGEST_TYPE), place(frame, &session.cwd));
    let words = real.iter().map(one).collect::<Vec<_>>().join(" < ");
    Some((words, frame_data(real.first()?)))
}

async fn threads(session: &Session) -> Result<Reply, Failure> {
    let body = session.link.request("threads", json!({})).await?;
    let numbers: Vec<i64> = model::list(&body["threads"], |thread| model::integer(&thread["id"]));
    let mut places = whereabouts(session, &numbers).await;
    let seen = session.seen();
    let active = seen.active().map(|stop| stop.thread);
    let mut reply = Reply::new("threads:", json!({}));
    let mut data = Vec::new();
    for thread in body["threads"].as_array().into_iter().flatten() {
        let id = model::integer(&thread["id"]).unwrap_or_default();
        let name = model::text(&thread["name"]);
        let state = match seen.of_thread(id) {
            Some(stop) if seen.stops.iter().all(|own| own.thread != id) => stop.description,
            Some(stop) => format!("stopped ({})", stop.reason),
            None => "running".to_owned(),
        };
        let mark = if active == Some(id) { '>' } else { ' ' };
        let mut as_data = json!({"id": id, "name": name, "stopped": seen.of_thread(id).is_some()});
        let place = match places.remove(&id) {
            Some((words, place)) => {
                as_data["at"] = place;
                format!(" · {words}")
            }
            None => String::new(),
        };
        reply.add(&format!("{mark} {id} {name} · {state}{place}"));
        data.push(as_data);
    }
    let lacks_place = |thread: &Value| thread["stopped"] == true && thread["at"].is_null();
    if data.iter().any(lacks_place) {
        reply.add("(where the others stand: what=stack with thread_id)");
    }
    reply.put("threads", data);
    Ok(reply)
}

async fn source(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let line = arguments.line("line")?;
    let (path, text, current) = match arguments.text("file")? {
        Some(file) => {
            let path = session.path(&file);
            (path.clone(), read(&path)?, None)
        }
        None if line.is_some() && session.standing(None).is_err() => {
            let path = session.own_file().await?;
            (path.clone(), read(&path)?, None)
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
    let (shown, _) = fit(shown, room.0.saturating_sub(AROUND), |line| line.len() + 1);
    let mut reply = Reply::new(
        format!("{} ({} lines):", display(&path), lines.len()),
        json!({"file": path.to_string_lossy(), "lines": lines.len(), "text": shown.join("\n")}),
    );
    shown.iter().for_each(|line| reply.add(line));
    Ok(reply)
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

/// From a cursor on, or the latest without one.
fn output(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let most = room.0.saturating_sub(AROUND);
    let cursor = arguments.integer("cursor")?.or(arguments.integer("start")?);
    let mut seen = session.seen();
    let part = fitting(most, |most| match cursor {
        Some(cursor) => seen.output.from(u64::try_from(cursor).unwrap_or_default(), most),
        None => seen.output.latest(0, most),
    });
    seen.output_shown = seen.output_shown.max(part.next);
    let lost = match (part.lost, cursor) {
        (0, _) => String::new(),
        (lost, Some(_)) => format!(" · {lost} bytes before are not kept"),
        (lost, None) => format!(" · {lost} bytes before: cursor=0"),
    };
    let left = if part.left > 0 { format!(" · {} bytes more", part.left) } else { String::new() };
    let mut reply = Reply::new(
        format!("output up to cursor {}{lost}{left}:", part.next),
        json!({"output": part.text, "cursor": part.next, "left": part.left}),
    );
    reply.add(&part.text);
    Ok(reply)
}

fn rest(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let cursor = arguments.needed("cursor")?;
    let rest = session.rests.lock().unwrap_or_else(PoisonError::into_inner).take(&cursor);
    let gone = || {
        Failure::new(format!("nothing is kept under the cursor {cursor}")).next("Ask for the value again.")
    };
    let (kept, rest) = cut_as_data(rest.ok_or_else(gone)?, room.0.saturating_sub(AROUND));
    let mut reply = Reply::new(kept.clone(), json!({"text": kept}));
    add_rest(session, &mut reply, rest);
    Ok(reply)
}

pub async fn evaluate(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let room = Room::of(&arguments)?;
    let mut expressions = arguments.texts("expressions")?;
    match arguments.get("expression") {
        Some(Value::Array(_)) => expressions.extend(arguments.texts("expression")?),
        _ => expressions.extend(arguments.text("expression")?),
    }
    let context = arguments.text("context")?.unwrap_or_else(|| "watch".to_owned());
    let frame = frame(&session, &arguments).await?;
    let was_told = {
        let seen = session.seen();
        seen.output_shown == seen.output.end()
    };
    let mut reply = match expressions.as_slice() {
        [] => return Err(Failure::new("`expression` is missing")),
        [one] => value(&session, &frame, one, &context, room).await?,
        several => table(&session, &frame, several, &context, room).await,
    };
    reply.put("session_id", session.id.clone());
    // What the expressions printed is part of what they did. What the program printed before is the next stop's to tell.
    if was_told {
        add_output(&mut reply, &session.new_output(room.percent(20)));
    }
    Ok(reply)
}

/// Whether it assigns, which no expression does.
fn assigns(expression: &str) -> bool {
    let around: Vec<char> = expression.chars().collect();
    let is_sign = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| around.get(before));
        around[at] == '='
            && !before.is_some_and(|sign| "=!<>".contains(*sign))
            && !around.get(at + 1).is_some_and(|sign| "=>~".contains(*sign))
    };
    (0..around.len()).any(is_sign)
}

/// The value itself, and what is inside it as far as there is room.
async fn value(
    session: &Session,
    frame: &Frame,
    expression: &str,
    context: &str,
    room: Room,
) -> Result<Reply, Failure> {
    let body = session.evaluate(frame, expression, context).await;
    let body = body.map_err(|failure| {
        failure.or_next(|| {
            let next = match context != "repl" && assigns(expression) {
                true => "debugger_set_variable assigns; context=\"repl\" runs statements.",
                false => "debugger_inspect with what=variables shows what is in this frame.",
            };
            next.to_owned()
        })
    })?;
    let kind = model::text(&body["type"]);
    let result = model::text(&body["result"]);
    let mut reply = whole(session, expression, &kind, result.clone(), room);
    let used = reply.text.len().max(Value::Object(reply.data.clone()).to_string().len());
    let left = room.0.saturating_sub(used + AROUND);
    if let Some(reference) = model::children(&body).filter(|_| left > 0) {
        // It has its value; that nothing more can be read of it is no failure.
        let fields = json!({
            "value": body["result"], "type": body["type"], "indexedVariables": body["indexedVariables"],
        });
        let count = Member::read(&fields).map_or(0, |member| elements_of(&member));
        let of = Of { frame, path: expression, reference, count };
        let inside = session.contents(of, 0, None).await.unwrap_or_default();
        if says_all(&result, &inside) {
            return Ok(reply);
        }
        let title = reply.text.strip_suffix(result.as_str()).filter(|_| !inside.members.is_empty());
        if let Some(title) = title {
            reply.text = format!("{title}{}", line(&result, LONGEST_TITLE));
        }
        let longest = LONGEST_VALUE.min(room.percent(20));
        let shown = inside
            .members
            .iter()
            .map(|member| (format!("  {}", typed(member, longest)), member_data(member, longest)));
        let (lines, members) = fit_both(shown, left, left);
        lines.iter().for_each(|line| reply.add(line));
        let total = inside.part.map_or(inside.members.len(), |(total, _)| total);
        if lines.len() < total {
            let (more, start) = (total - lines.len(), lines.len());
            reply.add(&format!(
                "  ... {more} more: debugger_inspect with variable=\"{}\", start={start}",
                line(expression, room.percent(20))
            ));
        }
        reply.put("members", members);
    }
    Ok(reply)
}

/// Whether a value has all its elements in it, so that a list of them would say it again.
fn says_all(value: &str, inside: &Inside) -> bool {
    let is_list = value.starts_with(['[', '(', '{']) && value.ends_with([']', ')', '}']);
    let has = |member: &Member| value.contains(&member.variable.value);
    is_list && inside.part.is_none() && inside.members.iter().all(has)
}

/// Each on its line; one that fails says so on its own.
async fn table(session: &Session, frame: &Frame, expressions: &[String], context: &str, room: Room) -> Reply {
    let mut reply = Reply::new("", json!({}));
    let mut results = Vec::new();
    for expression in expressions {
        let (shown, data) = match session.evaluate(frame, expression, context).await {
            Ok(body) => {
                let result = line(&session.brief_result(&body).await, LONGEST_VALUE);
                let data =
                    json!({"expression": expression, "result": result, "type": model::text(&body["type"])});
                (result, data)
            }
            Err(failure) => {
                let what = line(&failure.what, LONGEST_VALUE);
                (format!("<{what}>"), json!({"expression": expression, "error": what}))
            }
        };
        reply.add(&format!("{expression} = {shown}"));
        results.push(data);
    }
    reply.is_error = results.iter().all(|result| result.get("error").is_some());
    let (results, _) = fit(results, room.0.saturating_sub(AROUND), |value| value.to_string().len() + 1);
    reply.put("results", results);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_told_from_a_comparison() {
        for assignment in ["x = 5", "x=5", "a.b += 1", "x = y == z"] {
            assert!(assigns(assignment), "{assignment}");
        }
        for expression in ["x == 5", "a <= b", "a != b", "a >= b", "a === b", "x => x", "f(1)", ""] {
            assert!(!assigns(expression), "{expression}");
        }
    }

    #[test]
    fn a_value_with_all_its_elements_needs_no_list_of_them() {
        let member = |value: &str| Member::read(&json!({"name": "0", "value": value})).unwrap();
        let inside =
            |values: &[&str]| Inside { members: values.iter().map(|it| member(it)).collect(), part: None };
        assert!(says_all("[1, [2]]", &inside(&["1", "[2]"])));
        assert!(!says_all("[1, 2, ...]", &inside(&["1", "2", "3"])));
        assert!(!says_all("{a: Array(1)}", &inside(&["[1]"])));
        assert!(!says_all("size=1", &inside(&["1"])));
        let part = Inside { part: Some((9, 0)), ..inside(&["1"]) };
        assert!(!says_all("[1]", &part));
    }
}
