//! Types: `int`, `geometry.Point`, `[T]`, `[T, N]`, `map[K:V]`.

use super::{Mark, Parsed, Parser, TokenKind};
use crate::syntax::ast::{Expr, ExprKind, TypeExpr, TypeKind};

impl Parser<'_> {
    pub(super) fn at_type(&self) -> bool {
        matches!(self.kind(), TokenKind::Name(_) | TokenKind::Mark(Mark::LeftBracket))
    }

    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
        self.nested(|parser| {
            let start = parser.span();
            let kind = if parser.take_mark(Mark::LeftBracket) {
                parser.array_type()?
            } else {
                parser.named_type()?
            };
            Ok(TypeExpr { kind, span: start.to(parser.last_span()) })
        })
    }

    fn array_type(&mut self) -> Parsed<TypeKind> {
        if self.at_mark(Mark::RightBracket) {
            return Err(self.expected(
                "E2001",
                "the type of the elements",
                Some("write `[int]`, not `[]int`"),
            ));
        }
        let element = Box::new(self.type_expr()?);
        if !self.take_mark(Mark::Comma) {
            self.expect_mark(Mark::RightBracket, "behind the type of the elements")?;
            return Ok(TypeKind::Array(element));
        }
        let length = Box::new(self.length()?);
        self.expect_mark(Mark::RightBracket, "behind the number of elements")?;
        Ok(TypeKind::Fixed(element, length))
    }

    fn length(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let kind = match self.kind() {
            TokenKind::Int(number) => ExprKind::Int(number.clone()),
            TokenKind::Name(_) => {
                let name = self.name("the number of elements")?;
                return Ok(Expr { kind: ExprKind::Name(name), span });
            }
            _ => {
                return Err(self.expected(
                    "E2001",
                    "the number of elements",
                    Some("it is a number or a constant"),
                ));
            }
        };
        self.advance();
        Ok(Expr { kind, span })
    }

    fn named_type(&mut self) -> Parsed<TypeKind> {
        if self.at_mark(Mark::Ampersand) {
            return Err(self.expected("E2003", "a type", Some("`&` stands before the name: &a int")));
        }
        let name = self.name("a type")?;
        if &*name.text == "map" && self.take_mark(Mark::LeftBracket) {
            let key = Box::new(self.type_expr()?);
            let help = Some("a map's type is written `map[string:int]`");
            self.expect_mark_or_help(Mark::Colon, "between the types of key and value", help)?;
            let value = Box::new(self.type_expr()?);
            self.expect_mark_or_help(Mark::RightBracket, "behind the type of the values", help)?;
            return Ok(TypeKind::Map(key, value));
        }
        if self.take_mark(Mark::Dot) {
            let module = Some(name);
            let name = self.name("the name of a type")?;
            return Ok(TypeKind::Named { module, name });
        }
        Ok(TypeKind::Named { module: None, name })
    }
}
