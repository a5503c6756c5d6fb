//! Several calls as one, some of them repeated: what would take ten turns is a table in one answer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Effect, TOOLS, Tool, Waits};
use crate::arguments::Arguments;
use crate::door::{Caller, Door, show_captured};
use crate::failure::Failure;
use crate::session::Session;
use crate::telling::budget::line;
use crate::telling::output::Cursor;
use crate::telling::reply::{Evaluated, Reply, State, StopTold};

const MOST_STEPS: usize = 50;
const MOST_ROUNDS: u64 = 100;
const LONGEST_CELL: usize = 160;

/// What does not wait has so long beyond the script's time. The table is to be told before the call as a whole is given up.
const LAST_STEP: Duration = Duration::from_secs(5);

/// One line of the table.
struct Row {
    round: u64,
    tool: String,
    said: String,
    /// What was asked to be seen: the lines behind the first.
    details: String,
}

pub async fn script(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let steps = arguments.list("steps")?;
    if steps.is_empty() || steps.len() > MOST_STEPS {
        return Err(Failure::new(format!("`steps` has {}; it can have 1 to {MOST_STEPS}", steps.len())));
    }
    let read = |(at, given): (usize, &Value)| {
        step(given)
            .map_err(|failure| Failure { what: format!("step {}: {}", at + 1, failure.what), ..failure })
    };
    let steps = steps.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    let rounds = arguments.count("repeat", 1, u64::MAX)?.max(1);
    if rounds > MOST_ROUNDS {
        return Err(Failure::new(format!(
            "`repeat` is {rounds}; {MOST_ROUNDS} rounds are the most in one call"
        ))
        .next("Call it again for the rest, or use a breakpoint with `capture`."));
    }
    let from = first_repeated(&arguments, &steps)?;
    let (deadline, room) = (super::wait(&arguments, &caller)?.deadline, caller.room(&arguments)?);
    let caller = Caller { until: Some(deadline), ..caller };
    let shown = Shown::before(door);
    let mut session_id = arguments.text("session_id")?;
    let mut rows: Vec<Row> = Vec::new();
    let mut last = Reply::default();
    let mut output = String::new();
    let mut captured = Reply::default();
    let mut cut_short = None;
    'rounds: for round in 1..=rounds {
        for (at, (tool, given)) in steps.iter().enumerate().skip(if round == 1 { 0 } else { from }) {
            let mut given = given.clone();
            let is_meant = tool.effect != Effect::Begins && !given.has("session_id");
            if let Some(id) = session_id.as_ref().filter(|_| is_meant) {
                given.put("session_id", id.as_str().into());
            }
            if Instant::now() >= deadline && !rows.is_empty() {
                cut_short = Some("the time was over (wait_ms)");
                break 'rounds;
            }
            // It may be forgotten behind the step, and its secrets with it.
            let before = session_id.as_deref().and_then(|id| door.find(id));
            if let Some(session) = before.as_ref().filter(|_| tool.effect.forgets()) {
                show_captured(session, &mut captured, room);
            }
            let env = given.get("env").cloned().unwrap_or_default();
            let done = tokio::time::timeout_at(deadline + LAST_STEP, (tool.run)(door, given, caller.clone()));
            let done = done.await.unwrap_or_else(|_| Err(too_long(tool)));
            if caller.given_up.is_cancelled() {
                shown.restore(door);
                return Err(Failure::cancelled());
            }
            last = done.unwrap_or_else(|failure| Reply::failed(super::advised(tool, failure)));
            let named = last.session.as_deref().and_then(|id| door.find(id));
            let secrets = door.secrets(named.or(before).as_deref()).apart();
            secrets.learn_from(&env);
            last = last.redacted(&secrets);
            session_id = last.session.clone().or(session_id);
            // A failure is shown as a whole.
            if !last.is_error {
                output.push_str(&last.printed);
            }
            rows.push(Row {
                round,
                tool: tool.name.trim_start_matches("debugger_").to_owned(),
                said: in_brief(&last),
                details: details(tool, &last),
            });
            // An expression that means nothing here may mean something at the next stop.
            let is_in_vain = last.is_error && !matches!(tool.name, "debugger_evaluate" | "debugger_inspect");
            let next = steps.get(at + 1).or_else(|| steps.get(from).filter(|_| round < rounds));
            let is_over = matches!(last.state, Some(State::Ended | State::Failed | State::Terminated))
                && !next.is_some_and(|(next, _)| next.effect.begins());
            if is_in_vain || is_over {
                cut_short = Some(if is_in_vain { "this step failed" } else { "the program is over" });
                break 'rounds;
            }
            let has_stopped = !matches!(last.state, Some(State::Running | State::Starting));
            if tool.waits == Waits::ForStop && !has_stopped {
                cut_short = Some("it has not stopped in time (wait_ms)");
                break 'rounds;
            }
        }
    }
    let planned = steps.len() + (rounds as usize - 1) * steps.len().saturating_sub(from);
    let left_out = planned.saturating_sub(rows.len());
    let mut reply = table(rows, &last, session_id, output);
    reply.add_captured(captured);
    if let Some(why) = cut_short.filter(|_| left_out > 0) {
        let steps = if left_out == 1 { "step was" } else { "steps were" };
        reply.add(&format!("({left_out} {steps} left out: {why})"));
    }
    Ok(reply)
}

