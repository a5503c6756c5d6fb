//! Values as JSON and JSON as values of a type; what was written is read back the same.

use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::library::testing::{Desk, ints, texts};
use crate::types::{EnumId, EnumShape, Field, FloatKind, IntKind, Shape, StructId, Type, Types, Width};
use crate::value::{Key, Struct, Value, format};

fn int() -> Type {
    Type::Int(IntKind::Int)
}

fn array(of: Type) -> Type {
    Type::Array(Rc::new(of))
}

fn map(key: Type, value: Type) -> Type {
    Type::Map(Rc::new(key), Rc::new(value))
}

const PERSON: Type = Type::Struct(StructId(1));

/// With a struct `Person` and an enum `Colour`.
fn desk() -> Desk {
    let mut desk = Desk::default();
    let field =
        |name: &str, kind, json: Option<&str>| Field { name: name.into(), kind, json: json.map(Into::into) };
    let fields = vec![
        field("name", Type::Text, None),
        field("age", int(), Some("years")),
        field("tags", array(Type::Text), Some(",omitempty")),
        field("friend", PERSON, Some("friend,omitempty")),
        field("secret", int(), Some("-")),
    ];
    desk.types.structs.push(Rc::new(Shape { id: StructId(1), name: "Person".into(), fields, span: None }));
    let members = vec![("RED".into(), Value::text("red")), ("BLUE".into(), Value::text("blue"))];
    desk.types.enums = vec![Rc::new(EnumShape {
        id: EnumId(0),
        name: "Colour".into(),
        base: Type::Text,
        members,
        span: None,
    })];
    desk
}

fn person(types: &Types, name: &str, tags: &[&str], friend: Value) -> Value {
    let fields = vec![Value::text(name), Value::Int(30), texts(tags), friend, Value::Int(7)];
    Value::Struct(Rc::new(Struct { shape: types.shape(StructId(1)).clone(), fields }))
}

fn decoded(desk: &mut Desk, text: &str, kind: &Type) -> String {
    let result = Type::Tuple(Rc::new([kind.clone(), Type::Struct(Types::ERROR)]));
    match desk.call_typed("json", "decode", &[Value::text(text)], &result).unwrap() {
        Value::Tuple(parts) if parts[1] == Value::Nil => format::inside(&parts[0]),
        Value::Tuple(parts) => {
            let Value::Struct(error) = &parts[1] else { panic!("no error: {parts:?}") };
            format!("{} {}", format::inside(&parts[0]), format::print(&error.fields[0]))
        }
        other => panic!("no tuple: {other:?}"),
    }
}

fn encoded(desk: &mut Desk, value: Value) -> String {
    match desk.call("json", "encode", &[value]).unwrap() {
        Value::Tuple(parts) if parts[1] == Value::Nil => format::print(&parts[0]),
        other => format!("error: {}", format::inside(&other)),
    }
}

