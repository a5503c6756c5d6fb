//! Broken cores: each row breaks one invariant between the core and those who check it, and the checks must say which.
//!
//! Nothing is put in or taken out, so that numbers stay right: a message that should be missing becomes an empty output,
//! and one too many takes the place of an output.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use breakroom_session::ClientId;
use serde_json::{Value, json};

use super::engine::Engine;
use super::traffic::Traffic;
use crate::rig::{Heard, TOKEN};

pub struct Mutation {
    pub name: &'static str,
    /// The invariant that it breaks.
    pub breaks: usize,
    act: Act,
}

#[derive(Clone, Copy)]
enum Act {
    /// On what clients hear.
    ToClient(fn(&mut Memory, Heard) -> Heard),
    /// On what the engine hears.
    ToEngine(fn(&mut Memory, Heard, &Engine, &Traffic) -> Heard),
    /// On how often an engine was asked to stop.
    Stops(fn(usize) -> usize),
    /// On one who is lost: it is taken to have said goodbye.
    Parts(Company),
}

/// Who else takes part when a client is lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Others,
    Nobody,
}

/// What a mutation remembers of a run.
#[derive(Default)]
struct Memory {
    client: u32,
    kept: Option<(u32, Heard)>,
    requests: Vec<Heard>,
    /// Which numbered stops which clients heard of.
    stops: BTreeSet<(u32, i64)>,
    done: bool,
}

const fn row(breaks: usize, name: &'static str, act: Act) -> Mutation {
    Mutation { name, breaks, act }
}

pub const MUTATIONS: [Mutation; 31] = [
    row(1, "an answer is dropped", Act::ToClient(drop_answer)),
    row(1, "an answer comes twice", Act::ToClient(answer_twice)),
    row(1, "an answer names another request", Act::ToClient(answer_astray)),
    row(2, "an owner's breakpoint is forgotten", Act::ToEngine(forget_breakpoint)),
    row(2, "one owner's condition becomes everybody's", Act::ToEngine(impose_condition)),
    row(2, "a filter is forgotten", Act::ToEngine(forget_filter)),
    row(2, "a lost owner's breakpoints vanish at once", Act::Parts(Company::Others)),
    row(2, "a new engine is told less than the last one knew", Act::ToEngine(tell_less_again)),
    row(
        3,
        "the last stop is not in the picture",
        Act::ToClient(|memory, heard| late(memory, heard, "stopped")),
    ),
    row(3, "a resume is not told", Act::ToClient(|memory, heard| late(memory, heard, "continued"))),
    row(3, "a module is not in the picture", Act::ToClient(|memory, heard| late(memory, heard, "module"))),
    row(3, "an output is left out", Act::ToClient(drop_output)),
    row(4, "a number of an ended epoch is let through", Act::ToEngine(leak_number)),
    row(4, "a number of a replaced engine is let through", Act::ToEngine(leak_replaced)),
    row(5, "a queue grows", Act::ToClient(grow)),
    row(5, "one who reads is held up", Act::ToClient(hold_up)),
    row(6, "an engine is not stopped", Act::Stops(|_| 0)),
    row(6, "an engine is stopped twice", Act::Stops(|stops| stops * 2)),
    row(7, "a token is told", Act::ToClient(tell_token)),
    row(7, "two clients' answers are swapped", Act::ToClient(swap_answers)),
    row(7, "another's breakpoint is named", Act::ToClient(name_anothers)),
    row(8, "a number is left out", Act::ToClient(|memory, heard| renumber(memory, heard, 1))),
    row(8, "a number comes twice", Act::ToClient(|memory, heard| renumber(memory, heard, -1))),
    row(9, "a vendor's number is rounded for a client", Act::ToClient(|_, heard| round(heard))),
    row(9, "a vendor's number is rounded for the engine", Act::ToEngine(|_, heard, _, _| round(heard))),
    row(10, "a session that everybody was lost from does not wait", Act::Parts(Company::Nobody)),
    row(10, "a session that waited too long goes on", Act::ToEngine(|_, heard, _, _| never_end(heard))),
    row(
        10,
        "what was attached to is ended, and what was launched lives",
        Act::ToEngine(|_, heard, _, _| swap_fate(heard)),
    ),
    row(11, "a stop that nobody wants is told", Act::ToClient(tell_unwanted)),
    row(11, "a stop that somebody wants is not told", Act::ToClient(|_, heard| hide_wanted(heard))),
    row(
        11,
        "a stop that nobody wants does not go on",
        Act::ToEngine(|_, heard, engine, _| stay(heard, engine)),
    ),
];

/// A mutation at work in one run.
#[derive(Clone)]
pub struct Saboteur {
    act: Act,
    memory: Rc<RefCell<Memory>>,
}

impl Saboteur {
    pub fn new(mutation: &Mutation) -> Self {
        Saboteur { act: mutation.act, memory: Rc::default() }
    }

