//! Random numbers: the generator, and the functions of `random`.
//!
//! Good enough for games and simulations; nothing here is secret.

use super::given::{self, Given, fault};
use super::{Answer, Native, Outside};
use crate::value::Value;

pub const TABLE: &[Native] = &[
    Native::worldly("bool", "-> bool", random_bool),
    Native::worldly("byte", "-> byte", random_byte),
    Native::worldly("char", "char?, char? -> char", random_char),
    Native::worldly("choice", "[T] -> T", choice),
    Native::worldly("float", "number?, number? -> float", random_float),
    Native::worldly("int", "int, int? -> int", random_int),
    Native::worldly("sample", "[T], int -> [T]", sample),
    Native::worldly("shuffle", "[T] -> [T]", shuffle),
];

/// The state of the generator. The same seed gives the same numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Other numbers every time.
    pub fn fresh() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Self::seeded(RandomState::new().hash_one(0))
    }

    /// The next 64 bits: a counter whose bits are mixed well.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`, which is not 0; every number as likely as the others but for an error no program can notice.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// From 0.0 to just below 1.0.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// From `low` to just below `high`.
pub fn between(random: &mut Random, low: i64, high: i64) -> Given<i64> {
    if low >= high {
        return fault("E7001", format!("there is no number from {low} up to, but not including, {high}"));
    }
    let width = high.wrapping_sub(low) as u64;
    Ok(low.wrapping_add(random.below(width) as i64))
}

/// `int(end)` or `int(start, end)`.
pub fn random_int(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (low, high) = match arguments.len() {
        0 | 1 => (0, given::int(arguments, 0)?),
        _ => (given::int(arguments, 0)?, given::int(arguments, 1)?),
    };
    between(outside.random, low, high).map(Value::Int)
}

/// Below 1, below the end, or from the start to below the end.
pub fn random_float(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (low, high) = match arguments.len() {
        0 => (0.0, 1.0),
        1 => (0.0, given::float(arguments, 0)?),
        _ => (given::float(arguments, 0)?, given::float(arguments, 1)?),
    };
    if low > high {
        return fault("E7001", format!("argument 1 is {low}, but must not be more than argument 2, {high}"));
    }
    Ok(Value::Float(low + outside.random.unit() * (high - low)))
}

fn random_bool(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    Ok(Value::Bool(outside.random.below(2) == 1))
}

fn random_byte(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    Ok(Value::Byte(outside.random.below(256) as u8))
}

/// Any that can be seen on a keyboard; up to the one given, or from one to the other, both included.
fn random_char(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (low, high) = match arguments.len() {
        0 => (' ', '~'),
        1 => (' ', given::char(arguments, 0)?),
        _ => (given::char(arguments, 0)?, given::char(arguments, 1)?),
    };
    if low > high {
        return fault("E7001", format!("there is no char from {low:?} to {high:?}"));
    }
    loop {
        let number =
            u32::from(low) + outside.random.below(u64::from(u32::from(high) - u32::from(low)) + 1) as u32;
        // The few numbers that are no characters are drawn again.
        if let Some(letter) = char::from_u32(number) {
            return Ok(Value::Char(letter));
        }
    }
}

fn choice(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    if values.is_empty() {
        return fault("E9002", "the array is empty, so there is nothing to choose from");
    }
    Ok(values[outside.random.below(values.len() as u64) as usize].clone())
}

fn sample(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    let count = given::count(arguments, 1)?;
    if count > values.len() {
        let have = values.len();
        return fault("E7001", format!("argument 2 is {count}, but the array has only {have} elements"));
    }
    let mut mixed = values.to_vec();
    outside.random.shuffle(&mut mixed);
    mixed.truncate(count);
    Ok(Value::array(mixed))
}

fn shuffle(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let mut mixed = given::array(arguments, 0)?.to_vec();
    outside.random.shuffle(&mut mixed);
    Ok(Value::array(mixed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::{Desk, ints};

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let take = |seed| {
            let mut random = Random::seeded(seed);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
    }

    #[test]
    fn numbers_are_in_their_range_and_all_of_it_is_reached() {
        let mut desk = Desk::default();
        let mut seen = [false; 5];
        for _ in 0..1000 {
            let Value::Int(number) = desk.call("random", "int", &[Value::Int(-2), Value::Int(3)]).unwrap()
            else {
                panic!("no integer")
            };
            seen[usize::try_from(number + 2).unwrap()] = true;
            let Value::Float(number) = desk.call("random", "float", &[]).unwrap() else { panic!("no float") };
            assert!((0.0..1.0).contains(&number));
        }
        assert_eq!(seen, [true; 5]);
        let extremes = [Value::Int(i64::MIN), Value::Int(i64::MAX)];
        assert!(matches!(desk.call("random", "int", &extremes), Ok(Value::Int(_))));
    }

    #[test]
    fn bounds_that_leave_nothing_are_faults() {
        let mut desk = Desk::default();
        assert_eq!(desk.fault("random", "int", &[Value::Int(0)]), "E7001");
        assert_eq!(desk.fault("random", "int", &[Value::Int(5), Value::Int(5)]), "E7001");
        assert_eq!(desk.fault("random", "char", &[Value::Char('b'), Value::Char('a')]), "E7001");
        assert_eq!(desk.fault("random", "choice", &[Value::array(vec![])]), "E9002");
        assert_eq!(desk.fault("random", "sample", &[ints(&[1]), Value::Int(2)]), "E7001");
        assert_eq!(desk.fault("random", "sample", &[ints(&[1]), Value::Int(-1)]), "E7001");
    }

    #[test]
    fn a_shuffle_keeps_the_elements_and_leaves_the_original() {
        let mut desk = Desk::default();
        let original = ints(&(0..50).collect::<Vec<_>>());
        let mixed = desk.call("random", "shuffle", std::slice::from_ref(&original)).unwrap();
        assert_ne!(mixed, original);
        let mut place = mixed;
        desk.change("arrays", "sort", &mut place, &[]).unwrap();
        assert_eq!(place, original);
        assert_eq!(original, ints(&(0..50).collect::<Vec<_>>()));
    }
}
