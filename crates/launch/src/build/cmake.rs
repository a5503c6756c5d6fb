//! CMake projects: configured and built in a folder of ours, with what CMake itself says about its executables.

use std::path::{Path, PathBuf};

use breakroom_engines::{Catalog, Context};
use serde_json::Value;

use super::{compile, steering};
use crate::cache;
use crate::failure::Failure;
use crate::workshop::{Command, Workshop};

/// An executable of the project, not built yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub path: PathBuf,
}

/// The file that makes CMake describe what it will build.
const QUERY: &str = ".cmake/api/v1/query/codemodel-v2";

/// Configures the project and gives its executables.
pub async fn programs(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Program>, Failure> {
    steering::check(&steering::CMAKE, folder)?;
    let build = cache::folder_for(&folder.join("CMakeLists.txt"), workshop.context)?;
    let query = build.join(QUERY);
    let written =
        query.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&query, ""));
    written.map_err(|error| Failure::said(format!("{} cannot be written: {error}.", query.display())))?;
    let cmake = installed(workshop.context);
    let command = Command::new(folder, &[&cmake, "-DCMAKE_BUILD_TYPE=Debug", "-S"]).and([
        folder.to_string_lossy(),
        "-B".into(),
        build.to_string_lossy(),
    ]);
    compile(workshop, "cmake", &command).await?;
    Ok(described(&build))
}

pub async fn build(folder: &Path, target: &str, workshop: &Workshop<'_>) -> Result<(), Failure> {
    let build = cache::folder_for(&folder.join("CMakeLists.txt"), workshop.context)?;
    let cmake = installed(workshop.context);
    let command = Command::new(folder, &[&cmake, "--build"]).and([build.to_string_lossy()]);
    compile(workshop, "cmake --build", &command.and(["--target", target])).await.map(drop)
}

/// The one that debugs its scripts, which may be ours and not in PATH; else whichever is found by its name.
fn installed(context: &Context) -> String {
    let catalog = Catalog::load(context).ok();
    let found = catalog.and_then(|catalog| Some(catalog.installed_for_type("cmake", context).ok()?.1));
    found.and_then(|found| found.args.into_iter().next()).unwrap_or_else(|| "cmake".to_owned())
}

fn described(build: &Path) -> Vec<Program> {
    let replies = build.join(".cmake/api/v1/reply");
    let entries = std::fs::read_dir(&replies).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_target = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("target-"))
    };
    let program = |path: PathBuf| {
        let target: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let artifact = target["artifacts"][0]["path"].as_str().filter(|_| target["type"] == "EXECUTABLE")?;
        Some(Program { name: target["name"].as_str()?.to_owned(), path: build.join(artifact) })
    };
    let mut programs: Vec<_> = entries.filter(is_target).filter_map(program).collect();
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    programs.dedup();
    programs
}
