//! Breakpoints between clients, ledger and engines: what clients set goes into the ledger, what that decides goes out.
//!
//! Who wants what, and what an engine is told, the ledger alone knows; here are the messages.

use breakroom_dap::{Edit, Json, Message, event_with, response_with};
use breakroom_habits::{Children, FunctionAnswers, FunctionOrder};
use bytes::Bytes;
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::client::Outgoing;
use crate::edge::{self, Dialect, Spellings};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::gathering::SHARE;
use crate::ids::{Asker, ClientId, FromClient, NodeId};
use crate::launch::Launch;
use crate::ledger::{Answered, Changed, Listed, Outcome, Patience, Reply, Request, ShelfId, SourceId, Truth};
use crate::node::{Lane, Node, Pending, Phase, Purpose, Waiting};
use crate::session::Session;
use crate::source_numbers;

type Edits = SmallVec<[Edit; 2]>;

/// The list that a request sets, by its command; `setBreakpoints` has one for each source.
const LISTS: [(&str, ShelfId); 3] = [
    ("setFunctionBreakpoints", ShelfId::Functions),
    ("setInstructionBreakpoints", ShelfId::Instructions),
    ("setDataBreakpoints", ShelfId::Data),
];

/// Why nothing is known of a function breakpoint that its engine calls verified.
const BY_NAME: &str = "it is bound by its name when it is called";

impl Session {
    pub(crate) fn set_breakpoints(
        &mut self,
        client: ClientId,
        seq: FromClient,
        command: &str,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there(command)?;
        let message = self.in_our_dialect(client, command, message);
        // A text that no child has is the root's own.
        let child = source_numbers::named(message.payload()).and_then(|source| self.home_of_source(source));
        let Some(home) = child.or(self.root) else { return Ok(()) };
        self.refuse_undeclared_breakpoints(home, command)?;
        let shelf = self.shelf(home, command, message.payload());
        self.note_breakpoints(client, command, message.payload());
        let asker = Asker { client, seq };
        let source = message.payload().and_then(|arguments| arguments.get("source"));
        let path = source.and_then(|source| source.str("path")).map(|path| path.into_owned());
        let patience = self.patience();
        let outcome = self.ledger.set(shelf.clone(), asker, message, &patience);
        let told = self.ledger.spelling(&shelf);
        if let (Some(client), Some(own), Some(told)) = (self.clients.get_mut(&client), path, told) {
            client.spellings.learn(told, &own);
            client.inherited.retain(|inherited| *inherited != shelf);
        }
        match outcome {
            Outcome::Tell(told) => self.tell_engines(&shelf, told),
            Outcome::Later => {}
            Outcome::Known(reply, told) => {
                self.give(command, None, reply);
                self.tell_of_others();
                self.tell_engines(&shelf, told);
            }
            Outcome::Pending(reply) => {
                self.give(command, None, reply);
                self.tell_of_others();
            }
        }
        Ok(())
    }

    /// How long one of several engines is waited for, from now on.
    pub(crate) fn patience(&self) -> Patience {
        let deaf = self.nodes.values().filter(|node| !node.listens()).map(|node| node.id).collect();
        Patience { until: self.now.after(SHARE), deaf }
    }

    /// The same message as a client that counts from 1 and names paths would have sent it.
    fn in_our_dialect(&self, client: ClientId, command: &str, message: Message) -> Message {
        // Its own name for the source is still wanted.
        let spellings = Spellings::default();
        let declared = self.clients.get(&client).map(|client| &client.declared);
        let dialect = declared.map(|declared| Dialect { declared, spellings: &spellings });
        let edits = dialect.map(|dialect| edge::from_client(dialect, command, message.payload()));
        match edits.filter(|edits| !edits.is_empty()).and_then(|edits| message.edited(edits).ok()) {
            Some(edited) => edited,
            None => message,
        }
    }

