//! Requests of the engine: to the launcher if it can, else the hub's own answer. Never to two, never twice.
//!
//! A child that is announced by `startDebugging` is opened in `children`; here are the others.

use breakroom_dap::{Edit, Envelope, Json, Message, failure, response};
use breakroom_habits::TerminalWord;
use serde_json::json;
use smallvec::SmallVec;

use crate::client::{Asked, Outgoing, Whose};
use crate::failure::FailureId;
use crate::ids::{ClientId, FromEngine, NodeId, Ticket, ToClient};
use crate::io::{Effect, TerminalRequest};
use crate::launch::{Launch, Start};
use crate::node::{Lane, Waiting};
use crate::session::{Session, TerminalHost};

/// What a debugger is told that wants something started, and whose program was not.
pub(crate) const NOT_FOR_ATTACHED: &str =
    "nothing is started for a program that was attached to; launch it to let it start others";

impl Session {
    pub(crate) fn on_reverse(&mut self, node: NodeId, message: Message) {
        let Envelope::Request { command } = message.envelope() else {
            return;
        };
        let command = command.clone();
        let seq = FromEngine(message.seq().unwrap_or(0));
        if &*command == "startDebugging" {
            return self.on_start_debugging(node, seq, &message);
        }
        if &*command == "runInTerminal" && !self.may_start_programs(node) {
            return self.fail_reverse(node, seq, &command, NOT_FOR_ATTACHED);
        }
        let message = match self.nodes.get(&node).filter(|_| &*command == "runInTerminal") {
            Some(node) => said_otherwise(message, &node.facts.starting.terminal_words),
            None => message,
        };
        let by_client = self.setup.terminal_host == TerminalHost::Client;
        let launcher = self.launcher.and_then(|launcher| self.clients.get_mut(&launcher));
        let able = launcher.filter(|client| match &*command {
            "runInTerminal" => client.declared.run_in_terminal && by_client,
            _ => true,
        });
        match able {
            Some(client) if client.may_be_asked() => {
                let in_terminal = &*command == "runInTerminal";
                let asks = Some(Asked { whose: Whose::Engine { node, seq }, command });
                client.send(Outgoing { message, edits: SmallVec::new(), asks });
                if in_terminal {
                    self.withdraw_input(node);
                }
            }
            _ if &*command == "runInTerminal" => self.run_in_terminal(node, seq, message.payload()),
            _ => {
                let text = format!("no client of this session can answer `{command}`");
                self.fail_reverse(node, seq, &command, &text);
            }
        }
    }

    /// Whether the node's program was started by us. One that is attached to may be anybody's, at any address: nothing
    /// is run on its word, by us or by a client.
    pub(crate) fn may_start_programs(&self, node: NodeId) -> bool {
        let child = self.nodes.get(&node).and_then(|node| node.lineage.child());
        match (child, &self.launch) {
            (Some(child), _) => child.start == Start::Launch,
            (None, Launch::Failed { .. }) => false,
            (None, launch) => launch.start() != Some(Start::Attach),
        }
    }

    fn run_in_terminal(&mut self, node: NodeId, seq: FromEngine, arguments: Option<Json>) {
        let request = terminal_request(arguments);
        if request.args.is_empty() {
            return self.fail_reverse(
                node,
                seq,
                "runInTerminal",
                "`runInTerminal` needs at least one argument",
            );
        }
        let ticket = self.new_ticket();
        self.terminals.insert(ticket, (node, seq));
        self.effect(Effect::RunInTerminal { ticket, node, request });
    }

    pub(crate) fn on_terminal(&mut self, ticket: Ticket, result: Result<u32, String>) {
        let Some((node, seq)) = self.terminals.remove(&ticket) else {
            return self.odd();
        };
        match result {
            Ok(pid) => {
                self.record_terminal();
                let body = json!({"processId": pid});
                self.answer_engine(node, response(seq.0, "runInTerminal", Some(body)));
                self.offer_input(node);
                self.end_input_of_nobody(node);
                self.expect_code_of_terminal(node);
            }
            Err(text) => self.fail_reverse(node, seq, "runInTerminal", &text),
        }
    }

    /// A client's answer, under the number the engine gave its request.
    pub(crate) fn on_reverse_answer(&mut self, client: ClientId, request_seq: Option<i64>, message: Message) {
        let asked =
            self.clients.get_mut(&client).and_then(|client| client.asked.remove(&ToClient(request_seq?)));
        let Some(Asked { whose, command }) = asked else {
            return self.odd();
        };
        let (node, seq) = match whose {
            Whose::Engine { node, seq } => (node, seq),
            Whose::Hub { child } => return self.on_offer_answered(client, child, &message),
        };
        let mut edits: SmallVec<_> = message.answering(seq.0).into_iter().collect();
        edits.extend(message.naming(&command));
        if let Some(node) = self.nodes.get_mut(&node) {
            node.push(Lane::Urgent, Waiting::new(message, edits, None));
        }
    }

    /// What a client was asked and can answer no more is failed to the engine, once.
    pub(crate) fn fail_unanswered(&mut self, asked: impl IntoIterator<Item = Asked>) {
        for Asked { whose, command } in asked {
            let Whose::Engine { node, seq } = whose else { continue };
            let text = format!("the client that was asked for `{command}` is gone");
            self.fail_reverse(node, seq, &command, &text);
        }
    }

    pub(crate) fn fail_reverse(&mut self, node: NodeId, seq: FromEngine, command: &str, text: &str) {
        self.answer_engine(node, failure(seq.0, command, FailureId::NobodyToAnswer as u32, text, false));
    }

    pub(crate) fn answer_engine(&mut self, node: NodeId, message: Message) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.push(Lane::Urgent, Waiting::new(message, SmallVec::new(), None));
        }
    }
}

/// The request with what the environment is to say otherwise.
fn said_otherwise(message: Message, words: &[TerminalWord]) -> Message {
    let env = message.payload().and_then(|arguments| arguments.get("env"));
    let edit = |word: &TerminalWord| {
        let value = env?.get(&word.variable)?;
        let text = value.as_str().filter(|text| text.contains(&word.says))?;
        let text = serde_json::Value::from(text.replace(&word.says, &word.instead));
        Some(Edit::text(value.span()?, text.to_string()))
    };
    let edits: SmallVec<[Edit; 2]> = words.iter().filter_map(edit).collect();
    if edits.is_empty() { message } else { message.edited(edits).unwrap_or(message) }
}

fn terminal_request(arguments: Option<Json>) -> TerminalRequest {
    let Some(arguments) = arguments else {
        return TerminalRequest::default();
    };
    let args = arguments.get("args").into_iter().flat_map(Json::elements);
    let env = arguments.get("env").into_iter().flat_map(Json::members);
    TerminalRequest {
        args: args.filter_map(|arg| Some(arg.as_str()?.into_owned())).collect(),
        cwd: arguments.str("cwd").map(|cwd| cwd.into_owned()).filter(|cwd| !cwd.is_empty()),
        env: env
            .map(|(key, value)| (key.text().into_owned(), value.as_str().map(|text| text.into_owned())))
            .collect(),
    }
}
