//! What the words of `breakroom run` come to: which session is opened, and with what request.
//!
//! Configurations, projects and builds are the hub's to prepare, for every client alike; here only what it is told.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use breakroom_door_dap::Session;
use breakroom_door_terminal::{Place, Request, Spot};
use breakroom_engines::{Catalog, Context, Entry};
use breakroom_launch::attach::{self, Kind, Object, Telling, Way};
use breakroom_launch::{CallOff, Workshop, needs_nothing, request_of, runnable};
use serde_json::{Value, json};

use crate::cli::{RunArgs, this_program};

pub struct Beginning {
    pub session: Session,
    pub launch: Value,
    pub request: Request,
}

/// `None` if nothing was named.
pub fn beginning(args: &RunArgs, context: &Context) -> Result<Option<Beginning>> {
    let mut beginning = match (&args.configuration, &args.attach, &args.core, &args.file) {
        (Some(name), ..) => by_configuration(name, args, context)?,
        (None, Some(object), ..) => by_object(object, args, context)?,
        (None, None, Some(core), program) => {
            let absolute =
                |path: &Path| std::path::absolute(context.cwd.join(path)).unwrap_or_else(|_| path.into());
            let object = Object::Core { core: absolute(core), program: program.as_deref().map(absolute) };
            by_object(&object, args, context)?
        }
        (None, None, None, Some(file)) => by_file(file, args, context)?,
        (None, None, None, None) => return Ok(None),
    };
    for argument in &args.launch {
        beginning.launch[&argument.key] = argument.value.clone();
    }
    let own = &mut beginning.launch["breakroom"];
    own["events"] = true.into();
    if let Some(name) = &args.name {
        own["name"] = name.as_str().into();
    }
    Ok(Some(beginning))
}

fn by_configuration(name: &str, args: &RunArgs, context: &Context) -> Result<Beginning> {
    let request = with_workshop(context, |workshop| Ok(request_of(name, workshop)?))?;
    refuse_bare_lines(args)?;
    let mut launch = json!({"breakroom": {"configuration": name}});
    if let Some(file) = &args.file {
        launch["breakroom"]["file"] = context.cwd.join(file).to_string_lossy().into_owned().into();
    }
    if !args.args.is_empty() {
        launch["args"] = args.args.clone().into();
    }
    let request = if request == "attach" { Request::Attach } else { Request::Launch };
    Ok(Beginning { session: Session::New { engine: None }, launch, request })
}

fn by_file(file: &Path, args: &RunArgs, context: &Context) -> Result<Beginning> {
    let catalog = Catalog::load(context)?;
    let path = context.cwd.join(file);
    if !path.exists() {
        bail!(
            "there is no {}; name a script, a source file, an executable or a project's folder",
            file.display()
        );
    }
    let by_type = args.kind.as_deref().map(|kind| by_type(&catalog, kind)).transpose()?;
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut plain = json!({"program": path.to_string_lossy(), "args": args.args});
    plain["cwd"] = context.cwd.to_string_lossy().into_owned().into();
    if let Some(entry) = by_type {
        plain["type"] = entry.kind().into();
    }
    if let Some(target) = &args.target {
        plain["breakroom"] = json!({"target": target});
    }
    if !needs_nothing("launch", &plain, context) {
        if path.is_dir() {
            refuse_bare_lines(args)?;
        }
        let session = Session::New { engine: by_type.map(|entry| entry.name.clone()) };
        return Ok(Beginning { session, launch: plain, request: Request::Launch });
    }
    if path.is_dir() {
        bail!(
            "{} has no project that is known: no Cargo.toml, go.mod, package.json, pyproject.toml, *.csproj or CMakeLists.txt; name a file",
            file.display()
        );
    }
    let choose = || match &args.kind {
        Some(kind) => catalog.installed_for_type(kind, context),
        None => catalog.installed_for_file(&path, context),
    };
    // Asked here already, so that a missing debugger is told before anything is started.
    let (entry, _) = match choose() {
        Err(error) if crate::fixing::offer(&error, &catalog, context)? => choose()?,
        chosen => chosen?,
    };
    if entry.executables {
        refuse_bare_lines(args)?;
    }
    say_starting(entry);
    let launch = Value::Object(entry.launch_for(&path, &args.args, context));
    Ok(Beginning {
        session: Session::New { engine: Some(entry.name.clone()) },
        launch,
        request: Request::Launch,
    })
}

