//! A launch that the driver looks at before it is carried out: configurations by name, builds.
//!
//! It belongs to nobody's engine yet, so nothing has to be undone if it comes to nothing. What clients ask meanwhile waits,
//! because most of it is for a debuggee that there will only be afterwards; leaving, cancelling and the hub's own requests
//! do not wait. What is prepared, and how, is the driver's business.

use std::collections::{BTreeSet, VecDeque};

use breakroom_dap::{Edit, Json, Message, event, request};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, Ticket};
use crate::io::{Effect, EngineChoice};
use crate::journal::Entry;
use crate::launch::{LastWord, Launch, Start, kind, name};
use crate::session::Session;

/// What may wait for a launch. Beyond it a client is told, and may ask again.
const MOST_HELD: usize = 4 << 20;

/// Requests that are answered whatever becomes of the launch.
const NOT_HELD: [&str; 4] = ["initialize", "disconnect", "terminate", "cancel"];

/// Whose words the request is that started the program.
#[derive(Debug, Clone, Default)]
pub(crate) enum Wording {
    #[default]
    TheClients,
    /// It names what was built, and not what the client named.
    Prepared(Box<Original>),
}

/// A launch before it was prepared.
#[derive(Debug, Clone)]
pub(crate) struct Original {
    /// What the driver was shown.
    pub words: Value,
    message: Message,
}

impl Original {
    /// The launch with what the driver changed of the words. All else is as the client wrote it: in its order, with numbers
    /// of any size, and with keys that it said twice.
    pub fn with(&self, prepared: &Value) -> Message {
        let command = self.message.command().unwrap_or_default();
        let (Some(payload), Some(object)) = (self.message.payload(), prepared.as_object()) else {
            return request(command, prepared.clone());
        };
        let written =
            |key: &str, value: &[u8]| [Value::from(key).to_string().as_bytes(), b":", value].concat();
        let mut members = Vec::new();
        let mut told = BTreeSet::new();
        for (key, value) in payload.members() {
            let key = key.text();
            let Some(now) = object.get(&*key) else { continue };
            // The hub's own member held what the driver was not shown.
            let same = self.words.get(&*key) == Some(now) && key != "breakroom";
            match value.raw() {
                Some(raw) if same => members.push(written(&key, raw)),
                _ if told.contains(&*key) => {}
                _ => members.push(written(&key, now.to_string().as_bytes())),
            }
            told.insert(key);
        }
        let added = object.iter().filter(|(key, _)| !told.contains(&***key));
        members.extend(added.map(|(key, value)| written(key, value.to_string().as_bytes())));
        let arguments = [b"{", &members.join(&b","[..])[..], b"}"].concat();
        let edit = payload.span().map(|span| Edit::text(span, arguments));
        let edited = self.message.edited(edit.into_iter().collect());
        edited.unwrap_or_else(|_| request(command, prepared.clone()))
    }
}

#[derive(Debug)]
pub(crate) struct Preparing {
    ticket: Ticket,
    pub client: ClientId,
    pub seq: FromClient,
    pub start: Start,
    message: Message,
    /// The engine's type as the driver was told it: one that comes back with another has chosen another engine.
    kind: Option<String>,
    /// What the driver was shown.
    words: Value,
    held: Held,
}

/// What clients asked meanwhile, in order.
#[derive(Debug, Default)]
struct Held {
    requests: VecDeque<(ClientId, Message)>,
    bytes: usize,
}

impl Held {
    fn has_room_for(&self, message: &Message) -> bool {
        self.bytes + message.bytes().len() <= MOST_HELD
    }

    fn push(&mut self, client: ClientId, message: Message) {
        self.bytes += message.bytes().len();
        self.requests.push_back((client, message));
    }

    /// Takes out what is meant.
    fn take(&mut self, is_meant: impl Fn(ClientId, &Message) -> bool) -> Vec<Message> {
        let held = std::mem::take(self);
        let mut taken = Vec::new();
        for (client, message) in held.requests {
            if is_meant(client, &message) {
                taken.push(message);
            } else {
                self.push(client, message);
            }
        }
        taken
    }
}

impl Session {
    /// Asks the driver to look at a launch.
    pub(crate) fn prepare(&mut self, client: ClientId, seq: FromClient, start: Start, message: Message) {
        let ticket = self.new_ticket();
        let mut arguments = without_secrets(message.payload());
        if let (None, Some(EngineChoice::Type(fixed))) = (kind(&arguments), self.fixed_engine(client)) {
            arguments["type"] = fixed.into();
        }
        let kind = kind(&arguments).map(str::to_owned);
        self.name = message.payload().map(name).unwrap_or_default();
        let words = arguments.clone();
        self.effect(Effect::Prepare { ticket, command: start.command(), arguments });
        let held = Held::default();
        let preparing = Preparing { ticket, client, seq, start, message, kind, words, held };
        self.launch = Launch::Preparing(Box::new(preparing));
        self.starter = Some(client);
    }

