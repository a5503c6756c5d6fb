//! `maps`. Everything keeps the order in which keys came.

use std::rc::Rc;

use super::given::{self, fault, map_at};
use super::{Answer, At, Kept, Native, Outside};
use crate::value::{Map, Value, format};

pub const TABLE: &[Native] = &[
    Native::changing("clear", "&map[K:V]", clear, Kept::Whole),
    Native::changing("delete", "&map[K:V], K -> bool", remove, Kept::Removed(At::Named)),
    Native::plain("equals", "map[K:V], map[K:V] -> bool", equals),
    Native::plain("from_array", "[[T]] -> map[T:T]", from_array),
    Native::plain("get", "map[K:V], K, V? -> V", get),
    Native::changing("get_or_set", "&map[K:V], K, V -> V", get_or_set, Kept::Element),
    Native::two("has", "map[K:V], K -> bool", has),
    Native::two("has_key", "map[K:V], K -> bool", has),
    Native::plain("has_value", "map[K:V], V -> bool", has_value),
    Native::plain("invert", "map[K:V] -> map[V:K]", invert),
    Native::plain("is_empty", "map[K:V] -> bool", is_empty),
    Native::plain("keys", "map[K:V] -> [K]", keys),
    Native::plain("merge", "map[K:V], map[K:V]... -> map[K:V]", merge),
    Native::changing("remove", "&map[K:V], K -> bool", remove, Kept::Removed(At::Named)),
    Native::changing("set", "&map[K:V], K, V", set, Kept::Element),
    Native::plain("to_array", "map[T:T] -> [[T]]", to_array),
    Native::changing("update", "&map[K:V], map[K:V]...", update, Kept::Whole),
    Native::plain("values", "map[K:V] -> [V]", values),
];

fn clear(_: &mut Outside<'_>, map: &mut Value, _: &[Value]) -> Answer {
    map_at(map)?.clear();
    Ok(Value::Nil)
}

/// Whether it was there. The others stay in their order.
fn remove(_: &mut Outside<'_>, map: &mut Value, arguments: &[Value]) -> Answer {
    let key = given::key(given::any(arguments, 0)?)?;
    Ok(Value::Bool(map_at(map)?.remove(&key).is_some()))
}

fn set(_: &mut Outside<'_>, map: &mut Value, arguments: &[Value]) -> Answer {
    let key = given::key(given::any(arguments, 0)?)?;
    map_at(map)?.insert(key, given::any(arguments, 1)?.clone());
    Ok(Value::Nil)
}

fn get_or_set(_: &mut Outside<'_>, map: &mut Value, arguments: &[Value]) -> Answer {
    let key = given::key(given::any(arguments, 0)?)?;
    let otherwise = given::any(arguments, 1)?;
    Ok(map_at(map)?.get_or_insert_with(key, || otherwise.clone()).clone())
}

fn update(_: &mut Outside<'_>, map: &mut Value, arguments: &[Value]) -> Answer {
    let target = map_at(map)?;
    for index in 0..arguments.len() {
        extend(target, given::map(arguments, index)?);
    }
    Ok(Value::Nil)
}

fn extend(target: &mut Map, more: &Map) {
    target.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
}

fn merge(arguments: &[Value]) -> Answer {
    let mut merged = Map::default();
    for index in 0..arguments.len() {
        extend(&mut merged, given::map(arguments, index)?);
    }
    Ok(Value::Map(Rc::new(merged)))
}

fn equals(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::map(arguments, 0)? == given::map(arguments, 1)?))
}

fn get(arguments: &[Value]) -> Answer {
    let key = given::key(given::any(arguments, 1)?)?;
    match (given::map(arguments, 0)?.get(&key), arguments.get(2)) {
        (Some(value), _) | (None, Some(value)) => Ok(value.clone()),
        (None, None) => fault("E12003", format!("the map has no key {}", format::inside(&key.0))),
    }
}

fn has(map: &Value, key: &Value) -> Answer {
    let key = given::key_ref(key)?;
    Ok(Value::Bool(given::map(std::slice::from_ref(map), 0)?.contains_key(&key)))
}

fn has_value(arguments: &[Value]) -> Answer {
    let wanted = given::any(arguments, 1)?;
    Ok(Value::Bool(given::map(arguments, 0)?.values().any(|value| value == wanted)))
}

fn is_empty(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::map(arguments, 0)?.is_empty()))
}

fn keys(arguments: &[Value]) -> Answer {
    Ok(Value::array(given::map(arguments, 0)?.keys().map(|key| key.0.clone()).collect()))
}

fn values(arguments: &[Value]) -> Answer {
    Ok(Value::array(given::map(arguments, 0)?.values().cloned().collect()))
}

/// Of equal values the last key stays.
fn invert(arguments: &[Value]) -> Answer {
    let mut inverted = Map::default();
    for (key, value) in given::map(arguments, 0)?.iter() {
        inverted.insert(given::key(value)?, key.0.clone());
    }
    Ok(Value::Map(Rc::new(inverted)))
}

