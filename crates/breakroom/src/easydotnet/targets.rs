//! What the easy-dotnet front end asks about programs: found by the words of `breakroom run`, and built before a port opens.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use breakroom_door_dap::Session;
use breakroom_door_terminal::Request;
use breakroom_engines::{Catalog, Context};
use breakroom_frontend_easydotnet::{Candidate, Prepared, ProcessToAttach, Targets, Wanted, Work};
use breakroom_hub::{GivenRequest, GivenStart};
use breakroom_launch::attach::Object;
use breakroom_launch::{Workshop, dotnet_settings, dotnet_solution, prepare, runnable};
use serde_json::{Map, Value, json};

use crate::cli::{LaunchArgument, RunArgs};
use crate::run::beginning::{Beginning, beginning};

/// Files that name the project of their folder.
const MANIFESTS: [&str; 4] = ["package.json", "go.mod", "pyproject.toml", "CMakeLists.txt"];
/// How the catalog is told of the .NET debugger that the client is configured with.
const DEBUGGER_VARIABLE: &str = "EASY_DOTNET_DEBUGGER_BIN_PATH";

/// The type of debuggers of .NET.
const DOTNET: &str = "coreclr";

/// How the names of the sockets begin at which processes of .NET can be asked about themselves.
const DIAGNOSTICS: &str = "dotnet-diagnostic-";

pub struct Projects {
    /// This program, which supervises builds.
    pub executable: PathBuf,
}

impl Targets for Projects {
    fn prepare(&self, wanted: &Wanted, work: &Work<'_>) -> Result<Prepared, String> {
        self.prepared(wanted, work).map_err(|error| crate::sentence(&error))
    }

    fn prepare_attach(&self, pid: u32, wanted: &Wanted) -> Result<Prepared, String> {
        let attach = || {
            let context = context_of(wanted, None);
            let kind = Some(DOTNET.to_owned());
            let args = RunArgs { attach: Some(Object::Process(pid)), kind, ..RunArgs::default() };
            let begun = begun(&args, &context)?;
            let adapter = adapter_of(&begun, &context)?;
            Ok(given(begun.request, begun.launch, adapter, context, format!("process {pid}")))
        };
        attach().map_err(|error: anyhow::Error| crate::sentence(&error))
    }

    fn candidates(&self, root: &Path, file: Option<&Path>) -> Result<Vec<Candidate>, String> {
        if let Some(file) = file {
            let path = root.join(file);
            return Ok(vec![Candidate { display: name_of(&path), path }]);
        }
        let projects = dotnet_solution::programs_of(root);
        if !projects.is_empty() {
            let candidate =
                |path: PathBuf| Candidate { display: name_of(path.with_extension("").as_path()), path };
            return Ok(projects.into_iter().map(candidate).collect());
        }
        let context = Context { cwd: root.to_path_buf(), ..Context::of_this_process() };
        let listing = runnable(root, &context).map_err(|failure| failure.to_string())?;
        let candidate = |words: Vec<String>, what: String| match &words[..] {
            [word] => {
                let path = if word == "." { root.to_path_buf() } else { root.join(word) };
                Some(Candidate { display: format!("{} ({what})", name_of(&path)), path })
            }
            _ => None,
        };
        Ok(listing.all.into_iter().filter_map(|one| candidate(one.words, one.what)).collect())
    }

    fn profiles(&self, target: &Path) -> Result<Vec<(String, Value)>, String> {
        let profiles = dotnet_settings::profiles(target).map_err(|failure| failure.to_string())?;
        Ok(profiles.into_iter().map(|profile| (profile.name, Value::Object(profile.members))).collect())
    }

    fn processes(&self) -> Vec<ProcessToAttach> {
        let folder = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty());
        let folder = folder.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut processes: Vec<_> = entries.filter_map(|entry| dotnet_process(&entry)).collect();
        processes.sort_by_key(|process| process.pid);
        processes
    }
}

impl Projects {
    fn prepared(&self, wanted: &Wanted, work: &Work<'_>) -> Result<Prepared> {
        let target = target(wanted)?;
        let context = context_of(wanted, target.parent());
        let name = name_of(&target);
        let is_dotnet = is_dotnet(&target);
        if let (Some(profile), false) = (&wanted.profile, is_dotnet) {
            bail!("{name} has no launch profile `{profile}`; only .NET projects have some");
        }
        let dotnet = json!({
            "configuration": wanted.configuration,
            "framework": wanted.framework,
            "profile": wanted.profile,
        });
        let args = RunArgs {
            file: Some(target),
            args: wanted.args.clone(),
            kind: is_dotnet.then(|| DOTNET.to_owned()),
            launch: is_dotnet
                .then(|| LaunchArgument { key: "dotnet".to_owned(), value: dotnet })
                .into_iter()
                .collect(),
            ..RunArgs::default()
        };
        let mut begun = begun(&args, &context)?;
        if let Some(launch) = self.built(&begun.launch, &context, work)? {
            begun.launch = launch;
        }
        if is_dotnet {
            run_beside_its_assembly(&mut begun.launch, &context);
        }
        let adapter = adapter_of(&begun, &context)?;
        Ok(given(begun.request, begun.launch, adapter, context, name))
    }

