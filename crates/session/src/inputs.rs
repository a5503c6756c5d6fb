//! What a program reads, where neither the client nor the engine has the other end of it.
//!
//! The hub has it if it opened the terminal that an engine asked for, if the program's stdin is that of its adapter, or if
//! the engine was made to give its program a pipe of the hub's.
//! Writing is the driver's; which program is meant, and who is told that it can be done, is decided here. An engine that
//! knows `breakroom/input` itself is asked instead.

use breakroom_dap::{Edit, Json, Message, event};
use serde_json::json;
use smallvec::SmallVec;

use crate::client::Client;
use crate::facts::Stdin;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::io::Effect;
use crate::node::{Fed, Node};
use crate::session::Session;

const COMMAND: &str = "breakroom/input";
const CAPABILITY: &str = "supportsBreakroomInput";

impl Session {
    pub(crate) fn give_input(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        let arguments = message.payload();
        if self.nodes.is_empty() {
            return self.forward(client, seq, COMMAND, message);
        }
        let (node, stdin) = self.reader(client, arguments)?;
        if stdin == Stdin::Others {
            return self.forward_to(node, client, seq, COMMAND, message);
        }
        let text = arguments.and_then(|arguments| arguments.str("text")).map(|text| text.into_owned());
        let end = arguments.is_some_and(|arguments| arguments.flag("end"));
        if text.is_none() && !end {
            let text = "`breakroom/input` needs `text`, or `end: true` to end the input.";
            return Err(Failure::quiet(FailureId::BadArguments, text));
        }
        self.note_deed(client, COMMAND, arguments);
        self.nodes.entry(node).and_modify(|node| node.fed = Fed::Something);
        let ticket = self.expect_answer(client, seq, COMMAND);
        self.effect(Effect::GiveInput { ticket, node, text: text.unwrap_or_default(), end });
        Ok(())
    }

    /// The program that a client means, of those that can be given input at all: the one of the thread that it names and
    /// no other, else the one at hand, else the only one. An engine that does not know the request may die of it, and
    /// what one program was meant to read must not reach another.
    fn reader(&self, client: ClientId, arguments: Option<Json>) -> Result<(NodeId, Stdin), Failure> {
        let takes = |node: &&Node| {
            let seen = self.is_of_the_tree(node.id) && self.sees(client, node.id);
            (node.stdin == Stdin::Hubs || node.capabilities.input) && seen
        };
        let at = |node: NodeId| self.nodes.get(&node).filter(takes).map(|node| (node.id, node.stdin));
        let named = arguments.and_then(|arguments| arguments.i64("threadId"));
        let named = named.map(|thread| self.home_of_thread(thread)).transpose()?.flatten();
        if let Some(named) = named {
            let found = at(named).or_else(|| at(self.coordinator_of_first(named)?));
            return found.ok_or_else(|| cannot(Some(&self.label(named))));
        }
        if let Some(found) = self.active(client).ok().and_then(at) {
            return Ok(found);
        }
        let there: Vec<_> = self.nodes.values().filter(takes).collect();
        match there[..] {
            [] => Err(cannot(None)),
            [only] => Ok((only.id, only.stdin)),
            _ => {
                let names: Vec<_> = there.iter().map(|node| self.label(node.id)).collect();
                let text = format!(
                    "several programs read input: {}. Name a thread of the one that is meant in `threadId`.",
                    names.join(", ")
                );
                Err(Failure::quiet(FailureId::BadArguments, text))
            }
        }
    }

    /// The node that launched this one's program without debugging it, and what that reads is there. Whatever else it
    /// announces was started by that program.
    fn coordinator_of_first(&self, child: NodeId) -> Option<NodeId> {
        let parent_of = |node: &Node| node.lineage.child().map(|child| child.parent);
        let parent = self.nodes.get(&child).and_then(parent_of)?;
        let first =
            self.nodes.values().filter(|node| parent_of(node) == Some(parent)).map(|node| node.id).min();
        let coordinates = self.nodes.get(&parent).is_some_and(Node::coordinates);
        Some(parent).filter(|_| coordinates && first == Some(child))
    }

    /// Whether its program is one that reads nothing, as its type says.
    pub(crate) fn reads_nothing(&self, node: NodeId) -> bool {
        let Some(node) = self.nodes.get(&node).filter(|node| !node.facts.no_input.is_empty()) else {
            return false;
        };
        self.kind_of_program(node).is_some_and(|kind| node.facts.no_input.contains(&kind))
    }

    /// A terminal of the hub was opened for a program: clients that know how to give input are told that they can.
    pub(crate) fn offer_input(&mut self, node: NodeId) {
        self.tell_of_input(node, Stdin::Hubs);
    }

    /// The program is in a client's terminal, or was there before it was debugged: it does not read what the hub has
    /// for it.
    pub(crate) fn withdraw_input(&mut self, node: NodeId) {
        if self.nodes.get(&node).is_some_and(|known| known.stdin == Stdin::Hubs) {
            self.tell_of_input(node, Stdin::Others);
        }
    }

    /// A program is launched, or is in a terminal of the hub's, and nobody is there who could give it input: one that reads
    /// finds the end, as it does with every engine, and does not wait for ever. Who comes later and gives some is told so.
    pub(crate) fn end_input_of_nobody(&mut self, node: NodeId) {
        let held = self.nodes.get(&node).is_some_and(|known| known.stdin == Stdin::Hubs);
        if held && !self.somebody_gives_input() {
            self.nodes.entry(node).and_modify(|node| node.fed = Fed::Nobodys);
            self.effect(Effect::EndInput { node });
        }
    }

    fn somebody_gives_input(&self) -> bool {
        self.clients.values().any(|client: &Client| client.declared.input && client.takes_part())
    }

    /// Whether a program that its engine starts again would read what the one before has left, or find its end though
    /// somebody could give it more.
    pub(crate) fn has_used_up_input(&self, node: NodeId) -> bool {
        match self.nodes.get(&node).map(|node| node.fed) {
            None | Some(Fed::Nothing) => false,
            Some(Fed::Nobodys) => self.somebody_gives_input(),
            Some(Fed::Something) => true,
        }
    }

    fn tell_of_input(&mut self, node: NodeId, stdin: Stdin) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.stdin = stdin;
        let can = stdin == Stdin::Hubs;
        let message = event("capabilities", Some(json!({"capabilities": {CAPABILITY: can}})));
        self.note_picture(node, &message, &SmallVec::new());
        for id in self.viewers(node) {
            if self.clients.get(&id).is_some_and(|client| client.declared.input) {
                self.tell_one(id, "capabilities", &message, SmallVec::new());
            }
        }
    }
}

fn cannot(program: Option<&str>) -> Failure {
    let program = program.unwrap_or("the program");
    let text = format!("this debugger cannot give {program} input; launch it in a terminal.");
    Failure::quiet(FailureId::UnknownVerb, text)
}

/// An engine's answer to `initialize`, with what the hub adds to it if it holds the program's input.
pub(crate) fn with_input(answer: Message, stdin: Stdin) -> Message {
    if stdin != Stdin::Hubs {
        return answer;
    }
    let edit = answer.payload().and_then(|body| Edit::member(body, CAPABILITY, "true"));
    let edited = edit.and_then(|edit| answer.edited(SmallVec::from_iter([edit])).ok());
    edited.unwrap_or(answer)
}
