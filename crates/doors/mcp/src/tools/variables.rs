//! Looking at variables: those of a frame, and what is inside of one.

use serde_json::json;

use super::looking::{self, AROUND};
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::session::Session;
use crate::telling::briefs::{PATIENCE, length_of, may_be_cut};
use crate::telling::budget::{Room, cut_as_data, fit_both, line};
use crate::telling::reply::Reply;
use crate::telling::snapshot::{member_data, typed};
use crate::telling::values::{Inside, Window, is_named_like};

/// Of a value among others.
pub const LONGEST_VALUE: usize = 400;
pub const LONGEST_TYPE: usize = 80;
/// What is inside a value is told below it.
pub const LONGEST_TITLE: usize = 80;

pub async fn variables(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let frame = looking::frame(session, arguments).await?;
    match arguments.text("variable")? {
        None => {
            let mut members = session.locals(&frame).await?;
            let start = arguments.count("start", 0, u32::MAX.into())? as usize;
            // What is not shown is not looked into either: only of a few objects are the fields asked for.
            if let Some(filter) = arguments.text("filter")? {
                members.retain(|member| is_named_like(member, &filter));
            }
            if let Some(shown) = members.get_mut(start..) {
                session.brief(shown, PATIENCE).await;
            }
            list(
                arguments,
                room,
                &format!("locals of {}", line(&frame.name, LONGEST_TITLE)),
                Inside { members, part: None },
            )
        }
        Some(path) => {
            let start = arguments.count("start", 0, u32::MAX.into())? as usize;
            let (member, inside) =
                session.inside(&frame, &path, start, arguments.text("filter")?.as_deref()).await?;
            match inside.members.is_empty() && inside.part.is_none() {
                true => {
                    let variable = member.variable;
                    let (mut reply, kept) = whole(session, &path, &variable.kind, variable.value, room);
                    let kind = line(&variable.kind, LONGEST_TYPE);
                    reply.put("variable", json!({"name": variable.name, "value": kept, "type": kind}));
                    Ok(reply)
                }
                false => list(arguments, room, &typed(&member, LONGEST_TITLE.min(room.percent(20))), inside),
            }
        }
    }
}

/// A value in full, and as much of it as there is room for: the rest can be had by the cursor.
pub fn whole(session: &Session, name: &str, kind: &str, value: String, room: Room) -> (Reply, String) {
    let cut = may_be_cut(kind, &value).then(|| cut_in_its_middle(name, room));
    let name = line(name, room.percent(20));
    let typed_as = if kind.is_empty() { String::new() } else { format!(": {}", line(kind, LONGEST_TYPE)) };
    let told = cut.as_ref().map_or(0, String::len);
    let around = (name.len() + typed_as.len() + told + AROUND).min(room.percent(80));
    let length = length_of(&value).filter(|_| cut.is_none());
    let (kept, rest) = cut_as_data(value, room.beside(around));
    let mut reply = Reply::new(format!("{name}{typed_as} = {kept}"));
    if let Some(length) = length.filter(|_| rest.is_some()) {
        reply.add(&format!("({length} in all)"));
    }
    if let Some(cut) = cut {
        reply.add(&cut);
    }
    looking::add_rest(session, &mut reply, rest);
    (reply, kept)
}

/// What is missing of a text is read part by part.
fn cut_in_its_middle(expression: &str, room: Room) -> String {
    let is_path = expression.chars().all(|letter| letter.is_alphanumeric() || "._[]'\"".contains(letter));
    let text = if is_path { expression.to_owned() } else { format!("({expression})") };
    let text = line(&text, room.percent(10));
    format!(
        "(the debugger may have left out its middle, at a \"...\": evaluate len({text}), and parts as {text}[60000:64000])"
    )
}

pub fn list(arguments: &Arguments, room: Room, title: &str, inside: Inside) -> Result<Reply, Failure> {
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
    let longest = LONGEST_VALUE.min(room.percent(20));
    let shown =
        part.iter().map(|member| (format!("  {}", typed(member, longest)), member_data(member, longest)));
    let (lines, data) = fit_both(shown, room.beside(title.len() + AROUND));
    let next = start + lines.len();
    let mut reply = Reply::new(format!("{title} ({total}):"));
    reply.put("variables", data);
    reply.put("total", total);
    lines.iter().for_each(|line| reply.add(line));
    if lines.is_empty() && start > 0 && total > 0 {
        reply.add(&format!("  it has {total}, and none from start={start} on"));
    }
    if next < total {
        reply.add(&format!("  ... {} more, go on with start={next}, or filter by name", total - next));
        reply.put("next", next);
    }
    Ok(reply)
}
