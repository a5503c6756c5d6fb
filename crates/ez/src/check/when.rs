//! `when`: what it can look at, which cases it needs, and which are there twice.

use rustc_hash::FxHashSet;
use std::rc::Rc;

use super::statements::Flow;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Case, CaseValue, Expr, ExprKind, StatementKind};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use crate::value::Key;

/// Of the members that a `when` leaves out, how many are named.
const MOST_MISSING: usize = 10;

impl Checker<'_> {
    pub(super) fn when(
        &mut self,
        subject: &ast::Expr,
        cases: &[ast::Case],
        default: Option<&ast::Block>,
        strict: bool,
        span: Span,
    ) -> (Option<StatementKind>, Flow) {
        let subject = self.value(subject, None);
        let subject = self.printable(subject);
        self.can_be_subject(&subject);
        let mut seen = FxHashSet::default();
        let mut checked = Vec::with_capacity(cases.len());
        let mut all_leave = true;
        for case in cases {
            let values =
                case.values.iter().map(|value| self.case_value(value, &subject.type_, &mut seen)).collect();
            let (body, flow) = self.block(&case.body);
            all_leave &= flow == Flow::Leaves;
            checked.push(Case { values, body, span: case.span });
        }
        self.has_all_cases(&subject, default, strict, &seen, span);
        let default = default.map(|block| {
            let (block, flow) = self.block(block);
            all_leave &= flow == Flow::Leaves;
            block
        });
        let complete = strict || default.is_some();
        let flow = if all_leave && complete { Flow::Leaves } else { Flow::GoesOn };
        (Some(StatementKind::When { subject, cases: checked, default }), flow)
    }

    fn can_be_subject(&mut self, subject: &Expr) {
        let kind = self.underlying(&subject.type_);
        if matches!(kind, Type::Int(_) | Type::Char | Type::Byte | Type::Text | Type::Unknown) {
            return;
        }
        let message = format!("`when` cannot look at {}", self.name(&subject.type_));
        let told = Diagnostic::error(codes::WHEN_SUBJECT, subject.span, message).label("not for `when`");
        self.tell(match kind {
            Type::Bool => told.help("use if and otherwise"),
            Type::Float(_) => told.help("compare floats with if: they are seldom exactly equal"),
            _ => told.help("it looks at integers, chars, bytes, strings and members of enums"),
        });
    }

    fn case_value(&mut self, written: &ast::Expr, subject: &Type, seen: &mut FxHashSet<Key>) -> CaseValue {
        if let ast::ExprKind::Range(parts) = &written.kind {
            if !matches!(subject, Type::Int(_) | Type::Byte | Type::Unknown) {
                let message = format!("a range cannot be a case for {}", self.name(subject));
                self.tell(
                    Diagnostic::error(codes::MISMATCH, written.span, message)
                        .label("only for integers")
                        .help("name the values one by one"),
                );
            }
            return CaseValue::Range(self.range(parts, written.span));
        }
        let value = self.typed(written, subject, "a case of this `when`");
        if let ExprKind::Constant(constant) = &value.kind
            && value.type_ != Type::Unknown
            && !seen.insert(Key(constant.clone()))
        {
            let told = Diagnostic::error(codes::WHEN_DUPLICATE, value.span, "this case is there twice");
            self.tell(told.label("again").help("only the first one would ever be taken"));
        }
        CaseValue::Equal(value)
    }

    fn has_all_cases(
        &mut self,
        subject: &Expr,
        default: Option<&ast::Block>,
        strict: bool,
        seen: &FxHashSet<Key>,
        span: Span,
    ) {
        let told = match (strict, &subject.type_, default) {
            (_, Type::Unknown, _) | (false, _, Some(_)) => return,
            (false, _, None) => Diagnostic::error(codes::WHEN_DEFAULT, span, "this `when` has no default")
                .label("what if no case fits?")
                .help("add default { ... } at its end; for enums, #strict asks for all members instead"),
            (true, Type::Enum(_), Some(default)) => {
                Diagnostic::error(codes::WHEN_DEFAULT, default.span, "a strict `when` has no default")
                    .label("not allowed")
                    .help("#strict asks for every member of the enum, so nothing is left for it")
            }
            (true, Type::Enum(id), None) => {
                let shape = Rc::clone(self.scopes.types.enumeration(*id));
                let missing = shape.members.iter().filter(|(_, value)| !seen.contains(&Key(value.clone())));
                let missing: Vec<String> =
                    missing.map(|(name, _)| format!("{}.{name}", shape.name)).collect();
                if missing.is_empty() {
                    return;
                }
                let more = missing.len().saturating_sub(MOST_MISSING);
                let mut named = missing[..missing.len() - more].join(", ");
                if more > 0 {
                    named += &format!(" and {more} more");
                }
                let message = format!("this strict `when` does not treat {named}");
                Diagnostic::error(codes::WHEN_EXHAUSTIVE, span, message)
                    .label("not all members")
                    .help("add a case for each, or take #strict away and add a default")
            }
            (true, _, _) => {
                let message =
                    format!("only a `when` on an enum can be strict, not on {}", self.name(&subject.type_));
                Diagnostic::error(codes::WHEN_SUBJECT, subject.span, message)
                    .label("not an enum")
                    .help("take #strict away")
            }
        };
        self.tell(told);
    }
}