    /// The list that is meant, with texts numbered as that engine does.
    pub(crate) fn shelf(&mut self, node: NodeId, command: &str, arguments: Option<Json>) -> ShelfId {
        if let Some((_, shelf)) = LISTS.iter().find(|(name, _)| *name == command) {
            return shelf.clone();
        }
        let source = arguments.and_then(|arguments| arguments.get("source"));
        let reference =
            source.and_then(|source| source.i64("sourceReference")).filter(|reference| *reference > 0);
        let path =
            source.and_then(|source| source.str("path").or_else(|| source.str("name"))).unwrap_or_default();
        ShelfId::Source(match reference {
            Some(number) => SourceId::Reference { node, number },
            None => self.ledger.source(&path, self.setup.identify),
        })
    }

    pub(crate) fn tell_engines(&mut self, shelf: &ShelfId, told: Vec<(NodeId, Request)>) {
        told.into_iter().for_each(|(node, request)| self.tell_engine(node, shelf.clone(), request));
    }

    pub(crate) fn tell_engine(&mut self, node: NodeId, shelf: ShelfId, request: Request) {
        if self.answers_for(node, &shelf) {
            return;
        }
        let command = shelf.command();
        let (message, edits) = match request {
            Request::AsItCame(message) => (message, Edits::new()),
            Request::Instead { of, breakpoints } => {
                let edits = instead(&of, &breakpoints);
                (of, edits)
            }
        };
        let order = self.nodes.get(&node).map(|node| node.facts.breakpoints.function_order);
        if shelf == ShelfId::Functions && order == Some(FunctionOrder::ItsOwn) {
            let whole = message.edited(edits).unwrap_or(message);
            return self.tell_functions(node, whole);
        }
        let pending = Pending { command: command.into(), purpose: Purpose::Shelf(shelf) };
        if let Some(node) = self.nodes.get_mut(&node) {
            node.push(Lane::Normal, Waiting::new(message, edits, Some(pending)));
        }
    }

    /// An engine answered one telling.
    pub(crate) fn on_shelf_answered(
        &mut self,
        node: NodeId,
        shelf: ShelfId,
        message: &Message,
        success: bool,
    ) {
        let answered = self.ledger.answered(&shelf, node, message, success);
        self.carry_out(&shelf, Some(message), answered);
    }

    /// Whoever has waited long enough for one of several engines is answered.
    pub(crate) fn set_in_time(&mut self) {
        for (shelf, answered) in self.ledger.answer_in_time(self.now) {
            self.carry_out(&shelf, None, answered);
        }
    }

    fn carry_out(&mut self, shelf: &ShelfId, answer: Option<&Message>, answered: Answered) {
        let Answered { replies, next, changed } = answered;
        for reply in replies {
            self.give(shelf.command(), answer, reply);
        }
        self.tell_changed(changed);
        self.tell_of_others();
        // An engine that was told to end is told nothing else; whoever waits is answered with that end.
        if matches!(self.ending, Ending::No) {
            self.tell_engines(shelf, next);
        }
    }

    /// Tells owners in the hub's own name what became of their breakpoints.
    pub(crate) fn tell_changed(&mut self, changed: Vec<(ClientId, Bytes)>) {
        for (owner, breakpoint) in changed {
            let changed = event_with("breakpoint", "breakpoint", &breakpoint);
            let reason = changed.payload().and_then(|body| Edit::member(body, "reason", "\"changed\""));
            self.tell_one(owner, "breakpoint", &changed, reason.into_iter().collect());
        }
    }

    fn give(&mut self, command: &str, answer: Option<&Message>, reply: Reply) {
        let (to, message, edits) = match (reply, answer) {
            (Reply::AsItCame { to, edits }, Some(answer)) => (to, answer.clone(), edits),
            (Reply::Failed { to, refusal }, _) => (to, refusal, Edits::new()),
            (Reply::List { to, breakpoints }, _) => {
                (to, response_with(to.seq.0, command, "breakpoints", &breakpoints), Edits::new())
            }
            (Reply::AsItCame { .. }, None) => return,
        };
        let Some(client) = self.clients.get_mut(&to.client) else { return };
        let mut edits: Edits = edits.into_iter().chain(message.answering(to.seq.0)).collect();
        edits.extend(message.naming(command));
        if let Some(body) = message.payload() {
            edits.extend(edge::to_client(client.dialect(), command, body));
        }
        client.send(Outgoing { message, edits, asks: None });
    }

