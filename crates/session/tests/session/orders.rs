//! Whatever order a recorded adapter says things in, a client hears one order, and only what DAP has.
//!
//! The recorded requests are sent in their order, as far as they name nothing of a stop; `replay` compares every byte.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use breakroom_session::habits::ExitWord;
use serde_json::Value;

use crate::engines::facts_of;
use crate::rig::{Heard, Rig};

/// The adapters that tell no exit code in any way; every other program ends with 0.
const UNTOLD: [&str; 2] = ["js-debug-child", "js-debug-parent"];

/// Integers that must be written as such, and must not be null.
const INTEGERS: [&str; 8] =
    ["id", "line", "column", "threadId", "variablesReference", "sourceReference", "exitCode", "totalFrames"];

#[test]
fn every_recorded_adapter_is_heard_in_one_clean_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        println!("{name}");
        let heard = play(name, &fs::read_to_string(&file).unwrap());
        heard.iter().for_each(|heard| is_dap(&heard.json));
        let names: Vec<String> = heard.iter().map(Heard::name).collect();
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
        assert_eq!(at("+initialize"), Some(0), "{names:?}");
        assert_eq!((count("initialized"), count("terminated")), (1, 1), "{names:?}");
        assert_eq!(at("exited").is_none(), UNTOLD.contains(&name), "{names:?}");
        assert!(count("exited") <= 1 && at("exited") < at("terminated"), "{names:?}");
        if let Some(at) = at("exited") {
            assert_eq!(heard[at].json["body"]["exitCode"], 0);
        }
        let behind = &names[at("terminated").unwrap() + 1..];
        let lives = |name: &String| {
            ["stopped", "continued", "thread", "process", "breakpoint", "module"].contains(&name.as_str())
        };
        assert!(!behind.iter().any(lives), "behind the end: {behind:?}");
    }
}

/// No null and no fraction where DAP has neither.
fn is_dap(value: &Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let integer = INTEGERS.contains(&key.as_str());
                assert!(!integer || !member.is_f64(), "{key} in {value}");
                assert!(!member.is_null() || key == "dataId", "{key} in {value}");
                is_dap(member);
            }
        }
        Value::Array(elements) => elements.iter().for_each(is_dap),
        _ => {}
    }
}

/// Plays a recording and gives everything that the client heard. The rig sees to answers and numbers.
fn play(name: &str, transcript: &str) -> Vec<Heard> {
    let facts = facts_of(name);
    let mut rig = Rig::new();
    let client = rig.join();
    let mut ours: HashMap<i64, Value> = HashMap::new();
    let mut early = Vec::new();
    let mut node = None;
    let mut heard = Vec::new();
    for line in transcript.lines() {
        let mut message = serde_json::from_str::<Value>(line).unwrap()["msg"].take();
        let of_a_stop = ["frameId", "variablesReference"].map(|key| message["arguments"].get(key).is_some());
        let from_client = line.contains("\"dir\": \"client->adapter\"");
        match (from_client, message["type"].as_str().unwrap()) {
            (true, "request") if of_a_stop == [false, false] => {
                let command = message["command"].as_str().unwrap().to_owned();
                if command == "initialize" {
                    // The engine is chosen before anything is answered.
                    message["arguments"]["adapterID"] = "python".into();
                }
                if let (Some(node), ExitWord::OwnEnd, "disconnect") = (node, &facts.ending.exit, &*command) {
                    rig.node_ended(node, "exit code 0", "");
                }
                rig.send(client, message.to_string());
                let there = *node.get_or_insert_with(|| {
                    let started = rig.started[0].0;
                    rig.node_up_with(started, facts.clone());
                    started
                });
                if let Some(sent) = rig.engine_heard(there).pop() {
                    ours.insert(message["seq"].as_i64().unwrap(), sent.json["seq"].clone());
                }
                for message in std::mem::take(&mut early) {
                    rig.engine(there, message);
                }
            }
            (false, "response") => {
                if let Some(seq) = ours.get(&message["request_seq"].as_i64().unwrap()) {
                    message["request_seq"] = seq.clone();
                    rig.engine(node.unwrap(), message.to_string());
                }
            }
            // Children are another matter.
            (false, "event") => match node {
                Some(node) => rig.engine(node, message.to_string()),
                None => early.push(message.to_string()),
            },
            _ => {}
        }
        heard.extend(rig.heard(client));
    }
    rig.node_ended(node.unwrap(), "exit code 0", "");
    heard.extend(rig.heard(client));
    rig.assert_over();
    heard
}
