//! A world that is all in memory, and calls of natives by their names, for the tests of the modules.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use super::random::Random;
use super::{Answer, Call, Library, Outside, Trouble, Typing};
use crate::types::{Field, IntKind, Shape, Type, Types};
use crate::value::Value;
use crate::world::{Stream, Surroundings, Waited, World};

pub struct Desk {
    pub world: Room,
    pub types: Types,
    pub random: Random,
    library: Library,
}

#[derive(Default)]
pub struct Room {
    pub printed: Vec<(Stream, String)>,
    pub lines: VecDeque<Waited<Option<String>>>,
    pub sleeps: VecDeque<Waited<()>>,
    pub slept: Vec<Duration>,
    pub now: Option<SystemTime>,
    pub surroundings: Surroundings,
}

impl World for Room {
    fn print(&mut self, stream: Stream, text: &str) {
        self.printed.push((stream, text.to_owned()));
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        self.lines.pop_front().unwrap_or(Waited::Done(None))
    }

    fn sleep(&mut self, time: Duration) -> Waited<()> {
        self.slept.push(time);
        self.sleeps.pop_front().unwrap_or(Waited::Done(()))
    }

    fn now(&self) -> SystemTime {
        self.now.unwrap_or_else(SystemTime::now)
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}

impl Default for Desk {
    fn default() -> Self {
        let field = |name: &str, kind| Field { name: name.into(), kind, json: None };
        let fields = vec![field("message", Type::Text), field("code", Type::Int(IntKind::Int))];
        let error = Rc::new(Shape { id: Types::ERROR, name: "Error".into(), fields, span: None });
        Self {
            world: Room::default(),
            types: Types { structs: vec![error], enums: vec![] },
            random: Random::seeded(1),
            library: Library::new(),
        }
    }
}

impl Desk {
    /// Without static types but those of integers.
    pub fn call(&mut self, module: &str, name: &str, arguments: &[Value]) -> Answer {
        let result = match arguments.iter().any(holds_a_float) {
            true => Type::Float(crate::types::FloatKind::Float),
            false => Type::Int(IntKind::Int),
        };
        self.call_typed(module, name, arguments, &result)
    }

    pub fn call_typed(&mut self, module: &str, name: &str, arguments: &[Value], result: &Type) -> Answer {
        let id = self.library.find(module, name).unwrap_or_else(|| panic!("there is no {module}.{name}"));
        let call = self.library.native(id).call;
        let mut outside = Outside { world: &mut self.world, types: &self.types, random: &mut self.random };
        match call {
            Call::Plain(function) => function(arguments),
            Call::One(function) => function(&arguments[0]),
            Call::Two(function) => function(&arguments[0], &arguments[1]),
            Call::Worldly(function) => function(&mut outside, arguments),
            Call::Typed(function) => {
                let kinds = vec![Type::Unknown; arguments.len()];
                function(&mut outside, arguments, &Typing { arguments: &kinds, result })
            }
            Call::Constant(value) => Ok(value()),
            Call::Changing(..) => panic!("{module}.{name} changes a place"),
        }
    }

    pub fn change(&mut self, module: &str, name: &str, place: &mut Value, arguments: &[Value]) -> Answer {
        let id = self.library.find(module, name).unwrap_or_else(|| panic!("there is no {module}.{name}"));
        let Call::Changing(function, _) = self.library.native(id).call else {
            panic!("{module}.{name} changes nothing")
        };
        let mut outside = Outside { world: &mut self.world, types: &self.types, random: &mut self.random };
        function(&mut outside, place, arguments)
    }

    /// The code of the fault that the call ends with.
    pub fn fault(&mut self, module: &str, name: &str, arguments: &[Value]) -> &'static str {
        match self.call(module, name, arguments) {
            Err(Trouble::Fault(fault)) => fault.code,
            other => panic!("{module}.{name} did not fail: {other:?}"),
        }
    }

    /// What the call gives, as the program would print it; or the code of its fault.
    pub fn shown(&mut self, module: &str, name: &str, arguments: &[Value]) -> String {
        show(self.call(module, name, arguments))
    }

    /// What is in the place afterwards, or the code of the fault.
    pub fn changed(&mut self, module: &str, name: &str, mut place: Value, arguments: &[Value]) -> String {
        match self.change(module, name, &mut place, arguments) {
            Ok(_) => crate::value::format::inside(&place),
            trouble => show(trouble),
        }
    }
}

fn show(answer: Answer) -> String {
    match answer {
        Ok(value) => crate::value::format::inside(&value),
        Err(Trouble::Fault(fault)) => fault.code.to_owned(),
        Err(other) => format!("{other:?}"),
    }
}

fn holds_a_float(value: &Value) -> bool {
    match value {
        Value::Float(_) => true,
        Value::Array(values) => values.iter().any(holds_a_float),
        _ => false,
    }
}

pub fn ints(numbers: &[i64]) -> Value {
    Value::array(numbers.iter().copied().map(Value::Int).collect())
}

pub fn texts(words: &[&str]) -> Value {
    Value::array(words.iter().copied().map(Value::text).collect())
}
