//! What stands behind an expression: calls, indexes, members, the fields of a struct literal, `++` and `--`.

use super::{Around, Diagnostic, Mark, Parsed, Parser, TokenKind, Told};
use crate::syntax::ast::{Expr, ExprKind, Name, StepBy};

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut expression = self.primary()?;
        loop {
            let height = self.height;
            let same_line = !self.token().begins_line || self.around == Around::Brackets;
            let kind = match self.kind() {
                TokenKind::Mark(Mark::LeftParenthesis) if same_line => {
                    let arguments = self.arguments()?;
                    ExprKind::Call(Box::new(expression), arguments)
                }
                TokenKind::Mark(Mark::LeftBracket) if same_line => {
                    self.advance();
                    let index = self.bracketed_expression()?;
                    self.expect_mark(Mark::RightBracket, "behind the index")?;
                    ExprKind::Index(Box::new(expression), Box::new(index))
                }
                TokenKind::Mark(Mark::Dot) => {
                    self.advance();
                    let name = self.member_name()?;
                    self.height = 1;
                    ExprKind::Member(Box::new(expression), name)
                }
                TokenKind::Mark(Mark::LeftBrace) if same_line && self.is_struct_literal(&expression) => {
                    self.advance();
                    self.unnamed_fields(type_name(&expression).unwrap_or_default())?;
                    let fields = self.struct_fields()?;
                    match literal_name(expression) {
                        Some((module, name)) => ExprKind::StructLiteral { module, name, fields },
                        None => return Err(self.expected("E2003", "the name of a struct", None)),
                    }
                }
                TokenKind::Mark(mark @ (Mark::Increment | Mark::Decrement)) if same_line => {
                    let by = if *mark == Mark::Increment { StepBy::Up } else { StepBy::Down };
                    self.advance();
                    self.height = 1;
                    ExprKind::Step(Box::new(expression), by)
                }
                _ => {
                    self.height = height;
                    return Ok(expression);
                }
            };
            let span = start.to(self.last_span());
            self.grow(height.max(self.height), span)?;
            expression = Expr { kind, span };
        }
    }

    /// Functions of modules may be called like words of the language, but only where it cannot be another statement.
    fn member_name(&mut self) -> Parsed<Name> {
        let token = self.token();
        if let (TokenKind::Word(word), false) = (&token.kind, token.begins_line) {
            let name = Name { text: word.text().into(), span: token.span };
            self.advance();
            return Ok(name);
        }
        self.name("a name behind the `.`")
    }

    /// At a brace. A block never begins with `name:`, but one may be empty.
    fn is_struct_literal(&self, expression: &Expr) -> bool {
        if type_name(expression).is_none() {
            return false;
        }
        let begins_with_field = matches!(self.ahead(1).kind, TokenKind::Name(_))
            && self.ahead(2).kind == TokenKind::Mark(Mark::Colon);
        // What else it could be is told better as fields without names.
        begins_with_field || self.around != Around::Header
    }

    /// `P{1, 2}`; the brace was passed.
    fn unnamed_fields(&mut self, name: &str) -> Parsed<()> {
        let named = matches!(self.kind(), TokenKind::Name(_) | TokenKind::Word(_))
            && self.ahead(1).kind == TokenKind::Mark(Mark::Colon);
        if named || self.at_mark(Mark::RightBrace) || *self.kind() == TokenKind::Wrong {
            return Ok(());
        }
        let message = format!("the fields of `{name}` need their names");
        let help = format!("write each before its value: {name}{{x: 1, y: 2}}");
        self.tell(Diagnostic::error("E2029", self.span(), message).help(help));
        Err(Told)
    }
}

/// The name of what can only be a type.
fn type_name(expression: &Expr) -> Option<&str> {
    let name = match &expression.kind {
        ExprKind::Name(name) => name,
        ExprKind::Member(base, name) if matches!(base.kind, ExprKind::Name(_)) => name,
        _ => return None,
    };
    name.text.starts_with(|letter: char| letter.is_ascii_uppercase()).then_some(&name.text)
}

fn literal_name(expression: Expr) -> Option<(Option<Name>, Name)> {
    match expression.kind {
        ExprKind::Name(name) => Some((None, name)),
        ExprKind::Member(base, name) => match base.kind {
            ExprKind::Name(module) => Some((Some(module), name)),
            _ => None,
        },
        _ => None,
    }
}
