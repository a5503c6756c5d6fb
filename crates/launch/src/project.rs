//! What can be started of a folder: by the files that projects of each language have.
//!
//! A project that says itself what it runs is believed; otherwise several programs are a list to choose from.

mod go;
mod node;
mod python;

use std::path::{Path, PathBuf};
use std::pin::Pin;

use breakroom_engines::Context;
use serde_json::{Value, json};

use crate::build::{self, Arguments, Job, NATIVE, NODE, cargo, cmake, dotnet, knows};
use crate::choice::{self, Choice};
use crate::failure::Failure;
use crate::workshop::Workshop;

/// A program of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub choice: Choice,
    rank: Rank,
    start: Start,
}

/// Whether it is the one that is meant if nobody says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Default,
    One,
}

#[derive(Debug, Clone, PartialEq)]
enum Start {
    Cargo(cargo::Target),
    Cmake {
        folder: PathBuf,
        program: cmake::Program,
    },
    Dotnet(PathBuf),
    Command(python::Command),
    /// Nothing has to be built.
    Arguments(Arguments),
}

type Finding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Program>, Failure>> + 'a>>;

struct Kind {
    is_in: fn(&Path, &Context) -> bool,
    /// The type under which the catalog has debuggers of its programs.
    debugged_by: &'static str,
    /// Types of debuggers for it. Those that take a folder themselves are not among them.
    kinds: &'static [&'static str],
    find: Find,
}

/// How its programs are found.
enum Find {
    /// By reading its files.
    Read(fn(&Path) -> Result<Vec<Program>, Failure>),
    /// By a tool that runs what the project says, so only in a folder that somebody named to be run.
    Ask { project: &'static str, ask: for<'a> fn(&'a Path, &'a Workshop<'a>) -> Finding<'a> },
}

const KINDS: &[Kind] = &[
    Kind {
        is_in: |folder, _| folder.join("Cargo.toml").is_file(),
        debugged_by: "rust",
        kinds: NATIVE,
        find: Find::Ask { project: "Cargo project", ask: |f, w| Box::pin(in_cargo(f, w)) },
    },
    Kind {
        is_in: go::is_in,
        debugged_by: "go",
        kinds: &[],
        find: Find::Ask { project: "Go module", ask: |f, w| Box::pin(go::programs(f, w)) },
    },
    Kind {
        is_in: |folder, _| folder.join("package.json").is_file(),
        debugged_by: "pwa-node",
        kinds: NODE,
        find: Find::Read(node::programs),
    },
    Kind {
        is_in: |folder, _| python::is_in(folder),
        debugged_by: "python",
        kinds: &[],
        find: Find::Read(|folder| Ok(python::programs(folder))),
    },
    Kind {
        is_in: |folder, _| dotnet::solution::is_in(folder),
        debugged_by: "coreclr",
        kinds: &["coreclr", "netcoredbg", "csharp"],
        find: Find::Read(|folder| Ok(in_dotnet(folder))),
    },
    Kind {
        is_in: |folder, _| folder.join("CMakeLists.txt").is_file(),
        debugged_by: "cpp",
        kinds: NATIVE,
        find: Find::Ask { project: "CMake project", ask: |f, w| Box::pin(in_cmake(f, w)) },
    },
];

/// Whether a folder has a project for that debugger, or for any.
pub fn is_in(folder: &Path, kind: Option<&str>, context: &Context) -> bool {
    fitting(folder, kind, context).next().is_some()
}

fn fitting<'a>(
    folder: &'a Path,
    kind: Option<&'a str>,
    context: &'a Context,
) -> impl Iterator<Item = &'static Kind> + 'a {
    let is_for = move |row: &&Kind| kind.is_none_or(|kind| knows(row.kinds, kind));
    KINDS.iter().filter(is_for).filter(move |row| (row.is_in)(folder, context))
}

/// The type of debugger for the project of a folder, if it has one of one kind.
pub fn debugged_by(folder: &Path, context: &Context) -> Option<&'static str> {
    let mut kinds = fitting(folder, None, context).map(|row| row.debugged_by);
    kinds.next().filter(|_| kinds.next().is_none())
}

/// What is known of a folder without running anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Program(Choice),
    /// Which programs it has, only its tool knows.
    Project(&'static str),
}

