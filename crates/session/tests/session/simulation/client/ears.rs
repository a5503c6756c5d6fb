//! What a client makes of what it hears: what it plans to do about it, and what it holds against the hub.

use serde_json::{Value, json};

use super::super::absence::Spoken;
use super::super::models::{AtTerminated, Opens, parsed};
use super::super::traffic::{Numbers, Traffic, mark_of};
use super::{Client, Connection, Open, Part, Plan, Proof, Reference, Role};
use crate::rig::Heard;

/// What answers bring numbers, where, and under which name they are used.
const GIVES: [(&str, &str, &str, &str); 4] = [
    ("stackTrace", "stackFrames", "id", "frameId"),
    ("scopes", "scopes", "variablesReference", "variablesReference"),
    ("variables", "variables", "variablesReference", "variablesReference"),
    ("evaluate", "", "variablesReference", "variablesReference"),
];

impl Client {
    pub fn hears(&mut self, heard: &Heard, traffic: &mut Traffic) {
        self.model.survives(heard);
        match heard.json["type"].as_str() {
            Some("request") => self.asked.push(heard.json.clone()),
            Some("response") => self.hears_answer(&heard.json, traffic),
            _ => {
                let event = heard.json["event"].as_str().unwrap();
                self.missing.retain(|missing| *missing != event);
                self.seen.note(&heard.json);
                self.is_about_mine(event, &heard.json["body"]);
                self.hears_event(event, &heard.json["body"]);
                if event == "output" {
                    let references = self.learn("evaluate", &heard.json, traffic);
                    self.references.extend(references);
                }
            }
        }
    }

    fn hears_answer(&mut self, answer: &Value, traffic: &mut Traffic) {
        traffic.census.looked_at(1);
        let seq = answer["request_seq"].as_i64().unwrap();
        // The refusal of what was no message has the number 0, which Helix begins with.
        let Some(open) = (answer["command"] != "").then(|| self.open.remove(&seq)).flatten() else { return };
        let success = answer["success"] == true;
        self.is_mine(&open, answer, traffic);
        let Open { command, list, .. } = open;
        if success {
            self.missing.retain(|missing| *missing != command);
        }
        match (command, success) {
            ("initialize", true) => {
                if self.part == Part::Perhaps {
                    self.part = Part::Takes;
                }
                self.may_configure = answer["body"]["supportsConfigurationDoneRequest"] == true;
                if !self.may_configure {
                    self.missing.retain(|missing| *missing != "configurationDone");
                }
            }
            ("initialize", false) => {
                if matches!(self.part, Part::Introduced | Part::Perhaps) {
                    self.part = Part::No;
                }
                self.owned.values_mut().for_each(|(_, owned)| *owned = Err(()));
                let mut again = parsed(self.model.introduces);
                again["adapterID"] = "python".into();
                if let Some(person) = self.person {
                    again["clientName"] = person.into();
                }
                self.plan.push_front(Plan::Ask("initialize", again));
            }
            ("launch" | "attach", true) if self.role == Role::Unclear => {
                self.role = Role::Observes;
                self.owned.clear();
            }
            ("launch" | "attach", true) if self.role == Role::Drives => self.spoken = Spoken::Yes,
            ("launch" | "attach", false) if self.proof == Proof::Guesses => {
                self.proof = Proof::Brings;
                self.plan.push_front(Plan::Ask(self.start.0, self.start.1.clone()));
            }
            _ => {}
        }
        if let Some(list) = list {
            self.agrees(seq, command, list, answer);
        }
        if success {
            let references = self.learn(command, answer, traffic);
            self.looks_deeper(command, &references);
            self.references.extend(references);
        }
    }

    /// Invariant 7: the engine's answer is the one to this client's own question.
    fn is_mine(&self, open: &Open, answer: &Value, traffic: &mut Traffic) {
        traffic.census.looked_at(7);
        let Some(asked) = mark_of(answer).and_then(|mark| traffic.answers.get(&mark)) else { return };
        // One telling may answer several owners; what each is answered is held against its own list.
        let told_together = open.list.is_some() && open.command != "setExceptionBreakpoints";
        let mine = told_together || *asked == open.question;
        assert!(mine, "invariant 7: asked {:?} and got the answer to {asked:?}: {answer}", open.question);
    }

    /// Invariant 7: a stop names only breakpoints of this client, by the numbers that it was given.
    fn is_about_mine(&mut self, event: &str, body: &Value) {
        self.numbers.extend(body["breakpoint"]["id"].as_i64());
        // What it asked for has a number before it hears of that.
        let waits = self.open.values().any(|open| open.list.is_some()) || self.has_unclear();
        let Some(hit) = body["hitBreakpointIds"].as_array().filter(|_| event == "stopped" && !waits) else {
            return;
        };
        let mine = hit.iter().all(|hit| hit.as_i64().is_some_and(|hit| self.numbers.contains(&hit)));
        assert!(mine, "invariant 7: it was given {:?} and hears of {hit:?}", self.numbers);
    }

