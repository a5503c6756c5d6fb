//! From a variable to what is inside of it: reading without copying, changing in place.

use std::rc::Rc;

use super::{Machine, faults};
use crate::code::{Path, PathRoot, Step};
use crate::fault::Fault;
use crate::value::{Access, Key, KeyRef, Reference, Root, Value};

/// One step, with its index or key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Link<'a> {
    Index(&'a Value),
    At(i64),
    Key(&'a Value),
    Field(u32),
}

impl<'a> From<&'a Access> for Link<'a> {
    fn from(access: &'a Access) -> Self {
        match access {
            Access::Index(index) => Link::At(*index),
            Access::Key(key) => Link::Key(&key.0),
            Access::Field(field) => Link::Field(*field),
        }
    }
}

impl Link<'_> {
    pub(super) fn access(self) -> Access {
        match self {
            Link::Index(Value::Int(index)) => Access::Index(*index),
            // No array is that long: using it tells so.
            Link::Index(_) => Access::Index(i64::MAX),
            Link::At(index) => Access::Index(index),
            Link::Key(key) => Access::Key(Key(key.clone())),
            Link::Field(field) => Access::Field(field),
        }
    }
}

/// The links of steps, with operands in the order of the steps.
pub(super) fn links<'a>(steps: &'a [Step], operands: &'a [Value]) -> impl Iterator<Item = Link<'a>> {
    let mut operands = operands.iter();
    let mut operand = move || operands.next().unwrap_or(&Value::Nil);
    steps.iter().map(move |step| match step {
        Step::Element | Step::Letter => Link::Index(operand()),
        Step::Key => Link::Key(operand()),
        Step::Field(field) => Link::Field(*field),
    })
}

/// Where the element is, if there is one.
pub(super) fn position(index: &Value, length: usize) -> Result<usize, Fault> {
    let position = match index {
        Value::Int(index) => usize::try_from(*index).ok(),
        Value::Byte(index) => Some(usize::from(*index)),
        _ => None,
    };
    position.filter(|position| *position < length).ok_or_else(|| faults::index(index, length))
}

pub(super) fn follow<'v>(value: &'v Value, link: Link<'_>) -> Result<&'v Value, Fault> {
    match (value, link) {
        (Value::Array(elements), Link::Index(index)) => Ok(&elements[position(index, elements.len())?]),
        (Value::Array(elements), Link::At(index)) => usize::try_from(index)
            .ok()
            .and_then(|index| elements.get(index))
            .ok_or_else(|| faults::index(&Value::Int(index), elements.len())),
        (Value::Map(map), Link::Key(key)) => map.get(&KeyRef(key)).ok_or_else(|| faults::missing_key(key)),
        (Value::Struct(of), Link::Field(field)) => of.fields.get(field as usize).ok_or_else(no_such_part),
        (Value::Nil, link) => Err(nil_at(link)),
        _ => Err(no_such_part()),
    }
}

pub(super) fn follow_mut<'v>(value: &'v mut Value, link: Link<'_>) -> Result<&'v mut Value, Fault> {
    match (value, link) {
        (Value::Array(elements), Link::Index(index)) => {
            let position = position(index, elements.len())?;
            Ok(&mut Rc::make_mut(elements)[position])
        }
        (Value::Array(elements), Link::At(index)) => {
            let position = position(&Value::Int(index), elements.len())?;
            Ok(&mut Rc::make_mut(elements)[position])
        }
        (Value::Map(map), Link::Key(key)) => {
            Rc::make_mut(map).get_mut(&KeyRef(key)).ok_or_else(|| faults::missing_key(key))
        }
        (Value::Struct(of), Link::Field(field)) => {
            Rc::make_mut(of).fields.get_mut(field as usize).ok_or_else(no_such_part)
        }
        (Value::Nil, link) => Err(nil_at(link)),
        _ => Err(no_such_part()),
    }
}

/// Puts a value into a container. A key that the map does not have is added.
pub(super) fn put(container: &mut Value, link: Link<'_>, value: Value) -> Result<(), Fault> {
    match (&mut *container, link) {
        (Value::Map(map), Link::Key(key)) => {
            let map = Rc::make_mut(map);
            match map.get_mut(&KeyRef(key)) {
                Some(place) => *place = value,
                None => {
                    map.insert(Key(key.clone()), value);
                }
            }
        }
        (Value::Text(text), Link::Index(index)) => {
            let Value::Char(letter) = value else { return Err(no_such_part()) };
            let position = position(index, text.len())?;
            Rc::make_mut(text).set(position, letter);
        }
        _ => *follow_mut(container, link)? = value,
    }
    Ok(())
}

/// The character of a text.
pub(super) fn letter(text: &Value, index: &Value) -> Result<Value, Fault> {
    match text {
        Value::Text(text) => {
            let position = position(index, text.len())?;
            text.get(position).map(Value::Char).ok_or_else(|| faults::index(index, text.len()))
        }
        _ => Err(no_such_part()),
    }
}

fn nil_at(link: Link<'_>) -> Fault {
    match link {
        Link::Field(_) => faults::nil("has no fields"),
        Link::Key(_) => faults::nil("has no keys"),
        Link::Index(_) | Link::At(_) => faults::nil("has no elements"),
    }
}

