//! The small notation in which a native says what it takes and gives.
//!
//! ```text
//! &[T], int, T... -> (T, error)
//! ```
//! `&` is a place that is changed, `?` behind a type may be left out, `...` comes any number of times.
//! `int` is any integer type, `float` any float, `number` either; `any` is anything that can be printed, `sized` what has
//! a length: text, array, map. `[T]` is an array, a fixed one too unless it is a place; `&[T, _]` is a place whose length
//! stays, so that a fixed array will do.
//! `T`, `K`, `V` stand for one type each, the same everywhere in the signature; one that only the result has is whatever
//! the place expects that it is assigned to. No arrow means no result.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signature {
    pub parameters: Vec<Parameter>,
    /// None, one, or the parts of a tuple.
    pub results: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub pattern: Pattern,
    pub passing: Passing,
    pub times: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    Value,
    /// A place that the native changes: a variable, element or field that is not constant.
    Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    Once,
    Optional,
    Many,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    Any,
    /// Text, array or map.
    Sized,
    Bool,
    /// Any integer type; as a result, `int`.
    Int,
    Float,
    /// An integer or a float; as a result, what the first `number` argument was, or a float if any of them was one.
    Number,
    Char,
    Byte,
    Text,
    Error,
    Variable(char),
    Array(Box<Pattern>),
    /// An array that keeps its length.
    Elements(Box<Pattern>),
    Map(Box<Pattern>, Box<Pattern>),
}

/// Each pattern that is one word.
const WORDS: &[(&str, Pattern)] = &[
    ("any", Pattern::Any),
    ("sized", Pattern::Sized),
    ("bool", Pattern::Bool),
    ("int", Pattern::Int),
    ("float", Pattern::Float),
    ("number", Pattern::Number),
    ("char", Pattern::Char),
    ("byte", Pattern::Byte),
    ("string", Pattern::Text),
    ("error", Pattern::Error),
];

impl Signature {
    /// What is wrong with the text otherwise. All texts are in our own tables, and a test parses every one of them.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text };
        let mut parameters = Vec::new();
        if !reader.rest.trim_start().is_empty() && !reader.follows("->") {
            loop {
                parameters.push(reader.parameter()?);
                if !reader.take(",") {
                    break;
                }
            }
        }
        let results = match reader.take("->") {
            true => reader.results()?,
            false => Vec::new(),
        };
        match reader.rest.trim_start() {
            "" => Ok(Self { parameters, results }),
            rest => Err(format!("`{rest}` is left over in the signature `{text}`")),
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn follows(&self, word: &str) -> bool {
        self.rest.trim_start().starts_with(word)
    }

    fn take(&mut self, word: &str) -> bool {
        match self.rest.trim_start().strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.take(word) {
            true => Ok(()),
            false => Err(format!("`{word}` is missing before `{}`", self.rest)),
        }
    }

    fn parameter(&mut self) -> Result<Parameter, String> {
        let passing = if self.take("&") { Passing::Place } else { Passing::Value };
        let pattern = self.pattern()?;
        let times = match () {
            () if self.take("...") => Times::Many,
            () if self.take("?") => Times::Optional,
            () => Times::Once,
        };
        Ok(Parameter { pattern, passing, times })
    }

    fn results(&mut self) -> Result<Vec<Pattern>, String> {
        if !self.take("(") {
            return Ok(vec![self.pattern()?]);
        }
        let mut results = vec![self.pattern()?];
        while self.take(",") {
            results.push(self.pattern()?);
        }
        self.expect(")")?;
        Ok(results)
    }

    fn pattern(&mut self) -> Result<Pattern, String> {
        if self.take("[") {
            let of = Box::new(self.pattern()?);
            let keeps_its_length = self.take(",");
            if keeps_its_length {
                self.expect("_")?;
            }
            self.expect("]")?;
            return Ok(if keeps_its_length { Pattern::Elements(of) } else { Pattern::Array(of) });
        }
        if self.take("map[") {
            let key = Box::new(self.pattern()?);
            self.expect(":")?;
            let value = Box::new(self.pattern()?);
            self.expect("]")?;
            return Ok(Pattern::Map(key, value));
        }
        let word = self.rest.trim_start();
        let word = &word[..word.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(word.len())];
        let pattern = match (WORDS.iter().find(|(name, _)| *name == word), word) {
            (Some((_, pattern)), _) => pattern.clone(),
            (None, "T" | "K" | "V") => Pattern::Variable(word.chars().next().unwrap_or('T')),
            (None, _) => return Err(format!("`{word}` is no pattern, before `{}`", self.rest)),
        };
        self.take(word);
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(pattern: Pattern) -> Parameter {
        Parameter { pattern, passing: Passing::Value, times: Times::Once }
    }

    #[test]
    fn a_signature_with_everything_is_read() {
        let variable = || Box::new(Pattern::Variable('T'));
        let read = Signature::parse("&[T], &[T, _], map[K:[V]], int?, T... -> (T, error)").unwrap();
        assert_eq!(
            read.parameters,
            [
                Parameter { passing: Passing::Place, ..value(Pattern::Array(variable())) },
                Parameter { passing: Passing::Place, ..value(Pattern::Elements(variable())) },
                value(Pattern::Map(
                    Box::new(Pattern::Variable('K')),
                    Box::new(Pattern::Array(Box::new(Pattern::Variable('V'))))
                )),
                Parameter { times: Times::Optional, ..value(Pattern::Int) },
                Parameter { times: Times::Many, ..value(Pattern::Variable('T')) },
            ]
        );
        assert_eq!(read.results, [Pattern::Variable('T'), Pattern::Error]);
    }

    #[test]
    fn a_signature_may_take_or_give_nothing() {
        let nothing = Signature { parameters: vec![], results: vec![] };
        assert_eq!(Signature::parse(""), Ok(nothing));
        let constant = Signature::parse("-> float").unwrap();
        assert_eq!((constant.parameters.len(), constant.results), (0, vec![Pattern::Float]));
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        for text in ["integer", "[T", "map[K]", "int ->", "int int", "-> (int", "[T, 3]", "int,"] {
            assert!(Signature::parse(text).is_err(), "{text}");
        }
    }
}
