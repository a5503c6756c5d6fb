//! Go: the main packages of a module, or else its tests; of a folder within one, what `go run` or `go test` takes there.

use std::path::{Path, PathBuf};

use breakroom_engines::{Context, folder_with, inside};
use serde_json::json;

use super::{Program, Rank, Start};
use crate::build::steering;
use crate::choice::Choice;
use crate::failure::{self, Failure};
use crate::workshop::{Command, Shown, Workshop};

/// What is asked of each package: its name, how many files of tests it has in itself and beside itself, and its folder.
const QUESTION: &str = "{{.Name}} {{len .TestGoFiles}} {{len .XTestGoFiles}} {{.Dir}}";

pub fn is_in(folder: &Path, context: &Context) -> bool {
    is_module(folder) || (has_sources(folder) && folder_with(&inside(folder), "go.mod", context).is_some())
}

fn is_module(folder: &Path) -> bool {
    folder.join("go.mod").is_file()
}

fn has_sources(folder: &Path) -> bool {
    let is_source = |path: PathBuf| path.extension().is_some_and(|extension| extension == "go");
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| is_source(entry.path()))
}

struct Package {
    folder: PathBuf,
    is_main: bool,
    has_tests: bool,
}

/// If the folder that was named is one of them, that is the one that is meant.
pub async fn programs(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Program>, Failure> {
    steering::check(&steering::GO, folder)?;
    let which = if is_module(folder) { "./..." } else { "." };
    let command = Command::new(folder, &["go", "list", "-f", QUESTION, which]);
    let listed = workshop.run(&command, Shown::Nothing).await?;
    if !listed.succeeded() {
        return Err(failure::of_build("go list", listed.exit, &[], &listed.stderr));
    }
    let mut packages: Vec<Package> = listed.stdout.lines().filter_map(package).collect();
    let has_program = packages.iter().any(|package| package.is_main);
    packages.retain(|package| if has_program { package.is_main } else { package.has_tests });
    let root = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let names: Vec<String> = packages.iter().map(|package| last(&package.folder)).collect();
    let program = |package: &Package| {
        let path = &package.folder;
        let is_root = path.canonicalize().is_ok_and(|path| path == root);
        let name = last(path);
        // Two of one name are told apart by where they are.
        let several = names.iter().filter(|other| **other == name).count() > 1;
        let below = path.strip_prefix(folder).or_else(|_| path.strip_prefix(&root)).ok();
        let name =
            below.filter(|_| several && !is_root).map_or(name, |below| below.to_string_lossy().into_owned());
        let (what, mode) = if package.is_main { ("package", "debug") } else { ("tests", "test") };
        let mut arguments = json!({"type": "go", "mode": mode, "program": path, "dlvCwd": folder});
        if !package.is_main {
            arguments["cwd"] = json!(path);
        }
        Program {
            choice: Choice { name, what: format!("Go {what}, {}", path.display()) },
            rank: if is_root { Rank::Default } else { Rank::One },
            start: Start::of(arguments),
        }
    };
    Ok(packages.iter().map(program).collect())
}

fn package(line: &str) -> Option<Package> {
    let mut parts = line.splitn(4, ' ');
    let (name, inside, beside, folder) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let has_tests = [inside, beside].iter().any(|count| *count != "0");
    Some(Package { folder: folder.into(), is_main: name == "main", has_tests })
}

fn last(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
