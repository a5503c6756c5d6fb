//! The small programs the tests debug, in `fixtures/`, and their compiled forms.
//!
//! Each does the same in its language; see `t.py`. Places in them are found by a marker in a comment, never by number.
//! Compiled ones are kept in the target folder by content, so a second test run compiles nothing.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::adapters;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Python,
    C,
    Cpp,
    Rust,
    Go,
    Ez,
}

impl Program {
    /// The source file; breakpoints go here.
    pub fn source(self) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        folder.join(match self {
            Program::Python => "t.py",
            Program::C => "t.c",
            Program::Cpp => "t.cpp",
            Program::Rust => "t.rs",
            Program::Go => "gohello/main.go",
            Program::Ez => "t.ez",
        })
    }

    /// The line whose comment says `mark: NAME`; names are `add`, `call`, `spin` and `end`.
    pub fn line(self, name: &str) -> u64 {
        marked(&self.source(), name)
    }

    /// What to launch: the compiled program, or for Python, Go and EZ the source, whose adapters take it as it is.
    pub fn compiled(self) -> PathBuf {
        match self.compiler() {
            None => self.source(),
            Some(compiler) => compile(&self.source(), compiler),
        }
    }

    /// Whether what builds it was left out by hand; says so on stderr.
    pub fn skipped(self) -> bool {
        match self {
            Program::Python | Program::Rust | Program::Ez => false,
            Program::C => adapters::skipped("gcc"),
            Program::Cpp => adapters::skipped("g++"),
            Program::Go => adapters::skipped("go"),
        }
    }

    fn compiler(self) -> Option<&'static [&'static str]> {
        match self {
            Program::Python | Program::Go | Program::Ez => None,
            Program::C => Some(&["gcc", "-g", "-O0"]),
            Program::Cpp => Some(&["g++", "-g", "-O0"]),
            Program::Rust => Some(&["rustc", "--edition=2024", "-g"]),
        }
    }
}

/// A file of the programs that start others: `main.js` and `main.py` say how.
pub fn family(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/family").join(file)
}

/// The line of a fixture whose comment says `mark: NAME`.
pub fn marked(source: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(source).expect("fixtures are part of the source");
    let marker = format!("mark: {name}");
    let index = text.lines().position(|line| line.ends_with(&marker));
    let index = index.unwrap_or_else(|| panic!("{} has no `{marker}`", source.display()));
    u64::try_from(index).expect("a line number fits") + 1
}

/// The compiled form of a source file; `-o PROGRAM SOURCE` is added to the compiler's words, or `FOLDER SOURCE` if they end
/// with `-d`.
pub fn compile(source: &Path, compiler: &[&str]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    // The path too: it is in the debug information.
    (source, fs::read(source).expect("fixtures are part of the source"), compiler).hash(&mut hasher);
    let folder = cache();
    fs::create_dir_all(&folder).expect("the cache of compiled fixtures is writable");
    let lock = File::create(folder.join("compile.lock")).expect("the cache of compiled fixtures is writable");
    // Tests are threads of several processes; without this two would write one file.
    lock.lock().expect("a file can be locked");
    let extension = source.extension().unwrap_or_default().to_string_lossy();
    let program = folder.join(format!("t_{extension}_{:016x}", hasher.finish()));
    if !program.exists() {
        let half_done = program.with_extension("new");
        let mut command = Command::new(compiler[0]);
        command.args(&compiler[1..]);
        if compiler.last() != Some(&"-d") {
            command.arg("-o");
        }
        command.arg(&half_done).arg(source);
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        assert!(output.status.success(), "{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
        fs::rename(&half_done, &program).expect("the cache of compiled fixtures is writable");
    }
    program
}

/// A test runs from `TARGET/PROFILE/deps`; anything else compiles into the temp folder.
fn cache() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(3).filter(|target| target.join("CACHEDIR.TAG").exists());
    match target {
        Some(target) => target.join("tmp/fixtures"),
        None => std::env::temp_dir().join("breakroom-fixtures"),
    }
}
