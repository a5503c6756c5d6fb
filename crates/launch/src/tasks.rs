//! `preLaunchTask`: a task of the project's, and those it depends on, run to their end before the launch.
//!
//! Tasks are commands of whoever wrote the project, so they run only if the user trusts its folder. One that is to go on in
//! the background is refused: when it is ready only an editor's pattern would know.

use std::path::Path;

use breakroom_engines::{EnvVar, Trust, folder_with};
use serde_json::{Map, Value, json};

use crate::editor::{Editor, for_this_system};
use crate::failure::{self, Failure};
use crate::variables::Surroundings;
use crate::workshop::{Command, Shown, Workshop};

/// How the words of a task become a command, by its type.
type Words = fn(&Map<String, Value>, &Workshop) -> Option<Vec<String>>;

const TYPES: &[(&str, Words)] = &[
    ("shell", shell),
    ("process", process),
    ("cppbuild", process),
    ("npm", |task, _| Some(vec!["npm".into(), "run".into(), task.get("script")?.as_str()?.into()])),
    ("cargo", |task, workshop| Some([vec!["cargo".to_owned()], process(task, workshop)?].concat())),
    ("typescript", typescript),
];

/// The file that a task of TypeScript is for, if it names none.
const TSCONFIG: &str = "tsconfig.json";

/// Runs the task that a configuration names, and what it depends on before it.
pub async fn run(
    wanted: &Value,
    editor: &Editor,
    around: &Surroundings<'_>,
    workshop: &Workshop<'_>,
) -> Result<(), Failure> {
    let mut order = Vec::new();
    let first = name_of(wanted, editor)?;
    collect(&first, editor, &mut Vec::new(), &mut order)?;
    if editor.folder.trust == Trust::Untrusted {
        return Err(Failure::said(format!(
            "{} wants the task `{first}` to run first, and {} is not trusted. Look at its tasks.json, then: breakroom trust {}",
            around.user,
            editor.folder.path.display(),
            editor.folder.path.display()
        )));
    }
    for (name, mut task) in order {
        around.expand(&mut task)?;
        let Value::Object(mut task) = task else { continue };
        if task.get("type").is_some_and(|kind| kind == "typescript") {
            let file = task.get("tsconfig").and_then(Value::as_str).unwrap_or(TSCONFIG);
            let file = around.workspace.join(file).to_string_lossy().into_owned();
            task.insert("tsconfig".to_owned(), file.into());
        }
        let Some(command) = command(&name, &task, around.workspace, workshop)? else { continue };
        workshop.say(&format!("task {name}: {}", command.argv.join(" ")));
        let finished = workshop.run(&command, Shown::Both).await?;
        if !finished.succeeded() {
            let output = [finished.stdout, finished.stderr].concat();
            let errors = failure::marked_errors(&output);
            return Err(failure::of_build(&format!("the task `{name}`"), finished.exit, &errors, &output));
        }
    }
    Ok(())
}

fn name_of(wanted: &Value, editor: &Editor) -> Result<String, Failure> {
    match wanted.as_str().or_else(|| wanted["task"].as_str()) {
        Some("${defaultBuildTask}") => {
            let is_default =
                |task: &&Value| task["group"]["kind"] == "build" && task["group"]["isDefault"] == true;
            let found = tasks(editor).find(is_default).and_then(label);
            found.ok_or_else(|| {
                Failure::said("tasks.json has no default build task, which ${defaultBuildTask} is.")
            })
        }
        Some(name) => Ok(name.to_owned()),
        None => Err(Failure::said("preLaunchTask is neither a task's label nor an object with `task`.")),
    }
}

fn tasks(editor: &Editor) -> impl Iterator<Item = &Value> {
    editor.tasks["tasks"].as_array().into_iter().flatten()
}

/// What a task is called. Editors have names of their own for some that say none.
fn label(task: &Value) -> Option<String> {
    let text = |key: &str| task[key].as_str();
    let made = || match text("type")? {
        "npm" => {
            let folder = text("path").map(|folder| format!(" - {}", folder.trim_end_matches('/')));
            Some(format!("npm: {}{}", text("script")?, folder.unwrap_or_default()))
        }
        "typescript" => {
            let what = if text("option") == Some("watch") { "watch" } else { "build" };
            Some(format!("tsc: {what} - {}", text("tsconfig").unwrap_or(TSCONFIG)))
        }
        _ => None,
    };
    text("label").or_else(|| text("taskName")).map(str::to_owned).or_else(made)
}

/// A task that an editor has because the project has such files, without a word in `tasks.json`.
fn found_by_editors(name: &str, editor: &Editor) -> Option<Value> {
    let workspace = editor.folder.workspace();
    if let Some(script) = name.strip_prefix("npm: ") {
        let below = script.rsplit_once(" - ").filter(|(_, folder)| workspace.join(folder).is_dir());
        return Some(match below {
            Some((script, folder)) => json!({"type": "npm", "script": script, "path": folder}),
            None => json!({"type": "npm", "script": script}),
        });
    }
    let (what, file) = name.strip_prefix("tsc: ")?.split_once(" - ")?;
    let known = ["build", "watch"].contains(&what) && workspace.join(file).is_file();
    known.then(|| json!({"type": "typescript", "tsconfig": file, "option": what}))
}

