//! One answer out of several nodes: the threads of a tree, for a client that sees it as one session.
//!
//! Each node is asked by itself, and the answer is given when the last one has answered or is gone, or has had its time:
//! one that stands still must not keep the threads of the others. A node that does not say is listed with what is known
//! of it: a client takes a thread that is missing for one that ended.

use std::time::Duration;

use breakroom_dap::{Edit, Envelope, Json, Message, response_with};
use breakroom_habits::ThreadList;
use serde_json::json;
use smallvec::SmallVec;

use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, FromClient, NodeId, Time};
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::session::Session;

/// How long one of several nodes is waited for.
pub(crate) const SHARE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gathering(u64);

#[derive(Debug)]
pub(crate) struct Gathered {
    asker: Asker,
    until: Time,
    shares: Vec<(NodeId, Share)>,
}

#[derive(Debug)]
enum Share {
    Asked,
    Came(Message),
    Refused,
}

impl Session {
    /// `threads`: of the one node that a client sees, or of all that it sees.
    pub(crate) fn threads(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        let nodes = self.debugged(client);
        if nodes.len() < 2 {
            self.engine_is_there("threads")?;
            let home = self.home(client).and_then(|home| self.nodes.get(&home));
            // It coordinates, or what was debugged in it is over.
            if nodes.is_empty() && home.is_none_or(|home| home.coordinates()) {
                self.answer(client, seq, "threads", Some(json!({"threads": []})));
                return Ok(());
            }
            return self.forward(client, seq, "threads", message);
        }
        self.last_gathering += 1;
        let gathering = Gathering(self.last_gathering);
        let shares = nodes.iter().map(|node| (*node, Share::Asked)).collect();
        let until = self.now.after(SHARE);
        self.gatherings.insert(gathering, Gathered { asker: Asker { client, seq }, until, shares });
        for node in nodes {
            let pending = Pending { command: "threads".into(), purpose: Purpose::Gather(gathering) };
            let Some(known) = self.nodes.get_mut(&node) else { continue };
            if known.is_full(Lane::Normal) || !known.listens() {
                self.gathered(gathering, node, None);
            } else {
                known.push(Lane::Normal, Waiting::new(message.clone(), SmallVec::new(), Some(pending)));
            }
        }
        Ok(())
    }

    /// A node has answered, or will not.
    pub(crate) fn gathered(&mut self, gathering: Gathering, node: NodeId, answer: Option<Message>) {
        let Some(gathered) = self.gatherings.get_mut(&gathering) else { return };
        for (from, share) in &mut gathered.shares {
            if *from == node && matches!(share, Share::Asked) {
                *share = answer.clone().map_or(Share::Refused, Share::Came);
            }
        }
        if !gathered.shares.iter().any(|(_, share)| matches!(share, Share::Asked))
            && let Some(Gathered { asker, shares, .. }) = self.gatherings.remove(&gathering)
        {
            self.give_threads(asker, &shares);
        }
    }

    pub(crate) fn gathering_deadline(&self) -> Option<Time> {
        self.gatherings.values().map(|gathered| gathered.until).min()
    }

    /// Who has not answered by now is not waited for.
    pub(crate) fn gather_in_time(&mut self) {
        let now = self.now;
        let late = |(key, gathered): (&Gathering, &Gathered)| (gathered.until <= now).then_some(*key);
        for key in self.gatherings.iter().filter_map(late).collect::<Vec<_>>() {
            if let Some(Gathered { asker, shares, .. }) = self.gatherings.remove(&key) {
                self.give_threads(asker, &shares);
            }
        }
    }

    fn give_threads(&mut self, asker: Asker, shares: &[(NodeId, Share)]) {
        // Those of a node that ended meanwhile are gone.
        let lives = |node: &NodeId| self.nodes.get(node).is_some_and(|node| node.debugs());
        let there: Vec<_> = shares.iter().filter(|(node, _)| lives(node)).collect();
        let mut list: Vec<u8> = Vec::new();
        for (node, share) in &there {
            let label = (there.len() > 1).then(|| self.label(*node));
            let threads = match share {
                Share::Came(message) => listed(message, label.as_deref()),
                Share::Asked | Share::Refused => self.remembered(*node, label.as_deref()),
            };
            for thread in threads {
                list.push(if list.is_empty() { b'[' } else { b',' });
                list.extend(thread);
            }
        }
        list.extend(if list.is_empty() { &b"[]"[..] } else { b"]" });
        self.send(asker.client, response_with(asker.seq.0, "threads", "threads", &list));
        for (node, _) in &there {
            self.tell_stopped_with_all(asker.client, *node, None);
        }
    }

    fn remembered(&self, node: NodeId, label: Option<&str>) -> Vec<Vec<u8>> {
        let Some(known) = self.nodes.get(&node) else { return Vec::new() };
        let named = known.picture.known(&known.threads);
        let thread = |thread: i64| {
            let name = known.picture.name(thread).unwrap_or_else(|| format!("Thread {thread}"));
            json!({"id": thread, "name": with_label(&name, label)})
        };
        named.into_iter().map(|id| thread(id).to_string().into_bytes()).collect()
    }