/// How much the agent was shown of what programs print. A script that is given up has told nobody what its steps took.
struct Shown(Vec<(String, Cursor)>);

impl Shown {
    fn before(door: &Door) -> Shown {
        let shown = |session: &Arc<Session>| (session.id.clone(), session.seen().journal.shown());
        Shown(door.sessions().iter().map(shown).collect())
    }

    fn restore(&self, door: &Door) {
        for session in door.sessions() {
            let before = self.0.iter().find(|(id, _)| *id == session.id).map(|(_, cursor)| *cursor);
            session.seen().journal.show_again(before.unwrap_or_default());
        }
    }
}

fn too_long(tool: &Tool) -> Failure {
    Failure::new(format!("{} took longer than the script may", tool.name))
        .next("Call it alone, or give the script more of wait_ms.")
}

/// Which step each round but the first begins with: the one that was named, or the first behind those that begin a session.
fn first_repeated(arguments: &Arguments, steps: &[(&Tool, Arguments)]) -> Result<usize, Failure> {
    let begins = |(tool, _): &(&Tool, Arguments)| tool.effect == Effect::Begins;
    let behind = steps.iter().rposition(begins).map_or(0, |at| at + 1);
    let usual = if behind < steps.len() { behind } else { 0 };
    match arguments.count("from", usual as u64 + 1, u64::MAX)? {
        0 => Ok(0),
        from if from > steps.len() as u64 => {
            let text = format!("`from` is {from}, and the last step is {}", steps.len());
            Err(Failure::new(text).next("The first step is 1."))
        }
        from => Ok(from as usize - 1),
    }
}

/// How a step names its tool.
const NAMED: [&str; 4] = ["tool", "do", "action", "name"];
/// Where models put the arguments of a step, if not beside its tool.
const INSIDE: [&str; 4] = ["arguments", "args", "params", "input"];

/// The tool and the arguments of one step. The tool's name may be without its beginning, stand alone, or be the only key.
fn step(given: &Value) -> Result<(&'static Tool, Arguments), Failure> {
    if let Some(name) = given.as_str() {
        return Ok((tool(name)?, Arguments::default()));
    }
    let members =
        given.as_object().ok_or_else(|| Failure::new(format!("{given} is no object")).next(LIKE_THIS))?;
    let mut members = members.clone();
    let named = NAMED.iter().find_map(|key| Some((*key, members.get(*key)?.as_str()?.to_owned())));
    let tool = match (named, members.iter().next()) {
        (Some((key, name)), _) => {
            let tool = tool(&name)?;
            members.remove(key);
            tool
        }
        (None, Some((name, Value::Object(inside)))) if members.len() == 1 => {
            let tool = tool(name)?;
            members = inside.clone();
            tool
        }
        (None, _) => {
            return Err(Failure::new(format!("{given} names no `tool`")).next(LIKE_THIS));
        }
    };
    for key in INSIDE {
        if let Some(Value::Object(inside)) = members.get(key).cloned() {
            members.remove(key);
            members.extend(inside);
        }
    }
    Ok((tool, super::read(tool, members)?))
}

const LIKE_THIS: &str = "A step is like {\"tool\": \"continue\"}, with the arguments of that tool beside it.";

fn tool(named: &str) -> Result<&'static Tool, Failure> {
    let short = named.trim_start_matches("debugger_");
    let name = |tool: &Tool| tool.name.trim_start_matches("debugger_");
    let can_be_a_step = |tool: &&Tool| name(tool) != "script";
    TOOLS.iter().filter(can_be_a_step).find(|tool| name(tool) == short).ok_or_else(|| {
        let names: Vec<&str> = TOOLS.iter().filter(can_be_a_step).map(name).collect();
        Failure::new(format!("there is no tool `{named}` for a step"))
            .next(format!("There are {}.", names.join(", ")))
    })
}

