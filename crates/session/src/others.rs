//! Word of other clients' breakpoints, for clients that asked for the hub's own events.
//!
//! Editors make a breakpoint that they are told of the user's own, so nobody else hears of them. What a client was told
//! is kept with it, and it hears what has changed since.

use std::collections::BTreeMap;

use breakroom_dap::{Json, event};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::client::Phase;
use crate::company::Events;
use crate::ids::ClientId;
use crate::ledger::{Listed, Truth};
use crate::session::Session;

/// What a client was told of others' breakpoints: by owner and the owner's number, the number that it knows it by and
/// what was said.
pub(crate) type ToldOfOthers = BTreeMap<(ClientId, i64), (i64, Value)>;

impl Session {
    /// The ledger has changed, or a client has come that wants to know.
    pub(crate) fn tell_of_others(&mut self) {
        self.tell_viewers(None);
    }

    /// The same if nothing has changed but these, each by its owner and the owner's number.
    pub(crate) fn tell_of_these_others(&mut self, these: &[(ClientId, i64)]) {
        self.tell_viewers(Some(these));
    }

    fn tell_viewers(&mut self, only: Option<&[(ClientId, i64)]>) {
        let wants = |client: &crate::client::Client| {
            client.manners.events == Events::OfTheHubToo && matches!(client.phase, Phase::Configuring)
        };
        let viewers: Vec<_> =
            self.clients.iter().filter(|(_, client)| wants(client)).map(|(id, _)| *id).collect();
        for viewer in viewers {
            self.tell_one_of_others(viewer, only);
        }
    }

    fn tell_one_of_others(&mut self, viewer: ClientId, only: Option<&[(ClientId, i64)]>) {
        let seen = |listed: Listed| {
            let key = (listed.owner, listed.number);
            (key.0 != viewer).then(|| (key, self.as_seen_by_others(listed)))
        };
        let now: BTreeMap<(ClientId, i64), Value> = match only {
            None => self.ledger.all().filter_map(seen).collect(),
            Some(these) => {
                let listed = |(owner, number): &(ClientId, i64)| self.ledger.listed(*owner, *number);
                these.iter().filter_map(listed).filter_map(seen).collect()
            }
        };
        let Some(client) = self.clients.get_mut(&viewer) else { return };
        let mut told = std::mem::take(&mut client.told_of_others);
        let mut news = Vec::new();
        if only.is_none() {
            told.retain(|key, (number, said)| {
                let there = now.contains_key(key);
                if !there {
                    news.push(("removed", *number, said.take()));
                }
                there
            });
        }
        for (key, said) in now {
            match told.get_mut(&key) {
                Some((_, before)) if *before == said => {}
                Some((number, before)) => {
                    *before = said.clone();
                    news.push(("changed", *number, said));
                }
                None => {
                    let number = self.ledger.next_number(viewer);
                    told.insert(key, (number, said.clone()));
                    news.push(("new", number, said));
                }
            }
        }
        if let Some(client) = self.clients.get_mut(&viewer) {
            client.told_of_others = told;
        }
        for (reason, number, mut said) in news {
            said["id"] = json!(number);
            let message = event("breakpoint", Some(json!({"reason": reason, "breakpoint": said})));
            self.tell_one(viewer, "breakpoint", &message, SmallVec::new());
        }
    }

    fn as_seen_by_others(&self, listed: Listed) -> Value {
        let parsed = |raw: &[u8]| serde_json::from_slice::<Value>(raw).unwrap_or_default();
        let wanted = parsed(&listed.raw);
        let mut seen = json!({"breakroom": {"owner": self.name_of(listed.owner)}});
        let (verified, line, reason) = match listed.truth {
            Truth::Pending => (false, None, None),
            Truth::Verified => (true, None, None),
            Truth::Moved { line } => (true, Some(line), None),
            Truth::Rejected { reason } => (false, None, Some(reason)),
        };
        seen["verified"] = json!(verified);
        for (key, value) in [
            ("line", line.map_or_else(|| wanted["line"].clone(), |line| json!(line))),
            ("message", json!(reason)),
            ("source", listed.source.and_then(Json::raw).map(parsed).unwrap_or_default()),
        ] {
            if !value.is_null() {
                seen[key] = value;
            }
        }
        if let Some(name) = wanted.get("name") {
            seen["breakroom"]["name"] = name.clone();
        }
        seen
    }
}
