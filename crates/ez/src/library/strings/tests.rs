//! Calls of `strings` and what they give, and what is refused because it would use up the memory.

use crate::library::testing::{Desk, ints, texts};
use crate::value::Value;

fn text(text: &str) -> Value {
    Value::text(text)
}

fn int(number: i64) -> Value {
    Value::Int(number)
}

#[test]
fn every_function_gives_what_its_name_says() {
    let letters = Value::array(vec![Value::Char('E'), Value::Char('Z')]);
    let rows: Vec<(&str, Vec<Value>, &str)> = vec![
        ("capitalize", vec![text("éa b")], r#""Éa b""#),
        ("capitalize", vec![text("")], r#""""#),
        ("chars", vec![text("hé")], "{h, é}"),
        ("compare", vec![text("a"), text("b")], "-1"),
        ("compare", vec![text("b"), text("a")], "1"),
        ("compare", vec![text("a"), text("a")], "0"),
        ("contains", vec![text("hello"), text("ell")], "true"),
        ("count", vec![text("banana"), text("an")], "2"),
        ("count", vec![text("ab"), text("")], "3"),
        ("ends_with", vec![text("hello"), text("lo")], "true"),
        ("from_chars", vec![letters], r#""EZ""#),
        ("index", vec![text("éél"), text("l")], "2"),
        ("index", vec![text("a"), text("x")], "-1"),
        ("is_alpha", vec![text("abcÄ")], "true"),
        ("is_alpha", vec![text("ab1")], "false"),
        ("is_alpha", vec![text("")], "false"),
        ("is_empty", vec![text("  \n")], "true"),
        ("is_empty", vec![text("x")], "false"),
        ("is_numeric", vec![text("0123")], "true"),
        ("is_numeric", vec![text("1.5")], "false"),
        ("join", vec![texts(&["a", "b"]), text(", ")], r#""a, b""#),
        ("join", vec![ints(&[1, 2]), text("")], r#""12""#),
        ("last_index", vec![text("hello world hello"), text("hello")], "12"),
        ("lower", vec![text("HÉ")], r#""hé""#),
        ("pad_left", vec![text("42"), int(5)], r#""   42""#),
        ("pad_left", vec![text("42"), int(5), text("ab")], r#""aba42""#),
        ("pad_left", vec![text("世界"), int(1)], r#""世界""#),
        ("pad_right", vec![text("42"), int(4), text("0")], r#""4200""#),
        ("pad_right", vec![text("42"), int(4), text("")], "E10003"),
        ("repeat", vec![text("ab"), int(3)], r#""ababab""#),
        ("repeat", vec![text("ab"), int(-1)], "E7001"),
        ("replace", vec![text("hello"), text("l"), text("L")], r#""heLLo""#),
        ("replace_n", vec![text("hello"), text("l"), text("L"), int(1)], r#""heLlo""#),
        ("replace_n", vec![text("hello"), text("l"), text("L"), int(-1)], r#""heLLo""#),
        ("reverse", vec![text("hé")], r#""éh""#),
        ("slice", vec![text("Hello 世界"), int(6), int(8)], r#""世界""#),
        ("slice", vec![text("hello"), int(1)], r#""ello""#),
        ("slice", vec![text("hello"), int(-3), int(-1)], r#""ll""#),
        ("slice", vec![text("hello"), int(4), int(2)], r#""""#),
        ("slice", vec![text("hello"), int(2), int(99)], r#""llo""#),
        ("split", vec![text("a,b,,"), text(",")], r#"{"a", "b", "", ""}"#),
        ("split", vec![text("hé"), text("")], r#"{"h", "é"}"#),
        ("starts_with", vec![text("hello"), text("lo")], "false"),
        ("title", vec![text("hello  wide world")], r#""Hello  Wide World""#),
        ("to_bool", vec![text(" Yes ")], "true"),
        ("to_bool", vec![text("0")], "false"),
        ("to_bool", vec![text("maybe")], "E10002"),
        ("to_float", vec![text(" -2.5 ")], "-2.5"),
        ("to_float", vec![text("1e3")], "1000.0"),
        ("to_float", vec![text("x")], "E10001"),
        ("to_int", vec![text("  55 ")], "55"),
        ("to_int", vec![text("1_000")], "1000"),
        ("to_int", vec![text("5.5")], "E10001"),
        ("trim", vec![text("  a b\n")], r#""a b""#),
        ("trim_left", vec![text(" a ")], r#""a ""#),
        ("trim_right", vec![text(" a ")], r#"" a""#),
        ("truncate", vec![text("hello world"), int(8)], r#""hello...""#),
        ("truncate", vec![text("hello"), int(5)], r#""hello""#),
        ("truncate", vec![text("hello"), int(3), text("…")], r#""he…""#),
        ("truncate", vec![text("hello"), int(2)], r#""..""#),
        ("upper", vec![text("hé")], r#""HÉ""#),
    ];
    let mut desk = Desk::default();
    for (name, arguments, expected) in &rows {
        assert_eq!(&desk.shown("strings", name, arguments), expected, "{name} of {arguments:?}");
    }
    for name in super::TABLE.iter().map(|native| native.name) {
        assert!(rows.iter().any(|(tested, ..)| *tested == name), "{name} has no row");
    }
}

#[test]
fn what_would_use_up_the_memory_is_refused() {
    let mut desk = Desk::default();
    let long = Value::text("x".repeat(1 << 20));
    let rows: Vec<(&str, Vec<Value>)> = vec![
        ("repeat", vec![text("ab"), int(i64::MAX)]),
        ("repeat", vec![long.clone(), int(257)]),
        ("pad_left", vec![text("a"), int(i64::MAX)]),
        ("pad_right", vec![text("a"), int(1 << 40)]),
        ("replace", vec![long.clone(), text("x"), long.clone()]),
        ("join", vec![Value::array(vec![long; 300]), text("")]),
    ];
    for (name, arguments) in rows {
        assert_eq!(desk.fault("strings", name, &arguments), "E7003", "{name}");
    }
}