    /// An engine says that a breakpoint changed. Each owner hears it under its own number; what nobody asked for is
    /// news for everybody.
    pub(crate) fn on_breakpoint_event(&mut self, node: NodeId, message: &Message) {
        let body = message.payload();
        let reason = body.and_then(|body| body.str("reason"));
        let breakpoint = body.and_then(|body| body.get("breakpoint"));
        let id = breakpoint.and_then(|breakpoint| breakpoint.get("id")).filter(|id| id.as_i64().is_some());
        let named = breakpoint.filter(|breakpoint| breakpoint.get("source").is_some());
        let source = named.map(|breakpoint| self.shelf(node, "setBreakpoints", Some(breakpoint)));
        let changed =
            |breakpoint: Json| self.ledger.changed(node, breakpoint, source.as_ref(), reason.as_deref());
        let changed = breakpoint.map(changed);
        let only = match &changed {
            Some(Changed::AsItSays(owners)) => Some(owners.clone()),
            _ => None,
        };
        let numbered: Vec<(ClientId, Option<i64>)> = match changed {
            Some(Changed::Merged(news)) => {
                self.tell_changed(news);
                Vec::new()
            }
            Some(Changed::AsItSays(owners)) => {
                owners.into_iter().map(|(client, number)| (client, Some(number))).collect()
            }
            Some(Changed::NobodySetIt) | None if self.hides(node, id.and_then(Json::as_i64)) => return,
            Some(Changed::NobodySetIt) | None => {
                let engine = id.and_then(Json::as_i64);
                if let Some(engine) = engine.filter(|_| reason.as_deref() == Some("new")) {
                    self.note_announced(node, engine);
                }
                let number = |client: &ClientId| {
                    (*client, engine.map(|engine| self.ledger.alias(*client, node, engine)))
                };
                // Who does not hear of it now is told no number of it later.
                let hearing = self.clients.iter().filter(|(_, client)| client.hears());
                hearing.map(|(id, _)| id).map(number).collect()
            }
        };
        for (client, number) in numbered {
            let edits = id.and_then(Json::span).zip(number).map(|(at, number)| Edit::int(at, number));
            self.tell_one(client, "breakpoint", message, edits.into_iter().collect());
        }
        match only {
            Some(these) => self.tell_of_these_others(&these),
            None => self.tell_of_others(),
        }
    }

    /// Takes a client's breakpoints out of the engines, unless the engine is on its way out itself.
    pub(crate) fn forget_breakpoints(&mut self, client: ClientId) {
        let changed = self.ledger.forget(client);
        self.tell_of_others();
        let filters = self.ledger.exceptions.forget(client);
        if self.engine_goes_on() && !self.clients.is_empty() {
            changed.into_iter().for_each(|(shelf, told)| self.tell_engines(&shelf, told));
            self.tell_filters(filters);
        }
    }

    pub(crate) fn engine_goes_on(&mut self) -> bool {
        // Delve must not be asked for anything after a failed launch.
        let goes_on = matches!(self.ending, Ending::No)
            && !matches!(self.launch, Launch::Failed { .. })
            && !self.is_finished();
        // What waits for one that is not ready yet will reach it.
        let there = |node: &mut Node| !matches!(node.phase, Phase::Ending | Phase::Ended { .. });
        goes_on && (self.has_living_child() || self.root().is_some_and(there))
    }

    /// An engine answers no more. Who waited for it alone is refused; who waited for others too hears what they say.
    pub(crate) fn breakpoints_abandoned_by(&mut self, node: NodeId, refusal: &Failure) {
        let child = self.nodes.get(&node).is_some_and(Node::is_child);
        if child || self.has_living_child() {
            self.dismiss_from_breakpoints(node);
        } else {
            self.refuse_breakpoints(None, &|_| refusal.clone());
        }
    }

    /// A new engine takes the place of all that were there, and is told what they knew.
    pub(crate) fn renew_breakpoints(&mut self) {
        let Some(root) = self.root else { return };
        let told = self.ledger.renew(root);
        told.into_iter().for_each(|(shelf, request)| self.tell_engine(root, shelf, request));
        let filters = self.ledger.exceptions.renew(root);
        self.tell_filters(filters.into_iter().map(|message| (root, message)).collect());
    }