    pub fn to_client(&self, client: ClientId, heard: Heard) -> Heard {
        let Act::ToClient(act) = self.act else { return heard };
        let memory = &mut *self.memory.borrow_mut();
        memory.client = client.0;
        act(memory, heard)
    }

    pub fn to_engine(&self, heard: Heard, engine: &Engine, traffic: &Traffic) -> Heard {
        let Act::ToEngine(act) = self.act else { return heard };
        act(&mut self.memory.borrow_mut(), heard, engine, traffic)
    }

    /// Whether one who is lost is taken to have said goodbye.
    pub fn parts(&self, others: bool) -> bool {
        let company = if others { Company::Others } else { Company::Nobody };
        matches!(self.act, Act::Parts(when) if when == company)
    }

    pub fn stops(&self, stops: usize) -> usize {
        match self.act {
            Act::Stops(act) => act(stops),
            _ => stops,
        }
    }
}

fn drop_answer(memory: &mut Memory, heard: Heard) -> Heard {
    let target = is_answer(&heard, "threads") || is_answer(&heard, "stackTrace");
    if !target || std::mem::replace(&mut memory.done, true) { heard } else { nothing(&heard) }
}

fn answer_twice(memory: &mut Memory, heard: Heard) -> Heard {
    match &memory.kept {
        Some((client, kept)) if *client == memory.client && is_event(&heard, "output") => {
            let mut again = kept.json.clone();
            again["seq"] = heard.json["seq"].clone();
            made_of(&again)
        }
        None if is_answer(&heard, "threads") => {
            memory.kept = Some((memory.client, heard.clone()));
            heard
        }
        _ => heard,
    }
}

fn answer_astray(memory: &mut Memory, heard: Heard) -> Heard {
    if !is_answer(&heard, "evaluate") || std::mem::replace(&mut memory.done, true) {
        return heard;
    }
    let mut astray = heard.json.clone();
    astray["request_seq"] = (heard.json["request_seq"].as_i64().unwrap() + 500).into();
    made_of(&astray)
}

fn forget_breakpoint(_: &mut Memory, heard: Heard, _: &Engine, traffic: &Traffic) -> Heard {
    change(heard, traffic, "setBreakpoints", |arguments| {
        arguments["breakpoints"].as_array_mut().unwrap().pop();
    })
}

fn impose_condition(_: &mut Memory, heard: Heard, _: &Engine, traffic: &Traffic) -> Heard {
    change(heard, traffic, "setBreakpoints", |arguments| {
        let first = arguments["breakpoints"].as_array_mut().unwrap().first_mut();
        first.into_iter().for_each(|first| first["condition"] = "only mine".into());
    })
}

fn forget_filter(_: &mut Memory, heard: Heard, _: &Engine, traffic: &Traffic) -> Heard {
    change(heard, traffic, "setExceptionBreakpoints", |arguments| {
        arguments["filters"].as_array_mut().unwrap().pop();
    })
}

/// Changes what the owners want together; what a sole owner wants is its own bytes, and another invariant's.
fn change(heard: Heard, traffic: &Traffic, command: &str, change: fn(&mut Value)) -> Heard {
    if !traffic.shared || heard.json["command"] != command {
        return heard;
    }
    let mut changed = heard.json.clone();
    change(&mut changed["arguments"]);
    made_of(&changed)
}

/// Keeps an event from everybody but the first client.
fn late(memory: &mut Memory, heard: Heard, event: &str) -> Heard {
    if memory.client > 1 && is_event(&heard, event) { nothing(&heard) } else { heard }
}

fn drop_output(memory: &mut Memory, heard: Heard) -> Heard {
    let target = is_event(&heard, "output") && heard.is_read();
    if !target || std::mem::replace(&mut memory.done, true) { heard } else { nothing(&heard) }
}

fn leak_number(memory: &mut Memory, heard: Heard, engine: &Engine, traffic: &Traffic) -> Heard {
    if heard.json["type"] != "request" || traffic.birth_of_use(&heard.json).is_none() {
        return heard;
    }
    let ended = |old: &&Heard| traffic.birth_of_use(&old.json).is_some_and(|birth| !engine.is_alive(birth));
    let leaked = memory.requests.iter().find(ended).cloned();
    memory.requests.push(heard.clone());
    leaked.unwrap_or(heard)
}

fn leak_replaced(memory: &mut Memory, heard: Heard, engine: &Engine, traffic: &Traffic) -> Heard {
    let replaced = memory.kept.as_ref().filter(|(node, _)| *node != engine.node.0);
    let leaked = replaced.filter(|_| engine.is_launched()).map(|(_, old)| old.clone());
    if heard.json["type"] == "request" && traffic.birth_of_use(&heard.json).is_some() {
        memory.kept.get_or_insert_with(|| (engine.node.0, heard.clone()));
    }
    leaked.unwrap_or(heard)
}