    /// What a node answers to `threads`: if it refuses while it runs, what is known of it. A client that cannot name a thread could not
    /// pause it either.
    pub(crate) fn threads_answered(&mut self, node: NodeId, message: Message) -> Message {
        let Some(known) = self.nodes.get_mut(&node) else { return message };
        let Envelope::Response { success, .. } = *message.envelope() else { return message };
        if success {
            let message = known.thread_numbers.of_list(message, &mut self.thread_mint);
            // One that has taken its leave has no threads any more.
            if known.debugs() {
                known.picture.list(&message);
            }
            return message;
        }
        // Of a stop its answer is the truth, whatever it is.
        if known.threads.any_stopped() || message.failure_text().as_deref() == Some("cancelled") {
            return message;
        }
        let only_when_stopped = known.facts.running.threads == ThreadList::WhenStopped;
        let mut threads = self.remembered(node, None);
        if threads.is_empty() && only_when_stopped {
            threads.push(json!({"id": 1, "name": "Thread 1"}).to_string().into_bytes());
        }
        if threads.is_empty() {
            return message;
        }
        let list = [&b"["[..], &threads.join(&b','), b"]"].concat();
        response_with(0, "threads", "threads", &list)
    }

    /// A client does not want an answer any more, or will not hear it. Says which requests that were.
    pub(crate) fn withdraw_gatherings(
        &mut self,
        client: ClientId,
        only: Option<FromClient>,
    ) -> Vec<FromClient> {
        let is_it = |gathered: &Gathered| {
            gathered.asker.client == client && only.is_none_or(|only| only == gathered.asker.seq)
        };
        let withdrawn: Vec<_> = self
            .gatherings
            .iter()
            .filter(|(_, it)| is_it(it))
            .map(|(key, it)| (*key, it.asker.seq))
            .collect();
        self.gatherings.retain(|key, _| !withdrawn.iter().any(|(withdrawn, _)| withdrawn == key));
        withdrawn.into_iter().map(|(_, seq)| seq).collect()
    }

    /// Answers what a client still waits for, because it is about to hear its last word.
    pub(crate) fn settle_gatherings(&mut self, client: ClientId, refusal: &dyn Fn(&str) -> Failure) {
        for seq in self.withdraw_gatherings(client, None) {
            self.refuse(client, seq, "threads", &refusal("threads"));
        }
    }

    /// `cancel` of a gathering. False if there is none.
    pub(crate) fn cancel_gathering(&mut self, client: ClientId, asked: FromClient) -> bool {
        let withdrawn = self.withdraw_gatherings(client, Some(asked));
        for seq in &withdrawn {
            self.refuse(client, *seq, "threads", &Failure::quiet(FailureId::Cancelled, "cancelled"));
        }
        !withdrawn.is_empty()
    }
}

/// The threads of an answer, each as the engine wrote it but for its name.
fn listed(message: &Message, label: Option<&str>) -> Vec<Vec<u8>> {
    let threads = |message: &Message| -> Vec<Vec<u8>> {
        let list = message.payload().and_then(|body| body.get("threads"));
        let raw = list.into_iter().flat_map(Json::elements).filter_map(Json::raw);
        raw.map(<[u8]>::to_vec).collect()
    };
    let Some(label) = label else { return threads(message) };
    let list = message.payload().and_then(|body| body.get("threads"));
    let edit = |thread: Json| {
        let name = with_label(&thread.str("name").unwrap_or_default(), Some(label));
        Edit::member(thread, "name", json!(name).to_string())
    };
    let edits = list.into_iter().flat_map(Json::elements).filter_map(edit).collect();
    message.edited(edits).map_or_else(|_| threads(message), |edited| threads(&edited))
}

/// A name with that of its node behind it, if it does not say it itself.
pub(crate) fn with_label(name: &str, label: Option<&str>) -> String {
    match label {
        Some(label) if says(name, label) => name.to_owned(),
        Some(label) if name.is_empty() => format!("[{label}]"),
        Some(label) => format!("{name} [{label}]"),
        None => name.to_owned(),
    }
}

/// Whether a text has these words in it, and not only their letters: "Thread 12" does not say "2".
fn says(text: &str, words: &str) -> bool {
    let ends = |neighbour: Option<char>| !neighbour.is_some_and(char::is_alphanumeric);
    let mut found = text.match_indices(words).filter(|(_, found)| !found.is_empty());
    found.any(|(at, found)| {
        ends(text[..at].chars().next_back()) && ends(text[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_says_its_node_already_is_left_alone() {
        for (name, label, told) in [
            ("[worker 2]", "worker 2", "[worker 2]"),
            ("worker 2", "worker 2", "worker 2"),
            ("Thread 12", "2", "Thread 12 [2]"),
            ("worker 22", "worker 2", "worker 22 [worker 2]"),
            ("worker 22 of worker 2", "worker 2", "worker 22 of worker 2"),
            ("main", "", "main []"),
            ("", "worker 2", "[worker 2]"),
        ] {
            assert_eq!(with_label(name, Some(label)), told);
        }
        assert_eq!(with_label("main", None), "main");
    }
}