#[test]
fn every_kind_of_value_is_written() {
    let mut desk = desk();
    let keyed = Value::Map(Rc::new([(Key(Value::Int(1)), Value::Bool(true))].into_iter().collect()));
    let friend = person(&desk.types, "Bo", &[], Value::Nil);
    let rows = [
        (Value::text("a\"\n é"), r#""a\"\n é""#),
        (Value::Int(-42), "-42"),
        (Value::big("18446744073709551616".parse().unwrap()), "18446744073709551616"),
        (Value::Float(2.5), "2.5"),
        (Value::Float(3.0), "3.0"),
        (Value::Nil, "null"),
        (Value::Char('x'), r#""x""#),
        (Value::Byte(7), "7"),
        (ints(&[1, 2, 3]), "[1,2,3]"),
        (ints(&[]), "[]"),
        (keyed, r#"{"1":true}"#),
        (
            person(&desk.types, "Al", &["t"], friend),
            r#"{"name":"Al","years":30,"tags":["t"],"friend":{"name":"Bo","years":30}}"#,
        ),
    ];
    for (value, expected) in rows {
        assert_eq!(encoded(&mut desk, value), expected);
    }
}

#[test]
fn what_json_cannot_hold_is_an_error_and_no_fault() {
    let mut desk = desk();
    assert!(encoded(&mut desk, Value::Float(f64::NAN)).contains("JSON has no number NaN"));
    let mut deep = Value::Int(1);
    for _ in 0..200 {
        deep = Value::array(vec![deep]);
    }
    assert!(encoded(&mut desk, deep).contains("nested more than"));
}

#[test]
fn pretty_indents_and_keeps_what_is_empty_short() {
    let mut desk = desk();
    let value = Value::array(vec![ints(&[1, 2]), ints(&[]), person(&desk.types, "A", &[], Value::Nil)]);
    let text = desk.shown("json", "pretty", &[value, Value::text("\t")]);
    let expected = "[\n\t[\n\t\t1,\n\t\t2\n\t],\n\t[],\n\t{\n\t\t\"name\": \"A\",\n\t\t\"years\": 30\n\t}\n]";
    assert_eq!(text, format!("({}, nil)", format::quote(expected)));
}

#[test]
fn a_text_becomes_what_is_expected() {
    let mut desk = desk();
    let float = Type::Float(FloatKind::Float);
    let rows = [
        ("42", int(), "42"),
        ("18446744073709551615", Type::Int(IntKind::Uint), "18446744073709551615"),
        ("3", float.clone(), "3.0"),
        ("2.5", float, "2.5"),
        (r#""x""#, Type::Char, "x"),
        (r#""blue""#, Type::Enum(EnumId(0)), r#""blue""#),
        ("200", Type::Byte, "200"),
        ("null", array(int()), "{}"),
        ("null", PERSON, "nil"),
        ("[1, 2]", array(int()), "{1, 2}"),
        ("[1]", Type::Fixed(Rc::new(int()), 3), "{1, 0, 0}"),
        (r#"{"z": 1, "a": 2}"#, map(Type::Text, int()), r#"{"z": 1, "a": 2}"#),
        (r#"{"7": "x"}"#, map(int(), Type::Text), r#"{7: "x"}"#),
        (r#"{"red": 1}"#, map(Type::Enum(EnumId(0)), int()), r#"{"red": 1}"#),
        (r#"{"a": [1, 2.5, null]}"#, Type::Unknown, r#"{"a": {1, 2.5, nil}}"#),
        (
            r#"{"years": 5, "name": "Al", "more": {"x": [1]}, "secret": 9, "friend": {"name": "Bo"}}"#,
            PERSON,
            r#"{name: "Al", age: 5, tags: {}, friend: {name: "Bo", age: 0, tags: {}, friend: nil, secret: 0}, secret: 0}"#,
        ),
    ];
    for (text, kind, expected) in rows {
        assert_eq!(decoded(&mut desk, text, &kind), expected, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_an_error_with_its_place() {
    let mut desk = desk();
    let rows = [
        ("300", Type::Int(IntKind::Unsigned(Width::W8)), "0 300 is no u8"),
        ("-1", Type::Int(IntKind::Uint), "0 -1 is no uint"),
        ("2.5", int(), "0 invalid type: floating point `2.5`, expected int"),
        (r#""x""#, int(), "0 invalid type: string \"x\", expected int"),
        (r#""green""#, Type::Enum(EnumId(0)), "\"red\" \"green\" is no member of Colour"),
        ("[1, true]", array(int()), "{} invalid type: boolean `true`, expected int"),
        ("[1, 2]", Type::Fixed(Rc::new(int()), 1), "{0} invalid length 2, expected [int, 1]"),
        (r#"{"x": 1}"#, map(int(), int()), "{} the key \"x\" is no int"),
        ("{invalid}", PERSON, "nil key must be a string"),
        ("1 2", int(), "0 trailing characters"),
        ("", int(), "0 EOF"),
    ];
    for (text, kind, expected) in rows {
        let told = decoded(&mut desk, text, &kind);
        assert!(told.starts_with(expected), "{text}: {told}");
        assert!(told.contains("line 1 column"), "{text}: {told}");
    }
}

#[test]
fn validity_is_told_even_of_what_is_very_deep() {
    let mut desk = desk();
    let rows = [(r#"{"key": [1, "x", null]}"#, "true"), ("{invalid}", "false"), ("", "false"), ("1", "true")];
    for (text, expected) in rows {
        assert_eq!(desk.shown("json", "is_valid", &[Value::text(text)]), expected, "{text}");
    }
    let deep = "[".repeat(1_000_000);
    assert_eq!(desk.shown("json", "is_valid", &[Value::text(deep.clone())]), "false");
    assert!(decoded(&mut desk, &deep, &Type::Unknown).contains("recursion limit"));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(names in vec((any::<String>(), vec(any::<f64>(), 0..10)), 0..10)) {
        let mut desk = desk();
        let entries = names.into_iter().map(|(name, numbers)| {
            let numbers = numbers.into_iter().filter(|number| number.is_finite()).map(Value::Float);
            (Key(Value::text(name)), Value::array(numbers.collect()))
        });
        let value = Value::Map(Rc::new(entries.collect()));
        let text = encoded(&mut desk, value.clone());
        let kind = map(Type::Text, array(Type::Float(FloatKind::Float)));
        prop_assert_eq!(decoded(&mut desk, &text, &kind), format::inside(&value));
    }
}
