//! All tables at once: that their rows are sound, and that no function panics whatever its arguments hold.

use super::testing::Desk;
use super::*;
use crate::value::{Key, Map};
use ::std::rc::Rc;
use random::Random;
use signature::{Passing, Pattern, Times};

#[test]
fn every_row_of_every_module_has_a_signature_that_parses_and_fits_its_function() {
    let mut seen = HashMap::new();
    for (module, tables) in MODULES {
        for native in tables.iter().copied().flatten() {
            let row = format!("{module}.{}: {}", native.name, native.signature);
            let signature =
                Signature::parse(native.signature).unwrap_or_else(|wrong| panic!("{row}: {wrong}"));
            let places = |parameter: &&signature::Parameter| parameter.passing == signature::Passing::Place;
            let first_is_a_place = signature.parameters.first().as_ref().is_some_and(places);
            assert!(!signature.parameters.iter().skip(1).any(|later| places(&later)), "{row}");
            assert_eq!(first_is_a_place, matches!(native.call, Call::Changing(..)), "{row}");
            if let Call::Constant(_) = native.call {
                assert_eq!((signature.parameters.len(), signature.results.len()), (0, 1), "{row}");
            }
            assert!(seen.insert((*module, native.name), ()).is_none(), "{row} is there twice");
        }
    }
}

#[test]
fn natives_are_found_by_module_and_name() {
    let library = Library::new();
    let id = library.find("arrays", "append").unwrap();
    assert_eq!(library.native(id).name, "append");
    assert_eq!(library.signature(id), &Signature::parse("&[T], T, T...").unwrap());
    assert!(library.find("", "len").is_some());
    assert!(library.find("", "append").is_none());
    assert!(library.find("nowhere", "append").is_none());
    assert!(library.modules().all(|module| !library.names(module).is_empty()));
    assert!(!library.modules().any(|module| NOT_OFFERED.contains(&module)));
}

/// Something that the pattern allows, often at the edge of what it allows. `T`, `K` and `V` are always integers.
fn anything(random: &mut Random, pattern: &Pattern, depth: usize) -> Value {
    const INTS: &[i64] = &[0, 1, -1, 2, 3, 12, 1970, 86_400, i64::MAX, i64::MIN];
    const FLOATS: &[f64] = &[0.0, -0.0, 1.0, -1.5, 1e308, 5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    const TEXTS: &[&str] =
        &["", "a", "é世界", "12", " -7 ", "true", "a,b", "[1]", "{", "YYYY-MM-DD", "2024-02-29", "1e999"];
    let mut pick = |length: usize| random.below(length as u64) as usize;
    match pattern {
        Pattern::Bool => Value::Bool(pick(2) == 0),
        Pattern::Int | Pattern::Variable(_) if pick(12) == 0 => {
            Value::big("-18446744073709551616".parse().unwrap())
        }
        Pattern::Int | Pattern::Variable(_) => Value::Int(INTS[pick(INTS.len())]),
        Pattern::Float => Value::Float(FLOATS[pick(FLOATS.len())]),
        Pattern::Number if pick(2) == 0 => anything(random, &Pattern::Int, depth),
        Pattern::Number => anything(random, &Pattern::Float, depth),
        Pattern::Char => Value::Char(['a', '\0', 'é', char::MAX][pick(4)]),
        Pattern::Byte => Value::Byte(pick(256) as u8),
        Pattern::Text => Value::text(TEXTS[pick(TEXTS.len())]),
        Pattern::Error => Value::Nil,
        Pattern::Array(_) | Pattern::Elements(_) | Pattern::Map(..) if pick(10) == 0 => Value::Nil,
        Pattern::Array(of) | Pattern::Elements(of) => {
            Value::array((0..pick(4)).map(|_| anything(random, of, depth + 1)).collect())
        }
        Pattern::Map(key, value) => {
            let mut map = Map::default();
            for _ in 0..pick(4) {
                map.insert(Key(anything(random, key, depth + 1)), anything(random, value, depth + 1));
            }
            Value::Map(Rc::new(map))
        }
        Pattern::Any | Pattern::Sized => {
            const KINDS: &[&str] = &["string", "[T]", "map[T:T]", "float", "char", "bool", "[[string]]"];
            let kinds = if *pattern == Pattern::Any && depth < 3 { KINDS.len() } else { 3 };
            let other = Signature::parse(KINDS[pick(kinds)]).unwrap();
            anything(random, &other.parameters[0].pattern, depth + 1)
        }
    }
}

#[test]
fn no_native_panics_whatever_it_is_given() {
    let mut desk = Desk::default();
    let mut random = Random::seeded(4);
    let library = Library::new();
    // Those of files would write wherever the paths lead.
    for (module, tables) in MODULES.iter().filter(|(module, _)| *module != "io") {
        for native in tables.iter().copied().flatten() {
            let signature = library.signature(library.find(module, native.name).unwrap());
            for _ in 0..300 {
                let mut arguments = Vec::new();
                for parameter in &signature.parameters {
                    let times = match parameter.times {
                        Times::Once => 1,
                        Times::Optional => random.below(2),
                        Times::Many => random.below(4),
                    };
                    arguments.extend((0..times).map(|_| anything(&mut random, &parameter.pattern, 0)));
                }
                let _ = match signature.parameters.first() {
                    Some(first) if first.passing == Passing::Place => {
                        let mut place = arguments.remove(0);
                        desk.change(module, native.name, &mut place, &arguments)
                    }
                    _ => desk.call(module, native.name, &arguments),
                };
            }
        }
    }
}
