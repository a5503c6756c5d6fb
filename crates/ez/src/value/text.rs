//! Strings: counted in characters, changed in place.
//!
//! Most text is ASCII, where the n-th character is the n-th byte. In any other, where some characters begin is remembered,
//! so that a loop over a long text is not quadratic.

use std::ops::Range;

/// As many characters are gone through to find one.
const EVERY: usize = 32;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// How many characters; the same as the bytes if all is ASCII.
    length: usize,
    /// Where every so many characters the next one begins, but for the first. Nothing if all is ASCII.
    marks: Vec<usize>,
}

impl Text {
    pub fn new(text: String) -> Self {
        if text.is_ascii() {
            return Self { length: text.len(), text, marks: Vec::new() };
        }
        let mut made = Self { text, ..Self::default() };
        made.count_from(0);
        made
    }

    /// Empty, with memory for so many bytes.
    pub fn with_room(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ..Self::default() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// In characters.
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn is_ascii(&self) -> bool {
        self.length == self.text.len()
    }

    pub fn get(&self, index: usize) -> Option<char> {
        match self.is_ascii() {
            true => self.text.as_bytes().get(index).map(|byte| char::from(*byte)),
            false => self.text[self.byte(index)..].chars().next(),
        }
    }

    /// From one character to before another; what is outside is left out.
    pub fn slice(&self, range: Range<usize>) -> &str {
        let start = self.byte(range.start);
        let end = self.byte(range.end.max(range.start));
        &self.text[start..end]
    }

    /// Where the character begins; the end if there is none.
    fn byte(&self, index: usize) -> usize {
        if index >= self.length {
            return self.text.len();
        }
        if self.is_ascii() {
            return index;
        }
        let mark = (index / EVERY).checked_sub(1).map_or(0, |mark| self.marks[mark]);
        let further = self.text[mark..].char_indices().nth(index % EVERY);
        further.map_or(self.text.len(), |(further, _)| mark + further)
    }

    /// Counts the characters from this byte on, which are not counted yet, and marks them.
    fn count_from(&mut self, byte: usize) {
        for (further, _) in self.text[byte..].char_indices() {
            if self.length > 0 && self.length.is_multiple_of(EVERY) {
                self.marks.push(byte + further);
            }
            self.length += 1;
        }
    }

    /// For what is ASCII and will not be any more.
    fn mark_ascii(&mut self) {
        self.marks = (EVERY..self.length).step_by(EVERY).collect();
    }

    /// False if there is no such character.
    pub fn set(&mut self, index: usize, letter: char) -> bool {
        let Some(old) = self.get(index).map(char::len_utf8) else { return false };
        let (at, was_ascii) = (self.byte(index), self.is_ascii());
        self.text.replace_range(at..at + old, letter.encode_utf8(&mut [0; 4]));
        if letter.len_utf8() == old {
            return true;
        }
        if was_ascii {
            self.mark_ascii();
        }
        for mark in &mut self.marks[index / EVERY..] {
            *mark = *mark - old + letter.len_utf8();
        }
        if self.is_ascii() {
            self.marks.clear();
        }
        true
    }

    pub fn push(&mut self, more: &Text) {
        self.push_counted(&more.text, more.is_ascii());
    }

    pub fn push_str(&mut self, more: &str) {
        self.push_counted(more, more.is_ascii());
    }

    fn push_counted(&mut self, more: &str, is_ascii: bool) {
        let bytes = self.text.len();
        let was_ascii = self.is_ascii();
        self.text.push_str(more);
        if was_ascii && is_ascii {
            self.length += more.len();
            return;
        }
        if was_ascii {
            self.mark_ascii();
        }
        self.count_from(bytes);
    }

    /// In decimal. Templates are full of these, and `Display` would spend most of its time on widths and fills.
    pub fn push_int(&mut self, number: i64) {
        let mut digits = [b'-'; 20];
        let mut first = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            first -= 1;
        }
        if let Ok(written) = std::str::from_utf8(&digits[first..]) {
            self.push_counted(written, true);
        }
    }

    /// How many bytes it can hold where it is.
    pub fn room(&self) -> usize {
        self.text.capacity()
    }

    /// Back to what it was before something was pushed.
    pub fn truncate(&mut self, bytes: usize, length: usize) {
        self.text.truncate(bytes);
        self.length = length;
        match self.is_ascii() {
            true => self.marks.clear(),
            false => self.marks.truncate(length.saturating_sub(1) / EVERY),
        }
    }

    pub fn bytes(&self) -> usize {
        self.text.len()
    }
}

#[cfg(test)]
mod tests;
