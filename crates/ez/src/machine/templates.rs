//! Texts that are put together from pieces: written once, straight to where they belong.
//!
//! A loop that makes a text in each round mostly throws it away in each round, so the memory of a text that nobody else has
//! is used for the one that takes its place.

use std::rc::Rc;

use super::places::no_such_part;
use super::registers::{done, set};
use super::values;
use crate::code::{Piece, Register};
use crate::fault::Fault;
use crate::value::{Text, Value, format};

/// Enough for a word and a number; what is put together is rarely shorter.
const ROOM: usize = 24;
/// What is longer is given back: a short text in its place would keep all of it.
const MOST_ROOM: usize = 256;

/// Makes a text of the pieces.
pub(super) fn template(registers: &mut [Value], to: Register, pieces: &[Piece], variables: Register) {
    let mut text = emptied(std::mem::take(&mut registers[to as usize]));
    write(Rc::make_mut(&mut text), pieces, registers);
    give_up(registers, pieces, variables);
    set(&mut registers[to as usize], Value::Text(text));
}

/// Puts the pieces behind the text of a variable.
pub(super) fn append(
    registers: &mut [Value],
    to: Register,
    pieces: &[Piece],
    variables: Register,
) -> Result<(), Fault> {
    let mut whole = std::mem::take(&mut registers[to as usize]);
    let appended = match &mut whole {
        Value::Text(text) => {
            let text = Rc::make_mut(text);
            let (bytes, length) = (text.bytes(), text.len());
            write(text, pieces, registers);
            values::is_short_enough(text.bytes()).inspect_err(|_| text.truncate(bytes, length))
        }
        _ => Err(no_such_part()),
    };
    set(&mut registers[to as usize], whole);
    appended?;
    give_up(registers, pieces, variables);
    Ok(())
}

/// The text of a value as it stands in an array.
pub(super) fn quote(registers: &mut [Value], to: Register, from: Register, variables: Register) {
    let text = format::inside(&registers[from as usize]);
    done(registers, from, variables);
    set(&mut registers[to as usize], Value::text(text));
}

/// The text of a register that is about to be written, if it can be used again, or a new one.
fn emptied(old: Value) -> Rc<Text> {
    if let Value::Text(mut text) = old
        && let Some(own) = Rc::get_mut(&mut text)
        && own.room() <= MOST_ROOM
    {
        own.truncate(0, 0);
        return text;
    }
    Rc::new(Text::with_room(ROOM))
}

fn write(text: &mut Text, pieces: &[Piece], registers: &[Value]) {
    for piece in pieces {
        match piece {
            Piece::Fixed(fixed) => text.push(fixed),
            Piece::Value(at) => match &registers[*at as usize] {
                Value::Int(number) => text.push_int(*number),
                Value::Text(part) => text.push(part),
                other => text.push_str(&format::print(other)),
            },
        }
    }
}

fn give_up(registers: &mut [Value], pieces: &[Piece], variables: Register) {
    for piece in pieces {
        if let Piece::Value(at) = piece {
            done(registers, *at, variables);
        }
    }
}