fn to_array(arguments: &[Value]) -> Answer {
    let pairs =
        given::map(arguments, 0)?.iter().map(|(key, value)| Value::array(vec![key.0.clone(), value.clone()]));
    Ok(Value::array(pairs.collect()))
}

fn from_array(arguments: &[Value]) -> Answer {
    let mut map = Map::default();
    for (index, pair) in given::array(arguments, 0)?.iter().enumerate() {
        match &given::array(std::slice::from_ref(pair), 0)?[..] {
            [key, value] => map.insert(given::key(key)?, value.clone()),
            other => {
                let length = other.len();
                return fault(
                    "E12004",
                    format!("element {index} has {length} elements, but a key and a value are needed"),
                );
            }
        };
    }
    Ok(Value::Map(Rc::new(map)))
}

#[cfg(test)]
mod tests {
    use crate::library::testing::{Desk, ints};
    use crate::value::{Key, Value};
    use std::rc::Rc;

    fn map(entries: &[(&str, i64)]) -> Value {
        let entries = entries.iter().map(|(key, value)| (Key(Value::text(*key)), Value::Int(*value)));
        Value::Map(Rc::new(entries.collect()))
    }

    #[test]
    fn every_function_gives_what_its_name_says() {
        let (text, int) = (|text: &str| Value::text(text), Value::Int);
        let some = || map(&[("b", 2), ("a", 1)]);
        let floats = Value::Map(Rc::new([(Key(int(1)), Value::Float(1.5))].into_iter().collect()));
        let pairs = |pairs: &[&[i64]]| Value::array(pairs.iter().map(|pair| ints(pair)).collect());
        let numbers = Value::Map(Rc::new([(Key(int(1)), int(2))].into_iter().collect()));
        let computing: Vec<(&str, Vec<Value>, &str)> = vec![
            ("equals", vec![some(), map(&[("a", 1), ("b", 2)])], "true"),
            ("equals", vec![some(), map(&[("a", 1)])], "false"),
            ("from_array", vec![pairs(&[&[1, 2], &[3, 4]])], "{1: 2, 3: 4}"),
            ("from_array", vec![pairs(&[&[1]])], "E12004"),
            ("get", vec![some(), text("a")], "1"),
            ("get", vec![some(), text("z"), int(9)], "9"),
            ("get", vec![some(), text("z")], "E12003"),
            ("has", vec![some(), text("a")], "true"),
            ("has_key", vec![some(), text("z")], "false"),
            ("has_value", vec![some(), int(2)], "true"),
            ("has_value", vec![some(), int(3)], "false"),
            ("invert", vec![some()], r#"{2: "b", 1: "a"}"#),
            ("invert", vec![floats], "E12001"),
            ("is_empty", vec![map(&[])], "true"),
            ("keys", vec![some()], r#"{"b", "a"}"#),
            ("merge", vec![some(), map(&[("b", 7), ("c", 3)])], r#"{"b": 7, "a": 1, "c": 3}"#),
            ("to_array", vec![numbers], "{{1, 2}}"),
            ("values", vec![some()], "{2, 1}"),
        ];
        let changing: Vec<(&str, Vec<Value>, &str)> = vec![
            ("clear", vec![], "{}"),
            ("delete", vec![text("b")], r#"{"a": 1}"#),
            ("remove", vec![text("z")], r#"{"b": 2, "a": 1}"#),
            ("get_or_set", vec![text("c"), int(3)], r#"{"b": 2, "a": 1, "c": 3}"#),
            ("set", vec![text("b"), int(0)], r#"{"b": 0, "a": 1}"#),
            ("set", vec![Value::Float(1.0), int(0)], "E12001"),
            ("update", vec![map(&[("a", 5), ("d", 4)])], r#"{"b": 2, "a": 5, "d": 4}"#),
        ];
        let mut desk = Desk::default();
        for (name, arguments, expected) in &computing {
            assert_eq!(&desk.shown("maps", name, arguments), expected, "{name} of {arguments:?}");
        }
        for (name, arguments, expected) in &changing {
            assert_eq!(&desk.changed("maps", name, some(), arguments), expected, "{name} of {arguments:?}");
        }
        let tested = |name: &str| computing.iter().chain(&changing).any(|(tested, ..)| *tested == name);
        for native in super::TABLE {
            assert!(tested(native.name), "{} has no row", native.name);
        }
    }

    #[test]
    fn a_change_says_what_came_of_it() {
        let mut desk = Desk::default();
        let mut place = map(&[("a", 1)]);
        let key = [Value::text("a")];
        assert_eq!(
            desk.change("maps", "get_or_set", &mut place, &[key[0].clone(), Value::Int(9)]),
            Ok(Value::Int(1))
        );
        assert_eq!(desk.change("maps", "remove", &mut place, &key), Ok(Value::Bool(true)));
        assert_eq!(desk.change("maps", "remove", &mut place, &key), Ok(Value::Bool(false)));
    }
}
