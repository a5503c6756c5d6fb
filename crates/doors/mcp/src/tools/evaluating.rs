//! Expressions in a frame of the stopped program.

use breakroom_client::model::{self, Frame};
use breakroom_client::scopes::Member;
use serde_json::{Value, json};

use super::looking::{self, AROUND};
use super::variables::{LONGEST_TITLE, LONGEST_TYPE, LONGEST_VALUE, whole};
use crate::arguments::Arguments;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::Session;
use crate::telling::briefs::is_text;
use crate::telling::budget::{Room, fit, fit_both, line};
use crate::telling::reply::{Evaluated, Reply};
use crate::telling::snapshot::{add_output, member_data, typed};
use crate::telling::values::{Inside, Of, elements_of};

pub async fn evaluate(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let room = caller.room(&arguments)?;
    let mut expressions = arguments.texts("expressions")?;
    match arguments.get("expression") {
        Some(Value::Array(_)) => expressions.extend(arguments.texts("expression")?),
        _ => expressions.extend(arguments.text("expression")?),
    }
    let context = arguments.text("context")?.unwrap_or_else(|| "watch".to_owned());
    let frame = looking::frame(&session, &arguments).await?;
    let was_told = {
        let seen = session.seen();
        seen.journal.shown() == seen.journal.output.end()
    };
    let mut reply = match expressions.as_slice() {
        [] => return Err(Failure::new("`expression` is missing")),
        [one] => value(&session, &frame, one, &context, room).await?,
        several => table(&session, &frame, several, &context, room).await,
    };
    reply.session = Some(session.id.clone());
    // What the expressions printed is part of what they did. What the program printed before is the next stop's to tell.
    if was_told {
        add_output(&mut reply, &session.new_output(room.share(20)));
        if !reply.printed.is_empty() {
            reply.put("output", reply.printed.clone());
        }
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

/// What to do about an expression that cannot be evaluated.
fn instead(expression: &str, context: &str) -> &'static str {
    match context != "repl" && assigns(expression) {
        true => "debugger_set_variable assigns; context=\"repl\" runs statements.",
        false => "debugger_inspect with what=variables shows what is in this frame.",
    }
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
    let body = body.map_err(|failure| failure.or_next(|| instead(expression, context).to_owned()))?;
    let kind = model::text(&body["type"]);
    let result = model::text(&body["result"]);
    let (mut reply, kept) = whole(session, expression, &kind, result.clone(), room);
    reply.put("result", kept);
    reply.put("type", line(&kind, LONGEST_TYPE));
    let left = |reply: &Reply| Room {
        text: room.text.saturating_sub(reply.text.len() + AROUND),
        data: room.data.saturating_sub(reply.size_as_data() + AROUND),
    };
    let has_room = left(&reply).text > 0 && left(&reply).data > 0;
    if let Some(reference) = model::children(&body).filter(|_| has_room && !is_text(&result)) {
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
        let (lines, members) = fit_both(shown, left(&reply));
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
    let mut reply = Reply::default();
    let mut results = Vec::new();
    for expression in expressions {
        let result = match session.evaluate(frame, expression, context).await {
            Ok(body) => {
                let value = line(&session.brief_result(&body).await, LONGEST_VALUE);
                Ok((value, model::text(&body["type"])))
            }
            Err(failure) => Err(line(&failure.what, LONGEST_VALUE)),
        };
        reply.add(&match &result {
            Ok((value, _)) => format!("{expression} = {value}"),
            Err(why) => format!("{expression} = <{why}>"),
        });
        results.push(Evaluated { expression: expression.clone(), result });
    }
    if results.iter().all(|one| one.result.is_err()) {
        let worst = expressions.iter().find(|expression| assigns(expression)).or(expressions.first());
        let next = instead(worst.map_or("", String::as_str), context);
        reply.fail(
            Failure::new(format!("none of {} expressions could be evaluated", results.len())).next(next),
        );
    }
    (reply.results, _) = fit(results, room.beside(AROUND).data, |one| one.data().to_string().len() + 1);
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
