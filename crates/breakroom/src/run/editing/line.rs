//! The line that is being typed: its text, the cursor, what was typed before, and a search in that.
//!
//! Keys go in and what became of them comes out; nothing is read or drawn here.

use super::key::{Key, Keyboard};

/// More lines than these are not remembered.
const MOST_REMEMBERED: usize = 1000;

#[derive(Default)]
pub struct Line {
    keyboard: Keyboard,
    text: Vec<char>,
    cursor: usize,
    history: Vec<String>,
    /// Which of the history is shown, and what was typed before it was looked into.
    recalled: Option<(usize, Vec<char>)>,
    search: Option<Search>,
}

struct Search {
    wanted: String,
    /// Where it was found.
    found: Option<usize>,
    before: Vec<char>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It looks different now, or may.
    Changed,
    Entered(String),
    /// Ctrl-D in an empty line.
    Ended,
    /// Several words fit what is typed.
    Choices(Vec<String>),
    /// The screen is to be cleared.
    Cleared,
}

impl Line {
    /// Takes one byte of what the terminal sends; `None` if the key is not complete. `words` are what the first word may be.
    pub fn feed(&mut self, byte: u8, words: &[&str]) -> Option<Outcome> {
        let key = self.keyboard.feed(byte)?;
        if self.search.is_some()
            && let Some(outcome) = self.search_on(key)
        {
            return Some(outcome);
        }
        Some(self.apply(key, words))
    }

    pub fn clear(&mut self) {
        (self.text, self.cursor, self.recalled, self.search) = (Vec::new(), 0, None, None);
    }

    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// What is shown behind the prompt in so many columns, and in which of them the cursor is.
    pub fn visible(&self, columns: usize) -> (String, usize) {
        let before = match &self.search {
            Some(search) => format!("(search: {}) ", search.wanted),
            None => String::new(),
        };
        let used = before.chars().count();
        let room = columns.saturating_sub(used).max(8);
        let mut start = 0;
        while width(&self.text[start..self.cursor]) >= room {
            start += 1;
        }
        let mut end = self.cursor;
        while end < self.text.len() && width(&self.text[start..=end]) < room {
            end += 1;
        }
        let shown: String = self.text[start..end].iter().collect();
        (format!("{before}{shown}"), used + width(&self.text[start..self.cursor]))
    }

    fn apply(&mut self, key: Key, words: &[&str]) -> Outcome {
        match key {
            Key::Letter(letter) => {
                self.text.insert(self.cursor, letter);
                self.cursor += 1;
            }
            Key::Enter => return self.enter(),
            Key::End if self.text.is_empty() => return Outcome::Ended,
            Key::End | Key::Delete if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::WordLeft => self.cursor = self.word_before(),
            Key::WordRight => self.cursor = self.word_behind(),
            Key::Home => self.cursor = 0,
            Key::LineEnd => self.cursor = self.text.len(),
            Key::CutToEnd => self.text.truncate(self.cursor),
            Key::CutToHome => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            Key::CutWord => {
                let start = self.word_before();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            Key::Up => self.recall(-1),
            Key::Down => self.recall(1),
            Key::Search => {
                let before = self.text.clone();
                self.search = Some(Search { wanted: String::new(), found: None, before });
            }
            Key::Complete => return self.complete(words),
            Key::ClearScreen => return Outcome::Cleared,
            Key::End | Key::Delete | Key::Backspace | Key::Cancel | Key::Other => {}
        }
        Outcome::Changed
    }

    fn enter(&mut self) -> Outcome {
        let text = self.text();
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            if self.history.len() == MOST_REMEMBERED {
                self.history.remove(0);
            }
            self.history.push(text.clone());
        }
        self.clear();
        Outcome::Entered(text)
    }

    /// The line before or after the one that is shown.
    fn recall(&mut self, by: isize) {
        let (at, typed) = match self.recalled.take() {
            Some((at, typed)) => (at, typed),
            None => (self.history.len(), self.text.clone()),
        };
        let next = at.saturating_add_signed(by).min(self.history.len());
        self.text = match self.history.get(next) {
            Some(line) => line.chars().collect(),
            None => typed.clone(),
        };
        self.cursor = self.text.len();
        self.recalled = (next < self.history.len()).then_some((next, typed));
    }

    /// `None` if the key ends the search and means something else as well.
    fn search_on(&mut self, key: Key) -> Option<Outcome> {
        let mut search = self.search.take()?;
        let from = match key {
            Key::Letter(letter) => {
                search.wanted.push(letter);
                search.found.map_or(self.history.len(), |found| found + 1)
            }
            Key::Backspace => {
                search.wanted.pop();
                self.history.len()
            }
            Key::Search => search.found.unwrap_or(self.history.len()),
            Key::Cancel => {
                self.text = search.before;
                self.cursor = self.text.len();
                return Some(Outcome::Changed);
            }
            _ => return None,
        };
        let older = self.history.get(..from).unwrap_or_default();
        let found = older.iter().rposition(|line| line.contains(&search.wanted));
        if let Some(found) = found.filter(|_| !search.wanted.is_empty()) {
            search.found = Some(found);
            self.text = self.history[found].chars().collect();
            self.cursor = self.text.len();
        }
        self.search = Some(search);
        Some(Outcome::Changed)
    }

