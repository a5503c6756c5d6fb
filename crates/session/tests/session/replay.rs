//! Recorded sessions of real adapters, played through the core.
//!
//! The recorded client speaks when it spoke, the recorded adapter answers what it answered, and every message
//! must leave the core byte for byte as it came, apart from numbers and what DAP has otherwise.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::Path;

use breakroom_session::habits::ExitWord;
use breakroom_session::{ClientId, EngineChoice, NodeId, Setup};
use bytes::Bytes;
use serde_json::Value;

use crate::engines::facts_with;
use crate::rig::{Heard, Rig, setup, without_numbers};

/// When the engine is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    /// Before `initialize` is answered.
    Early,
    /// By the launch: what the adapter said before comes after it.
    ByLaunch,
}

#[test]
fn every_recorded_session_gives_the_client_a_legal_sequence_and_every_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "the recordings are missing");
    let mut refused = Vec::new();
    for file in &files {
        for chosen in [Chosen::Early, Chosen::ByLaunch] {
            let name = file.file_stem().unwrap().to_str().unwrap();
            println!("{name}, engine chosen {chosen:?}");
            let transcript = fs::read_to_string(file).unwrap();
            // Where there is no `exited`, nothing is held for it.
            let exit = if transcript.contains("\"exited\"") { ExitWord::Event } else { ExitWord::Never };
            let mut replay = Replay::new(chosen, exit);
            replay.play(&transcript);
            refused.extend(replay.refused.into_iter().map(|command| format!("{name}: {command}")));
        }
    }
    assert_eq!(refused, [] as [&str; 0], "what an adapter answered is not for the hub to refuse");
}

