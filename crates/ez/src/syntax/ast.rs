//! The tree of one file, as it was written. Every part knows its place.

use std::rc::Rc;

use num_bigint::BigInt;

use crate::source::{FileId, Span};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub text: Rc<str>,
    pub span: Span,
}

#[derive(Debug)]
pub struct File {
    pub id: FileId,
    /// `module name`, if the file says so.
    pub module: Option<Name>,
    pub imports: Vec<Import>,
    /// `using` at the top of the file.
    pub using: Vec<Name>,
    pub items: Vec<Item>,
    /// The codes of `#suppress` at the top of the file.
    pub suppress: Vec<Name>,
}

#[derive(Debug)]
pub struct Import {
    pub alias: Option<Name>,
    pub from: ImportFrom,
    /// `import & use`: its names can be used without the module's.
    pub and_use: bool,
    pub span: Span,
}

#[derive(Debug)]
pub enum ImportFrom {
    /// `@strings`
    Library(Name),
    /// `"./path"`, without its quotes.
    Path { path: Rc<str>, span: Span },
}

#[derive(Debug)]
pub struct Item {
    pub visibility: Visibility,
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    Public,
    Private,
}

#[derive(Debug)]
pub enum ItemKind {
    Function(Function),
    Struct(Struct),
    Enum(Enum),
    Variables(Declaration),
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub parameters: Vec<Parameter>,
    pub results: Vec<TypeExpr>,
    pub body: Block,
    pub suppress: Vec<Name>,
}

#[derive(Debug)]
pub struct Parameter {
    pub name: Name,
    pub passing: Passing,
    pub kind: TypeExpr,
    pub default: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    Value,
    /// `&name`
    Reference,
}

#[derive(Debug)]
pub struct Struct {
    pub name: Name,
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub struct Field {
    pub name: Name,
    pub kind: TypeExpr,
    /// What stands in backticks behind it, without them.
    pub tag: Option<Rc<str>>,
}

#[derive(Debug)]
pub struct Enum {
    pub name: Name,
    /// From `enum : string` or `#enum(string)`.
    pub base: Option<TypeExpr>,
    pub flags: bool,
    pub members: Vec<(Name, Option<Expr>)>,
}

#[derive(Debug)]
pub struct TypeExpr {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum TypeKind {
    Named {
        module: Option<Name>,
        name: Name,
    },
    Array(Box<TypeExpr>),
    /// `[T, N]`: the length is an integer literal or a constant's name.
    Fixed(Box<TypeExpr>, Box<Expr>),
    Map(Box<TypeExpr>, Box<TypeExpr>),
}

/// The span goes from the opening brace to the closing one.
#[derive(Debug)]
pub struct Block {
    pub statements: Vec<Statement>,
    pub span: Span,
}

/// The span begins where the statement does: at its first token.
#[derive(Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StatementKind {
    Declare(Declaration),
    /// `a = e`, `a[i].b += e`; several targets take a tuple apart.
    Assign {
        targets: Vec<Target>,
        operator: Option<BinaryOperator>,
        value: Expr,
    },
    /// A call, or `x++`; anything else is an error that the checker tells.
    Expr(Expr),
    If {
        arms: Vec<Arm>,
        otherwise: Option<Block>,
    },
    When {
        subject: Expr,
        cases: Vec<Case>,
        default: Option<Block>,
        strict: bool,
    },
    For {
        variable: Loopable,
        kind: Option<TypeExpr>,
        range: Expr,
        body: Block,
    },
    ForEach {
        variable: Loopable,
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
    Return(Vec<Expr>),
    Ensure(Expr),
    Using(Vec<Name>),
}

/// A loop's variable; `None` if it is `_`.
pub type Loopable = Option<Name>;

/// What is assigned to; `None` if it is `_`.
pub type Target = Option<Expr>;

/// `if` or `or` with its condition. The span begins at the keyword.
#[derive(Debug)]
pub struct Arm {
    pub condition: Expr,
    pub body: Block,
    pub span: Span,
}

/// `is 1, 2, range(3, 9) { ... }`. The span begins at `is`.
#[derive(Debug)]
pub struct Case {
    pub values: Vec<Expr>,
    pub body: Block,
    pub span: Span,
}

#[derive(Debug)]
pub struct Declaration {
    pub mutability: Mutability,
    pub bindings: Vec<Binding>,
    pub value: Option<Expr>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutability {
    Temp,
    Const,
}

#[derive(Debug)]
pub struct Binding {
    /// `None` for `_`.
    pub name: Option<Name>,
    pub kind: Option<TypeExpr>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum ExprKind {
    Int(BigInt),
    Float(f64),
    Text(Rc<str>),
    /// `"a ${b} c"`
    Template(Vec<TemplatePart>),
    Char(char),
    Bool(bool),
    Nil,
    Name(Name),
    /// `base.name`: a field, a member of an enum, or something of a module.
    Member(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    StructLiteral {
        module: Option<Name>,
        name: Name,
        fields: Vec<(Name, Expr)>,
    },
    New(TypeExpr),
    Array(Vec<Expr>),
    /// Also `{:}`, with no entries.
    Map(Vec<(Expr, Expr)>),
    /// `{}`: an empty array, or map, by what is expected.
    EmptyBraces,
    /// One to three arguments.
    Range(Vec<Expr>),
    Cast(Box<Expr>, TypeExpr),
    Ref(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `x++` or `x--`: changes and gives the old value.
    Step(Box<Expr>, StepBy),
}

#[derive(Debug)]
pub enum TemplatePart {
    Text(Rc<str>),
    Expr(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepBy {
    Up,
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    In,
    NotIn,
}

impl BinaryOperator {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::And => "&&",
            Self::Or => "||",
            Self::In => "in",
            Self::NotIn => "not_in",
        }
    }
}
