//! How a stop is told: to each client with the numbers of its own breakpoints, and with a word about whose doing it is.
//!
//! A client that is alone with its own breakpoints is told what the engine says and nothing else.

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Message, references};
use serde_json::json;
use smallvec::SmallVec;

use crate::attached::Standing;
use crate::flat;
use crate::gathering::with_label;
use crate::ids::{ClientId, NOBODY, NodeId};
use crate::judgement::Trouble;
use crate::judging::Fate;
use crate::ledger::{Hit, Judge};
use crate::node::Hushed;
use crate::paused::Pausing;
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

/// Whose doing a stop is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cause<'a> {
    /// Who let the program run to it.
    pub resumer: Option<ClientId>,
    /// Whose breakpoints it hit, and under which numbers.
    pub wanted: &'a [(ClientId, i64)],
    /// The same of all stops that are told with it: nobody goes on from one of them alone.
    pub together: &'a [(ClientId, i64)],
    pub trouble: Option<&'a Trouble>,
}

impl Session {
    /// A stop. If it overtook everything that would have told of the resume before it, that is told first.
    pub(crate) fn on_stopped(&mut self, node: NodeId, message: &Message) {
        let begins = self.begins(node);
        let entry = self.as_entry(node, message);
        let begins = begins.filter(|_| entry.is_some());
        let renamed = entry.or_else(|| self.as_pause(node, message)).or_else(|| self.as_panic(node, message));
        let message = renamed.as_ref().unwrap_or(message);
        let Run { thread, all, .. } = Run::of(message.payload());
        let all = all.unwrap_or(false);
        self.note_hit(node, message);
        let forbidden = self.forbids_judging(node);
        let resumer = self.nodes.get(&node).and_then(|node| node.threads.resumer(thread));
        if let Some(by) = resumer {
            self.tell_resumed(node, by, thread, all);
        }
        if let Some(known) = self.nodes.get_mut(&node) {
            if !known.threads.any_stopped() {
                known.passing.is_over();
            }
            known.threads.on_stopped(thread, all);
            known.seen = thread.or(known.seen);
            known.standing = Standing::Told;
        }
        self.forget_ended_references();
        let leaving = self.leaves(node, message);
        let fate = match begins.filter(|_| forbidden.is_none()) {
            Some(begins) => self.take_in_beginning(node, message, begins, resumer),
            None if leaving.is_some() => self.take_in_leaving(node, message, leaving, resumer),
            None => self.take_in(node, message, forbidden, resumer),
        };
        if let Fate::Told(trouble) = fate {
            let named = self.named_ids(node, message.payload());
            if named.is_empty() {
                self.note_unnamed(node, message);
            }
            let wanted = self.count_hits(self.ledger.hit(node, &named));
            let cause = Cause { resumer, wanted: &wanted, together: &wanted, trouble: trouble.as_ref() };
            self.tell_stopped(node, message, cause);
        }
    }

    /// Where a program stopped there is a breakpoint, whatever was said of it before, and there people look now.
    fn note_hit(&mut self, node: NodeId, message: &Message) {
        self.ledger.homes.focus(node);
        let changed = self.ledger.verify_hit(node, &self.named_ids(node, message.payload()));
        if !changed.is_empty() {
            self.tell_changed(changed);
            self.tell_of_others();
        }
    }

    /// Whose breakpoints were hit. Where the hub did not judge, it cannot tell whether a condition held.
    pub(crate) fn count_hits(&mut self, hits: Vec<Hit>) -> Vec<(ClientId, i64)> {
        let mut wanted = Vec::new();
        for hit in hits {
            for owned in hit.owners.into_iter().filter(|owned| owned.owner != NOBODY) {
                if hit.judge == Judge::Engine || owned.terms.condition.is_none() {
                    self.ledger.count_hit(owned.owner, owned.number);
                }
                wanted.push((owned.owner, owned.number));
            }
        }
        wanted
    }

