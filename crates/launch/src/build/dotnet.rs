//! .NET: the project that a file belongs to, built by the SDK, and how its program is started.
//!
//! Which configuration, framework and launch profile are meant is in the launch's member `dotnet`. Solutions, profiles and
//! properties are read in modules of their own.

mod properties;
pub mod settings;
pub mod solution;

use std::path::{Path, PathBuf};

use breakroom_engines::{Context, folders_above, has_known_owner};
use serde_json::{Map, Value};

use super::{Arguments, Job, compile, program, steering};
use crate::failure::Failure;
use crate::workshop::{Command, Shown, Workshop};

use properties::Properties;

pub use solution::projects_in;

const SINGLE_FILE_SDK: u32 = 10;
const INSTALL: &str =
    "dotnet was not found on PATH. Install the .NET SDK, or name a .dll that is built already.";

/// How a project is meant to be built.
pub struct Wanted<'a> {
    configuration: &'a str,
    framework: Option<&'a str>,
    profile: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(arguments: &'a Arguments) -> Self {
        let said = arguments.get("dotnet").unwrap_or(&Value::Null);
        let text = |name: &str| said[name].as_str().filter(|text| !text.is_empty());
        Wanted {
            configuration: text("configuration").unwrap_or("Debug"),
            framework: text("framework"),
            profile: text("profile"),
        }
    }
}

pub async fn build(job: Job<'_>) -> Result<Option<Arguments>, Failure> {
    let project = project_of(job.file, job.workshop.context)?;
    let folder = project.parent().unwrap_or(&project);
    steering::check(&steering::DOTNET, folder)?;
    if job.workshop.context.which("dotnet").is_none() {
        return Err(Failure::said(INSTALL));
    }
    if !solution::is_project(&project) {
        check_single_file(&project, job.workshop).await?;
    }
    let wanted = Wanted::of(job.arguments);
    let profile = wanted.profile.map(|name| settings::find(&project, name)).transpose()?;
    let evaluated = properties::evaluate(&project, &wanted, job.workshop).await?;
    check(&project, &wanted, &evaluated)?;
    let framework = wanted.framework.map(|framework| ["-f".to_owned(), framework.to_owned()]);
    let command = Command::new(folder, &["dotnet", "build", "--nologo", "-c", wanted.configuration])
        .and(framework.into_iter().flatten())
        .and([project.to_string_lossy()])
        // Its servers would outlive the build; they are ended with it, and must not be somebody else's too.
        .and(["-nodeReuse:false", "-p:UseSharedCompilation=false"])
        .with("DOTNET_CLI_TELEMETRY_OPTOUT", "1");
    let output = compile(job.workshop, "dotnet build", &command).await?;
    let name = project.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let built = evaluated.get("TargetPath").map(PathBuf::from).or_else(|| assembly(&output, &name));
    let built = built.ok_or_else(|| {
        Failure::said(format!("dotnet build did not say where it put {name}; name the .dll as the program."))
    })?;
    let mut arguments = program(&built);
    arguments.insert("dotnet".to_owned(), Value::Null);
    let cwd = evaluated.get("RunWorkingDirectory").cloned();
    let start = profile.map(|profile| profile.start(&values(&evaluated, job.workshop.context)));
    let start = start.unwrap_or_default();
    if let Some(cwd) = start.cwd.or(cwd) {
        arguments.insert("cwd".to_owned(), folder.join(cwd).to_string_lossy().into_owned().into());
    }
    let said = job.arguments.get("args").and_then(Value::as_array).into_iter().flatten().cloned();
    arguments.insert("args".to_owned(), start.args.into_iter().map(Value::from).chain(said).collect());
    if !start.env.is_empty() {
        let mut env: Map<String, Value> =
            start.env.into_iter().map(|(name, value)| (name, value.into())).collect();
        // What the launch says itself beats the profile.
        env.extend(job.arguments.get("env").and_then(Value::as_object).cloned().unwrap_or_default());
        arguments.insert("env".to_owned(), env.into());
    }
    Ok(Some(arguments))
}

