//! From the typed tree to code.
//!
//! Destinations are handed down, so that most expressions are computed where they are needed. Nothing is checked here but
//! that a function is not too large for its instructions.

mod calls;
mod conditions;
mod expressions;
mod loops;
mod operators;
mod places;
mod statements;

use std::rc::Rc;

use crate::code::{EnsureInfo, Function, LocalInfo, Op, Program, Register, StatementId, StatementInfo};
use crate::fault::Fault;
use crate::hir::{self, BlockId, FunctionId, LocalId, VariableAccess};
use crate::library::Library;
use crate::source::Span;
use crate::types::{Type, Types};

/// The place that comes with a fault is that of the function.
pub fn compile(program: &hir::Program, library: &Rc<Library>) -> Result<Program, (Fault, Span)> {
    let mut functions = Vec::with_capacity(program.functions.len() + 1);
    for source in &program.functions {
        let compiled = function(source, &program.types, library);
        functions.push(compiled.map_err(|fault| (fault, source.span))?);
    }
    let initialisers = FunctionId(functions.len() as u32);
    let globals = initialisers_of(program);
    let compiled = source(globals, &program.types, library);
    functions.push(compiled.map_err(|fault| (fault, globals.span))?);
    Ok(Program {
        iterates: functions.iter().any(|function| !function.iterations.is_empty()),
        types: program.types.clone(),
        library: Rc::clone(library),
        functions,
        globals: program.globals.clone(),
        initialisers,
        main: program.main,
    })
}

pub fn function(function: &hir::Function, types: &Types, library: &Library) -> Result<Function, Fault> {
    let from = Source {
        name: &function.name,
        module: &function.module,
        parameters: function.parameters,
        locals: &function.locals,
        blocks: &function.blocks,
        body: &function.body,
        span: function.span,
    };
    source(from, types, library)
}

/// What a function is made of; the initialisers of globals are one too.
#[derive(Clone, Copy)]
struct Source<'a> {
    name: &'a str,
    module: &'a str,
    parameters: u32,
    locals: &'a [hir::Variable],
    blocks: &'a [Option<BlockId>],
    body: &'a [hir::Statement],
    span: Span,
}

fn initialisers_of(program: &hir::Program) -> Source<'_> {
    let nowhere = Span { file: crate::source::FileId(0), start: 0, end: 0 };
    Source {
        name: "<globals>",
        module: "",
        parameters: 0,
        locals: &[],
        blocks: &[None],
        body: &program.initialisers,
        span: program.initialisers.first().map_or(nowhere, |first| first.span),
    }
}

