//! Stops at which nobody wants to stand: whoever has a breakpoint there only writes something down and goes on.
//!
//! The owner says so of its breakpoint (`"breakroom": {"capture": true}`). Clients that asked for the hub's own words are told
//! how many do so at a stop, and each says when it is done (`breakroom/pass`); the last one resumes, and so nobody does while
//! another still reads.

use breakroom_dap::Json;
use breakroom_habits::Hits;
use serde_json::{Map, Value, json};

use crate::company::Events;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::session::Session;

/// Who captures where the program stands.
#[derive(Debug, Default)]
pub(crate) struct Passing {
    /// Tells a word about the last stop that was told from one about an earlier.
    stop: i64,
    owners: Vec<ClientId>,
    done: Vec<ClientId>,
    /// Who was told that it is the last. A second one would go on from a stop that nobody has read.
    turn: Option<ClientId>,
}

impl Passing {
    /// The program went on from there, and whatever it comes to is another stop.
    pub fn is_over(&mut self) {
        *self = Passing { stop: self.stop + 1, ..Passing::default() };
    }
}

impl Session {
    /// A stop is about to be told to everybody, and these want it.
    pub(crate) fn note_captures(&mut self, node: NodeId, wanted: &[(ClientId, i64)]) {
        let anybody_asks = self.clients.values().any(|client| client.manners.events == Events::OfTheHubToo);
        let only = anybody_asks && wanted.iter().all(|(owner, number)| self.ledger.captures(*owner, *number));
        let mut owners: Vec<ClientId> = wanted.iter().filter(|_| only).map(|(owner, _)| *owner).collect();
        let Some(known) = self.nodes.get_mut(&node) else { return };
        // Whoever goes on takes the threads along at which others may still look.
        if !owners.is_empty() {
            owners.append(&mut known.passing.owners);
        }
        owners.sort_unstable();
        owners.dedup();
        known.passing = Passing { stop: known.passing.stop + 1, owners, ..Passing::default() };
    }

    /// What a client is told of a stop that asked for the hub's own words.
    pub(crate) fn own_words(&self, viewer: ClientId, node: NodeId) -> Option<String> {
        let known = self.nodes.get(&node)?;
        if self.clients.get(&viewer)?.manners.events != Events::OfTheHubToo {
            return None;
        }
        let mut words = Map::new();
        if let Hits::OfOne(name) = &known.facts.running.hits {
            words.insert("untold".to_owned(), json!(name));
        }
        let Passing { stop, owners, .. } = &known.passing;
        if !owners.is_empty() {
            words.insert("captures".to_owned(), json!({"stop": stop, "clients": owners.len()}));
        }
        (!words.is_empty()).then(|| Value::Object(words).to_string())
    }

    /// `breakroom/pass`: a client has written down what it wanted. The answer says how many have not,
    /// or have not gone on although it was their turn.
    pub(crate) fn pass(
        &mut self,
        client: ClientId,
        seq: FromClient,
        arguments: Option<Json>,
    ) -> Result<(), Failure> {
        let node = self.target(client, "breakroom/pass", arguments)?;
        let stop = arguments.and_then(|arguments| arguments.i64("stop"));
        let standing = self.nodes.get_mut(&node).filter(|known| known.threads.any_stopped());
        let passing = standing.map(|known| &mut known.passing);
        let Some(passing) = passing.filter(|passing| Some(passing.stop) == stop) else {
            let text = "the program has gone on from that stop.";
            return Err(Failure::quiet(FailureId::NotStopped, text));
        };
        passing.done.push(client);
        let is_there = |other: &ClientId| self.clients.contains_key(other);
        let is_left = |owner: &&ClientId| !passing.done.contains(owner) && is_there(owner);
        let reading = passing.owners.iter().filter(is_left).count();
        let goes_on = passing.turn.is_some_and(|other| other != client && is_there(&other));
        if reading == 0 && !goes_on {
            passing.turn = Some(client);
        }
        let left = if goes_on { reading.max(1) } else { reading };
        self.answer(client, seq, "breakroom/pass", Some(json!({"left": left})));
        Ok(())
    }
}
