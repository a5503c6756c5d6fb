//! TypeScript: a project's own compiler with source maps; or node itself, if that node strips types.
//!
//! Whoever brings a runtime, a loader or `outFiles` has arranged it already, and is left alone.

use std::path::{Path, PathBuf};

use breakroom_engines::{Context, folder_with, folders_above, has_known_owner};
use serde_json::{Value, json};

use super::{Arguments, Job, compile, program};
use crate::cache;
use crate::failure::Failure;
use crate::jsonc;
use crate::workshop::{Command, Shown, Workshop};

/// Arguments by which somebody says how the file is run.
const ARRANGED: [&str; 4] = ["runtimeArgs", "outFiles", "preLaunchTask", "resolveSourceMapLocations"];

pub async fn build(job: Job<'_>) -> Result<Option<Arguments>, Failure> {
    let runtime = job.arguments.get("runtimeExecutable").and_then(Value::as_str).unwrap_or("node");
    let is_node = Path::new(runtime).file_name().is_some_and(|name| name == "node");
    if !is_node || ARRANGED.iter().any(|key| job.arguments.contains_key(*key)) {
        return Ok(None);
    }
    let compiler = compiler(job.file, job.workshop);
    let project = project_of(job.file, job.workshop.context);
    match (&project, compiler) {
        (Some(folder), Some(compiler)) => by_project(job, folder, &compiler).await.map(Some),
        (_, compiler) => match (stripping(runtime, job).await?, compiler) {
            (Stripping::ByItself, _) => Ok(None),
            (Stripping::WhenAsked, _) => {
                let mut arguments = program(job.file);
                arguments.insert("runtimeArgs".to_owned(), json!(["--experimental-strip-types"]));
                Ok(Some(arguments))
            }
            (Stripping::Never, Some(compiler)) => lone(job, &compiler).await.map(Some),
            (Stripping::Never, None) => as_it_was_built(job, project.as_deref()).map(Some),
        },
    }
}

/// The folder of the configuration that a file belongs to: none above its package or repository.
fn project_of(file: &Path, context: &Context) -> Option<PathBuf> {
    let has = |folder: &Path, name: &str| folder.join(name).exists();
    let ends =
        |folder: &&Path| ["tsconfig.json", "package.json", ".git"].iter().any(|name| has(folder, name));
    let folder = folders_above(file, context).find(ends)?;
    has_known_owner(&folder.join("tsconfig.json"), file).then(|| folder.to_path_buf())
}

/// The project's own, or the one in PATH.
fn compiler(file: &Path, workshop: &Workshop<'_>) -> Option<String> {
    let own = folder_with(file, "node_modules/.bin/tsc", workshop.context)
        .map(|folder| folder.join("node_modules/.bin/tsc"));
    own.or_else(|| workshop.context.which("tsc")).map(|path| path.to_string_lossy().into_owned())
}

/// What somebody has made of the file before, as long as it is not older than the file: nobody can make it here.
fn as_it_was_built(job: Job<'_>, project: Option<&Path>) -> Result<Arguments, Failure> {
    const NO_COMPILER: &str = "this node does not take TypeScript (22.18 and later do), and there is no tsc; install one with: npm install typescript";
    let lacking = |built: String| {
        Failure::said(format!("{} has to be compiled first: {NO_COMPILER}{built}", job.file.display()))
    };
    let found = project.and_then(|folder| {
        let place = place_said(folder);
        built_of(job.file, folder, &place).map(|script| (place, script))
    });
    let (place, script) = found.ok_or_else(|| lacking(String::new()))?;
    let changed = |file: &Path| file.metadata().and_then(|metadata| metadata.modified()).ok();
    if changed(&script) < changed(job.file) {
        return Err(lacking(format!(" ({} was made of an older one)", script.display())));
    }
    job.workshop.say(&format!("there is no tsc; {} is what was made of it before", script.display()));
    Ok(launch_of(job, &script, Some(&place)))
}

/// Where a project says that its compiler writes to.
fn place_said(folder: &Path) -> PathBuf {
    let config = std::fs::read_to_string(folder.join("tsconfig.json")).unwrap_or_default();
    let config = jsonc::parse(&config).unwrap_or_default();
    let place = folder.join(config["compilerOptions"]["outDir"].as_str().unwrap_or_default());
    place.canonicalize().unwrap_or(place)
}