pub(super) fn no_such_part() -> Fault {
    faults::broken("a value has not the type that the checker found")
}

/// A variable, and if it is behind a reference, the rest of the way.
pub(super) struct Start {
    pub root: Root,
    pub reference: Option<Rc<Reference>>,
}

impl Start {
    pub(super) fn accesses(&self) -> &[Access] {
        self.reference.as_ref().map_or(&[], |reference| &reference.path)
    }
}

/// What the steps lead to, from a variable or from where a reference in it leads to.
pub(super) fn place_in<'v>(
    whole: &'v mut Value,
    start: &Start,
    steps: &[Step],
    operands: &[Value],
) -> Result<&'v mut Value, Fault> {
    let mut links = start.accesses().iter().map(Link::from).chain(links(steps, operands));
    links.try_fold(whole, follow_mut)
}

/// A variable, and the temporaries from `first` on: those always lie above the variables of all frames.
pub(super) fn variable_and_operands<'v>(
    stack: &'v mut [Value],
    globals: &'v mut [Value],
    root: Root,
    first: usize,
) -> Result<(&'v mut Value, &'v [Value]), Fault> {
    let (variables, operands) = stack.split_at_mut(first);
    let variable = match root {
        Root::Slot(slot) => variables.get_mut(slot as usize),
        Root::Global(global) => globals.get_mut(global as usize),
    };
    variable.map(|variable| (variable, &*operands)).ok_or_else(no_such_part)
}

impl Machine {
    pub(super) fn start(&self, root: PathRoot, base: usize) -> Start {
        match root {
            PathRoot::Global(global) => Start { root: Root::Global(global), reference: None },
            PathRoot::Local(register) => {
                let slot = base + usize::from(register);
                match self.stack.get(slot) {
                    Some(Value::Reference(reference)) => {
                        Start { root: reference.root, reference: Some(Rc::clone(reference)) }
                    }
                    _ => Start { root: Root::Slot(slot as u32), reference: None },
                }
            }
        }
    }

    /// The variable itself.
    pub(super) fn at(&self, root: Root) -> &Value {
        let place = match root {
            Root::Slot(slot) => self.stack.get(slot as usize),
            Root::Global(global) => self.globals.get(global as usize),
        };
        place.unwrap_or(&Value::Nil)
    }

    pub(super) fn at_mut(&mut self, root: Root) -> Option<&mut Value> {
        match root {
            Root::Slot(slot) => self.stack.get_mut(slot as usize),
            Root::Global(global) => self.globals.get_mut(global as usize),
        }
    }

    pub(super) fn resolve(&self, reference: &Reference) -> Result<&Value, Fault> {
        reference.path.iter().try_fold(self.at(reference.root), |value, access| follow(value, access.into()))
    }

    pub(super) fn load(&self, path: &Path, base: usize, first: usize) -> Result<Value, Fault> {
        let mut value = match path.root {
            PathRoot::Global(global) => self.at(Root::Global(global)),
            PathRoot::Local(register) => match &self.stack[base + usize::from(register)] {
                Value::Reference(reference) => self.resolve(reference)?,
                value => value,
            },
        };
        for link in links(&path.steps, &self.stack[first..]) {
            match (value, link) {
                (Value::Text(_), Link::Index(index)) => return letter(value, index),
                _ => value = follow(value, link)?,
            }
        }
        Ok(value.clone())
    }

    pub(super) fn store(
        &mut self,
        path: &Path,
        base: usize,
        first: usize,
        value: Value,
    ) -> Result<(), Fault> {
        let start = self.start(path.root, base);
        let (mut place, operands) =
            variable_and_operands(&mut self.stack, &mut self.globals, start.root, first)?;
        let mut links = start.accesses().iter().map(Link::from).chain(links(&path.steps, operands));
        let Some(mut link) = links.next() else {
            *place = value;
            return Ok(());
        };
        for next in links {
            place = follow_mut(place, link)?;
            link = next;
        }
        put(place, link, value)
    }

    /// Puts text behind what the path leads to.
    pub(super) fn append_at(
        &mut self,
        path: &Path,
        base: usize,
        first: usize,
        more: &Value,
    ) -> Result<(), Fault> {
        let start = self.start(path.root, base);
        let (whole, operands) = variable_and_operands(&mut self.stack, &mut self.globals, start.root, first)?;
        super::values::append(place_in(whole, &start, &path.steps, operands)?, more)
    }

    /// A reference to what the path leads to. One that begins at a reference begins where that leads to.
    pub(super) fn refer(&self, path: &Path, base: usize, first: usize) -> Value {
        let start = self.start(path.root, base);
        match start.reference {
            Some(reference) if path.steps.is_empty() => Value::Reference(reference),
            _ => Value::Reference(Rc::new(Reference {
                root: start.root,
                path: self.accesses(&start, &path.steps, first),
            })),
        }
    }

    pub(super) fn accesses(&self, start: &Start, steps: &[Step], first: usize) -> Vec<Access> {
        let rest = links(steps, &self.stack[first..]).map(Link::access);
        start.accesses().iter().cloned().chain(rest).collect()
    }
}
