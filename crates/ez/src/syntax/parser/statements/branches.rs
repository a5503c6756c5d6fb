//! Statements with bodies that run or not: `if`, `when`, `for`, `for_each`.

use super::super::{Diagnostic, Mark, Parsed, Parser, Span, TokenKind, Word};
use crate::syntax::ast::{Arm, BinaryOperator, Case, Expr, ExprKind, Loopable, StatementKind, TypeExpr};

impl Parser<'_> {
    pub(super) fn condition(&mut self, owner: &str) -> Parsed<Expr> {
        if self.at_mark(Mark::LeftBrace) {
            let help = match owner {
                "as_long_as" => "write `as_long_as x < 5 {`, or `loop {` to go on for ever".to_owned(),
                _ => format!("write `{owner} x < 5 {{`"),
            };
            return Err(self.expected("E2021", "a condition", Some(&help)));
        }
        let left = self.header_expression()?;
        if !self.at_mark(Mark::Assign) {
            return Ok(left);
        }
        let message = "`=` assigns and cannot be a condition";
        self.tell(Diagnostic::error("E2009", self.span(), message).help("write `==` to compare"));
        self.advance();
        let right = self.header_expression()?;
        let span = left.span.to(right.span);
        Ok(Expr { kind: ExprKind::Binary(BinaryOperator::Equal, Box::new(left), Box::new(right)), span })
    }

    pub(super) fn if_statement(&mut self) -> Parsed<StatementKind> {
        let mut arms = vec![self.arm("if")?];
        loop {
            self.translate();
            if self.at_word(Word::Or) {
                arms.push(self.arm("or")?);
                continue;
            }
            let otherwise =
                if self.take_word(Word::Otherwise) { Some(self.block("`otherwise`")?) } else { None };
            return Ok(StatementKind::If { arms, otherwise });
        }
    }

    fn arm(&mut self, word: &str) -> Parsed<Arm> {
        let start = self.span();
        self.advance();
        let condition = self.condition(word)?;
        let body = self.block(&format!("`{word}`"))?;
        Ok(Arm { condition, body, span: start.to(self.last_span()) })
    }

    /// `#strict when`
    pub(super) fn strict_when(&mut self) -> Parsed<StatementKind> {
        let attribute = self.span();
        self.advance();
        let strict = matches!(self.kind(), TokenKind::Name(name) if &**name == "strict");
        if !strict {
            return Err(self.wrong_attribute(attribute));
        }
        self.advance();
        if self.at_word(Word::When) {
            return self.when_statement(true);
        }
        Err(self.expected("E2017", "`when` behind `#strict`", None))
    }

    pub(super) fn when_statement(&mut self, strict: bool) -> Parsed<StatementKind> {
        self.advance();
        if self.at_mark(Mark::LeftBrace) {
            return Err(self.expected("E2021", "a value", Some("write `when x {`")));
        }
        let subject = self.header_expression()?;
        let open = self.expect_mark(Mark::LeftBrace, "before the cases of `when`")?;
        self.nested(|parser| {
            let mut cases = Vec::new();
            let mut default = None;
            while !parser.block_ends(open) {
                parser.translate();
                let start = parser.span();
                if parser.take_word(Word::Is) {
                    cases.push(parser.case(start)?);
                } else if parser.take_word(Word::Default) {
                    if default.is_some() {
                        let message = "this `when` has a `default` already";
                        parser.tell(Diagnostic::error("E2023", start, message).help("leave one of them out"));
                    }
                    default = Some(parser.block("`default`")?);
                } else {
                    let help = Some("a case is written `is 1, 2 { ... }`");
                    return Err(parser.expected("E2001", "`is` or `default`", help));
                }
            }
            Ok(StatementKind::When { subject, cases, default, strict })
        })
    }

    fn case(&mut self, start: Span) -> Parsed<Case> {
        let mut values = vec![self.header_expression()?];
        while self.take_mark(Mark::Comma) {
            values.push(self.header_expression()?);
        }
        let body = self.block("`is`")?;
        Ok(Case { values, body, span: start.to(self.last_span()) })
    }

    pub(super) fn for_statement(&mut self) -> Parsed<StatementKind> {
        let help = "write `for i in range(0, 10) {`";
        let (variable, kind, range) = self.loop_header(help, |parser| {
            let typed = parser.at_type();
            if typed { Ok(Some(parser.type_expr()?)) } else { Ok(None) }
        })?;
        if !matches!(range.kind, ExprKind::Range(_)) {
            let help = "go through an array or a string with `for_each`, or write `range(...)`";
            self.tell(Diagnostic::error("E2020", range.span, "`for` only goes through a range").help(help));
        }
        Ok(StatementKind::For { variable, kind, range, body: self.block("`for`")? })
    }

    pub(super) fn for_each_statement(&mut self) -> Parsed<StatementKind> {
        let help = "write `for_each x in items {`";
        let (variable, _, over) = self.loop_header(help, |_| Ok(None))?;
        Ok(StatementKind::ForEach { variable, over, body: self.block("`for_each`")? })
    }

    /// `i int in range(5)`, in parentheses or not.
    fn loop_header(
        &mut self,
        help: &str,
        kind: impl FnOnce(&mut Self) -> Parsed<Option<TypeExpr>>,
    ) -> Parsed<(Loopable, Option<TypeExpr>, Expr)> {
        self.advance();
        let parenthesised = self.take_mark(Mark::LeftParenthesis);
        if matches!(self.kind(), TokenKind::Word(Word::Temp)) {
            return Err(self.expected("E2001", "the name of the loop's variable", Some(help)));
        }
        let variable = if self.take_word(Word::Underscore) {
            None
        } else {
            Some(self.name("the name of the loop's variable")?)
        };
        let kind = kind(self)?;
        if !self.take_word(Word::In) {
            return Err(self.expected("E2001", "`in`", Some(help)));
        }
        if !parenthesised {
            return Ok((variable, kind, self.header_expression()?));
        }
        let over = self.expression()?;
        self.expect_mark(Mark::RightParenthesis, "to close the parenthesis")?;
        Ok((variable, kind, over))
    }
}
