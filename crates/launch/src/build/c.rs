//! A lone file of C or C++.

use super::{Arguments, Job, compile_into, program};
use crate::failure::Failure;
use crate::workshop::Command;

/// A language and where its compiler is found.
#[derive(Clone, Copy)]
pub struct Language {
    name: &'static str,
    /// The variables that people set for their compiler and its options.
    compiler: &'static str,
    options: &'static str,
    compilers: &'static [&'static str],
}

pub const C: Language =
    Language { name: "C", compiler: "CC", options: "CFLAGS", compilers: &["cc", "gcc", "clang"] };
pub const CPP: Language =
    Language { name: "C++", compiler: "CXX", options: "CXXFLAGS", compilers: &["c++", "g++", "clang++"] };

pub async fn build(job: Job<'_>, language: Language) -> Result<Option<Arguments>, Failure> {
    let context = job.workshop.context;
    let words = |variable: &str| -> Vec<String> {
        let value =
            context.var(variable).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
        value.split_whitespace().map(str::to_owned).collect()
    };
    let mut compiler = words(language.compiler);
    if compiler.is_empty() {
        let found = language.compilers.iter().find(|name| context.which(name).is_some());
        let missing = || {
            Failure::said(format!(
                "{} has to be compiled first, and there is no {} compiler in PATH: install gcc or clang, or set {}.",
                job.file.display(),
                language.name,
                language.compiler
            ))
        };
        compiler.push((*found.ok_or_else(missing)?).to_owned());
    }
    let what = compiler.join(" ");
    let built = compile_into(job, &what, |place| {
        let folder = job.file.parent().unwrap_or(job.file);
        Command::new(folder, &[])
            .and(compiler.clone())
            .and(["-g", "-O0", "-pthread"])
            .and(words(language.options))
            .and(["-o", place])
            .and([job.file.to_string_lossy()])
            .and(words("LDFLAGS"))
            .and(words("LDLIBS"))
            .and(["-lm"])
    });
    Ok(Some(program(&built.await?)))
}
