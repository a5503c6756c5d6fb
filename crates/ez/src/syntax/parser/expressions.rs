//! Expressions: operators by precedence, and what stands between them.

use std::rc::Rc;

use super::foreign::NO_BITS;
use super::{Around, Diagnostic, Mark, Parsed, Parser, TokenKind, Told, Word};
use crate::source::Span;
use crate::syntax::ast::{BinaryOperator, Expr, ExprKind, Name, TemplatePart};
use crate::syntax::token::Piece;

/// From loosest to tightest; all of them take their left side first.
const PRECEDENCE: &[&[(TokenKind, BinaryOperator)]] = &[
    &[(TokenKind::Mark(Mark::Or), BinaryOperator::Or)],
    &[(TokenKind::Mark(Mark::And), BinaryOperator::And)],
    &[
        (TokenKind::Mark(Mark::Equal), BinaryOperator::Equal),
        (TokenKind::Mark(Mark::NotEqual), BinaryOperator::NotEqual),
    ],
    &[
        (TokenKind::Mark(Mark::Less), BinaryOperator::Less),
        (TokenKind::Mark(Mark::LessOrEqual), BinaryOperator::LessOrEqual),
        (TokenKind::Mark(Mark::Greater), BinaryOperator::Greater),
        (TokenKind::Mark(Mark::GreaterOrEqual), BinaryOperator::GreaterOrEqual),
    ],
    &[
        (TokenKind::Word(Word::In), BinaryOperator::In),
        (TokenKind::Word(Word::NotIn), BinaryOperator::NotIn),
        (TokenKind::Mark(Mark::NotIn), BinaryOperator::NotIn),
    ],
    &[
        (TokenKind::Mark(Mark::Plus), BinaryOperator::Add),
        (TokenKind::Mark(Mark::Minus), BinaryOperator::Subtract),
    ],
    &[
        (TokenKind::Mark(Mark::Star), BinaryOperator::Multiply),
        (TokenKind::Mark(Mark::Slash), BinaryOperator::Divide),
        (TokenKind::Mark(Mark::Percent), BinaryOperator::Remainder),
    ],
];

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.binary(0))
    }

    /// An expression in front of a body.
    pub(super) fn header_expression(&mut self) -> Parsed<Expr> {
        self.inside(Around::Header, Parser::expression)
    }

    /// An expression between braces.
    fn inner_expression(&mut self) -> Parsed<Expr> {
        self.inside(Around::Statement, Parser::expression)
    }

    pub(super) fn bracketed_expression(&mut self) -> Parsed<Expr> {
        self.inside(Around::Brackets, Parser::expression)
    }

    /// Operators at least as tight as `level`.
    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        let mut left = self.prefix()?;
        let mut height = self.height;
        while let Some((operator, tightness)) = self.operator(level) {
            self.advance();
            let right = self.nested(|parser| parser.binary(tightness + 1))?;
            let span = left.span.to(right.span);
            self.grow(height.max(self.height), span)?;
            height = self.height;
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        self.height = height;
        Ok(left)
    }

    fn operator(&self, level: usize) -> Option<(BinaryOperator, usize)> {
        let levels = PRECEDENCE.iter().enumerate().skip(level);
        let mut all = levels.flat_map(|(tightness, row)| row.iter().map(move |entry| (entry, tightness)));
        let ((_, operator), tightness) = all.find(|((kind, _), _)| kind == self.kind())?;
        Some((*operator, tightness))
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let wrap: fn(Box<Expr>) -> ExprKind = match self.kind() {
            TokenKind::Mark(Mark::Bang) => ExprKind::Not,
            TokenKind::Mark(Mark::Minus) => ExprKind::Negate,
            _ => return self.postfix(),
        };
        self.advance();
        let operand = self.nested(Parser::prefix)?;
        let span = span.to(operand.span);
        self.grow(self.height, span)?;
        Ok(Expr { kind: wrap(Box::new(operand)), span })
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.height = 1;
        let kind = match self.kind() {
            TokenKind::Int(number) => ExprKind::Int(number.clone()),
            TokenKind::Float(number) => ExprKind::Float(*number),
            TokenKind::Char(character) => ExprKind::Char(*character),
            TokenKind::Text(text) | TokenKind::Raw(text) => ExprKind::Text(Rc::clone(text)),
            TokenKind::Word(Word::True) => ExprKind::Bool(true),
            TokenKind::Word(Word::False) => ExprKind::Bool(false),
            TokenKind::Word(Word::Nil) => ExprKind::Nil,
            TokenKind::Template(pieces) => {
                let pieces = pieces.clone();
                self.advance();
                let kind = self.nested(|parser| parser.template(pieces))?;
                self.grow(self.height, start)?;
                return Ok(Expr { kind, span: start });
            }
            _ => return self.compound(start),
        };
        self.advance();
        Ok(Expr { kind, span: start })
    }

    fn compound(&mut self, start: Span) -> Parsed<Expr> {
        let kind = match self.kind() {
            TokenKind::Name(_) => {
                let name = self.name("a name")?;
                let reference = &*name.text == "ref" && self.at_mark(Mark::LeftParenthesis);
                if reference { self.reference()? } else { ExprKind::Name(name) }
            }
            TokenKind::Mark(Mark::LeftParenthesis) => {
                self.advance();
                let inner = self.bracketed_expression()?;
                self.expect_mark(Mark::RightParenthesis, "to close the parenthesis")?;
                return Ok(Expr { span: start.to(self.last_span()), ..inner });
            }
            TokenKind::Mark(Mark::LeftBrace) => self.braced(start)?,
            TokenKind::Word(Word::Range) => self.range()?,
            TokenKind::Word(Word::Cast) => self.cast()?,
            TokenKind::Word(Word::New) => self.new_value()?,
            _ => return Err(self.no_expression()),
        };
        Ok(Expr { kind, span: start.to(self.last_span()) })
    }

    fn no_expression(&mut self) -> Told {
        let help = match self.kind() {
            TokenKind::Mark(Mark::LeftBracket) => Some("an array is written in braces: {1, 2, 3}"),
            TokenKind::Mark(Mark::Increment | Mark::Decrement) => {
                Some("`++` and `--` stand behind the variable: x++")
            }
            // Behind an expression that ends a statement.
            TokenKind::Mark(Mark::Ampersand) if self.at == self.first && !self.token().begins_line => {
                Some(NO_BITS)
            }
            TokenKind::Mark(Mark::Ampersand) => {
                Some("`&` is written where the parameter is declared; the argument is only named")
            }
            TokenKind::Word(Word::Underscore) => Some("`_` throws a value away; it has none itself"),
            TokenKind::Word(Word::If) => {
                Some("`if` is no expression: declare a variable and assign in the branches")
            }
            _ => None,
        };
        self.expected("E2002", "an expression", help)
    }

    /// `{1, 2}`, `{k: v}`, `{}`, `{:}`
    fn braced(&mut self, start: Span) -> Parsed<ExprKind> {
        self.advance();
        if self.take_mark(Mark::RightBrace) {
            return Ok(ExprKind::EmptyBraces);
        }
        if self.at_mark(Mark::Colon) && self.ahead(1).kind == TokenKind::Mark(Mark::RightBrace) {
            self.advance();
            self.advance();
            return Ok(ExprKind::Map(Vec::new()));
        }
        let first = self.inner_expression()?;
        if self.at_mark(Mark::Colon) {
            return self.map(start, first);
        }
        let mut elements = vec![first];
        let mut height = self.height;
        while self.another(Mark::RightBrace)? {
            elements.push(self.inner_expression()?);
            height = height.max(self.height);
        }
        self.grow(height, start)?;
        Ok(ExprKind::Array(elements))
    }

    fn map(&mut self, start: Span, first: Expr) -> Parsed<ExprKind> {
        let mut entries = Vec::new();
        let mut height = self.height;
        let mut key = first;
        loop {
            self.expect_mark(Mark::Colon, "between key and value")?;
            let value = self.inner_expression()?;
            height = height.max(self.height);
            entries.push((key, value));
            if !self.another(Mark::RightBrace)? {
                break;
            }
            key = self.inner_expression()?;
            height = height.max(self.height);
        }
        self.grow(height, start)?;
        Ok(ExprKind::Map(entries))
    }

    /// Behind an element of a list: passes the comma if there is another element, else the closing mark.
    pub(super) fn another(&mut self, close: Mark) -> Parsed<bool> {
        if self.take_mark(close) {
            return Ok(false);
        }
        let comma = self.span();
        if !self.take_mark(Mark::Comma) {
            return Err(self.expected("E2005", &format!("`,` or `{}`", close.text()), None));
        }
        if self.take_mark(close) {
            let message = format!("there is nothing between this `,` and `{}`", close.text());
            self.tell(Diagnostic::error("E2014", comma, message).help("leave out the last `,`"));
            return Ok(false);
        }
        Ok(true)
    }

    /// From the opening parenthesis to the closing one.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect_mark(Mark::LeftParenthesis, "before the arguments")?;
        let mut arguments = Vec::new();
        let mut height = 0;
        if !self.take_mark(Mark::RightParenthesis) {
            loop {
                arguments.push(self.bracketed_expression()?);
                height = height.max(self.height);
                if !self.another(Mark::RightParenthesis)? {
                    break;
                }
            }
        }
        self.height = height;
        Ok(arguments)
    }

    fn range(&mut self) -> Parsed<ExprKind> {
        let start = self.span();
        self.advance();
        let arguments = self.arguments()?;
        let span = start.to(self.last_span());
        self.grow(self.height, span)?;
        if !(1..=3).contains(&arguments.len()) {
            let message = format!("`range` takes one to three numbers, not {}", arguments.len());
            let help = "write range(end), range(start, end) or range(start, end, step)";
            self.tell(Diagnostic::error("E2018", span, message).help(help));
        }
        Ok(ExprKind::Range(arguments))
    }

    fn cast(&mut self) -> Parsed<ExprKind> {
        let start = self.span();
        self.advance();
        let help = Some("write cast(value, type)");
        self.expect_mark_or_help(Mark::LeftParenthesis, "behind `cast`", help)?;
        let value = self.bracketed_expression()?;
        self.expect_mark_or_help(Mark::Comma, "between the value and its new type", help)?;
        let kind = self.type_expr()?;
        self.expect_mark_or_help(Mark::RightParenthesis, "behind the type", help)?;
        self.grow(self.height, start)?;
        Ok(ExprKind::Cast(Box::new(value), kind))
    }

    fn new_value(&mut self) -> Parsed<ExprKind> {
        self.advance();
        let help = Some("write new(Name), or Name{field: value}");
        self.expect_mark_or_help(Mark::LeftParenthesis, "behind `new`", help)?;
        let kind = self.type_expr()?;
        self.expect_mark_or_help(Mark::RightParenthesis, "behind the type", help)?;
        self.height = 1;
        Ok(ExprKind::New(kind))
    }

    fn reference(&mut self) -> Parsed<ExprKind> {
        self.advance();
        let target = self.bracketed_expression()?;
        self.expect_mark_or_help(Mark::RightParenthesis, "behind the variable", Some("write ref(variable)"))?;
        self.grow(self.height, target.span)?;
        Ok(ExprKind::Ref(Box::new(target)))
    }

    /// Each `${}` is a text of its own: nothing in it can reach what follows.
    fn template(&mut self, pieces: Vec<Piece>) -> Parsed<ExprKind> {
        let mut height = 1;
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(TemplatePart::Text(text)),
                Piece::Code(tokens) => {
                    let tokens = std::mem::replace(&mut self.tokens, tokens);
                    let around = (tokens, std::mem::take(&mut self.at), std::mem::take(&mut self.first));
                    let parsed = self.template_code();
                    (self.tokens, self.at, self.first) = around;
                    parts.push(TemplatePart::Expr(parsed?));
                    height = height.max(self.height);
                }
            }
        }
        self.height = height;
        Ok(ExprKind::Template(parts))
    }

    fn template_code(&mut self) -> Parsed<Expr> {
        if self.at_end() {
            let message = "there is nothing in this `${}`";
            self.tell(
                Diagnostic::error("E2028", self.span(), message).help("put an expression into the braces"),
            );
            return Err(Told);
        }
        let expression = self.inner_expression()?;
        if self.at_end() {
            return Ok(expression);
        }
        Err(self.expected("E2001", "`}` behind the expression", None))
    }

    /// `name: value` of a struct literal, up to the closing brace; the opening one was passed.
    pub(super) fn struct_fields(&mut self) -> Parsed<Vec<(Name, Expr)>> {
        let mut fields = Vec::new();
        let mut height = 0;
        if !self.take_mark(Mark::RightBrace) {
            loop {
                let name = self.name("the name of a field")?;
                self.expect_mark_or_help(Mark::Colon, "behind the field", Some("write Name{field: value}"))?;
                fields.push((name, self.inner_expression()?));
                height = height.max(self.height);
                if !self.another(Mark::RightBrace)? {
                    break;
                }
            }
        }
        self.height = height;
        Ok(fields)
    }
}
