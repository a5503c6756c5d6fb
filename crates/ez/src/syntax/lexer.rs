//! From text to tokens, in one pass; whatever the text is, there are tokens and they lie inside of it.
//!
//! Comments and spaces are left out. A literal that is wrong is told and becomes the nearest thing that is right, or, if it
//! does not end, one that the parser says nothing about, so that nobody complains about it once more.

mod numbers;
mod strings;

use std::rc::Rc;

use super::token::{MARKS, Mark, Token, TokenKind, WORDS};
use crate::diagnostic::{Diagnostic, Diagnostics, MOST_ERRORS};
use crate::source::{FileId, Span};

/// The last token is always [`TokenKind::End`].
pub fn tokens(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let mut lexer = Lexer { file, text, at: start, begins_line: true, templates: 0, errors: 0, diagnostics };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space();
        let token = lexer.token(Quote::Plain);
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return tokens;
        }
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    /// Always between two characters.
    at: usize,
    begins_line: bool,
    /// How many `${` are open.
    templates: u32,
    errors: usize,
    diagnostics: &'a mut Diagnostics,
}

/// How a string inside of `${}` may be quoted: escapes of the outer string were there first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    /// `"`
    Plain,
    /// `"` or `\"`
    Escaped,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The byte `ahead` of here; 0 at the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn tell(&mut self, code: &'static str, span: Span, message: impl Into<String>, help: &'static str) {
        self.errors += 1;
        if self.errors > MOST_ERRORS {
            self.diagnostics.left_out += 1;
            return;
        }
        let diagnostic = Diagnostic::error(code, span, message);
        self.diagnostics.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    fn skip_space(&mut self) {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.begins_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.byte(1) == b'/' => self.at += line_length(self.rest()),
                b'/' if self.byte(1) == b'*' => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let start = self.at;
        match self.rest()[2..].find("*/") {
            Some(length) => {
                self.begins_line |= self.rest()[2..2 + length].contains('\n');
                self.at += length + 4;
            }
            None => {
                self.at = start + 2;
                let span = self.span(start);
                self.at = self.text.len();
                self.tell("E1003", span, "this comment never ends", "close it with `*/`");
            }
        }
    }

    /// Spaces have been skipped.
    fn token(&mut self, quote: Quote) -> Token {
        let start = self.at;
        let begins_line = std::mem::replace(&mut self.begins_line, false);
        let kind = self.kind(quote);
        Token { kind, span: self.span(start), begins_line }
    }

    fn kind(&mut self, quote: Quote) -> TokenKind {
        let start = self.at;
        match self.peek() {
            None => TokenKind::End,
            Some('"') => self.string("\""),
            Some('\\') if quote == Quote::Escaped && self.byte(1) == b'"' => self.string("\\\""),
            Some('`') => self.raw_string(),
            Some('\'') => self.character(),
            Some('0'..='9') => self.number(),
            Some('_' | 'a'..='z' | 'A'..='Z') => self.word(),
            Some(_) => match self.mark() {
                Some(mark) => TokenKind::Mark(mark),
                None => self.illegal(start),
            },
        }
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        self.skip_while(is_name_part);
        let text = &self.text[start..self.at];
        match WORDS.iter().find(|(word, _)| *word == text) {
            Some((_, word)) => TokenKind::Word(*word),
            None => TokenKind::Name(Rc::from(text)),
        }
    }

    fn mark(&mut self) -> Option<Mark> {
        let rest = self.rest();
        let found = MARKS.iter().find(|(text, mark)| {
            // `!inside` is a negated name.
            rest.starts_with(text) && !(*mark == Mark::NotIn && rest[text.len()..].starts_with(is_name_part))
        });
        let (text, mark) = found?;
        self.at += text.len();
        Some(*mark)
    }

    /// Letters that belong together are one mistake, not one each.
    fn illegal(&mut self, start: usize) -> TokenKind {
        let first = self.next().unwrap_or_default();
        if first.is_alphabetic() {
            self.skip_while(|letter| is_name_part(letter) || letter.is_alphanumeric());
        }
        let text = self.text[start..self.at].escape_debug().to_string();
        let span = self.span(start);
        match first {
            '|' => {
                self.tell("E1002", span, "a single `|` means nothing", "write `||` for \"or\"");
            }
            _ => {
                let help = ILLEGAL.iter().find(|(characters, _)| characters.contains(first));
                let help = match help {
                    Some((_, help)) => help,
                    None if first.is_alphabetic() => "names are made of the letters a to z, digits and `_`",
                    None => "",
                };
                self.tell("E1001", span, format!("`{text}` is not part of the language"), help);
            }
        }
        TokenKind::Wrong
    }
}

/// What people try, and what helps.
const ILLEGAL: &[(&str, &str)] = &[
    ("?", "there is no `?:`; use `if` and `otherwise`"),
    ("^~", "there are no operators on bits"),
    ("“”„«»", "strings are written in plain quotes: \"text\""),
    ("‘’", "characters are written in plain quotes: 'x'"),
    ("\\", "a backslash means something only inside of strings and characters"),
    ("$", "`${}` means something only inside of strings"),
];

fn is_name_part(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}

/// How many bytes there are before the end of the line.
fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