/// What is looked at is the answer; what comes of a stop is looked at by the steps behind it.
fn details(tool: &Tool, reply: &Reply) -> String {
    const LOOKING: [&str; 3] = ["debugger_inspect", "debugger_breakpoints", "debugger_get_session"];
    let is_shown = LOOKING.contains(&tool.name) && !reply.is_error;
    let lines = reply.text.lines().skip(1).filter(|_| is_shown);
    lines.map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// What a call said, on one line.
fn in_brief(reply: &Reply) -> String {
    let first = || line(reply.text.lines().next().unwrap_or_default(), LONGEST_CELL);
    if reply.is_error {
        return format!("failed: {}", first());
    }
    if !reply.results.is_empty() {
        let one = |Evaluated { expression, result }: &Evaluated| match result {
            Ok((value, _)) => format!("{expression} = {}", line(value, LONGEST_CELL)),
            Err(why) => format!("{expression} failed: {}", line(why, LONGEST_CELL)),
        };
        return reply.results.iter().map(one).collect::<Vec<_>>().join(" | ");
    }
    let stop = reply.stop.as_ref().filter(|_| reply.state == Some(State::Paused));
    stop.and_then(StopTold::brief).unwrap_or_else(first)
}

/// Which session it is, and how the last step left it: the next call is about that.
fn now(id: &str, last: &Reply) -> String {
    let state = last.state.map(|state| format!(" · {state}"));
    let epoch = last.epoch.map(|epoch| format!(" · epoch {epoch}"));
    format!("session {id}{}{}", state.unwrap_or_default(), epoch.unwrap_or_default())
}

fn table(rows: Vec<Row>, last: &Reply, session_id: Option<String>, output: String) -> Reply {
    let mut reply = Reply::new("round | step | result");
    for row in &rows {
        reply.add(&format!("{} | {} | {}", row.round, row.tool, row.said));
        if !row.details.is_empty() {
            reply.add(&row.details);
        }
    }
    let data = rows.iter().map(|row| match row.details.is_empty() {
        true => json!({"round": row.round, "step": row.tool, "result": row.said}),
        false => json!({"round": row.round, "step": row.tool, "result": row.said, "details": row.details}),
    });
    reply.put("rows", data.collect::<Vec<Value>>());
    (reply.state, reply.epoch, reply.exit_code) = (last.state, last.epoch, last.exit_code);
    if last.is_error {
        reply.is_error = true;
        reply.failure = last.failure.clone();
        // Its row has the sentence, if that is short.
        let (sentence, rest) = last.text.split_once('\n').unwrap_or((&last.text, ""));
        reply.add(if sentence.chars().count() > LONGEST_CELL { &last.text } else { rest });
    }
    if !output.is_empty() {
        reply.add("output:");
        reply.add(output.trim_end_matches('\n'));
        reply.printed = output;
    }
    if let Some(id) = &session_id {
        reply.add(&now(id, last));
    }
    reply.session = session_id;
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: Value) -> Result<(&'static str, String), String> {
        let shown = |arguments: Arguments| arguments.text("kind").ok().flatten().unwrap_or_default();
        step(&given).map(|(tool, arguments)| (tool.name, shown(arguments))).map_err(|failure| failure.text())
    }

    #[test]
    fn a_step_is_understood_as_models_write_it() {
        let over = Ok(("debugger_step", "over".to_owned()));
        for given in [
            json!({"tool": "step", "kind": "over"}),
            json!({"tool": "debugger_step", "arguments": {"kind": "over"}}),
            json!({"name": "step", "args": {"kind": "over"}}),
            json!({"step": {"kind": "over"}}),
        ] {
            assert_eq!(read(given.clone()), over, "{given}");
        }
        assert_eq!(read(json!("continue")), Ok(("debugger_continue", String::new())));
        for (given, says) in [
            (json!({"kind": "over"}), "names no `tool`"),
            (json!(3), "3 is no object"),
            (json!({"tool": "script"}), "There are start, "),
            (json!({"run": {}}), "there is no tool `run`"),
            (json!({"tool": "step", "args": ["over"]}), "`args`"),
        ] {
            let failure = read(given).unwrap_err();
            assert!(failure.contains(says) && failure.contains("Next: "), "{failure}");
        }
        let args = step(&json!({"tool": "start", "args": ["-v"]})).map(|(_, given)| given.texts("args"));
        assert_eq!(args.ok(), Some(Ok(vec!["-v".to_owned()])), "a list is the program's");
    }

    #[test]
    fn rounds_go_on_behind_the_beginning_unless_they_are_told_where() {
        let first = |steps: &[&str], from: Value| {
            let steps: Vec<_> = steps.iter().map(|name| step(&json!(name)).unwrap()).collect();
            let mut arguments = Arguments::default();
            arguments.put("from", from);
            first_repeated(&arguments, &steps).map_err(|failure| failure.what)
        };
        assert_eq!(first(&["start", "evaluate", "continue"], json!("")), Ok(1));
        assert_eq!(first(&["evaluate", "continue"], json!("")), Ok(0));
        assert_eq!(first(&["stop", "start"], json!("")), Ok(0));
        assert_eq!(first(&["start", "evaluate"], json!(1)), Ok(0));
        assert_eq!(
            first(&["start", "evaluate"], json!("3")),
            Err("`from` is 3, and the last step is 2".to_owned())
        );
    }
}
