//! Text of others as it may be shown on a terminal: whatever it holds, it moves no cursor and changes no direction.
//!
//! It is for lines of our own that have names of clients, sessions and programs in them, not for what a program prints.

use std::borrow::Cow;

/// Letters that change the direction of the text after them, or are invisible marks of it.
const DIRECTIONS: [char; 12] = [
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];
/// Ends of lines and paragraphs that are no control characters.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// The text in one line: control characters, also ends of lines, and changes of direction are escaped.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter == '\t')
}

/// The same of a text of several lines.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| matches!(letter, '\t' | '\n'))
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let steers = |letter: char| {
        !is_kept(letter)
            && (letter.is_control() || DIRECTIONS.contains(&letter) || SEPARATORS.contains(&letter))
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match steers(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_steer_a_terminal_are_escaped() {
        for (text, line, lines) in [
            ("Ann Ärger 日本 😀\tx", "Ann Ärger 日本 😀\tx", "Ann Ärger 日本 😀\tx"),
            ("\x1b[31mred\x07", "\\u{1b}[31mred\\u{7}", "\\u{1b}[31mred\\u{7}"),
            ("a\r\nb", "a\\r\\nb", "a\\r\nb"),
            ("\u{9b}2J\x7f", "\\u{9b}2J\\u{7f}", "\\u{9b}2J\\u{7f}"),
            (
                "a\u{202e}b\u{2066}c\u{2028}",
                "a\\u{202e}b\\u{2066}c\\u{2028}",
                "a\\u{202e}b\\u{2066}c\\u{2028}",
            ),
        ] {
            assert_eq!((&*visible(text), &*visible_lines(text)), (line, lines));
        }
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
    }
}