    /// The launch after its build. None if there is nothing to build.
    fn built(&self, launch: &Value, context: &Context, work: &Work<'_>) -> Result<Option<Value>> {
        let show = |text: String| (work.show)(text);
        // Nothing that is only launched keeps a port open.
        let keep = |closer| drop(closer);
        let workshop = Workshop::new(context, &self.executable, &show, &keep, work.cancelled.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(prepare("launch", launch.clone(), &workshop))?)
    }
}

/// The live process of the user that has this diagnostics socket, as each process of .NET has one.
fn dotnet_process(socket: &std::fs::DirEntry) -> Option<ProcessToAttach> {
    let name = socket.file_name().into_string().ok()?;
    let pid: u32 = name.strip_prefix(DIAGNOSTICS)?.split('-').next()?.parse().ok()?;
    let process = std::fs::metadata(format!("/proc/{pid}")).ok()?;
    if process.uid() != std::fs::metadata("/proc/self").ok()?.uid() {
        return None;
    }
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(ProcessToAttach { pid, display: format!("{} ({pid})", words.join(" ").trim_end()) })
}

/// Whether the SDK of .NET has to say what is meant.
fn is_dotnet(target: &Path) -> bool {
    let is_source = target.extension().is_some_and(|extension| extension == "cs");
    is_source
        || dotnet_solution::is_project(target)
        || dotnet_solution::is_solution(target)
        || (target.is_dir() && dotnet_solution::is_in(target))
}

/// Where nothing else is said, a program of .NET runs in the folder of its assembly.
fn run_beside_its_assembly(launch: &mut Value, context: &Context) {
    let said = launch["cwd"].as_str().map(Path::new).filter(|cwd| **cwd != context.cwd);
    let folder =
        launch["program"].as_str().and_then(|program| Path::new(program).parent()).map(Path::to_path_buf);
    if let (None, Some(folder)) = (said, folder) {
        launch["cwd"] = folder.to_string_lossy().into_owned().into();
    }
}

/// The file or folder that is meant.
fn target(wanted: &Wanted) -> Result<PathBuf> {
    let path = match &wanted.root {
        Some(root) => root.join(&wanted.target),
        None => wanted.target.clone(),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    if !path.exists() {
        bail!("{}: there is no such file or folder", path.display());
    }
    let is_manifest = path.file_name().is_some_and(|name| MANIFESTS.iter().any(|known| name == *known));
    match path.parent().filter(|_| is_manifest) {
        Some(folder) => Ok(folder.to_path_buf()),
        None => Ok(path),
    }
}

/// The program runs in the root of the client's project, or beside its file.
fn context_of(wanted: &Wanted, folder: Option<&Path>) -> Context {
    let mut context = Context::of_this_process();
    if let Some(cwd) = wanted.root.as_deref().or(folder) {
        context.cwd = cwd.to_path_buf();
    }
    if let Some(debugger) = &wanted.debugger {
        context.env.retain(|(name, _)| name != DEBUGGER_VARIABLE);
        context.env.push((DEBUGGER_VARIABLE.into(), debugger.into()));
    }
    context
}

fn begun(args: &RunArgs, context: &Context) -> Result<Beginning> {
    beginning(args, context)?.ok_or_else(|| anyhow!("no program was named"))
}

/// The adapter of a launch, which must be installed.
fn adapter_of(begun: &Beginning, context: &Context) -> Result<String> {
    let catalog = Catalog::load(context)?;
    let fixed = match &begun.session {
        Session::New { engine } => engine.as_deref(),
        Session::Live { .. } => None,
    };
    let kind = begun.launch["type"].as_str().or(fixed);
    let program = begun.launch["program"].as_str().map(Path::new);
    let (entry, _) = match (kind, program) {
        (Some(kind), _) => catalog.installed_for_type(kind, context)?,
        (None, Some(program)) => catalog.installed_for_file(program, context)?,
        (None, None) => bail!("it is not known which debugger is meant"),
    };
    Ok(entry.name.clone())
}

fn given(request: Request, launch: Value, adapter: String, context: Context, name: String) -> Prepared {
    let mut arguments = match launch {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    // The client is not one of ours, so it does not know our events.
    if let Some(own) = arguments.get_mut("breakroom").and_then(Value::as_object_mut) {
        own.remove("events");
    }
    arguments.entry("name").or_insert_with(|| json!(name));
    let request = match request {
        Request::Attach => GivenRequest::Attach,
        _ => GivenRequest::Launch,
    };
    Prepared { name, adapter, start: GivenStart { request, arguments }, context }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}
