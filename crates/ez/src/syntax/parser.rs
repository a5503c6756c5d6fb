//! From tokens to the tree of a file.
//!
//! Newlines end nothing: a statement ends where its expression cannot go on. So that `x = a` and a line that begins with a
//! parenthesis or bracket are not read as one call, these (and `++`, `--`, the braces of a struct literal, the type of a
//! declaration and the value of a `return`) must stand on the line of what they belong to. Between parentheses or brackets
//! no statement can begin, so there a line ends nothing at all.
//! After a mistake parsing goes on at the next statement, so each statement is told of once at most.

mod expressions;
mod foreign;
mod items;
mod postfix;
mod statements;
mod types;

use std::rc::Rc;

use super::ast::{self, Name};
use super::lexer;
use super::token::{Mark, Token, TokenKind, Word};
use crate::diagnostic::{Diagnostic, Diagnostics, MOST_ERRORS};
use crate::source::{FileId, Span};

/// The tree holds what could be understood; it is whole if nothing was told.
pub fn parse_file(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> ast::File {
    let before = diagnostics.all.len();
    let tree = Parser::new(file, text, diagnostics).file(file);
    // The lexer told all of its mistakes first.
    diagnostics.all[before..].sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    tree
}

/// One statement or expression, such as a debugger is asked to evaluate. All of the text must belong to it.
pub fn parse_fragment(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<ast::Statement> {
    let before = diagnostics.all.len();
    let mut parser = Parser::new(file, text, diagnostics);
    let statement = parser.fragment().ok();
    if diagnostics.all.len() > before { None } else { statement }
}

/// How deep blocks, parentheses, types and the like may be inside of each other: each level costs the stack some calls.
const DEEPEST: u32 = 100;

/// How high the tree of an expression may grow. A long chain of operators is a high tree without any nesting, and
/// everything that walks it does so by calling itself.
const HIGHEST: u32 = 256;

/// Parsing cannot go on here, and why was told.
#[derive(Debug)]
struct Told;

type Parsed<T> = Result<T, Told>;

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    /// Where the statement or item begins that is being parsed.
    first: usize,
    depth: u32,
    /// Of the expression that was parsed last.
    height: u32,
    /// What is around the expression that is being parsed.
    around: Around,
    /// The column at which the item begins that is being parsed.
    item_column: u32,
    columns: Columns<'a>,
    semicolons_told: bool,
    /// A brace that is missing was told of: all blocks around it end without another word.
    brace_told: bool,
    errors: usize,
    diagnostics: &'a mut Diagnostics,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Another statement may follow on the next line.
    Statement,
    /// A body follows, so `{}` behind a name is no struct without values.
    Header,
    /// Parentheses or brackets, in which lines do not matter.
    Brackets,
}

/// Tells columns from offsets.
struct Columns<'a>(&'a str);

impl Columns<'_> {
    fn of(&self, span: Span) -> u32 {
        let before = self.0.get(..span.start as usize).unwrap_or_default();
        (before.len() - before.rfind('\n').map_or(0, |newline| newline + 1)) as u32
    }
}

impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a str, diagnostics: &'a mut Diagnostics) -> Self {
        let tokens = lexer::tokens(file, text, diagnostics);
        Self {
            tokens,
            at: 0,
            first: 0,
            depth: 0,
            height: 0,
            around: Around::Statement,
            item_column: 0,
            columns: Columns(text),
            semicolons_told: false,
            brace_told: false,
            errors: 0,
            diagnostics,
        }
    }

    /// The last token is the end, which is never passed.
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> &TokenKind {
        &self.token().kind
    }

    fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// Of the token before this one.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn at_end(&self) -> bool {
        *self.kind() == TokenKind::End
    }

    fn at_mark(&self, mark: Mark) -> bool {
        *self.kind() == TokenKind::Mark(mark)
    }

    fn at_word(&self, word: Word) -> bool {
        *self.kind() == TokenKind::Word(word)
    }

    fn advance(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    fn take_mark(&mut self, mark: Mark) -> bool {
        let found = self.at_mark(mark);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: Word) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn tell(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        match self.errors <= MOST_ERRORS {
            true => self.diagnostics.push(diagnostic),
            false => self.diagnostics.left_out += 1,
        }
    }

    /// Tells what should be here. Nothing more is said about what the lexer has told of.
    fn expected(&mut self, code: &'static str, what: &str, help: Option<&str>) -> Told {
        if *self.kind() == TokenKind::Wrong {
            return Told;
        }
        // What is missing is missing where the line before ends, not where the next thing begins.
        let goes_on = self.at > self.first && (self.token().begins_line || self.at_end());
        let (span, found, usual) = if goes_on {
            let end = self.last_span().end;
            let found = if self.token().begins_line { "the end of the line" } else { "the end" };
            (Span { start: end, ..self.last_span() }, found.to_owned(), None)
        } else {
            (self.span(), self.kind().describe(), self.usual_help())
        };
        let message = format!("expected {what}, found {found}");
        let mut diagnostic = Diagnostic::error(code, span, message).label(format!("expected {what}"));
        diagnostic.help = help.map(str::to_owned).or(usual);
        self.tell(diagnostic);
        Told
    }

    fn expect_mark(&mut self, mark: Mark, place: &str) -> Parsed<Span> {
        self.expect_mark_or_help(mark, place, None)
    }

    fn expect_mark_or_help(&mut self, mark: Mark, place: &str, help: Option<&str>) -> Parsed<Span> {
        let span = self.span();
        if self.take_mark(mark) {
            return Ok(span);
        }
        Err(self.expected("E2001", &format!("`{}` {place}", mark.text()), help))
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let span = self.span();
        let text = match self.kind() {
            TokenKind::Name(text) => Rc::clone(text),
            TokenKind::Word(word) => {
                let message = format!("expected {what}, but `{}` is a word of the language", word.text());
                let diagnostic = Diagnostic::error("E2004", span, message).help("choose another name");
                self.tell(diagnostic);
                return Err(Told);
            }
            _ => return Err(self.expected("E2003", what, None)),
        };
        self.advance();
        Ok(Name { text, span })
    }

    /// One level deeper, as long as the stack may bear it.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            let message = "too many things are inside of each other here";
            let help = "use variables for parts of the expression, or functions for inner blocks";
            self.tell(Diagnostic::error("E2015", self.span(), message).help(help));
            return Err(Told);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// An expression was put above others, the highest of which has this height.
    fn grow(&mut self, below: u32, span: Span) -> Parsed<()> {
        self.height = below + 1;
        if self.height > HIGHEST {
            let help = "use variables for parts of it";
            self.tell(Diagnostic::error("E2015", span, "this expression is too long").help(help));
            return Err(Told);
        }
        Ok(())
    }

    fn inside<T>(&mut self, around: Around, parse: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.around, around);
        let parsed = parse(self);
        self.around = before;
        parsed
    }

    /// Told once: who writes one writes many.
    fn skip_semicolons(&mut self) {
        while self.at_mark(Mark::Semicolon) {
            if !self.semicolons_told {
                self.semicolons_told = true;
                let message = "statements do not end with `;`";
                self.tell(Diagnostic::error("E2007", self.span(), message).help("leave out every `;`"));
            }
            self.advance();
        }
    }

    /// Passes a pair of brackets with all that is in it, or a single token.
    fn skip_group(&mut self) {
        let mut open = 0u32;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Mark(Mark::LeftBrace | Mark::LeftParenthesis | Mark::LeftBracket) => open += 1,
                TokenKind::Mark(Mark::RightBrace | Mark::RightParenthesis | Mark::RightBracket) => {
                    open = open.saturating_sub(1);
                }
                _ => {}
            }
            self.advance();
            if open == 0 || self.missing_brace_shows() {
                return;
            }
        }
    }

    /// Only a brace that is missing explains an item that begins where the one around it does.
    fn missing_brace_shows(&self) -> bool {
        let token = self.token();
        let item = matches!(token.kind, TokenKind::Word(Word::Do | Word::Private | Word::Import));
        item && token.begins_line && self.columns.of(token.span) <= self.item_column
    }
}

#[cfg(test)]
mod tests;
