//! What is made of a source file before it can be debugged, language by language.
//!
//! Each language is a row: which files, which debuggers can take what comes of it, and the function that makes it. What is
//! built goes where the build tool puts it, or into a folder of ours that is the source file's own.

pub mod c;
pub mod cargo;
pub mod cmake;
pub mod dotnet;
pub mod go;
pub mod java;
pub(crate) mod steering;
pub mod typescript;

use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::cache;
use crate::failure::{self, Failure};
use crate::workshop::{Command, Shown, Workshop};

pub type Arguments = Map<String, Value>;

/// What is to be built, and for which launch.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Absolute.
    pub file: &'a Path,
    pub arguments: &'a Arguments,
    /// Which of several programs, if somebody said.
    pub target: Option<&'a str>,
    pub workshop: &'a Workshop<'a>,
}

/// Arguments to be laid over those of the launch, or `None` if it can go as it is.
pub type Outcome = Result<Option<Arguments>, Failure>;
pub type Building<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

pub struct Row {
    pub extensions: &'static [&'static str],
    /// Types of debuggers that need it done. With another one the file is that debugger's own business.
    pub kinds: &'static [&'static str],
    pub build: for<'a> fn(Job<'a>) -> Building<'a>,
}

/// Debuggers of executables.
pub const NATIVE: &[&str] = &[
    "lldb",
    "lldb-dap",
    "lldb-vscode",
    "codelldb",
    "gdb",
    "cppdbg",
    "cdt-gdb",
    "gdbtarget",
    "c",
    "cpp",
    "c++",
    "rust",
];
pub const NODE: &[&str] = &["node", "pwa-node", "nodejs", "javascript", "typescript", "js-debug"];

const ROWS: &[Row] = &[
    Row { extensions: &["rs"], kinds: NATIVE, build: |job| Box::pin(cargo::of_file(job)) },
    Row { extensions: &["c"], kinds: NATIVE, build: |job| Box::pin(c::build(job, c::C)) },
    Row {
        extensions: &["cc", "cpp", "cxx", "c++", "C"],
        kinds: NATIVE,
        build: |job| Box::pin(c::build(job, c::CPP)),
    },
    // Delve builds itself; it has no row.
    Row { extensions: &["go"], kinds: NATIVE, build: |job| Box::pin(go::for_native(job)) },
    Row { extensions: &["ts", "mts", "cts"], kinds: NODE, build: |job| Box::pin(typescript::build(job)) },
    Row {
        extensions: &["cs", "csproj", "fsproj", "vbproj", "sln", "slnx"],
        kinds: &["coreclr", "netcoredbg", "csharp"],
        build: |job| Box::pin(dotnet::build(job)),
    },
    Row { extensions: &["java"], kinds: &["java", "jdi"], build: |job| Box::pin(java::build(job)) },
];

/// The row for a file, if its debugger needs it built.
pub fn row_for(file: &Path, kind: Option<&str>) -> Option<&'static Row> {
    let extension = file.extension()?.to_str()?;
    let fits =
        |row: &&Row| row.extensions.contains(&extension) && kind.is_none_or(|kind| knows(row.kinds, kind));
    let found = ROWS.iter().find(fits)?;
    // Without a type a Go file is Delve's.
    (kind.is_some() || extension != "go").then_some(found)
}

pub fn knows(kinds: &[&str], kind: &str) -> bool {
    kinds.iter().any(|known| known.eq_ignore_ascii_case(kind))
}

/// Runs a compiler; its complaints are the failure.
pub(crate) async fn compile(
    workshop: &Workshop<'_>,
    what: &str,
    command: &Command,
) -> Result<String, Failure> {
    workshop.say(&command.argv.join(" "));
    let finished = workshop.run(command, Shown::Both).await?;
    let output = [finished.stdout.as_str(), finished.stderr.as_str()].concat();
    match finished.succeeded() {
        true => Ok(output),
        false => Err(failure::of_build(what, finished.exit, &failure::marked_errors(&output), &output)),
    }
}

/// Builds one file with `command` followed by the place for what comes of it, and puts that in its place at once: somebody
/// may be debugging the last one, and two may build it at the same time.
pub(crate) async fn compile_into(
    job: Job<'_>,
    what: &str,
    command: impl FnOnce(&str) -> Command,
) -> Result<PathBuf, Failure> {
    let folder = cache::folder_for(job.file, job.workshop.context)?;
    let name = job.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (place, beside) = (folder.join(&name), folder.join(format!(".{name}.{}", cache::unique())));
    let outcome = compile(job.workshop, what, &command(&beside.to_string_lossy())).await;
    let renamed = outcome.and_then(|_| {
        std::fs::rename(&beside, &place)
            .map_err(|error| Failure::said(format!("{} cannot be written: {error}.", place.display())))
    });
    if renamed.is_err() {
        // It may not even be there.
        let _ = std::fs::remove_file(&beside);
    }
    renamed.map(|()| place)
}

/// The arguments that only name another program.
pub(crate) fn program(path: &Path) -> Arguments {
    Map::from_iter([("program".to_owned(), path.to_string_lossy().into_owned().into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_built_only_for_debuggers_that_need_it() {
        let built = |file: &str, kind: Option<&str>| row_for(Path::new(file), kind).is_some();
        for (file, kind) in
            [("a.rs", None), ("a.c", Some("GDB")), ("a.ts", Some("pwa-node")), ("a.go", Some("lldb"))]
        {
            assert!(built(file, kind), "{file} {kind:?}");
        }
        for (file, kind) in
            [("a.py", None), ("a.go", None), ("a.go", Some("go")), ("a.rs", Some("mine")), ("a", None)]
        {
            assert!(!built(file, kind), "{file} {kind:?}");
        }
    }
}