struct Replay {
    rig: Rig,
    client: ClientId,
    node: Option<NodeId>,
    chosen: Chosen,
    exit: ExitWord,
    /// What the adapter said before there was an engine.
    early: Vec<Heard>,
    /// What the client must hear, but only behind the answer to its `initialize`.
    held: Vec<Heard>,
    /// `terminated`, if it came before `exited`.
    parting: Option<Heard>,
    /// Whether the client was told that the program is over.
    parted: bool,
    /// Names of what the adapter has said.
    said: HashSet<String>,
    /// Requests of the client by their recorded number, as the engine got them.
    sent: HashMap<i64, Option<Value>>,
    /// Requests of the adapter by their recorded number, as the client got them.
    asked: HashMap<i64, Value>,
    /// Our number of each of the adapter's, by key.
    minted: HashMap<(&'static str, i64), i64>,
    refused: Vec<String>,
}

/// What adapters write where DAP has something else, and what becomes of it.
const OTHERWISE: [(&str, &str); 6] = [
    (r#", "sourceReference": null"#, ""),
    (r#""message": null, "#, ""),
    (r#", "body": null"#, ""),
    (r#""body": null, "#, ""),
    (r#""variablesReference": 0.0"#, r#""variablesReference": 0"#),
    (r#""Resolved locations: 0", "verified": true"#, r#""Resolved locations: 0", "verified": false"#),
];

const KEYS: [&str; 2] = ["frameId", "variablesReference"];

impl Replay {
    fn new(chosen: Chosen, exit: ExitWord) -> Self {
        let engine = (chosen == Chosen::Early).then(|| EngineChoice::Type("recorded".to_owned()));
        let mut rig = Rig::with(Setup { engine, ..setup() });
        let client = rig.join();
        Replay {
            rig,
            client,
            node: None,
            chosen,
            exit,
            early: Vec::new(),
            held: Vec::new(),
            parting: None,
            parted: false,
            said: HashSet::new(),
            sent: HashMap::new(),
            asked: HashMap::new(),
            minted: HashMap::new(),
            refused: Vec::new(),
        }
    }

    fn play(&mut self, transcript: &str) {
        for line in transcript.lines() {
            // The bytes as they were recorded; parsing them would lose the order of keys.
            let start = line.find("\"msg\": ").unwrap() + "\"msg\": ".len();
            let message = Heard::new(Bytes::copy_from_slice(&line.as_bytes()[start..line.len() - 1]));
            match line.contains("\"dir\": \"client->adapter\"") {
                true if message.json["type"] == "request" => self.client_asks(&message),
                true => self.client_answers(&message),
                false if self.node.is_none() => self.early.push(message),
                false => self.adapter_says(message),
            }
        }
        self.rig.node_ended(self.node.unwrap(), "exit code 0", "");
        self.rig.assert_over();
    }

    fn client_asks(&mut self, message: &Heard) {
        let command = message.json["command"].as_str().unwrap();
        let seq = message.json["seq"].as_i64().unwrap();
        let mut text = message.text();
        for key in KEYS {
            if let Some(recorded) =
                message.json["arguments"][key].as_i64().filter(|value| *value != 0 || key == "frameId")
            {
                let minted = self.minted[&(key, recorded)];
                text = text.replace(&format!("\"{key}\": {recorded}"), &format!("\"{key}\": {minted}"));
            }
        }
        let own = r#""breakroom": {"adapter": {"args": ["x"]}}, "#;
        let with_record = text.replacen("\"arguments\": {", &format!("\"arguments\": {{{own}"), 1);
        let by_launch = command == "launch" && self.chosen == Chosen::ByLaunch;
        self.rig.send(self.client, if by_launch { with_record } else { text.clone() });
        if self.node.is_none() && !self.rig.started.is_empty() {
            self.engine_starts();
        }
        if matches!(command, "initialize") {
            return;
        }
        let node = self.node.unwrap();
        let sent = self.rig.engine_heard(node);
        assert!(sent.len() <= 1, "more than was asked");
        match sent.first() {
            Some(sent) => {
                same(text.as_bytes(), &sent.bytes);
                self.sent.insert(seq, Some(sent.json.clone()));
            }
            None => {
                let answer = self.rig.response(self.client, seq);
                match command {
                    // The hub answers what the adapter said that it does not know.
                    "configurationDone" => assert_eq!(answer["success"], true),
                    _ => self.refused.push(command.to_owned()),
                }
                self.sent.insert(seq, None);
            }
        }
    }

    fn engine_starts(&mut self) {
        let node = self.rig.started[0].0;
        self.node = Some(node);
        let facts = facts_with(|facts| facts.ending.exit = self.exit.clone());
        self.rig.node_up_with(node, facts);
        let initialize = self.rig.got(node, "initialize");
        self.sent.insert(1, Some(initialize));
        if self.chosen == Chosen::ByLaunch {
            self.rig.heard(self.client);
        }
        for message in std::mem::take(&mut self.early) {
            self.adapter_says(message);
        }
    }

    fn client_answers(&mut self, message: &Heard) {
        // The hub has opened the child itself.
        if message.json["command"] == "startDebugging" {
            return;
        }
        let asked = &self.asked[&message.json["request_seq"].as_i64().unwrap()];
        let (recorded, ours) = (&message.json["request_seq"], &asked["seq"]);
        let text = message.text().replacen(
            &format!("\"request_seq\": {recorded}"),
            &format!("\"request_seq\": {ours}"),
            1,
        );
        self.rig.send(self.client, text);
        let heard = self.rig.engine_heard(self.node.unwrap());
        same(&message.bytes, &heard[0].bytes);
        assert_eq!(&heard[0].json["request_seq"], recorded, "the adapter's own number comes back");
    }

    fn adapter_says(&mut self, message: Heard) {
        let node = self.node.unwrap();
        let mut text = message.text();
        if message.json["type"] == "response" {
            let recorded = message.json["request_seq"].as_i64().unwrap();
            let Some(sent) = &self.sent[&recorded] else { return };
            let ours = &sent["seq"];
            text = text.replacen(
                &format!("\"request_seq\": {recorded}"),
                &format!("\"request_seq\": {ours}"),
                1,
            );
        }
        self.rig.engine(node, text);
        // What that is about is the hub's business, and here it leads nowhere.
        if message.name() == "?startDebugging" {
            let (child, ..) = *self.rig.opened.last().unwrap();
            self.rig.node_failed(child, "nobody listens");
            self.rig.engine_heard(node);
            assert_eq!(self.rig.names(self.client), ["output"]);
            return;
        }
        let mut expected: VecDeque<_> = self.expected(message).into();
        for heard in self.rig.heard(self.client) {
            let recorded = expected.pop_front().unwrap_or_else(|| panic!("not recorded: {}", heard.text()));
            self.compare(&recorded, &heard);
        }
        assert!(expected.is_empty(), "lost: {:?}", expected.iter().map(Heard::text).collect::<Vec<_>>());
    }

    /// What the client must hear now that the adapter said this.
    fn expected(&mut self, message: Heard) -> Vec<Heard> {
        let name = message.name();
        let over = self.said.contains("+disconnect");
        let again = !self.said.insert(name.clone());
        if over || (again && matches!(name.as_str(), "initialized" | "terminated")) {
            return Vec::new();
        }
        // Of a program that is over nothing but its output is told; debugpy talks on about itself.
        let its_own = name == "output" || name.starts_with("debugpy");
        let parted = self.parted && message.json["type"] == "event" && !its_own;
        if parted {
            return Vec::new();
        }
        // Perl's come the wrong way round.
        if name == "terminated" && self.exit == ExitWord::Event && !self.said.contains("exited") {
            self.parting = Some(message);
            return Vec::new();
        }
        if name == "exited" {
            self.parted = self.parting.is_some();
            return std::iter::once(message).chain(self.parting.take()).collect();
        }
        self.parted |= name == "terminated";
        if name == "+initialize" {
            let (mut held, early): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.held).into_iter().partition(|held| held.name() != "initialized");
            held.insert(0, message);
            held.extend(early);
            return held;
        }
        // A client that was answered with the base set has nothing to wait for but `initialized`.
        let waits = self.chosen == Chosen::Early || name == "initialized";
        if waits && !self.said.contains("+initialize") {
            self.held.push(message);
            return Vec::new();
        }
        vec![message]
    }

    fn compare(&mut self, recorded: &Heard, heard: &Heard) {
        if heard.name() == "capabilities" && recorded.name() == "+initialize" {
            let mut offered = recorded.json["body"].clone();
            // The one thing that the hub can do for every adapter.
            offered["supportsRestartRequest"] = true.into();
            // What the base set promised is taken back.
            offered["supportsBase"] = false.into();
            if offered.get("supportsConfigurationDoneRequest").is_none() {
                offered["supportsConfigurationDoneRequest"] = false.into();
            }
            assert_eq!(heard.json["body"]["capabilities"], offered);
            return;
        }
        // Failures of CodeLLDB and delve leave their command empty, and the hub puts it in.
        let command = heard.json["command"].to_string();
        let mut named = recorded.text().replacen("\"command\": \"\"", &format!("\"command\": {command}"), 1);
        // Perl's events have no number.
        if recorded.json.get("seq").is_none() {
            named.insert_str(1, "\"seq\":0,");
        }
        if recorded.name() == "+initialize" {
            named = with_restart(&named);
        }
        for (said, told) in OTHERWISE {
            named = named.replace(said, told);
        }
        same(named.as_bytes(), &heard.bytes);
        if heard.json["type"] == "request" {
            self.asked.insert(recorded.json["seq"].as_i64().unwrap(), heard.json.clone());
        }
        self.learn(&recorded.json["body"], &heard.json["body"], "");
    }

    /// Notes our numbers beside the adapter's.
    fn learn(&mut self, recorded: &Value, heard: &Value, list: &str) {
        match (recorded, heard) {
            (Value::Object(recorded), Value::Object(heard)) => {
                for (key, value) in recorded {
                    let kind = match key.as_str() {
                        "variablesReference" => Some(KEYS[1]),
                        "id" if list == "stackFrames" => Some(KEYS[0]),
                        _ => None,
                    };
                    if let (Some(kind), Some(theirs)) = (kind, value.as_i64()) {
                        self.minted.insert((kind, theirs), heard[key].as_i64().unwrap());
                    }
                    self.learn(value, heard.get(key).unwrap_or(&Value::Null), key);
                }
            }
            (Value::Array(recorded), Value::Array(heard)) => {
                recorded.iter().zip(heard).for_each(|(recorded, heard)| self.learn(recorded, heard, list));
            }
            _ => {}
        }
    }
}

/// An answer to `initialize` with the one thing that the hub can do for every adapter.
fn with_restart(answer: &str) -> String {
    const OFFERED: &str = "\"supportsRestartRequest\"";
    if answer.contains(OFFERED) {
        return answer.replacen(&format!("{OFFERED}: false"), &format!("{OFFERED}: true"), 1);
    }
    answer.replacen("\"body\": {", &format!("\"body\": {{{OFFERED}:true,"), 1)
}

fn same(one: &[u8], other: &[u8]) {
    let (one, other) = (without_numbers(one), without_numbers(other));
    assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other));
}
