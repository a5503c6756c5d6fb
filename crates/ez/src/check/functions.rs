//! The bodies of functions.

use std::rc::Rc;

use super::body::{Body, Role};
use super::statements::Flow;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Function, FunctionId, VariableAccess};
use crate::source::Span;
use crate::syntax::ast::{self, Passing};

impl Checker<'_> {
    pub(super) fn function(&mut self, written: &ast::Function, id: FunctionId, span: Span) -> Function {
        let head = Rc::clone(&self.scopes.functions[id.0 as usize]);
        let suppress = written.suppress.iter().map(|code| Rc::clone(&code.text)).collect();
        self.body = Body { results: head.results.clone(), suppress, ..Body::default() };
        self.body.enter();
        for (parameter, known) in written.parameters.iter().zip(&head.parameters) {
            let access = match parameter.passing {
                Passing::Value => VariableAccess::Parameter,
                Passing::Reference => VariableAccess::Reference,
            };
            self.introduce(&parameter.name, known.kind.clone(), access, Role::Parameter);
        }
        let (statements, flow) = self.statements(&written.body.statements);
        if flow == Flow::GoesOn && !head.results.is_empty() {
            let message = format!("`{}` can end without giving a value", head.name);
            let told = Diagnostic::error(codes::MISSING_RETURN, written.name.span, message)
                .label("no return at its end");
            self.tell(told.help("every way through the function has to end with a return"));
        }
        self.unused_variables();
        let body = std::mem::take(&mut self.body);
        Function {
            name: Rc::clone(&head.name),
            module: Rc::clone(&self.scopes.modules[self.module.0 as usize].name),
            parameters: head.parameters.len() as u32,
            results: head.results.clone(),
            locals: body.locals.into_iter().map(|local| local.variable).collect(),
            blocks: body.blocks,
            body: statements,
            span,
        }
    }

    fn unused_variables(&mut self) {
        let unused: Vec<(Rc<str>, Span)> = self
            .body
            .locals
            .iter()
            .filter(|local| {
                local.role == Role::Ordinary && !local.used && !local.variable.name.starts_with('_')
            })
            .map(|local| (Rc::clone(&local.variable.name), local.variable.span))
            .collect();
        for (name, span) in unused {
            let message = format!("the variable `{name}` is never used");
            let told = Diagnostic::warning(codes::UNUSED_VARIABLE, span, message).label("not used");
            self.tell(told.help(format!("take it away, or call it _{name} if it has to be there")));
        }
    }
}
