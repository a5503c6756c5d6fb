//! What the session asks for is done, or begun: what comes of it is heard as news.
//!
//! Nothing is waited for, since nobody else of the session would be heard meanwhile.

use std::path::PathBuf;
use std::time::Duration;

use breakroom_engines::{Stop, WhenLost};
use breakroom_session::{Effect, Fate, Input, NodeId};

use super::{Driver, Step, node_io};
use crate::choose::Wanted;
use crate::supervise::{self, Order};

impl Driver {
    pub(super) fn perform(&mut self) -> Step {
        let mut step = Step::Done;
        while let Some(effect) = self.session.poll_effect() {
            step = Step::Again;
            match effect {
                Effect::StartEngine { node, choice, arguments } => {
                    self.start_engine(node, Wanted { choice, arguments });
                }
                Effect::OpenChild { node, parent, opening } => self.open_child(node, parent, opening),
                Effect::Prepare { ticket, command, arguments } => {
                    let (guard, news) = (self.guard(), self.sender.clone());
                    if !self.preparations.begin(ticket, command, arguments, &self.context, guard, news) {
                        self.on(Input::Prepared { ticket, result: Ok(None) });
                    }
                }
                Effect::CallOff { ticket } => self.preparations.call_off(ticket),
                Effect::StopEngine { node, grace, debuggee } => self.stop(node, grace, debuggee),
                Effect::KillPrograms { node, whole, force } => self.kill(node, whole, force),
                Effect::GuardPrograms { node, whole } => self.guard_programs(node, whole),
                Effect::SparePrograms { node } => self.when_lost(node, WhenLost::Spare),
                Effect::EndInput { node } => drop(self.give_input(node, "", true)),
                Effect::MoveClient { client, session } => {
                    supervise::find(client, session, self.registry.clone(), self.sender.clone());
                }
                Effect::AskHub { ticket, verb } => {
                    supervise::ask_hub(ticket, verb, self.registry.clone(), self.sender.clone());
                }
                Effect::Record { stream, text } => self.recorder.write(stream, &text),
                Effect::RunInTerminal { ticket, node, request } => {
                    let (context, guard) = (self.context.clone(), self.guard());
                    supervise::open_terminal(ticket, node, request, context, guard, self.sender.clone());
                }
                Effect::GiveInput { ticket, node, text, end } => {
                    let result = self.give_input(node, &text, end);
                    self.on(Input::HubAnswered { ticket, result });
                }
            }
        }
        step
    }

    pub(super) fn start_engine(&mut self, node: NodeId, wanted: Wanted) {
        let (context, guards) = (self.context.clone(), self.guards.clone());
        let task =
            supervise::start(node, wanted, self.preparations.makers(), context, guards, self.sender.clone());
        self.starting.push((node, task));
    }

    /// What guards are started from where none is kept for it.
    fn guard(&self) -> PathBuf {
        self.guards.executable().to_path_buf()
    }

    fn stop(&mut self, id: NodeId, grace: Duration, debuggee: Fate) {
        let how = match debuggee {
            Fate::Lives => Stop::Release { grace },
            Fate::Ends => Stop::End { grace },
        };
        for terminal in self.terminals.iter().filter(|terminal| terminal.node == id) {
            let _ = terminal.orders.send(Order::Stop(how));
        }
        if let Some(node) = self.nodes.iter_mut().find(|node| node.id() == id) {
            return node.stop(how);
        }
        if let Some(at) = self.starting.iter().position(|(node, _)| *node == id) {
            self.starting.swap_remove(at).1.abort();
            return self.on(node_io::called_off(id));
        }
        if let Some(at) = self.awaited.iter().position(|awaited| awaited.node == id) {
            self.awaited.swap_remove(at).task.abort();
            self.on(node_io::called_off(id));
        }
    }
}
