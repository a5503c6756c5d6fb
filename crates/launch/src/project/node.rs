//! What `package.json` says: the start script first, then the main file, then the commands it installs.

use std::path::Path;

use serde_json::{Value, json};

use super::{Program, Rank, Start};
use crate::choice::Choice;
use crate::failure::Failure;

pub fn programs(folder: &Path) -> Result<Vec<Program>, Failure> {
    let file = folder.join("package.json");
    let unreadable =
        |problem: String| Failure::said(format!("{} cannot be read: {problem}.", file.display()));
    let bytes = std::fs::read(&file).map_err(|error| unreadable(error.to_string()))?;
    let package: Value = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
    let mut programs = Vec::new();
    if let Some(script) = package["scripts"]["start"].as_str() {
        programs.push(program("start", &format!("script: {script}"), started(script, folder)));
    }
    // An empty name in a path is the folder's own file, which node knows too.
    let main = package["main"].as_str().unwrap_or("index.js");
    if folder.join(main).is_file() {
        programs.push(program("main", &format!("main file: {main}"), file_of(folder, main, &[])));
    }
    match &package["bin"] {
        Value::String(path) => {
            let name = package["name"].as_str().unwrap_or("bin");
            programs.push(program(name, &format!("command: {path}"), file_of(folder, path, &[])));
        }
        Value::Object(commands) => {
            let commands = commands.iter().filter_map(|(name, path)| Some((name, path.as_str()?)));
            programs.extend(
                commands.map(|(name, path)| {
                    program(name, &format!("command: {path}"), file_of(folder, path, &[]))
                }),
            );
        }
        _ => {}
    }
    if let Some(first) = programs.first_mut().filter(|first| ["start", "main"].contains(&&*first.choice.name))
    {
        first.rank = Rank::Default;
    }
    Ok(programs)
}

fn program(name: &str, what: &str, start: Start) -> Program {
    Program {
        choice: Choice { name: name.to_owned(), what: format!("Node.js {what}") },
        rank: Rank::One,
        start,
    }
}

fn file_of(folder: &Path, file: &str, args: &[&str]) -> Start {
    let mut arguments = json!({"type": "pwa-node", "program": folder.join(file), "cwd": folder});
    if !args.is_empty() {
        arguments["args"] = json!(args);
    }
    Start::of(arguments)
}

/// `node server.js --port 1` is that file with those arguments; whatever else is run is npm's to run.
fn started(script: &str, folder: &Path) -> Start {
    let words: Vec<&str> = script.split_whitespace().collect();
    let plain = !script.contains(['&', '|', ';', '$', '"', '\'', '<', '>', '*']);
    match words.as_slice() {
        ["node", file, args @ ..] if plain && folder.join(file).is_file() => file_of(folder, file, args),
        _ => {
            let run = json!(["run-script", "start"]);
            Start::of(
                json!({"type": "pwa-node", "runtimeExecutable": "npm", "runtimeArgs": run, "cwd": folder}),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(package: Value, files: &[&str]) -> Vec<(String, Rank, Value)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("package.json"), package.to_string()).unwrap();
        files.iter().for_each(|file| std::fs::write(folder.path().join(file), "").unwrap());
        let told = |program: Program| {
            let Start::Arguments(arguments) = program.start else { panic!("built") };
            let text = Value::Object(arguments).to_string().replace(folder.path().to_str().unwrap(), "");
            (program.choice.name, program.rank, serde_json::from_str(&text).unwrap())
        };
        programs(folder.path()).unwrap().into_iter().map(told).collect()
    }

    #[test]
    fn the_start_script_is_meant_before_the_main_file() {
        let found = of(json!({"scripts": {"start": "node s.js -p 1"}, "main": "m.js"}), &["s.js", "m.js"]);
        let start = json!({"type": "pwa-node", "program": "/s.js", "args": ["-p", "1"], "cwd": ""});
        assert_eq!(found[0], ("start".to_owned(), Rank::Default, start));
        assert_eq!((found[1].0.as_str(), found[1].1), ("main", Rank::One));
        let npm = of(json!({"scripts": {"start": "vite && x"}}), &[]);
        assert_eq!(npm[0].2["runtimeArgs"], json!(["run-script", "start"]));
        assert_eq!(of(json!({}), &["index.js"])[0].2["program"], "/index.js");
    }

    #[test]
    fn several_commands_are_all_there_and_none_is_meant() {
        let found = of(json!({"bin": {"a": "a.js", "b": "b.js"}}), &[]);
        assert_eq!(
            found.iter().map(|(name, rank, _)| (&**name, *rank)).collect::<Vec<_>>(),
            [("a", Rank::One), ("b", Rank::One)]
        );
    }
}