/// What can be seen of a folder by whoever only looks at its files.
pub fn seen(folder: &Path, context: &Context) -> Result<Vec<Seen>, Failure> {
    let mut seen = Vec::new();
    let mut problem = None;
    for row in fitting(folder, None, context) {
        match &row.find {
            Find::Ask { project, .. } => seen.push(Seen::Project(project)),
            Find::Read(read) => match read(folder) {
                Ok(programs) => {
                    seen.extend(programs.into_iter().map(|program| Seen::Program(program.choice)))
                }
                Err(failure) => problem = problem.or(Some(failure)),
            },
        }
    }
    match problem {
        Some(problem) if seen.is_empty() => Err(problem),
        _ => Ok(seen),
    }
}

/// Everything that can be started of a folder.
pub async fn programs(
    folder: &Path,
    kind: Option<&str>,
    workshop: &Workshop<'_>,
) -> Result<Vec<Program>, Failure> {
    let mut programs = Vec::new();
    let mut problem = None;
    for row in fitting(folder, kind, workshop.context) {
        let found = match &row.find {
            Find::Read(read) => read(folder),
            Find::Ask { ask, .. } => ask(folder, workshop).await,
        };
        match found {
            Ok(found) => programs.extend(found),
            Err(Failure::CalledOff) => return Err(Failure::CalledOff),
            // Another language of the same folder may still be in order.
            Err(failure) => problem = problem.or(Some(failure)),
        }
    }
    match problem {
        Some(problem) if programs.is_empty() => Err(problem),
        _ => Ok(programs),
    }
}

/// The arguments that start the program of a folder that is meant, built if it has to be.
pub async fn arguments(folder: &Path, job: Job<'_>, kind: Option<&str>) -> Result<Arguments, Failure> {
    let mut programs = programs(folder, kind, job.workshop).await?;
    let default = |program: &Program| program.rank == Rank::Default;
    if job.target.is_none() && programs.iter().filter(|program| default(program)).count() == 1 {
        programs.retain(default);
    }
    let choices = programs.iter().map(|program| program.choice.clone()).collect();
    let at = choice::pick(choices, job.target, &format!("{} has", folder.display()))?;
    match programs.remove(at).start {
        Start::Cargo(target) => Ok(build::program(&cargo::build(&target, job.workshop).await?)),
        Start::Cmake { folder, program } => {
            cmake::build(&folder, &program.name, job.workshop).await?;
            Ok(build::program(&program.path))
        }
        Start::Dotnet(project) => Ok(dotnet::build(Job { file: &project, ..job }).await?.unwrap_or_default()),
        Start::Command(command) => command.arguments(folder, job.workshop.context),
        Start::Arguments(arguments) => Ok(arguments),
    }
}

async fn in_cargo(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Program>, Failure> {
    let targets = cargo::programs(folder, workshop).await?;
    let program = |target: cargo::Target| {
        let choice = Choice { name: target.name.clone(), what: target.what() };
        Program { choice, rank: Rank::One, start: Start::Cargo(target) }
    };
    Ok(targets.into_iter().map(program).collect())
}

async fn in_cmake(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Program>, Failure> {
    let program = |program: cmake::Program| {
        let choice = Choice { name: program.name.clone(), what: "CMake executable".to_owned() };
        Program { choice, rank: Rank::One, start: Start::Cmake { folder: folder.to_path_buf(), program } }
    };
    let programs: Vec<_> = cmake::programs(folder, workshop).await?.into_iter().map(program).collect();
    if !programs.is_empty() {
        return Ok(programs);
    }
    // Nothing is built here, so the script itself is the program.
    let script = folder.join("CMakeLists.txt");
    let arguments = json!({"type": "cmake", "program": script, "sourceDirectory": folder});
    let choice = Choice { name: "CMakeLists.txt".to_owned(), what: "CMake script".to_owned() };
    Ok(vec![Program { choice, rank: Rank::One, start: Start::of(arguments) }])
}

fn in_dotnet(folder: &Path) -> Vec<Program> {
    let program = |project: PathBuf| {
        let name = project.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let choice = Choice { name, what: format!(".NET project, {}", project.display()) };
        Program { choice, rank: Rank::One, start: Start::Dotnet(project) }
    };
    dotnet::solution::programs_of(folder).into_iter().map(program).collect()
}

impl Start {
    fn of(arguments: Value) -> Start {
        Start::Arguments(arguments.as_object().cloned().unwrap_or_default())
    }
}
