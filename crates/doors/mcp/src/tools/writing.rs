//! Changing a variable, and writing to the program's stdin.

use std::time::Duration;

use breakroom_client::model;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::launching::answer;
use crate::arguments::Arguments;
use crate::budget::{Room, line};
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::output::Cursor;
use crate::reply::Reply;
use crate::seen::{Awaited, Epoch, Seen};
use crate::session::{Came, Session, Wait};

const LONGEST_VALUE: usize = 400;
/// Who has said nothing for so long has said it.
const PAUSE_IN_SPEECH: Duration = Duration::from_millis(60);

pub async fn set_variable(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let name = arguments.needed("name")?;
    let value = arguments.raw_text("value")?.ok_or_else(|| Failure::new("`value` is missing"))?;
    let frame = session.frame_meant(arguments.integer("thread_id")?, arguments.integer("frame_id")?).await?;
    let (can_set, can_set_expression) = {
        let seen = session.seen();
        (seen.can("supportsSetVariable"), seen.can("supportsSetExpression"))
    };
    // debugpy takes a value that is none for a success of setVariable, and leaves the variable as it was.
    let holder = match can_set && !can_set_expression {
        true => session.holder(&frame, &name).await?,
        false => None,
    };
    let new: Value = match holder {
        Some(holder) => {
            let arguments = json!({"variablesReference": holder.0, "name": name, "value": value});
            session.link.request("setVariable", arguments).await?["value"].take()
        }
        None if can_set_expression => {
            let arguments = json!({"expression": name, "value": value, "frameId": frame.id.0});
            session.link.request("setExpression", arguments).await?["value"].take()
        }
        None => {
            let assigned = session.evaluate(&frame, &format!("{name} = {value}"), "repl").await;
            assigned.map_err(|failure| {
                let what =
                    format!("this debugger sets no variables, and did not take `{name} = {value}` either");
                Failure::new(format!("{what}: {}", failure.what))
                    .next("debugger_evaluate, if the language has another way to change it.")
            })?;
            Value::Null
        }
    };
    let shown = Some(model::text(&new)).filter(|text| !text.is_empty()).unwrap_or(value);
    let shown = line(&shown, LONGEST_VALUE);
    Ok(Reply::new(
        format!("{name} = {shown}"),
        json!({"session_id": session.id, "name": name, "value": shown}),
    ))
}

pub async fn input(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (super::wait(&arguments, &caller)?, Room::of(&arguments)?);
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
        (seen.epoch, seen.output.end())
    };
    session.link.request("breakroom/input", request).await?;
    let is_whole = end || text.ends_with('\n');
    // Whoever stands reads nothing, and half a line is not read either.
    let came = match is_whole && session.seen().stops.is_empty() {
        true => heard(&session, epoch, printed, &wait).await,
        false => Came::Nothing,
    };
    let mut reply = answer(&session, came, room).await?;
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
        (seen.epoch > epoch || seen.is_over() || seen.output.end() > printed).then(|| seen.output.end())
    };
    let mut printed = match session.watched.wait_for(wait.deadline, begins).await {
        Some(printed) => printed,
        None => return Came::Nothing,
    };
    // What it says next is mostly more of the same.
    loop {
        let soon = (Instant::now() + PAUSE_IN_SPEECH).min(wait.deadline);
        let more = |seen: &mut Seen| {
            let is_more = seen.epoch > epoch || seen.is_over() || seen.output.end() > printed;
            is_more.then(|| (seen.epoch > epoch || seen.is_over(), seen.output.end()))
        };
        match session.watched.wait_for(soon, more).await {
            Some((true, _)) => return session.next_stop(Awaited::Behind(epoch), wait).await,
            Some((false, now)) => printed = now,
            None => return Came::Nothing,
        }
    }
}
