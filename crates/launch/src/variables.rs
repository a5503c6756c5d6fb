//! `${...}` in a configuration or a task: what an editor would put in its place.
//!
//! Only what can be known without an editor's window is; whatever else is asked for is refused by its name.

use std::path::{Path, PathBuf};

use breakroom_engines::Context;
use serde_json::Value;

use crate::failure::Failure;
use crate::python;

/// An input's default may use variables, and those inputs again; no sane one goes deeper.
const DEEPEST: usize = 8;

pub struct Surroundings<'a> {
    pub context: &'a Context,
    pub workspace: &'a Path,
    /// The file that is being looked at, if somebody said which.
    pub file: Option<PathBuf>,
    pub settings: Value,
    pub inputs: Value,
    /// What uses the variables, for messages: `the configuration "all"`.
    pub user: String,
}

type Meaning = fn(&Surroundings) -> Option<String>;

const PLAIN: &[(&str, Meaning)] = &[
    ("workspaceFolder", |around| text(around.workspace)),
    ("workspaceRoot", |around| text(around.workspace)),
    ("workspaceFolderBasename", |around| last(around.workspace)),
    ("fileWorkspaceFolder", |around| text(around.workspace)),
    ("cwd", |around| text(&around.context.cwd)),
    ("userHome", |around| text(around.context.home()?)),
    ("pathSeparator", |_| Some("/".to_owned())),
    ("/", |_| Some("/".to_owned())),
    ("file", |around| text(around.file.as_deref()?)),
    ("fileBasename", |around| last(around.file.as_deref()?)),
    ("fileBasenameNoExtension", |around| {
        Some(around.file.as_deref()?.file_stem()?.to_string_lossy().into_owned())
    }),
    ("fileExtname", |around| {
        let extension = around.file.as_deref()?.extension();
        Some(extension.map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default())
    }),
    ("fileDirname", |around| text(around.file.as_deref()?.parent()?)),
    ("fileDirnameBasename", |around| last(around.file.as_deref()?.parent()?)),
    ("relativeFile", |around| text(relative(around)?)),
    ("relativeFileDirname", |around| text(relative(around)?.parent()?)),
];

fn text(path: &Path) -> Option<String> {
    Some(path.to_string_lossy().into_owned())
}

fn last(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn relative<'a>(around: &'a Surroundings) -> Option<&'a Path> {
    let file = around.file.as_deref()?;
    Some(file.strip_prefix(around.workspace).unwrap_or(file))
}

impl Surroundings<'_> {
    /// Puts every variable's meaning in its place, in all texts of a value.
    pub fn expand(&self, value: &mut Value) -> Result<(), Failure> {
        match value {
            Value::String(text) => *text = self.expanded(text, 0)?,
            Value::Array(elements) => elements.iter_mut().try_for_each(|element| self.expand(element))?,
            Value::Object(members) => members.values_mut().try_for_each(|member| self.expand(member))?,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }

    fn expanded(&self, text: &str, depth: usize) -> Result<String, Failure> {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, variable)) = rest.split_once("${") {
            let Some((name, after)) = variable.split_once('}') else { break };
            expanded.push_str(before);
            expanded.push_str(&self.meaning(name, depth)?);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn meaning(&self, name: &str, depth: usize) -> Result<String, Failure> {
        if let Some((_, meaning)) = PLAIN.iter().find(|(known, _)| *known == name) {
            return meaning(self).ok_or_else(|| self.lacks(name));
        }
        match name.split_once(':') {
            // As in a shell, what is not set is nothing.
            Some(("env", variable)) => {
                let value = self.context.var(variable);
                Ok(value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default())
            }
            Some(("config", setting)) => self.setting(setting),
            Some(("input", id)) => self.input(id, depth),
            Some((inner @ ("workspaceFolder" | "relativeFile"), folder)) => {
                match last(self.workspace).is_some_and(|name| name == folder) {
                    true => self.meaning(inner, depth),
                    false => Err(self.refuse(name, &format!("there is no workspace folder `{folder}` here"))),
                }
            }
            // What cargo builds is known when it has been built.
            Some(("cargo", _)) => Ok(format!("${{{name}}}")),
            Some(("command", "python.interpreterPath")) => {
                let found = python::of_folder(self.workspace, self.context);
                let found = found.ok_or_else(|| self.refuse(name, "there is no python3 in PATH"))?;
                Ok(found.to_string_lossy().into_owned())
            }
            Some(("command", _)) => {
                Err(self.refuse(name, "only an editor can answer that; say its value in the launch instead"))
            }
            _ => Err(self.refuse(name, "nothing is known by that name outside an editor")),
        }
    }

    fn lacks(&self, name: &str) -> Failure {
        let what = match name {
            "userHome" => "HOME is not set",
            _ => {
                "no file was named: `breakroom run -c NAME FILE`, or \"breakroom\": {\"configuration\": NAME, \"file\": FILE}"
            }
        };
        self.refuse(name, what)
    }

    fn refuse(&self, name: &str, why: &str) -> Failure {
        Failure::said(format!("{} uses ${{{name}}}, but {why}.", self.user))
    }

    /// Settings are written flat (`"a.b": 1`), nested, or both.
    fn setting(&self, name: &str) -> Result<String, Failure> {
        let nested = || name.split('.').try_fold(&self.settings, |at, key| at.get(key));
        let found = self.settings.get(name).or_else(nested);
        let why = "the project's settings.json does not set it to a text, a number, true or false";
        found.and_then(plain).ok_or_else(|| self.refuse(&format!("config:{name}"), why))
    }

    fn input(&self, id: &str, depth: usize) -> Result<String, Failure> {
        let refuse = |why: &str| self.refuse(&format!("input:{id}"), why);
        let all = self.inputs.as_array().map(Vec::as_slice).unwrap_or_default();
        let input =
            all.iter().find(|input| input["id"] == id).ok_or_else(|| refuse("there is no such input"))?;
        let default = input.get("default").and_then(plain);
        let default =
            default.ok_or_else(|| refuse("that input has no default, and there is nobody to ask"))?;
        if depth >= DEEPEST {
            return Err(refuse("its default leads back to itself"));
        }
        self.expanded(&default, depth + 1)
    }
}

