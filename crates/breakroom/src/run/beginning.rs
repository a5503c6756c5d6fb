//! What the words of `breakroom run` come to: which session is opened, and with what request.
//!
//! Configurations, projects and builds are the hub's to prepare, for every client alike; here only what it is told.

use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use breakroom_door_dap::Session;
use breakroom_door_terminal::Request;
use breakroom_engines::{Catalog, CatalogError, Context, Entry, Found, typed};
use breakroom_launch::attach::{self, Kind, Object, Telling, Way};
use breakroom_launch::core_file::Origin;
use breakroom_launch::{
    Listing, Meant, debugged_by, find_tool, is_go_test, is_python, meant, module, needs_nothing, of_go_tests,
    python_words, request_of, runnable, types_of,
};
use serde_json::{Map, Value, json};

use super::places::refuse_bare_lines;
use crate::cli::{RunArgs, this_program};
use crate::printing::print;

/// As much as the hub keeps for a program to read.
const MOST_INPUT: usize = 1 << 20;

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
            attach::check_core(&absolute(core))?;
            let program = program.as_deref().map(absolute);
            warn_of_another(&absolute(core), program.as_deref());
            let object = Object::Core { core: absolute(core), program };
            by_object(&object, args, context)?
        }
        (None, None, None, Some(file)) => by_file(file, &args.args, args, context)?,
        (None, None, None, None) if args.module.is_some() => {
            let words = [&["-m".to_owned()], args.module.as_deref().unwrap_or_default()].concat();
            by_python(None, &words, None, context)?
        }
        (None, None, None, None) => return Ok(None),
    };
    for argument in &args.launch {
        beginning.launch[&argument.key] = argument.value.clone();
    }
    let own = &mut beginning.launch["breakroom"];
    if !own.is_object() && !own.is_null() {
        bail!("breakroom={own} is no object: what the hub is told goes there");
    }
    own["events"] = true.into();
    if let Some(name) = &args.name {
        own["name"] = name.as_str().into();
    }
    Ok(Some(beginning))
}

/// Debuggers read another's memory as if it were this program's.
fn warn_of_another(core: &Path, program: Option<&Path>) {
    let other = program.and_then(|program| Some((program, Origin::of(core).other_than(program)?)));
    if let Some((program, other)) = other {
        let (core, program) = (core.display(), program.display());
        let other = breakroom_wire::visible(&other);
        eprintln!("breakroom: {core} was left by {other}, not by {program}: what is shown may be wrong.");
    }
}

