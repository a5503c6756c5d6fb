//! Who let the program run: every other client hears of it exactly once, before it hears of the next stop.
//!
//! Engines say it before or after they answer the resume, or never; what a client was told is kept in `belief`.

use breakroom_dap::view::Run;
use breakroom_dap::{Message, event};
use serde_json::json;
use smallvec::SmallVec;

use crate::flat::{self, Knows};
use crate::ids::{ClientId, NodeId};
use crate::node::Hushed;
use crate::session::Session;

impl Session {
    /// The engine says that threads run. Whoever resumed them hears it as the engine says it; the others only if they
    /// were not told already.
    pub(crate) fn on_continued(&mut self, node: NodeId, message: &Message) {
        let Run { thread, all, .. } = Run::of(message.payload());
        let all = all.unwrap_or(true);
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.threads.on_continued(thread, all);
        let resumer = known.threads.resumer(thread);
        let hushed = known.hushed != Hushed::Nothing;
        if hushed {
            known.hushed = Hushed::ContinuedAsItSaid;
        }
        self.forget_ended_references();
        for id in self.viewers(node) {
            let several = self.sees_several(id);
            if several && all {
                self.tell_all_running(id, node, thread, Knows::OfThatOne);
            }
            let Some(client) = self.clients.get_mut(&id) else { continue };
            let believed = client.belief(node).running(thread, all);
            // Without a thread it has been told of each.
            let told = several && thread.is_none();
            if !told && (believed || !hushed && (resumer.is_none() || resumer == Some(id))) {
                let alone = several.then(|| flat::alone(message, "allThreadsContinued")).flatten();
                self.tell_one(id, "continued", message, alone.into_iter().collect());
            }
        }
    }

    /// The engine agreed to a resume. A stop that overtook its answer told of it already; then only those threads are
    /// news that still run.
    pub(crate) fn on_resumed(&mut self, node: NodeId, by: ClientId, thread: Option<i64>, all: bool) {
        let Some(known) = self.nodes.get(&node) else { return };
        let overtaken = if all { known.threads.any_stopped() } else { known.threads.is_stopped(thread) };
        match (overtaken, all) {
            (false, _) => self.tell_resumed(node, by, thread, all),
            (true, false) => {}
            (true, true) => {
                let named = known.picture.named(&known.threads);
                let runs = |thread: &i64| !known.threads.is_stopped(Some(*thread));
                let went_on: Vec<_> = named.into_iter().filter(runs).collect();
                went_on.into_iter().for_each(|thread| self.tell_resumed(node, by, Some(thread), false));
            }
        }
    }

    /// A resume is certain: whoever did not ask for it and still believes the threads stopped is told.
    pub(crate) fn tell_resumed(&mut self, node: NodeId, by: ClientId, thread: Option<i64>, all: bool) {
        let body = json!({"threadId": thread.unwrap_or(0), "allThreadsContinued": all});
        let message = event("continued", Some(body));
        for id in self.viewers(node) {
            let several = self.sees_several(id);
            if several && all {
                // Whoever resumed this thread does not know that others went with it.
                let knows = if id == by { Knows::OfThatOne } else { Knows::Nothing };
                self.tell_all_running(id, node, thread, knows);
            }
            let Some(client) = self.clients.get_mut(&id) else { continue };
            if client.belief(node).running(thread, all) && id != by && !(several && all) {
                self.tell_one(id, "continued", &message, SmallVec::new());
            }
        }
    }
}
