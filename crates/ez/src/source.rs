//! The files of a program, and places in them.
//!
//! A place is a range of bytes; lines and columns are counted from 1, columns in bytes, as the language's tools do.

use std::path::{Path, PathBuf};
use std::rc::Rc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// From the byte at `start` to the one before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn to(self, last: Span) -> Span {
        Span { end: last.end.max(self.end), ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

#[derive(Debug)]
pub struct Source {
    /// Absolute, with symbolic links as the user wrote them.
    pub path: PathBuf,
    /// The path as it is told to the user.
    pub shown: String,
    pub text: Rc<str>,
    /// Where each line begins.
    lines: Vec<u32>,
}

impl Source {
    fn new(path: PathBuf, shown: String, text: Rc<str>) -> Self {
        let after_newlines =
            text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        let lines = std::iter::once(0).chain(after_newlines).collect();
        Self { path, shown, text, lines }
    }

    pub fn position(&self, offset: u32) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        Position { line: line as u32, column: offset - self.lines[line - 1] + 1 }
    }

    pub fn line_count(&self) -> u32 {
        self.lines.len() as u32
    }

    /// Without its line end; empty if there is no such line.
    pub fn line(&self, line: u32) -> &str {
        let index = line.saturating_sub(1) as usize;
        let Some(start) = self.lines.get(index) else { return "" };
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| *next as usize);
        self.text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    pub fn add(&mut self, path: PathBuf, text: impl Into<Rc<str>>) -> FileId {
        let shown = path.display().to_string();
        self.add_shown(path, shown, text)
    }

    pub fn add_shown(&mut self, path: PathBuf, shown: String, text: impl Into<Rc<str>>) -> FileId {
        self.files.push(Source::new(path, shown, text.into()));
        FileId(self.files.len() as u32 - 1)
    }

    pub fn get(&self, file: FileId) -> &Source {
        &self.files[file.0 as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().zip(0..).map(|(source, index)| (FileId(index), source))
    }

    pub fn find(&self, path: &Path) -> Option<FileId> {
        self.iter().find(|(_, source)| source.path == path).map(|(file, _)| file)
    }

    /// Where the span begins.
    pub fn position(&self, span: Span) -> Position {
        self.get(span.file).position(span.start)
    }
}