    /// One more engine is told breakpoints and filters from now on.
    pub(crate) fn admit_to_breakpoints(&mut self, node: NodeId) {
        for (shelf, request) in self.ledger.admit(node) {
            self.tell_engine(node, shelf, request);
        }
        let filters = self.ledger.exceptions.admit(node);
        self.tell_filters(filters.into_iter().map(|message| (node, message)).collect());
    }

    /// An engine has nothing more to say about breakpoints: it ended, or only opens others. What waits to be told to it
    /// is taken back.
    pub(crate) fn dismiss_from_breakpoints(&mut self, node: NodeId) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.withdraw_breakpoints();
        }
        for (shelf, answered) in self.ledger.dismiss(node) {
            self.carry_out(&shelf, None, answered);
        }
        self.dismiss_from_filters(node);
    }

    /// `breakroom/breakpoints`: everybody's, with their owners and what is known of each.
    pub(crate) fn list_breakpoints(&mut self, client: ClientId, seq: FromClient) {
        let parsed = |raw: &[u8]| serde_json::from_slice::<Value>(raw).unwrap_or_default();
        let unchecked = |node: &Node| node.facts.breakpoints.functions == FunctionAnswers::Unchecked;
        let is_unchecked = |node: &NodeId| self.nodes.get(node).is_some_and(unchecked);
        let list =
            self.ledger.all().map(|Listed { owner, number, raw, source, truth, verified_by, hits }| {
                let mut entry = parsed(&raw);
                let is_function = source.is_none() && entry["name"].is_string();
                let (state, reason, line) = match truth {
                    // One that has looked for it is enough.
                    Truth::Verified if is_function && hits == 0 && verified_by.iter().all(is_unchecked) => {
                        ("pending", Some(BY_NAME.to_owned()), None)
                    }
                    Truth::Pending => ("pending", None, None),
                    Truth::Verified => ("verified", None, None),
                    Truth::Moved { line } => ("moved", None, Some(line)),
                    Truth::Rejected { reason } => ("rejected", Some(reason), None),
                };
                entry["id"] = json!(number);
                entry["owner"] = json!(self.name_of(owner));
                entry["own"] = json!(owner == client);
                entry["state"] = json!(state);
                entry["hits"] = json!(hits);
                if let Some(source) = source.and_then(Json::raw) {
                    entry["source"] = parsed(source);
                }
                if let Some(reason) = reason {
                    entry["reason"] = json!(reason);
                }
                if let Some(line) = line {
                    entry["actualLine"] = json!(line);
                }
                entry
            });
        let mut body = json!({"breakpoints": list.collect::<Vec<_>>()});
        let root = self.root.and_then(|root| self.nodes.get(&root));
        // Why one may never be hit.
        if root.is_some_and(|root| root.facts.running.children == Children::RunFreely) {
            body["children"] = json!("run-freely");
        }
        let message = breakroom_dap::response(seq.0, "breakroom/breakpoints", Some(body));
        let Some(asker) = self.clients.get_mut(&client) else { return };
        let body = message.payload();
        let edits =
            body.map(|body| edge::to_client(asker.dialect(), "setBreakpoints", body)).unwrap_or_default();
        asker.send(Outgoing { message, edits, asks: None });
    }

    /// Nobody will answer what is open in the ledger: it is refused.
    pub(crate) fn refuse_breakpoints(&mut self, only: Option<ClientId>, refusal: &dyn Fn(&str) -> Failure) {
        for (Asker { client, seq }, command) in self.ledger.abandon(only) {
            self.refuse(client, seq, command, &refusal(command));
        }
    }
}

/// The edits that put another list in the place of a request's own.
fn instead(message: &Message, breakpoints: &Bytes) -> Edits {
    let Some(arguments) = message.payload().filter(|arguments| arguments.is_object()) else {
        return Edits::new();
    };
    // The old list of bare lines would contradict the new one.
    let lines = arguments.get("lines").and_then(Json::span).map(|lines| Edit::text(lines, "[]"));
    Edit::member(arguments, "breakpoints", breakpoints).into_iter().chain(lines).collect()
}