fn by_configuration(name: &str, args: &RunArgs, context: &Context) -> Result<Beginning> {
    let request = request_of(name, context)?;
    if args.file.is_none() {
        refuse_bare_lines(args)?;
    }
    let catalog = Catalog::load(context)?;
    for kind in types_of(name, context)?.iter().filter(|kind| catalog.by_type(kind).is_some()) {
        installed(&catalog, context, || catalog.installed_for_type(kind, context))?;
    }
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

/// `words` are its arguments.
fn by_file(file: &Path, words: &[String], args: &RunArgs, context: &Context) -> Result<Beginning> {
    let catalog = Catalog::load(context)?;
    let by_type = args.kind.as_deref().map(|kind| by_type(&catalog, kind)).transpose()?;
    let path = match context.cwd.join(file) {
        path if path.exists() && !is_only_a_tools_name(&path, file, &catalog, context) => path,
        _ => match by_command(file, words, by_type, args, context)? {
            Some(beginning) => return Ok(beginning),
            None => tool(file, &catalog, context)?,
        },
    };
    // Whoever names a debugger of executables means the interpreter itself.
    if is_python(&path) && path.is_file() && by_type.is_none_or(|entry| !entry.executables) {
        return by_python(Some(&path), words, by_type, context);
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    let words = if is_go_test(&path) { of_go_tests(words) } else { words.to_vec() };
    let mut plain = json!({"program": path.to_string_lossy(), "args": words});
    plain["cwd"] = context.cwd.to_string_lossy().into_owned().into();
    // A type that says nothing new would have the debugger be given this as it is: a project's folder, or a script without
    // the Python of its project.
    let own = match path.is_dir() {
        true => debugged_by(&path, context).and_then(|kind| catalog.by_type(kind)),
        false => catalog.by_file(&path).ok(),
    };
    let by_type = by_type.filter(|entry| own.is_none_or(|own| own.name != entry.name));
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
        // Before anything is built for it.
        if let Some(kind) = args.kind.as_deref().or_else(|| debugged_by(&path, context)) {
            installed(&catalog, context, || catalog.installed_for_type(kind, context))?;
        } else if catalog.knows_source(&path) {
            installed(&catalog, context, || catalog.installed_for_source(&path, context))?;
        } else if path.is_file() {
            installed(&catalog, context, || catalog.installed_for_file(&path, context))?;
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
    let entry = installed(&catalog, context, || match &args.kind {
        Some(kind) => catalog.installed_for_type(kind, context),
        None => catalog.installed_for_file(&path, context),
    })?;
    if entry.executables {
        refuse_bare_lines(args)?;
    }
    say_starting(entry);
    let launch = Value::Object(entry.launch_for(&path, &words, context));
    Ok(Beginning {
        session: Session::New { engine: Some(entry.name.clone()) },
        launch,
        request: Request::Launch,
    })
}

/// What is no file may be a command line, or a module of Python that is no tool.
fn by_command(
    file: &Path,
    words: &[String],
    by_type: Option<&Entry>,
    args: &RunArgs,
    context: &Context,
) -> Result<Option<Beginning>> {
    let name = file.to_string_lossy();
    match meant(&name, words, context)? {
        Some(Meant::Program { program, args: words, launch }) => {
            let mut beginning = by_file(Path::new(&program), &words, args, context)?;
            launch.into_iter().for_each(|(key, value)| beginning.launch[key] = value);
            Ok(Some(beginning))
        }
        Some(Meant::Launch(launch)) => by_launch(launch, by_type, args, context).map(Some),
        None => {
            let catalog = Catalog::load(context)?;
            let words = module(&name, words, context).filter(|_| tool(file, &catalog, context).is_err());
            words.map(|words| by_python(None, &words, by_type, context)).transpose()
        }
    }
}

/// Whether a folder has nothing to run and only the name of a tool, as a folder of its tests often does.
fn is_only_a_tools_name(path: &Path, name: &Path, catalog: &Catalog, context: &Context) -> bool {
    let plain = json!({"program": path.to_string_lossy()});
    let is_nothing = path.is_dir() && needs_nothing("launch", &plain, context);
    is_nothing && tool(name, catalog, context).is_ok()
}

/// A program by the name that it has in a shell.
fn tool(name: &Path, catalog: &Catalog, context: &Context) -> Result<PathBuf> {
    let Some(found) = find_tool(&name.to_string_lossy(), context) else {
        bail!(
            "there is no {}; name a script, a source file, an executable, a project's folder, or a script in PATH",
            name.display()
        );
    };
    if is_python(&found) {
        return Ok(found);
    }
    let debugger = catalog.by_file(&found);
    let (name, path) = (name.display(), found.display());
    match debugger {
        Ok(entry) if !entry.executables => Ok(found),
        // Whoever types `node` or `cargo` does not want to debug those.
        Ok(_) => bail!(
            "there is no {name} here; name the script or the file that it would run, or to debug itself {path}"
        ),
        // As some package managers write them.
        Err(_) if found.components().any(|part| part.as_os_str() == "node_modules") => {
            bail!("{name} is {path}, which only starts a script of Node's: name that one by its path")
        }
        Err(_) => bail!(
            "{name} is {path}, which is no script that can be debugged; if it runs a module of Python: breakroom run -m {name}"
        ),
    }
}

/// A module, a script or code of Python.
fn by_python(
    python: Option<&Path>,
    words: &[String],
    by_type: Option<&Entry>,
    context: &Context,
) -> Result<Beginning> {
    let Some(launch) = python_words(words) else {
        bail!("no program was given to python; name a script, a module with -m NAME, or code with -c CODE")
    };
    let catalog = Catalog::load(context)?;
    let kind = by_type.map_or("python", |entry| entry.kind());
    installed(&catalog, context, || catalog.installed_for_type(kind, context))?;
    let mut launch = Value::Object(launch);
    launch["cwd"] = context.cwd.to_string_lossy().into_owned().into();
    if let Some(program) = launch["program"].as_str() {
        launch["program"] = context.cwd.join(program).to_string_lossy().into_owned().into();
    }
    if let Some(python) = python {
        launch["python"] = python.to_string_lossy().into_owned().into();
    }
    let engine = by_type.map(|entry| entry.name.clone());
    Ok(Beginning { session: Session::New { engine }, launch, request: Request::Launch })
}

/// A launch that says itself what it is for.
fn by_launch(
    mut launch: Map<String, Value>,
    by_type: Option<&Entry>,
    args: &RunArgs,
    context: &Context,
) -> Result<Beginning> {
    refuse_bare_lines(args)?;
    let catalog = Catalog::load(context)?;
    if let Some(entry) = by_type {
        launch.insert("type".to_owned(), entry.kind().into());
    }
    let kind = launch.get("type").and_then(Value::as_str).unwrap_or_default();
    let entry = installed(&catalog, context, || catalog.installed_for_type(kind, context))?;
    let mut defaults = entry.launch.clone();
    defaults.insert("cwd".to_owned(), context.cwd.to_string_lossy().into_owned().into());
    defaults.extend(launch);
    let session = Session::New { engine: Some(entry.name.clone()) };
    Ok(Beginning { session, launch: Value::Object(defaults), request: Request::Launch })
}

/// A process, a server or a core file.
fn by_object(object: &Object, args: &RunArgs, context: &Context) -> Result<Beginning> {
    let catalog = Catalog::load(context)?;
    refuse_bare_lines(args)?;
    let of_type = |kind: &str| installed(&catalog, context, || catalog.installed_for_type(kind, context));
    let of_file = |file: &Path| installed(&catalog, context, || catalog.installed_for_file(file, context));
    let entry = match (&args.kind, object) {
        (Some(kind), Object::Address { .. }) => {
            let entry = by_type(&catalog, kind)?;
            // What listens there needs no debugger here if it is one itself.
            match attach::telling(&entry.name, object)?.way {
                Way::Server => entry,
                Way::Engine => of_type(kind)?,
            }
        }
        (Some(kind), _) => of_type(kind)?,
        (None, Object::Process(pid)) => match attach::kind_of_process(*pid)? {
            Kind::Type(kind) => of_type(kind)?,
            Kind::Executable(file) => of_file(&file)?,
        },
        (None, Object::Core { program: Some(program), .. }) if attach::is_go(program) => of_type("go")?,
        (None, Object::Core { program: Some(program), .. }) => of_file(program)?,
        // Some program of this machine; which one, the debugger finds out.
        (None, Object::Core { program: None, .. }) => of_file(&this_program()?)?,
        (None, Object::Address { host, port }) => {
            let knows = |entry: &&Entry| attach::telling(&entry.name, object).is_ok();
            let kinds: Vec<&str> = catalog.entries().iter().filter(knows).map(Entry::kind).collect();
            bail!("what listens at {host}:{port}? Name the debugger by --type: {}", kinds.join(", "))
        }
    };
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
            launch["type"] = entry.kind().into();
            Session::New { engine: Some(entry.name.clone()) }
        }
    };
    // What executes the program says nothing about it where that is always the same; there it is named when it is looked at.
    let named_later = entry.process_by_port.is_some() && matches!(object, Object::Process(_));
    if !named_later {
        launch["breakroom"]["name"] = name_of(object).into();
    }
    say_starting(entry);
    let request = if request == "launch" { Request::Launch } else { Request::Attach };
    Ok(Beginning { session, launch, request })
}

/// What a session is called whose launch names no program, or one that says less.
fn name_of(object: &Object) -> String {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    match object {
        Object::Process(pid) => {
            let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
            let program = program.as_deref().and_then(last).unwrap_or_else(|| "process".to_owned());
            format!("{program} {pid}")
        }
        Object::Address { host, port } => format!("{host}:{port}"),
        Object::Core { core, program } => last(program.as_ref().unwrap_or(core)).unwrap_or_default(),
    }
}

/// What `choose` gives; if that is not installed, it is offered, and asked for again. Asked here already, so that a missing
/// debugger is told before anything is built or started.
fn installed<'a>(
    catalog: &'a Catalog,
    context: &Context,
    choose: impl Fn() -> Result<(&'a Entry, Found), CatalogError>,
) -> Result<&'a Entry> {
    let (entry, _) = match choose() {
        Err(error) if crate::fixing::offer(&error, catalog, context)? => choose()?,
        chosen => chosen?,
    };
    Ok(entry)
}

