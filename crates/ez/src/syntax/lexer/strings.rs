//! Strings with escapes and `${}`, raw strings, characters.

use std::rc::Rc;

use super::super::token::{Mark, Piece, Token};
use super::{Lexer, Quote, TokenKind, is_name_part, line_length};

/// Strings in `${}` in strings in `${}`: each level is a call deeper.
const DEEPEST_TEMPLATE: u32 = 16;

impl Lexer<'_> {
    /// `quote` is how it begins and ends.
    pub(super) fn string(&mut self, quote: &'static str) -> TokenKind {
        let start = self.at;
        self.at += quote.len();
        let mut pieces = Vec::new();
        let mut text = String::new();
        loop {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                break;
            }
            match self.peek() {
                None | Some('\n') => {
                    self.unclosed_string(start);
                    return TokenKind::Wrong;
                }
                Some('\\') => text.extend(self.escape(ESCAPES_OF_STRINGS, "E1006")),
                Some('$') if self.byte(1) == b'{' => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(Rc::from(std::mem::take(&mut text))));
                    }
                    match self.code() {
                        Some(code) => pieces.push(Piece::Code(code)),
                        None => return TokenKind::Wrong,
                    }
                }
                Some(_) => text.extend(self.next()),
            }
        }
        if pieces.is_empty() {
            return TokenKind::Text(Rc::from(text));
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(Rc::from(text)));
        }
        TokenKind::Template(pieces)
    }

    /// Told once for strings inside of each other: all of them end where the line does.
    fn unclosed_string(&mut self, start: usize) {
        if self.templates == 0 {
            let mut span = self.span(start);
            span.end = span.start + 1;
            let help = "close it with `\"`; a string of several lines is written in backticks";
            self.tell("E1004", span, "this string does not end on its line", help);
        }
    }

    /// What stands in `${}`. `None` if it does not end on its line.
    fn code(&mut self) -> Option<Vec<Token>> {
        let start = self.at;
        let told_before = self.errors;
        self.at += 2;
        if self.templates == DEEPEST_TEMPLATE {
            let span = self.span(start);
            self.at += line_length(self.rest());
            self.tell(
                "E1019",
                span,
                "too many strings inside of strings",
                "use variables for the inner ones",
            );
            return None;
        }
        self.templates += 1;
        let mut tokens = Vec::new();
        let mut braces = 0u32;
        let closed = loop {
            self.skip_space_in_code();
            if matches!(self.peek(), None | Some('\n')) {
                break false;
            }
            let mut token = self.token(Quote::Escaped);
            token.begins_line = false;
            match token.kind {
                TokenKind::Mark(Mark::LeftBrace) => braces += 1,
                TokenKind::Mark(Mark::RightBrace) if braces == 0 => {
                    let end = Token { kind: TokenKind::End, ..token };
                    tokens.push(end);
                    break true;
                }
                TokenKind::Mark(Mark::RightBrace) => braces -= 1,
                _ => {}
            }
            tokens.push(token);
        };
        self.templates -= 1;
        if closed {
            return Some(tokens);
        }
        if self.templates == 0 && self.errors == told_before {
            let mut span = self.span(start);
            span.end = span.start + 2;
            self.tell("E1004", span, "this `${` is not closed on its line", "close it with `}`");
        }
        None
    }

    /// The string ends on its line, so a comment in it does as well.
    fn skip_space_in_code(&mut self) {
        loop {
            let line = &self.rest()[..line_length(self.rest())];
            match self.byte(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.byte(1) == b'*' => match line[2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return self.endless_comment(line.len()),
                },
                b'/' if self.byte(1) == b'/' => return self.endless_comment(line.len()),
                _ => return,
            }
        }
    }

    fn endless_comment(&mut self, length: usize) {
        let start = self.at;
        self.at += 2;
        let span = self.span(start);
        self.at = start + length;
        let help = "write /* */ around it, or put it behind the string";
        self.tell("E1003", span, "this comment hides the end of the string", help);
    }

    /// `None` if there is no such escape, which is told.
    fn escape(&mut self, escapes: &[(char, char)], code: &'static str) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek().filter(|letter| *letter != '\n')?;
        self.next();
        let found = escapes.iter().find(|(written, _)| *written == letter);
        if found.is_none() {
            let span = self.span(start);
            let message = format!("there is no escape `\\{}`", letter.escape_debug());
            let help = match letter {
                '$' => "text with `${` in it is written in backticks",
                _ => "there are \\n \\t \\r \\\\ \\\" \\' \\0; write `\\\\` for a backslash",
            };
            self.tell(code, span, message, help);
        }
        found.map(|(_, meant)| *meant)
    }

    pub(super) fn raw_string(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        match self.rest().find('`') {
            Some(length) => {
                let text = Rc::from(&self.rest()[..length]);
                self.at += length + 1;
                TokenKind::Raw(text)
            }
            None => {
                let span = self.span(start);
                // The rest of the file is most likely no string.
                self.at += line_length(self.rest());
                self.tell("E1017", span, "this raw string never ends", "close it with a backtick");
                TokenKind::Raw(Rc::from(""))
            }
        }
    }

    pub(super) fn character(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        let character = match self.peek() {
            None | Some('\n') => return self.unclosed_character(start),
            Some('\'') => {
                self.at += 1;
                let span = self.span(start);
                self.tell(
                    "E1008",
                    span,
                    "there is no character between the quotes",
                    "a space is written ' '",
                );
                return TokenKind::Char('\0');
            }
            Some('\\') => self.escape(ESCAPES_OF_STRINGS, "E1007").unwrap_or('\0'),
            Some(character) => {
                self.next();
                character
            }
        };
        if self.byte(0) == b'\'' {
            self.at += 1;
            return TokenKind::Char(character);
        }
        let near = self.rest().bytes().take(LONGEST_WRONG_CHARACTER).take_while(|byte| *byte != b'\n');
        match near.into_iter().position(|byte| byte == b'\'') {
            Some(length) => {
                self.at += length + 1;
                let span = self.span(start);
                self.tell(
                    "E1009",
                    span,
                    "there are several characters between the quotes",
                    "a string is written \"text\"",
                );
                TokenKind::Char(character)
            }
            None => self.unclosed_character(start),
        }
    }

    fn unclosed_character(&mut self, start: usize) -> TokenKind {
        self.skip_while(is_name_part);
        let span = self.span(start);
        self.tell("E1005", span, "a quote is missing behind this character", "a character is written 'x'");
        TokenKind::Char('\0')
    }
}

/// A quote that is farther away belongs to something else. Also keeps the search linear.
const LONGEST_WRONG_CHARACTER: usize = 80;

const ESCAPES_OF_STRINGS: &[(char, char)] =
    &[('n', '\n'), ('t', '\t'), ('r', '\r'), ('\\', '\\'), ('"', '"'), ('\'', '\''), ('0', '\0')];
