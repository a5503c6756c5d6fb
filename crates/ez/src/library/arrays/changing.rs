//! What changes an array where it is. A result, if there is one, may be ignored.

use super::numbers::{in_order, order};
use super::{empty, place};
use crate::library::given::{self, array_at, room_for};
use crate::library::{Answer, At, Kept, Native, Outside};
use crate::value::Value;

pub const TABLE: &[Native] = &[
    Native::changing("append", "&[T], T, T...", append, Kept::Length),
    Native::changing("clear", "&[T]", clear, Kept::Whole),
    Native::changing("fill", "&[T, _], T", fill, Kept::Whole),
    Native::changing("insert", "&[T], int, T", insert, Kept::Inserted(At::Named)),
    Native::changing("pop", "&[T] -> T", pop, Kept::Removed(At::Last)),
    Native::changing("remove", "&[T], int", remove_at, Kept::Removed(At::Named)),
    Native::changing("remove_all", "&[T], T", remove_all, Kept::Whole),
    Native::changing("remove_at", "&[T], int", remove_at, Kept::Removed(At::Named)),
    Native::changing("remove_value", "&[T], T", remove_value, Kept::Removed(At::Equal)),
    Native::changing("set", "&[T, _], int, T", set, Kept::Element),
    Native::changing("shift", "&[T] -> T", shift, Kept::Removed(At::First)),
    Native::changing("shuffle", "&[T, _]", shuffle, Kept::Whole),
    Native::changing("sort", "&[T, _]", sort, Kept::Whole),
    Native::changing("sort_desc", "&[T, _]", sort_desc, Kept::Whole),
    Native::changing("unshift", "&[T], T, T...", unshift, Kept::Inserted(At::First)),
];

fn append(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let values = array_at(array)?;
    room_for(values.len().checked_add(arguments.len()))?;
    values.extend_from_slice(arguments);
    Ok(Value::Nil)
}

fn unshift(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let values = array_at(array)?;
    room_for(values.len().checked_add(arguments.len()))?;
    values.splice(0..0, arguments.iter().cloned());
    Ok(Value::Nil)
}

fn clear(_: &mut Outside<'_>, array: &mut Value, _: &[Value]) -> Answer {
    array_at(array)?.clear();
    Ok(Value::Nil)
}

fn fill(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    array_at(array)?.fill(given::any(arguments, 0)?.clone());
    Ok(Value::Nil)
}

/// The length is an index here too: what is inserted there is the last.
fn insert(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let values = array_at(array)?;
    room_for(values.len().checked_add(1))?;
    let index = given::int(arguments, 0)?;
    let at = match usize::try_from(index) {
        Ok(at) if at == values.len() => at,
        _ => place(index, values.len())?,
    };
    values.insert(at, given::any(arguments, 1)?.clone());
    Ok(Value::Nil)
}

fn pop(_: &mut Outside<'_>, array: &mut Value, _: &[Value]) -> Answer {
    array_at(array)?.pop().map_or_else(empty, Ok)
}

fn shift(_: &mut Outside<'_>, array: &mut Value, _: &[Value]) -> Answer {
    let values = array_at(array)?;
    if values.is_empty() {
        return empty();
    }
    Ok(values.remove(0))
}

fn remove_at(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let values = array_at(array)?;
    let at = place(given::int(arguments, 0)?, values.len())?;
    values.remove(at);
    Ok(Value::Nil)
}

/// The first one; nothing happens if there is none.
fn remove_value(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let wanted = given::any(arguments, 0)?;
    let values = array_at(array)?;
    if let Some(at) = values.iter().position(|value| value == wanted) {
        values.remove(at);
    }
    Ok(Value::Nil)
}

fn remove_all(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let wanted = given::any(arguments, 0)?;
    array_at(array)?.retain(|value| value != wanted);
    Ok(Value::Nil)
}

fn set(_: &mut Outside<'_>, array: &mut Value, arguments: &[Value]) -> Answer {
    let values = array_at(array)?;
    let at = place(given::int(arguments, 0)?, values.len())?;
    values[at] = given::any(arguments, 1)?.clone();
    Ok(Value::Nil)
}

fn shuffle(outside: &mut Outside<'_>, array: &mut Value, _: &[Value]) -> Answer {
    outside.random.shuffle(array_at(array)?);
    Ok(Value::Nil)
}

fn sort(_: &mut Outside<'_>, array: &mut Value, _: &[Value]) -> Answer {
    let values = array_at(array)?;
    in_order(values)?;
    values.sort_by(order);
    Ok(Value::Nil)
}

fn sort_desc(_: &mut Outside<'_>, array: &mut Value, _: &[Value]) -> Answer {
    let values = array_at(array)?;
    in_order(values)?;
    values.sort_by(|one, two| order(two, one));
    Ok(Value::Nil)
}