fn by_type<'a>(catalog: &'a Catalog, kind: &str) -> Result<&'a Entry> {
    Ok(catalog.by_type(kind).ok_or_else(|| catalog.unknown_type(kind))?)
}

fn say_starting(entry: &Entry) {
    if std::io::stderr().is_terminal() {
        eprintln!("starting {} ...", entry.name);
    }
}

/// What the program is to read. Requests are text, and the hub keeps no more for a program that does not read.
pub fn program_input(file: &Path, context: &Context) -> Result<String> {
    let cannot = || format!("--input {}: it cannot be read", file.display());
    let opened = std::fs::File::open(context.cwd.join(file)).with_context(cannot)?;
    let mut bytes = Vec::new();
    // It may have no end.
    opened.take(MOST_INPUT as u64 + 1).read_to_end(&mut bytes).with_context(cannot)?;
    if bytes.len() > MOST_INPUT {
        bail!("--input {}: it has more than the {MOST_INPUT} bytes that can be given", file.display());
    }
    let text = String::from_utf8(bytes);
    text.map_err(|_| {
        anyhow!("--input {}: it is no text in UTF-8, and nothing else can be given", file.display())
    })
}

/// `breakroom run` without a word: what could be run here.
pub fn list(context: &Context) -> Result<ExitCode> {
    let Listing { all, unread } = runnable(&context.cwd, context)?;
    if let Some(unread) = unread {
        eprintln!("breakroom: {unread}");
    }
    if all.is_empty() {
        bail!("name what to run: a script, a source file, an executable, or a folder with a project in it");
    }
    let lines: Vec<_> = all.iter().map(|one| (typed(&one.words), &one.what)).collect();
    let widest = lines.iter().map(|(words, _)| words.len()).max().unwrap_or_default();
    let line = |(words, what): &(String, &String)| format!("  breakroom run {words:widest$}  {what}\n");
    print(&format!("What could be run here:\n{}", lines.iter().map(line).collect::<String>()))?;
    Ok(ExitCode::SUCCESS)
}
