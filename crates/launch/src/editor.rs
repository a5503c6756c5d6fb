//! An editor's files in a project: its configurations and compounds by name, its tasks and settings.
//!
//! They are only read here. What a configuration's variables mean is in `variables`, what a task does in `tasks`.

use std::path::Path;

use breakroom_engines::{Context, EditorFolder};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::jsonc;

/// Sections for other systems than this one.
const PLATFORMS: [&str; 3] = ["linux", "osx", "windows"];

#[derive(Debug)]
pub struct Editor {
    pub folder: EditorFolder,
    launch: Value,
    pub tasks: Value,
    pub settings: Value,
}

/// What somebody can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    /// `python, launch`, or `api and worker together`.
    pub what: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    One(Map<String, Value>),
    /// Several that are debugged as one session.
    Compound {
        members: Vec<Map<String, Value>>,
        compound: Map<String, Value>,
    },
}

impl Editor {
    /// The files of the nearest folder that has some.
    pub fn load(from: &Path, context: &Context) -> Result<Option<Editor>, Failure> {
        let folder =
            EditorFolder::nearest(from, context).map_err(|error| Failure::said(error.to_string()))?;
        let Some(folder) = folder else { return Ok(None) };
        let launch = read(&folder, "launch.json")?;
        let tasks = read(&folder, "tasks.json")?;
        let settings = read(&folder, "settings.json")?;
        Ok(Some(Editor { folder, launch, tasks, settings }))
    }

    pub fn inputs(&self) -> Value {
        let of = |file: &Value| file["inputs"].as_array().cloned().unwrap_or_default();
        of(&self.launch).into_iter().chain(of(&self.tasks)).collect()
    }

    fn configurations(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.launch["configurations"].as_array().into_iter().flatten().filter_map(Value::as_object)
    }

    fn compounds(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.launch["compounds"].as_array().into_iter().flatten().filter_map(Value::as_object)
    }

    /// Everything that can be asked for, in the file's order.
    pub fn names(&self) -> Vec<Named> {
        let text =
            |of: &Map<String, Value>, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
        let one = |configuration: &Map<String, Value>| {
            let kind = text(configuration, "type").unwrap_or_else(|| "no type".to_owned());
            let request = text(configuration, "request").unwrap_or_else(|| "launch".to_owned());
            Some(Named { name: text(configuration, "name")?, what: format!("{kind}, {request}") })
        };
        let several = |compound: &Map<String, Value>| {
            let what = format!("{} together", members(compound).join(" and "));
            Some(Named { name: text(compound, "name")?, what })
        };
        self.configurations().filter_map(one).chain(self.compounds().filter_map(several)).collect()
    }

    pub fn find(&self, name: &str) -> Result<Found, Failure> {
        let called = |of: &&Map<String, Value>| of.get("name").is_some_and(|known| known == name);
        if let Some(configuration) = self.configurations().find(called) {
            return Ok(Found::One(for_this_system(configuration)));
        }
        let Some(compound) = self.compounds().find(called) else {
            let known: Vec<String> =
                self.names().into_iter().map(|named| format!("  {}", named.name)).collect();
            let known = if known.is_empty() { "  (none)".to_owned() } else { known.join("\n") };
            let place = self.folder.path.join("launch.json");
            return Err(Failure::said(format!(
                "there is no configuration `{name}` in {}; there are:\n{known}",
                place.display()
            )));
        };
        let member = |member: &String| {
            let found =
                self.configurations().find(|one| one.get("name").is_some_and(|known| known == member));
            found.map(for_this_system).ok_or_else(|| {
                Failure::said(format!(
                    "the compound `{name}` names `{member}`, which is no configuration of its file."
                ))
            })
        };
        let members = members(compound).iter().map(member).collect::<Result<Vec<_>, _>>()?;
        if members.is_empty() {
            return Err(Failure::said(format!("the compound `{name}` names no configuration.")));
        }
        Ok(Found::Compound { members, compound: compound.clone() })
    }
}

/// The names in a compound; those of a workspace with several folders are objects.
fn members(compound: &Map<String, Value>) -> Vec<String> {
    let all = compound.get("configurations").and_then(Value::as_array);
    let name = |member: &Value| member.as_str().or_else(|| member["name"].as_str()).map(str::to_owned);
    all.into_iter().flatten().filter_map(name).collect()
}

/// With the section for this system laid over it, and without the others.
pub fn for_this_system(of: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = of.clone();
    for platform in PLATFORMS {
        if let Some(Value::Object(section)) = merged.remove(platform)
            && platform == "linux"
        {
            merged.extend(section);
        }
    }
    merged
}

fn read(folder: &EditorFolder, name: &str) -> Result<Value, Failure> {
    let Some(text) = folder.file(name) else { return Ok(Value::Null) };
    jsonc::parse(text).map_err(|error| {
        Failure::said(format!("{} cannot be read: {error}.", folder.path.join(name).display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LAUNCH: &str = r#"{
        // Ours.
        "configurations": [
            {"name": "api", "type": "python", "request": "launch", "program": "api.py",
             "linux": {"program": "api_linux.py"}, "windows": {"program": "no"}},
            {"name": "worker", "type": "go", "request": "launch"},
        ],
        "compounds": [
            {"name": "all", "configurations": ["api", {"folder": "x", "name": "worker"}], "stopAll": true},
            {"name": "odd", "configurations": ["none"]},
        ],
    }"#;

    fn editor(folder: &Path) -> Editor {
        std::fs::create_dir_all(folder.join(".vscode")).unwrap();
        std::fs::write(folder.join(".vscode/launch.json"), LAUNCH).unwrap();
        let context = Context { cwd: folder.into(), env: vec![], umask: 0o022 };
        Editor::load(folder, &context).unwrap().unwrap()
    }

    #[test]
    fn configurations_and_compounds_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let editor = editor(folder.path());
        let Found::One(api) = editor.find("api").unwrap() else { panic!("a compound") };
        assert_eq!(
            Value::Object(api),
            json!({"name": "api", "type": "python", "request": "launch", "program": "api_linux.py"})
        );
        let Found::Compound { members, compound } = editor.find("all").unwrap() else { panic!("one") };
        assert_eq!((members.len(), &compound["stopAll"]), (2, &json!(true)));
        let whats: Vec<_> =
            editor.names().into_iter().map(|named| format!("{}: {}", named.name, named.what)).collect();
        assert_eq!(
            whats,
            [
                "api: python, launch",
                "worker: go, launch",
                "all: api and worker together",
                "odd: none together"
            ]
        );
    }

    #[test]
    fn a_name_that_is_not_there_is_refused_with_those_that_are() {
        let folder = tempfile::tempdir().unwrap();
        let editor = editor(folder.path());
        let refusal = editor.find("none").unwrap_err().to_string();
        assert!(refusal.contains("`none`") && refusal.contains("\n  api\n  worker\n  all"), "{refusal}");
        assert!(editor.find("odd").unwrap_err().to_string().contains("which is no configuration"));
    }

    #[test]
    fn a_mistake_in_a_file_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".vscode")).unwrap();
        std::fs::write(folder.path().join(".vscode/launch.json"), "{\n \"a\" 1}").unwrap();
        let context = Context { cwd: folder.path().into(), env: vec![], umask: 0o022 };
        let refusal = Editor::load(folder.path(), &context).unwrap_err().to_string();
        assert!(refusal.contains("launch.json") && refusal.contains("line 2"), "{refusal}");
    }
}
