//! Expressions and assignments that somebody types while the program stands still.
//!
//! What was typed becomes a function of its own whose parameters are references to what the frame sees, so it means what
//! it would mean in the program. A parameter may be changed here, though the program itself may not; a constant never.

use std::rc::Rc;

use crate::code::LocalInfo;
use crate::debug::points::Spot;
use crate::debug::statements::{Here, visible_at};
use crate::debug::{Debuggee, Shown};
use crate::diagnostic::Diagnostics;
use crate::hir;
use crate::source::FileId;
use crate::syntax::parser::parse_fragment;
use crate::types::Type;
use crate::value::{Root, Value};

/// Asked when something else wants attention: whether it cannot wait until the evaluation is done.
pub type Urgent<'a> = &'a mut dyn FnMut() -> bool;

/// What was typed belongs to no file of the program.
const TYPED: FileId = FileId(u32::MAX);

impl Debuggee {
    /// `None` if it has no value, as an assignment has none.
    pub fn evaluate(
        &mut self,
        frame: usize,
        text: &str,
        urgent: Urgent<'_>,
    ) -> Result<Option<Shown>, String> {
        self.evaluate_in(frame, 0, text, urgent)
    }

    /// Gives `target` another value. Names mean what they do in this scope of the frame and those around it.
    pub fn assign(
        &mut self,
        frame: usize,
        scope: usize,
        target: &str,
        to: &str,
        urgent: Urgent<'_>,
    ) -> Result<Shown, String> {
        self.evaluate_in(frame, scope, &format!("{target} = {to}"), urgent)?;
        let shown = self.evaluate_in(frame, scope, target, urgent)?;
        shown.ok_or_else(|| format!("`{target}` has no value"))
    }

    fn evaluate_in(
        &mut self,
        frame: usize,
        scope: usize,
        text: &str,
        urgent: Urgent<'_>,
    ) -> Result<Option<Shown>, String> {
        let Some(view) = self.machine.frame(frame) else {
            return Err("there is no such frame; the program may have ended".to_owned());
        };
        let file = view.function.span.file;
        let module = Rc::clone(&view.function.module);
        let mut seen = self.seen(frame, scope);
        self.add_globals(&module, text, &mut seen);
        let (variables, roots): (Vec<hir::Variable>, Vec<Root>) = seen.into_iter().unzip();
        let fragment = self.understand(file, &variables, text)?;
        let value = self.machine.evaluate(&fragment.function, &roots, urgent);
        let value = value.map_err(|fault| fault.message.into_owned())?;
        Ok((fragment.result != Type::Nothing).then(|| shown(text, fragment.result, value)))
    }

    /// The frame's variables from this scope outwards.
    fn seen(&self, frame: usize, scope: usize) -> Vec<(hir::Variable, Root)> {
        let mut blocks = Vec::new();
        let mut seen = Vec::new();
        for (local, root) in self.machine.visible(frame) {
            if blocks.last() != Some(&local.block) {
                blocks.push(local.block);
            }
            if blocks.len() > scope {
                seen.push((variable(local), root));
            }
        }
        seen
    }

    /// Variables of other modules can be meant by their bare names, which the program itself could not do.
    fn add_globals(&self, module: &str, text: &str, seen: &mut Vec<(hir::Variable, Root)>) {
        let globals = self.unit.code.globals.iter().zip(0..);
        for (global, number) in globals.filter(|(global, _)| &*global.module != module) {
            let is_taken = seen.iter().any(|(variable, _)| variable.name == global.name);
            if text.contains(&*global.name) && !is_taken && self.is_reachable(module, global) {
                let variable = hir::Variable { module: "".into(), ..global.clone() };
                seen.push((variable, Root::Global(number)));
            }
        }
    }

    /// Whether the bare name of a global means it, and nothing else, in this module.
    pub(super) fn is_reachable(&self, module: &str, global: &hir::Variable) -> bool {
        if *global.module == *module {
            return true;
        }
        let program = &self.unit.code;
        let others = program.globals.iter().filter(|other| other.name == global.name).count() - 1;
        others == 0 && program.functions.iter().all(|function| function.name != global.name)
    }

    fn understand(
        &self,
        file: FileId,
        variables: &[hir::Variable],
        text: &str,
    ) -> Result<crate::check::Fragment, String> {
        let mut diagnostics = Diagnostics::default();
        let parsed = parse_fragment(TYPED, text, &mut diagnostics);
        let fragment = parsed.and_then(|statement| {
            self.unit.checked.fragment(&statement, &self.unit.code.library, file, variables, &mut diagnostics)
        });
        let first = diagnostics.errors().next().map(|error| error.message.clone());
        fragment.ok_or_else(|| first.unwrap_or_else(|| format!("`{text}` cannot be evaluated")))
    }

    /// Whether this can be evaluated at a statement that is yet to come.
    pub(super) fn check_expression(&self, here: Here, text: &str) -> Result<Type, String> {
        let function = &self.unit.code.functions[here.function.0 as usize];
        let local = |info| (variable(info), Root::Slot(0));
        let mut seen: Vec<(hir::Variable, Root)> =
            visible_at(function, here.pc).into_iter().map(local).collect();
        self.add_globals(&function.module, text, &mut seen);
        let variables: Vec<hir::Variable> = seen.into_iter().map(|(variable, _)| variable).collect();
        Ok(self.understand(function.span.file, &variables, text)?.result)
    }

    pub(super) fn check_condition(&self, here: Here, text: &str) -> Result<(), String> {
        match self.check_expression(here, text)? {
            Type::Bool => Ok(()),
            other => {
                let name = self.unit.code.types.name(&other).to_string();
                Err(format!("the condition `{text}` is of type {name} and not bool"))
            }
        }
    }

    /// The variable of this name that the frame sees from this scope outwards, or the program's own.
    pub(super) fn find(&self, frame: usize, scope: usize, name: &str) -> Option<(Root, Type)> {
        let local = self.seen(frame, scope).into_iter().find(|(variable, _)| *variable.name == *name);
        if let Some((variable, root)) = local {
            return Some((root, variable.kind));
        }
        let globals = self.unit.code.globals.iter().zip(0..);
        let is_it = |global: &hir::Variable| match global.module.is_empty() {
            true => *global.name == *name,
            false => format!("{}.{}", global.module, global.name) == name,
        };
        globals
            .filter(|(global, _)| is_it(global))
            .map(|(global, index)| (Root::Global(index), global.kind.clone()))
            .next()
    }

    /// Where a frame stands.
    pub(super) fn spot(&self, frame: usize) -> Option<Spot> {
        let span = self.machine.frame(frame)?.statement?.span;
        let at = self.unit.sources.position(span);
        Some(Spot { file: span.file, line: at.line, column: at.column })
    }
}

fn variable(info: &LocalInfo) -> hir::Variable {
    hir::Variable {
        name: info.name.clone(),
        kind: info.kind.clone(),
        access: info.access,
        block: info.block,
        span: info.span,
        module: "".into(),
    }
}

fn shown(text: &str, kind: Type, value: Value) -> Shown {
    let is_path = text.chars().all(|letter| letter.is_alphanumeric() || "_.[]\"' ".contains(letter));
    Shown {
        name: text.to_owned(),
        kind,
        value,
        expression: Some(if is_path { text.to_owned() } else { format!("({text})") }),
        is_constant: false,
        is_hidden: false,
    }
}
