//! What a program that stands still shows: frames, scopes, variables and what is inside of them.

use crate::debug::Debuggee;
use crate::debug::statements::full_name;
use crate::hir::VariableAccess;
use crate::machine::FrameView;
use crate::source::Span;
use crate::types::Type;
use crate::value::{Root, Value, format};

#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub name: String,
    /// The statement that is next; for a caller, the call.
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Scope {
    pub kind: ScopeKind,
    pub variables: Vec<Shown>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// An inner block, by the line of its first variable.
    Block {
        line: u32,
    },
    Function,
    Globals,
}

/// A value with what is known of where it comes from.
#[derive(Debug, Clone)]
pub struct Shown {
    pub name: String,
    pub kind: Type,
    pub value: Value,
    /// What leads to it, if it is a variable or inside of one. Names mean what they do in the scope of the variable.
    pub expression: Option<String>,
    pub is_constant: bool,
    /// An inner scope has another variable of this name, so the expression means that one where the frame stands.
    pub is_hidden: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Children {
    None,
    Named(usize),
    Indexed(usize),
}

impl Debuggee {
    pub fn depth(&self) -> usize {
        self.machine.depth()
    }

    /// The innermost first.
    pub fn frames(&self) -> Vec<Frame> {
        let failed = self.fault.is_some() && !self.machine.in_past();
        let place = |(number, frame): (usize, FrameView<'_>)| {
            let span = match frame.statement {
                // What it stands at is about to be done as a whole.
                Some(statement) if number == 0 && !failed => statement.span,
                // The call, or what could not be done: one statement may be many lines.
                _ => frame.span,
            };
            Frame { name: full_name(frame.function), span }
        };
        self.machine.frames().enumerate().map(place).collect()
    }

    /// The innermost first, the program's own variables last. Only those that are declared by now.
    pub fn scopes(&self, frame: usize) -> Vec<Scope> {
        let mut scopes: Vec<(u32, Scope)> = Vec::new();
        for (local, root) in self.machine.visible(frame) {
            let shown = Shown {
                name: local.name.to_string(),
                kind: local.kind.clone(),
                value: self.value(root),
                expression: Some(local.name.to_string()),
                is_constant: is_constant(local.access),
                is_hidden: scopes
                    .iter()
                    .flat_map(|(_, scope)| &scope.variables)
                    .any(|seen| *seen.name == *local.name),
            };
            let block = local.block.0;
            match scopes.iter_mut().find(|(other, _)| *other == block) {
                Some((_, scope)) => scope.variables.push(shown),
                None => {
                    let line = self.unit.sources.position(local.span).line;
                    let kind = if block == 0 { ScopeKind::Function } else { ScopeKind::Block { line } };
                    scopes.push((block, Scope { kind, variables: vec![shown] }));
                }
            }
        }
        let mut scopes: Vec<Scope> = scopes.into_iter().map(|(_, scope)| scope).collect();
        if !scopes.iter().any(|scope| scope.kind == ScopeKind::Function) {
            scopes.push(Scope { kind: ScopeKind::Function, variables: Vec::new() });
        }
        let mut globals = self.globals(frame);
        for global in &mut globals {
            global.is_hidden = scopes
                .iter()
                .flat_map(|scope| &scope.variables)
                .any(|seen| global.expression.as_ref() == Some(&seen.name));
        }
        if !globals.is_empty() {
            scopes.push(Scope { kind: ScopeKind::Globals, variables: globals });
        }
        scopes
    }

    /// What a variable means; nil if it refers to something that is gone.
    fn value(&self, root: Root) -> Value {
        self.machine.deref(self.machine.read(root)).cloned().unwrap_or_default()
    }

    fn globals(&self, frame: usize) -> Vec<Shown> {
        let globals = self.unit.code.globals.iter().zip(0..);
        let module = self.machine.frame(frame).map(|frame| &*frame.function.module).unwrap_or_default();
        globals
            .map(|(global, index)| {
                let name = match global.module.is_empty() {
                    true => global.name.to_string(),
                    false => format!("{}.{}", global.module, global.name),
                };
                Shown {
                    kind: global.kind.clone(),
                    value: self.value(Root::Global(index)),
                    expression: self.is_reachable(module, global).then(|| global.name.to_string()),
                    is_constant: is_constant(global.access),
                    is_hidden: false,
                    name,
                }
            })
            .collect()
    }

