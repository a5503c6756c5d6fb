//! From the arguments of a launch or attach as a client sends them to those that an engine is given.
//!
//! Most need nothing and go as they came; that is decided first and without any delay.

use std::path::{Path, PathBuf};

use breakroom_engines::{Catalog, Context, ProcessByPort, Trust, is_own};
use serde_json::{Map, Value, json};

use crate::build::{self, Arguments, Job, Row, cargo};
use crate::editor::{Editor, Found};
use crate::failure::Failure;
use crate::variables::Surroundings;
use crate::workshop::Workshop;
use crate::{by_port, command, environment, fitting, interpreters, project, python, tasks};

/// The type under which the catalog has the adapter that starts several.
const GROUP: &str = "group";

/// Members that an editor keeps for itself.
const EDITORS_OWN: [&str; 7] = [
    "presentation",
    "internalConsoleOptions",
    "postDebugTask",
    "preLaunchTask",
    "serverReadyAction",
    "debugServer",
    "suppressMultipleSessionWarning",
];

/// Members of ours that are carried out here and mean nothing to whoever comes next.
const CARRIED_OUT: [&str; 3] = ["configuration", "file", "target"];

/// Members of ours that decide what is run or whose session is joined: words of a stranger's file only if it is trusted.
const FOR_TRUSTED: [&str; 2] = ["adapter", "session"];

