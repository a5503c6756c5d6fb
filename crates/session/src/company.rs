//! What clients owe each other when several share a session: roles, and word of what the others do.
//!
//! Only clients that asked for it hear that word: editors do not know such events, and some die of them.

use breakroom_dap::{Json, event, request};
use serde::{Deserialize, Serialize};
use serde_json::json;
use smallvec::SmallVec;

use crate::client::Client;
use crate::commands::{Kind, Known};
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::session::Session;

/// What a client may do. A courtesy between connections of one user, not a matter of security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    #[default]
    Drive,
    /// Looks on: nothing it asks for changes the program or where it stops.
    Observe,
}

/// What the hub's own member in `launch` or `attach` says about the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manners {
    pub role: Role,
    /// Whether it wants the hub's own events; some editors die on an event that they do not know.
    pub events: Events,
    pub attendance: Attended,
}

/// Whether a person or an agent acts through a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Attended {
    #[default]
    Yes,
    /// A front end that runs the program by itself. Another client that stops the program need not ask it.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Events {
    #[default]
    OfDapOnly,
    OfTheHubToo,
}

impl Manners {
    pub fn of(own: Option<Json>) -> Manners {
        let Some(own) = own else { return Manners::default() };
        let observes = own.str("role").as_deref() == Some("observe");
        Manners {
            role: if observes { Role::Observe } else { Role::Drive },
            events: if own.flag("events") { Events::OfTheHubToo } else { Events::OfDapOnly },
            attendance: if own.flag("unattended") { Attended::No } else { Attended::Yes },
        }
    }
}

impl Session {
    /// What an observer asks for is refused or acknowledged without effect. `None` if it may be done. A request that is
    /// not known may change anything, so it is refused.
    pub(crate) fn observed(
        &mut self,
        id: ClientId,
        seq: FromClient,
        command: &str,
        arguments: Option<Json>,
    ) -> Option<Result<(), Failure>> {
        let client = self.clients.get(&id)?;
        if client.manners.role == Role::Drive {
            return None;
        }
        let known = Known::of(command);
        if known.is_some_and(|known| known.observers) {
            return None;
        }
        if known.is_some_and(|known| known.kind == Kind::Sets) {
            let wanted =
                arguments.and_then(|arguments| arguments.get("breakpoints").or(arguments.get("lines")));
            let answer = json!({"verified": false, "message": "this client only observes"});
            let count = wanted.into_iter().flat_map(Json::elements).count();
            self.answer(id, seq, command, Some(json!({"breakpoints": vec![answer; count]})));
            return Some(Ok(()));
        }
        let text = format!(
            "`{command}` is not for observers; connect again and attach with \"breakroom\": {{\"role\": \"drive\"}}."
        );
        Some(Err(Failure::quiet(FailureId::OnlyObserves, text)))
    }

    /// Tells those who want to know what a client did.
    pub(crate) fn note_deed(&mut self, by: ClientId, command: &str, arguments: Option<Json>) {
        let Some(deed) = Known::of(command).and_then(|known| known.deed) else { return };
        self.note_deed_as(by, deed, command, arguments);
    }

    /// A goodbye is everybody's right and no deed; one that ends the session for those who are still there is.
    pub(crate) fn note_end(&mut self, by: ClientId) {
        let stays =
            |(id, other): (&ClientId, &Client)| *id != by && other.takes_part() && !other.is_at_child();
        if self.clients.iter().any(stays) {
            self.note_deed_as(by, "ended the session", "disconnect", None);
        }
    }

    /// The same of one that ends a child that others may see.
    pub(crate) fn note_child_end(&mut self, by: ClientId, child: NodeId) {
        if self.clients.iter().any(|(id, other)| *id != by && other.takes_part()) {
            let named = request("disconnect", json!({"name": self.label(child)}));
            self.note_deed_as(by, "ended a child session", "disconnect", named.payload());
        }
    }

    fn note_deed_as(&mut self, by: ClientId, deed: &str, command: &str, arguments: Option<Json>) {
        self.note_did(by, deed, command, arguments);
        let Some(name) = self.clients.get(&by).map(|client| client.name().to_owned()) else { return };
        let mut body = json!({"client": name, "deed": deed, "command": command});
        for key in ["threadId", "expression", "name", "value"] {
            let said = arguments.and_then(|arguments| arguments.get(key)).and_then(Json::raw);
            if let Some(said) = said.and_then(|raw| serde_json::from_slice(raw).ok()) {
                let said: serde_json::Value = said;
                body[key] = said;
            }
        }
        self.tell_activity(by, body);
    }

    /// Somebody came, went or was lost.
    pub(crate) fn tell_presence(&mut self, who: ClientId, name: &str, deed: &str) {
        self.tell_activity(who, json!({"client": name, "deed": deed}));
    }

    fn tell_activity(&mut self, by: ClientId, body: serde_json::Value) {
        let message = event("breakroom/activity", Some(body));
        let interested = |(id, client): (&ClientId, &Client)| {
            (*id != by && client.manners.events == Events::OfTheHubToo).then_some(*id)
        };
        for id in self.clients.iter().filter_map(interested).collect::<Vec<_>>() {
            self.tell_one(id, "breakroom/activity", &message, SmallVec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manners_are_read_from_the_hubs_own_member() {
        let text = br#"{"role":"observe","events":true}"#;
        let manners = Manners::of(Json::first(text));
        assert_eq!(
            manners,
            Manners { role: Role::Observe, events: Events::OfTheHubToo, attendance: Attended::Yes }
        );
        assert_eq!(Manners::of(None), Manners::default());
    }
}
