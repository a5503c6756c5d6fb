//! What a program printed, as far back as there is room, under numbers that count every byte there ever was.

use std::collections::VecDeque;
use std::ops::Range;

use crate::budget::written;
use crate::secrets::Secrets;

/// As much as is kept of each session.
const MOST_KEPT: usize = 1024 * 1024;

/// A part has at least as much, however little room there is.
const LEAST: usize = 16;

/// How many bytes there were before a place; what an agent goes on from.
pub type Cursor = u64;

#[derive(Default)]
pub struct Output {
    kept: VecDeque<u8>,
    /// How many bytes were there before those that are kept.
    begins: Cursor,
    secrets: Secrets,
}

/// A part of what was printed.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    /// Where the next part begins.
    pub next: Cursor,
    /// What is lost between where the reader was and the part.
    pub lost: u64,
    /// What is there behind the part.
    pub left: u64,
}

/// The part that fits its room also as data.
pub fn fitting(room: usize, read: impl Fn(usize) -> Part) -> Part {
    let mut most = room;
    loop {
        let part = read(most);
        let size = written(&part.text);
        if size <= room || most <= LEAST {
            return part;
        }
        most = (most * room / size).clamp(LEAST, most - 1);
    }
}

impl Output {
    /// One whose parts show none of these.
    pub fn without(secrets: Secrets) -> Output {
        Output { secrets, ..Output::default() }
    }

    pub fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let fits = &bytes[bytes.len().saturating_sub(MOST_KEPT)..];
        let over = (self.kept.len() + fits.len()).saturating_sub(MOST_KEPT);
        self.kept.drain(..over);
        self.kept.extend(fits);
        self.begins += (over + bytes.len() - fits.len()) as u64;
    }

    pub fn end(&self) -> Cursor {
        self.begins + self.kept.len() as u64
    }

    /// From the cursor on, so many bytes at most, and no half character.
    pub fn from(&self, cursor: Cursor, most: usize) -> Part {
        let start = cursor.clamp(self.begins, self.end());
        self.part(start, start.saturating_sub(cursor), most)
    }

    /// The last so many bytes behind the cursor: of much, the end says the most.
    pub fn latest(&self, cursor: Cursor, most: usize) -> Part {
        let start = cursor.clamp(self.begins, self.end()).max(self.end().saturating_sub(most as u64));
        self.part(start, start.saturating_sub(cursor), most)
    }

    fn part(&self, start: Cursor, lost: u64, most: usize) -> Part {
        let is_inside = |at: usize| self.kept.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        let mut first = (start - self.begins) as usize;
        if let Some(secret) = self.secret_at(first) {
            first = secret.end;
        }
        while is_inside(first) {
            first += 1;
        }
        let mut last = self.kept.len().min(first.saturating_add(most));
        while last > first && is_inside(last) {
            last -= 1;
        }
        if let Some(secret) = self.secret_at(last) {
            // The next part begins with it; where there is no room for it alone it is in this one.
            last = if secret.start > first { secret.start } else { secret.end };
        }
        let bytes: Vec<u8> = self.kept.range(first..last).copied().collect();
        let next = self.begins + last as u64;
        let text = self.secrets.redact(String::from_utf8_lossy(&bytes).into_owned());
        Part { text, next, lost, left: self.end() - next }
    }

    /// A secret that this place is in the middle of: its halves would not be known as one.
    fn secret_at(&self, at: usize) -> Option<Range<usize>> {
        let found = |secret: &(String, String)| {
            let bytes = secret.0.as_bytes();
            let from = (at + 1).saturating_sub(bytes.len());
            let to = at.min((self.kept.len() + 1).saturating_sub(bytes.len()));
            let begins =
                (from..to).find(|start| self.kept.range(*start..).zip(bytes).all(|(a, b)| a == b))?;
            Some(begins..begins + bytes.len())
        };
        self.secrets.hidden().iter().find_map(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reader_goes_on_where_it_was_and_hears_what_is_lost() {
        let mut output = Output::default();
        output.push("one\n");
        let first = output.from(0, 100);
        assert_eq!((first.text.as_str(), first.next, first.lost), ("one\n", 4, 0));
        output.push(&"x".repeat(MOST_KEPT));
        let second = output.from(first.next, 10);
        assert_eq!((second.text.as_str(), second.lost), ("xxxxxxxxxx", 0));
        output.push("end");
        assert_eq!(output.from(first.next, 10).lost, 3);
        let last = output.latest(first.next, 3);
        assert_eq!((last.text.as_str(), last.left), ("end", 0));
        assert_eq!(last.lost, MOST_KEPT as u64);
    }

    #[test]
    fn a_secret_is_never_in_two_parts() {
        let mut output = Output::without(Secrets::of([("API_TOKEN", "abcdefgh")]));
        ["..abcd", "efgh..ab", "cd"].iter().for_each(|text| output.push(text));
        for most in 1..14 {
            let (mut whole, mut cursor) = (String::new(), 0);
            while cursor < output.end() {
                let part = output.from(cursor, most);
                assert!(part.next > cursor);
                whole.push_str(&part.text);
                cursor = part.next;
            }
            assert_eq!(whole, "..[API_TOKEN redacted]..abcd", "{most}");
            assert!(!output.from(5, 3).text.contains(['f', 'g', 'h']));
        }
    }

    proptest! {
        #[test]
        fn parts_put_together_are_the_whole(texts in prop::collection::vec("[a-zä€😀]{0,9}", 0..20), most in 4usize..9) {
            let mut output = Output::default();
            texts.iter().for_each(|text| output.push(text));
            let (mut whole, mut cursor) = (String::new(), 0);
            loop {
                let part = output.from(cursor, most);
                if part.text.is_empty() {
                    prop_assert_eq!(part.left, 0);
                    break;
                }
                whole.push_str(&part.text);
                cursor = part.next;
            }
            prop_assert_eq!(whole, texts.concat());
        }
    }
}