/// Puts a task behind those that it depends on, each once.
fn collect(
    name: &str,
    editor: &Editor,
    above: &mut Vec<String>,
    order: &mut Vec<(String, Value)>,
) -> Result<(), Failure> {
    if order.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    if above.iter().any(|known| known == name) {
        return Err(Failure::said(format!("the task `{name}` depends on itself: {}.", above.join(" -> "))));
    }
    let found = tasks(editor).find(|task| label(task).as_deref() == Some(name)).cloned();
    let Some(Value::Object(task)) = found.or_else(|| found_by_editors(name, editor)) else {
        let known: Vec<_> = tasks(editor).filter_map(label).collect();
        let known = match known.is_empty() {
            true => "the project has none in tasks.json".to_owned(),
            false => format!("tasks.json has: {}", known.join(", ")),
        };
        return Err(Failure::said(format!("there is no task `{name}`; {known}.")));
    };
    let task = for_this_system(&task);
    above.push(name.to_owned());
    let needed = match task.get("dependsOn") {
        Some(Value::Array(all)) => all.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    for needed in &needed {
        collect(&name_of(needed, editor)?, editor, above, order)?;
    }
    above.pop();
    order.push((name.to_owned(), Value::Object(task)));
    Ok(())
}

/// `None` for a task that only gathers others.
fn command(
    name: &str,
    task: &Map<String, Value>,
    workspace: &Path,
    workshop: &Workshop<'_>,
) -> Result<Option<Command>, Failure> {
    let says = |key: &str, value: &str| task.get(key).is_some_and(|said| said == value);
    let watches = says("type", "typescript") && says("option", "watch");
    if task.get("isBackground") == Some(&Value::Bool(true)) || watches {
        return Err(Failure::said(format!(
            "the task `{name}` goes on in the background; start it yourself and leave preLaunchTask out."
        )));
    }
    let kind = task.get("type").and_then(Value::as_str);
    if kind.is_none() && !task.contains_key("command") {
        return Ok(None);
    }
    let kind = kind.unwrap_or("shell");
    let Some((_, words)) = TYPES.iter().find(|(known, _)| *known == kind) else {
        let known: Vec<_> = TYPES.iter().map(|(known, _)| *known).collect();
        return Err(Failure::said(format!(
            "the task `{name}` is of the type `{kind}`, which only an editor can run; it can be {}.",
            known.join(", ")
        )));
    };
    let argv = words(task, workshop);
    let argv = argv.ok_or_else(|| Failure::said(format!("the task `{name}` does not say what to run.")))?;
    let options = task.get("options").unwrap_or(&Value::Null);
    let folder = options["cwd"].as_str().or_else(|| task.get("path").and_then(Value::as_str));
    let set = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        EnvVar { name: name.clone(), value: Some(value) }
    };
    let env = options["env"].as_object().map(|env| env.iter().map(set).collect()).unwrap_or_default();
    Ok(Some(Command { argv, cwd: workspace.join(folder.unwrap_or_default()), env }))
}

fn process(task: &Map<String, Value>, _: &Workshop) -> Option<Vec<String>> {
    let command = task.get("command")?.as_str()?.to_owned();
    let args = task.get("args").and_then(Value::as_array);
    let word = |word: &Value| word.as_str().or_else(|| word["value"].as_str()).map(str::to_owned);
    Some(std::iter::once(command).chain(args.into_iter().flatten().filter_map(word)).collect())
}

/// By the project's own compiler, or the one in PATH.
fn typescript(task: &Map<String, Value>, workshop: &Workshop) -> Option<Vec<String>> {
    const OWN: &str = "node_modules/.bin/tsc";
    let config = task.get("tsconfig")?.as_str()?;
    let own = folder_with(Path::new(config), OWN, workshop.context).map(|folder| folder.join(OWN));
    let compiler = own.or_else(|| workshop.context.which("tsc"));
    let compiler = compiler.map_or_else(|| "tsc".to_owned(), |path| path.to_string_lossy().into_owned());
    Some(vec![compiler, "-p".to_owned(), config.to_owned()])
}

fn shell(task: &Map<String, Value>, workshop: &Workshop) -> Option<Vec<String>> {
    let command = task.get("command")?;
    let command = command.as_str().or_else(|| command["value"].as_str())?;
    let args = task.get("args").and_then(Value::as_array);
    let line =
        args.into_iter().flatten().fold(command.to_owned(), |line, word| line + " " + &shell_word(word));
    let shell = &task.get("options").unwrap_or(&Value::Null)["shell"];
    let mut argv = match shell["executable"].as_str() {
        Some(executable) => vec![executable.to_owned()],
        // People write for the shell that they type in.
        None if workshop.context.which("bash").is_some() => vec!["bash".to_owned()],
        None => vec!["sh".to_owned()],
    };
    match shell["args"].as_array() {
        Some(args) => argv.extend(args.iter().filter_map(Value::as_str).map(str::to_owned)),
        None => argv.push("-c".to_owned()),
    }
    argv.push(line);
    Some(argv)
}

/// A word with spaces is one word; what is quoted already, or has none, is the shell's to read.
fn shell_word(word: &Value) -> String {
    let strong = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    match (word.as_str(), word["value"].as_str(), word["quoting"].as_str()) {
        (Some(text), ..) if text.contains(char::is_whitespace) && !text.starts_with(['"', '\'']) => {
            strong(text)
        }
        (Some(text), ..) => text.to_owned(),
        (None, Some(text), Some("weak")) => format!("\"{}\"", text.replace('"', "\\\"")),
        (None, Some(text), _) => strong(text),
        (None, None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_reach_the_shell_as_they_were_meant() {
        for (word, written) in [
            (json!("plain"), "plain"),
            (json!("two words"), "'two words'"),
            (json!("\"quoted already\""), "\"quoted already\""),
            (json!("$HOME"), "$HOME"),
            (json!({"value": "it's", "quoting": "strong"}), r"'it'\''s'"),
            (json!({"value": "$a b", "quoting": "weak"}), "\"$a b\""),
        ] {
            assert_eq!(shell_word(&word), written);
        }
    }
}