/// What has to be done for a launch.
enum Wish {
    Configuration(String),
    Build(PathBuf, &'static Row),
    Project(PathBuf),
    /// An editor's words for what cargo is to build.
    Cargo,
    /// A module of Python, or a script whose Python is not just the one in PATH: what it is called.
    Python(String),
    /// A process that its debugger can find only by a port.
    Process(u32, ProcessByPort),
}

/// Whether a launch can go as it came.
pub fn needs_nothing(command: &str, arguments: &Value, context: &Context) -> bool {
    arguments.as_object().is_none_or(|arguments| wish(command, arguments, context).is_none())
}

fn wish(command: &str, arguments: &Arguments, context: &Context) -> Option<Wish> {
    let own = arguments.get("breakroom").unwrap_or(&Value::Null);
    if let Some(name) = own["configuration"].as_str() {
        return Some(Wish::Configuration(name.to_owned()));
    }
    // Who brings an adapter knows what it takes.
    if !own["adapter"].is_null() {
        return None;
    }
    let kind = kind(arguments);
    if command != "launch" {
        let (process, words) = by_port::wanted(kind?, arguments, context)?;
        return Some(Wish::Process(process, words));
    }
    let program = arguments.get("program").and_then(Value::as_str);
    if arguments.get("cargo").is_some_and(Value::is_object)
        && kind.is_some_and(|kind| build::knows(build::NATIVE, kind))
    {
        return Some(Wish::Cargo);
    }
    if kind.is_none()
        && let Some(name) = python::name(arguments, context)
    {
        return Some(Wish::Python(name));
    }
    match program.map(|program| absolute(&context.cwd.join(program))) {
        Some(path) if path.is_dir() => project::is_in(&path, kind, context).then_some(Wish::Project(path)),
        Some(path) => {
            let manifest = path.file_name().is_some_and(|name| name == "Cargo.toml");
            match (manifest, build::row_for(&path, kind).filter(|_| path.is_file())) {
                (true, _) => path.parent().map(|folder| Wish::Project(folder.to_path_buf())),
                (false, row) => Some(Wish::Build(path, row?)),
            }
        }
        // Somebody who names a type has said something else that the debugger knows.
        None if kind.is_some() => None,
        // Nobody has named the folder either: what another user has made is not run by merely being there.
        None => (project::is_in(&context.cwd, None, context) && is_own(&context.cwd))
            .then(|| Wish::Project(context.cwd.clone())),
    }
}

/// The type, if it says anything about the program.
fn kind(arguments: &Arguments) -> Option<&str> {
    arguments.get("type").and_then(Value::as_str).filter(|kind| *kind != "breakroom")
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The arguments to go on with, or `None` if they can stay as they are.
pub async fn prepare(
    command: &str,
    arguments: Value,
    workshop: &Workshop<'_>,
) -> Result<Option<Value>, Failure> {
    let Value::Object(given) = arguments else { return Ok(None) };
    match wish(command, &given, workshop.context) {
        None => Ok(None),
        Some(Wish::Configuration(name)) => configuration(&name, command, &given, workshop).await.map(Some),
        Some(wish) => {
            let Some(changes) = carry_out(&wish, &given, workshop).await? else { return Ok(None) };
            let mut arguments = given.clone();
            arguments.entry("name").or_insert_with(|| name_of(&wish));
            change(&mut arguments, changes);
            if command != "launch" {
                return Ok(Some(Value::Object(arguments)));
            }
            add_defaults(&mut arguments, workshop.context)?;
            Ok(Some(Value::Object(finished(arguments))))
        }
    }
}

/// What people know the session by: what they named, and not what was built of it.
fn name_of(wish: &Wish) -> Value {
    let path = match wish {
        Wish::Build(path, _) | Wish::Project(path) => path.file_name(),
        Wish::Configuration(_) | Wish::Cargo => None,
        Wish::Process(process, _) => return by_port::name(*process).into(),
        Wish::Python(name) => return name.as_str().into(),
    };
    path.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default().into()
}

/// Builds what has to be built. Gives what changes.
async fn carry_out(
    wish: &Wish,
    given: &Arguments,
    workshop: &Workshop<'_>,
) -> Result<Option<Arguments>, Failure> {
    let own = given.get("breakroom").unwrap_or(&Value::Null);
    let target = own["target"].as_str();
    let job = |file| Job { file, arguments: given, target, workshop };
    match wish {
        Wish::Build(file, row) => (row.build)(job(file)).await,
        Wish::Project(folder) => {
            let mut changes = project::arguments(folder, job(folder), kind(given)).await?;
            // What somebody said beats what the project only suggests. That they are where they are says nothing of the tests
            // of a Go package, which run in its folder.
            let is_usual = |said: &Value| said.as_str().map(Path::new) == Some(&*workshop.context.cwd);
            let is_go_test = changes.get("mode").is_some_and(|mode| mode == "test");
            for key in ["args", "cwd"] {
                let says_nothing = |said: &Value| *said == json!([]) || (is_go_test && is_usual(said));
                if given.get(key).is_some_and(|said| !says_nothing(said)) {
                    changes.remove(key);
                }
            }
            let said = given.get("args").and_then(Value::as_array).filter(|_| is_go_test);
            if let Some(said) = said.filter(|_| !changes.contains_key("args")) {
                let words: Vec<String> =
                    said.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
                changes.insert("args".to_owned(), command::of_go_tests(&words).into());
            }
            if !changes.contains_key("program") {
                // The folder that was named is no program.
                changes.insert("program".to_owned(), Value::Null);
            }
            python::keep_environment(&mut changes, given, workshop.context);
            if !python::is_said(given) {
                python::choose(&mut changes, folder, workshop);
            }
            Ok(Some(changes))
        }
        Wish::Cargo => {
            let wanted = given.get("cargo").cloned().unwrap_or_default();
            let cwd = wanted["cwd"].as_str().or_else(|| given.get("cwd").and_then(Value::as_str));
            let cwd = workshop.context.cwd.join(cwd.unwrap_or_default());
            let words = given.get("args").and_then(Value::as_array).into_iter().flatten();
            let words: Vec<&str> = words.filter_map(Value::as_str).collect();
            let built = cargo::by_arguments(&wanted, &words, &cwd, workshop).await?;
            let mut changes = build::program(&built);
            changes.insert("cargo".to_owned(), Value::Null);
            Ok(Some(changes))
        }
        Wish::Process(process, words) => by_port::changes(*process, words, workshop).await.map(Some),
        Wish::Python(_) => Ok(Some(python::changes(given, workshop))),
        Wish::Configuration(_) => Ok(None),
    }
}

/// What `breakroom run` would send to that debugger for such a program, where nothing else was said.
fn add_defaults(arguments: &mut Arguments, context: &Context) -> Result<(), Failure> {
    let catalog = Catalog::load(context).map_err(|error| Failure::said(error.to_string()))?;
    let program = arguments.get("program").and_then(Value::as_str).map(PathBuf::from);
    let entry = match (kind(arguments), &program) {
        (Some(kind), _) => catalog.by_type(kind),
        (None, Some(program)) => catalog.by_file(program).ok(),
        (None, None) => None,
    };
    let Some(entry) = entry else { return Ok(()) };
    let mut defaults = match &program {
        Some(program) => entry.launch_for(program, &[], context),
        None => {
            let mut defaults = entry.launch.clone();
            defaults.insert("cwd".to_owned(), context.cwd.to_string_lossy().into_owned().into());
            defaults
        }
    };
    defaults.insert("type".to_owned(), entry.kind().into());
    if kind(arguments).is_none() {
        arguments.remove("type");
    }
    for (key, value) in defaults {
        arguments.entry(key).or_insert(value);
    }
    Ok(())
}

/// What is null among the changes is left out. What the client says is null stays: that may mean something.
fn change(arguments: &mut Arguments, changes: Arguments) {
    for (key, value) in changes {
        match value {
            Value::Null => drop(arguments.remove(&key)),
            value => drop(arguments.insert(key, value)),
        }
    }
}

/// Without what was carried out, and without what is not there.
fn finished(mut arguments: Arguments) -> Arguments {
    if let Some(Value::Object(own)) = arguments.get_mut("breakroom") {
        own.retain(|key, _| !CARRIED_OUT.contains(&key.as_str()));
    }
    for key in ["program", "cargo"] {
        if arguments.get(key).is_some_and(Value::is_null) {
            arguments.remove(key);
        }
    }
    arguments
}

/// A configuration or compound of the project's, by its name.
async fn configuration(
    name: &str,
    command: &str,
    given: &Arguments,
    workshop: &Workshop<'_>,
) -> Result<Value, Failure> {
    let context = workshop.context;
    let editor = Editor::load(&context.cwd, context)?.ok_or_else(|| {
        let folder = context.cwd.display();
        Failure::said(format!(
            "there is no .vscode/launch.json in {folder} or above, so no configuration `{name}`."
        ))
    })?;
    match editor.find(name)? {
        Found::One(configuration) => {
            let request = configuration.get("request").and_then(Value::as_str).unwrap_or("launch");
            if request != command {
                return Err(Failure::said(format!(
                    "the configuration `{name}` is for `{request}`; send `{request}` with it and not `{command}`."
                )));
            }
            one(configuration, given, &editor, workshop).await.map(Value::Object)
        }
        Found::Compound { members, compound } => {
            if command != "launch" {
                return Err(Failure::said(format!("the compound `{name}` is launched, not attached to.")));
            }
            let task = compound.get("preLaunchTask");
            before(task, &format!("the compound `{name}`"), given, &editor, workshop).await?;
            let mut configurations = Vec::new();
            // What is said for all of them: each has its own program and its own folder.
            let common =
                ["breakroom", "stopOnEntry"].map(|key| Some((key.to_owned(), given.get(key)?.clone())));
            let common: Arguments = common.into_iter().flatten().collect();
            for member in members {
                let mut ready = one(member, &common, &editor, workshop).await?;
                keep_paths(&mut ready);
                ready.entry("request").or_insert_with(|| "launch".into());
                configurations.push(Value::Object(ready));
            }
            let mut arguments = given.clone();
            arguments.insert("type".to_owned(), GROUP.into());
            arguments.insert("request".to_owned(), "launch".into());
            arguments.insert("name".to_owned(), name.into());
            arguments.insert("configurations".to_owned(), configurations.into());
            arguments.insert("stopAll".to_owned(), compound.get("stopAll").cloned().unwrap_or(false.into()));
            Ok(Value::Object(finished(arguments)))
        }
    }
}

/// One configuration, ready for its engine. What the client says itself beats what is written.
async fn one(
    mut configuration: Arguments,
    given: &Arguments,
    editor: &Editor,
    workshop: &Workshop<'_>,
) -> Result<Arguments, Failure> {
    let name = configuration.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let user = format!("the configuration `{name}`");
    let written = ["type", "request", "name", "breakroom"];
    let mut own = merged_own(&user, &configuration, given, editor)?;
    let said = given.iter().filter(|(key, _)| !written.contains(&key.as_str()));
    let said: Arguments = said.map(|(key, value)| (key.clone(), value.clone())).collect();
    configuration.retain(|key, _| !said.contains_key(key));
    let task = configuration.get("preLaunchTask").cloned();
    configuration.retain(|key, _| !EDITORS_OWN.contains(&key.as_str()) && key != "breakroom");
    let around = surroundings(&user, given, editor, workshop.context);
    if let Some(paths) = own.get_mut("pathMap") {
        around.expand(paths)?;
    }
    let mut value = Value::Object(configuration);
    around.expand(&mut value)?;
    let Value::Object(mut arguments) = value else { return Ok(Map::new()) };
    environment::take_in(&mut arguments, around.workspace)?;
    interpreters::check(&user, &arguments, editor, workshop.context)?;
    before(task.as_ref(), &user, given, editor, workshop).await?;
    arguments.extend(said);
    fitting::fit(&mut arguments, &around);
    if !own.is_empty() {
        arguments.insert("breakroom".to_owned(), Value::Object(own));
    }
    let request = arguments.get("request").and_then(Value::as_str).unwrap_or("launch").to_owned();
    let wanted = wish(&request, &without_name(&arguments), workshop.context);
    if let Some(wanted) = wanted
        && let Some(changes) = carry_out(&wanted, &arguments, workshop).await?
    {
        change(&mut arguments, changes);
    }
    if kind(&arguments).is_none() {
        add_defaults(&mut arguments, workshop.context)?;
    }
    if let Some(script) = fitting::missing(&arguments, around.workspace) {
        return Err(Failure::said(format!("{user} is for {}, which is not there.", script.display())));
    }
    python::choose(&mut arguments, around.workspace, workshop);
    Ok(finished(arguments))
}

/// What a member of a compound says to the hub is about the session, but for where its files are.
fn keep_paths(member: &mut Arguments) {
    let own = member.remove("breakroom");
    if let Some(paths) = own.as_ref().and_then(|own| own.get("pathMap")) {
        member.insert("breakroom".to_owned(), json!({"pathMap": paths}));
    }
}

/// A configuration that names itself must not be looked up again.
fn without_name(arguments: &Arguments) -> Arguments {
    let mut arguments = arguments.clone();
    if let Some(Value::Object(own)) = arguments.get_mut("breakroom") {
        own.remove("configuration");
    }
    arguments
}

/// The hub's own member as it is written, with what the client says laid over it.
fn merged_own(
    user: &str,
    configuration: &Arguments,
    given: &Arguments,
    editor: &Editor,
) -> Result<Arguments, Failure> {
    let of = |arguments: &Arguments| {
        arguments.get("breakroom").and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let (mut own, said) = (of(configuration), of(given));
    own.remove("token");
    let needs_trust = |key: &&&str| own.contains_key(**key) && !said.contains_key(**key);
    if let (Trust::Untrusted, Some(key)) = (editor.folder.trust, FOR_TRUSTED.iter().find(needs_trust)) {
        let folder = editor.folder.path.display();
        return Err(Failure::said(format!(
            "{user} says `{key}` in \"breakroom\", and {folder} is not trusted. Look at its launch.json, then: breakroom trust {folder}"
        )));
    }
    own.extend(said);
    Ok(own)
}

fn surroundings<'a>(
    user: &str,
    given: &Arguments,
    editor: &'a Editor,
    context: &'a Context,
) -> Surroundings<'a> {
    let file = given.get("breakroom").and_then(|own| own["file"].as_str());
    Surroundings {
        context,
        workspace: editor.folder.workspace(),
        file: file.map(|file| absolute(&context.cwd.join(file))),
        settings: editor.settings.clone(),
        inputs: editor.inputs(),
        user: user.to_owned(),
    }
}

/// Runs the task that is to be run first.
async fn before(
    task: Option<&Value>,
    user: &str,
    given: &Arguments,
    editor: &Editor,
    workshop: &Workshop<'_>,
) -> Result<(), Failure> {
    match task.filter(|task| !task.is_null()) {
        Some(task) => {
            tasks::run(task, editor, &surroundings(user, given, editor, workshop.context), workshop).await
        }
        None => Ok(()),
    }
}
