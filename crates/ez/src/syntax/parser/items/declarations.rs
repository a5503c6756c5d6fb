//! Functions, structs and enums.

use super::super::{Diagnostic, Mark, Parsed, Parser, Rc, TokenKind, Word};
use crate::syntax::ast::{Enum, Expr, Field, Function, Name, Parameter, Passing, Struct, TypeExpr};

impl Parser<'_> {
    /// At `const`.
    pub(in super::super) fn declares_type(&self) -> bool {
        matches!(self.ahead(2).kind, TokenKind::Word(Word::Struct | Word::Enum))
    }

    pub(super) fn declares_enum(&self) -> bool {
        self.ahead(2).kind == TokenKind::Word(Word::Enum)
    }

    pub(super) fn function(&mut self, suppress: Vec<Name>) -> Parsed<Function> {
        self.advance();
        let name = self.name("the name of the function")?;
        self.expect_mark(Mark::LeftParenthesis, "before the parameters")?;
        let parameters = self.parameters()?;
        let mut results = Vec::new();
        if self.take_mark(Mark::Arrow) {
            if self.take_mark(Mark::LeftParenthesis) {
                results.push(self.type_expr()?);
                while self.another(Mark::RightParenthesis)? {
                    results.push(self.type_expr()?);
                }
            } else {
                results.push(self.type_expr()?);
            }
        } else if self.at_type() || self.at_mark(Mark::Colon) {
            return Err(self.expected("E2001", "`->` or `{`", Some("write `do name() -> int {`")));
        }
        let body = self.block("the function")?;
        Ok(Function { name, parameters, results, body, suppress })
    }

    /// Up to the closing parenthesis; names that stand together share the type behind them.
    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        if self.take_mark(Mark::RightParenthesis) {
            return Ok(parameters);
        }
        let mut with_default = false;
        loop {
            let group = self.parameter_names()?;
            let at = self.at;
            for (passing, name) in group {
                // Parsed once for each name, so that each owns its type.
                self.at = at;
                parameters.push(Parameter { name, passing, kind: self.type_expr()?, default: None });
            }
            let default = if self.take_mark(Mark::Assign) { Some(self.expression()?) } else { None };
            self.set_default(&mut parameters, default, &mut with_default);
            if !self.another(Mark::RightParenthesis)? {
                return Ok(parameters);
            }
        }
    }

    /// `a, &b` before their type.
    fn parameter_names(&mut self) -> Parsed<Vec<(Passing, Name)>> {
        let mut group = Vec::new();
        loop {
            let passing = if self.take_mark(Mark::Ampersand) { Passing::Reference } else { Passing::Value };
            let name = self.name("the name of a parameter")?;
            let missing = matches!(self.kind(), TokenKind::Mark(Mark::RightParenthesis | Mark::Assign));
            if missing {
                let message = format!("the parameter `{}` has no type", name.text);
                let help = format!("write `{} int`", name.text);
                self.tell(Diagnostic::error("E2026", name.span, message).help(help));
                return Err(super::Told);
            }
            group.push((passing, name));
            if !self.take_mark(Mark::Comma) {
                return Ok(group);
            }
        }
    }

    /// The default belongs to the last of its group.
    fn set_default(&mut self, parameters: &mut [Parameter], default: Option<Expr>, with_default: &mut bool) {
        let Some(last) = parameters.last_mut() else { return };
        if default.is_none() && *with_default {
            let message =
                format!("the parameter `{}` follows one with a default and has none", last.name.text);
            let help = "parameters with defaults come last";
            self.tell(Diagnostic::error("E2016", last.name.span, message).help(help));
        }
        if default.is_some() && last.passing == Passing::Reference {
            let message = format!("`&{}` cannot have a default", last.name.text);
            let help = "only a variable can be given for it";
            self.tell(Diagnostic::error("E2016", last.name.span, message).help(help));
        }
        *with_default |= default.is_some();
        last.default = default;
    }

    pub(super) fn structure(&mut self) -> Parsed<Struct> {
        self.advance();
        let name = self.name("the name of the struct")?;
        self.advance();
        self.expect_mark(Mark::LeftBrace, "before the fields")?;
        let mut fields = Vec::new();
        while !self.take_mark(Mark::RightBrace) {
            self.fields(&mut fields)?;
            self.skip_separators();
        }
        Ok(Struct { name, fields })
    }

    /// `a, b int` and its tag.
    fn fields(&mut self, fields: &mut Vec<Field>) -> Parsed<()> {
        let mut names = vec![self.name("the name of a field, or `}`")?];
        while self.take_mark(Mark::Comma) {
            names.push(self.name("the name of a field")?);
        }
        if self.at_mark(Mark::Colon) {
            return Err(self.expected(
                "E2001",
                "the type of the field",
                Some("the type follows the name without `:`"),
            ));
        }
        let at = self.at;
        let first = fields.len();
        for name in names {
            // As with parameters, each owns its type.
            self.at = at;
            fields.push(Field { name, kind: self.type_expr()?, tag: None });
        }
        if let TokenKind::Raw(tag) = self.kind() {
            let tag = Rc::clone(tag);
            self.advance();
            for field in &mut fields[first..] {
                field.tag = Some(Rc::clone(&tag));
            }
        }
        Ok(())
    }

    /// Commas between fields or members mean nothing.
    fn skip_separators(&mut self) {
        self.take_mark(Mark::Comma);
        self.skip_semicolons();
    }

    pub(super) fn enumeration(&mut self, attribute: Option<TypeExpr>, flags: bool) -> Parsed<Enum> {
        self.advance();
        let name = self.name("the name of the enum")?;
        self.advance();
        let mut base = attribute;
        if self.take_mark(Mark::Colon) {
            let written = self.type_expr()?;
            if base.is_some() {
                let message = "the type of this enum is given twice";
                self.tell(Diagnostic::error("E2017", written.span, message).help("leave out `#enum(...)`"));
            }
            base = Some(written);
        }
        self.expect_mark(Mark::LeftBrace, "before the members")?;
        let mut members = Vec::new();
        while !self.take_mark(Mark::RightBrace) {
            let member = self.name("the name of a member, or `}`")?;
            let value = if self.take_mark(Mark::Assign) { Some(self.expression()?) } else { None };
            members.push((member, value));
            self.skip_separators();
        }
        Ok(Enum { name, base, flags, members })
    }
}
