//! What a program printed, as far back as there is room, under numbers that count every byte there ever was.

use std::collections::VecDeque;
use std::ops::Range;

use crate::secrets::{Secret, Secrets};
use crate::telling::budget::{Room, cut_as_data, written};

/// More is never kept of a session.
const MOST_KEPT: usize = 1024 * 1024;
/// So much is let go at once: looking for secrets where it is cut takes too long to be done at each line.
const BLOCK: usize = 64 * 1024;

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
pub fn fitting(room: Room, read: impl Fn(usize) -> Part) -> Part {
    let mut most = room.text;
    loop {
        let part = read(most);
        if most <= LEAST || room.holds(&part.text) {
            return part;
        }
        most = room.less(most, &part.text).max(LEAST);
    }
}

impl Output {
    /// One whose parts show none of these.
    pub fn without(secrets: Secrets) -> Output {
        Output { secrets, ..Output::default() }
    }

    pub fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // What is cut off unseen is let go in any case.
        let fits = &bytes[bytes.len().saturating_sub(MOST_KEPT + BLOCK)..];
        self.begins += (bytes.len() - fits.len()) as u64;
        self.kept.extend(fits);
        if self.kept.len() > MOST_KEPT {
            let over = self.kept.len() - (MOST_KEPT - BLOCK);
            // The rest of one that is cut here would not be known any more.
            let over = self.secret_at(over).map_or(over, |secret| secret.end);
            self.kept.drain(..over);
            self.begins += over as u64;
        }
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
        let unread = cursor.clamp(self.begins, self.end());
        let start = match self.end().saturating_sub(most as u64) {
            cut if cut > unread => self.line_near(cut),
            _ => unread,
        };
        self.part(start, start.saturating_sub(cursor), most)
    }

    /// Where the next line begins, unless most of what is behind this place would be left out with the half of one.
    fn line_near(&self, cut: Cursor) -> Cursor {
        // The one before it says whether a line begins here.
        let at = ((cut - self.begins) as usize).saturating_sub(1);
        let near = at + (self.kept.len() - at) / 2;
        let end = self.kept.range(at..near).position(|byte| *byte == b'\n');
        end.map_or(cut, |end| self.begins + (at + end + 1) as u64)
    }

    /// The lines from the cursor on that have this in them, in any case, as many as fit also as data. A first one that
    /// does not fit is cut, or whoever goes on would never come further.
    pub fn lines_with(&self, wanted: &str, cursor: Cursor, room: Room) -> Part {
        let wanted = wanted.to_lowercase();
        let start = cursor.clamp(self.begins, self.end());
        let mut at = (start - self.begins) as usize;
        at = self.secret_at(at).map_or(at, |secret| secret.end);
        let (mut text, mut as_data) = (String::new(), 0);
        while at < self.kept.len() {
            let end = self.end_of_line(at);
            let bytes: Vec<u8> = self.kept.range(at..end).copied().collect();
            let line = self.secrets.redact(String::from_utf8_lossy(&bytes).into_owned());
            if line.to_lowercase().contains(&wanted) {
                let with = (text.len() + line.len(), as_data + written(&line));
                if !text.is_empty() && (with.0 > room.text || with.1 > room.data) {
                    break;
                }
                let (kept, rest) = cut_as_data(line, room);
                text.push_str(&kept);
                text.push_str(if rest.is_some() { "…\n" } else { "" });
                as_data = with.1;
            }
            at = end;
        }
        Part {
            text,
            next: self.begins + at as u64,
            lost: start.saturating_sub(cursor),
            left: (self.kept.len() - at) as u64,
        }
    }

    /// Where the line ends that begins here. One that ends in the middle of a secret goes on: its halves would be shown.
    fn end_of_line(&self, from: usize) -> usize {
        let mut end = from;
        loop {
            let behind = self.kept.range(end..).position(|byte| *byte == b'\n');
            end = behind.map_or(self.kept.len(), |at| end + at + 1);
            match self.secret_at(end) {
                Some(secret) => end = secret.end,
                None => return end,
            }
        }
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
        let (before, behind) = (*self.kept.get(at.checked_sub(1)?)?, *self.kept.get(at)?);
        let found = |secret: &Secret| {
            let bytes = secret.value.as_bytes();
            // Most do not even have this letter, and all are asked at the end of every line.
            if !bytes.contains(&before) {
                return None;
            }
            let pairs = bytes.windows(2).enumerate().rev().filter(|(_, pair)| *pair == [before, behind]);
            let mut starts = pairs.filter_map(|(inside, _)| at.checked_sub(inside + 1));
            let begins = starts.find(|start| {
                let kept = self.kept.range(*start..);
                kept.len() >= bytes.len() && kept.zip(bytes).all(|(a, b)| a == b)
            })?;
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
        output.push(&"x".repeat(MOST_KEPT - 4));
        let second = output.from(first.next, 10);
        assert_eq!((second.text.as_str(), second.lost), ("xxxxxxxxxx", 0));
        output.push("y");
        let kept = (MOST_KEPT - BLOCK) as u64;
        let lost = output.end() - kept - first.next;
        assert_eq!(output.from(first.next, 10).lost, lost);
        output.push("end");
        assert_eq!(output.from(first.next, 10).lost, lost, "it goes in blocks");
        let last = output.latest(first.next, 3);
        assert_eq!((last.text.as_str(), last.left), ("end", 0));
        assert_eq!(last.lost, output.end() - 3 - first.next);
        output.push(&"z".repeat(3 * MOST_KEPT));
        assert_eq!(output.from(0, 10).lost, output.end() - kept, "of much at once no more is kept");
    }

    #[test]
    fn the_end_of_much_begins_with_a_line_unless_that_would_be_most_of_it() {
        let mut output = Output::default();
        output.push("first line\nsecond line\nthird line\n");
        let latest = |most| output.latest(0, most);
        assert_eq!((latest(25).text.as_str(), latest(25).lost), ("second line\nthird line\n", 10 + 1));
        assert_eq!(latest(23).text, "second line\nthird line\n", "a line begins there");
        assert_eq!(latest(13).text, "third line\n");
        assert_eq!(latest(6).text, " line\n", "nothing would be left");
        assert_eq!(output.latest(3, 100).text, "st line\nsecond line\nthird line\n", "nothing is cut");
        let mut long = Output::default();
        long.push(&format!("{}\nend\n", "x".repeat(1_000)));
        assert_eq!(long.latest(0, 100).text.len(), 100, "the half of a long line says more than none");
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

    #[test]
    fn what_goes_for_want_of_room_leaves_no_rest_of_a_secret() {
        let mut output = Output::without(Secrets::of([("API_TOKEN", "abcdefgh")]));
        output.push(&"abcdefgh".repeat(MOST_KEPT / 8));
        output.push(&".".repeat(BLOCK + 3));
        let kept = output.from(0, 40);
        assert!(kept.text.starts_with("[API_TOKEN redacted]"));
        assert_eq!((output.end(), kept.lost), ((MOST_KEPT + BLOCK) as u64 + 3, 2 * BLOCK as u64 + 8));
        output.push(&("abcdefgh".repeat(MOST_KEPT / 4) + "..."));
        assert!(output.from(0, 40).text.starts_with("[API_TOKEN redacted]"), "all of it at once");
    }

    #[test]
    fn lines_are_found_by_a_part_of_them_from_a_cursor_on() {
        let mut output = Output::without(Secrets::of([("SIGNING_KEY", "begin\nmiddle\nend")]));
        output.push("warn: one\ninfo: two\nWARN: three\nkey begin\nmiddle\nend of it\nwarn: f");
        let found =
            |wanted: &str, from: Cursor, room: usize| output.lines_with(wanted, from, Room::of_each(room));
        let all = found("warn", 0, 1_000);
        assert_eq!((all.text.as_str(), all.left), ("warn: one\nWARN: three\nwarn: f", 0));
        let first = found("warn", 0, 14);
        assert_eq!((first.text.as_str(), first.next), ("warn: one\n", 20));
        assert_eq!(found("warn", first.next, 1_000).text, "WARN: three\nwarn: f");
        assert_eq!(found("warn", 0, 6).text, "warn…\n", "there is always something");
        assert_eq!(found("", 40, 1_000).text, " of it\nwarn: f", "from the middle of a secret on");
        assert_eq!(found("middle", 0, 1_000).text, "", "of a secret no part is found");
        assert_eq!(found("key", 0, 1_000).text, "key [SIGNING_KEY redacted] of it\n");
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