/// Refuses what cannot be started, before it is built.
fn check(project: &Path, wanted: &Wanted<'_>, evaluated: &Properties) -> Result<(), Failure> {
    let frameworks = evaluated.get("TargetFrameworks").map(String::as_str).unwrap_or_default();
    if wanted.framework.is_none() && frameworks.contains(';') {
        return Err(Failure::said(format!(
            "{} is built for several frameworks; name one of {}",
            project.display(),
            frameworks.replace(';', ", ")
        )));
    }
    let output = evaluated.get("OutputType").map(String::as_str).unwrap_or_default();
    match output.eq_ignore_ascii_case("Library") {
        true => Err(Failure::said(format!("{} is a library, which cannot be started", project.display()))),
        false => Ok(()),
    }
}

/// A single file is built by SDK 10 and later.
async fn check_single_file(file: &Path, workshop: &Workshop<'_>) -> Result<(), Failure> {
    let command = Command::new(file.parent().unwrap_or(file), &["dotnet", "--version"]);
    let version = workshop.run(&command, Shown::Nothing).await?.stdout;
    let major: Option<u32> = version.trim().split('.').next().and_then(|major| major.parse().ok());
    match major {
        Some(major) if major < SINGLE_FILE_SDK => Err(Failure::said(format!(
            "{} belongs to no project: there is no .csproj in its folder or above, and to build a single file takes .NET SDK {SINGLE_FILE_SDK}, not {}.",
            file.display(),
            version.trim()
        ))),
        _ => Ok(()),
    }
}

/// What `$(...)` means in a launch profile.
fn values(evaluated: &Properties, context: &Context) -> Properties {
    let mut values = evaluated.clone();
    if let Some(path) = evaluated.get("TargetPath").map(PathBuf::from) {
        let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        values.insert("TargetFileName".to_owned(), text(path.file_name()));
        values.insert("TargetName".to_owned(), text(path.file_stem()));
    }
    if let Some(home) = context.home() {
        values.insert("UserProfile".to_owned(), home.to_string_lossy().into_owned());
    }
    values
}

/// The project that a file is, names or belongs to. A file of C# without one is its own project, which SDK 10 can build.
fn project_of(file: &Path, context: &Context) -> Result<PathBuf, Failure> {
    if solution::is_project(file) {
        return Ok(file.to_path_buf());
    }
    if solution::is_solution(file) {
        return match &solution::programs_of(file)[..] {
            [project] => Ok(project.clone()),
            [] => Err(Failure::said(format!("{} has no project that can be started", file.display()))),
            several => Err(name_one(several)),
        };
    }
    for folder in folders_above(file, context) {
        let mut projects = projects_in(folder);
        projects.retain(|project| has_known_owner(project, file));
        match projects.len() {
            0 => {}
            1 => return Ok(projects.remove(0)),
            _ => return Err(name_one(&projects)),
        }
    }
    Ok(file.to_path_buf())
}

fn name_one(projects: &[PathBuf]) -> Failure {
    let lines: String = projects.iter().map(|project| format!("\n  {}", project.display())).collect();
    Failure::said(format!("several projects could be meant; name one:{lines}"))
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

    #[test]
    fn project_for_several_frameworks_needs_one_of_them_and_a_library_is_refused() {
        let of = |pairs: &[(&str, &str)]| -> Properties {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let mut wanted = Wanted { configuration: "Debug", framework: None, profile: None };
        let several = of(&[("TargetFrameworks", "net6.0;net8.0"), ("OutputType", "Exe")]);
        let refused = check(Path::new("a.csproj"), &wanted, &several).unwrap_err().to_string();
        assert!(refused.contains("net6.0, net8.0"), "{refused}");
        wanted.framework = Some("net8.0");
        assert!(check(Path::new("a.csproj"), &wanted, &several).is_ok());
        let library = of(&[("OutputType", "Library")]);
        assert!(check(Path::new("a.csproj"), &wanted, &library).unwrap_err().to_string().contains("library"));
    }
}
