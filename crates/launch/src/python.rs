//! Which Python runs a program: the one that the script's first line names, that of the virtual environment that is active,
//! or that of the project's.
//!
//! Files are looked at and nothing is run to find out. Whoever names a Python has said which.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use breakroom_engines::{Context, folders_above, has_known_maker, has_known_owner, inside, is_executable};
use serde_json::{Map, Value};

use crate::build::{Arguments, knows};
use crate::workshop::Workshop;

/// Where people keep the environment of a project.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];
const INTERPRETERS: [&str; 2] = ["bin/python", "bin/python3"];
/// Members of a launch that say which Python.
const SAID_BY: [&str; 2] = ["python", "pythonPath"];
const KINDS: &[&str] = &["python", "debugpy", "debugpy-stock"];
/// The kernel reads no longer line either.
const LONGEST_FIRST_LINE: u64 = 256;
/// Options of Python's own that have a value behind them.
const WITH_VALUE: [&str; 2] = ["-X", "-W"];

/// Whether a launch says which Python.
pub fn is_said(arguments: &Arguments) -> bool {
    SAID_BY.iter().any(|key| arguments.contains_key(*key))
}

/// The name of a launch whose Python has to be found, or that has a module or code; `None` if it needs no change.
pub fn name(arguments: &Arguments, context: &Context) -> Option<String> {
    if let Some(module) = arguments.get("module").and_then(Value::as_str) {
        return Some(module.to_owned());
    }
    if arguments.contains_key("code") {
        return Some("python -c".to_owned());
    }
    let program = context.cwd.join(arguments.get("program")?.as_str()?);
    let wanted = is_script(&program) && (is_said(arguments) || of_script(&program, context).is_some());
    wanted.then(|| program.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// What a launch without a type has to say besides: for which debugger it is, and which Python.
pub fn changes(arguments: &Arguments, workshop: &Workshop<'_>) -> Arguments {
    let context = workshop.context;
    let program = arguments.get("program").and_then(Value::as_str).map(|program| context.cwd.join(program));
    let mut changes = Map::new();
    if program.is_none() {
        changes.insert("type".to_owned(), "python".into());
    }
    let said = SAID_BY.iter().find_map(|key| arguments.get(*key)?.as_str()).map(PathBuf::from);
    let python = said.or_else(|| match &program {
        Some(program) => of_script(program, context),
        // Nobody has named the folder.
        None => of_project(&inside(&context.cwd), &inside(&context.cwd), context),
    });
    if let Some(python) = python.filter(|python| Some(python) != plain(context).as_ref()) {
        tell(&python, workshop);
        if !is_said(arguments) {
            changes.insert("python".to_owned(), python.to_string_lossy().into_owned().into());
        }
    }
    changes
}

/// Puts the Python of a folder's project into a launch that names none.
pub fn choose(arguments: &mut Arguments, folder: &Path, workshop: &Workshop<'_>) {
    let is_python = arguments.get("type").and_then(Value::as_str).is_some_and(|kind| knows(KINDS, kind));
    let is_launch = arguments.get("request").is_none_or(|request| request == "launch");
    if !is_python || !is_launch || is_said(arguments) {
        return;
    }
    if let Some(python) = of_project(&inside(folder), folder, workshop.context) {
        tell(&python, workshop);
        arguments.insert("python".to_owned(), python.to_string_lossy().into_owned().into());
    }
}

/// Lays what a project says of the environment under what the client says, and under what the launcher has.
pub fn keep_environment(changes: &mut Arguments, given: &Arguments, context: &Context) {
    const MODULES: &str = "PYTHONPATH";
    let Some(Value::Object(env)) = changes.get_mut("env") else { return };
    let added = env.get(MODULES).and_then(Value::as_str).map(str::to_owned);
    let given = given.get("env").and_then(Value::as_object);
    env.extend(given.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    let Some(added) = added else { return };
    let said = given.and_then(|env| env.get(MODULES)?.as_str()).map(str::to_owned);
    let had = said.or_else(|| context.var(MODULES).map(|value| value.to_string_lossy().into_owned()));
    let both = had.filter(|had| !had.is_empty()).map_or(added.clone(), |had| format!("{added}:{had}"));
    env.insert(MODULES.to_owned(), both.into());
}

fn tell(python: &Path, workshop: &Workshop<'_>) {
    workshop.say(&format!("Python: {}", python.display()));
}

/// What an editor would say if it were asked for the Python of a folder.
pub fn of_folder(folder: &Path, context: &Context) -> Option<PathBuf> {
    of_project(&inside(folder), folder, context).or_else(|| plain(context))
}

/// The Python of a script, if it is another than the one in PATH.
fn of_script(script: &Path, context: &Context) -> Option<PathBuf> {
    let named = first_line_names(script).filter(|_| is_executable(script));
    match named {
        Some(python) => Some(python).filter(|python| Some(python) != plain(context).as_ref()),
        None => of_project(script, script, context),
    }
}

/// The Python of the environment that is active, or that the project of a file has, if it is another than the one in PATH.
fn of_project(file: &Path, named: &Path, context: &Context) -> Option<PathBuf> {
    let found = environment_of(file, named, context)?;
    INTERPRETERS
        .iter()
        .map(|python| found.join(python))
        .find(|python| is_executable(python))
        // Activated, it is in PATH by either name.
        .filter(|_| plain(context).is_none_or(|plain| !plain.starts_with(&found)))
}

/// The folder of the environment for what is at a place; its owner may be whoever has what was named.
pub fn environment_of(file: &Path, named: &Path, context: &Context) -> Option<PathBuf> {
    let has_python = |folder: &Path| INTERPRETERS.iter().any(|python| is_executable(&folder.join(python)));
    let active = context.var("VIRTUAL_ENV").map(PathBuf::from).filter(|folder| has_python(folder));
    active.or_else(|| {
        let all = folders_above(file, context).flat_map(|folder| ENVIRONMENTS.map(|name| folder.join(name)));
        // Whoever put it there decides what is run.
        let known = |folder: &PathBuf| {
            let mut programs =
                INTERPRETERS.iter().map(|python| folder.join(python)).filter(|python| python.exists());
            has_known_owner(folder, named) && programs.all(|python| has_known_maker(&python, named))
        };
        all.filter(|folder| has_python(folder)).find(known)
    })
}

fn plain(context: &Context) -> Option<PathBuf> {
    ["python3", "python"].iter().find_map(|name| context.which(name))
}

fn is_script(file: &Path) -> bool {
    let by_name = file.extension().is_some_and(|extension| extension == "py" || extension == "pyw");
    (by_name && file.is_file()) || first_line(file).is_some_and(|line| line.split(['/', ' ']).any(is_name))
}

/// The Python of a first line that names one by its path, and not as the first in PATH.
fn first_line_names(script: &Path) -> Option<PathBuf> {
    let line = first_line(script)?;
    let python = Path::new(line.split_ascii_whitespace().next()?);
    let name = python.file_name()?.to_str()?;
    (is_name(name) && python.is_absolute() && is_executable(python)).then(|| python.to_path_buf())
}

/// What is behind `#!`.
fn first_line(script: &Path) -> Option<String> {
    // A pipe would be waited for.
    let file = script.is_file().then(|| std::fs::File::open(script).ok())??;
    let mut line = Vec::new();
    BufReader::new(file.take(LONGEST_FIRST_LINE)).read_until(b'\n', &mut line).ok()?;
    Some(String::from_utf8_lossy(line.strip_prefix(b"#!")?).trim().to_owned())
}

/// `python`, `python3`, `python3.12`.
fn is_name(word: &str) -> bool {
    word.strip_prefix("python").is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// `python`, or a path to one, as the program of a command line.
pub fn is_interpreter(program: &Path) -> bool {
    program.file_name().and_then(|name| name.to_str()).is_some_and(is_name)
}

/// The launch for the words after `python`: a module, a script or code, its arguments, and options of Python's own.
pub fn from_words(words: &[String]) -> Option<Arguments> {
    let mut launch = Map::new();
    let mut options = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let key = match word.as_str() {
            "-m" => "module",
            "-c" => "code",
            option if WITH_VALUE.contains(&option) => {
                options.extend([word.clone(), rest.next()?.clone()]);
                continue;
            }
            option if option.starts_with('-') => {
                options.push(word.clone());
                continue;
            }
            _ => "program",
        };
        let named = if key == "program" { word } else { rest.next()? };
        if key == "code" {
            launch.insert("name".to_owned(), "python -c".into());
        }
        launch.insert(key.to_owned(), named.as_str().into());
        launch.insert("args".to_owned(), rest.cloned().collect::<Vec<_>>().into());
        if !options.is_empty() {
            launch.insert("pythonArgs".to_owned(), options.into());
        }
        return Some(launch);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_testkit::write_program;
    use serde_json::json;

    fn words(line: &str) -> Option<Value> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        from_words(&words).map(Value::Object)
    }

    #[test]
    fn the_words_behind_python_are_read_as_python_does() {
        assert_eq!(words("-m a.b -x c"), Some(json!({"module": "a.b", "args": ["-x", "c"]})));
        assert_eq!(words("x.py -m"), Some(json!({"program": "x.py", "args": ["-m"]})));
        let code = json!({"name": "python -c", "code": "print(2)", "args": ["-c", "x"]});
        assert_eq!(words("-c print(2) -c x"), Some(code));
        let options = json!({"program": "x.py", "args": [], "pythonArgs": ["-u", "-X", "dev"]});
        assert_eq!(words("-u -X dev x.py"), Some(options));
        for nothing in ["", "-V", "-m", "-c", "-X"] {
            assert_eq!(words(nothing), None);
        }
    }

    #[test]
    fn an_environment_that_is_active_comes_before_the_projects_and_a_first_line_before_both() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let python = |path: &str| {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            write_program(&at(path), "#!/bin/sh\n");
        };
        std::fs::create_dir_all(at("p/src")).unwrap();
        std::fs::write(at("p/src/x.py"), "").unwrap();
        python("plain/python3");
        let context = |active: Option<PathBuf>| {
            let mut env = vec![("PATH".into(), at("plain").into()), ("HOME".into(), folder.path().into())];
            env.extend(active.map(|active| ("VIRTUAL_ENV".into(), active.into())));
            Context { cwd: folder.path().into(), env, umask: 0o022 }
        };
        let found = |active| of_script(&at("p/src/x.py"), &context(active));
        assert_eq!(found(None), None);
        python("p/venv/bin/python");
        assert_eq!(found(None), Some(at("p/venv/bin/python")));
        python("p/.venv/bin/python");
        assert_eq!(found(None), Some(at("p/.venv/bin/python")));
        python("active/bin/python3");
        assert_eq!(found(Some(at("active"))), Some(at("active/bin/python3")));
        assert_eq!(found(Some(at("gone"))), Some(at("p/.venv/bin/python")));
        python("named/bin/python3.9");
        let first = format!("#!{} -u\nprint()\n", at("named/bin/python3.9").display());
        write_program(&at("p/src/x.py"), &first);
        assert_eq!(found(Some(at("active"))), Some(at("named/bin/python3.9")));
        write_program(&at("p/src/x.py"), "#!/usr/bin/env python3\n");
        assert_eq!(found(Some(at("active"))), Some(at("active/bin/python3")));
    }

    #[test]
    fn what_another_user_has_put_above_a_script_does_not_run_it() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join(".venv/bin/python");
        std::fs::create_dir_all(python.parent().unwrap()).unwrap();
        std::fs::create_dir(folder.path().join("p")).unwrap();
        write_program(&python, "#!/bin/sh\n");
        let script = folder.path().join("p/x.py");
        std::fs::write(&script, "").unwrap();
        let context = Context { cwd: folder.path().into(), env: vec![], umask: 0o022 };
        assert_eq!(of_script(&script, &context), Some(python.clone()));
        // Only root can give files away; nobody else can play this.
        if std::os::unix::fs::chown(&python, Some(12345), None).is_ok() {
            assert_eq!(of_script(&script, &context), None);
        }
    }
}
