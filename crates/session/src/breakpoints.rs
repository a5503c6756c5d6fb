//! Breakpoints between clients, ledger and engine.

use breakroom_dap::{Edit, Json, Message, event_with, response_with};
use bytes::Bytes;
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::client::Outgoing;
use crate::edge::{self, Dialect, Spellings};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::ids::{Asker, ClientId, FromClient};
use crate::launch::Launch;
use crate::ledger::{Answered, Listed, Outcome, Reply, Request, ShelfId, SourceId, Truth};
use crate::node::{Lane, Pending, Phase, Purpose, Waiting};
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

/// The list that a request sets, by its command; `setBreakpoints` has one for each source.
const LISTS: [(&str, ShelfId); 3] = [
    ("setFunctionBreakpoints", ShelfId::Functions),
    ("setInstructionBreakpoints", ShelfId::Instructions),
    ("setDataBreakpoints", ShelfId::Data),
];

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
        let shelf = self.shelf(command, message.payload());
        self.note_breakpoints(client, command, message.payload());
        let asker = Asker { client, seq };
        let source = message.payload().and_then(|arguments| arguments.get("source"));
        let path = source.and_then(|source| source.str("path")).map(|path| path.into_owned());
        let outcome = self.ledger.set(shelf.clone(), asker, message);
        let told = self.ledger.spelling(&shelf);
        if let (Some(client), Some(own), Some(told)) = (self.clients.get_mut(&client), path, told) {
            client.spellings.learn(told, &own);
            client.inherited.retain(|inherited| *inherited != shelf);
        }
        match outcome {
            Outcome::Tell(request) => self.tell_engine(shelf, request),
            Outcome::Later => {}
            Outcome::Known(replies) => {
                replies.into_iter().for_each(|reply| self.give(command, None, reply));
                self.tell_of_others();
            }
        }
        Ok(())
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

    pub(crate) fn shelf(&mut self, command: &str, arguments: Option<Json>) -> ShelfId {
        if let Some((_, shelf)) = LISTS.iter().find(|(name, _)| *name == command) {
            return shelf.clone();
        }
        let source = arguments.and_then(|arguments| arguments.get("source"));
        let reference =
            source.and_then(|source| source.i64("sourceReference")).filter(|reference| *reference > 0);
        let path =
            source.and_then(|source| source.str("path").or_else(|| source.str("name"))).unwrap_or_default();
        ShelfId::Source(match reference {
            Some(reference) => SourceId::Reference(reference),
            None => self.ledger.source(&path, self.setup.identify),
        })
    }

    pub(crate) fn tell_engine(&mut self, shelf: ShelfId, request: Request) {
        let command = shelf.command();
        let (message, edits) = match request {
            Request::AsItCame(message) => (message, Edits::new()),
            Request::Instead { of, breakpoints } => {
                let edits = instead(&of, &breakpoints);
                (of, edits)
            }
        };
        let pending = Pending { command: command.into(), purpose: Purpose::Shelf(shelf) };
        if let Some(node) = self.root() {
            node.push(Lane::Normal, Waiting::new(message, edits, Some(pending)));
        }
    }

    /// The engine answered one telling.
    pub(crate) fn on_shelf_answered(&mut self, shelf: ShelfId, message: &Message, success: bool) {
        let Answered { replies, next, changed } = self.ledger.answered(&shelf, message, success);
        for reply in replies {
            self.give(shelf.command(), Some(message), reply);
        }
        for (owner, breakpoint) in changed {
            let changed = event_with("breakpoint", "breakpoint", &breakpoint);
            let reason = changed.payload().and_then(|body| Edit::member(body, "reason", "\"changed\""));
            self.tell_one(owner, "breakpoint", &changed, reason.into_iter().collect());
        }
        self.tell_of_others();
        // An engine that was told to end is told nothing else; whoever waits is answered with that end.
        if let Some(request) = next.filter(|_| matches!(self.ending, Ending::No)) {
            self.tell_engine(shelf, request);
        }
    }

    fn give(&mut self, command: &str, answer: Option<&Message>, reply: Reply) {
        let (to, message, edits) = match (reply, answer) {
            (Reply::AsItCame { to, edits }, Some(answer)) => (to, answer.clone(), edits),
            (Reply::Failed { to }, Some(answer)) => (to, answer.clone(), Edits::new()),
            (Reply::List { to, breakpoints }, _) => {
                (to, response_with(to.seq.0, command, "breakpoints", &breakpoints), Edits::new())
            }
            (Reply::AsItCame { .. } | Reply::Failed { .. }, None) => return,
        };
        let Some(client) = self.clients.get_mut(&to.client) else { return };
        let mut edits: Edits = edits.into_iter().chain(message.answering(to.seq.0)).collect();
        edits.extend(message.naming(command));
        if let Some(body) = message.payload() {
            edits.extend(edge::to_client(client.dialect(), command, body));
        }
        client.send(Outgoing { message, edits, asks: None });
    }

    /// The engine says that a breakpoint changed. Each owner hears it under its own number; what nobody asked for is
    /// news for everybody.
    pub(crate) fn on_breakpoint_event(&mut self, message: &Message) {
        let body = message.payload();
        let reason = body.and_then(|body| body.str("reason"));
        let breakpoint = body.and_then(|body| body.get("breakpoint"));
        let id = breakpoint.and_then(|breakpoint| breakpoint.get("id")).filter(|id| id.as_i64().is_some());
        let named = breakpoint.filter(|breakpoint| breakpoint.get("source").is_some());
        let source = named.map(|breakpoint| self.shelf("setBreakpoints", Some(breakpoint)));
        let changed = |breakpoint: Json| self.ledger.changed(breakpoint, source.as_ref(), reason.as_deref());
        let owners = breakpoint.map(changed).unwrap_or_default();
        let numbered: Vec<(ClientId, Option<i64>)> = if owners.is_empty() {
            let engine = id.and_then(Json::as_i64);
            let number =
                |client: &ClientId| (*client, engine.map(|engine| self.ledger.alias(*client, engine)));
            // Who does not hear of it now is told no number of it later.
            let hearing = self.clients.iter().filter(|(_, client)| client.hears());
            hearing.map(|(id, _)| id).map(number).collect()
        } else {
            owners.into_iter().map(|(client, number)| (client, Some(number))).collect()
        };
        for (client, number) in numbered {
            let edits = id.and_then(Json::span).zip(number).map(|(at, number)| Edit::int(at, number));
            self.tell_one(client, "breakpoint", message, edits.into_iter().collect());
        }
        self.tell_of_others();
    }

    /// Takes a client's breakpoints out of the engine, unless the engine is on its way out itself.
    pub(crate) fn forget_breakpoints(&mut self, client: ClientId) {
        let changed = self.ledger.forget(client);
        self.tell_of_others();
        let filters = self.ledger.exceptions.forget(client);
        if self.engine_goes_on() && !self.clients.is_empty() {
            changed.into_iter().for_each(|(shelf, request)| self.tell_engine(shelf, request));
            filters.into_iter().for_each(|message| self.tell_filters(message));
        }
    }

    fn engine_goes_on(&mut self) -> bool {
        // Delve must not be asked for anything after a failed launch.
        let goes_on = matches!(self.ending, Ending::No)
            && !matches!(self.launch, Launch::Failed { .. })
            && !self.picture.is_over();
        // What waits for one that is not ready yet will reach it.
        goes_on && self.root().is_some_and(|node| !matches!(node.phase, Phase::Ending | Phase::Ended { .. }))
    }

    fn tell_filters(&mut self, message: Message) {
        let pending = Pending { command: "setExceptionBreakpoints".into(), purpose: Purpose::Nobody };
        if let Some(node) = self.root() {
            node.push(Lane::Normal, Waiting::new(message, Edits::new(), Some(pending)));
        }
    }

    /// Tells a new engine what the last one knew.
    pub(crate) fn renew_breakpoints(&mut self) {
        self.ledger.renew().into_iter().for_each(|(shelf, request)| self.tell_engine(shelf, request));
        let filters = self.ledger.exceptions.all();
        self.ledger.exceptions.tell(None);
        filters.into_iter().for_each(|message| self.tell_filters(message));
    }

    /// Filters that were refused must not come back with what others want.
    pub(crate) fn on_exceptions_refused(&mut self, client: ClientId, seq: FromClient, command: &str) {
        if command != "setExceptionBreakpoints" {
            return;
        }
        let left = self.ledger.exceptions.failed(client, seq);
        if let Some(message) = left.filter(|_| self.engine_goes_on()) {
            self.tell_filters(message);
        }
    }

    pub(crate) fn set_exceptions(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there("setExceptionBreakpoints")?;
        self.note_breakpoints(client, "setExceptionBreakpoints", message.payload());
        let merged = self.ledger.exceptions.set(client, seq, message);
        if let Some(answer) = self.ledger.exceptions.known(&merged) {
            let body = Some(answer).filter(|answer| !answer.is_null());
            self.ledger.exceptions.agreed(client, seq);
            self.answer(client, seq, "setExceptionBreakpoints", body);
            return Ok(());
        }
        self.ledger.exceptions.tell(Some(&merged));
        self.forward(client, seq, "setExceptionBreakpoints", merged)
    }

    /// `breakroom/breakpoints`: everybody's, with their owners and what is known of each.
    pub(crate) fn list_breakpoints(&mut self, client: ClientId, seq: FromClient) {
        let parsed = |raw: &[u8]| serde_json::from_slice::<Value>(raw).unwrap_or_default();
        let list = self.ledger.all().map(|Listed { owner, number, raw, source, truth, hits }| {
            let mut entry = parsed(&raw);
            let (state, reason, line) = match truth {
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
        let body = json!({"breakpoints": list.collect::<Vec<_>>()});
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
