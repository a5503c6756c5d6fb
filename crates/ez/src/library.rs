//! The functions that every program has, and those of the standard modules.
//!
//! One table a module: name, signature in the small notation of `signature`, function. The checker reads the signatures,
//! the machine calls the functions; neither knows any of them by name.

pub mod signature;

mod arrays;
mod given;
mod globals;
mod io;
mod json;
mod maps;
mod math;
mod os;
pub mod random;
mod std;
mod strings;
#[cfg(test)]
mod testing;
mod time;

use crate::fault::Fault;
use crate::types::{Type, Types};
use crate::value::Value;
use crate::world::World;
use ::std::collections::HashMap;
use signature::Signature;

/// Index into [`Library::natives`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NativeId(pub u32);

/// One row of a module's table.
#[derive(Debug, Clone, Copy)]
pub struct Native {
    pub name: &'static str,
    /// Such as `&[T], int, T -> nothing`; see [`signature`].
    pub signature: &'static str,
    pub call: Call,
}

/// One for each kind of call, so that a row is a line.
impl Native {
    const fn plain(name: &'static str, signature: &'static str, call: fn(&[Value]) -> Answer) -> Self {
        Self { name, signature, call: Call::Plain(call) }
    }

    const fn one(name: &'static str, signature: &'static str, call: fn(&Value) -> Answer) -> Self {
        Self { name, signature, call: Call::One(call) }
    }

    const fn two(name: &'static str, signature: &'static str, call: fn(&Value, &Value) -> Answer) -> Self {
        Self { name, signature, call: Call::Two(call) }
    }

    const fn worldly(
        name: &'static str,
        signature: &'static str,
        call: fn(&mut Outside<'_>, &[Value]) -> Answer,
    ) -> Self {
        Self { name, signature, call: Call::Worldly(call) }
    }

    const fn changing(
        name: &'static str,
        signature: &'static str,
        call: fn(&mut Outside<'_>, &mut Value, &[Value]) -> Answer,
        kept: Kept,
    ) -> Self {
        Self { name, signature, call: Call::Changing(call, kept) }
    }

    const fn typed(
        name: &'static str,
        signature: &'static str,
        call: fn(&mut Outside<'_>, &[Value], &Typing<'_>) -> Answer,
    ) -> Self {
        Self { name, signature, call: Call::Typed(call) }
    }

    const fn constant(name: &'static str, signature: &'static str, value: fn() -> Value) -> Self {
        Self { name, signature, call: Call::Constant(value) }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Call {
    /// Only computes from its arguments.
    Plain(fn(&[Value]) -> Answer),
    /// The same with one argument, which need not be copied to be looked at: for what stands in the conditions of loops.
    One(fn(&Value) -> Answer),
    Two(fn(&Value, &Value) -> Answer),
    /// Touches the world.
    Worldly(fn(&mut Outside<'_>, &[Value]) -> Answer),
    /// Changes what its first argument leads to; the other arguments follow. `Kept` says what history has to keep for it.
    /// Who only wants the change may ignore its result.
    Changing(fn(&mut Outside<'_>, &mut Value, &[Value]) -> Answer, Kept),
    /// Needs the static types of its arguments and of what is wanted: `typeof`, json.
    Typed(fn(&mut Outside<'_>, &[Value], &Typing<'_>) -> Answer),
    /// `PI`: used without parentheses.
    Constant(fn() -> Value),
}

/// How a change by a native can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It only adds at the end: the old length is enough.
    Length,
    /// It sets the element of an array, or the entry of a map, that its second argument names.
    Element,
    /// It takes one element out of an array, or the entry that its second argument names out of a map.
    Removed(At),
    /// It puts its arguments into an array, next to each other.
    Inserted(At),
    /// Anything: the old value.
    Whole,
}

/// Where in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    First,
    Last,
    /// The second argument is the index.
    Named,
    /// The first element that is the second argument.
    Equal,
}

/// What natives reach beyond their arguments.
pub struct Outside<'a> {
    pub world: &'a mut dyn World,
    pub types: &'a Types,
    pub random: &'a mut crate::library::random::Random,
}

pub struct Typing<'a> {
    pub arguments: &'a [Type],
    pub result: &'a Type,
}

pub type Answer = Result<Value, Trouble>;

/// Why a native gave no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    Fault(Fault),
    /// The world was interrupted: the same call is made again.
    Again,
    /// `exit(n)`
    Exit(i32),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Trouble::Fault(fault)
    }
}

/// The tables, in the order in which natives are numbered. The functions that need no import are the module with no name.
const MODULES: &[(&str, &[&[Native]])] = &[
    ("", &[globals::TABLE]),
    ("std", &[std::TABLE]),
    ("strings", &[strings::TABLE]),
    ("arrays", arrays::TABLES),
    ("maps", &[maps::TABLE]),
    ("math", math::TABLES),
    ("random", &[random::TABLE]),
    ("time", time::TABLES),
    ("json", &[json::TABLE]),
    ("io", io::TABLES),
    ("os", &[os::TABLE]),
];

/// Modules that the language has and this implementation has not: importing one is told apart from a misspelt name.
pub const NOT_OFFERED: &[&str] = &["binary", "bytes", "crypto", "db", "encoding", "http", "uuid"];

/// Every native, found by name once and by number from then on.
#[derive(Debug)]
pub struct Library {
    natives: Vec<(Native, Signature)>,
    modules: HashMap<&'static str, HashMap<&'static str, NativeId>>,
}

impl Default for Library {
    fn default() -> Self {
        Self::new()
    }
}

impl Library {
    pub fn new() -> Self {
        let mut natives = Vec::new();
        let mut modules = HashMap::new();
        for (module, tables) in MODULES {
            let names: &mut HashMap<_, _> = modules.entry(*module).or_default();
            for native in tables.iter().copied().flatten() {
                // A row that does not parse takes nothing; the test of all rows says which one it is.
                let signature = Signature::parse(native.signature).unwrap_or_default();
                names.insert(native.name, NativeId(natives.len() as u32));
                natives.push((*native, signature));
            }
        }
        Self { natives, modules }
    }

    /// `module` is empty for what needs no import.
    pub fn find(&self, module: &str, name: &str) -> Option<NativeId> {
        self.modules.get(module)?.get(name).copied()
    }

    pub fn native(&self, id: NativeId) -> &Native {
        &self.natives[id.0 as usize].0
    }

    pub fn signature(&self, id: NativeId) -> &Signature {
        &self.natives[id.0 as usize].1
    }

    /// What a module has, in the order of its table; nothing if there is no such module.
    pub fn names(&self, module: &str) -> Vec<&'static str> {
        let tables = MODULES.iter().find(|(name, _)| *name == module).map_or(&[][..], |(_, tables)| tables);
        tables.iter().copied().flatten().map(|native| native.name).collect()
    }

    /// What can be imported.
    pub fn modules(&self) -> impl Iterator<Item = &'static str> {
        MODULES.iter().map(|(name, _)| *name).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests;
