//! From text to a tree: tokens, grammar, nothing about meaning.

pub mod ast;
pub mod lexer;
pub mod parser;
pub mod token;
