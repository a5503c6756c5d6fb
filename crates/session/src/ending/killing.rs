//! Programs that end where they are: killed before their engine hears that the session ends.
//!
//! Some engines let a stopped program run on when they are asked to end it, or lose their client ([`ProgramEnd`]). What
//! they started is killed first, and meanwhile they and all connections to their server hear nothing. A program that runs
//! is asked by signal, so that its own last words are said. Nothing that was attached to is signalled.

use std::time::Duration;

use breakroom_habits::{ProgramEnd, WishedEnd};

use crate::ids::{NodeId, Time};
use crate::io::{Effect, Force};
use crate::launch::Start;
use crate::node::{Hearing, Node, Phase};
use crate::session::Session;

use super::Fate;

/// How long a guard may take to say that it is done. One that is silent must keep neither a session nor a restart.
const PATIENCE: Duration = Duration::from_secs(2);

impl Session {
    /// Ends what this node's engine launched by signal, if that is how it is ended.
    pub(crate) fn kill_programs(&mut self, keeper: NodeId) {
        let launched = self.start_of(keeper) == Start::Launch;
        let Some(node) = self.nodes.get(&keeper) else { return };
        let lives = matches!(node.phase, Phase::Ready { .. }) && !node.picture.is_over();
        if !launched || !lives || self.is_held(keeper) {
            return;
        }
        let Some(whole) = self.kills_whole(node) else { return };
        let force = match self.wished_end(node) {
            Some(WishedEnd::Kill) => Force::Kill,
            // What it does at the signal it does when it goes on.
            Some(WishedEnd::Ask) => Force::Ask,
            None | Some(WishedEnd::Spare) if self.stands_still(keeper) => Force::Kill,
            None | Some(WishedEnd::Spare) => Force::Ask,
        };
        self.keep_waiting(keeper, Hearing::NothingUntil(self.now.after(PATIENCE)));
        self.effect(Effect::KillPrograms { node: keeper, whole, force });
    }

    /// A program is launched by this node's engine: its guard is told, if the engine would let it run on without us, or
    /// the program is to.
    pub(crate) fn guard_programs(&mut self, keeper: NodeId) {
        let Some(node) = self.nodes.get(&keeper).filter(|node| node.has_own_engine()) else { return };
        match (self.wished_end(node), self.kills_whole(node)) {
            (Some(WishedEnd::Spare), _) => self.effect(Effect::SparePrograms { node: keeper }),
            (Some(WishedEnd::Ask), _) | (_, None) => {}
            (Some(WishedEnd::Kill) | None, Some(whole)) => {
                self.effect(Effect::GuardPrograms { node: keeper, whole });
            }
        }
    }

    /// How the launch says that its program is to be ended, if it does.
    fn wished_end(&self, node: &Node) -> Option<WishedEnd> {
        let wished = node.facts.ending.wished.as_ref()?;
        let launch = match node.lineage.child() {
            Some(child) => &child.request,
            None => &self.launched.as_ref()?.0,
        };
        let word = launch.payload()?.str(&wished.key)?;
        wished.means.get(&*word).copied()
    }

    /// Whether the program goes on if the session ends by a goodbye that says nothing about it.
    pub(crate) fn program_outlives(&self) -> bool {
        let root = self.root.and_then(|root| self.nodes.get(&root));
        let spared = |node: &Node| {
            let wished = self.wished_end(node).filter(|_| node.capabilities.terminate_debuggee);
            matches!(wished, Some(WishedEnd::Spare | WishedEnd::Ask))
        };
        self.launch.start() == Some(Start::Attach) || root.is_some_and(spared)
    }

    /// What becomes of a launched program by the wish of its launch, whatever is said at its end. One that is to be asked
    /// for it is asked here.
    pub(crate) fn follow_wish(&mut self, keeper: NodeId) -> Option<Fate> {
        let node = self.nodes.get(&keeper)?;
        let can_leave = node.capabilities.terminate_debuggee && self.start_of(keeper) == Start::Launch;
        let wished = self.wished_end(node).filter(|_| can_leave)?;
        match wished {
            WishedEnd::Kill => return None,
            WishedEnd::Ask => self.kill_programs(keeper),
            WishedEnd::Spare => {}
        }
        Some(Fate::Lives)
    }

