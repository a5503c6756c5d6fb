//! Broken cores: something between the core and those who check it is changed, and the checks must say what is wrong.
//!
//! Nothing is put in or taken out of what clients hear, so that numbers stay right.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use breakroom_session::habits::ProgramEnd;
use breakroom_session::{ClientId, EngineFacts, Force, Input, NodeId, Stdin, Ticket};
use serde_json::{Value, json};

use super::engine::{Reads, Start};
use super::inputs;
use super::world::World;
use crate::rig::Heard;

/// So many random trees are played until enough are caught.
const MOST_RUNS: u64 = 1600;
const CATCHES: usize = 3;

pub struct Mutation {
    name: &'static str,
    /// What every complaint says.
    complaint: &'static str,
    act: Act,
}

type Given = (Ticket, NodeId, String, bool);

enum Act {
    /// On what clients hear.
    ToClient(fn(ClientId, Heard) -> Heard),
    /// On what the core hears of engines.
    FromEngine(fn(&mut Value)),
    /// On which engine hears something.
    Routes(fn(NodeId, &Value, &World) -> NodeId),
    /// On what the core knows of an engine.
    Facts(fn(&mut EngineFacts)),
    /// On what the driver is to write, and to whom.
    Given(fn(&mut Given, &World)),
    /// What is to be killed is asked, and the reverse.
    SwapsForce,
    /// The core goes on before programs are killed.
    Hastens,
    /// What was launched is taken for attached to.
    SwapsStart,
}

const fn row(complaint: &'static str, name: &'static str, act: Act) -> Mutation {
    Mutation { name, complaint, act }
}

static MUTATIONS: [Mutation; 21] = [
    row("", "an answer names another request", Act::ToClient(|_, heard| edited(heard, another_request))),
    row("", "a child's thread never ends", Act::ToClient(|_, heard| edited(heard, never_ends))),
    row("", "a stop is told of another thread", Act::ToClient(|_, heard| edited(heard, another_thread))),
    row(
        "",
        "an answer is told to be of another command",
        Act::ToClient(|_, heard| edited(heard, another_command)),
    ),
    row("", "a number is left out", Act::ToClient(number_left_out)),
    row("", "`terminated` in the place of `continued`", Act::ToClient(|_, heard| edited(heard, ends_early))),
    row("invariant 5", "a queue grows", Act::ToClient(|_, heard| grow(heard))),
    row("invariant 5", "one who reads is held up", Act::ToClient(|_, heard| hold_up(heard))),
    row("invariant 5", "what was left out is not told", Act::ToClient(|_, heard| edited(heard, conceal))),
    row(
        "a stop",
        "one that somebody wants goes on",
        Act::FromEngine(|message| misjudge(message, "true", "false")),
    ),
    row(
        "a stop",
        "one that nobody wants is told",
        Act::FromEngine(|message| misjudge(message, "false", "true")),
    ),
    row("a stop", "another node goes on instead", Act::Routes(resume_another)),
    row("input", "it reaches another program", Act::Given(another_program)),
    row("input", "it reaches a program that reads elsewhere", Act::Facts(|facts| facts.stdin = Stdin::Hubs)),
    row("input", "its end is not told", Act::Given(|given, _| given.3 = false)),
    row("input", "it is another's", Act::Given(|given, _| given.2 = "line 0".into())),
    row(
        "invariant 7",
        "the answer to it is another's",
        Act::ToClient(|_, heard| edited(heard, another_mark)),
    ),
    row("the end", "programs run on", Act::Facts(|facts| facts.ending.program = ProgramEnd::Asked)),
    row("the end", "an engine hears of it too early", Act::Hastens),
    row("the end", "what runs is killed, and what stands still is asked", Act::SwapsForce),
    row("the end", "what was attached to is killed", Act::SwapsStart),
];

impl Mutation {
    pub fn tamper(&self) -> Option<Box<dyn FnMut(ClientId, Heard) -> Heard>> {
        let Act::ToClient(act) = self.act else { return None };
        Some(Box::new(act))
    }

    pub fn heard_of_engine(&self, message: String) -> String {
        let Act::FromEngine(act) = self.act else { return message };
        let mut json = serde_json::from_str(&message).unwrap();
        act(&mut json);
        json.to_string()
    }

    pub fn route(&self, node: NodeId, message: &Value, world: &World) -> NodeId {
        let Act::Routes(act) = self.act else { return node };
        act(node, message, world)
    }

    pub fn facts(&self, facts: &mut EngineFacts) {
        if let Act::Facts(act) = self.act {
            act(facts);
        }
    }

    pub fn given(&self, given: &mut Given, world: &World) {
        if let Act::Given(act) = self.act {
            act(given, world);
        }
    }

