//! Rust: the package's program that is meant, built by cargo, and the executable that came of it. A file that is in no
//! package is compiled by itself.

use std::path::{Path, PathBuf};

use breakroom_engines::folder_with;
use serde_json::Value;

use super::{Arguments, Job, compile_into, program, steering};
use crate::choice::{self, Choice};
use crate::failure::{self, Failure};
use crate::workshop::{Command, Shown, Workshop};

/// One thing that cargo can build, as its metadata has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub name: String,
    kind: Kind,
    source: PathBuf,
    manifest: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Binary,
    Example,
    Test,
    Benchmark,
    Library,
}

/// Lines of the compiler's explanation that are told with an error.
const EXPLAINED: usize = 12;

/// What cargo calls a kind, how people call it, and the words that build it.
const KINDS: &[(&str, Kind, &str, &[&str])] = &[
    ("bin", Kind::Binary, "program", &["build", "--bin"]),
    ("example", Kind::Example, "example", &["build", "--example"]),
    ("test", Kind::Test, "test", &["test", "--no-run", "--test"]),
    ("bench", Kind::Benchmark, "benchmark", &["test", "--no-run", "--bench"]),
    ("lib", Kind::Library, "unit tests", &["test", "--no-run", "--lib"]),
];

pub async fn of_file(job: Job<'_>) -> Result<Option<Arguments>, Failure> {
    let Some(folder) = folder_with(job.file, "Cargo.toml", job.workshop.context) else {
        let folder = job.file.parent().unwrap_or(job.file);
        steering::check(&steering::RUSTC, folder)?;
        let compiled = compile_into(job, "rustc", |place| {
            Command::new(
                folder,
                &["rustc", "-g", "--edition", "2024", "--error-format", "short", "-o", place],
            )
            .and([job.file.to_string_lossy()])
        });
        return Ok(Some(program(&compiled.await?)));
    };
    let manifest = folder.join("Cargo.toml");
    let metadata = metadata(&manifest, job.workshop).await?;
    let target = target_of_file(&metadata, job.file, &manifest, job.target)?;
    Ok(Some(program(&build(&target, job.workshop).await?)))
}

