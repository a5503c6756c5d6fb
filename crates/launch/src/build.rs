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
pub mod typescript;

use std::path::{Path, PathBuf};
use std::pin::Pin;

use breakroom_engines::{Context, has_known_owner};
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
        extensions: &["cs", "csproj"],
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

/// The nearest folder above a file with something of that name in it, which nobody else has put there.
pub(crate) fn folder_with(file: &Path, name: &str, context: &Context) -> Option<PathBuf> {
    let folder = folders_above(file, context).find(|folder| folder.join(name).exists())?;
    has_known_owner(&folder.join(name), file).then(|| folder.to_path_buf())
}

/// The folders above a file, up to the root of the repository or the home folder: what is beyond is not of its project.
pub(crate) fn folders_above<'a>(file: &'a Path, context: &'a Context) -> impl Iterator<Item = &'a Path> {
    let is_last = |folder: &Path| folder.join(".git").exists() || Some(folder) == context.home();
    let mut beyond = false;
    file.ancestors().skip(1).take_while(move |folder| !std::mem::replace(&mut beyond, is_last(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_repository_or_the_home_folder_is_not_found() {
        let outside = tempfile::tempdir().unwrap();
        let (home, project) = (outside.path().join("home"), outside.path().join("home/project"));
        let file = project.join("src/main.ts");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(&file, "").unwrap();
        std::fs::write(outside.path().join("tool"), "").unwrap();
        let context = |home: &Path| Context {
            cwd: project.clone(),
            env: vec![("HOME".into(), home.into())],
            umask: 0o022,
        };
        let found = |home: &Path| folder_with(&file, "tool", &context(home));
        assert_eq!(found(Path::new("/elsewhere")).as_deref(), Some(outside.path()));
        assert_eq!(found(&home), None);
        std::fs::write(home.join("tool"), "").unwrap();
        assert_eq!(found(&home), Some(home.clone()));
        std::fs::create_dir(project.join(".git")).unwrap();
        assert_eq!(found(&home), None);
        std::fs::write(project.join("tool"), "").unwrap();
        assert_eq!(found(&home), Some(project.clone()));
    }

    #[test]
    fn what_another_user_has_put_above_a_file_is_not_found() {
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("project/main.ts");
        std::fs::create_dir_all(outside.path().join("project")).unwrap();
        std::fs::write(&file, "").unwrap();
        let tool = outside.path().join("tool");
        std::fs::write(&tool, "").unwrap();
        let context = Context { cwd: outside.path().into(), env: vec![], umask: 0o022 };
        let found = || folder_with(&file, "tool", &context);
        assert!(found().is_some());
        // Only root can give files away; nobody else can play this.
        if std::os::unix::fs::chown(&tool, Some(12345), None).is_ok() {
            assert_eq!(found(), None);
            std::fs::rename(&tool, tool.with_extension("real")).unwrap();
            std::os::unix::fs::symlink("/bin/true", &tool).unwrap();
            std::os::unix::fs::lchown(&tool, Some(12345), None).unwrap();
            assert_eq!(found(), None, "whoever made the link has chosen the program");
            std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
            assert!(found().is_some(), "the file that is to be run is that user's too");
        }
    }

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
