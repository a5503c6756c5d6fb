//! What can go wrong while a program runs, in words.

use std::borrow::Cow;

use crate::fault::Fault;
use crate::value::{Value, format};

/// How many calls may be open at once.
pub const DEEPEST: usize = 10_000;

pub fn index(index: &Value, length: usize) -> Fault {
    let index = format::print(index);
    let help = match length {
        0 => Cow::Borrowed("there is nothing in it"),
        _ => Cow::Owned(format!("the last index is {}", length - 1)),
    };
    Fault::new("E9001", format!("index {index} is out of bounds: the length is {length}")).help(help)
}

pub fn missing_key(key: &Value) -> Fault {
    Fault::new("E12003", format!("the map has no key {}", format::inside(key)))
        .help("check with maps.has_key() before, or assign to the key first")
}

pub fn nil(what: &str) -> Fault {
    Fault::new("E5004", format!("nil {what}")).help("give it a value, or check for nil before")
}

pub fn too_deep() -> Fault {
    Fault::new("E5005", format!("stack overflow: more than {DEEPEST} calls are open"))
        .help("check that the recursion ends")
}

pub fn float_overflow() -> Fault {
    Fault::new("E5006", "float overflow: the result is too large for a float")
}

pub fn no_step() -> Fault {
    Fault::new("E5007", "the step of a range must not be 0")
}

pub fn range_bound(value: &Value) -> Fault {
    Fault::new("E5008", format!("{} cannot be a bound of a range", format::print(value)))
}

pub fn changed_while_iterated() -> Fault {
    Fault::new("E9006", "the array is changed while for_each goes over it")
        .help("collect the changes, or go over a copy: copy(array)")
}

pub fn interrupted() -> Fault {
    Fault::new("E5030", "the evaluation was interrupted")
}

pub fn past() -> Fault {
    Fault::new("E5031", "the past cannot be changed").help("go to the present first")
}

pub fn no_exit() -> Fault {
    Fault::new("E5032", "exit() cannot be called in an evaluation")
}

/// Code that no checked program leads to.
pub fn broken(what: &'static str) -> Fault {
    Fault::new("E5099", format!("internal error: {what}"))
}
