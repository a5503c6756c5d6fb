//! What can be started of a folder: by the files that projects of each language have.
//!
//! A project that says itself what it runs is believed; otherwise several programs are a list to choose from.

mod node;
mod python;

use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::{Value, json};

use crate::build::{self, Arguments, Job, NATIVE, NODE, cargo, cmake, dotnet, knows};
use crate::choice::{self, Choice};
use crate::failure::{self, Failure};
use crate::workshop::{Command, Shown, Workshop};

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
    /// Nothing has to be built.
    Arguments(Arguments),
}

type Finding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Program>, Failure>> + 'a>>;

struct Kind {
    is_in: fn(&Path) -> bool,
    /// Types of debuggers for it. Those that take a folder themselves are not among them.
    kinds: &'static [&'static str],
    find: for<'a> fn(&'a Path, &'a Workshop<'a>) -> Finding<'a>,
}

const KINDS: &[Kind] = &[
    Kind {
        is_in: |folder| folder.join("Cargo.toml").is_file(),
        kinds: NATIVE,
        find: |f, w| Box::pin(in_cargo(f, w)),
    },
    Kind { is_in: |folder| folder.join("go.mod").is_file(), kinds: &[], find: |f, w| Box::pin(in_go(f, w)) },
    Kind {
        is_in: |folder| folder.join("package.json").is_file(),
        kinds: NODE,
        find: |f, _| Box::pin(std::future::ready(node::programs(f))),
    },
    Kind {
        is_in: python::is_in,
        kinds: &[],
        find: |f, _| Box::pin(std::future::ready(Ok(python::programs(f)))),
    },
    Kind {
        is_in: |folder| !dotnet::projects_in(folder).is_empty(),
        kinds: &["coreclr", "netcoredbg", "csharp"],
        find: |f, _| Box::pin(std::future::ready(Ok(in_dotnet(f)))),
    },
    Kind {
        is_in: |folder| folder.join("CMakeLists.txt").is_file(),
        kinds: NATIVE,
        find: |f, w| Box::pin(in_cmake(f, w)),
    },
];

/// Whether a folder has a project for that debugger, or for any.
pub fn is_in(folder: &Path, kind: Option<&str>) -> bool {
    fitting(folder, kind).next().is_some()
}

fn fitting<'a>(folder: &'a Path, kind: Option<&'a str>) -> impl Iterator<Item = &'static Kind> + 'a {
    KINDS.iter().filter(move |row| kind.is_none_or(|kind| knows(row.kinds, kind)) && (row.is_in)(folder))
}

/// Everything that can be started of a folder.
pub async fn programs(
    folder: &Path,
    kind: Option<&str>,
    workshop: &Workshop<'_>,
) -> Result<Vec<Program>, Failure> {
    let mut programs = Vec::new();
    let mut problem = None;
    for row in fitting(folder, kind) {
        match (row.find)(folder, workshop).await {
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
    Ok(cmake::programs(folder, workshop).await?.into_iter().map(program).collect())
}

fn in_dotnet(folder: &Path) -> Vec<Program> {
    let program = |project: PathBuf| {
        let name = project.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let choice = Choice { name, what: format!("C# project, {}", project.display()) };
        Program { choice, rank: Rank::One, start: Start::Dotnet(project) }
    };
    dotnet::projects_in(folder).into_iter().map(program).collect()
}

/// The main packages of a module. If its root is one, that is the one that is meant.
async fn in_go(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Program>, Failure> {
    let command = Command::new(folder, &["go", "list", "-f", "{{.Name}} {{.Dir}}", "./..."]);
    let listed = workshop.run(&command, Shown::Nothing).await?;
    if !listed.succeeded() {
        return Err(failure::of_build("go list", listed.exit, &[], &listed.stderr));
    }
    let mains = listed.stdout.lines().filter_map(|line| line.strip_prefix("main ")).map(PathBuf::from);
    let root = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let program = |package: PathBuf| {
        let is_root = package.canonicalize().is_ok_and(|package| package == root);
        let name = package.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let arguments = json!({"type": "go", "mode": "debug", "program": package, "dlvCwd": folder});
        Program {
            choice: Choice { name, what: format!("Go package, {}", package.display()) },
            rank: if is_root { Rank::Default } else { Rank::One },
            start: Start::of(arguments),
        }
    };
    Ok(mains.map(program).collect())
}

impl Start {
    fn of(arguments: Value) -> Start {
        Start::Arguments(arguments.as_object().cloned().unwrap_or_default())
    }
}
