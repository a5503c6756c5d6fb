//! The programs of the matrix, in `programs/`: each does the same in its language.
//!
//! They add 10 to 0, 1, 2 and 3, print each sum and then the last of 120 numbers. One word makes them do more before:
//! `spin`, `threads`, `throw`, `ask` (for a name, on stdin), `talk` (500 lines, and one to stderr); `seven` is their exit
//! code. A path makes them write that file as soon as they have a sum. Places are found by a marker in a comment.

use std::path::{Path, PathBuf};

use breakroom_testkit::fixtures;

pub struct Program {
    /// In `programs/`.
    pub file: &'static str,
    pub build: Build,
}

/// What has to be done before it can be launched.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    Nothing,
    /// A compiler with its options; `-o PROGRAM SOURCE` follows.
    Compiler(&'static [&'static str]),
    /// Into classes; the one to launch is named like the file.
    Java,
}

/// A program ready to be debugged.
#[derive(Clone, Debug)]
pub struct Debuggee {
    pub program: PathBuf,
    /// Breakpoints go here.
    pub source: PathBuf,
    /// A folder of the session's own.
    pub work: PathBuf,
}

impl Program {
    pub fn source(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrix/programs").join(self.file)
    }

    pub fn debuggee(&self, work: PathBuf) -> Debuggee {
        let source = self.source();
        let program = match self.build {
            Build::Nothing => source.clone(),
            Build::Compiler(words) => fixtures::compile(&source, words),
            Build::Java => {
                let folder = fixtures::compile(&source, &["javac", "-g", "-d"]);
                folder.join(self.file).with_extension("class")
            }
        };
        Debuggee { program, source, work }
    }

    pub fn line(&self, mark: &str) -> u64 {
        fixtures::marked(&self.source(), mark)
    }
}
