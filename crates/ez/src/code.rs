//! What the machine runs: functions as lists of small instructions, with what a debugger needs to read them.
//!
//! Every variable of a function has a register of its own, numbered as in the typed tree; temporaries lie above.
//! One rule spares most copies: **an instruction leaves variables alone and takes temporaries with it**. A temporary that
//! still held an array after its use would make the next change of that array copy all of it.

mod op;
mod rule;

use std::ops::Range;
use std::rc::Rc;

use crate::hir::{BlockId, FunctionId, Variable, VariableAccess};
use crate::library::{Call, Library};
use crate::source::Span;
use crate::types::{Shape, Type, Types};
use crate::value::Text;
pub use op::Op;
pub use rule::{Domain, Rule};

pub type Register = u16;

#[derive(Debug)]
pub struct Program {
    pub types: Types,
    /// What expressions that a debugger evaluates can call.
    pub library: Rc<Library>,
    /// The last one holds the initialisers of globals.
    pub functions: Vec<Function>,
    pub globals: Vec<Variable>,
    pub initialisers: FunctionId,
    pub main: FunctionId,
    /// Whether any function goes over an array that could be changed meanwhile.
    pub iterates: bool,
}

#[derive(Debug)]
pub struct Function {
    pub name: Rc<str>,
    pub module: Rc<str>,
    /// The whole declaration.
    pub span: Span,
    pub parameters: u16,
    /// How many registers are variables: the first ones.
    pub variables: u16,
    /// At least one, since the result is left in the first.
    pub registers: u16,
    /// Whether a register may hold something that has to be given up when the function is left.
    pub holds_shared: bool,
    pub code: Vec<Op>,
    /// Of the expression that each instruction is part of.
    pub spans: Vec<Span>,
    /// The statement that each instruction is part of.
    pub statement_at: Vec<StatementId>,
    pub statements: Vec<StatementInfo>,
    pub locals: Vec<LocalInfo>,
    /// The parent of each block.
    pub blocks: Vec<Option<BlockId>>,
    pub ensures: Vec<EnsureInfo>,
    pub iterations: Vec<Iteration>,
    pub constants: Vec<crate::value::Value>,
    pub paths: Vec<Path>,
    pub templates: Vec<Vec<Piece>>,
    pub natives: Vec<NativeSite>,
    pub shapes: Vec<Rc<Shape>>,
    pub conversions: Vec<Conversion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementId(pub u32);

/// A place to stop at.
#[derive(Debug, Clone)]
pub struct StatementInfo {
    pub span: Span,
    pub block: BlockId,
    /// Its first instruction, which belongs to no other statement.
    pub pc: u32,
}

#[derive(Debug, Clone)]
pub struct LocalInfo {
    pub name: Rc<str>,
    pub kind: Type,
    pub access: VariableAccess,
    pub block: BlockId,
    pub register: Register,
    /// Where it is declared and its block has not ended.
    pub visible: Range<u32>,
    /// Of its name in the declaration.
    pub span: Span,
}

/// A call that is made when the function is left.
#[derive(Debug, Clone)]
pub struct EnsureInfo {
    pub code: Range<u32>,
    /// Where it was registered: what was visible there is visible in it.
    pub registered: u32,
}

/// The body of a `for_each` over a variable, or over a field of one.
#[derive(Debug, Clone)]
pub struct Iteration {
    pub code: Range<u32>,
    pub root: PathRoot,
    pub fields: Vec<u32>,
}

/// How to get from a variable to something inside of it. Indexes and keys stand in consecutive temporaries.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub root: PathRoot,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRoot {
    /// A register with a value, or with a reference that is followed.
    Local(Register),
    Global(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Element,
    /// A character; always the last.
    Letter,
    Key,
    Field(u32),
}

impl Step {
    pub fn has_operand(self) -> bool {
        !matches!(self, Step::Field(_))
    }
}

/// One part of a text that is put together.
#[derive(Debug, Clone)]
pub enum Piece {
    Fixed(Rc<Text>),
    /// Printed. A temporary is given up.
    Value(Register),
}

/// One call of a native in the source.
#[derive(Debug)]
pub struct NativeSite {
    pub call: Call,
    /// What a changing native changes. Its operands come first in the window.
    pub place: Option<Path>,
    pub operands: u16,
    /// What a native looks at where it is. If it takes one argument, that is both.
    pub looked_at: [Register; 2],
    pub arguments: Vec<Type>,
    pub result: Type,
}

#[derive(Debug)]
pub struct Conversion {
    pub from: Type,
    pub to: Type,
}

impl Function {
    /// The statement that begins at this instruction.
    pub fn begins(&self, pc: usize) -> Option<&StatementInfo> {
        let info = self.statements.get(self.statement_at.get(pc)?.0 as usize)?;
        (info.pc as usize == pc).then_some(info)
    }

    /// The statement that this instruction is part of.
    pub fn statement(&self, pc: usize) -> Option<&StatementInfo> {
        self.statements.get(self.statement_at.get(pc)?.0 as usize)
    }

    /// How many blocks are around this one.
    pub fn depth(&self, block: BlockId) -> usize {
        let parent = |block: &BlockId| self.blocks.get(block.0 as usize).copied().flatten();
        std::iter::successors(Some(block), parent).count() - 1
    }
}