/// A value as text, if it has one.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn expand(text: &str, file: Option<&str>) -> Result<String, String> {
        let context = Context {
            cwd: "/w/app/sub".into(),
            env: vec![("HOME".into(), "/h".into()), ("X".into(), "value".into())],
            umask: 0o022,
        };
        let around = Surroundings {
            context: &context,
            workspace: Path::new("/w/app"),
            file: file.map(PathBuf::from),
            settings: json!({"python.path": "/py", "go": {"tags": 7}, "list": []}),
            inputs: json!([
                {"id": "port", "type": "promptString", "default": "80${env:X}"},
                {"id": "pick", "type": "pickString", "options": ["a"]},
                {"id": "round", "default": "${input:round}"},
            ]),
            user: "the configuration \"all\"".into(),
        };
        let mut value = json!({"deep": [text]});
        around.expand(&mut value).map_err(|failure| failure.to_string())?;
        Ok(value["deep"][0].as_str().unwrap().to_owned())
    }

    #[test]
    fn every_variable_means_what_it_means_in_an_editor() {
        let file = Some("/w/app/src/main.test.py");
        for (text, meaning) in [
            ("${workspaceFolder}/x", "/w/app/x"),
            ("${workspaceFolder:app}", "/w/app"),
            ("${workspaceFolderBasename}", "app"),
            ("${cwd}${/}${userHome}${pathSeparator}", "/w/app/sub//h/"),
            ("${file}", "/w/app/src/main.test.py"),
            ("${fileBasename} ${fileBasenameNoExtension} ${fileExtname}", "main.test.py main.test .py"),
            ("${fileDirname} ${relativeFile} ${relativeFileDirname}", "/w/app/src src/main.test.py src"),
            ("${env:X}-${env:UNSET}-", "value--"),
            ("${config:python.path} ${config:go.tags}", "/py 7"),
            ("${input:port}", "80value"),
            ("$HOME ${ unfinished", "$HOME ${ unfinished"),
        ] {
            assert_eq!(expand(text, file).as_deref(), Ok(meaning), "{text}");
        }
    }

    #[test]
    fn what_only_an_editor_knows_is_refused_by_its_name() {
        for (text, part) in [
            ("${command:pickProcess}", "uses ${command:pickProcess}, but only an editor"),
            ("${file}", "no file was named"),
            ("${lineNumber}", "uses ${lineNumber}, but nothing is known"),
            ("${config:none}", "does not set it"),
            ("${config:list}", "does not set it"),
            ("${input:none}", "no such input"),
            ("${input:pick}", "has no default"),
            ("${input:round}", "leads back to itself"),
            ("${workspaceFolder:other}", "no workspace folder `other`"),
        ] {
            let refusal = expand(text, None).unwrap_err();
            assert!(refusal.contains(part) && refusal.starts_with("the configuration"), "{refusal}");
        }
    }
}
