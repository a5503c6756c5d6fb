//! `envFile`: variables from a file of `NAME=VALUE` lines, for those that the configuration does not set itself.

use std::path::Path;

use serde_json::{Map, Value};

use crate::failure::Failure;

/// Moves the variables of `envFile` into `env`, where every debugger looks for them.
pub fn take_in(arguments: &mut Map<String, Value>, cwd: &Path) -> Result<(), Failure> {
    let files = match arguments.remove("envFile") {
        Some(Value::String(file)) => vec![file],
        Some(Value::Array(files)) => files.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return Ok(()),
    };
    let mut variables = Map::new();
    for file in files.iter().filter(|file| !file.is_empty()) {
        let path = cwd.join(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => variables.extend(read(&text)),
            // Editors do not mind either: it is often kept out of the repository.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::said(format!("envFile {} cannot be read: {error}.", path.display())));
            }
        }
    }
    match arguments.get_mut("env") {
        Some(Value::Object(env)) => {
            variables.append(env);
            *env = variables;
        }
        // A debugger's own form, such as a list of `NAME=VALUE`; a later one wins there.
        Some(Value::Array(env)) => {
            let lines =
                variables.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("")));
            let before: Vec<Value> = lines.map(Value::from).collect();
            env.splice(0..0, before);
        }
        _ if variables.is_empty() => {}
        _ => drop(arguments.insert("env".to_owned(), Value::Object(variables))),
    }
    Ok(())
}

fn read(text: &str) -> Map<String, Value> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.filter(|line| !line.starts_with('#')).filter_map(variable).collect()
}

fn variable(line: &str) -> Option<(String, Value)> {
    let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let quoted = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    let value = match (quoted('"'), quoted('\'')) {
        (Some(inner), _) => inner.replace("\\n", "\n").replace("\\\"", "\""),
        (None, Some(inner)) => inner.to_owned(),
        (None, None) => value.split_once(" #").map_or(value, |(value, _)| value.trim_end()).to_owned(),
    };
    (!name.is_empty()).then(|| (name.to_owned(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_files_variables_give_way_to_the_configurations() {
        let folder = tempfile::tempdir().unwrap();
        let text = "# comment\nA=1\nexport B = \"two\\nlines\"\nC='$x #'\nD=a b # end\n=x\nodd\nE=\n";
        std::fs::write(folder.path().join(".env"), text).unwrap();
        let mut arguments = json!({"envFile": ".env", "env": {"A": "mine", "F": null}});
        take_in(arguments.as_object_mut().unwrap(), folder.path()).unwrap();
        let expected = json!({"A": "mine", "B": "two\nlines", "C": "$x #", "D": "a b", "E": "", "F": null});
        assert_eq!(arguments, json!({"env": expected}));
        let mut listed = json!({"envFile": ".env", "env": ["Z=1"]});
        take_in(listed.as_object_mut().unwrap(), folder.path()).unwrap();
        assert_eq!((&listed["env"][0], &listed["env"][5]), (&json!("A=1"), &json!("Z=1")));
    }

    #[test]
    fn a_file_that_is_not_there_sets_nothing() {
        let mut arguments = json!({"envFile": "/nowhere/.env", "program": "x"});
        take_in(arguments.as_object_mut().unwrap(), Path::new("/")).unwrap();
        assert_eq!(arguments, json!({"program": "x"}));
    }
}
