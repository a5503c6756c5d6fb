//! Changing a variable, and writing to the program's stdin.

use std::time::Duration;

use breakroom_client::model::{self, Frame};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::answering::answer;
use super::variables::LONGEST_VALUE;
use crate::arguments::Arguments;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::seen::{Awaited, Epoch, Seen};
use crate::session::{Came, Session, Wait};
use crate::telling::budget::line;
use crate::telling::output::Cursor;
use crate::telling::reply::Reply;

/// How assignments begin: as the language has them, and for a console that takes LLDB's commands.
const ASSIGNMENTS: [&str; 2] = ["", "expression -- "];
/// Who has said nothing for so long has said it.
const PAUSE_IN_SPEECH: Duration = Duration::from_millis(60);

pub async fn set_variable(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let name = arguments.needed("name")?;
    let value = arguments.raw_text("value")?.ok_or_else(|| Failure::new("`value` is missing"))?;
    let frame = session.frame_meant(arguments.thread()?, arguments.integer("frame_id")?).await?;
    let (can_set, can_set_expression) = {
        let seen = session.seen();
        (seen.can("supportsSetVariable"), seen.can("supportsSetExpression"))
    };
    // debugpy takes a value that is none for a success of setVariable, and leaves the variable as it was.
    let holder = match can_set && !can_set_expression {
        true => session.holder(&frame, &name).await?,
        false => None,
    };
    // A name that is none, or no more than a new one to the language, is nothing that could be changed.
    let before = match session.evaluate(&frame, &name, "watch").await {
        Ok(body) => Some(model::text(&body["result"])),
        Err(_) if holder.is_some() => None,
        Err(failure) => {
            return Err(Failure::new(format!("{name} was not found: {}", failure.what))
                .next("debugger_inspect with what=variables lists them; debugger_evaluate with context=repl can make new ones."));
        }
    };
    let new: Value = match holder {
        Some((holder, own_name)) => {
            let arguments = json!({"variablesReference": holder.0, "name": own_name, "value": value});
            match session.link.request("setVariable", arguments).await {
                Ok(mut body) => body["value"].take(),
                // codelldb lists elements and sets fields only.
                Err(refused) if own_name != name => {
                    assign(&session, &frame, &name, &value).await.map_err(|_| refused)?
                }
                Err(refused) => {
                    return Err(refused.or_next(|| {
                        "debugger_evaluate with context=repl, if the language can change it in other words.".to_owned()
                    }));
                }
            }
        }
        None if can_set_expression => {
            let arguments = json!({"expression": name, "value": value, "frameId": frame.id.0});
            session.link.request("setExpression", arguments).await?["value"].take()
        }
        None => {
            let assigned = assign(&session, &frame, &name, &value).await;
            assigned.map_err(|failure| {
                let why = match can_set {
                    true => format!("{name} was not found"),
                    false => "this debugger sets no variables".to_owned(),
                };
                let what = format!("{why}, and it did not take `{name} = {value}` either");
                Failure::new(format!("{what}: {}", failure.what))
                    .next("debugger_evaluate, if the language has another way to change it.")
            })?
        }
    };
    let after = session.evaluate(&frame, &name, "watch").await.ok();
    let after = after.map(|body| model::text(&body["result"])).filter(|text| !text.is_empty());
    let said = Some(model::text(&new)).filter(|text| !text.is_empty());
    // Some debuggers call a change done that they have not made; Delve makes it and shows the old value until it goes on.
    let still = match (&before, &after) {
        (Some(before), Some(after)) if before == after => {
            let is_new = |other: &String| !is_same(other, after);
            [Some(&value), said.as_ref()].into_iter().flatten().all(is_new).then(|| after.clone())
        }
        _ => None,
    };
    let shown = line(&said.or(after).unwrap_or(value), LONGEST_VALUE);
    let mut reply = Reply::about(&session.id, format!("{name} = {shown}"));
    if let Some(still) = still {
        let still = line(&still, LONGEST_VALUE);
        reply.add(&format!(
            "(the debugger says so, and evaluates it to {still} as before: it may not have changed)"
        ));
    }
    Ok(reply.with(json!({"name": name, "value": shown})))
}

/// Whether two texts mean one value: with its quotes or without.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    bare(one) == bare(other)
}

/// Has the debugger's console assign, by the first form that it understands. What is there then is not told.
async fn assign(session: &Session, frame: &Frame, name: &str, value: &str) -> Result<Value, Failure> {
    let mut refused = None;
    for beginning in ASSIGNMENTS {
        match session.evaluate(frame, &format!("{beginning}{name} = {value}"), "repl").await {
            Ok(_) => return Ok(Value::Null),
            Err(failure) => refused = refused.or(Some(failure)),
        }
    }
    refused.map_or(Ok(Value::Null), Err)
}

pub async fn input(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (super::wait(&arguments, &caller)?, caller.room(&arguments)?);
    let text = arguments.raw_text("text")?.unwrap_or_default();
    let end = arguments.flag("end")?;
    if text.is_empty() && !end {
        return Err(Failure::new("`text` is missing")
            .next("Give `text` with its newline, or `end` for the end of input."));
    }
    let mut request = json!({"text": text});
    if end {
        request["end"] = true.into();
    }
    let (epoch, printed) = {
        let seen = session.seen();
        (seen.threads.epoch(), seen.journal.output.end())
    };
    session.link.request("breakroom/input", request).await?;
    let is_whole = end || text.ends_with('\n');
    // Whoever stands reads nothing, and half a line is not read either.
    let came = match is_whole && session.seen().threads.stops().is_empty() {
        true => heard(&session, epoch, printed, &wait).await,
        false => Came::Nothing,
    };
    let mut reply = answer(&session, came, room, &wait).await?;
    let ended = if end { ", and its input ends" } else { "" };
    reply.text = format!("{} bytes were written{ended}\n{}", text.len(), reply.text);
    if !is_whole {
        reply.add("(there was no newline at the end: a program that reads lines waits for it)");
    }
    Ok(reply)
}

/// What becomes of a program that was given something to read: a stop, the end, or something that it prints.
async fn heard(session: &Session, epoch: Epoch, printed: Cursor, wait: &Wait) -> Came {
    let begins = |seen: &mut Seen| {
        (seen.threads.epoch() > epoch || seen.is_over() || seen.journal.output.end() > printed)
            .then(|| seen.journal.output.end())
    };
    let mut printed = match session.until(wait, begins).await {
        Ok(Some(printed)) => printed,
        Ok(None) => return Came::Nothing,
        Err(_) => return Came::GivenUp,
    };
    // What it says next is mostly more of the same.
    loop {
        let soon = (Instant::now() + PAUSE_IN_SPEECH).min(wait.deadline);
        let more = |seen: &mut Seen| {
            let is_more =
                seen.threads.epoch() > epoch || seen.is_over() || seen.journal.output.end() > printed;
            is_more.then(|| (seen.threads.epoch() > epoch || seen.is_over(), seen.journal.output.end()))
        };
        match session.watched.wait_for(soon, more).await {
            Some((true, _)) => return session.next_stop(Awaited::Behind(epoch), wait).await,
            Some((false, now)) => printed = now,
            None => return Came::Nothing,
        }
    }
}
