//! `arrays`: what is found in an array or made from it. What changes it in place is in `changing`, sums and orders in
//! `numbers`.

mod changing;
mod numbers;

use std::collections::{HashMap, HashSet};

pub use numbers::{order, sum_of};

use super::given::{self, Given, fault, room_for, whole};
use super::{Answer, Native, strings};
use crate::value::{Key, Value, format};

pub const TABLES: &[&[Native]] = &[TABLE, changing::TABLE, numbers::TABLE];

const TABLE: &[Native] = &[
    Native::plain("all_equal", "[T] -> bool", all_equal),
    Native::plain("chunk", "[T], int -> [[T]]", chunk),
    Native::plain("concat", "[T], [T]... -> [T]", concat),
    Native::plain("contains", "[T], T -> bool", contains),
    Native::plain("count", "[T], T -> int", count),
    Native::plain("drop", "[T], int -> [T]", drop),
    Native::plain("duplicates", "[T] -> [T]", duplicates),
    Native::plain("first", "[T] -> T", first),
    Native::plain("flatten", "[[T]] -> [T]", flatten),
    Native::plain("get", "[T], int -> T", get),
    Native::plain("index", "[T], T -> int", index_of),
    Native::plain("index_of", "[T], T -> int", index_of),
    Native::plain("is_empty", "[T] -> bool", is_empty),
    Native::plain("join", "[any], string -> string", strings::join),
    Native::plain("last", "[T] -> T", last),
    Native::plain("last_index_of", "[T], T -> int", last_index_of),
    Native::plain("repeat", "T, int -> [T]", repeat),
    Native::plain("reverse", "[T] -> [T]", reverse),
    Native::plain("slice", "[T], int, int? -> [T]", slice),
    Native::plain("take", "[T], int -> [T]", take),
    Native::plain("unique", "[T] -> [T]", unique),
    Native::plain("zip", "[T], [T] -> [[T]]", zip),
];

/// The index as a place in an array of this length.
pub fn place(index: i64, length: usize) -> Given<usize> {
    match usize::try_from(index) {
        Ok(at) if at < length => Ok(at),
        _ => fault("E9001", format!("index {index} is out of bounds: the array has {length} elements")),
    }
}

/// For what needs at least one element.
pub fn empty<T>() -> Given<T> {
    fault("E9002", "the array is empty")
}

/// Something by which equal elements can be found without comparing each with each.
#[derive(PartialEq, Eq, Hash)]
enum Likeness {
    Plain(Key),
    Float(u64),
    /// Containers are alike if they print alike.
    Printed(String),
}

fn likeness(value: &Value) -> Likeness {
    match value {
        // Adding 0.0 makes one zero of the two.
        Value::Float(number) => Likeness::Float((number + 0.0).to_bits()),
        Value::Text(_) | Value::Int(_) | Value::Big(_) | Value::Bool(_) | Value::Char(_) | Value::Byte(_) => {
            Likeness::Plain(Key(value.clone()))
        }
        other => Likeness::Printed(format::inside(other)),
    }
}

fn all_equal(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    Ok(Value::Bool(values.windows(2).all(|two| two[0] == two[1])))
}

fn chunk(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    match given::count(arguments, 1)? {
        0 => fault("E9004", "argument 2 is 0, but a chunk must have at least one element"),
        size => Ok(Value::array(values.chunks(size).map(|part| Value::array(part.to_vec())).collect())),
    }
}

fn concat(arguments: &[Value]) -> Answer {
    let mut all = Vec::new();
    for index in 0..arguments.len() {
        let more = given::array(arguments, index)?;
        room_for(all.len().checked_add(more.len()))?;
        all.extend_from_slice(more);
    }
    Ok(Value::array(all))
}

fn contains(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::array(arguments, 0)?.contains(given::any(arguments, 1)?)))
}

fn count(arguments: &[Value]) -> Answer {
    let wanted = given::any(arguments, 1)?;
    Ok(whole(given::array(arguments, 0)?.iter().filter(|value| *value == wanted).count()))
}

fn take(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    Ok(Value::array(values[..given::count(arguments, 1)?.min(values.len())].to_vec()))
}

fn drop(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    Ok(Value::array(values[given::count(arguments, 1)?.min(values.len())..].to_vec()))
}

/// One of each that is there more than once, in the order of their first.
fn duplicates(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    let mut times: HashMap<Likeness, usize> = HashMap::new();
    for value in values.iter() {
        *times.entry(likeness(value)).or_default() += 1;
    }
    let repeated =
        values.iter().filter(|value| times.remove(&likeness(value)).is_some_and(|times| times > 1));
    Ok(Value::array(repeated.cloned().collect()))
}

fn unique(arguments: &[Value]) -> Answer {
    let mut seen = HashSet::new();
    let values = given::array(arguments, 0)?.iter().filter(|value| seen.insert(likeness(value)));
    Ok(Value::array(values.cloned().collect()))
}

fn first(arguments: &[Value]) -> Answer {
    given::array(arguments, 0)?.first().cloned().map_or_else(empty, Ok)
}

fn last(arguments: &[Value]) -> Answer {
    given::array(arguments, 0)?.last().cloned().map_or_else(empty, Ok)
}

fn flatten(arguments: &[Value]) -> Answer {
    let mut all = Vec::new();
    for value in given::array(arguments, 0)?.iter() {
        let more = given::array(std::slice::from_ref(value), 0)?;
        room_for(all.len().checked_add(more.len()))?;
        all.extend_from_slice(more);
    }
    Ok(Value::array(all))
}

fn get(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    Ok(values[place(given::int(arguments, 1)?, values.len())?].clone())
}

fn found(at: Option<usize>) -> Answer {
    Ok(at.map_or(Value::Int(-1), whole))
}

fn index_of(arguments: &[Value]) -> Answer {
    let wanted = given::any(arguments, 1)?;
    found(given::array(arguments, 0)?.iter().position(|value| value == wanted))
}

fn last_index_of(arguments: &[Value]) -> Answer {
    let wanted = given::any(arguments, 1)?;
    found(given::array(arguments, 0)?.iter().rposition(|value| value == wanted))
}

fn is_empty(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::array(arguments, 0)?.is_empty()))
}

fn repeat(arguments: &[Value]) -> Answer {
    let times = given::count(arguments, 1)?;
    room_for(Some(times))?;
    let filled = match given::any(arguments, 0)? {
        // Large arrays are mostly filled with one of these, which need not be cloned one by one.
        Value::Bool(yes) => std::iter::repeat_with(|| Value::Bool(*yes)).take(times).collect(),
        Value::Int(number) => std::iter::repeat_with(|| Value::Int(*number)).take(times).collect(),
        other => vec![other.clone(); times],
    };
    Ok(Value::array(filled))
}

fn reverse(arguments: &[Value]) -> Answer {
    Ok(Value::array(given::array(arguments, 0)?.iter().rev().cloned().collect()))
}

fn slice(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    Ok(Value::array(values[strings::bounds(arguments, values.len())?].to_vec()))
}

/// Pairs, as many as the shorter one has elements.
fn zip(arguments: &[Value]) -> Answer {
    let (one, two) = (given::array(arguments, 0)?, given::array(arguments, 1)?);
    let pairs = one.iter().zip(two.iter()).map(|(one, two)| Value::array(vec![one.clone(), two.clone()]));
    Ok(Value::array(pairs.collect()))
}

#[cfg(test)]
mod tests;