    /// Every name that an expression in this frame may use.
    pub fn names(&self, frame: usize) -> Vec<String> {
        let mut names: Vec<String> = self
            .scopes(frame)
            .into_iter()
            .flat_map(|scope| scope.variables)
            .map(|shown| shown.name)
            .collect();
        names.extend(self.unit.code.functions.iter().map(full_name));
        names.sort();
        names
    }

    pub fn text(&self, shown: &Shown, longest: usize) -> String {
        format::debug_text(&shown.value, &shown.kind, &self.unit.code.types, longest)
    }

    pub fn type_name(&self, shown: &Shown) -> String {
        self.unit.code.types.name(&shown.kind).to_string()
    }

    pub fn children(&self, of: &Shown) -> Children {
        match &of.value {
            Value::Array(items) => Children::Indexed(items.len()),
            Value::Tuple(items) => Children::Indexed(items.len()),
            Value::Map(entries) => Children::Named(entries.len()),
            Value::Struct(value) => Children::Named(value.fields.len()),
            _ => Children::None,
        }
    }

    /// The caller keeps to what [`children`](Self::children) says; beyond it there is nil.
    pub fn child(&self, of: &Shown, index: usize) -> Shown {
        let inside = |name: String, path: String, kind: Type, value: Value| Shown {
            name,
            kind,
            value,
            expression: of.expression.as_ref().map(|expression| format!("{expression}{path}")),
            is_constant: of.is_constant,
            is_hidden: of.is_hidden,
        };
        match (&of.value, &of.kind) {
            (Value::Array(items), kind) => {
                let kind = match kind {
                    Type::Array(kind) | Type::Fixed(kind, _) => kind.as_ref().clone(),
                    _ => Type::Unknown,
                };
                let name = format!("[{index}]");
                inside(name.clone(), name, kind, items.get(index).cloned().unwrap_or_default())
            }
            (Value::Tuple(items), Type::Tuple(kinds)) => {
                let kind = kinds.get(index).cloned().unwrap_or(Type::Unknown);
                let value = items.get(index).cloned().unwrap_or_default();
                Shown { expression: None, ..inside(format!("[{index}]"), String::new(), kind, value) }
            }
            (Value::Map(entries), Type::Map(key_kind, kind)) => {
                let Some((key, value)) = entries.get_index(index) else { return nothing() };
                let name = format::debug_text(&key.0, key_kind, &self.unit.code.types, usize::MAX);
                let path = format!("[{name}]");
                inside(name, path, kind.as_ref().clone(), value.clone())
            }
            (Value::Struct(value), _) => {
                let Some(field) = value.shape.fields.get(index) else { return nothing() };
                let name = field.name.to_string();
                let path = format!(".{name}");
                inside(name, path, field.kind.clone(), value.fields.get(index).cloned().unwrap_or_default())
            }
            _ => nothing(),
        }
    }

    /// Which of its parts is called so.
    pub fn child_number(&self, of: &Shown, name: &str) -> Option<usize> {
        match self.children(of) {
            Children::None => None,
            Children::Named(count) => (0..count).find(|number| self.child(of, *number).name == name),
            Children::Indexed(count) => {
                let number: usize = name.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
                (number < count).then_some(number)
            }
        }
    }
}

fn nothing() -> Shown {
    Shown {
        name: String::new(),
        kind: Type::Nil,
        value: Value::Nil,
        expression: None,
        is_constant: true,
        is_hidden: false,
    }
}

pub(super) fn is_constant(access: VariableAccess) -> bool {
    match access {
        VariableAccess::Constant | VariableAccess::ConstantReference => true,
        VariableAccess::Mutable | VariableAccess::Parameter | VariableAccess::Reference => false,
    }
}
