//! Numbers: `42`, `1_000`, `0xff`, `0b1010`, `017` (octal), `1.5`, `1e-3`.

use num_bigint::BigInt;
use num_traits::Num;

use super::{Lexer, TokenKind, is_name_part};

/// More digits than the widest type has in binary. Reading a decimal number takes time with the square of its length.
const MOST_DIGITS: usize = 256;

impl Lexer<'_> {
    pub(super) fn number(&mut self) -> TokenKind {
        let start = self.at;
        let radix = match (self.byte(0), self.byte(1)) {
            (b'0', b'x' | b'X') => 16,
            (b'0', b'b' | b'B') => 2,
            _ => 10,
        };
        if radix != 10 {
            self.at += 2;
            self.skip_while(is_name_part);
            return self.integer(start, start + 2, radix);
        }
        self.skip_digits();
        let mut float = false;
        if self.byte(0) == b'.' && (self.byte(1).is_ascii_digit() || self.byte(1) == b'_') {
            float = true;
            self.at += 1;
            self.skip_digits();
        } else if self.byte(0) == b'.' && !is_name_start(self.byte(1)) {
            self.at += 1;
            let span = self.span(start);
            self.tell("E1016", span, "a digit is missing behind the point", "write `1.0`, not `1.`");
            return TokenKind::Float(0.0);
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                float = true;
                self.at += 1 + sign;
                self.skip_digits();
            }
        }
        if is_name_start(self.byte(0)) {
            self.skip_while(is_name_part);
            return self.malformed(start);
        }
        if float { self.float(start) } else { self.decimal(start) }
    }

    fn skip_digits(&mut self) {
        self.skip_while(|character| character == '_' || character.is_ascii_digit());
    }

    fn malformed(&mut self, start: usize) -> TokenKind {
        let text = self.text[start..self.at].to_owned();
        let help = "numbers look like 42, 1_000, 0xff, 0b1010, 1.5 or 1e-3; names begin with a letter";
        let span = self.span(start);
        self.tell("E1010", span, format!("`{text}` is neither a number nor a name"), help);
        TokenKind::Int(BigInt::ZERO)
    }

    fn decimal(&mut self, start: usize) -> TokenKind {
        let octal = self.byte_at(start) == b'0' && self.at - start > 1;
        self.integer(start, start, if octal { 8 } else { 10 })
    }

    fn byte_at(&self, position: usize) -> u8 {
        self.text.as_bytes()[position]
    }

    fn integer(&mut self, start: usize, digits: usize, radix: u32) -> TokenKind {
        let text = &self.text[digits..self.at];
        let prefixed = digits > start;
        if self.underscores_are_wrong(start, digits, prefixed) {
            return TokenKind::Int(BigInt::ZERO);
        }
        let digits: String = text.chars().filter(|character| *character != '_').collect();
        if digits.len() > MOST_DIGITS {
            let span = self.span(start);
            self.tell("E1018", span, "this number is too large for every type", "the largest type is u256");
            return TokenKind::Int(BigInt::ZERO);
        }
        match BigInt::from_str_radix(&digits, radix) {
            Ok(number) => TokenKind::Int(number),
            Err(_) if radix == 8 => {
                let span = self.span(start);
                let help = "a number that begins with 0 is octal; leave the 0 out for a decimal one";
                self.tell("E1010", span, "an octal number has only the digits 0 to 7", help);
                TokenKind::Int(BigInt::ZERO)
            }
            Err(_) => self.malformed(start),
        }
    }

    fn float(&mut self, start: usize) -> TokenKind {
        if self.underscores_are_wrong(start, start, false) {
            return TokenKind::Float(0.0);
        }
        let digits: String =
            self.text[start..self.at].chars().filter(|character| *character != '_').collect();
        match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => TokenKind::Float(number),
            _ => {
                let span = self.span(start);
                self.tell(
                    "E1018",
                    span,
                    "this number is too large for a float",
                    "the largest is about 1.8e308",
                );
                TokenKind::Float(0.0)
            }
        }
    }

    /// Whether a `_` stands anywhere but between two digits.
    fn underscores_are_wrong(&mut self, start: usize, digits: usize, prefixed: bool) -> bool {
        let text = &self.text[digits..self.at];
        let wrong = UNDERSCORES.iter().find(|(_, _, pattern)| text.contains(pattern));
        let (code, message) = match wrong {
            Some((code, message, _)) => (*code, *message),
            None if prefixed && text.starts_with('_') => ("E1012", "the digits begin with `_`"),
            None if text.ends_with('_') => ("E1013", "the number ends with `_`"),
            None => return false,
        };
        let span = self.span(start);
        self.tell(code, span, message, "`_` may only stand between two digits: 1_000");
        true
    }
}

const UNDERSCORES: &[(&str, &str, &str)] = &[
    ("E1011", "the number has two `_` in a row", "__"),
    ("E1014", "a `_` stands before the point", "_."),
    ("E1015", "a `_` stands behind the point", "._"),
];

fn is_name_start(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic()
}