/// The script whose map names the file. Which folders above the file are left out below the place is the compiler's choice.
fn built_of(file: &Path, folder: &Path, place: &Path) -> Option<PathBuf> {
    let wanted = file.canonicalize().ok()?;
    let within = wanted.strip_prefix(folder.canonicalize().ok()?).ok()?;
    let extension = match file.extension()?.to_str()? {
        "mts" => "mjs",
        "cts" => "cjs",
        _ => "js",
    };
    let parts: Vec<_> = within.iter().collect();
    let names = (0..parts.len()).filter_map(|left_out| parts.get(left_out..));
    let mut scripts =
        names.map(|name| place.join(name.iter().collect::<PathBuf>()).with_extension(extension));
    scripts.find(|script| source_of(script).as_ref() == Some(&wanted))
}

async fn by_project(job: Job<'_>, folder: &Path, compiler: &str) -> Result<Arguments, Failure> {
    let config = folder.join("tsconfig.json").to_string_lossy().into_owned();
    let asked = Command::new(folder, &[compiler, "-p", &config, "--showConfig"]);
    let shown = job.workshop.run(&asked, Shown::Nothing).await?;
    let options: Value = serde_json::from_str(&shown.stdout).unwrap_or_default();
    let words = ["--sourceMap", "--noEmit", "false", "--incremental", "false", "--composite", "false"];
    let mut command = Command::new(folder, &[compiler, "-p", &config]).and(words);
    // Without a place of its own it would be written between the sources.
    if options["compilerOptions"]["outDir"].as_str().is_none() {
        let place = place_beside(folder, job)?;
        command = command.and(["--outDir".into(), place.to_string_lossy()]);
        // Then the compiler must not choose the root by what it finds.
        if options["compilerOptions"]["rootDir"].as_str().is_none() {
            command = command.and(["--rootDir".into(), folder.to_string_lossy()]);
        }
    }
    emitted(job, command).await
}

/// A file without a project.
async fn lone(job: Job<'_>, compiler: &str) -> Result<Arguments, Failure> {
    let folder = job.file.parent().unwrap_or(job.file);
    let place = place_beside(folder, job)?;
    let command =
        Command::new(folder, &[compiler, "--sourceMap", "--target", "es2022", "--module", "node16"])
            .and(["--esModuleInterop", "--skipLibCheck"])
            // Newer ones refuse to find it out by what is imported, which may be anywhere.
            .and(["--rootDir", "/"])
            .and(["--outDir".into(), place.to_string_lossy(), job.file.to_string_lossy()]);
    emitted(job, command).await
}

/// A folder from which the project's packages are found, if it has some: node looks for them upwards.
fn place_beside(folder: &Path, job: Job<'_>) -> Result<PathBuf, Failure> {
    let modules = folder.join("node_modules");
    let place = match modules.is_dir() {
        true => modules.join(".cache/breakroom"),
        false => cache::folder_for(job.file, job.workshop.context)?,
    };
    // Whether files are modules is said by the nearest of these, and the project's own is out of sight from here.
    let own =
        folder_with(job.file, "package.json", job.workshop.context).map(|folder| folder.join("package.json"));
    let said: Value =
        own.and_then(|own| serde_json::from_slice(&std::fs::read(own).ok()?).ok()).unwrap_or_default();
    let package = json!({"type": said["type"].as_str().unwrap_or("commonjs")});
    std::fs::create_dir_all(&place)
        .and_then(|()| std::fs::write(place.join("package.json"), package.to_string()))
        .map_err(|error| Failure::said(format!("{} cannot be written: {error}.", place.display())))?;
    Ok(place)
}

/// Compiles, and finds what was made of the file by what the compiler lists and the maps say.
async fn emitted(job: Job<'_>, command: Command) -> Result<Arguments, Failure> {
    let output = compile(job.workshop, "tsc", &command.and(["--listEmittedFiles"])).await?;
    let written = output
        .lines()
        .filter_map(|line| line.strip_prefix("TSFILE: "))
        .map(|path| PathBuf::from(path.trim()));
    let scripts: Vec<PathBuf> = written.filter(|path| !path.to_string_lossy().ends_with(".map")).collect();
    let wanted = job.file.canonicalize().unwrap_or_else(|_| job.file.to_path_buf());
    let Some(script) = scripts.iter().find(|script| source_of(script).is_some_and(|source| source == wanted))
    else {
        return Err(Failure::said(format!(
            "tsc made nothing of {}; is it part of the project?",
            job.file.display()
        )));
    };
    let folder =
        script.ancestors().skip(1).find(|folder| scripts.iter().all(|script| script.starts_with(folder)));
    Ok(launch_of(job, script, folder))
}