/// Only what the hub tells a new engine by itself; what clients set is told before they are answered.
fn tell_less_again(_: &mut Memory, heard: Heard, engine: &Engine, traffic: &Traffic) -> Heard {
    if !traffic.retold || engine.is_configured() || heard.json["command"] != "setBreakpoints" {
        return heard;
    }
    let mut changed = heard.json.clone();
    changed["arguments"]["breakpoints"].as_array_mut().unwrap().pop();
    made_of(&changed)
}

fn is_own_disconnect(heard: &Heard) -> bool {
    let arguments = &heard.json["arguments"];
    heard.json["command"] == "disconnect" && arguments["restart"] == false && arguments["mark"].is_null()
}

fn never_end(heard: Heard) -> Heard {
    if !is_own_disconnect(&heard) {
        return heard;
    }
    let mut changed = heard.json.clone();
    changed["command"] = "vendor/thing".into();
    made_of(&changed)
}

fn swap_fate(heard: Heard) -> Heard {
    if !is_own_disconnect(&heard) {
        return heard;
    }
    let mut changed = heard.json.clone();
    changed["arguments"]["terminateDebuggee"] =
        (heard.json["arguments"]["terminateDebuggee"] == false).into();
    made_of(&changed)
}

fn tell_unwanted(memory: &mut Memory, heard: Heard) -> Heard {
    let body = &heard.json["body"];
    memory.stops.extend(body["stop"].as_i64().map(|stop| (memory.client, stop)));
    let Some(stop) = body["behind"].as_i64() else { return heard };
    // Only the first who hears it: to one who comes later it is history.
    let first = memory.stops.insert((u32::MAX, stop));
    if !first || memory.stops.contains(&(memory.client, stop)) {
        return heard;
    }
    let mut told = heard.json.clone();
    told["event"] = "stopped".into();
    told["body"] = json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "stop": stop});
    made_of(&told)
}

fn hide_wanted(heard: Heard) -> Heard {
    if heard.json["body"]["stop"].is_null() { heard } else { nothing(&heard) }
}

fn stay(heard: Heard, engine: &Engine) -> Heard {
    if engine.script.is_none() || heard.json["command"] != "continue" {
        return heard;
    }
    let mut changed = heard.json.clone();
    changed["command"] = "vendor/thing".into();
    made_of(&changed)
}

fn grow(_: &mut Memory, heard: Heard) -> Heard {
    if heard.is_read() {
        return heard;
    }
    let text = heard.text().replace("\"output\":\"", &format!("\"output\":\"{}", "y".repeat(8 << 20)));
    Heard::new(text.into())
}

fn hold_up(_: &mut Memory, heard: Heard) -> Heard {
    if heard.is_read() { heard } else { nothing(&heard) }
}

fn tell_token(_: &mut Memory, heard: Heard) -> Heard {
    if !is_event(&heard, "output") || !heard.is_read() {
        return heard;
    }
    let mut told = heard.json.clone();
    told["body"]["output"] = TOKEN.into();
    made_of(&told)
}

fn swap_answers(memory: &mut Memory, heard: Heard) -> Heard {
    if !is_answer(&heard, "evaluate") || heard.json["body"]["mark"].is_null() {
        return heard;
    }
    let Some((client, kept)) = &memory.kept else {
        memory.kept = Some((memory.client, heard.clone()));
        return heard;
    };
    if *client == memory.client {
        return heard;
    }
    let mut swapped = kept.json.clone();
    swapped["seq"] = heard.json["seq"].clone();
    swapped["request_seq"] = heard.json["request_seq"].clone();
    made_of(&swapped)
}

fn name_anothers(_: &mut Memory, heard: Heard) -> Heard {
    if heard.json["body"]["hitBreakpointIds"].is_null() {
        return heard;
    }
    let mut named = heard.json.clone();
    named["body"]["hitBreakpointIds"] = json!([4711]);
    made_of(&named)
}

fn renumber(memory: &mut Memory, heard: Heard, by: i64) -> Heard {
    let seq = heard.json["seq"].as_i64().unwrap();
    if seq < 5 || std::mem::replace(&mut memory.done, true) {
        return heard;
    }
    let mut numbered = heard.json.clone();
    numbered["seq"] = (seq + by).into();
    made_of(&numbered)
}

fn round(heard: Heard) -> Heard {
    match heard.is_read() {
        true => Heard::new(heard.text().replace("12345678901234567890", "12345678901234567000").into()),
        false => heard,
    }
}

/// Whether the engine answered that.
fn is_answer(heard: &Heard, command: &str) -> bool {
    heard.json["success"] == true && heard.json["command"] == command
}

fn is_event(heard: &Heard, event: &str) -> bool {
    heard.json["event"] == event
}

/// Says nothing under the number of a message.
fn nothing(instead: &Heard) -> Heard {
    let seq = &instead.json["seq"];
    made_of(
        &json!({"seq": seq, "type": "event", "event": "output", "body": {"category": "console", "output": ""}}),
    )
}

fn made_of(json: &Value) -> Heard {
    Heard::new(json.to_string().into())
}
