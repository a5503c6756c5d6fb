//! Arguments of an adapter that depend on what is launched, because the debuggee is the adapter (rdbg, CMake).
//!
//! `{{launch.KEY}}` in an argument is the launch argument of that name: a list becomes several arguments if it stands
//! alone. `{{launch.A|B}}` is the first that is there, `{{launch.A=text}}` has a default, `{{launch.A?}}` may be missing,
//! and `{{launch.A.folder}}` is the folder of that file. Nothing is interpreted by a shell.

use std::path::Path;

use serde_json::{Map, Value};

use crate::spec::EnvVar;

const OPENS: &str = "{{launch.";
const CLOSES: &str = "}}";

/// Whether an argument is only known once something is launched.
pub(crate) fn depends_on_launch(arg: &str) -> bool {
    arg.contains(OPENS)
}

/// The arguments with what the launch says, or what it fails to say.
pub(crate) fn filled(args: &[String], launch: &Map<String, Value>) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for arg in args {
        match Wish::alone(arg) {
            Some(wish) => all.extend(wish.values(launch)?),
            None => all.extend(filled_in(arg, launch)?),
        }
    }
    Ok(all)
}

/// An argument with placeholders inside it; none if one that may be missing is.
fn filled_in(arg: &str, launch: &Map<String, Value>) -> Result<Option<String>, String> {
    let mut text = String::new();
    let mut rest = arg;
    while let Some((before, after)) = rest.split_once(OPENS) {
        let Some((inside, behind)) = after.split_once(CLOSES) else { break };
        let wish = Wish::of(inside);
        let values = wish.values(launch)?;
        let [value] = values.as_slice() else {
            return match values.is_empty() {
                true => Ok(None),
                false => Err(format!("`{}` is a list where one text is needed", wish.keys.join("` or `"))),
            };
        };
        text.push_str(before);
        text.push_str(value);
        rest = behind;
    }
    text.push_str(rest);
    Ok(Some(text))
}

/// What stands between `{{launch.` and `}}`.
struct Wish<'a> {
    keys: Vec<&'a str>,
    otherwise: Otherwise<'a>,
}

enum Otherwise<'a> {
    Refused,
    Nothing,
    Text(&'a str),
}

impl<'a> Wish<'a> {
    fn of(inside: &'a str) -> Self {
        let (keys, otherwise) = match (inside.split_once('='), inside.strip_suffix('?')) {
            (Some((keys, text)), _) => (keys, Otherwise::Text(text)),
            (None, Some(keys)) => (keys, Otherwise::Nothing),
            (None, None) => (inside, Otherwise::Refused),
        };
        Wish { keys: keys.split('|').collect(), otherwise }
    }

    fn alone(arg: &'a str) -> Option<Self> {
        let inside = arg.strip_prefix(OPENS)?.strip_suffix(CLOSES)?;
        (!inside.contains(OPENS)).then(|| Wish::of(inside))
    }

    fn values(&self, launch: &Map<String, Value>) -> Result<Vec<String>, String> {
        for key in &self.keys {
            let (key, folder) = key.strip_suffix(".folder").map_or((*key, false), |key| (key, true));
            let Some(value) = launch.get(key).filter(|value| !value.is_null()) else { continue };
            let values =
                texts(value).ok_or_else(|| format!("`{key}` is neither a text nor a list of texts"))?;
            return Ok(if folder { values.iter().map(|file| folder_of(file)).collect() } else { values });
        }
        match self.otherwise {
            Otherwise::Refused => Err(format!("the launch does not say `{}`", self.keys.join("` or `"))),
            Otherwise::Nothing => Ok(Vec::new()),
            Otherwise::Text(text) => Ok(vec![text.to_owned()]),
        }
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Value::Array(values) => values.iter().map(text).collect(),
        one => text(one).map(|text| vec![text]),
    }
}

fn folder_of(file: &str) -> String {
    let folder = Path::new(file).parent().map(Path::to_string_lossy).unwrap_or_default();
    if folder.is_empty() { ".".to_owned() } else { folder.into_owned() }
}

/// The variables that the launch sets, or removes with null.
pub(crate) fn environment(launch: &Map<String, Value>) -> Vec<EnvVar> {
    let variables = launch.get("env").and_then(Value::as_object).into_iter().flatten();
    let variable = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        EnvVar { name: name.clone(), value }
    };
    variables.map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill(args: &[&str], launch: Value) -> Result<Vec<String>, String> {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        filled(&args, launch.as_object().unwrap())
    }

    #[test]
    fn a_list_alone_becomes_several_arguments_and_an_optional_one_none() {
        let args = ["ruby", "{{launch.program|script}}", "{{launch.args?}}", "-x={{launch.level?}}"];
        let filled = fill(&args, json!({"script": "a b.rb", "args": ["1", 2, ""]})).unwrap();
        assert_eq!(filled, ["ruby", "a b.rb", "1", "2", ""]);
        let filled = fill(&args, json!({"program": "p", "script": "s", "level": 3})).unwrap();
        assert_eq!(filled, ["ruby", "p", "-x=3"]);
    }

    #[test]
    fn defaults_and_folders_are_filled_in() {
        let args = ["{{launch.runtime=ruby}}", "{{launch.source|program.folder}}/{{launch.build=build}}"];
        assert_eq!(fill(&args, json!({"program": "/a/CMakeLists.txt"})).unwrap(), ["ruby", "/a/build"]);
        assert_eq!(fill(&args, json!({"program": "CMakeLists.txt"})).unwrap(), ["ruby", "./build"]);
        assert_eq!(fill(&args, json!({"source": "/s", "build": "b"})).unwrap(), ["ruby", "/s/b"]);
    }

    #[test]
    fn what_the_launch_does_not_say_is_named() {
        let missing = fill(&["{{launch.program|script}}"], json!({"program": null})).unwrap_err();
        assert!(missing.contains("`program` or `script`"), "{missing}");
        assert!(fill(&["{{launch.program}}"], json!({"program": {}})).unwrap_err().contains("`program`"));
        assert!(fill(&["-x{{launch.args}}"], json!({"args": ["1", "2"]})).unwrap_err().contains("a list"));
    }

    #[test]
    fn text_that_only_looks_like_a_placeholder_stays() {
        let odd = json!({"program": "{{launch.other}}"});
        assert_eq!(
            fill(&["{{launch.program}}", "{{launch.open"], odd).unwrap(),
            ["{{launch.other}}", "{{launch.open"]
        );
    }

    #[test]
    fn the_environment_is_the_launchs() {
        let launch = json!({"env": {"A": "1", "B": null, "C": 2}});
        let variables = environment(launch.as_object().unwrap());
        let said: Vec<_> = variables.iter().map(|v| (v.name.as_str(), v.value.as_deref())).collect();
        assert_eq!(said, [("A", Some("1")), ("B", None), ("C", Some("2"))]);
    }
}