    pub(crate) fn on_prepared(&mut self, ticket: Ticket, result: Result<Option<Value>, String>) {
        if self.on_prepared_again(ticket, &result) {
            return;
        }
        // One that was called off may have been done just then.
        let Some(preparing) = self.take_preparing(|preparing| preparing.ticket == ticket) else { return };
        let Preparing { client, seq, start, message, kind: before, words, held, .. } = preparing;
        self.wording = Wording::TheClients;
        let outcome = match result {
            Ok(None) => self.begin_launch(client, seq, start, message, LastWord::Fixed),
            Ok(Some(arguments)) => {
                let same = kind(&arguments) == before.as_deref();
                let last_word = if same { LastWord::Fixed } else { LastWord::Arguments };
                let original = Original { words, message };
                let prepared = original.with(&arguments);
                self.wording = Wording::Prepared(Box::new(original));
                self.begin_launch(client, seq, start, prepared, last_word)
            }
            Err(reason) => Err(Failure::loud(FailureId::LaunchFailed, reason)),
        };
        if let Err(refusal) = outcome {
            self.never_launched(client, seq, start, &refusal);
        }
        self.hear_again(held);
    }

    pub(crate) fn on_progress(&mut self, ticket: Ticket, text: &str) {
        let first = matches!(&self.launch, Launch::Preparing(preparing) if preparing.ticket == ticket);
        if !first && self.again.as_ref().is_none_or(|again| again.ticket != ticket) {
            return;
        }
        let message = event("output", Some(json!({"category": "console", "output": text})));
        self.note_notice(text.trim_end());
        self.tell("output", &message, &SmallVec::new());
    }

    /// Whether a request has to wait until it is known what becomes of the launch.
    pub(crate) fn waits_for_preparation(&self, command: &str) -> bool {
        let own = command.starts_with("breakroom/") && command != "breakroom/input";
        matches!(self.launch, Launch::Preparing(_)) && !NOT_HELD.contains(&command) && !own
    }

    pub(crate) fn put_off(&mut self, client: ClientId, message: Message) -> Result<(), Failure> {
        let Launch::Preparing(preparing) = &mut self.launch else { return Ok(()) };
        if !preparing.held.has_room_for(&message) {
            let text = "too many requests wait already for the launch that is being prepared; ask again when it is done.";
            return Err(Failure::quiet(FailureId::EngineNotReading, text));
        }
        preparing.held.push(client, message);
        Ok(())
    }

    /// The launch is not wanted any more. Whoever asked for it is told so.
    pub(crate) fn call_off(&mut self, refusal: &Failure) {
        let Some(preparing) = self.take_preparing(|_| true) else { return };
        self.effect(Effect::CallOff { ticket: preparing.ticket });
        self.never_launched(preparing.client, preparing.seq, preparing.start, refusal);
        self.hear_again(preparing.held);
    }

    /// A client hears its last word: what it still waits for because of a launch is answered.
    pub(crate) fn settle_preparation(&mut self, id: ClientId, refusal: &impl Fn(&str) -> Failure) {
        self.settle_again(id, refusal);
        let Launch::Preparing(preparing) = &mut self.launch else { return };
        let (command, asked) = (preparing.start.command(), preparing.client == id);
        for message in preparing.held.take(|by, _| by == id) {
            let command = message.command().unwrap_or_default();
            let seq = FromClient(message.seq().unwrap_or(0));
            self.refuse(id, seq, command, &refusal(command));
        }
        if asked {
            self.call_off(&refusal(command));
        }
    }

    /// `cancel` of a launch that is being prepared, or of what waits for it. False if it means neither.
    pub(crate) fn cancel_preparation(&mut self, client: ClientId, asked: FromClient) -> bool {
        let cancelled = Failure::quiet(FailureId::Cancelled, "cancelled");
        if self.call_off_again(|by| by.client == client && by.seq == asked, || cancelled.clone()) {
            return true;
        }
        let Launch::Preparing(preparing) = &mut self.launch else { return false };
        if preparing.client == client && preparing.seq == asked {
            self.call_off(&cancelled);
            return true;
        }
        let withdrawn = preparing.held.take(|by, message| by == client && message.seq() == Some(asked.0));
        for message in &withdrawn {
            self.refuse(client, asked, message.command().unwrap_or_default(), &cancelled);
        }
        !withdrawn.is_empty()
    }

    fn take_preparing(&mut self, wanted: impl Fn(&Preparing) -> bool) -> Option<Preparing> {
        match std::mem::replace(&mut self.launch, Launch::Unasked) {
            Launch::Preparing(preparing) if wanted(&preparing) => Some(*preparing),
            other => {
                self.launch = other;
                None
            }
        }
    }

    /// It came to nothing, and may be tried again.
    fn never_launched(&mut self, client: ClientId, seq: FromClient, start: Start, refusal: &Failure) {
        self.name.clear();
        self.note(Entry::StartRefused { reason: refusal.text.clone() });
        self.refuse(client, seq, start.command(), refusal);
    }

    fn hear_again(&mut self, held: Held) {
        for (client, message) in held.requests {
            let there = self.clients.get(&client).is_some_and(|client| !client.is_leaving());
            if let (true, Some(command)) = (there, message.command().map(str::to_owned)) {
                self.on_request(client, &command, message);
            }
        }
    }
}

/// What the driver is shown: it may run programs and write files, and a token has no business there.
fn without_secrets(arguments: Option<Json>) -> Value {
    let raw = arguments.and_then(Json::raw);
    let mut arguments: Value = raw.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
    if let Some(own) = arguments.get_mut("breakroom").and_then(Value::as_object_mut) {
        own.remove("token");
    }
    arguments
}
