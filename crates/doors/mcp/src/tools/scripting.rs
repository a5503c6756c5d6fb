//! Several calls as one, some of them repeated: what would take ten turns is a table in one answer.

use breakroom_client::model;
use serde_json::{Value, json};

use super::{TOOLS, Tool};
use crate::arguments::Arguments;
use crate::budget::line;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::reply::Reply;

const MOST_STEPS: usize = 50;
const MOST_ROUNDS: u64 = 100;
const LONGEST_CELL: usize = 160;

/// What comes behind one of these means the stop that it waits for.
const WAITING: [&str; 7] = [
    "debugger_start",
    "debugger_attach",
    "debugger_continue",
    "debugger_step",
    "debugger_pause",
    "debugger_wait",
    "debugger_restart",
];

/// One line of the table.
struct Row {
    round: u64,
    tool: String,
    said: String,
}

pub async fn script(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let steps = arguments.list("steps")?;
    if steps.is_empty() || steps.len() > MOST_STEPS {
        return Err(Failure::new(format!("`steps` has {}; it can have 1 to {MOST_STEPS}", steps.len())));
    }
    let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    let rounds = arguments.count("repeat", 1, MOST_ROUNDS)?.max(1);
    let from = arguments.count("from", 1, MOST_STEPS as u64)?.max(1) as usize - 1;
    let deadline = super::wait(&arguments, &caller)?.deadline;
    let mut session_id = arguments.text("session_id")?;
    let mut rows: Vec<Row> = Vec::new();
    let mut last = Reply::default();
    let mut gathered = Gathered::default();
    let mut cut_short = None;
    'rounds: for round in 1..=rounds {
        for (tool, given) in steps.iter().skip(if round == 1 { 0 } else { from }) {
            let mut given = given.clone();
            if let Some(id) = session_id.as_ref().filter(|_| !given.has("session_id")) {
                given.put("session_id", id.as_str().into());
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() && !rows.is_empty() {
                cut_short = Some("the time was over (wait_ms)");
                break 'rounds;
            }
            let left = u64::try_from(left.as_millis()).unwrap_or(0);
            given.put("wait_ms", given.count("wait_ms", left, left)?.into());
            // It may be forgotten behind the step, and its secrets with it.
            let before = session_id.as_deref().and_then(|id| door.find(id));
            let env = given.get("env").cloned().unwrap_or_default();
            last = (tool.run)(door, given, caller.clone())
                .await
                .unwrap_or_else(|failure| Reply::failed(&super::advised(tool, failure)));
            let named = last.data.get("session_id").and_then(Value::as_str).and_then(|id| door.find(id));
            last = last.redacted(&door.secrets(named.or(before).as_deref()).and_those_in(&env));
            if let Some(id) = last.data.get("session_id").and_then(Value::as_str) {
                session_id = Some(id.to_owned());
            }
            gathered.add(&last);
            rows.push(Row {
                round,
                tool: tool.name.trim_start_matches("debugger_").to_owned(),
                said: in_brief(&last),
            });
            let state = last.data.get("state").and_then(Value::as_str).unwrap_or_default();
            // An expression that means nothing here may mean something at the next stop.
            let is_in_vain = last.is_error && !matches!(tool.name, "debugger_evaluate" | "debugger_inspect");
            if is_in_vain || matches!(state, "ended" | "failed") {
                cut_short = Some(if is_in_vain { "this step failed" } else { "the program is over" });
                break 'rounds;
            }
            if WAITING.contains(&tool.name) && matches!(state, "running" | "starting") {
                cut_short = Some("it has not stopped in time (wait_ms)");
                break 'rounds;
            }
        }
    }
    let planned = steps.len() + (rounds as usize - 1) * steps.len().saturating_sub(from);
    let left_out = planned.saturating_sub(rows.len());
    let mut reply = table(rows, &last, session_id, gathered);
    if let Some(why) = cut_short.filter(|_| left_out > 0) {
        reply.add(&format!("({left_out} steps were left out: {why})"));
    }
    Ok(reply)
}

/// What every step showed once, and no later answer would show again.
#[derive(Default)]
struct Gathered {
    output: String,
    captured: Vec<Value>,
}

impl Gathered {
    fn add(&mut self, reply: &Reply) {
        // A failure is shown as a whole, and what was inspected is no news.
        let is_of_a_stop = reply.data.contains_key("epoch") && !reply.is_error;
        let output = reply.data.get("output").and_then(Value::as_str).filter(|_| is_of_a_stop);
        self.output.push_str(output.unwrap_or_default());
        let captured = reply.data.get("captured").and_then(Value::as_array);
        self.captured.extend(captured.into_iter().flatten().cloned());
    }

