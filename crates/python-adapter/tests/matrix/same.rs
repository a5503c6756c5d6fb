//! Whether two adapters said the same: what differs from run to run is made equal first.
//!
//! Output may be cut anywhere and threads and modules are told of whenever they are seen, so these are compared by
//! themselves. Everything else is compared in its order.

use serde_json::{Value, json};

use crate::talk::output;

/// Told of at any time.
const WHENEVER: [&str; 2] = ["thread", "module"];
/// Ours has no launcher of its own, so it opens and closes fewer ports.
const OUR_OWN: &str = "debugpySockets";
/// Numbers of processes and ports.
const NUMBERS: [&str; 5] = ["systemProcessId", "subProcessId", "port", "pid", "ppid"];

/// What debugpy's launcher tells of SIGINT, SIGKILL and SIGTERM, and ours tells as a shell does.
const SIGNALS: [(i64, i64); 3] = [(256 - 2, 128 + 2), (256 - 9, 128 + 9), (256 - 15, 128 + 15)];

pub struct Said {
    pub in_order: Vec<Value>,
    pub whenever: Vec<String>,
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
}

impl Said {
    pub fn of(heard: &[Value]) -> Said {
        let is = |message: &Value, names: &[&str]| names.iter().any(|name| message["event"] == **name);
        // What it says of itself, it says while it reads the first request.
        let by_itself = |message: &&Value| {
            is(message, &WHENEVER) || is(message, &["output"]) && message["body"]["category"] == "telemetry"
        };
        let in_order = heard
            .iter()
            .filter(|message| !by_itself(message) && !is(message, &["output"]) && !is(message, &[OUR_OWN]));
        let mut whenever: Vec<String> =
            heard.iter().filter(by_itself).map(|message| plain(message).to_string()).collect();
        whenever.sort();
        Said {
            in_order: in_order.map(plain).collect(),
            whenever,
            stdout: lines(&output(heard, "stdout")),
            stderr: lines(&without_debugger(&output(heard, "stderr"))),
        }
    }
}

/// Ours leaves the debugger's own frames out of tracebacks, and debugpy's does not.
fn without_debugger(text: &str) -> String {
    let own = |line: &str| line.contains("/debugpy/") || line.contains("runpy");
    let mut dropped = false;
    let kept = text.lines().filter(|line| {
        dropped = match line.starts_with("  File ") {
            true => own(line),
            false => dropped && line.starts_with("    "),
        };
        !dropped
    });
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// What debugpy says in a child's output and ours keeps it from saying, which has a test of its own.
const FROZEN: [&str; 4] = [
    "Debugger warning: It seems that frozen modules are being used, which may",
    "make the debugger miss breakpoints. Please pass -Xfrozen_modules=off",
    "to python to disable frozen modules.",
    "Note: Debugging will proceed. Set PYDEVD_DISABLE_FILE_VALIDATION=1 to disable this validation.",
];

/// What a program prints and what a log point says come in any order. debugpy's own warnings begin with the time, and it
/// is found by a path that leads through its adapter.
fn lines(text: &str) -> Vec<String> {
    let plain = |line: &str| {
        let line = line.replace("/adapter/../../debugpy", "").replace("/launcher/../../debugpy", "");
        match line.split_once("s - ") {
            Some((time, warning)) if time.parse::<f64>().is_ok() => warning.to_owned(),
            _ => line,
        }
    };
    let mut lines: Vec<String> = text.lines().map(plain).collect();
    lines.retain(|line| !FROZEN.contains(&line.as_str()));
    lines.sort();
    lines
}

fn plain(message: &Value) -> Value {
    let mut message = message.clone();
    message.as_object_mut().unwrap().remove("seq");
    // Ours has its own words where the adapter itself refuses.
    if message["success"] == false
        && ["launch", "attach", "initialize", "configurationDone"]
            .map(|name| message["command"] == name)
            .contains(&true)
    {
        message["message"] = json!("WORDS");
    }
    if message["event"] == "exited"
        && let Some((_, ours)) = SIGNALS.iter().find(|(stock, _)| message["body"]["exitCode"] == *stock)
    {
        message["body"]["exitCode"] = json!(ours);
    }
    walk(&mut message);
    message
}

fn walk(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                match member {
                    _ if NUMBERS.contains(&key.as_str()) => *member = json!("NUMBER"),
                    // How Python was found.
                    Value::Array(words) if key == "python" => words[0] = json!("PYTHON"),
                    Value::String(text) if key == "name" && text.starts_with("Subprocess ") => {
                        *text = "Subprocess".into();
                    }
                    Value::String(text) => {
                        // Where an object is in memory, and our number of a request that makes no sense.
                        for mark in [" at 0x", "{'seq': "] {
                            text.truncate(text.find(mark).unwrap_or(text.len()));
                        }
                    }
                    _ => walk(member),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(walk),
        _ => {}
    }
}
