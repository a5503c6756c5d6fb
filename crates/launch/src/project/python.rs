//! Python projects: Django's `manage.py`, `__main__.py` of the folder or of a package in it, and the commands that
//! `pyproject.toml` installs.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Program, Rank, Start};
use crate::choice::Choice;

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
        return vec![file("__main__.py", &[])];
    }
    let mut programs = commands(folder);
    programs.extend(packages(folder));
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
        let first = call.split('.').next().unwrap_or(call);
        let code =
            format!("import sys; from {module} import {first}; sys.argv[0] = '{name}'; sys.exit({call}())");
        let start =
            json!({"type": "python", "code": code, "cwd": folder, "env": {"PYTHONPATH": sources(folder)}});
        Some(program(name, &format!("Python command, {function}"), Rank::One, Start::of(start)))
    };
    scripts.into_iter().flatten().filter_map(command).collect()
}

/// Packages that can be run by themselves.
fn packages(folder: &Path) -> Vec<Program> {
    let entries =
        std::fs::read_dir(sources(folder)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("__main__.py").is_file()).collect();
    found.sort();
    let package = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        let start =
            json!({"type": "python", "module": name, "cwd": folder, "env": {"PYTHONPATH": sources(folder)}});
        Some(program(&name, &format!("Python package, {}", path.display()), Rank::One, Start::of(start)))
    };
    found.into_iter().filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn of(files: &[(&str, &str)]) -> Vec<(String, Value)> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let told = |program: Program| {
            let Start::Arguments(arguments) = program.start else { panic!("built") };
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
        let code = "import sys; from app.cli import main; sys.argv[0] = 'serve'; sys.exit(main())";
        assert_eq!(found[0].1["code"], code);
        assert_eq!(
            (&found[1].1["module"], &found[1].1["env"]["PYTHONPATH"]),
            (&json!("app"), &json!("/src"))
        );
    }
}
