//! Python projects: Django's `manage.py`, `__main__.py` of the folder or of a package in it, and the commands that
//! `pyproject.toml` installs.

use std::path::{Path, PathBuf};

use breakroom_engines::Context;
use serde_json::{Value, json};

use super::{Program, Rank, Start};
use crate::build::Arguments;
use crate::cache;
use crate::choice::Choice;
use crate::failure::Failure;

/// Files that are taken for the program of a project that names none.
const USUAL: [&str; 2] = ["main.py", "app.py"];

pub fn is_in(folder: &Path) -> bool {
    ["pyproject.toml", "__main__.py", "manage.py"].iter().any(|name| folder.join(name).is_file())
}

pub fn programs(folder: &Path) -> Vec<Program> {
    let file = |name: &str, args: &[&str]| {
        let mut arguments = json!({"type": "python", "program": folder.join(name), "cwd": folder});
        if !args.is_empty() {
            arguments["args"] = json!(args);
        }
        program(
            name,
            &format!("Python file, {}", folder.join(name).display()),
            Rank::Default,
            Start::of(arguments),
        )
    };
    if folder.join("manage.py").is_file() {
        // Its reloader would start the server in a second process.
        return vec![file("manage.py", &["runserver", "--noreload"])];
    }
    if folder.join("__main__.py").is_file() {
        // What a package imports from beside itself is found only if it is run as one.
        let own = folder.join("__init__.py").is_file().then(|| {
            let above = folder.parent()?;
            package(folder, above, above, Rank::Default)
        });
        let own = own.flatten();
        return vec![own.unwrap_or_else(|| file("__main__.py", &[]))];
    }
    let mut programs = commands(folder);
    let mut packages = packages(folder);
    for package in &mut packages {
        if programs.iter().any(|command| command.choice.name == package.choice.name) {
            package.choice.name.push_str("/__main__.py");
        }
    }
    programs.append(&mut packages);
    if programs.is_empty() {
        programs.extend(USUAL.iter().filter(|name| folder.join(name).is_file()).map(|name| file(name, &[])));
    }
    programs
}

fn program(name: &str, what: &str, rank: Rank, start: Start) -> Program {
    Program { choice: Choice { name: name.to_owned(), what: what.to_owned() }, rank, start }
}

/// Where the packages of a project are.
fn sources(folder: &Path) -> PathBuf {
    let inner = folder.join("src");
    if inner.is_dir() { inner } else { folder.to_path_buf() }
}

/// `[project.scripts]`: each is a function to call.
fn commands(folder: &Path) -> Vec<Program> {
    let text = std::fs::read_to_string(folder.join("pyproject.toml")).unwrap_or_default();
    let project: toml::Table = text.parse().unwrap_or_default();
    let scripts =
        project.get("project").and_then(|project| project.get("scripts")).and_then(toml::Value::as_table);
    let command = |(name, function): (&String, &toml::Value)| {
        let function = function.as_str()?;
        let (module, call) = function.split_once(':')?;
        // What follows in brackets is extras that have to be installed.
        let call = call.split(['[', ' ']).next().unwrap_or(call);
        let start = Command { name: name.clone(), module: module.trim().to_owned(), call: call.to_owned() };
        Some(program(name, &format!("Python command, {function}"), Rank::One, Start::Command(start)))
    };
    scripts.into_iter().flatten().filter_map(command).collect()
}

/// A function that is called by the name of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    name: String,
    module: String,
    call: String,
}

impl Command {
    /// By a script as installers write it: whoever stops in it sees where it goes from there.
    pub fn arguments(&self, folder: &Path, context: &Context) -> Result<Arguments, Failure> {
        let Command { name, module, call } = self;
        let first = call.split('.').next().unwrap_or(call);
        let text = format!("import sys\nfrom {module} import {first}\nsys.exit({call}())\n");
        let file_name = name.replace('/', "_");
        let place = cache::folder_for(&folder.join(&file_name), context)?;
        let (script, beside) = (place.join(&file_name), place.join(format!(".{}", cache::unique())));
        // At once: another may be reading it.
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, &script))
            .map_err(|error| Failure::said(format!("{} cannot be written: {error}.", script.display())))?;
        let env = json!({"PYTHONPATH": sources(folder)});
        let arguments =
            [("type", "python".into()), ("program", json!(script)), ("cwd", json!(folder)), ("env", env)];
        Ok(arguments.map(|(key, value): (&str, Value)| (key.to_owned(), value)).into_iter().collect())
    }
}

/// Packages that can be run by themselves.
fn packages(folder: &Path) -> Vec<Program> {
    let entries =
        std::fs::read_dir(sources(folder)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("__main__.py").is_file()).collect();
    found.sort();
    found.iter().filter_map(|path| package(path, &sources(folder), folder, Rank::One)).collect()
}

/// A package that is run as a whole, found below its sources.
fn package(path: &Path, sources: &Path, cwd: &Path, rank: Rank) -> Option<Program> {
    let name = path.file_name()?.to_str()?;
    let start = json!({"type": "python", "module": name, "cwd": cwd, "env": {"PYTHONPATH": sources}});
    Some(program(name, &format!("Python package, {}", path.display()), rank, Start::of(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<(String, Value)> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let told = |program: Program| {
            let arguments = match program.start {
                Start::Arguments(arguments) => arguments,
                Start::Command(command) => {
                    let env = vec![("HOME".into(), folder.path().into())];
                    let context = Context { cwd: folder.path().into(), env, umask: 0o022 };
                    command.arguments(folder.path(), &context).unwrap()
                }
                _ => panic!("built"),
            };
            let text = Value::Object(arguments).to_string().replace(folder.path().to_str().unwrap(), "");
            (program.choice.name, serde_json::from_str(&text).unwrap())
        };
        programs(folder.path()).into_iter().map(told).collect()
    }

    #[test]
    fn what_the_project_says_is_believed() {
        let django = of(&[("manage.py", ""), ("pyproject.toml", "")]);
        assert_eq!(django[0].1["args"], json!(["runserver", "--noreload"]));
        assert_eq!(of(&[("__main__.py", "")])[0].1["program"], "/__main__.py");
        assert_eq!(of(&[("pyproject.toml", "odd = "), ("main.py", "")])[0].1["program"], "/main.py");
        let scripts = "[project.scripts]\nserve = \"app.cli:main\"\n";
        let found = of(&[("pyproject.toml", scripts), ("src/app/__main__.py", "")]);
        assert_eq!(found[0].0, "serve");
        assert!(found[0].1["program"].as_str().unwrap().ends_with("/serve"), "{found:?}");
        assert_eq!(
            (&found[1].1["module"], &found[1].1["env"]["PYTHONPATH"]),
            (&json!("app"), &json!("/src"))
        );
        // A package that is named itself imports from beside itself.
        let package = of(&[("__main__.py", ""), ("__init__.py", "")]);
        assert_eq!(package[0].1["module"], package[0].0);
    }
}