    fn show(self, reply: &mut Reply) {
        if !self.captured.is_empty() {
            reply.add(&format!("captured {} hits:", self.captured.len()));
            self.captured.iter().for_each(|row| reply.add(&in_table(row)));
            reply.put("captured", self.captured);
        }
        if !self.output.is_empty() {
            reply.add("output:");
            reply.add(self.output.trim_end_matches('\n'));
            reply.put("output", self.output);
        }
    }
}

/// A captured hit, on one line.
fn in_table(row: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values = row["values"].as_object().into_iter().flatten();
    let values: Vec<_> = values.map(|(name, value)| format!("{name} = {}", text(value))).collect();
    format!("  {} {} | hit {} | {}", row["breakpoint"], text(&row["place"]), row["hit"], values.join(" | "))
}

/// How a step names its tool.
const NAMED: [&str; 4] = ["tool", "do", "action", "name"];

/// The tool and the arguments of one step. The tool's name may be without its beginning.
fn step(given: &Value) -> Result<(&'static Tool, Arguments), Failure> {
    let members =
        given.as_object().ok_or_else(|| Failure::new(format!("a step is {given}, which is no object")))?;
    let named = NAMED.iter().find_map(|key| Some((*key, members.get(*key)?.as_str()?)));
    let (key, named) = named.ok_or_else(|| {
        Failure::new(format!("the step {given} names no `tool`")).next("Such as {\"tool\": \"continue\"}.")
    })?;
    let short = named.trim_start_matches("debugger_");
    let name = |tool: &Tool| tool.name.trim_start_matches("debugger_");
    let can_be_a_step = |tool: &&Tool| name(tool) != "script";
    let tool = TOOLS.iter().filter(can_be_a_step).find(|tool| name(tool) == short).ok_or_else(|| {
        let names: Vec<&str> = TOOLS.iter().filter(can_be_a_step).map(name).collect();
        Failure::new(format!("there is no tool `{named}` for a step"))
            .next(format!("There are {}.", names.join(", ")))
    })?;
    let mut members = members.clone();
    members.remove(key);
    Ok((tool, super::read(tool, members)?))
}

/// What a call said, on one line.
fn in_brief(reply: &Reply) -> String {
    let data = &reply.data;
    let word = |key: &str| {
        data.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    if reply.is_error {
        return format!("failed: {}", line(reply.text.lines().next().unwrap_or_default(), LONGEST_CELL));
    }
    if let Some(results) = data.get("results").and_then(Value::as_array) {
        let one = |result: &Value| {
            let value = result["result"].as_str().or(result["error"].as_str()).unwrap_or_default();
            format!("{} = {}", model::text(&result["expression"]), line(value, LONGEST_CELL))
        };
        return results.iter().map(one).collect::<Vec<_>>().join(" | ");
    }
    match (word("function"), word("line"), word("state").as_deref()) {
        (Some(function), Some(at), Some("paused")) => {
            let file = word("file").unwrap_or_default();
            let reason = word("reason").unwrap_or_default();
            format!("{reason}: {function} at {}:{at}", model::file_name(&file))
        }
        _ => line(reply.text.lines().next().unwrap_or_default(), LONGEST_CELL),
    }
}

fn table(rows: Vec<Row>, last: &Reply, session_id: Option<String>, gathered: Gathered) -> Reply {
    let mut reply = Reply::new("round | step | result", json!({}));
    rows.iter().for_each(|row| reply.add(&format!("{} | {} | {}", row.round, row.tool, row.said)));
    let data = rows.iter().map(|row| json!({"round": row.round, "step": row.tool, "result": row.said}));
    reply.put("rows", data.collect::<Vec<Value>>());
    for key in ["state", "epoch", "exit_code"] {
        if let Some(value) = last.data.get(key) {
            reply.put(key, value.clone());
        }
    }
    if let Some(id) = session_id {
        reply.put("session_id", id);
    }
    if last.is_error {
        reply.add(&last.text);
    }
    gathered.show(&mut reply);
    reply.is_error = last.is_error;
    if let Some(next) = last.data.get("next").and_then(Value::as_str).filter(|_| last.is_error) {
        reply.add(&format!("Next: {next}"));
        reply.put("next", next);
    }
    reply
}
