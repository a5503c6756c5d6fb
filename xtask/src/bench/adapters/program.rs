//! The matrix' programs, each built once for a run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;

#[derive(Clone, Copy)]
pub enum Program {
    /// Run from its source.
    Script(&'static str),
    Cpp,
    Go,
    Java,
}

pub struct Debuggee {
    pub program: PathBuf,
    pub source: PathBuf,
    /// Where it runs.
    pub work: PathBuf,
    /// The line to stop at, in a loop.
    pub line: usize,
}

impl Program {
    /// None if the machine has no compiler for it.
    pub fn build(self, work: &Path) -> Result<Option<Debuggee>> {
        let programs = workspace()?.join("crates/breakroom/tests/matrix/programs");
        let (file, compiler): (&str, &[&str]) = match self {
            Program::Script(file) => (file, &[]),
            Program::Cpp => ("m.cpp", &["g++", "-g", "-O0", "-pthread", "-o"]),
            Program::Go => ("gomatrix/main.go", &["go", "build", "-gcflags=all=-N -l", "-o"]),
            Program::Java => ("M.java", &["javac", "-g", "-d"]),
        };
        let source = programs.join(file);
        let built = match self {
            Program::Script(_) => source.clone(),
            Program::Java => work.join("java/M.class"),
            Program::Cpp | Program::Go => work.join(file.replace(['/', '.'], "_")),
        };
        if let Some((compiler, options)) = compiler.split_first().filter(|_| !built.exists()) {
            let target = if let Program::Java = self { work.join("java") } else { built.clone() };
            match Command::new(compiler).args(options).arg(target).arg(&source).status() {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                status => ensure!(status?.success(), "{compiler} cannot build {}", source.display()),
            }
        }
        let text = std::fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        let marked = text.lines().position(|line| line.ends_with("mark: call"));
        let line = marked.context("a program has no mark `call`")? + 1;
        Ok(Some(Debuggee { program: built, source, work: work.to_owned(), line }))
    }
}
