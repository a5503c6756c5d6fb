//! Small changes to the text of a program: bytes, words and lines are taken out, doubled, exchanged or put in.
//!
//! Words are exchanged for words of the language and of other programs, so that many of the results still parse.

use breakroom_ez::syntax::token::{MARKS, WORDS};

/// Numbers that look random and are the same in every run (xorshift).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Less than `limit`, or 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

/// Values at the edges of what types can hold, and text that is hard to read.
const ODD: [&str; 20] = [
    "0",
    "-1",
    "127",
    "128",
    "255",
    "256",
    "9223372036854775807",
    "9223372036854775808",
    "1e308",
    "0.0",
    "\"\"",
    "\"${",
    "'",
    "\"é漢😀\"",
    "{}",
    "{:}",
    "nil",
    "\u{feff}",
    "\r",
    "\0",
];

/// From one to four changes.
pub fn mutated(text: &str, other: &str, dice: &mut Dice) -> String {
    let changes = 1 + dice.below(4);
    (0..changes).fold(text.to_owned(), |text, _| match dice.below(6) {
        0 => changed_bytes(text.as_bytes(), dice),
        1 | 2 => changed(&lines(&text), &lines(other), dice),
        _ => changed(&words(&text), &words(other), dice),
    })
}

fn changed_bytes(text: &[u8], dice: &mut Dice) -> String {
    let mut bytes = text.to_vec();
    let at = dice.below(bytes.len());
    match dice.below(3) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, dice.below(256) as u8),
        _ => drop(bytes.splice(at..(at + 1).min(text.len()), [dice.below(128) as u8])),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn changed(parts: &[&str], others: &[&str], dice: &mut Dice) -> String {
    let mut parts = parts.to_vec();
    let at = dice.below(parts.len());
    let to = dice.below(parts.len());
    match dice.below(5) {
        _ if parts.is_empty() => {}
        0 => drop(parts.remove(at)),
        1 => parts.insert(at, parts[to]),
        2 => parts.swap(at, to),
        3 => parts[at] = dice.pick(others),
        _ => {
            let word = WORDS[dice.below(WORDS.len())].0;
            let mark = MARKS[dice.below(MARKS.len())].0;
            let odd = dice.pick(&ODD);
            let found = dice.pick(others);
            parts[at] = dice.pick(&[word, mark, odd, found]);
        }
    }
    parts.concat()
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Names and numbers, blanks, and every other character by itself.
fn words(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        _ if letter.is_alphanumeric() || letter == '_' => 0,
        _ if letter.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match kind(first) {
            2 => first.len_utf8(),
            same => rest.find(|letter| kind(letter) != same).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}
