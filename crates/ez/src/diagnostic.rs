//! What is wrong with a program, and how it is told: code, place, source line, caret, help.

pub mod render;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::source::{FileId, Sources, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// `E3001`, `W1001`, `PANIC`.
    pub code: &'static str,
    pub message: String,
    /// `None` if it is about no place, such as a missing file.
    pub span: Option<Span>,
    /// What stands behind the caret.
    pub label: Cow<'static, str>,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: Some(span),
            label: Cow::Borrowed(""),
            help: None,
        }
    }

    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = label.into();
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Of one file. Beyond that nobody reads on.
pub const MOST_ERRORS: usize = 50;

/// In the order in which they were found.
#[derive(Debug, Default)]
pub struct Diagnostics {
    pub all: Vec<Diagnostic>,
    /// How many errors are not among them, since there are too many.
    pub left_out: usize,
}

impl Diagnostics {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }

    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning)
    }

    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Keeps the first errors of each file.
    pub fn leave_out_most(&mut self) {
        let mut kept: HashMap<Option<FileId>, usize> = HashMap::new();
        let before = self.all.len();
        self.all.retain(|diagnostic| {
            let count = kept.entry(diagnostic.span.map(|span| span.file)).or_default();
            *count += usize::from(diagnostic.severity == Severity::Error);
            diagnostic.severity == Severity::Warning || *count <= MOST_ERRORS
        });
        self.left_out += before - self.all.len();
    }

    /// Every one in its frame, and the summary. Ends with a newline; empty if there is nothing.
    pub fn render(&self, sources: &Sources, colour: Colour) -> String {
        render::all(self, sources, colour)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Always,
    Never,
}
