//! Who let the program run: every other client hears of it exactly once, before it hears of the next stop.
//!
//! Engines say it before or after they answer the resume, or never; what a client was told is kept in `belief`.

use breakroom_dap::view::Run;
use breakroom_dap::{Message, event};
use serde_json::json;
use smallvec::SmallVec;

use crate::commands::Pace;
use crate::company::Events;
use crate::flat::{self, Knows};
use crate::ids::{ClientId, NodeId};
use crate::node::{Hushed, Resumes};
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
    pub(crate) fn on_resumed(&mut self, node: NodeId, by: ClientId, resumes: Resumes, all: bool) {
        let Resumes { thread, pace, .. } = resumes;
        let Some(known) = self.nodes.get(&node) else { return };
        let overtaken = if all { known.threads.any_stopped() } else { known.threads.is_stopped(thread) };
        if all && pace == Pace::Free {
            self.tell_crossed(node, by, thread);
        }
        let Some(known) = self.nodes.get(&node) else { return };
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

    /// Threads that stopped before the request came have gone on with the one that it names, and whoever asked may not have
    /// heard of them by then. From the answer alone it could not tell their stops from those that came since.
    fn tell_crossed(&mut self, node: NodeId, by: ClientId, resumed: Option<i64>) {
        let several = self.sees_several(by);
        let Some(known) = self.nodes.get(&node) else { return };
        let Some(client) = self.clients.get_mut(&by) else { return };
        if several || client.manners.events != Events::OfTheHubToo {
            return;
        }
        let belief = client.belief(node);
        let has_gone_on = |other: &i64| Some(*other) != resumed && !known.threads.is_stopped(Some(*other));
        for thread in belief.stops().into_iter().filter(has_gone_on).collect::<Vec<_>>() {
            let Some(client) = self.clients.get_mut(&by) else { return };
            client.belief(node).running(Some(thread), false);
            let body = json!({"threadId": thread, "allThreadsContinued": false});
            self.tell_one(by, "continued", &event("continued", Some(body)), SmallVec::new());
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