    /// Whether the program behind this node is to be left alone, as the launch of its engine's says.
    pub(super) fn is_spared(&self, node: NodeId) -> bool {
        let keeper = self.keeper_of(node).filter(|keeper| self.start_of(*keeper) == Start::Launch);
        let keeper = keeper.and_then(|keeper| self.nodes.get(&keeper));
        keeper.is_some_and(|keeper| self.wished_end(keeper) == Some(WishedEnd::Spare))
    }

    /// Whether the engine's own process is ended with what it launched. None if it is asked and not killed.
    fn kills_whole(&self, node: &Node) -> Option<bool> {
        match node.facts.ending.program {
            ProgramEnd::Asked => None,
            ProgramEnd::KillPrograms | ProgramEnd::KillAll if self.is_ended_by_asking(node) => None,
            ProgramEnd::KillPrograms => Some(false),
            ProgramEnd::KillAll => Some(true),
        }
    }

    /// Whether its configuration is of a type that the engine itself ends well (a browser).
    fn is_ended_by_asking(&self, node: &Node) -> bool {
        self.kind_of_program(node).is_some_and(|kind| node.facts.ending.asked.contains(&kind))
    }

    /// The type of the configuration that it was started with.
    pub(crate) fn kind_of_program(&self, node: &Node) -> Option<String> {
        let launch =
            self.launched.as_ref().filter(|_| !node.is_child()).and_then(|(launch, _)| launch.payload());
        match node.lineage.child() {
            Some(child) => child.kind.clone(),
            None => launch.and_then(|arguments| arguments.str("type")).map(|kind| kind.into_owned()),
        }
    }

    /// Whether something that this engine debugs is stopped, known to anybody or not.
    fn stands_still(&self, keeper: NodeId) -> bool {
        let mut its = self.nodes.values().filter(|node| self.keeper_of(node.id) == Some(keeper));
        its.any(|node| node.stands())
    }

    pub(crate) fn kill_deadline(&self) -> Option<Time> {
        self.nodes.values().filter_map(|node| node.hearing.until()).min()
    }

    /// A guard that has not said that it is done is not waited for.
    pub(crate) fn kill_in_time(&mut self, node: NodeId) {
        let late = |node: &Node| node.hearing.until().is_some_and(|until| until <= self.now);
        if self.nodes.get(&node).is_some_and(late) {
            // Also one whose engine was forgotten meanwhile: a deadline that has passed must not come back.
            self.nodes.entry(node).and_modify(|node| node.hearing = Hearing::All);
            self.programs_are_killed(node);
        }
    }

    /// What the engine started is no more, or the engine itself: it may hear what waits for it.
    pub(crate) fn programs_are_killed(&mut self, keeper: NodeId) {
        self.keep_waiting(keeper, Hearing::All);
        for effect in std::mem::take(&mut self.held_back) {
            self.effect(effect);
        }
    }

    pub(crate) fn is_held(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.hearing.until().is_some())
    }

    fn keep_waiting(&mut self, keeper: NodeId, hearing: Hearing) {
        let visits: Vec<_> =
            self.nodes.keys().copied().filter(|node| self.keeper_of(*node) == Some(keeper)).collect();
        for node in visits {
            self.nodes.entry(node).and_modify(|node| node.hearing = hearing);
        }
    }

    /// A child that is announced meanwhile waits too: its program stands before its first line until it is configured.
    pub(crate) fn wait_with_keeper(&mut self, child: NodeId) {
        let keeper = self.keeper_of(child).and_then(|keeper| self.nodes.get(&keeper));
        if let Some(hearing) = keeper.map(|keeper| keeper.hearing) {
            self.nodes.entry(child).and_modify(|node| node.hearing = hearing);
        }
    }

    /// The node whose engine's process serves this one.
    fn keeper_of(&self, node: NodeId) -> Option<NodeId> {
        let mut node = self.nodes.get(&node)?;
        while !node.has_own_engine() {
            node = self.nodes.get(&node.lineage.child()?.parent)?;
        }
        Some(node.id)
    }
}
