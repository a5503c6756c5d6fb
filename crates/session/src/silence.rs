//! Engines that do not answer: whoever waits is told so once, and goes on waiting.
//!
//! Nothing is given up for it, since a debugger that loads symbols may well take minutes.

use crate::ids::NodeId;
use crate::node::{Purpose, SILENCE};
use crate::session::Session;

impl Session {
    /// Tells whoever waits for an answer of a node that has been silent for too long.
    pub(crate) fn tell_silence(&mut self, id: NodeId) {
        loop {
            let now = self.now;
            let Some(node) = self.nodes.get_mut(&id) else {
                return;
            };
            let name = node.name().to_owned();
            let Some(pending) = node.next_silent(now) else {
                return;
            };
            let command = pending.command.clone();
            let seconds = SILENCE.as_secs();
            let text = format!(
                "{name} has not answered `{command}` for {seconds} s. It may be busy; `pause`, `disconnect` and `terminate` still work."
            );
            match (pending.asker(), &pending.purpose) {
                (Some((client, _)), _) => self.say(client, &text),
                // Everybody waits for that.
                (None, Purpose::Initialize) => {
                    let clients: Vec<_> = self.clients.keys().copied().collect();
                    clients.into_iter().for_each(|client| self.say(client, &text));
                }
                // So does whoever looks at a group for one of its members.
                (None, Purpose::StartChild | Purpose::ConfigureChild) => {
                    let text = format!("{}: {text}", self.label(id));
                    self.viewers(id).into_iter().for_each(|client| self.say(client, &text));
                }
                (None, _) => {}
            }
        }
    }
}
