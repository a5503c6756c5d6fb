//! A map against a list of pairs in which everything is looked for from the start.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Insert(i64, i64),
    Remove(i64),
    RemoveFirst,
    RemoveLast,
    /// A removal that is taken back.
    RemoveAndReturn(i64),
    Look(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..300i64, any::<i64>()).prop_map(|(key, value)| Step::Insert(key, value)),
        2 => (0..300i64).prop_map(Step::Remove),
        1 => Just(Step::RemoveFirst),
        1 => Just(Step::RemoveLast),
        2 => (0..300i64).prop_map(Step::RemoveAndReturn),
        2 => (0..300usize).prop_map(Step::Look),
    ];
    prop::collection::vec(step, 0..400)
}

fn key(number: i64) -> Key {
    Key(Value::Int(number))
}

fn plain(entry: (&Key, &Value)) -> (i64, i64) {
    match (&entry.0.0, entry.1) {
        (Value::Int(key), Value::Int(value)) => (*key, *value),
        other => panic!("{other:?}"),
    }
}

fn remove(map: &mut Map, pairs: &mut Vec<(i64, i64)>, number: i64) {
    let at = pairs.iter().position(|(key, _)| *key == number);
    let value = at.map(|at| pairs.remove(at).1);
    assert_eq!(map.remove(&KeyRef(&Value::Int(number))), value.map(Value::Int));
}

proptest! {
    #[test]
    fn a_map_keeps_the_order_in_which_keys_came_whatever_is_removed(steps in steps()) {
        let mut map = Map::default();
        let mut pairs: Vec<(i64, i64)> = Vec::new();
        for step in steps {
            match step {
                Step::Insert(number, value) => {
                    map.insert(key(number), Value::Int(value));
                    match pairs.iter_mut().find(|(key, _)| *key == number) {
                        Some(pair) => pair.1 = value,
                        None => pairs.push((number, value)),
                    }
                }
                Step::Remove(number) => remove(&mut map, &mut pairs, number),
                Step::RemoveFirst => {
                    if let Some((first, _)) = pairs.first().copied() {
                        remove(&mut map, &mut pairs, first);
                    }
                }
                Step::RemoveLast => {
                    if let Some((last, _)) = pairs.last().copied() {
                        remove(&mut map, &mut pairs, last);
                    }
                }
                Step::RemoveAndReturn(number) => {
                    let after = map.key_after(&key(number)).cloned();
                    if let Some(value) = map.remove(&key(number)) {
                        map.insert_before(after.as_ref(), key(number), value);
                    }
                }
                Step::Look(index) => {
                    prop_assert_eq!(map.get_index(index).map(plain), pairs.get(index).copied());
                }
            }
            prop_assert_eq!(map.len(), pairs.len());
            prop_assert_eq!(map.iter().map(plain).collect::<Vec<_>>(), pairs.clone());
            for number in (0..300).step_by(17) {
                let value = pairs.iter().find(|(key, _)| *key == number).map(|(_, value)| Value::Int(*value));
                prop_assert_eq!(map.get(&key(number)).cloned(), value);
            }
        }
        let numbers: Vec<_> = (0..pairs.len()).filter_map(|index| map.get_index(index).map(plain)).collect();
        prop_assert_eq!(&numbers, &pairs);
        prop_assert_eq!(&map, &pairs.iter().rev().map(|(number, value)| (key(*number), Value::Int(*value))).collect());
    }
}

/// Each would take minutes if the others moved.
#[test]
fn keys_are_removed_from_either_end_of_a_large_map_in_no_time() {
    let whole: Map = (0..300_000).map(|number| (key(number), Value::Nil)).collect();
    let orders: [Vec<i64>; 2] = [(0..300_000).collect(), (0..300_000).rev().collect()];
    for order in orders {
        let mut map = whole.clone();
        for (number, left) in order.into_iter().zip((0..300_000).rev()) {
            assert!(map.remove(&key(number)).is_some());
            assert_eq!(map.len(), left);
        }
    }
}

#[test]
fn the_entries_of_a_large_map_with_holes_are_counted_through_in_no_time() {
    let mut map: Map = (0..300_000).map(|number| (key(number), Value::Nil)).collect();
    for number in (0..300_000).step_by(3) {
        map.remove(&key(number));
    }
    let count = (0..).take_while(|index| map.get_index(*index).is_some()).count();
    assert_eq!(count, 200_000);
}

#[test]
fn keys_come_back_to_their_places_in_a_large_map_in_no_time() {
    let count = 50_000;
    let whole: Map = (0..count).map(|number| (key(number), Value::Int(number))).collect();
    let orders: [Vec<i64>; 3] = [
        (0..count).collect(),
        (0..count).rev().collect(),
        (0..count).map(|number| number * 7919 % count).collect(),
    ];
    for order in orders {
        let mut map = whole.clone();
        let mut removed = Vec::new();
        for number in order {
            let after = map.key_after(&key(number)).cloned();
            removed.push((number, after, map.remove(&key(number)).unwrap()));
        }
        assert!(map.is_empty());
        for (number, after, value) in removed.into_iter().rev() {
            map.insert_before(after.as_ref(), key(number), value);
        }
        assert!(map.iter().eq(whole.iter()));
        assert_eq!(map.get_index(20_000).map(plain), Some((20_000, 20_000)));
    }
}
