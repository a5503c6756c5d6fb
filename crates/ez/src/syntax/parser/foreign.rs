//! Words and habits of other languages: what is meant is told, and parsing goes on as if it had been written.

use super::{Diagnostic, Mark, Parser, TokenKind, Word};

/// Only where a statement begins and the rest of the line looks like one of these: they are good names otherwise.
const FOREIGN: &[(&str, Word)] = &[
    ("else", Word::Otherwise),
    ("elif", Word::Or),
    ("elseif", Word::Or),
    ("elsif", Word::Or),
    ("while", Word::AsLongAs),
    ("foreach", Word::ForEach),
    ("func", Word::Do),
    ("function", Word::Do),
    ("fun", Word::Do),
    ("fn", Word::Do),
    ("def", Word::Do),
    ("var", Word::Temp),
    ("let", Word::Temp),
    ("switch", Word::When),
    ("match", Word::When),
    ("case", Word::Is),
    ("defer", Word::Ensure),
];

/// How many tokens are looked at to find the end of a condition.
const FARTHEST: usize = 256;

impl Parser<'_> {
    /// Turns a foreign word into ours. `else if` becomes `or`.
    pub(super) fn translate(&mut self) {
        let otherwise_if = self.at_word(Word::Otherwise) && self.ahead(1).kind == TokenKind::Word(Word::If);
        if otherwise_if {
            self.tell_foreign("otherwise if", Word::Or);
            return self.replace_two(Word::Or);
        }
        let TokenKind::Name(name) = self.kind() else { return };
        let Some((text, meant)) = FOREIGN.iter().find(|(text, _)| *text == &**name) else { return };
        if *meant == Word::Otherwise && self.ahead(1).kind == TokenKind::Word(Word::If) {
            self.tell_foreign("else if", Word::Or);
            return self.replace_two(Word::Or);
        }
        if self.reads_as_word(*meant) {
            // A function inside of a function is the greater mistake, and told of.
            if *meant != Word::Do || self.depth == 0 {
                self.tell_foreign(text, *meant);
            }
            let at = self.at;
            self.tokens[at].kind = TokenKind::Word(*meant);
        }
    }

    /// Whether an item begins here whose first word is foreign.
    pub(super) fn at_foreign_item(&self) -> bool {
        let TokenKind::Name(name) = self.kind() else { return false };
        let found = FOREIGN.iter().find(|(text, _)| *text == &**name);
        found.is_some_and(|(_, meant)| matches!(meant, Word::Do | Word::Temp) && self.reads_as_word(*meant))
    }

    fn replace_two(&mut self, word: Word) {
        self.advance();
        let at = self.at;
        self.tokens[at].kind = TokenKind::Word(word);
    }

    fn tell_foreign(&mut self, text: &str, meant: Word) {
        let message = format!("there is no `{text}` in this language");
        let help = format!("write `{}`", meant.text());
        self.tell(Diagnostic::error("E2008", self.span(), message).help(help));
    }

    fn reads_as_word(&self, meant: Word) -> bool {
        let next = self.ahead(1);
        if next.begins_line {
            return false;
        }
        match (&next.kind, meant) {
            (TokenKind::Mark(Mark::LeftBrace), _) => true,
            (TokenKind::Name(_), _) => true,
            (_, Word::Do | Word::Temp | Word::Otherwise) => false,
            (TokenKind::Mark(Mark::LeftParenthesis), _) => self.parentheses_lead_to_brace(),
            (
                TokenKind::Mark(Mark::Bang) | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Text(_),
                _,
            ) => true,
            (TokenKind::Word(word), _) => matches!(word, Word::True | Word::False | Word::Range),
            _ => false,
        }
    }

    /// The next token opens a parenthesis.
    fn parentheses_lead_to_brace(&self) -> bool {
        let mut open = 0u32;
        for token in self.tokens.iter().skip(self.at + 1).take(FARTHEST) {
            match token.kind {
                TokenKind::Mark(Mark::LeftParenthesis) => open += 1,
                TokenKind::Mark(Mark::RightParenthesis) if open > 0 => open -= 1,
                TokenKind::Mark(Mark::LeftBrace) if open == 0 => return !token.begins_line,
                _ if open == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// What is meant most likely when this token stands where something else should.
    pub(super) fn usual_help(&self) -> Option<String> {
        let help = match self.kind() {
            TokenKind::Mark(Mark::Assign) => "`=` assigns; write `==` to compare",
            TokenKind::Mark(Mark::Ampersand) => NO_BITS,
            TokenKind::Mark(Mark::Semicolon) => "statements do not end with `;`",
            TokenKind::Mark(Mark::Colon) if self.ahead(1).kind == TokenKind::Mark(Mark::Assign) => {
                "a variable is declared with `temp x = 5`"
            }
            TokenKind::Word(Word::Or) => "`or` begins another branch of an `if`; the operator is `||`",
            TokenKind::Name(name) => {
                let operator = WORDS_FOR_OPERATORS.iter().find(|(text, _)| *text == &**name);
                if let Some((_, operator)) = operator {
                    return Some(format!("write `{operator}` for \"{name}\""));
                }
                let (_, word) = FOREIGN.iter().find(|(text, _)| *text == &**name)?;
                return Some(format!("this language has `{}` for `{name}`", word.text()));
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// `a and b`: the name that stands where an operator should. `None` if it is an ordinary name.
    pub(super) fn word_for_operator(&self) -> Option<&'static str> {
        let TokenKind::Name(name) = self.kind() else { return None };
        let (_, operator) = WORDS_FOR_OPERATORS.iter().find(|(text, _)| *text == &**name)?;
        let operand = matches!(
            self.ahead(1).kind,
            TokenKind::Name(_)
                | TokenKind::Int(_)
                | TokenKind::Float(_)
                | TokenKind::Text(_)
                | TokenKind::Mark(Mark::Bang)
                | TokenKind::Word(Word::True | Word::False)
        );
        (operand && !self.ahead(1).begins_line).then_some(*operator)
    }
}

pub(super) const NO_BITS: &str = "there are no operators on bits; write `&&` for \"and\"";

const WORDS_FOR_OPERATORS: &[(&str, &str)] = &[("and", "&&"), ("not", "!"), ("mod", "%"), ("equals", "==")];
