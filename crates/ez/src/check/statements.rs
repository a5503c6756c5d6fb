//! Statements, and whether what follows them can be reached.

use super::types::alike;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Arm, Block, Expr, ExprKind, Statement, StatementKind};
use crate::library::Call;
use crate::source::Span;
use crate::syntax::ast::{self, Name};
use crate::types::{Type, Types};

/// Whether the statement that follows can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoesOn,
    Leaves,
}

/// Natives that never come back.
const LEAVING: &[&str] = &["exit", "panic"];

impl Checker<'_> {
    /// The statements of a block whose scope is open already.
    pub(super) fn statements(&mut self, written: &[ast::Statement]) -> (Vec<Statement>, Flow) {
        let mut checked = Vec::with_capacity(written.len());
        let mut flow = Flow::GoesOn;
        let mut told = false;
        for statement in written {
            if flow == Flow::Leaves && !told {
                told = true;
                let message = "this is never reached";
                let warning =
                    Diagnostic::warning(codes::UNREACHABLE, statement.span, message).label("unreachable");
                self.tell(warning.help("what stands before it always leaves"));
            }
            if self.statement(statement, &mut checked) == Flow::Leaves {
                flow = Flow::Leaves;
                // Outside of a loop nobody can say where it would have led to.
                let jump = matches!(statement.kind, ast::StatementKind::Break | ast::StatementKind::Continue);
                told |= jump && self.body.loops.is_empty();
            }
        }
        (checked, flow)
    }

    pub(super) fn block(&mut self, written: &ast::Block) -> (Block, Flow) {
        let (_, block, flow) = self.block_with(written, |_| ());
        (block, flow)
    }

    /// A block that begins with something of its own: the variable of a loop.
    pub(super) fn block_with<R>(
        &mut self,
        written: &ast::Block,
        begin: impl FnOnce(&mut Self) -> R,
    ) -> (R, Block, Flow) {
        let id = self.body.enter();
        let begun = begin(self);
        let (statements, flow) = self.statements(&written.statements);
        self.body.leave();
        let end = Span { start: written.span.end.saturating_sub(1).max(written.span.start), ..written.span };
        (begun, Block { id, statements, end }, flow)
    }

    pub(super) fn statement(&mut self, written: &ast::Statement, out: &mut Vec<Statement>) -> Flow {
        let span = written.span;
        self.unknown_types.clear();
        let goes_on = |kind: Option<StatementKind>| (kind, Flow::GoesOn);
        let (kind, flow) = match &written.kind {
            ast::StatementKind::Declare(declaration) => goes_on(self.declare(declaration)),
            ast::StatementKind::Assign { targets, operator, value } => {
                goes_on(self.assign(targets, *operator, value))
            }
            ast::StatementKind::Expr(expr) => self.alone(expr),
            ast::StatementKind::If { arms, otherwise } => self.if_(arms, otherwise.as_ref()),
            ast::StatementKind::When { subject, cases, default, strict } => {
                self.when(subject, cases, default.as_ref(), *strict, span)
            }
            ast::StatementKind::For { variable, kind, range, body } => {
                goes_on(self.for_(variable.as_ref(), kind.as_ref(), range, body))
            }
            ast::StatementKind::ForEach { variable, over, body } => {
                goes_on(self.for_each(variable.as_ref(), over, body))
            }
            ast::StatementKind::AsLongAs { condition, body } => self.as_long_as(condition, body),
            ast::StatementKind::Loop { body } => self.endless(body),
            ast::StatementKind::Break => self.break_(span),
            ast::StatementKind::Continue => {
                (Some(StatementKind::Continue), self.leaves_loop("continue", span))
            }
            ast::StatementKind::Return(values) => (Some(self.return_(values, span)), Flow::Leaves),
            ast::StatementKind::Ensure(expr) => goes_on(self.ensure(expr, span)),
            ast::StatementKind::Using(names) => {
                self.using(names);
                goes_on(None)
            }
        };
        out.extend(kind.map(|kind| Statement { kind, span }));
        flow
    }

    fn alone(&mut self, written: &ast::Expr) -> (Option<StatementKind>, Flow) {
        let expr = self.called(written);
        let flow = if self.never_returns(&expr) { Flow::Leaves } else { Flow::GoesOn };
        (Some(StatementKind::Expr(expr)), flow)
    }

    /// An expression as a statement: only calls and steps do something.
    fn called(&mut self, written: &ast::Expr) -> Expr {
        let expr = self.expr(written, None);
        match &written.kind {
            ast::ExprKind::Call(..) => self.result_is_used(&expr),
            ast::ExprKind::Step(..) => {}
            ast::ExprKind::Binary(ast::BinaryOperator::Equal, ..) => {
                let told = Diagnostic::error(
                    codes::NO_EFFECT,
                    written.span,
                    "this compares and does nothing with the answer",
                );
                self.tell(told.label("no effect").help("to assign, write = instead of =="));
            }
            _ if expr.type_ == Type::Unknown => {}
            _ => {
                let told = Diagnostic::error(codes::NO_EFFECT, written.span, "this does nothing");
                self.tell(
                    told.label("no effect")
                        .help("assign it to a variable, pass it to a function, or take it out"),
                );
            }
        }
        expr
    }

    fn result_is_used(&mut self, expr: &Expr) {
        if matches!(expr.type_, Type::Nothing | Type::Unknown) {
            return;
        }
        if let ExprKind::Native { native, .. } = &expr.kind
            && matches!(self.library.native(*native).call, Call::Changing(..))
        {
            return;
        }
        let parts = match &expr.type_ {
            Type::Tuple(parts) => &parts[..],
            whole => std::slice::from_ref(whole),
        };
        let is_error = |part: &Type| *part == Type::Struct(Types::ERROR);
        let into = |name: fn(bool) -> &'static str| {
            let names: Vec<_> = parts.iter().map(|part| name(is_error(part))).collect();
            format!("temp {} = ...", names.join(", "))
        };
        let look = into(|is_error| if is_error { "problem" } else { "_" });
        let discard = into(|_| "_");
        let name = self.name(&expr.type_);
        let (message, use_it) = match parts.iter().any(is_error) {
            true => (format!("the error of this call is dropped: {name}"), format!("look at it: {look}")),
            false => (format!("the result of this call is not used: {name}"), "use it".to_owned()),
        };
        let told = Diagnostic::error(codes::UNUSED_RESULT, expr.span, message).label("lost");
        self.tell(told.help(format!("{use_it}, or say that you do not need it: {discard}")));
    }

    fn never_returns(&self, expr: &Expr) -> bool {
        let ExprKind::Native { native, .. } = &expr.kind else { return false };
        LEAVING.iter().any(|name| self.library.find("", name) == Some(*native))
    }

    fn if_(&mut self, arms: &[ast::Arm], otherwise: Option<&ast::Block>) -> (Option<StatementKind>, Flow) {
        let mut all_leave = otherwise.is_some();
        let mut checked = Vec::with_capacity(arms.len());
        for arm in arms {
            let condition = self.condition(&arm.condition, "the condition");
            let (body, flow) = self.block(&arm.body);
            all_leave &= flow == Flow::Leaves;
            checked.push(Arm { condition, body, span: arm.span });
        }
        let otherwise = otherwise.map(|block| {
            let (block, flow) = self.block(block);
            all_leave &= flow == Flow::Leaves;
            block
        });
        let flow = if all_leave { Flow::Leaves } else { Flow::GoesOn };
        (Some(StatementKind::If { arms: checked, otherwise }), flow)
    }

    fn return_(&mut self, values: &[ast::Expr], span: Span) -> StatementKind {
        let results = self.body.results.clone();
        // The results of a call can be passed on as they are.
        if let ([only], true) = (values, results.len() > 1) {
            let whole = Type::Tuple(results.as_slice().into());
            let expr = self.expr(only, Some(&whole));
            match &expr.type_ {
                Type::Unknown => {}
                Type::Tuple(parts) if parts.len() == results.len() => {
                    if !alike(&expr.type_, &whole) {
                        let message = format!(
                            "the function gives {}, not {}",
                            self.name(&whole),
                            self.name(&expr.type_)
                        );
                        let told =
                            Diagnostic::error(codes::MISMATCH, expr.span, message).label("other types");
                        self.tell(told.help("take the values apart first and convert them"));
                    }
                }
                Type::Tuple(parts) => self.wrong_return(results.len(), parts.len(), span),
                _ => self.wrong_return(results.len(), 1, span),
            }
            return StatementKind::Return(vec![expr]);
        }
        if values.len() != results.len() {
            self.wrong_return(results.len(), values.len(), span);
            let values = values.iter().map(|value| self.expr(value, None)).collect();
            return StatementKind::Return(values);
        }
        let typed =
            values.iter().zip(&results).map(|(value, kind)| self.typed(value, kind, "what is returned"));
        StatementKind::Return(typed.collect())
    }

    fn wrong_return(&mut self, expected: usize, given: usize, span: Span) {
        let (message, help) = match (expected, given) {
            (0, _) => {
                ("this function gives no value".to_owned(), "say what it gives behind its parameters: -> int")
            }
            (_, 0) => (
                format!("this function has to give {}", values(expected)),
                "write what it gives behind `return`",
            ),
            _ => (
                format!("this function gives {}, not {given}", values(expected)),
                "return as many as behind its ->",
            ),
        };
        self.tell(
            Diagnostic::error(codes::RETURN_COUNT, span, message)
                .label(format!("{} here", values(given)))
                .help(help),
        );
    }

    fn ensure(&mut self, written: &ast::Expr, span: Span) -> Option<StatementKind> {
        let expr = self.expr(written, None);
        if !matches!(written.kind, ast::ExprKind::Call(..)) {
            let told = Diagnostic::error(codes::ENSURE, span, "`ensure` needs a call");
            self.tell(
                told.label("not a call")
                    .help("put what has to be done into a function and write ensure cleanup()"),
            );
            return None;
        }
        if !self.body.is_outermost() {
            let message = "this `ensure` never runs: it stands in an inner block";
            let told = Diagnostic::warning(codes::ENSURE_NEVER_RUNS, span, message).label("never runs");
            self.tell(told.help("move it to the outermost level of the function"));
            return None;
        }
        Some(StatementKind::Ensure(expr))
    }

    fn using(&mut self, names: &[Name]) {
        for name in names {
            let Some(target) = self.imported(name) else { continue };
            if let Some(scope) = self.body.scopes.last_mut() {
                scope.using.push(target);
            }
        }
    }
}

fn values(count: usize) -> String {
    match count {
        0 => "no value".to_owned(),
        1 => "one value".to_owned(),
        _ => format!("{count} values"),
    }
}
