//! `Properties/launchSettings.json`: the launch profiles of a .NET project, and what one of them says about a start.
//!
//! Only profiles that start the project itself count. Nothing is evaluated here: the values of `$(...)` are given.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::jsonc;

/// Under its name, with its members as they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub name: String,
    pub members: Map<String, Value>,
}

/// What a profile says about a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<String>,
}

/// The profiles of a project, in the order of the file. None, if it has no such file.
pub fn profiles(project: &Path) -> Result<Vec<Profile>, Failure> {
    let folder = if project.is_dir() { project } else { project.parent().unwrap_or(project) };
    let path = folder.join("Properties").join("launchSettings.json");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::said(format!("cannot read {}: {error}", path.display()))),
    };
    let settings = jsonc::parse(&text)
        .map_err(|error| Failure::said(format!("{} is not valid: {error}", path.display())))?;
    let profiles = settings.as_object().and_then(|settings| member(settings, "profiles")?.as_object());
    let is_of_project = |members: &Map<String, Value>| match member(members, "commandName") {
        None | Some(Value::Null) => true,
        Some(name) => name.as_str().is_some_and(|name| name.eq_ignore_ascii_case("Project")),
    };
    let all = profiles.into_iter().flatten().filter_map(|(name, profile)| {
        let members = profile.as_object().filter(|members| is_of_project(members))?;
        Some(Profile { name: name.clone(), members: members.clone() })
    });
    Ok(all.collect())
}

/// The profile with this name, or why there is none.
pub fn find(project: &Path, name: &str) -> Result<Profile, Failure> {
    let all = profiles(project)?;
    let names: Vec<&str> = all.iter().map(|profile| profile.name.as_str()).collect();
    let there_are =
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    let missing = format!("{} has no launch profile `{name}`; {there_are}", project.display());
    all.into_iter().find(|profile| profile.name == name).ok_or_else(|| Failure::said(missing))
}

impl Profile {
    /// What it says, with `$(...)` replaced by these values.
    pub fn start(&self, values: &BTreeMap<String, String>) -> Start {
        let text = |name: &str| {
            let text = member(&self.members, name)?.as_str().filter(|text| !text.trim().is_empty())?;
            Some(filled(text, values))
        };
        let mut env = BTreeMap::new();
        let variables = member(&self.members, "environmentVariables").and_then(Value::as_object);
        for (name, value) in variables.into_iter().flatten() {
            if let Some(value) = value.as_str().filter(|value| !value.trim().is_empty()) {
                env.insert(name.clone(), filled(value, values));
            }
        }
        if let Some(urls) = text("applicationUrl") {
            env.insert("ASPNETCORE_URLS".to_owned(), urls);
        }
        env.entry("ASPNETCORE_ENVIRONMENT".to_owned()).or_insert_with(|| "Development".to_owned());
        let args = text("commandLineArgs").map(|line| split(&line)).unwrap_or_default();
        Start { args, env, cwd: text("workingDirectory") }
    }
}

/// Members are found in any case, as .NET does.
fn member<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// A name that is not known stays as it is written.
fn filled(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        filled.push_str(before);
        let value = after.split_once(')').and_then(|(name, behind)| {
            let value = values.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
            Some((value.1, behind))
        });
        rest = match value {
            Some((value, behind)) => {
                filled.push_str(value);
                behind
            }
            None => {
                filled.push_str("$(");
                after
            }
        };
    }
    filled + rest
}

/// Split at spaces outside of double quotes.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for letter in line.chars() {
        match letter {
            '"' => (quoted, begun) = (!quoted, true),
            letter if letter.is_whitespace() && !quoted => {
                words.extend(begun.then(|| std::mem::take(&mut word)));
                begun = false;
            }
            letter => {
                word.push(letter);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = r#"{
        // As templates write it.
        "profiles": {
            "http": {
                "commandName": "Project",
                "commandLineArgs": "--from \"$(ProjectDir)data file\" $(Unknown)",
                "WorkingDirectory": "$(TargetDir)",
                "applicationUrl": "http://localhost:5000",
                "environmentVariables": {"ASPNETCORE_URLS": "http://other", "KEY": "$(Configuration)", "BLANK": " "},
            },
            "IIS Express": {"commandName": "IISExpress"},
            "plain": {"environmentVariables": {"ASPNETCORE_ENVIRONMENT": "Test"}},
        },
    }"#;

    fn project() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("Properties")).unwrap();
        std::fs::write(folder.path().join("Properties/launchSettings.json"), SETTINGS).unwrap();
        let project = folder.path().join("App.csproj");
        (folder, project)
    }

    #[test]
    fn profile_says_arguments_folder_and_environment() {
        let (_folder, project) = project();
        let values = [("ProjectDir", "/p/"), ("TargetDir", "/p/bin/"), ("Configuration", "Debug")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let start = find(&project, "http").unwrap().start(&values);
        assert_eq!(start.args, ["--from", "/p/data file", "$(Unknown)"]);
        assert_eq!(start.cwd.as_deref(), Some("/p/bin/"));
        let env = [
            ("ASPNETCORE_ENVIRONMENT", "Development"),
            ("ASPNETCORE_URLS", "http://localhost:5000"),
            ("KEY", "Debug"),
        ];
        assert_eq!(start.env, env.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        let plain = find(&project, "plain").unwrap().start(&values);
        assert_eq!(plain.env["ASPNETCORE_ENVIRONMENT"], "Test");
        assert!(plain.args.is_empty() && plain.cwd.is_none());
    }

    #[test]
    fn profile_that_is_missing_is_told_with_those_there_are() {
        let (folder, project) = project();
        let missing = find(&project, "IIS Express").unwrap_err().to_string();
        assert!(missing.contains("`IIS Express`; it has http, plain"), "{missing}");
        assert_eq!(profiles(&folder.path().join("Properties")).unwrap(), []);
        std::fs::write(folder.path().join("Properties/launchSettings.json"), "{").unwrap();
        assert!(profiles(&project).unwrap_err().to_string().contains("launchSettings.json is not valid"));
    }
}
