//! Programs that are ended by signal before their engine hears of the end. That it hears nothing until that is done is looked
//! at by the rig.

use breakroom_session::habits::ProgramEnd;
use breakroom_session::{Force, Input, NodeId};
use serde_json::Value;

use super::census::Sight;
use super::engine::{Engine, Process, Start};
use super::world::World;
use crate::rig::keeper_of;

impl World {
    /// Only what was launched is ended by signal, as its engine needs it; what is stopped at once.
    pub fn programs_are_killed_as_agreed(&mut self) {
        let kill = std::mem::take(&mut self.rig.killed).into_iter().map(|it| (it, Force::Kill));
        let ask = std::mem::take(&mut self.rig.asked_to_go).into_iter().map(|it| (it, Force::Ask));
        for ((keeper, whole), force) in kill.chain(ask).collect::<Vec<_>>() {
            self.note(&keeper, &format!("its programs are ended: {force:?}"));
            let force = self.mutation.map_or(force, |mutation| mutation.force(force));
            let engine = &self.engines[&keeper];
            let start = self.mutation.map_or(engine.start, |mutation| mutation.start(engine.start));
            assert_ne!(start, Some(Start::Attached), "the end: {keeper:?} did not launch what is ended");
            let way = if whole { ProgramEnd::KillAll } else { ProgramEnd::KillPrograms };
            assert_eq!(way, engine.end, "the end: how the programs of {keeper:?} are ended");
            let its = |engine: &&Engine| keeper_of(engine.node, &self.rig.opened) == keeper;
            let its: Vec<_> = self.engines.values().filter(its).filter(|engine| !engine.let_go).collect();
            let stopped = its.iter().any(|engine| engine.has_stopped());
            // Nobody could tell whether what was asked to resume still stands.
            let unclear = its.iter().any(|engine| engine.inbox_resumes());
            assert!(
                unclear || stopped == (force == Force::Kill),
                "the end: {force:?} for the programs of {keeper:?}, of which something stands still: {stopped}"
            );
            self.census.saw(if force == Force::Kill { Sight::Killed } else { Sight::AskedToGo });
            self.engines.get_mut(&keeper).unwrap().killed = true;
            self.killing.push((keeper, whole));
            if let Some(hasty) = self.mutation.and_then(|mutation| mutation.hastens(keeper)) {
                let now = breakroom_session::Time(self.rig.now());
                self.rig.session.on(now, hasty);
                self.rig.advance(0);
            }
        }
    }

    /// One that would let a stopped program run on is not asked to end it before it is dead.
    pub fn may_hear_of_the_end(&self, node: NodeId, message: &Value) {
        let engine = &self.engines[&node];
        let ends = match message["command"].as_str() {
            Some("terminate") => true,
            Some("disconnect") => message["arguments"]["terminateDebuggee"] != false,
            _ => false,
        };
        let lives = engine.launched && engine.start == Some(Start::Launched) && !engine.over;
        if ends && lives && engine.is_root() {
            let may = engine.end == ProgramEnd::Asked || engine.killed;
            assert!(may, "the end: {node:?} is asked to end a program that would run on: {message}");
        }
    }

    /// A guard has ended what it was told to, and says so; or the engine is gone with it.
    pub fn a_guard_is_done(&mut self) {
        let Some((keeper, whole)) = self.random.take(&mut self.killing) else { return };
        if whole {
            return self.engine_ends(keeper, true);
        }
        let its = |engine: &&Engine| {
            engine.is_up() && engine.launched && keeper_of(engine.node, &self.rig.opened) == keeper
        };
        let its: Vec<_> = self.engines.values().filter(its).map(|engine| engine.node).collect();
        for node in its.into_iter().filter(|_| self.random.one_in(2)).collect::<Vec<_>>() {
            for message in self.engines.get_mut(&node).unwrap().terminates() {
                self.engine_says(node, message);
            }
        }
        if self.engines[&keeper].process != Process::Gone {
            self.rig.on(Input::ProgramsKilled { node: keeper });
            self.collect();
        }
    }
}