/// The launch of a script that was compiled into a folder, or below it.
fn launch_of(job: Job<'_>, script: &Path, folder: Option<&Path>) -> Arguments {
    let mut arguments = program(script);
    arguments.insert("sourceMaps".to_owned(), true.into());
    // Without it js-debug looks at no map before the program runs, and breakpoints come too late.
    let root = folder_with(job.file, "package.json", job.workshop.context)
        .or_else(|| job.file.parent().map(Path::to_path_buf));
    arguments.insert("__workspaceFolder".to_owned(), json!(root));
    if let Some(folder) = folder {
        let scripts = ["js", "mjs", "cjs"].map(|extension| format!("{}/**/*.{extension}", folder.display()));
        arguments.insert("outFiles".to_owned(), json!(scripts));
        // Maps in a folder of packages are not looked at unless somebody says so.
        arguments.insert("resolveSourceMapLocations".to_owned(), json!([format!("{}/**", folder.display())]));
    }
    arguments
}

/// The source that a script's map names.
fn source_of(script: &Path) -> Option<PathBuf> {
    let map = PathBuf::from(format!("{}.map", script.display()));
    let read: Value = serde_json::from_slice(&std::fs::read(&map).ok()?).ok()?;
    let root = read["sourceRoot"].as_str().unwrap_or_default();
    map.parent()?.join(root).join(read["sources"][0].as_str()?).canonicalize().ok()
}

enum Stripping {
    ByItself,
    WhenAsked,
    Never,
}

async fn stripping(runtime: &str, job: Job<'_>) -> Result<Stripping, Failure> {
    let folder = job.file.parent().unwrap_or(job.file);
    let question = "process.features.typescript ? 'strips' : process.version";
    let asked = job.workshop.run(&Command::new(folder, &[runtime, "-p", question]), Shown::Nothing).await?;
    let answer = asked.stdout.trim();
    let mut numbers =
        answer.trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    Ok(match (numbers.next(), numbers.next()) {
        _ if answer == "strips" => Stripping::ByItself,
        (Some(22), Some(6..)) | (Some(23..), _) => Stripping::WhenAsked,
        _ => Stripping::Never,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_was_built_is_found_by_its_map_and_run_unless_it_is_older() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            let path = project.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let context = Context { cwd: project.clone(), env: Vec::new(), umask: 0o022 };
        let (_call_off, called_off) = tokio::sync::watch::channel(false);
        let workshop = Workshop::new(&context, Path::new("none"), &|_| {}, &|_| {}, called_off);
        let (arguments, file) = (Arguments::new(), write("src/shop/main.mts", ""));
        let job = Job { file: &file, arguments: &arguments, target: None, workshop: &workshop };
        let built = || as_it_was_built(job, Some(&project)).map_err(|failure| failure.to_string());
        write("tsconfig.json", r#"{"compilerOptions": {"outDir": "./dist", /* why not */ }}"#);
        // Another's, by its map.
        write("dist/main.mjs", "");
        write("dist/main.mjs.map", r#"{"sources": ["../src/main.mts"]}"#);
        let refused = built().unwrap_err();
        assert!(refused.contains("npm install typescript") && !refused.contains("older"), "{refused}");

        let script = write("dist/shop/main.mjs", "");
        write("dist/shop/main.mjs.map", r#"{"sources": ["../../src/shop/main.mts"]}"#);
        assert_eq!(built().unwrap()["program"], json!(script));
        assert_eq!(built().unwrap()["__workspaceFolder"], json!(file.parent()));
        let later = SystemTime::now() + Duration::from_secs(60);
        std::fs::File::options().append(true).open(&file).unwrap().set_modified(later).unwrap();
        let refused = built().unwrap_err();
        assert!(refused.contains("main.mjs was made of an older one"), "{refused}");
    }
}
