//! The functions that need no import. Conversions such as `int()` are not here: they are part of the language.

use super::given::{self, error, fault, whole};
use super::{Answer, Native, Outside, Trouble, Typing};
use crate::fault::Fault;
use crate::value::Value;
use crate::world::Waited;

pub const TABLE: &[Native] = &[
    Native::one("len", "sized -> int", len),
    Native::typed("typeof", "any -> string", type_of),
    Native::worldly("input", "-> string", input),
    Native::worldly("read_int", "-> (int, error)", read_int),
    Native::plain("copy", "T -> T", copy),
    Native::worldly("error", "string, int? -> error", make_error),
    Native::plain("exit", "int?", exit),
    Native::plain("panic", "string", panic),
    Native::plain("assert", "bool, string?", assert),
    Native::constant("EXIT_SUCCESS", "-> int", || Value::Int(0)),
    Native::constant("EXIT_FAILURE", "-> int", || Value::Int(1)),
];

fn len(of: &Value) -> Answer {
    match of {
        Value::Text(text) => Ok(whole(text.len())),
        Value::Array(values) => Ok(whole(values.len())),
        Value::Map(map) => Ok(whole(map.len())),
        Value::Nil => fault("E7002", "argument 1 is nil, which has no length"),
        _ => fault("E7002", "argument 1 has no length: a string, an array or a map is needed"),
    }
}

fn type_of(outside: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let name = match (given::any(arguments, 0)?, typing.arguments.first()) {
        (Value::Nil, _) | (_, None) => "nil".to_owned(),
        (_, Some(kind)) => outside.types.name(kind).to_string(),
    };
    Ok(Value::text(name))
}

/// An empty line at the end of the input.
fn input(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    match outside.world.read_line() {
        Waited::Done(line) => Ok(Value::text(line.unwrap_or_default())),
        Waited::Interrupted => Err(Trouble::Again),
    }
}

fn read_int(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    let failed = |message: String, code| {
        Ok(Value::Tuple(vec![Value::Int(0), error(outside.types, message, code)].into()))
    };
    match outside.world.read_line() {
        Waited::Interrupted => Err(Trouble::Again),
        Waited::Done(None) => failed("there is no more input".to_owned(), 1),
        Waited::Done(Some(line)) => match line.trim().parse() {
            Ok(number) => given::good(Value::Int(number)),
            Err(_) => failed(format!("`{}` is no integer", line.trim()), 2),
        },
    }
}

/// Every value is a copy already.
fn copy(arguments: &[Value]) -> Answer {
    given::any(arguments, 0).cloned()
}

fn make_error(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let code = if arguments.len() > 1 { given::int(arguments, 1)? } else { 0 };
    Ok(error(outside.types, given::text(arguments, 0)?, code))
}

fn exit(arguments: &[Value]) -> Answer {
    let code = if arguments.is_empty() { 0 } else { given::int(arguments, 0)? };
    // The system keeps the lowest byte of whatever it is told.
    Err(Trouble::Exit(code as i32))
}

fn panic(arguments: &[Value]) -> Answer {
    Err(Fault::new("PANIC", given::text(arguments, 0)?.to_owned()).into())
}

fn assert(arguments: &[Value]) -> Answer {
    if given::bool(arguments, 0)? {
        return Ok(Value::Nil);
    }
    let message =
        if arguments.len() > 1 { given::text(arguments, 1)? } else { "the assertion does not hold" };
    Err(Fault::new("ASSERT", message.to_owned()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::{Desk, ints};
    use crate::types::{IntKind, Type};

    #[test]
    fn length_is_counted_in_characters_elements_and_entries() {
        let mut desk = Desk::default();
        let map = Value::Map(std::rc::Rc::new(
            [(crate::value::Key(Value::Int(1)), Value::Nil)].into_iter().collect(),
        ));
        let rows = [(Value::text("héllo"), "5"), (ints(&[1, 2]), "2"), (map, "1"), (Value::Nil, "E7002")];
        for (value, expected) in rows {
            assert_eq!(desk.shown("", "len", &[value]), expected);
        }
    }

    #[test]
    fn a_type_is_named_as_it_is_declared() {
        let mut desk = Desk::default();
        let mut name = |value: Value, kind: Type| {
            let mut outside =
                Outside { world: &mut desk.world, types: &desk.types, random: &mut desk.random };
            let typing = Typing { arguments: &[kind], result: &Type::Text };
            crate::value::format::print(&type_of(&mut outside, &[value], &typing).unwrap())
        };
        assert_eq!(name(ints(&[1]), Type::Array(Type::Int(IntKind::Literal).into())), "[int]");
        assert_eq!(name(Value::Nil, Type::Struct(crate::types::Types::ERROR)), "nil");
        assert_eq!(name(Value::Int(1), Type::Int(IntKind::Uint)), "uint");
    }

    #[test]
    fn input_waits_is_empty_at_the_end_and_is_asked_again_after_an_interruption() {
        let mut desk = Desk::default();
        desk.world.lines = [Waited::Interrupted, Waited::Done(Some("hi".into()))].into();
        assert_eq!(desk.call("", "input", &[]), Err(Trouble::Again));
        assert_eq!(desk.call("", "input", &[]), Ok(Value::text("hi")));
        assert_eq!(desk.call("", "input", &[]), Ok(Value::text("")));
    }

    #[test]
    fn reading_an_integer_gives_an_error_for_what_is_none() {
        let mut desk = Desk::default();
        desk.world.lines = [Waited::Done(Some(" -12 ".into())), Waited::Done(Some("x".into()))].into();
        assert_eq!(desk.shown("", "read_int", &[]), "(-12, nil)");
        assert_eq!(desk.shown("", "read_int", &[]), r#"(0, {message: "`x` is no integer", code: 2})"#);
        assert_eq!(desk.shown("", "read_int", &[]), r#"(0, {message: "there is no more input", code: 1})"#);
    }

    #[test]
    fn a_program_can_end_itself_in_three_ways() {
        let mut desk = Desk::default();
        assert_eq!(desk.call("", "exit", &[Value::Int(3)]), Err(Trouble::Exit(3)));
        assert_eq!(desk.call("", "exit", &[]), Err(Trouble::Exit(0)));
        assert_eq!(desk.fault("", "panic", &[Value::text("no")]), "PANIC");
        assert_eq!(desk.fault("", "assert", &[Value::Bool(false), Value::text("no")]), "ASSERT");
        assert_eq!(desk.call("", "assert", &[Value::Bool(true), Value::text("no")]), Ok(Value::Nil));
    }

    #[test]
    fn an_error_has_a_message_and_a_code() {
        let mut desk = Desk::default();
        assert_eq!(desk.shown("", "error", &[Value::text("bad")]), r#"{message: "bad", code: 0}"#);
        assert_eq!(
            desk.shown("", "error", &[Value::text("bad"), Value::Int(4)]),
            r#"{message: "bad", code: 4}"#
        );
    }
}
