//! Pieces of code that a debugger wants to run in the middle of a program: an expression or an assignment.
//!
//! Each becomes a function whose parameters refer to the variables that are visible there.

use std::rc::Rc;

use super::body::{Body, Local, Role, Rules};
use super::{Checked, Checker, codes};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hir::{BlockId, Function, Statement, StatementKind, Variable, VariableAccess};
use crate::library::Library;
use crate::modules::ModuleId;
use crate::source::FileId;
use crate::syntax::ast;
use crate::types::Type;

#[derive(Debug)]
pub struct Fragment {
    pub function: Function,
    /// `Nothing` for an assignment and for a call without a result.
    pub result: Type,
}

impl Checked {
    /// `at` is the file whose names can be used, `visible` the variables that the function's parameters refer to, in that
    /// order. Of two with the same name, the one of the inner block is meant.
    pub fn fragment(
        &self,
        statement: &ast::Statement,
        library: &Library,
        at: FileId,
        visible: &[Variable],
        diagnostics: &mut Diagnostics,
    ) -> Option<Fragment> {
        let before = diagnostics.errors().count();
        let module = self.scopes.files.get(&at).map_or(ModuleId::MAIN, |file| file.module);
        let mut checker = Checker::new(library, Rc::clone(&self.scopes), diagnostics);
        checker.at(at, module);
        checker.body = Body { rules: Rules::Debugger, ..Body::default() };
        checker.body.enter();
        checker.show(visible);
        let (kind, result) = checker.fragment_statement(statement)?;
        let body = std::mem::take(&mut checker.body);
        let function = Function {
            name: Rc::from("<expression>"),
            module: Rc::clone(&checker.scopes.modules[module.0 as usize].name),
            parameters: visible.len() as u32,
            results: if result == Type::Nothing { Vec::new() } else { vec![result.clone()] },
            locals: body.locals.into_iter().map(|local| local.variable).collect(),
            blocks: body.blocks,
            body: vec![Statement { kind, span: statement.span }],
            span: statement.span,
        };
        (diagnostics.errors().count() == before).then_some(Fragment { function, result })
    }
}

impl Checker<'_> {
    fn show(&mut self, visible: &[Variable]) {
        let mut blocks: Vec<(Rc<str>, BlockId)> = Vec::new();
        for variable in visible {
            let access = match variable.access {
                VariableAccess::Constant | VariableAccess::ConstantReference => {
                    VariableAccess::ConstantReference
                }
                // What the program may not assign to, a debugger may.
                VariableAccess::Mutable | VariableAccess::Parameter | VariableAccess::Reference => {
                    VariableAccess::Reference
                }
            };
            let hidden = blocks.iter().any(|(name, block)| *name == variable.name && *block > variable.block);
            blocks.push((Rc::clone(&variable.name), variable.block));
            let shown = self.body.find(&variable.name);
            let own = Variable { access, block: BlockId(0), ..variable.clone() };
            let id =
                self.body.add(Local { variable: own, role: Role::Parameter, used: true, constant: None });
            if let (true, Some(scope)) = (hidden, self.body.scopes.last_mut()) {
                scope.names.insert(Rc::clone(&variable.name), shown.unwrap_or(id));
            }
        }
    }

    fn fragment_statement(&mut self, statement: &ast::Statement) -> Option<(StatementKind, Type)> {
        match &statement.kind {
            ast::StatementKind::Expr(written) => {
                let expr = self.expr(written, None);
                let expr = match expr.type_ {
                    Type::Tuple(_) | Type::Nothing => expr,
                    _ => self.single(expr),
                };
                let expr = self.printable(expr);
                let result = expr.type_.clone();
                Some(match result {
                    Type::Nothing => (StatementKind::Expr(expr), result),
                    _ => (StatementKind::Return(vec![expr]), result),
                })
            }
            ast::StatementKind::Assign { targets, operator, value } => {
                self.assign(targets, *operator, value).map(|kind| (kind, Type::Nothing))
            }
            _ => {
                let told = Diagnostic::error(
                    codes::FRAGMENT,
                    statement.span,
                    "only expressions and assignments can be evaluated",
                );
                self.tell(
                    told.label("a statement").help("write an expression such as x + 1, a call, or x = 1"),
                );
                None
            }
        }
    }
}
