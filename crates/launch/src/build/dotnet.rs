//! C#: the project that a file belongs to, built by the SDK, and the assembly that came of it.

use std::path::{Path, PathBuf};

use breakroom_engines::{Context, folders_above, has_known_owner};

use super::{Arguments, Job, compile, program, steering};
use crate::failure::Failure;
use crate::workshop::Command;

pub async fn build(job: Job<'_>) -> Result<Option<Arguments>, Failure> {
    let project = match job.file.extension().is_some_and(|extension| extension == "csproj") {
        true => job.file.to_path_buf(),
        false => nearest_project(job.file, job.workshop.context)?,
    };
    let folder = project.parent().unwrap_or(&project);
    steering::check(&steering::DOTNET, folder)?;
    let command = Command::new(folder, &["dotnet", "build", "--nologo", "-c", "Debug"])
        .and([project.to_string_lossy()])
        // Its servers would outlive the build; they are ended with it, and must not be somebody else's too.
        .and(["-nodeReuse:false", "-p:UseSharedCompilation=false"])
        .with("DOTNET_CLI_TELEMETRY_OPTOUT", "1");
    let output = compile(job.workshop, "dotnet build", &command).await?;
    let name = project.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let assembly = assembly(&output, &name).ok_or_else(|| {
        Failure::said(format!("dotnet build did not say where it put {name}; name the .dll as the program."))
    })?;
    Ok(Some(program(&assembly)))
}

fn nearest_project(file: &Path, context: &Context) -> Result<PathBuf, Failure> {
    for folder in folders_above(file, context) {
        let mut projects = projects_in(folder);
        projects.retain(|project| has_known_owner(project, file));
        match projects.len() {
            0 => {}
            1 => return Ok(projects.remove(0)),
            _ => {
                let lines: String =
                    projects.iter().map(|project| format!("\n  {}", project.display())).collect();
                return Err(Failure::said(format!("several projects could be meant; name one:{lines}")));
            }
        }
    }
    Err(Failure::said(format!(
        "{} belongs to no project: there is no .csproj in its folder or above.",
        file.display()
    )))
}

pub fn projects_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut projects: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "csproj")).collect();
    projects.sort();
    projects
}

/// The SDK says `Name -> /path/Name.dll` for each project that it built; the one asked for is the last.
fn assembly(output: &str, name: &str) -> Option<PathBuf> {
    let built = |line: &str| {
        let (project, assembly) = line.trim().split_once(" -> ")?;
        (project == name && assembly.ends_with(".dll")).then(|| PathBuf::from(assembly))
    };
    output.lines().rev().find_map(built)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembly_is_the_one_of_the_project() {
        let output =
            "  Restored x\n  Lib -> /p/lib/Lib.dll\n  App -> /p/bin/Debug/App.dll\n\nBuild succeeded.\n";
        assert_eq!(assembly(output, "App"), Some("/p/bin/Debug/App.dll".into()));
        assert_eq!(assembly(output, "Other"), None);
    }
}
