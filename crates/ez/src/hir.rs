//! The program as the checker understood it: every name found, every type known, nothing left to look up.
//!
//! It is what `compile` turns into code. Whatever could be wrong about it was told before; so there are no errors here.

use std::rc::Rc;

use crate::library::NativeId;
use crate::source::Span;
pub use crate::syntax::ast::{BinaryOperator, StepBy};
use crate::types::{Type, Types};
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A variable of one function, in the order of declaration; parameters come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A block of one function; 0 is the function's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

#[derive(Debug)]
pub struct Program {
    pub types: Types,
    pub functions: Vec<Function>,
    pub globals: Vec<Variable>,
    /// The initialisers of global variables in the order in which they run, before `main`.
    pub initialisers: Vec<Statement>,
    pub main: FunctionId,
}

#[derive(Debug)]
pub struct Function {
    pub name: Rc<str>,
    /// The module it is in; empty for the main file's.
    pub module: Rc<str>,
    /// How many of the locals are parameters.
    pub parameters: u32,
    pub results: Vec<Type>,
    pub locals: Vec<Variable>,
    /// The parent of each block; the first has none.
    pub blocks: Vec<Option<BlockId>>,
    pub body: Vec<Statement>,
    /// The whole declaration, from `do` to the closing brace.
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub name: Rc<str>,
    pub kind: Type,
    pub access: VariableAccess,
    /// Always 0 for globals.
    pub block: BlockId,
    /// Of its name in the declaration.
    pub span: Span,
    /// The module of a global; empty for the main file's and for locals.
    pub module: Rc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableAccess {
    Mutable,
    Constant,
    /// A parameter passed by value: the program may not assign to it, a debugger may.
    Parameter,
    /// A `&` parameter or `ref` variable: it holds a reference, and using it means what it refers to.
    Reference,
    /// As [`Reference`](Self::Reference), to something that may not be changed.
    ConstantReference,
}

/// Statements are where a debugger stops: the span begins at the statement's first character.
#[derive(Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StatementKind {
    /// `temp x = e`. Without a value in the source, `value` is the type's zero. From its end on the variable is visible.
    Declare {
        variable: LocalId,
        value: Expr,
    },
    /// `temp r = ref(place)`, which makes an alias.
    Alias {
        variable: LocalId,
        place: Place,
    },
    /// `temp a, b = f()`, `a, b = f()`: parts of a tuple; `None` is `_`. Declared ones are visible from its end on.
    TakeApart {
        tuple: Expr,
        into: Vec<Option<Place>>,
    },
    Assign {
        place: Place,
        value: Expr,
    },
    /// `place op= value`
    Update {
        place: Place,
        operator: BinaryOperator,
        value: Expr,
    },
    /// A call or a step whose result nobody wants.
    Expr(Expr),
    /// A place to stop at each arm's `if` or `or`: its span is the condition's arm.
    If {
        arms: Vec<Arm>,
        otherwise: Option<Block>,
    },
    When {
        subject: Expr,
        cases: Vec<Case>,
        default: Option<Block>,
    },
    /// The variable is visible in the body only. The range has one to three parts, as in [`ExprKind::Range`].
    For {
        variable: LocalId,
        range: Vec<Expr>,
        body: Block,
    },
    /// Over an array or a text.
    ForEach {
        variable: LocalId,
        over: Expr,
        body: Block,
    },
    AsLongAs {
        condition: Expr,
        body: Block,
    },
    Loop {
        body: Block,
    },
    Break,
    Continue,
    /// None, one, or several values.
    Return(Vec<Expr>),
    /// A call that runs when the function is left. Only those in the function's outermost block get here. Its arguments are
    /// evaluated when it runs.
    Ensure(Expr),
}

#[derive(Debug)]
pub struct Block {
    pub id: BlockId,
    pub statements: Vec<Statement>,
    /// The closing brace.
    pub end: Span,
}

#[derive(Debug)]
pub struct Arm {
    pub condition: Expr,
    pub body: Block,
    pub span: Span,
}

#[derive(Debug)]
pub struct Case {
    pub values: Vec<CaseValue>,
    pub body: Block,
    pub span: Span,
}

#[derive(Debug)]
pub enum CaseValue {
    Equal(Expr),
    Range(Vec<Expr>),
}

/// Something that can be assigned to or referred to.
#[derive(Debug, Clone)]
pub struct Place {
    pub root: PlaceRoot,
    pub path: Vec<PlaceAccess>,
    /// Of the whole.
    pub kind: Type,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceRoot {
    Local(LocalId),
    Global(GlobalId),
}

#[derive(Debug, Clone)]
pub enum PlaceAccess {
    /// Of an array.
    Element(Expr),
    /// A character of a text; always the last.
    Letter(Expr),
    Key(Expr),
    Field(u32),
}

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub type_: Type,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A literal, a constant's value if it is a plain one, a member of an enum, a type's zero.
    Constant(Value),
    Local(LocalId),
    Global(GlobalId),
    Field(Box<Expr>, u32),
    Element(Box<Expr>, Box<Expr>),
    Letter(Box<Expr>, Box<Expr>),
    Key(Box<Expr>, Box<Expr>),
    Call {
        function: FunctionId,
        arguments: Vec<Argument>,
    },
    /// Arguments that a native changes are places; it is always the first one.
    Native {
        native: NativeId,
        arguments: Vec<Argument>,
    },
    Template(Vec<Expr>),
    Array(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// All fields, in the order of the shape; those not written are zero.
    Struct(crate::types::StructId, Vec<Expr>),
    Range(Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// Arithmetic on what `arithmetic` says; both operands are of that kind already.
    Arithmetic {
        operator: BinaryOperator,
        on: Arithmetic,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `==`, `!=`, `<` and so on; operands of one kind, or an integer and a float.
    Compare {
        operator: BinaryOperator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `&&` and `||`
    Both(Box<Expr>, Box<Expr>),
    Either(Box<Expr>, Box<Expr>),
    In {
        item: Box<Expr>,
        of: Box<Expr>,
        negated: bool,
    },
    /// To the type of the expression. Explicit ones (`cast`, `int()`) may fail; implicit ones are between integer types
    /// (checked for range), byte and int, int and float in arithmetic.
    Convert(Box<Expr>),
    /// Writes a value as `println` does inside of a container: a text in quotes. For enums of strings.
    Quote(Box<Expr>),
    Step(Box<Place>, StepBy),
}

#[derive(Debug, Clone)]
pub enum Argument {
    Value(Expr),
    /// For a `&` parameter.
    Reference(Place),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// Checked for the range of this kind.
    Int(crate::types::IntKind),
    Float,
    /// `+` only.
    Text,
    Byte,
    Char,
}