/// A process, a server or a core file.
fn by_object(object: &Object, args: &RunArgs, context: &Context) -> Result<Beginning> {
    let catalog = Catalog::load(context)?;
    let entry = match (&args.kind, object) {
        (Some(kind), _) => by_type(&catalog, kind)?,
        (None, Object::Process(pid)) => match attach::kind_of_process(*pid)? {
            Kind::Type(kind) => by_type(&catalog, kind)?,
            Kind::Executable(file) => catalog.by_file(&file)?,
        },
        (None, Object::Core { program: Some(program), .. }) if attach::is_go(program) => {
            by_type(&catalog, "go")?
        }
        (None, Object::Core { .. }) => {
            let native = catalog.entries().iter().find(|entry| entry.executables);
            native.context("no debugger for executables is known; name one by --type")?
        }
        (None, Object::Address { host, port }) => {
            bail!("what listens at {host}:{port}? Name the debugger by --type: python, go, lldb, ...")
        }
    };
    refuse_bare_lines(args)?;
    let Telling { request, arguments, way } = attach::telling(&entry.name, object)?;
    let mut launch = json!({"request": request});
    if let Value::Object(members) = arguments {
        members.into_iter().for_each(|(key, value)| launch[key] = value);
    }
    let session = match (way, object) {
        (Way::Server, Object::Address { host, port }) => {
            let relay =
                [this_program()?.to_string_lossy().into_owned(), "relay".into(), format!("{host}:{port}")];
            launch["breakroom"] = json!({"adapter": {"name": entry.name, "args": relay}});
            Session::New { engine: None }
        }
        _ => {
            entry.find(context)?;
            launch["type"] = entry.kind().into();
            Session::New { engine: Some(entry.name.clone()) }
        }
    };
    say_starting(entry);
    let request = if request == "launch" { Request::Launch } else { Request::Attach };
    Ok(Beginning { session, launch, request })
}

fn by_type<'a>(catalog: &'a Catalog, kind: &str) -> Result<&'a Entry> {
    Ok(catalog.by_type(kind).ok_or_else(|| catalog.unknown_type(kind))?)
}

fn say_starting(entry: &Entry) {
    if std::io::stderr().is_terminal() {
        eprintln!("starting {} ...", entry.name);
    }
}

/// A bare line means the program's own file, and here is none.
fn refuse_bare_lines(args: &RunArgs) -> Result<()> {
    let bare = |place: &&Place| matches!(place.spot, Spot::Line { file: None, .. });
    match args.breakpoints.iter().find(bare) {
        Some(Place { spot: Spot::Line { line, .. }, .. }) => {
            bail!("--break {line}: in which file? Write FILE:{line}, or the name of a function")
        }
        _ => Ok(()),
    }
}

/// `breakroom run` without a word: what could be run here.
pub fn list(context: &Context) -> Result<ExitCode> {
    let all = with_workshop(context, |workshop| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(runnable(&context.cwd, workshop))?)
    })?;
    if all.is_empty() {
        bail!("name what to run: a script, a source file, an executable, or a folder with a project in it");
    }
    let lines: Vec<_> = all.iter().map(|one| (typed(&one.words), &one.what)).collect();
    let widest = lines.iter().map(|(words, _)| words.len()).max().unwrap_or_default();
    println!("What could be run here:");
    for (words, what) in lines {
        println!("  breakroom run {words:widest$}  {what}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Words as a shell reads them.
fn typed(words: &[String]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty()
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./:=@%+".contains(letter))
    };
    let quoted = |word: &String| match is_plain(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn with_workshop<T>(context: &Context, work: impl FnOnce(&Workshop) -> Result<T>) -> Result<T> {
    let guard = this_program()?;
    let silent = |_| {};
    // Nobody calls it off: Ctrl-C ends this process, and the guards with it.
    let call_off = CallOff::new(false);
    work(&Workshop::new(context, &guard, &silent, call_off.subscribe()))
}
