//! The statements of a program, by function and by place.

use crate::code::{Function, LocalInfo, Program};
use crate::hir::FunctionId;
use crate::machine::Machine;
use crate::source::Span;

/// The beginning of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Here {
    pub function: FunctionId,
    pub pc: u32,
}

/// Where the machine stands, if it stands anywhere.
pub fn here(machine: &Machine) -> Option<Here> {
    machine.frame(0).map(|frame| Here { function: frame.id, pc: frame.pc })
}

/// Whether it stands at the beginning of a statement.
pub fn is_at_one(machine: &Machine) -> bool {
    machine.frame(0).is_some_and(|frame| frame.function.begins(frame.pc as usize).is_some())
}

pub fn is_in_main(machine: &Machine) -> bool {
    machine.frame(0).is_some_and(|frame| frame.id == machine.program().main)
}

pub fn all(program: &Program) -> impl Iterator<Item = (Span, Here)> {
    let functions = program.functions.iter().zip(0..);
    functions.flat_map(|(function, id)| {
        let place = move |pc| Here { function: FunctionId(id), pc };
        function.statements.iter().map(move |statement| (statement.span, place(statement.pc)))
    })
}

/// The first statement of the function that is called so. Without a module in front, a name that the main file does not
/// have means every module's.
pub fn first(program: &Program, name: &str) -> Vec<(Span, Here)> {
    let called = |is_it: &dyn Fn(&Function) -> bool| -> Vec<(Span, Here)> {
        let functions = program.functions.iter().zip(0..).filter(|(function, _)| is_it(function));
        functions
            .filter_map(|(function, id)| {
                let statement = function.statements.iter().min_by_key(|statement| statement.pc)?;
                Some((statement.span, Here { function: FunctionId(id), pc: statement.pc }))
            })
            .collect()
    };
    let exactly = called(&|function| full_name(function) == name);
    if exactly.is_empty() { called(&|function| *function.name == *name) } else { exactly }
}

/// `name`, or `module.name` if it is not of the main file.
pub fn full_name(function: &Function) -> String {
    match function.module.is_empty() {
        true => function.name.to_string(),
        false => format!("{}.{}", function.module, function.name),
    }
}

/// What can be seen at a place that is yet to be reached, innermost block first.
pub fn visible_at(function: &Function, pc: u32) -> Vec<&LocalInfo> {
    let mut visible: Vec<&LocalInfo> =
        function.locals.iter().filter(|local| local.visible.contains(&pc)).collect();
    visible.sort_by_key(|local| std::cmp::Reverse(function.depth(local.block)));
    visible
}