fn source(source: Source<'_>, types: &Types, library: &Library) -> Result<Function, Fault> {
    // Almost every function is small enough for short jumps. One that is not is compiled once more with long ones.
    let too_large = |_| {
        let message = format!("the function {} is too large to be compiled", source.name);
        Fault::new("E5020", message).help("split it into smaller functions")
    };
    match Compiler::new(source, types, library, Jumps::Short).finish() {
        Ok(function) => Ok(function),
        Err(Limit::Jump) => Compiler::new(source, types, library, Jumps::Long).finish().map_err(too_large),
        Err(limit) => Err(too_large(limit)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Jumps {
    Short,
    Long,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// A short jump does not reach its target.
    Jump,
    /// Too many variables, or too many parts of one kind.
    Size,
}

#[derive(Debug, Clone, Copy)]
struct Label(usize);

/// Where `break` and `continue` go.
struct Enclosing {
    end: Label,
    next: Label,
}

struct Compiler<'a> {
    source: Source<'a>,
    types: &'a Types,
    library: &'a Library,
    jumps: Jumps,
    out: Function,
    /// The instruction of each label, once it is known.
    labels: Vec<Option<u32>>,
    fixups: Vec<(usize, Label)>,
    /// The next free temporary.
    next: u32,
    statement: StatementId,
    block: BlockId,
    loops: Vec<Enclosing>,
    ensured: Vec<(&'a hir::Expr, Span, u32)>,
    /// Where the result waits while ensured calls are made.
    result: Option<Register>,
    limit: Option<Limit>,
}

const NOT_YET: u32 = u32::MAX;

impl<'a> Compiler<'a> {
    fn new(source: Source<'a>, types: &'a Types, library: &'a Library, jumps: Jumps) -> Self {
        let visible_from = |index: usize| if index < source.parameters as usize { 0 } else { NOT_YET };
        let locals = source.locals.iter().enumerate().map(|(index, variable)| LocalInfo {
            name: Rc::clone(&variable.name),
            kind: variable.kind.clone(),
            access: variable.access,
            block: variable.block,
            register: index as Register,
            visible: visible_from(index)..NOT_YET,
            span: variable.span,
        });
        let out = Function {
            name: source.name.into(),
            module: source.module.into(),
            span: source.span,
            parameters: source.parameters as u16,
            variables: source.locals.len() as u16,
            registers: 1,
            holds_shared: source.locals.iter().any(|variable| {
                let is_reference =
                    matches!(variable.access, VariableAccess::Reference | VariableAccess::ConstantReference);
                is_reference || is_shared(&variable.kind)
            }),
            code: Vec::new(),
            spans: Vec::new(),
            statement_at: Vec::new(),
            statements: Vec::new(),
            locals: locals.collect(),
            blocks: source.blocks.to_vec(),
            ensures: Vec::new(),
            iterations: Vec::new(),
            constants: Vec::new(),
            paths: Vec::new(),
            templates: Vec::new(),
            natives: Vec::new(),
            shapes: Vec::new(),
            conversions: Vec::new(),
        };
        Self {
            source,
            types,
            library,
            jumps,
            out,
            labels: Vec::new(),
            fixups: Vec::new(),
            next: source.locals.len() as u32,
            statement: StatementId(u32::MAX),
            block: BlockId(0),
            loops: Vec::new(),
            ensured: Vec::new(),
            result: None,
            // Each variable has a register of its own, and one is left for a temporary.
            limit: (source.locals.len() >= usize::from(Register::MAX)).then_some(Limit::Size),
        }
    }

    fn finish(mut self) -> Result<Function, Limit> {
        if self.source.body.iter().any(|statement| matches!(statement.kind, hir::StatementKind::Ensure(_))) {
            self.result = Some(self.temporary());
        }
        self.statements(self.source.body);
        let end = Span {
            start: self.source.span.end.saturating_sub(1).max(self.source.span.start),
            ..self.source.span
        };
        self.leave(end);
        self.end_block(BlockId(0));
        self.ensured_calls(end);
        self.patch();
        self.out.registers = self.out.registers.max(self.out.variables).max(1);
        match self.limit {
            Some(limit) => Err(limit),
            None => Ok(self.out),
        }
    }

    fn ensured_calls(&mut self, end: Span) {
        for (call, span, registered) in std::mem::take(&mut self.ensured) {
            let start = self.pc();
            self.begin_statement(span);
            self.discard(call);
            self.leave(end);
            self.out.ensures.push(EnsureInfo { code: start..self.pc(), registered });
        }
    }

    fn leave(&mut self, span: Span) {
        match self.result {
            Some(from) => self.emit(Op::Leave { from }, span),
            None => self.emit(Op::ReturnNothing, span),
        }
    }

    fn pc(&self) -> u32 {
        self.out.code.len() as u32
    }

    fn emit(&mut self, op: Op, span: Span) {
        self.out.code.push(op);
        self.out.spans.push(span);
        self.out.statement_at.push(self.statement);
    }

    fn begin_statement(&mut self, span: Span) {
        self.statement = StatementId(self.out.statements.len() as u32);
        let info = StatementInfo { span, block: self.block, pc: self.pc() };
        self.out.statements.push(info);
    }

    /// A statement needs an instruction to stop at which is no other statement's.
    fn something(&mut self) {
        if let Some(info) = self.out.statements.get(self.statement.0 as usize)
            && info.pc == self.pc()
        {
            let span = info.span;
            self.emit(Op::Nothing, span);
        }
    }

    fn end_block(&mut self, block: BlockId) {
        let end = self.pc();
        for local in self.out.locals.iter_mut().filter(|local| local.block == block) {
            if local.visible.end == NOT_YET {
                local.visible.end = end;
            }
        }
    }

    fn declared(&mut self, variable: LocalId) {
        let pc = self.pc();
        if let Some(local) = self.out.locals.get_mut(variable.0 as usize)
            && local.visible.start == NOT_YET
        {
            local.visible.start = pc;
        }
    }

    // Labels.

    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.pc());
    }

    /// An instruction that names its target by number.
    fn jump(&mut self, op: Op, to: Label, span: Span) {
        self.fixups.push((self.out.code.len(), to));
        self.emit(op, span);
    }

    /// An instruction that says how far it jumps, which is not very far.
    fn branch(&mut self, op: Op, to: Label, span: Span) {
        match self.jumps {
            Jumps::Short => self.jump(op, to, span),
            Jumps::Long => {
                let (taken, not_taken) = (self.label(), self.label());
                self.jump(op, taken, span);
                self.jump(Op::Jump { target: 0 }, not_taken, span);
                self.here(taken);
                self.jump(Op::JumpBack { target: 0 }, to, span);
                self.here(not_taken);
            }
        }
    }

    fn patch(&mut self) {
        for (pc, label) in std::mem::take(&mut self.fixups) {
            let Some(destination) = self.labels[label.0] else { continue };
            let distance = i64::from(destination) - pc as i64;
            match &mut self.out.code[pc] {
                Op::Jump { target }
                | Op::JumpBack { target }
                | Op::JumpIf { target, .. }
                | Op::JumpIfNot { target, .. }
                | Op::BeginFor { target, .. }
                | Op::BeginEach { target, .. } => *target = destination,
                Op::JumpLess { by, .. }
                | Op::JumpLessOrEqual { by, .. }
                | Op::JumpEqual { by, .. }
                | Op::JumpNotEqual { by, .. }
                | Op::JumpLessSmall { by, .. }
                | Op::JumpGreaterSmall { by, .. }
                | Op::JumpLessConstant { by, .. }
                | Op::JumpGreaterConstant { by, .. }
                | Op::JumpEqualSmall { by, .. }
                | Op::JumpNotEqualSmall { by, .. }
                | Op::NextFor { by, .. }
                | Op::NextEach { by, .. } => match i16::try_from(distance) {
                    Ok(near) => *by = near,
                    Err(_) => self.limit = self.limit.or(Some(Limit::Jump)),
                },
                _ => {}
            }
        }
    }

    // Registers.

    fn temporary(&mut self) -> Register {
        let register = self.next;
        self.next += 1;
        let Ok(top) = u16::try_from(self.next) else {
            self.limit = Some(Limit::Size);
            return 0;
        };
        self.out.registers = self.out.registers.max(top);
        register as Register
    }

    fn is_variable(&self, register: Register) -> bool {
        register < self.out.variables
    }

    /// The register of a variable that holds its value itself.
    fn plain_local(&self, local: LocalId) -> Option<Register> {
        match self.source.locals.get(local.0 as usize)?.access {
            VariableAccess::Reference | VariableAccess::ConstantReference => None,
            VariableAccess::Mutable | VariableAccess::Constant | VariableAccess::Parameter => {
                Some(local.0 as Register)
            }
        }
    }

    /// Gives up what a temporary holds, if that could be shared with a variable.
    fn release(&mut self, register: Register, kind: &Type, span: Span) {
        if !self.is_variable(register) && is_shared(kind) {
            self.emit(Op::Clear { at: register }, span);
        }
    }

    /// The number of a part in its table.
    fn number(&mut self, length: usize) -> u16 {
        u16::try_from(length).unwrap_or_else(|_| {
            self.limit = Some(Limit::Size);
            0
        })
    }
}

/// Whether values of the type can be shared between variables.
fn is_shared(kind: &Type) -> bool {
    !matches!(
        kind,
        Type::Nothing | Type::Nil | Type::Bool | Type::Int(_) | Type::Float(_) | Type::Char | Type::Byte
    )
}