    pub(crate) fn tell_stopped(&mut self, node: NodeId, message: &Message, cause: Cause) {
        let Run { thread, all, .. } = Run::of(message.payload());
        self.note_captures(node, if cause.trouble.is_none() { cause.together } else { &[] });
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.hushed = Hushed::Nothing;
        known.pausing = Pausing::No;
        known.stepping = None;
        self.look_inside(node, message);
        self.make_leavable(node, message);
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let life = known.threads.life_of_this_stop();
        let found = references::by_name(message.bytes());
        let edits: Edits = self.mint(node, life, None, found).collect();
        let for_joiners: Edits =
            edits.iter().cloned().chain(self.explain(None, None, message, cause)).collect();
        self.note_picture(node, message, &for_joiners);
        match message.edited(for_joiners) {
            Ok(explained) => self.note_event(node, "stopped", &explained),
            Err(_) => self.note_event(node, "stopped", message),
        }
        self.active = Some(node);
        self.clients.values_mut().for_each(|client| client.focus = None);
        for id in self.viewers(node) {
            let hit = self.hit_numbers(id, node, message, Some(cause.wanted));
            let label = self.label_for(id, node);
            let explained = self.explain(Some(id), label.as_deref(), message, cause);
            let mut edits: Edits = edits.iter().cloned().chain(hit).chain(explained).collect();
            let all = all.unwrap_or(false);
            let own = self.own_words(id, node).zip(message.payload());
            edits.extend(own.and_then(|(words, body)| Edit::member(body, "breakroom", words)));
            if label.is_some() {
                edits.extend(flat::alone(message, "allThreadsStopped"));
            }
            if let Some(client) = self.clients.get_mut(&id) {
                client.belief(node).stopped(thread, all && label.is_none());
            }
            self.tell_one(id, "stopped", message, edits);
            // Behind it: whoever waits for a step to end takes the first stop for its own.
            if all && label.is_some() {
                self.tell_stopped_with_all(id, node, thread);
            }
        }
    }

    /// The breakpoints that were hit in a client's own numbers: those that are known to have been, or those that the
    /// engine names. An engine that names none is helped.
    pub(crate) fn hit_numbers(
        &self,
        client: ClientId,
        node: NodeId,
        message: &Message,
        wanted: Option<&[(ClientId, i64)]>,
    ) -> Option<Edit> {
        let body = message.payload()?;
        let named = body.get("hitBreakpointIds");
        let engine = self.named_ids(node, Some(body));
        let own = match wanted {
            Some(wanted) => {
                let own = wanted.iter().filter(|(owner, _)| *owner == client).map(|(_, number)| *number);
                own.chain(self.ledger.aliases(client, node, &engine)).collect()
            }
            None => self.ledger.numbers(client, node, &engine),
        };
        if named.is_none() && own.is_empty() {
            return None;
        }
        Edit::member(body, "hitBreakpointIds", json!(own).to_string())
    }

    /// What is said about a stop beyond the engine's own words, to a client or to those who come later.
    fn explain(
        &self,
        viewer: Option<ClientId>,
        label: Option<&str>,
        message: &Message,
        cause: Cause,
    ) -> Option<Edit> {
        let mine = viewer.is_some() && cause.wanted.iter().any(|(owner, _)| Some(*owner) == viewer);
        let mut owners: Vec<String> = Vec::new();
        for (owner, _) in cause.wanted.iter().filter(|(owner, _)| !mine && *owner != NOBODY) {
            let name = self.name_of(*owner);
            if !owners.contains(&name) {
                owners.push(name);
            }
        }
        let alone =
            self.clients.len() <= 1 && cause.wanted.iter().all(|(owner, _)| self.clients.contains_key(owner));
        let trouble = cause.trouble.and_then(|trouble| self.in_words(trouble));
        let resumer = cause.resumer.filter(|by| Some(*by) != viewer && !alone).map(|by| self.name_of(by));
        let owners = Some(owners).filter(|owners| !owners.is_empty() && !alone);
        if trouble.is_none() && resumer.is_none() && owners.is_none() && label.is_none() {
            return None;
        }
        let body = message.payload()?;
        let mut text =
            body.str("description").or_else(|| body.str("reason")).unwrap_or_default().trim().to_owned();
        if let Some(owners) = owners {
            text += &format!(", set by {}", owners.join(" and "));
        }
        if let Some(resumer) = resumer {
            text += &format!(" (resumed by {resumer})");
        }
        if let Some(trouble) = trouble {
            text += &format!("; {trouble}");
        }
        let text = with_label(&text, label);
        Edit::member(body, "description", json!(text).to_string())
    }

    fn in_words(&self, trouble: &Trouble) -> Option<String> {
        match trouble {
            Trouble::Unknown => None,
            Trouble::Because(reason) => Some(reason.clone()),
            Trouble::Terms { owner, what } => Some(format!("{what} ({})", self.name_of(*owner))),
        }
    }

    /// A client's name for people, also after it left.
    pub(crate) fn name_of(&self, id: ClientId) -> String {
        let parted = || Some(self.parted.iter().find(|(parted, _)| *parted == id)?.1.as_str());
        let there = self.clients.get(&id).map(|client| client.name());
        there.or_else(parted).unwrap_or("a client that left").to_owned()
    }
}