/// What can be run of a project.
pub async fn programs(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Target>, Failure> {
    let metadata = metadata(&folder.join("Cargo.toml"), workshop).await?;
    Ok(runnable(&metadata))
}

impl Target {
    pub fn what(&self) -> String {
        let kind = KINDS.iter().find(|(_, kind, ..)| *kind == self.kind);
        format!("Rust {}, {}", kind.map_or("", |(_, _, what, _)| *what), self.source.display())
    }
}

pub async fn build(target: &Target, workshop: &Workshop<'_>) -> Result<PathBuf, Failure> {
    let folder = target.manifest.parent().unwrap_or(&target.manifest);
    let words = KINDS.iter().find(|(_, kind, ..)| *kind == target.kind).map_or(&[][..], |(.., words)| words);
    let mut command = Command::new(folder, &["cargo"]).and(words.iter().copied());
    if target.kind != Kind::Library {
        command = command.and([target.name.as_str()]);
    }
    let command = command.and(["--manifest-path"]).and([target.manifest.to_string_lossy()]);
    let mut built = run(command, workshop).await?;
    built.retain(|executable| executable.target == target.name);
    let missing = || Failure::said(format!("cargo built `{}` but named no executable.", target.name));
    built.pop().map(|executable| executable.path).ok_or_else(missing)
}

/// What an editor's configuration says in its own words: `"cargo": {"args": [...], "filter": {"name", "kind"}}`.
/// With `"tests": true`, the one of several that has the tests which the program's own words choose; else the one that its
/// package says is run by default.
pub async fn by_arguments(
    wanted: &Value,
    words: &[&str],
    cwd: &Path,
    workshop: &Workshop<'_>,
) -> Result<PathBuf, Failure> {
    steering::check(&steering::CARGO, cwd)?;
    let args = wanted["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut built = run(Command::new(cwd, &["cargo"]).and(args), workshop).await?;
    let filter = &wanted["filter"];
    let fits = |executable: &Executable| {
        let is = |key: &str, found: &str| filter[key].as_str().is_none_or(|wanted| wanted == found);
        is("name", &executable.target) && is("kind", &executable.kind)
    };
    built.retain(fits);
    let are_tests = wanted["tests"] == true;
    // Cargo builds programs and examples beside the tests that may need them.
    built.retain(|executable| executable.is_test || !are_tests);
    let mut unasked = Vec::new();
    if built.len() > 1 {
        match are_tests {
            true => (built, unasked) = with_tests(built, words, cwd, workshop).await?,
            false => built = by_default(built, workshop).await?,
        }
    }
    match built.len() {
        1 => Ok(built.remove(0).path),
        0 if are_tests => {
            let advice = match unasked.is_empty() {
                true => String::new(),
                false => format!(
                    " Not asked, for a harness of their own: {}; choose one by --test, --bin or --lib.",
                    unasked.join(", ")
                ),
            };
            Err(Failure::said(format!("no test fits `cargo test {}`.{advice}", words.join(" "))))
        }
        0 => Err(Failure::said("cargo built no executable that fits the configuration's `cargo`.")),
        _ => {
            let names: Vec<_> = built.iter().map(|executable| executable.target.clone()).collect();
            let names = names.join(", ");
            Err(Failure::said(format!(
                "cargo built several executables ({names}); choose one by --bin, --test or --lib, in a configuration by its `filter`."
            )))
        }
    }
}

/// Those of which a test would be run, and the names of those that cannot be asked.
async fn with_tests(
    built: Vec<Executable>,
    words: &[&str],
    cwd: &Path,
    workshop: &Workshop<'_>,
) -> Result<(Vec<Executable>, Vec<String>), Failure> {
    let (mut fitting, mut unasked) = (Vec::new(), Vec::new());
    for executable in built {
        // Without the usual harness it may know no `--list`, and would do for real what it does.
        if !has_harness(&executable) {
            unasked.push(executable.target);
            continue;
        }
        let command = Command::new(cwd, &[&executable.path.to_string_lossy()]);
        let listed =
            workshop.run(&command.and(words.iter().copied()).and(["--list"]), Shown::Nothing).await?;
        if listed.stdout.lines().any(|line| line.ends_with(": test")) {
            fitting.push(executable);
        }
    }
    Ok((fitting, unasked))
}

/// Cargo says it nowhere but in the manifest. One that cannot be read says nothing.
fn has_harness(executable: &Executable) -> bool {
    let manifest = std::fs::read_to_string(&executable.manifest).ok();
    let manifest = manifest.and_then(|text| text.parse::<toml::Table>().ok());
    manifest.is_some_and(|manifest| !is_without_harness(&manifest, executable))
}

fn is_without_harness(manifest: &toml::Table, executable: &Executable) -> bool {
    let says_so = |target: &toml::Value| target.get("harness").and_then(toml::Value::as_bool) == Some(false);
    match manifest.get(&executable.kind).and_then(toml::Value::as_array) {
        Some(targets) => {
            let is_it = |target: &&toml::Value| {
                target.get("name").and_then(toml::Value::as_str) == Some(&executable.target)
            };
            targets.iter().find(is_it).is_some_and(says_so)
        }
        // Libraries have a kind for each way to link them, and one section.
        None => !HAVE_SECTIONS.contains(&&*executable.kind) && manifest.get("lib").is_some_and(says_so),
    }
}

/// Kinds of which a manifest names each one.
const HAVE_SECTIONS: [&str; 4] = ["bin", "example", "test", "bench"];

/// Of programs the only one that is its package's default, or all if there is none.
async fn by_default(mut built: Vec<Executable>, workshop: &Workshop<'_>) -> Result<Vec<Executable>, Failure> {
    let are_programs = built.iter().all(|executable| executable.kind == "bin" && !executable.is_test);
    let Some(first) = built.first().filter(|_| are_programs) else { return Ok(built) };
    let metadata = metadata(&first.manifest, workshop).await?;
    let is = |executable: &Executable| is_default(&metadata, &executable.manifest, &executable.target);
    if built.iter().filter(|executable| is(executable)).count() == 1 {
        built.retain(is);
    }
    Ok(built)
}

/// What of a build can be started.
#[derive(Debug, PartialEq, Eq)]
struct Executable {
    target: String,
    kind: String,
    path: PathBuf,
    manifest: PathBuf,
    /// Whether it was built to test what it is of.
    is_test: bool,
}

async fn run(command: Command, workshop: &Workshop<'_>) -> Result<Vec<Executable>, Failure> {
    workshop.say(&command.argv.join(" "));
    let finished = workshop.run(&command.and(["--message-format=json"]), Shown::Stderr).await?;
    let messages: Vec<Value> =
        finished.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    match finished.succeeded() {
        true => Ok(messages.iter().filter_map(executable).collect()),
        false => {
            let errors: Vec<_> = messages.iter().filter_map(error).collect();
            Err(failure::of_build("cargo", finished.exit, &errors, &finished.stderr))
        }
    }
}

fn executable(message: &Value) -> Option<Executable> {
    let path = message["executable"].as_str()?.into();
    let target = message["target"]["name"].as_str()?.to_owned();
    let kind = message["target"]["kind"][0].as_str()?.to_owned();
    let manifest = message["manifest_path"].as_str().unwrap_or_default().into();
    let is_test = message["profile"]["test"] == true;
    let executable = Executable { target, kind, path, manifest, is_test };
    (message["reason"] == "compiler-artifact").then_some(executable)
}

/// An error of the compiler with its place. Those without one only count the others.
fn error(message: &Value) -> Option<String> {
    let said = &message["message"];
    if message["reason"] != "compiler-message" || said["level"] != "error" {
        return None;
    }
    let span = said["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
    let (file, line, column) = (span["file_name"].as_str()?, &span["line_start"], &span["column_start"]);
    let code = said["code"]["code"].as_str().map(|code| format!("[{code}]")).unwrap_or_default();
    let explained = said["rendered"].as_str().map(explanation).unwrap_or_default();
    Some(format!("{file}:{line}:{column}: error{code}: {}{explained}", said["message"].as_str()?))
}

/// What the compiler shows below an error and its place: the line, and what it expected there.
fn explanation(rendered: &str) -> String {
    let shown = rendered.lines().skip_while(|line| !line.trim_start().starts_with("--> ")).skip(1);
    let shown = shown.take_while(|line| !line.trim().is_empty()).take(EXPLAINED);
    shown.map(|line| format!("\n{line}")).collect()
}

async fn metadata(manifest: &Path, workshop: &Workshop<'_>) -> Result<Value, Failure> {
    let folder = manifest.parent().unwrap_or(manifest);
    steering::check(&steering::CARGO, folder)?;
    let words = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path"];
    let command = Command::new(folder, &words).and([manifest.to_string_lossy()]);
    let finished = workshop.run(&command, Shown::Nothing).await?;
    if !finished.succeeded() {
        return Err(failure::of_build("cargo metadata", finished.exit, &[], &finished.stderr));
    }
    serde_json::from_str(&finished.stdout)
        .map_err(|error| Failure::said(format!("cargo metadata says something unexpected: {error}.")))
}

fn targets(metadata: &Value) -> Vec<Target> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let of_package = |package: &Value| {
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
        let target = |target: &Value| {
            let kinds = target["kind"].as_array()?;
            let known = |(name, kind, ..): &(&str, Kind, &str, &[&str])| {
                kinds.iter().any(|said| said == name).then_some(*kind)
            };
            let kind = KINDS.iter().find_map(known)?;
            let (name, source) = (target["name"].as_str()?.to_owned(), target["src_path"].as_str()?.into());
            Some(Target { name, kind, source, manifest: manifest.clone() })
        };
        package["targets"].as_array().into_iter().flatten().filter_map(target).collect::<Vec<_>>()
    };
    packages.flat_map(of_package).collect()
}

/// The programs of a project; if it says which of them runs by default, that one. One without any has its examples, or else
/// its unit tests.
fn runnable(metadata: &Value) -> Vec<Target> {
    let all = targets(metadata);
    let of = |kind: Kind| all.iter().filter(move |target| target.kind == kind).cloned().collect::<Vec<_>>();
    let default = |target: &Target| is_default(metadata, &target.manifest, &target.name);
    let programs = of(Kind::Binary);
    match programs.iter().filter(|target| default(target)).count() {
        1 => programs.into_iter().filter(default).collect(),
        _ => [programs, of(Kind::Example), of(Kind::Library)]
            .into_iter()
            .find(|kind| !kind.is_empty())
            .unwrap_or_default(),
    }
}

/// Whether a package says that this is the program which it runs.
fn is_default(metadata: &Value, manifest: &Path, name: &str) -> bool {
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    packages.any(|package| {
        manifest.to_str() == package["manifest_path"].as_str() && package["default_run"] == *name
    })
}

/// Which target a source file means: the one that it is the root of, or the only program of its package.
fn target_of_file(
    metadata: &Value,
    file: &Path,
    manifest: &Path,
    wanted: Option<&str>,
) -> Result<Target, Failure> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let (file, manifest) = (canonical(file), canonical(manifest));
    let mut all = targets(metadata);
    let root = all.iter().find(|target| canonical(&target.source) == file).cloned();
    if let (Some(root), None) = (root, wanted) {
        return Ok(root);
    }
    all.retain(|target| canonical(&target.manifest) == manifest);
    let mut fitting = runnable(metadata);
    fitting.retain(|target| canonical(&target.manifest) == manifest);
    if wanted.is_some() {
        fitting = all.clone();
    }
    if fitting.is_empty() {
        fitting.extend(all.into_iter().filter(|target| target.kind == Kind::Library));
    }
    let choices =
        fitting.iter().map(|target| Choice { name: target.name.clone(), what: target.what() }).collect();
    let at = choice::pick(choices, wanted, &format!("{} belongs to", file.display()))?;
    Ok(fitting.remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata() -> Value {
        let target =
            |name: &str, kind: &str, source: &str| json!({"name": name, "kind": [kind], "src_path": source});
        json!({"packages": [
            {"manifest_path": "/p/a/Cargo.toml", "default_run": null, "targets": [
                target("a", "lib", "/p/a/src/lib.rs"), target("one", "bin", "/p/a/src/bin/one.rs"),
                target("two", "bin", "/p/a/src/bin/two.rs"), target("check", "test", "/p/a/tests/check.rs"),
                target("build-script-build", "custom-build", "/p/a/build.rs")]},
            {"manifest_path": "/p/b/Cargo.toml", "targets": [target("b", "bin", "/p/b/src/main.rs")]},
        ]})
    }

    fn chosen(file: &str, manifest: &str, wanted: Option<&str>) -> Result<String, String> {
        let target = target_of_file(&metadata(), Path::new(file), Path::new(manifest), wanted);
        target.map(|target| target.name).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_file_means_the_target_that_it_is_the_root_of_or_its_packages_only_program() {
        for (file, manifest, name) in [
            ("/p/a/src/bin/two.rs", "/p/a/Cargo.toml", "two"),
            ("/p/a/tests/check.rs", "/p/a/Cargo.toml", "check"),
            ("/p/b/src/deep/module.rs", "/p/b/Cargo.toml", "b"),
        ] {
            assert_eq!(chosen(file, manifest, None).as_deref(), Ok(name));
        }
        assert_eq!(chosen("/p/a/src/x.rs", "/p/a/Cargo.toml", Some("one")).as_deref(), Ok("one"));
        let refusal = chosen("/p/a/src/x.rs", "/p/a/Cargo.toml", None).unwrap_err();
        assert!(
            refusal.contains("--target") && refusal.contains("one") && refusal.contains("two"),
            "{refusal}"
        );
        assert!(!refusal.contains("build-script"), "{refusal}");
    }

    #[test]
    fn errors_have_their_place_and_executables_their_path() {
        let error_message = json!({"reason": "compiler-message", "message": {"level": "error", "message": "no such x",
            "code": {"code": "E0425"},
            "spans": [{"is_primary": true, "file_name": "src/main.rs", "line_start": 3, "column_start": 5}]}});
        assert_eq!(error(&error_message).as_deref(), Some("src/main.rs:3:5: error[E0425]: no such x"));
        let mut shown = error_message;
        shown["message"]["rendered"] =
            "error[E0425]: no such x\n --> src/main.rs:3:5\n  |\n3 |     x\n  |     ^ not found\n\n".into();
        assert_eq!(
            error(&shown).as_deref(),
            Some("src/main.rs:3:5: error[E0425]: no such x\n  |\n3 |     x\n  |     ^ not found")
        );
        let counting = json!({"reason": "compiler-message", "message": {"level": "error", "spans": []}});
        assert_eq!(error(&counting), None);
        let built = json!({"reason": "compiler-artifact", "executable": "/t/x", "target": {"name": "x", "kind": ["bin"]}});
        assert_eq!(executable(&built).unwrap().path, Path::new("/t/x"));
        assert_eq!(executable(&json!({"reason": "compiler-artifact", "executable": null})), None);
    }

    #[test]
    fn the_default_program_is_the_only_one() {
        let mut metadata = metadata();
        metadata["packages"][0]["default_run"] = "two".into();
        let names: Vec<_> = runnable(&metadata).into_iter().map(|target| target.name).collect();
        assert_eq!(names, ["two"]);
    }

    #[test]
    fn what_has_a_harness_of_its_own_is_known_by_its_manifest() {
        let manifest = "[lib]\nharness = false\n[[test]]\nname = \"own\"\nharness = false\n\
                        [[test]]\nname = \"usual\"\n[[bench]]\nname = \"own\"\n";
        let manifest: toml::Table = manifest.parse().unwrap();
        let is_without = |kind: &str, name: &str| {
            let built = json!({"reason": "compiler-artifact", "executable": "/t/x", "profile": {"test": true},
                "target": {"name": name, "kind": [kind]}});
            is_without_harness(&manifest, &executable(&built).unwrap())
        };
        assert!(is_without("test", "own") && is_without("lib", "shop") && is_without("proc-macro", "shop"));
        let usual = [("test", "usual"), ("test", "unnamed"), ("bench", "own"), ("bin", "own")];
        assert!(usual.iter().all(|(kind, name)| !is_without(kind, name)));
    }
}
