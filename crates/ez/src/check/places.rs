//! Places: variables, elements and fields that can be assigned to, stepped, aliased or passed to a `&` parameter.
//!
//! Whether a place may be changed is decided by the variable that it begins with.

use std::rc::Rc;

use super::body::{Role, Rules};
use super::names::Meaning;
use super::scopes::Item;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, Place, PlaceAccess, PlaceRoot, VariableAccess};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Name};
use crate::types::Type;

/// A place, and the variable that it begins with.
pub struct Placed {
    pub place: Place,
    pub holder: Holder,
}

pub struct Holder {
    pub name: Rc<str>,
    pub access: VariableAccess,
    pub home: Home,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    Here,
    OtherModule,
}

impl Checker<'_> {
    /// The place that an expression names. `None` if it names none; why was told.
    pub(super) fn place(&mut self, written: &ast::Expr) -> Option<Placed> {
        match &written.kind {
            ExprKind::Name(name) => {
                let Some(meaning) = self.find(name) else {
                    self.undefined(name);
                    return None;
                };
                self.root(meaning, name, written.span)
            }
            ExprKind::Member(base, name) => match self.meaning_of(base) {
                Some(Meaning::Module(target)) => {
                    let meaning = self.member_of(&target, name)?;
                    self.root(meaning, name, written.span)
                }
                Some(Meaning::Local(_) | Meaning::Item(Item::Global(_))) | None => {
                    let base = self.place(base)?;
                    self.field_place(base, name, written.span)
                }
                Some(Meaning::Told) => None,
                Some(_) => self.no_place(written.span),
            },
            ExprKind::Index(base, index) => {
                let Some(base) = self.place(base) else {
                    // What is wrong inside of the brackets is worth telling anyway.
                    self.value(index, None);
                    return None;
                };
                self.use_root(base.place.root);
                self.index_place(base, index, written.span)
            }
            _ => self.no_place(written.span),
        }
    }

    fn no_place(&mut self, span: Span) -> Option<Placed> {
        let told = Diagnostic::error(codes::NOT_A_PLACE, span, "this is nothing that can be changed");
        self.tell(
            told.label("not a variable").help("name a variable, an element of an array or map, or a field"),
        );
        None
    }

    fn root(&mut self, meaning: Meaning, name: &Name, span: Span) -> Option<Placed> {
        let (root, kind, access, home) = match meaning {
            Meaning::Local(id) => {
                let variable = &self.body.local(id).variable;
                (PlaceRoot::Local(id), variable.kind.clone(), variable.access, Home::Here)
            }
            Meaning::Item(Item::Global(id)) => {
                self.need_global(id, name.span);
                let global = &self.scopes.globals[id.0 as usize];
                let home = if global.module == self.module { Home::Here } else { Home::OtherModule };
                (PlaceRoot::Global(id), global.variable.kind.clone(), global.variable.access, home)
            }
            Meaning::Told => return None,
            _ => return self.no_place(span),
        };
        if kind == Type::Unknown {
            self.use_root(root);
            return None;
        }
        let holder = Holder { name: Rc::clone(&name.text), access, home };
        Some(Placed { place: Place { root, path: Vec::new(), kind, span }, holder })
    }

    pub(super) fn use_root(&mut self, root: PlaceRoot) {
        if let PlaceRoot::Local(id) = root {
            self.body.mark_used(id);
        }
    }

    fn field_place(&mut self, mut base: Placed, name: &Name, span: Span) -> Option<Placed> {
        self.use_root(base.place.root);
        let (index, kind) = self.field(&base.place.kind, name)?;
        base.place.path.push(PlaceAccess::Field(index));
        base.place.kind = kind;
        base.place.span = span;
        Some(base)
    }

    fn index_place(&mut self, mut base: Placed, index: &ast::Expr, span: Span) -> Option<Placed> {
        let (access, kind) = match base.place.kind.clone() {
            Type::Array(of) => (PlaceAccess::Element(self.index(index, None)), (*of).clone()),
            Type::Fixed(of, length) => (PlaceAccess::Element(self.index(index, Some(length))), (*of).clone()),
            Type::Map(key, value) => (PlaceAccess::Key(self.key(index, &key)), (*value).clone()),
            Type::Text => (PlaceAccess::Letter(self.index(index, None)), Type::Char),
            other => {
                self.value(index, None);
                self.not_indexable(&other, base.place.span);
                return None;
            }
        };
        base.place.path.push(access);
        base.place.kind = kind;
        base.place.span = span;
        Some(base)
    }

    /// A place that is about to be changed. `how` completes "cannot be ...".
    pub(super) fn changeable(&mut self, written: &ast::Expr, how: &str) -> Option<Place> {
        let placed = self.place(written)?;
        let place = self.may_change(&placed, how).then_some(placed.place)?;
        self.lasts(&place);
        Some(place)
    }

    /// A loop gives its variable a new value in each round, whatever was done to the last one.
    fn lasts(&mut self, place: &Place) {
        let PlaceRoot::Local(id) = place.root else { return };
        let local = self.body.local(id);
        if local.role == Role::Loop {
            let message = format!("`{}` is the variable of a loop: this changes a copy", local.variable.name);
            let told = Diagnostic::warning(codes::CHANGES_A_COPY, place.span, message).label("only a copy");
            let help = "an element is changed through its array, as in list[i]; else declare a variable";
            self.tell(told.help(help));
        }
    }

    pub(super) fn may_change(&mut self, placed: &Placed, how: &str) -> bool {
        let (holder, span) = (&placed.holder, placed.place.span);
        let name = &holder.name;
        let told = match (holder.home, holder.access) {
            (Home::OtherModule, _) if self.body.rules == Rules::Program => {
                let message = format!("`{name}` belongs to another module and cannot be {how} here");
                let told = Diagnostic::error(codes::READ_ONLY, span, message).label("can only be read");
                told.help("let a function of its module do it")
            }
            (_, VariableAccess::Constant | VariableAccess::ConstantReference) => {
                let message = format!("`{name}` is constant and cannot be {how}");
                let told = Diagnostic::error(codes::CONSTANT, span, message).label("constant");
                told.help(format!("declare it with temp {name} if it has to change, or change a copy"))
            }
            (_, VariableAccess::Parameter) if self.body.rules == Rules::Program => {
                let message = format!("the parameter `{name}` cannot be {how}");
                let told = Diagnostic::error(codes::PARAMETER, span, message).label("passed by value");
                told.help(format!("declare it as &{name} to change what the caller passed, or change a copy"))
            }
            _ => return true,
        };
        self.tell(told);
        false
    }

    /// An index of an array or text, of which a fixed array knows the length.
    pub(super) fn index(&mut self, written: &ast::Expr, length: Option<u64>) -> Expr {
        let index = self.value(written, None);
        if !matches!(self.underlying(&index.type_), Type::Int(_) | Type::Byte | Type::Unknown) {
            let message = format!("an index must be an integer, not {}", self.name(&index.type_));
            let told = Diagnostic::error(codes::INDEX_TYPE, index.span, message).label("not an integer");
            self.tell(told.help("elements are counted from 0; convert with int(...)"));
            return super::convert::unknown(index.span);
        }
        if let crate::hir::ExprKind::Constant(value) = &index.kind
            && let Some(number) = super::literals::whole(value)
            && (number < 0.into() || length.is_some_and(|length| number >= length.into()))
        {
            let message = match length {
                Some(length) => format!("there is no element {number}: the array has {length}"),
                None => format!("there is no element {number}"),
            };
            let told =
                Diagnostic::error(codes::INDEX_OUT_OF_BOUNDS, index.span, message).label("out of bounds");
            self.tell(told.help("elements are counted from 0"));
            return super::convert::unknown(index.span);
        }
        self.coerce(index, &Type::Int(crate::types::IntKind::Int), "an index")
    }

    pub(super) fn key(&mut self, written: &ast::Expr, key: &Type) -> Expr {
        self.typed(written, key, "the key")
    }

    pub(super) fn not_indexable(&mut self, kind: &Type, span: Span) {
        if *kind != Type::Unknown {
            let message = format!("{} has no elements", self.name(kind));
            let told = Diagnostic::error(codes::NOT_INDEXABLE, span, message).label("cannot be indexed");
            self.tell(told.help("only arrays, maps and strings can"));
        }
    }
}
