//! Global variables are set one after the other: who uses one before its turn finds zero, and is warned.
//!
//! Only what the initialisers themselves do is looked at; once `main` runs, everything is set.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::globals::Pending;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{FunctionId, GlobalId};
use crate::modules::ModuleId;
use crate::source::Span;

/// Whose code is being checked, as far as it may run before `main`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    #[default]
    Nobody,
    /// An index into what is pending.
    Initialiser(usize),
    Function(FunctionId),
}

/// Who uses what, noted while it is checked.
#[derive(Debug, Default)]
pub struct Uses {
    pub owner: Owner,
    globals: Vec<(Owner, GlobalId, Span)>,
    calls: Vec<(Owner, FunctionId, Span)>,
}

impl Uses {
    pub fn global(&mut self, id: GlobalId, span: Span) {
        self.globals.push((self.owner, id, span));
    }

    pub fn call(&mut self, id: FunctionId, span: Span) {
        self.calls.push((self.owner, id, span));
    }
}

impl Checker<'_> {
    /// `order` is that of the modules; within one, variables are set as they stand.
    pub(super) fn used_before_their_turn(&mut self, order: &[ModuleId]) {
        let turns = turns(&self.pending, order);
        let uses = std::mem::take(&mut self.uses);
        // A constant that is known has no turn: it is written into the code that uses it.
        let turn = |id: GlobalId| match self.scopes.globals[id.0 as usize].constant {
            Some(_) => 0,
            None => self.global_home.get(id.0 as usize).map_or(0, |home| turns[*home]),
        };
        let latest = latest_of_functions(&uses, turn);
        let mut early: Vec<(Span, GlobalId, Option<FunctionId>)> = Vec::new();
        for (owner, id, span) in &uses.globals {
            if let Owner::Initialiser(index) = owner
                && turn(*id) > turns[*index]
            {
                early.push((*span, *id, None));
            }
        }
        for (owner, function, span) in &uses.calls {
            if let (Owner::Initialiser(index), Some(id)) = (owner, latest.get(function))
                && turn(*id) >= turns[*index]
            {
                early.push((*span, *id, Some(*function)));
            }
        }
        for (span, id, through) in early {
            let name = Rc::clone(&self.scopes.globals[id.0 as usize].variable.name);
            let message = match through {
                None => format!("`{name}` is used before it is set"),
                Some(function) => {
                    let function = &self.scopes.functions[function.0 as usize].name;
                    format!("`{function}` may use `{name}` before it is set")
                }
            };
            let told = Diagnostic::warning(codes::BEFORE_ITS_TURN, span, message).label("too early");
            self.tell(told.help(format!(
                "declare `{name}` before: variables are set as they stand, those of imported modules first"
            )));
        }
    }
}

/// When each declaration is run, counted from 1.
fn turns(pending: &[Pending<'_>], order: &[ModuleId]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for (place, module) in order.iter().enumerate() {
        places[module.0 as usize] = place;
    }
    let mut by_turn: Vec<usize> = (0..pending.len()).collect();
    by_turn.sort_by_key(|index| (places[pending[*index].module.0 as usize], *index));
    let mut turns = vec![0; pending.len()];
    for (turn, index) in by_turn.into_iter().enumerate() {
        turns[index] = turn + 1;
    }
    turns
}

/// Of the variables that a function or what it calls uses, the one that is set last.
fn latest_of_functions(uses: &Uses, turn: impl Fn(GlobalId) -> usize) -> FxHashMap<FunctionId, GlobalId> {
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for (owner, callee, _) in &uses.calls {
        if let Owner::Function(caller) = owner {
            callers.entry(*callee).or_default().push(*caller);
        }
    }
    let mut direct: Vec<(GlobalId, FunctionId)> = Vec::new();
    for (owner, id, _) in &uses.globals {
        if let Owner::Function(function) = owner {
            direct.push((*id, *function));
        }
    }
    // The last first, so that each function is reached once, by the one that counts.
    direct.sort_by_key(|(id, _)| std::cmp::Reverse(turn(*id)));
    let mut latest = FxHashMap::default();
    for (id, function) in direct {
        let mut open = vec![function];
        while let Some(function) = open.pop() {
            if let std::collections::hash_map::Entry::Vacant(free) = latest.entry(function) {
                free.insert(id);
                open.extend(callers.get(&function).into_iter().flatten());
            }
        }
    }
    latest
}
