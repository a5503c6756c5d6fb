//! Statements, blocks, and where to go on after one that is wrong.

mod branches;

use super::{Diagnostic, Mark, Parsed, Parser, Span, TokenKind, Told, Word};
use crate::syntax::ast::{
    BinaryOperator, Binding, Block, Declaration, ExprKind, Mutability, Statement, StatementKind, Target,
};

const ASSIGNMENTS: &[(Mark, Option<BinaryOperator>)] = &[
    (Mark::Assign, None),
    (Mark::PlusAssign, Some(BinaryOperator::Add)),
    (Mark::MinusAssign, Some(BinaryOperator::Subtract)),
    (Mark::TimesAssign, Some(BinaryOperator::Multiply)),
    (Mark::DivideAssign, Some(BinaryOperator::Divide)),
    (Mark::PercentAssign, Some(BinaryOperator::Remainder)),
];

impl Parser<'_> {
    pub(super) fn block(&mut self, owner: &str) -> Parsed<Block> {
        let help = self.usual_help().unwrap_or_else(|| format!("the body of {owner} stands in braces"));
        let open =
            self.expect_mark_or_help(Mark::LeftBrace, &format!("before the body of {owner}"), Some(&help))?;
        self.nested(|parser| {
            let mut statements = Vec::new();
            while !parser.block_ends(open) {
                let from = parser.at;
                match parser.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(Told) => parser.recover(from),
                }
            }
            Ok(Block { statements, span: open.to(parser.last_span()) })
        })
    }

    /// Passes the closing brace, or tells that there is none.
    fn block_ends(&mut self, open: Span) -> bool {
        self.skip_semicolons();
        if self.take_mark(Mark::RightBrace) {
            return true;
        }
        if !self.at_end() && !self.missing_brace_shows() {
            return false;
        }
        if !self.brace_told {
            self.brace_told = true;
            let message = "this `{` is never closed";
            self.tell(Diagnostic::error("E2005", open, message).help("a `}` is missing"));
        }
        true
    }

    /// Goes to where the next statement begins, or to the end of the block.
    fn recover(&mut self, from: usize) {
        if self.at == from {
            self.skip_group();
        }
        let (mut braces, mut others) = self.open_since(from);
        while !self.at_end() && !self.missing_brace_shows() {
            let token = self.token();
            let statement = match token.kind {
                TokenKind::Word(word) => STATEMENT_WORDS.contains(&word),
                TokenKind::Name(_) => others == 0,
                _ => false,
            };
            if braces == 0 && (self.at_mark(Mark::RightBrace) || statement && token.begins_line) {
                return;
            }
            count_brackets(&token.kind, &mut braces, &mut others);
            self.advance();
        }
    }

    /// How many braces, and how many other brackets, were opened since then and are still open.
    pub(super) fn open_since(&self, from: usize) -> (u32, u32) {
        let (mut braces, mut others) = (0, 0);
        for token in self.tokens.get(from..self.at).unwrap_or_default() {
            count_brackets(&token.kind, &mut braces, &mut others);
        }
        (braces, others)
    }

    pub(super) fn fragment(&mut self) -> Parsed<Statement> {
        let literal = self.at_mark(Mark::LeftBrace);
        let start = self.span();
        let statement = if literal {
            let kind = self.assignment_or_expression()?;
            Statement { kind, span: start.to(self.last_span()) }
        } else {
            self.statement()?
        };
        if self.at_end() {
            return Ok(statement);
        }
        Err(self.expected("E2025", "the end of the expression", None))
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.translate();
        self.first = self.at;
        let start = self.span();
        let kind = self.statement_kind()?;
        Ok(Statement { kind, span: start.to(self.last_span()) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let word = match self.kind() {
            TokenKind::Word(word) => *word,
            TokenKind::Mark(Mark::Hash) => return self.strict_when(),
            TokenKind::Mark(Mark::LeftBrace) => {
                let message = "a block cannot stand alone";
                let help = "blocks belong to `if`, loops, `when` and functions";
                self.tell(Diagnostic::error("E2019", self.span(), message).help(help));
                self.skip_group();
                return Err(Told);
            }
            _ => return self.assignment_or_expression(),
        };
        match word {
            Word::Temp => Ok(StatementKind::Declare(self.declaration(Mutability::Temp)?)),
            Word::Const if !self.declares_type() => {
                Ok(StatementKind::Declare(self.declaration(Mutability::Const)?))
            }
            Word::If => self.if_statement(),
            Word::When => self.when_statement(false),
            Word::For => self.for_statement(),
            Word::ForEach => self.for_each_statement(),
            Word::AsLongAs => {
                self.advance();
                let condition = self.condition("as_long_as")?;
                Ok(StatementKind::AsLongAs { condition, body: self.block("`as_long_as`")? })
            }
            Word::Loop => {
                self.advance();
                Ok(StatementKind::Loop { body: self.block("`loop`")? })
            }
            Word::Break => self.single(StatementKind::Break),
            Word::Continue => self.single(StatementKind::Continue),
            Word::Return => self.return_statement(),
            Word::Ensure => {
                self.advance();
                Ok(StatementKind::Ensure(self.expression()?))
            }
            Word::Using => Ok(StatementKind::Using(self.using()?)),
            Word::Const | Word::Do | Word::Private | Word::Import | Word::Module => self.misplaced_item(),
            Word::Struct | Word::Enum => Err(self.misplaced_type(word)),
            Word::Or | Word::Otherwise | Word::Is | Word::Default => Err(self.misplaced_branch(word)),
            _ => self.assignment_or_expression(),
        }
    }

    fn single(&mut self, kind: StatementKind) -> Parsed<StatementKind> {
        self.advance();
        Ok(kind)
    }

    /// Its own mistakes are told too.
    fn misplaced_item(&mut self) -> Parsed<StatementKind> {
        let message = "functions, types and imports cannot stand inside of a function";
        let help = "move it out of the braces; if it is out of them already, a `}` is missing above";
        self.tell(Diagnostic::error("E2011", self.span(), message).help(help));
        self.nested(|parser| {
            parser.skip_item();
            Err(Told)
        })
    }

    fn misplaced_branch(&mut self, word: Word) -> Told {
        let owner = if matches!(word, Word::Or | Word::Otherwise) { "if" } else { "when" };
        let message = format!("`{}` belongs to no `{owner}`", word.text());
        let help = match owner {
            "if" => "it stands right behind the `}` of an `if` or `or`",
            _ => "it stands inside of the braces of a `when`",
        };
        self.tell(Diagnostic::error("E2022", self.span(), message).help(help));
        Told
    }

    /// The word `temp` or `const` is here.
    pub(super) fn declaration(&mut self, mutability: Mutability) -> Parsed<Declaration> {
        let start = self.span();
        self.advance();
        let mut bindings = vec![self.binding()?];
        while self.take_mark(Mark::Comma) {
            if self.at_mark(Mark::Assign) {
                let help = "write another name, or leave out the `,`";
                return Err(self.expected("E2003", "the name of a variable", Some(help)));
            }
            bindings.push(self.binding()?);
        }
        if self.at_mark(Mark::Equal) && !self.token().begins_line {
            let help = "`==` compares; write `=` to give it a value";
            return Err(self.expected("E2001", "`=` before the value", Some(help)));
        }
        let value = if self.take_mark(Mark::Assign) { Some(self.expression()?) } else { None };
        if value.is_some() {
            self.no_other_value()?;
        }
        let span = start.to(self.last_span());
        if value.is_none() {
            self.check_unset(mutability, &bindings, span)?;
        }
        Ok(Declaration { mutability, bindings, value, span })
    }

    fn check_unset(&mut self, mutability: Mutability, bindings: &[Binding], span: Span) -> Parsed<()> {
        let help = match mutability {
            // What follows is the mistake then, such as another mark than `=`.
            Mutability::Temp if bindings.iter().all(|binding| binding.kind.is_some()) => return Ok(()),
            Mutability::Temp => "write `temp name int` or `temp name = 5`",
            Mutability::Const => "write `const NAME = 5`",
        };
        let follows = self.token();
        let goes_on = matches!(follows.kind, TokenKind::Mark(mark) if mark != Mark::RightBrace && mark != Mark::Semicolon);
        if goes_on && !follows.begins_line {
            return Err(self.expected("E2001", "`=` behind the name", Some(help)));
        }
        let (code, message) = match mutability {
            Mutability::Temp => ("E2013", "a variable needs a type or a value"),
            Mutability::Const => ("E2012", "a constant needs a value"),
        };
        self.tell(Diagnostic::error(code, span, message).help(help));
        Ok(())
    }

    fn binding(&mut self) -> Parsed<Binding> {
        let start = self.span();
        let name =
            if self.take_word(Word::Underscore) { None } else { Some(self.name("the name of a variable")?) };
        let colon = self.at_mark(Mark::Colon) && matches!(self.ahead(1).kind, TokenKind::Name(_));
        if colon {
            let help = "write `temp name int`";
            let message = "the type follows the name without `:`";
            self.tell(Diagnostic::error("E2001", self.span(), message).help(help));
            self.advance();
        }
        let kind = if self.at_type() && !self.token().begins_line { Some(self.type_expr()?) } else { None };
        Ok(Binding { name, kind, span: start.to(self.last_span()) })
    }

    fn assignment_or_expression(&mut self) -> Parsed<StatementKind> {
        if let Some(operator) = self.word_for_operator() {
            let help = format!("write `{operator}`");
            return Err(self.expected("E2008", "a statement", Some(&help)));
        }
        let first = self.target()?;
        let TokenKind::Mark(mark) = *self.kind() else { return self.bare(first) };
        if mark == Mark::Comma && !self.token().begins_line {
            return self.several_targets(first);
        }
        let Some((_, operator)) = ASSIGNMENTS.iter().find(|(written, _)| *written == mark) else {
            return self.bare(first);
        };
        self.advance();
        let value = self.expression()?;
        Ok(StatementKind::Assign { targets: vec![first], operator: *operator, value })
    }

    fn several_targets(&mut self, first: Target) -> Parsed<StatementKind> {
        let mut targets = vec![first];
        while self.take_mark(Mark::Comma) {
            targets.push(self.target()?);
        }
        self.expect_mark(Mark::Assign, "behind the variables")?;
        let value = self.expression()?;
        self.no_other_value()?;
        Ok(StatementKind::Assign { targets, operator: None, value })
    }

    fn no_other_value(&mut self) -> Parsed<()> {
        if !self.at_mark(Mark::Comma) {
            return Ok(());
        }
        let help = "only a call gives several values; assign one after the other";
        Err(self.expected("E2001", "one expression", Some(help)))
    }

    fn target(&mut self) -> Parsed<Target> {
        if self.take_word(Word::Underscore) { Ok(None) } else { Ok(Some(self.expression()?)) }
    }

    /// A statement that is only an expression. A name alone does nothing, so what follows on its line was meant with it.
    fn bare(&mut self, target: Target) -> Parsed<StatementKind> {
        let Some(expression) = target else {
            return Err(self.expected("E2001", "`=` behind `_`", None));
        };
        let next = self.token();
        if let (ExprKind::Name(name), false) = (&expression.kind, next.begins_line) {
            let (what, help) = match &next.kind {
                TokenKind::Text(_) | TokenKind::Template(_) | TokenKind::Int(_) | TokenKind::Float(_) => {
                    let function = if &*name.text == "print" { "println" } else { &name.text };
                    ("`(` before the arguments", format!("write {function}(...)"))
                }
                TokenKind::Name(_) if self.word_for_operator().is_none() => {
                    ("`=` or `(`", format!("a variable is declared with `temp name {}`", name.text))
                }
                TokenKind::Mark(Mark::Colon) => ("`=` or `(`", format!("write `temp {} = ...`", name.text)),
                _ => return Ok(StatementKind::Expr(expression)),
            };
            return Err(self.expected("E2001", what, Some(&help)));
        }
        Ok(StatementKind::Expr(expression))
    }

    fn return_statement(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let mut values = Vec::new();
        let token = self.token();
        let nothing =
            matches!(token.kind, TokenKind::Mark(Mark::RightBrace | Mark::Semicolon) | TokenKind::End);
        if !token.begins_line && !nothing {
            values.push(self.expression()?);
            while self.take_mark(Mark::Comma) {
                values.push(self.expression()?);
            }
        }
        Ok(StatementKind::Return(values))
    }
}

const STATEMENT_WORDS: &[Word] = &[
    Word::Temp,
    Word::Const,
    Word::If,
    Word::When,
    Word::For,
    Word::ForEach,
    Word::AsLongAs,
    Word::Loop,
    Word::Break,
    Word::Continue,
    Word::Return,
    Word::Ensure,
    Word::Using,
    Word::Underscore,
    Word::Do,
    Word::Private,
    Word::Import,
    Word::Module,
];

pub(super) fn count_brackets(kind: &TokenKind, braces: &mut u32, others: &mut u32) {
    match kind {
        TokenKind::Mark(Mark::LeftBrace) => *braces += 1,
        TokenKind::Mark(Mark::RightBrace) => *braces = braces.saturating_sub(1),
        TokenKind::Mark(Mark::LeftParenthesis | Mark::LeftBracket) => *others += 1,
        TokenKind::Mark(Mark::RightParenthesis | Mark::RightBracket) => *others = others.saturating_sub(1),
        _ => {}
    }
}
