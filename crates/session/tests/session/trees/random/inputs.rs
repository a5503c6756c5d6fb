//! What clients give programs to read: it reaches the program that was meant, once and as it was said, by the hub or by an
//! engine that knows how, and no engine that would die of it.

use std::collections::BTreeMap;

use breakroom_session::{ClientId, Input, NodeId, Ticket};
use serde_json::{Value, json};

use super::census::Sight;
use super::client::Client;
use super::engine::{Kind, Reads, node_of};
use super::world::World;

pub const COMMAND: &str = "breakroom/input";

#[derive(Default)]
pub struct Inputs {
    /// What was said and has reached nobody, by its text, of which no two are alike.
    said: BTreeMap<String, Said>,
    /// What the driver is writing, with the mark of who asked for it.
    writing: Vec<(Ticket, i64)>,
}

struct Said {
    by: ClientId,
    /// Whose thread was named.
    meant: Option<NodeId>,
    end: bool,
    mark: i64,
}

impl Inputs {
    pub fn said(&mut self, command: &str, arguments: &Value, by: ClientId, client: &Client) {
        if command != COMMAND {
            return;
        }
        let thread = arguments["threadId"].as_i64();
        let meant = thread.map(|thread| node_of(&client.seen.threads[&thread]));
        let (end, mark) = (arguments["end"] == true, arguments["mark"].as_i64().unwrap());
        self.said.insert(arguments["text"].as_str().unwrap().to_owned(), Said { by, meant, end, mark });
    }

    pub fn waits(&self) -> bool {
        !self.writing.is_empty()
    }
}

impl World {
    /// The driver has written something, or could not.
    pub fn an_input_is_written(&mut self) {
        let Some((ticket, mark)) = self.random.take(&mut self.inputs.writing) else { return };
        let result =
            if self.random.one_in(4) { Err("nobody reads".into()) } else { Ok(json!({"mark": mark})) };
        self.rig.on(Input::HubAnswered { ticket, result });
        self.collect();
    }

    /// What the driver is asked to write.
    pub fn inputs_reach_whom_they_were_for(&mut self) {
        for mut given in std::mem::take(&mut self.rig.given) {
            self.mutation.into_iter().for_each(|mutation| mutation.given(&mut given, self));
            let (ticket, node, text, end) = given;
            let mark = self.input_reaches(node, Reads::Hub, &text, end);
            self.inputs.writing.push((ticket, mark));
            self.census.saw(Sight::GivenByHub);
        }
    }

    pub fn input_reaches_engine(&mut self, node: NodeId, message: &Value) {
        if message["command"] == COMMAND {
            let arguments = &message["arguments"];
            let text = arguments["text"].as_str().unwrap();
            self.input_reaches(node, Reads::Itself, text, arguments["end"] == true);
            self.census.saw(Sight::GivenByEngine);
        }
    }

    fn input_reaches(&mut self, node: NodeId, way: Reads, text: &str, end: bool) -> i64 {
        let engine = &self.engines[&node];
        assert!(
            engine.reads == way,
            "input: {node:?} reads by {:?}, and gets {text} by {way:?}",
            engine.reads
        );
        let said = self.inputs.said.remove(text);
        let Said { by, meant, end: said_end, mark } =
            said.unwrap_or_else(|| panic!("input: {node:?} gets {text}, which nobody said, or had already"));
        // Whoever has not heard that another took the root's place means that one.
        let is_root = |node: NodeId| self.engines[&node].is_root();
        // What a coordinator launched reads what is given to that; whatever else it announces does not.
        let children = || self.rig.opened.iter().filter(|(_, parent, _)| *parent == node);
        let launched = |meant: NodeId| {
            self.engines[&node].kind == Kind::Coordinates && children().any(|(child, ..)| *child == meant)
        };
        let right =
            meant.is_none_or(|meant| meant == node || (is_root(meant) && is_root(node)) || launched(meant));
        assert!(right, "input: {text} of {by:?} was meant for {meant:?} and not for {node:?}");
        assert_eq!(said_end, end, "input: {text} is the last for {node:?}, or it is not");
        assert!(self.may_see(by, node), "input: {by:?} gives {node:?} {text} and does not see it");
        mark
    }
}