    /// Takes note of what became of a list. Answers may come in another order than the requests, and the last one counts.
    fn agrees(&mut self, seq: i64, command: &str, (name, list): (String, Vec<Value>), answer: &Value) {
        let success = answer["success"] == true;
        let filters = command == "setExceptionBreakpoints";
        if success && !filters {
            let nothing = Vec::new();
            let told = answer["body"]["breakpoints"].as_array().unwrap_or(&nothing);
            let line = |one: &Value| one["line"].as_i64();
            let elsewhere =
                |(told, asked): (&Value, &Value)| line(told).is_some() && line(told) != line(asked);
            let foreign = told.len() != list.len() || told.iter().zip(&list).any(elsewhere);
            assert!(!foreign, "invariant 7: not an answer to {list:?}: {answer}");
            self.numbers.extend(told.iter().filter_map(|told| told["id"].as_i64()));
        }
        let outcome = match success {
            true => Ok(list),
            false if filters && mark_of(answer).is_some() => Err(()),
            // One that is let go is told nothing better, and what it asked for may still come to be.
            false if matches!(self.part, Part::Took | Part::Over) => Err(()),
            false => return,
        };
        let owned = self.owned.entry(name).or_insert((seq, Err(())));
        if owned.0 <= seq {
            *owned = (seq, outcome);
        }
    }

    fn hears_event(&mut self, event: &str, body: &Value) {
        match event {
            "initialized" => {
                self.plan.extend(self.model.configures.iter().map(|command| Plan::Set(command)));
                if self.may_configure {
                    self.plan.push_back(Plan::Ask("configurationDone", json!({})));
                }
                self.plan.extend(self.model.then.iter().map(|(name, with)| Plan::Ask(name, parsed(with))));
            }
            "stopped" => {
                for (command, arguments) in self.model.at_stop {
                    let mut arguments = parsed(arguments);
                    if *command == "stackTrace" {
                        arguments["threadId"] = body["threadId"].as_i64().unwrap_or(1).into();
                    }
                    self.plan.push_back(Plan::Ask(command, arguments));
                }
            }
            // What it wanted to see of that stop is not there any more.
            "continued" => self.plan.retain(|plan| match plan {
                Plan::Ask(command, _) => *command != "stackTrace",
                Plan::Read(_) => false,
                Plan::Set(_) => true,
            }),
            "terminated" => match self.model.at_terminated {
                AtTerminated::HangsUp => self.connection = Connection::HangingUp,
                AtTerminated::SaysTerminate => self.plan.push_back(Plan::Ask("terminate", json!({}))),
                AtTerminated::Disconnects => {
                    self.plan.push_back(Plan::Ask("disconnect", parsed(self.model.goodbye)));
                }
            },
            _ => {}
        }
    }

    /// After the stack the scopes of its first frame, after those the variables.
    fn looks_deeper(&mut self, command: &str, references: &[Reference]) {
        let count = match (command, self.model.opens) {
            ("stackTrace", _) | ("scopes", Opens::First) => 1,
            ("scopes", Opens::Every) => references.len(),
            _ => 0,
        };
        self.plan.extend(references.iter().take(count).map(|reference| Plan::Read(*reference)));
    }

    /// The numbers in a message of the engine.
    fn learn(&self, command: &str, message: &Value, traffic: &Traffic) -> Vec<Reference> {
        let Some((_, list, member, key)) = GIVES.iter().find(|(name, ..)| *name == command) else {
            return Vec::new();
        };
        let Some(mark) = mark_of(message) else { return Vec::new() };
        let Some(birth) = traffic.births.get(&mark).copied() else { return Vec::new() };
        let original = match traffic.numbers {
            Numbers::Once => traffic.original(mark),
            Numbers::Again => Value::Null,
        };
        let given = numbers(&message["body"], list, member);
        let engine = numbers(&original["body"], list, member).into_iter().chain(std::iter::repeat(0));
        let all = given.into_iter().zip(engine);
        let real = all.filter(|(number, _)| *number != 0);
        real.map(|(number, engine)| Reference { key, number, birth, engine }).collect()
    }
}

fn numbers(body: &Value, list: &str, member: &str) -> Vec<i64> {
    if list.is_empty() {
        return body[member].as_i64().into_iter().collect();
    }
    let nothing = Vec::new();
    let items = body[list].as_array().unwrap_or(&nothing);
    items.iter().filter_map(|item| item[member].as_i64()).collect()
}
