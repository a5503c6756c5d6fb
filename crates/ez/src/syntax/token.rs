//! The smallest parts of a text: words, marks and literals, each with its place.

use std::rc::Rc;

use num_bigint::BigInt;

use crate::source::Span;

#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// Whether it is the first of its line. Newlines end nothing by themselves, but a parenthesis belongs to what stands
    /// before it only if both are on one line.
    pub begins_line: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    Name(Rc<str>),
    Word(Word),
    Mark(Mark),
    Int(BigInt),
    Float(f64),
    Char(char),
    /// `"..."` without `${}`.
    Text(Rc<str>),
    /// What stands between backticks.
    Raw(Rc<str>),
    Template(Vec<Piece>),
    /// Something that the lexer has complained about.
    Wrong,
    /// Behind the last token.
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(Rc<str>),
    /// What stands in `${}`. Its last token is [`TokenKind::End`], at the closing brace.
    Code(Vec<Token>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    AsLongAs,
    Break,
    Cast,
    Const,
    Continue,
    Default,
    Do,
    Ensure,
    Enum,
    False,
    For,
    ForEach,
    From,
    If,
    Import,
    In,
    Is,
    Loop,
    Module,
    New,
    Nil,
    NotIn,
    Or,
    Otherwise,
    Private,
    Range,
    Return,
    Struct,
    Temp,
    True,
    Underscore,
    Use,
    Using,
    When,
}

/// Every word that cannot be a name.
pub const WORDS: &[(&str, Word)] = &[
    ("as_long_as", Word::AsLongAs),
    ("break", Word::Break),
    ("cast", Word::Cast),
    ("const", Word::Const),
    ("continue", Word::Continue),
    ("default", Word::Default),
    ("do", Word::Do),
    ("ensure", Word::Ensure),
    ("enum", Word::Enum),
    ("false", Word::False),
    ("for", Word::For),
    ("for_each", Word::ForEach),
    ("from", Word::From),
    ("if", Word::If),
    ("import", Word::Import),
    ("in", Word::In),
    ("is", Word::Is),
    ("loop", Word::Loop),
    ("module", Word::Module),
    ("new", Word::New),
    ("nil", Word::Nil),
    ("not_in", Word::NotIn),
    ("or", Word::Or),
    ("otherwise", Word::Otherwise),
    ("private", Word::Private),
    ("range", Word::Range),
    ("return", Word::Return),
    ("struct", Word::Struct),
    ("temp", Word::Temp),
    ("true", Word::True),
    ("_", Word::Underscore),
    ("use", Word::Use),
    ("using", Word::Using),
    ("when", Word::When),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Ampersand,
    And,
    Arrow,
    Assign,
    At,
    Bang,
    Colon,
    Comma,
    Decrement,
    DivideAssign,
    Dot,
    Equal,
    Greater,
    GreaterOrEqual,
    Hash,
    Increment,
    LeftBrace,
    LeftBracket,
    LeftParenthesis,
    Less,
    LessOrEqual,
    Minus,
    MinusAssign,
    NotEqual,
    NotIn,
    Or,
    Percent,
    PercentAssign,
    Plus,
    PlusAssign,
    RightBrace,
    RightBracket,
    RightParenthesis,
    Semicolon,
    Slash,
    Star,
    TimesAssign,
}

/// Longer ones come before those they begin with.
pub const MARKS: &[(&str, Mark)] = &[
    ("!in", Mark::NotIn),
    ("&&", Mark::And),
    ("||", Mark::Or),
    ("==", Mark::Equal),
    ("!=", Mark::NotEqual),
    ("<=", Mark::LessOrEqual),
    (">=", Mark::GreaterOrEqual),
    ("->", Mark::Arrow),
    ("++", Mark::Increment),
    ("--", Mark::Decrement),
    ("+=", Mark::PlusAssign),
    ("-=", Mark::MinusAssign),
    ("*=", Mark::TimesAssign),
    ("/=", Mark::DivideAssign),
    ("%=", Mark::PercentAssign),
    ("=", Mark::Assign),
    ("+", Mark::Plus),
    ("-", Mark::Minus),
    ("!", Mark::Bang),
    ("*", Mark::Star),
    ("/", Mark::Slash),
    ("%", Mark::Percent),
    ("<", Mark::Less),
    (">", Mark::Greater),
    (",", Mark::Comma),
    (":", Mark::Colon),
    (";", Mark::Semicolon),
    ("(", Mark::LeftParenthesis),
    (")", Mark::RightParenthesis),
    ("{", Mark::LeftBrace),
    ("}", Mark::RightBrace),
    ("[", Mark::LeftBracket),
    ("]", Mark::RightBracket),
    (".", Mark::Dot),
    ("@", Mark::At),
    ("&", Mark::Ampersand),
    ("#", Mark::Hash),
];

impl Word {
    pub fn text(self) -> &'static str {
        WORDS.iter().find(|(_, word)| *word == self).map_or("", |(text, _)| text)
    }
}

impl Mark {
    pub fn text(self) -> &'static str {
        MARKS.iter().find(|(_, mark)| *mark == self).map_or("", |(text, _)| text)
    }
}

impl TokenKind {
    /// For a sentence such as "expected a name, found ...".
    pub fn describe(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Word(word) => format!("`{}`", word.text()),
            Self::Mark(mark) => format!("`{}`", mark.text()),
            Self::Int(_) | Self::Float(_) => "a number".to_owned(),
            Self::Char(_) => "a character".to_owned(),
            Self::Text(_) | Self::Raw(_) | Self::Template(_) => "a string".to_owned(),
            Self::Wrong => "something that is not part of the language".to_owned(),
            Self::End => "the end".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_mark_is_found_by_its_text() {
        for (text, word) in WORDS {
            assert_eq!(word.text(), *text);
        }
        for (index, (text, mark)) in MARKS.iter().enumerate() {
            assert_eq!(mark.text(), *text);
            let hidden = MARKS[..index].iter().find(|(earlier, _)| text.starts_with(earlier));
            assert!(hidden.is_none(), "{text} is never found because of {hidden:?}");
        }
    }
}
