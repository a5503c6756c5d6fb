//! Calls of natives: what they are given, and what they may change.

use super::places::{Link, links, place_in, variable_and_operands};
use super::registers::{clear, set};
use super::{Machine, faults};
use crate::code::NativeSite;
use crate::library::{Answer, Call, Outside, Trouble, Typing};
use crate::value::{Access, Root};

impl Machine {
    /// Arguments stand from `first` on, and stay there if the call has to be made again. The result replaces the first.
    pub(super) fn call_native(
        &mut self,
        site: &NativeSite,
        base: usize,
        first: usize,
        count: usize,
    ) -> Result<(), Trouble> {
        let answer = match site.call {
            Call::Plain(call) => call(&self.stack[first..first + count]),
            Call::One(call) => call(&self.stack[first]),
            Call::Two(call) => call(&self.stack[first], &self.stack[first + 1]),
            Call::Constant(value) => Ok(value()),
            Call::Worldly(call) => {
                let mut outside =
                    Outside { world: &mut *self.world, types: &self.program.types, random: &mut self.random };
                call(&mut outside, &self.stack[first..first + count])
            }
            Call::Typed(call) => {
                let mut outside =
                    Outside { world: &mut *self.world, types: &self.program.types, random: &mut self.random };
                let typing = Typing { arguments: &site.arguments, result: &site.result };
                call(&mut outside, &self.stack[first..first + count], &typing)
            }
            Call::Changing(..) => self.call_changing(site, base, first, count),
        }?;
        for argument in &mut self.stack[first..first + count] {
            clear(argument);
        }
        set(&mut self.stack[first], answer);
        Ok(())
    }

    fn call_changing(&mut self, site: &NativeSite, base: usize, first: usize, count: usize) -> Answer {
        let (Call::Changing(call, _), Some(path)) = (site.call, &site.place) else {
            return Err(faults::broken("a native has nothing to change").into());
        };
        let start = self.start(path.root, base);
        if self.program.iterates && self.may_be_iterated(start.root) {
            let accesses = self.accesses(&start, &path.steps, first);
            if self.is_iterated(start.root, &accesses) {
                return Err(faults::changed_while_iterated().into());
            }
        }
        let (whole, given) = variable_and_operands(&mut self.stack, &mut self.globals, start.root, first)?;
        let (operands, arguments) = given[..count].split_at(usize::from(site.operands));
        let place = place_in(whole, &start, &path.steps, operands)?;
        let mut outside =
            Outside { world: &mut *self.world, types: &self.program.types, random: &mut self.random };
        call(&mut outside, place, arguments)
    }

    /// The frames that can reach a variable: from the last down to the one that it belongs to.
    fn reaching(&self, root: Root) -> impl Iterator<Item = &super::Frame> {
        let mut found = false;
        self.frames.iter().rev().take_while(move |frame| {
            let reaches = !found;
            found = matches!(root, Root::Slot(slot) if frame.base <= slot);
            reaches
        })
    }

    fn may_be_iterated(&self, root: Root) -> bool {
        self.reaching(root).any(|frame| !self.function(frame.function).iterations.is_empty())
    }

    fn is_iterated(&self, root: Root, path: &[Access]) -> bool {
        self.reaching(root).any(|frame| {
            let iterations = &self.function(frame.function).iterations;
            iterations.iter().filter(|iteration| iteration.code.contains(&frame.pc)).any(|iteration| {
                let start = self.start(iteration.root, frame.base as usize);
                let fields = iteration.fields.iter().map(|field| Access::Field(*field));
                start.root == root && start.accesses().iter().cloned().chain(fields).eq(path.iter().cloned())
            })
        })
    }

    /// Whether the native could not do the same again, or has an effect outside.
    pub(super) fn touches_world(site: &NativeSite) -> bool {
        matches!(site.call, Call::Worldly(_))
    }

    /// The variable that a changing native changes, and the way to it.
    pub(super) fn changed_by(
        &self,
        site: &NativeSite,
        base: usize,
        first: usize,
    ) -> Option<(Root, Vec<Access>)> {
        let path = site.place.as_ref()?;
        let start = self.start(path.root, base);
        let rest = links(&path.steps, &self.stack[first..]).map(Link::access);
        Some((start.root, start.accesses().iter().cloned().chain(rest).collect()))
    }
}
