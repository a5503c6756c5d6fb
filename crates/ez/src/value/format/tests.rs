//! Tables of values and how they are written, and values too deep or too long to write.

use super::*;
use crate::types::{EnumId, EnumShape, Field, IntKind, Shape, StructId};
use crate::value::{Key, Range};
use std::rc::Rc;

fn int() -> Type {
    Type::Int(IntKind::Int)
}

fn point() -> Rc<Shape> {
    let field = |name: &str, kind| Field { name: name.into(), kind, json: None };
    let fields = vec![field("label", Type::Text), field("colour", Type::Enum(EnumId(0)))];
    Rc::new(Shape { id: StructId(1), name: "Point".into(), fields, span: None })
}

fn types() -> Types {
    let members = vec![("RED".into(), Value::Int(0)), ("GREEN".into(), Value::Int(1))];
    let colour = EnumShape { id: EnumId(0), name: "Colour".into(), base: int(), members, span: None };
    Types { structs: vec![point(), point()], enums: vec![Rc::new(colour)] }
}

fn value_of_point(label: &str, colour: i64) -> Value {
    let fields = vec![Value::text(label), Value::Int(colour)];
    Value::Struct(Rc::new(Struct { shape: point(), fields }))
}

fn map(entries: &[(Value, Value)]) -> Value {
    Value::Map(Rc::new(entries.iter().map(|(key, value)| (Key(key.clone()), value.clone())).collect()))
}

#[test]
fn floats_are_written_short_with_an_exponent_from_a_million_up() {
    let rows = [
        (3.0, "3.0"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (3.25, "3.25"),
        (0.1 + 0.2, "0.30000000000000004"),
        (123_456.0, "123456.0"),
        (999_999.5, "999999.5"),
        (1e6, "1e+06"),
        (123_456_789.0, "1.23456789e+08"),
        (-2.5e100, "-2.5e+100"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.5e-7, "1.5e-07"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "+Inf"),
        (f64::NEG_INFINITY, "-Inf"),
    ];
    for (number, expected) in rows {
        assert_eq!(float(number), expected);
    }
}

#[test]
fn a_text_is_itself_at_the_top_and_quoted_inside() {
    assert_eq!(print(&Value::text("a \"b\"\n")), "a \"b\"\n");
    let rows = [
        ("plain", r#""plain""#),
        ("a \"b\" \\", r#""a \"b\" \\""#),
        ("\n\t\r\u{7}\u{8}\u{c}\u{b}", r#""\n\t\r\a\b\f\v""#),
        ("\0\u{1b}\u{7f}", r#""\x00\x1b\x7f""#),
        ("é世\u{301}", "\"é世\u{301}\""),
        ("\u{a0}\u{200b}\u{e000}\u{f0000}", r#""\u00a0\u200b\ue000\U000f0000""#),
    ];
    for (text, expected) in rows {
        assert_eq!(inside(&Value::text(text)), expected);
    }
}

#[test]
fn values_print_as_they_are_written_in_the_language() {
    let rows = [
        (Value::Nil, "nil"),
        (Value::Bool(true), "true"),
        (
            Value::big("170141183460469231731687303715884105728".parse().unwrap()),
            "170141183460469231731687303715884105728",
        ),
        (Value::Byte(200), "200"),
        (Value::Char('x'), "x"),
        (Value::array(vec![]), "{}"),
        (Value::array(vec![Value::text("a"), Value::Char('b'), Value::Float(2.0)]), r#"{"a", b, 2.0}"#),
        (Value::array(vec![Value::array(vec![Value::Int(1), Value::Int(2)]), Value::Nil]), "{{1, 2}, nil}"),
        (map(&[(Value::text("k"), Value::Int(1)), (Value::text("j"), Value::Int(2))]), r#"{"k": 1, "j": 2}"#),
        (value_of_point("p", 1), r#"{label: "p", colour: 1}"#),
        (Value::Range(Rc::new(Range { start: 1, end: 9, step: 2 })), "range(1, 9, 2)"),
    ];
    for (value, expected) in rows {
        assert_eq!(print(&value), expected);
    }
}

#[test]
fn a_debugger_sees_brackets_names_and_members() {
    let types = types();
    let show = |value: &Value, kind: &Type| debug_text(value, kind, &types, 1000);
    let array = |of: Type| Type::Array(Rc::new(of));
    let colours = Value::array(vec![Value::Int(1), Value::Int(0), Value::Int(7)]);
    assert_eq!(show(&colours, &array(int())), "[1, 0, 7]");
    assert_eq!(show(&colours, &array(Type::Enum(EnumId(0)))), "[Colour.GREEN, Colour.RED, 7]");
    assert_eq!(show(&Value::text("Alice"), &Type::Text), "\"Alice\"");
    assert_eq!(show(&Value::Char('\''), &Type::Char), r"'\''");
    assert_eq!(show(&Value::Char('\0'), &Type::Char), r"'\x00'");
    assert_eq!(
        show(&value_of_point("p", 1), &Type::Struct(StructId(1))),
        r#"Point{label: "p", colour: Colour.GREEN}"#
    );
    let kind = Type::Map(Rc::new(Type::Enum(EnumId(0))), Rc::new(Type::Text));
    assert_eq!(show(&map(&[(Value::Int(0), Value::text("x"))]), &kind), r#"{Colour.RED: "x"}"#);
    let pair = Value::Tuple(Rc::new(vec![Value::Int(0), Value::Nil]));
    assert_eq!(show(&pair, &Type::Tuple(Rc::new([Type::Enum(EnumId(0)), Type::Nil]))), "(Colour.RED, nil)");
}

#[test]
fn what_is_too_long_is_cut_between_letters() {
    let types = types();
    let long = Value::array(vec![Value::text("ééé"); 1000]);
    for limit in 3..40 {
        let text = debug_text(&long, &Type::Array(Rc::new(Type::Text)), &types, limit);
        assert!(text.len() <= limit && text.ends_with('…'), "{limit}: {text}");
    }
    assert_eq!(debug_text(&Value::text("abcdef"), &Type::Text, &types, 8), "\"abcdef\"");
    assert_eq!(debug_text(&Value::text("abcdefg"), &Type::Text, &types, 8), "\"abcd…");
}

#[test]
fn a_deep_value_does_not_overflow_the_stack() {
    let mut value = Value::array(vec![]);
    let mut all = Vec::new();
    for _ in 0..200_000 {
        value = Value::array(vec![value]);
        all.push(value.clone());
    }
    assert_eq!(inside(&value).len(), 2 * 200_001);
    // Taken apart from the outside in, since dropping it would recurse.
    drop(value);
    while let Some(outermost) = all.pop() {
        drop(outermost);
    }
}

#[test]
fn a_value_that_shares_its_parts_is_cut_and_not_written_for_ever() {
    let mut value = Value::Int(1);
    for _ in 0..100 {
        value = Value::array(vec![value.clone(), value]);
    }
    assert_eq!(debug_text(&value, UNKNOWN, &types(), 4000).len(), 4000);
}