    fn complete(&mut self, words: &[&str]) -> Outcome {
        let begun: String = self.text[..self.cursor].iter().collect();
        let fitting: Vec<&str> = words.iter().copied().filter(|word| word.starts_with(&begun)).collect();
        let common = match fitting.as_slice() {
            _ if begun.is_empty() => return Outcome::Changed,
            [] => return Outcome::Changed,
            [only] => format!("{only} "),
            [first, rest @ ..] => {
                let fits =
                    |length: &usize| rest.iter().all(|word| word.get(..*length) == first.get(..*length));
                let length = (0..=first.len()).rev().find(fits).unwrap_or(0);
                first[..length].to_owned()
            }
        };
        if common == begun {
            return Outcome::Choices(fitting.into_iter().map(str::to_owned).collect());
        }
        self.text.splice(..self.cursor, common.chars());
        self.cursor = common.chars().count();
        Outcome::Changed
    }

    fn word_before(&self) -> usize {
        let before = self.text[..self.cursor].iter();
        let blanks = before.clone().rev().take_while(|letter| letter.is_whitespace()).count();
        let word = before.rev().skip(blanks).take_while(|letter| !letter.is_whitespace()).count();
        self.cursor - blanks - word
    }

    fn word_behind(&self) -> usize {
        let behind = self.text[self.cursor..].iter();
        let blanks = behind.clone().take_while(|letter| letter.is_whitespace()).count();
        let word = behind.skip(blanks).take_while(|letter| !letter.is_whitespace()).count();
        self.cursor + blanks + word
    }
}

/// In how many columns a terminal shows it: letters of East Asia and pictures take two.
fn width(letters: &[char]) -> usize {
    let wide = |letter: &char| {
        matches!(*letter as u32, 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
            | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
    };
    letters.len() + letters.iter().filter(|letter| wide(letter)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["thread", "threads", "print", "globals"];

    fn typed(line: &mut Line, keys: &str) -> Vec<Outcome> {
        let outcomes = keys.bytes().filter_map(|byte| line.feed(byte, &WORDS));
        outcomes.filter(|outcome| *outcome != Outcome::Changed).collect()
    }

    #[test]
    fn a_line_is_edited_where_the_cursor_is() {
        for (keys, text) in [
            ("ab", "ab"),
            ("ab\x1b[Dx", "axb"),
            ("ab\x01x\x05y", "xaby"),
            ("ab\x7f", "a"),
            ("ab\x01\x1b[3~", "b"),
            ("one two\x17x", "one x"),
            ("one two\x1bb\x0b", "one "),
            ("one two\x1bb\x15", "two"),
            ("äö\x7fü", "äü"),
            ("a\x1b[Hb\x1bOFc", "bac"),
            ("a\x1b[99~b", "ab"),
        ] {
            let mut line = Line::default();
            typed(&mut line, keys);
            assert_eq!(line.text(), text, "{keys:?}");
        }
    }

    #[test]
    fn what_was_typed_before_comes_back() {
        let mut line = Line::default();
        typed(&mut line, "first\rsecond\rsecond\r");
        typed(&mut line, "new\x1b[A");
        assert_eq!(line.text(), "second");
        typed(&mut line, "\x1b[A");
        assert_eq!(line.text(), "first", "the same line twice is one");
        typed(&mut line, "\x1b[A\x1b[B\x1b[B");
        assert_eq!(line.text(), "new", "behind the latest is what was being typed");
        assert_eq!(typed(&mut line, "\x15\x12fir\r"), [Outcome::Entered("first".to_owned())]);
        typed(&mut line, "x\x12sec\x07");
        assert_eq!(line.text(), "x", "a search can be given up");
    }

    #[test]
    fn the_first_word_is_completed_as_far_as_it_is_clear() {
        let mut line = Line::default();
        typed(&mut line, "pr\t");
        assert_eq!(line.text(), "print ");
        typed(&mut line, "\x15th\t");
        assert_eq!(line.text(), "thread");
        let choices = vec!["thread".to_owned(), "threads".to_owned()];
        assert_eq!(typed(&mut line, "\t"), [Outcome::Choices(choices)]);
        typed(&mut line, "\x15print th\t");
        assert_eq!(line.text(), "print th", "only a command is a word of ours");
    }

    #[test]
    fn a_long_line_is_shown_around_the_cursor() {
        let mut line = Line::default();
        typed(&mut line, "0123456789abcdef");
        assert_eq!(line.visible(10), ("789abcdef".to_owned(), 9));
        typed(&mut line, "\x01");
        assert_eq!(line.visible(10), ("012345678".to_owned(), 0));
        typed(&mut line, "\x15\x0b漢字");
        assert_eq!(line.visible(20), ("漢字".to_owned(), 4));
        assert_eq!(typed(&mut line, "\x15\x04"), [Outcome::Ended]);
    }
}
