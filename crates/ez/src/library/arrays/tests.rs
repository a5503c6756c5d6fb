//! Calls of `arrays` and what they give or leave behind; sorting, reversing and the like for any array.

use crate::library::testing::{Desk, ints, texts};
use crate::library::{Call, Trouble};
use crate::types::{IntKind, Type, Width};
use crate::value::Value;
use proptest::prelude::*;

fn int(number: i64) -> Value {
    Value::Int(number)
}

fn floats(numbers: &[f64]) -> Value {
    Value::array(numbers.iter().copied().map(Value::Float).collect())
}

fn rows_that_compute() -> Vec<(&'static str, Vec<Value>, &'static str)> {
    let nested = Value::array(vec![ints(&[1, 2]), ints(&[]), ints(&[1, 2])]);
    vec![
        ("all_equal", vec![ints(&[5, 5])], "true"),
        ("all_equal", vec![ints(&[5, 6])], "false"),
        ("all_equal", vec![ints(&[])], "true"),
        ("avg", vec![ints(&[1, 2])], "1.5"),
        ("avg", vec![ints(&[])], "E9002"),
        ("chunk", vec![ints(&[1, 2, 3]), int(2)], "{{1, 2}, {3}}"),
        ("chunk", vec![ints(&[1]), int(0)], "E9004"),
        ("chunk", vec![ints(&[1]), int(-1)], "E7001"),
        ("concat", vec![ints(&[1]), ints(&[2]), ints(&[3])], "{1, 2, 3}"),
        ("contains", vec![nested.clone(), ints(&[1, 2])], "true"),
        ("contains", vec![ints(&[1]), int(2)], "false"),
        ("count", vec![ints(&[1, 2, 1]), int(1)], "2"),
        ("drop", vec![ints(&[1, 2, 3]), int(2)], "{3}"),
        ("drop", vec![ints(&[1]), int(9)], "{}"),
        ("duplicates", vec![ints(&[1, 2, 3, 2, 4, 1, 5, 3])], "{1, 2, 3}"),
        ("duplicates", vec![nested.clone()], "{{1, 2}}"),
        ("first", vec![ints(&[1, 2])], "1"),
        ("first", vec![ints(&[])], "E9002"),
        ("flatten", vec![nested.clone()], "{1, 2, 1, 2}"),
        ("get", vec![ints(&[1, 2]), int(1)], "2"),
        ("get", vec![ints(&[1, 2]), int(2)], "E9001"),
        ("get", vec![ints(&[1, 2]), int(-1)], "E9001"),
        ("index", vec![ints(&[1, 2, 2]), int(2)], "1"),
        ("index_of", vec![ints(&[1]), int(2)], "-1"),
        ("is_empty", vec![ints(&[])], "true"),
        ("join", vec![ints(&[1, 2]), Value::text("-")], r#""1-2""#),
        ("last", vec![ints(&[1, 2])], "2"),
        ("last", vec![ints(&[])], "E9002"),
        ("last_index_of", vec![ints(&[1, 2, 2]), int(2)], "2"),
        ("max", vec![texts(&["a", "c", "b"])], r#""c""#),
        ("max", vec![ints(&[])], "E9002"),
        ("max", vec![nested.clone()], "E9003"),
        ("min", vec![floats(&[2.0, -1.5, f64::NAN])], "-1.5"),
        ("product", vec![ints(&[2, 3, 4])], "24"),
        ("product", vec![ints(&[])], "1"),
        ("product", vec![floats(&[0.5, 4.0])], "2.0"),
        ("product", vec![ints(&[i64::MAX, i64::MAX])], "E5002"),
        ("product", vec![ints(&[i64::MAX, i64::MAX, 0])], "0"),
        ("product", vec![ints(&[3; 1000])], "E5002"),
        ("repeat", vec![Value::text("x"), int(2)], r#"{"x", "x"}"#),
        ("repeat", vec![int(0), int(i64::MAX)], "E7003"),
        ("repeat", vec![int(0), int(-1)], "E7001"),
        ("reverse", vec![ints(&[1, 2, 3])], "{3, 2, 1}"),
        ("slice", vec![ints(&[0, 1, 2, 3]), int(1), int(3)], "{1, 2}"),
        ("slice", vec![ints(&[0, 1, 2, 3]), int(-2)], "{2, 3}"),
        ("slice", vec![ints(&[0, 1]), int(5), int(9)], "{}"),
        ("sum", vec![ints(&[1, 2, 3])], "6"),
        ("sum", vec![ints(&[])], "0"),
        ("sum", vec![ints(&[i64::MAX, 1])], "E5002"),
        ("sum", vec![ints(&[i64::MAX, 1, -1])], "9223372036854775807"),
        ("sum", vec![floats(&[1.5, 2.0])], "3.5"),
        ("take", vec![ints(&[1, 2, 3]), int(2)], "{1, 2}"),
        ("unique", vec![ints(&[1, 2, 1, 3])], "{1, 2, 3}"),
        ("unique", vec![floats(&[0.0, -0.0, 1.0])], "{0.0, 1.0}"),
        ("unique", vec![nested], "{{1, 2}, {}}"),
        ("zip", vec![ints(&[1, 2, 3]), ints(&[4, 5])], "{{1, 4}, {2, 5}}"),
    ]
}

fn rows_that_change() -> Vec<(&'static str, Value, Vec<Value>, &'static str)> {
    vec![
        ("append", ints(&[1]), vec![int(2), int(3)], "{1, 2, 3}"),
        ("append", Value::Nil, vec![int(2)], "E7002"),
        ("clear", ints(&[1]), vec![], "{}"),
        ("fill", ints(&[1, 2]), vec![int(0)], "{0, 0}"),
        ("insert", ints(&[1, 3]), vec![int(1), int(2)], "{1, 2, 3}"),
        ("insert", ints(&[1]), vec![int(1), int(2)], "{1, 2}"),
        ("insert", ints(&[1]), vec![int(3), int(2)], "E9001"),
        ("pop", ints(&[1, 2]), vec![], "{1}"),
        ("pop", ints(&[]), vec![], "E9002"),
        ("remove", ints(&[5, 6, 7]), vec![int(1)], "{5, 7}"),
        ("remove", ints(&[5]), vec![int(1)], "E9001"),
        ("remove_all", ints(&[1, 2, 1]), vec![int(1)], "{2}"),
        ("remove_at", ints(&[5, 6]), vec![int(0)], "{6}"),
        ("remove_value", ints(&[1, 2, 1]), vec![int(1)], "{2, 1}"),
        ("remove_value", ints(&[1]), vec![int(9)], "{1}"),
        ("set", ints(&[1, 2]), vec![int(1), int(9)], "{1, 9}"),
        ("set", ints(&[1, 2]), vec![int(2), int(9)], "E9001"),
        ("shift", ints(&[1, 2]), vec![], "{2}"),
        ("shift", ints(&[]), vec![], "E9002"),
        ("shuffle", ints(&[7]), vec![], "{7}"),
        ("sort", texts(&["b", "a"]), vec![], r#"{"a", "b"}"#),
        ("sort", floats(&[f64::NAN, 2.0, -1.0]), vec![], "{-1.0, 2.0, NaN}"),
        ("sort", Value::array(vec![Value::Bool(true)]), vec![], "E9003"),
        ("sort_desc", ints(&[1, 3, 2]), vec![], "{3, 2, 1}"),
        ("unshift", ints(&[3]), vec![int(1), int(2)], "{1, 2, 3}"),
    ]
}

#[test]
fn every_function_gives_what_its_name_says() {
    let mut desk = Desk::default();
    let computing = rows_that_compute();
    for (name, arguments, expected) in &computing {
        assert_eq!(&desk.shown("arrays", name, arguments), expected, "{name} of {arguments:?}");
    }
    let changing = rows_that_change();
    for (name, place, arguments, expected) in &changing {
        assert_eq!(
            &desk.changed("arrays", name, place.clone(), arguments),
            expected,
            "{name} of {place:?}, {arguments:?}"
        );
    }
    for native in super::TABLES.iter().copied().flatten() {
        let tested = match native.call {
            Call::Changing(..) => changing.iter().any(|(name, ..)| *name == native.name),
            _ => computing.iter().any(|(name, ..)| *name == native.name),
        };
        assert!(tested, "{} has no row", native.name);
    }
}

#[test]
fn what_is_taken_out_is_given() {
    let mut desk = Desk::default();
    let mut place = ints(&[1, 2, 3]);
    assert_eq!(desk.change("arrays", "pop", &mut place, &[]), Ok(int(3)));
    assert_eq!(desk.change("arrays", "shift", &mut place, &[]), Ok(int(1)));
    assert_eq!(place, ints(&[2]));
}

#[test]
fn a_change_leaves_copies_alone() {
    let mut desk = Desk::default();
    let original = ints(&[2, 1]);
    let mut copy = original.clone();
    desk.change("arrays", "sort", &mut copy, &[]).unwrap();
    assert_eq!((original, copy), (ints(&[2, 1]), ints(&[1, 2])));
}

#[test]
fn a_sum_must_fit_the_type_of_the_elements() {
    let mut desk = Desk::default();
    let small = Type::Int(IntKind::Unsigned(Width::W8));
    let mut sum = |numbers: &[i64]| desk.call_typed("arrays", "sum", &[ints(numbers)], &small);
    assert_eq!(sum(&[200, 55]), Ok(int(255)));
    assert!(matches!(sum(&[200, 56]), Err(Trouble::Fault(fault)) if fault.code == "E5002"));
}

proptest! {
    #[test]
    fn sorting_orders_and_keeps_all(mut numbers: Vec<i64>) {
        let mut desk = Desk::default();
        let mut place = ints(&numbers);
        desk.change("arrays", "sort", &mut place, &[]).unwrap();
        numbers.sort_unstable();
        prop_assert_eq!(&place, &ints(&numbers));
        desk.change("arrays", "sort_desc", &mut place, &[]).unwrap();
        numbers.reverse();
        prop_assert_eq!(&place, &ints(&numbers));
    }

    #[test]
    fn reversing_twice_changes_nothing(numbers: Vec<i64>) {
        let mut desk = Desk::default();
        let once = desk.call("arrays", "reverse", &[ints(&numbers)]).unwrap();
        prop_assert_eq!(desk.call("arrays", "reverse", &[once]).unwrap(), ints(&numbers));
    }

    #[test]
    fn unique_and_duplicates_tell_every_element_apart(numbers in proptest::collection::vec(0i64..10, 0..40)) {
        let mut desk = Desk::default();
        let mut seen = Vec::new();
        for number in &numbers {
            if !seen.contains(number) {
                seen.push(*number);
            }
        }
        prop_assert_eq!(desk.call("arrays", "unique", &[ints(&numbers)]).unwrap(), ints(&seen));
        seen.retain(|number| numbers.iter().filter(|other| *other == number).count() > 1);
        prop_assert_eq!(desk.call("arrays", "duplicates", &[ints(&numbers)]).unwrap(), ints(&seen));
    }

    #[test]
    fn chunks_put_together_are_the_array(numbers: Vec<i64>, size in 1i64..10) {
        let mut desk = Desk::default();
        let chunks = desk.call("arrays", "chunk", &[ints(&numbers), Value::Int(size)]).unwrap();
        prop_assert_eq!(desk.call("arrays", "flatten", &[chunks]).unwrap(), ints(&numbers));
    }
}