    pub fn force(&self, force: Force) -> Force {
        match (&self.act, force) {
            (Act::SwapsForce, Force::Kill) => Force::Ask,
            (Act::SwapsForce, Force::Ask) => Force::Kill,
            _ => force,
        }
    }

    pub fn hastens(&self, node: NodeId) -> Option<Input> {
        matches!(self.act, Act::Hastens).then_some(Input::ProgramsKilled { node })
    }

    pub fn start(&self, start: Option<Start>) -> Option<Start> {
        if matches!(self.act, Act::SwapsStart) { Some(Start::Attached) } else { start }
    }
}

fn edited(heard: Heard, edit: fn(&mut Value)) -> Heard {
    let mut message = heard.json.clone();
    edit(&mut message);
    if message == heard.json { heard } else { Heard::new(message.to_string().into()) }
}

fn another_request(message: &mut Value) {
    if message["type"] == "response" && message["request_seq"].as_i64() > Some(5) {
        message["request_seq"] = json!(message["request_seq"].as_i64().unwrap_or(0) - 1);
    }
}

fn never_ends(message: &mut Value) {
    if message["event"] == "thread" && message["body"]["reason"] == "exited" {
        message["body"]["reason"] = json!("started");
    }
}

fn another_thread(message: &mut Value) {
    if message["event"] == "stopped" && message["body"]["threadId"].is_number() {
        message["body"]["threadId"] = json!(message["body"]["threadId"].as_i64().unwrap_or(0) + 1);
    }
}

fn another_command(message: &mut Value) {
    if message["type"] == "response" && message["command"] == "threads" {
        message["command"] = json!("scopes");
    }
}

fn number_left_out(client: ClientId, heard: Heard) -> Heard {
    let skip = |message: &mut Value| {
        if message["seq"].as_i64() > Some(3) {
            message["seq"] = json!(message["seq"].as_i64().unwrap_or(0) + 1);
        }
    };
    if client == ClientId(2) { edited(heard, skip) } else { heard }
}

fn ends_early(message: &mut Value) {
    if message["event"] == "continued" {
        message["event"] = json!("terminated");
        message["body"] = json!({});
    }
}

fn grow(heard: Heard) -> Heard {
    if heard.is_read() {
        return heard;
    }
    let text = heard.text().replace("\"output\":\"", &format!("\"output\":\"{}", "y".repeat(8 << 20)));
    Heard::new(text.into())
}

fn hold_up(heard: Heard) -> Heard {
    if heard.is_read() {
        return heard;
    }
    let seq = &heard.json["seq"];
    let nothing = json!({"seq": seq, "type": "event", "event": "output", "body": {"output": ""}});
    Heard::new(nothing.to_string().into())
}

fn conceal(message: &mut Value) {
    let text = message["body"]["output"].as_str().unwrap_or_default();
    if text.starts_with("breakroom: ") && text.contains("left out") {
        message["body"]["output"] = json!("");
    }
}

/// What the hub asked about a stop, and no client.
fn misjudge(message: &mut Value, worth: &str, instead: &str) {
    if message["command"] == "evaluate" && message["body"]["result"] == worth {
        message["body"]["result"] = instead.into();
    }
}

/// What lets a node go on that nobody wants to stop.
fn resume_another(node: NodeId, message: &Value, world: &World) -> NodeId {
    let Some(thread) = message["arguments"]["threadId"].as_i64().filter(|_| message["command"] == "continue")
    else {
        return node;
    };
    let other = |other: &NodeId| {
        let engine = &world.engines[other];
        engine.debugs() && engine.script.is_none() && engine.threads.contains_key(&thread)
    };
    let judges = world.engines[&node].script.is_some();
    world.up().into_iter().find(other).filter(|_| judges).unwrap_or(node)
}

fn another_program(given: &mut Given, world: &World) {
    let other = |node: &NodeId| *node != given.1 && world.engines[node].reads == Reads::Hub;
    given.1 = world.up().into_iter().find(other).unwrap_or(given.1);
}

fn another_mark(message: &mut Value) {
    if message["command"] == inputs::COMMAND && message["success"] == true {
        message["body"]["mark"] = json!(0);
    }
}

fn complaint(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

#[test]
fn a_core_that_breaks_an_invariant_of_trees_is_caught() {
    for mutation in &MUTATIONS {
        let Mutation { name, complaint: expected, .. } = mutation;
        let mut catches = 0;
        for seed in 1..=MOST_RUNS {
            let play = || World::new(seed, Some(mutation), false).play();
            let Err(panic) = catch_unwind(AssertUnwindSafe(play)) else { continue };
            let complaint = complaint(&*panic);
            assert!(complaint.contains(expected), "{name}, seed {seed}: {complaint}");
            catches += 1;
            if catches == CATCHES {
                break;
            }
        }
        assert_eq!(catches, CATCHES, "{name}: caught too seldom");
    }
}
