//! Looking for an installed adapter.
//!
//! The adapters folder comes first, so that what we installed and tested wins over what happens to be in PATH.
//! Nothing is installed here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::copies::{copy_at, described, is_copy};
use super::entry::{ArgsWhen, COMPANION, Candidate, Entry, Origin, SCRIPT, VersionQuery};
use super::fix::Fix;
use super::from_launch::{self, depends_on_launch};
use super::name::name_matches;
use super::versions::{self, matching_programs};
use crate::context::{Context, is_executable};
use crate::error::CatalogError;
use crate::folders;
use crate::probe;
use crate::project::Trust;
use crate::spec::{AdapterSpec, LONGEST_TIMEOUT};

/// Stands in `programs` for the program that runs now: adapters of our own are part of it.
const OURSELVES: &str = "{{breakroom}}";
/// Begins the name of a variable that holds a program's path.
const VARIABLE: char = '$';
/// A program in the adapters folder.
const IN_ADAPTERS: &str = "{{adapters}}/";

/// An adapter that is installed.
#[derive(Clone, Debug)]
pub struct Found {
    /// What to show: the adapter's own folder, or its program.
    pub path: PathBuf,
    /// The whole command, with the placeholders of the mode and of the launch still in it.
    pub args: Vec<String>,
    args_when: Vec<ArgsWhen>,
    program: PathBuf,
    version: Option<VersionQuery>,
    /// Where files of ours are.
    companions: PathBuf,
}

impl Entry {
    /// The first candidate that exists.
    pub fn find(&self, context: &Context) -> Result<Found, CatalogError> {
        if let Origin::Project { path, trust: Trust::Untrusted } = &self.origin {
            return Err(CatalogError::Untrusted { name: self.name.clone(), path: path.clone() });
        }
        let adapters = folders::adapters_dir(context)?;
        self.find.iter().find_map(|candidate| candidate.locate(context, &adapters)).ok_or_else(|| {
            let looked_for = self.find.iter().map(Candidate::describe).collect::<Vec<_>>().join("; ");
            let lacking = self.find.iter().find_map(|candidate| candidate.lacks_only(context, &adapters));
            let outdated = self.find.iter().find_map(|candidate| candidate.outdated(context, &adapters));
            let (problem, install) = match (&outdated, lacking) {
                (Some(outdated), _) => (format!("is too old: {outdated}"), self.install_command(&adapters)),
                (None, Some(programs)) => (
                    format!("runs with {programs}, which is not in PATH"),
                    self.install_programs().unwrap_or_else(|| self.install_command(&adapters)),
                ),
                (None, None) => {
                    (format!("is not installed (looked for {looked_for})"), self.install_command(&adapters))
                }
            };
            let how = match self.fix.is_empty() {
                true => "by hand".to_owned(),
                false => format!("with `breakroom doctor --fix {}`, or by hand", self.name),
            };
            CatalogError::NotInstalled {
                name: self.name.clone(),
                problem,
                how,
                install,
                outdated: outdated.map(Box::new),
            }
        })
    }

    /// The command that installs what it runs with, if it is known.
    fn install_programs(&self) -> Option<String> {
        self.fix.iter().find_map(|step| match step {
            Fix::Apt(apt) => Some(format!("apt-get install {}", apt.packages.join(" "))),
            Fix::Pip(_) | Fix::Npm(_) | Fix::Run(_) => None,
        })
    }

    /// The command that installs it, for a person to copy.
    fn install_command(&self, adapters: &Path) -> String {
        self.install.replace("{{adapters}}", &adapters.to_string_lossy())
    }

    /// How it is started. One that is started with its program needs to know the launch.
    pub fn spec(
        &self,
        found: &Found,
        launch: Option<&Map<String, Value>>,
    ) -> Result<AdapterSpec, CatalogError> {
        let nothing = Map::new();
        let launch = launch.unwrap_or(&nothing);
        let args = found.arguments_for(launch);
        let with_launch = args.iter().any(|arg| depends_on_launch(arg));
        let mut env = self.env.clone();
        let mut cwd = None;
        if with_launch {
            env.extend(from_launch::environment(launch));
            cwd = launch.get("cwd").and_then(Value::as_str).map(PathBuf::from);
        }
        let args = from_launch::filled(args, launch)
            .map_err(|problem| CatalogError::Launch { name: self.name.clone(), problem })?;
        let script = |arg: String| match (&self.script, arg.as_str()) {
            (Some(script), SCRIPT) => script.clone(),
            (_, COMPANION) => self.companion_of(found),
            _ => arg,
        };
        let args = args.into_iter().map(script).collect();
        Ok(AdapterSpec {
            name: self.name.clone(),
            kind: Some(self.name.clone()),
            args,
            cwd,
            mode: self.mode,
            env,
            connection_timeout: Duration::from_secs(self.connection_timeout_seconds).min(LONGEST_TIMEOUT),
            debuggee_stdio: self.debuggee_stdio,
            input: self.input.clone(),
            banner: self.banner.clone(),
            ready: self.ready.clone(),
            litter: self.litter.clone(),
            held_litter: self.held_litter.clone(),
        })
    }

    /// How it is started by a program that is not ours.
    pub fn plain_spec(&self, found: &Found) -> Result<AdapterSpec, CatalogError> {
        let Some(plain) = &self.plain else { return self.spec(found, None) };
        let path = found.path.to_string_lossy();
        let program = found.program.to_string_lossy().into_owned();
        let args = plain.args.iter().map(|arg| arg.replace("{{path}}", &path));
        let args = std::iter::once(program).chain(args).collect();
        Ok(AdapterSpec { env: self.env.clone(), ..AdapterSpec::plain(&self.name, plain.mode, args) })
    }

    /// The path of the companion, or nothing where it cannot be written: the adapter does without.
    fn companion_of(&self, found: &Found) -> String {
        let Some((companion, ourselves)) = self.companion.as_ref().zip(this_program()) else {
            return String::new();
        };
        let written = companion.written(&found.companions, &found.path, &ourselves).inspect_err(|error| {
            tracing::warn!("the companion of {} cannot be written: {error}", self.name);
        });
        written.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Runs the program that knows; None if it does not answer in time or with nothing like a version.
    pub fn version(&self, found: &Found, context: &Context) -> Option<String> {
        found.version.as_ref()?.ask(&found.program, context)
    }
}

impl Found {
    /// The command for what is launched: the program's name may ask for other arguments.
    fn arguments_for(&self, launch: &Map<String, Value>) -> &[String] {
        let program = launch.get("program").and_then(Value::as_str).map(Path::new);
        let when = program.and_then(|program| {
            let fits = |when: &&ArgsWhen| when.files.iter().any(|pattern| name_matches(pattern, program));
            self.args_when.iter().find(fits)
        });
        when.map_or(&self.args, |when| &when.args)
    }
}

impl Candidate {
    fn locate(&self, context: &Context, adapters: &Path) -> Option<Found> {
        let needed = match &self.needs {
            Some(_) => Some(self.needed(context, adapters)?),
            None => None,
        };
        let started: Option<Vec<PathBuf>> =
            self.needs_programs.iter().map(|names| either(names, context)).collect();
        // We may be called by that name ourselves, and are not what is looked for.
        let started = started.filter(|started| !started.iter().any(|program| is_this_program(program)))?;
        let program = self.program(context, adapters)?;
        let checked = started.first().unwrap_or(&program);
        if !self.check.is_empty() && !probe::remembered(checked, &self.check, context)?.succeeded {
            return None;
        }
        let path = needed.or(started.into_iter().next()).unwrap_or_else(|| program.clone());
        // Arguments are text; a folder that is not cannot be named in them.
        let (path_text, adapters_text) = (path.to_str()?, adapters.to_str()?);
        let fill = |arg: &String| arg.replace("{{path}}", path_text).replace("{{adapters}}", adapters_text);
        let program_text = program.to_str()?;
        let command = |args: &Vec<String>| -> Vec<String> {
            std::iter::once(program_text.to_owned()).chain(args.iter().map(fill)).collect()
        };
        let when = |when: &ArgsWhen| ArgsWhen { files: when.files.clone(), args: command(&when.args) };
        let args_when = self.args_when.iter().map(when).collect();
        let args = command(&self.args);
        let beside_it = |file: &String| match (file.starts_with("../"), path.parent()) {
            (true, Some(folder)) => folder.join(file).to_string_lossy().into_owned(),
            _ => file.clone(),
        };
        let version = self.version.as_ref().map(|query| VersionQuery {
            args: query.args.iter().map(fill).collect(),
            file: query.file.as_ref().map(beside_it),
            ..query.clone()
        });
        if let Some((query, least)) =
            version.as_ref().and_then(|query| Some((query, query.at_least.as_ref()?)))
        {
            query.ask(&program, context).filter(|version| versions::at_least(version, least))?;
        }
        Some(Found {
            path,
            args,
            args_when,
            program,
            version,
            companions: folders::preloads_dir(context).ok()?,
        })
    }

    /// The file that it needs, if that is there.
    fn needed(&self, context: &Context, adapters: &Path) -> Option<PathBuf> {
        let needs = self.needs.as_ref()?;
        if is_copy(needs) {
            return copy_at(needs, context);
        }
        Some(adapters.join(needs)).filter(|path| path.exists())
    }

    /// The first of its programs that exists.
    pub(super) fn program(&self, context: &Context, adapters: &Path) -> Option<PathBuf> {
        let in_adapters =
            || self.programs.iter().find_map(|name| matching_programs(&[adapters.join("bin")], name));
        let in_path = || {
            self.programs.iter().find_map(|name| match name.as_str() {
                OURSELVES => this_program(),
                name if is_copy(name) => copy_at(name, context).filter(|path| is_executable(path)),
                name if name.starts_with(VARIABLE) => {
                    let path = context.var(name.trim_start_matches(VARIABLE)).map(PathBuf::from);
                    path.filter(|path| path.is_absolute() && is_executable(path))
                }
                name if name.contains(versions::ANY) => matching_programs(&context.path(), name),
                name => match name.strip_prefix(IN_ADAPTERS) {
                    Some(inside) => Some(adapters.join(inside)).filter(|path| is_executable(path)),
                    None => context.which(&from_home(name, context)),
                },
            })
        };
        in_adapters().or_else(in_path)
    }

    /// The programs one of which it would run with, if its own file is there and none of them is.
    fn lacks_only(&self, context: &Context, adapters: &Path) -> Option<String> {
        let is_there = self.needed(context, adapters).is_some();
        let is_plain =
            |name: &String| !name.contains("{{") && context.which(&from_home(name, context)).is_none();
        let lacks = is_there && !self.programs.is_empty() && self.programs.iter().all(is_plain);
        lacks.then(|| self.programs.join(" or "))
    }

    fn describe(&self) -> String {
        let mut programs = self.programs.join(", ").replace(OURSELVES, "breakroom");
        programs = described(&programs).replace(versions::ANY, "VERSION").replace(IN_ADAPTERS, "ADAPTERS/");
        if let Some(least) = self.version.as_ref().and_then(|query| query.at_least.as_ref()) {
            programs = format!("{programs} of at least version {least}");
        }
        match &self.needs {
            Some(needed) if is_copy(needed) => format!("{} with {programs}", described(needed)),
            Some(needed) => format!("{needed} in the adapters folder with {programs}"),
            None => {
                let looked_for = match self.needs_programs.is_empty() {
                    true => programs,
                    false => self.needs_programs.join(", ").replace('|', " or "),
                };
                match self.check.is_empty() {
                    true => looked_for,
                    false => format!("{looked_for} where `{}` works", self.check.join(" ")),
                }
            }
        }
    }
}

/// The first of `A|B` that is in PATH.
pub(super) fn either(names: &str, context: &Context) -> Option<PathBuf> {
    names.split('|').find_map(|name| context.which(name))
}

fn this_program() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?;
    // What the kernel adds when the file was replaced, as by an update; the new one is as good.
    let replaced = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    [Some(path), replaced].into_iter().flatten().find(|path| is_executable(path))
}

fn is_this_program(program: &Path) -> bool {
    let same = |own: PathBuf| own.canonicalize().ok() == program.canonicalize().ok();
    this_program().is_some_and(same)
}

fn from_home(program: &str, context: &Context) -> String {
    match (program.strip_prefix("~/"), context.home()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => program.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use breakroom_testkit::write_program;

    fn context(home: &Path, path: &str) -> Context {
        Context {
            cwd: home.to_path_buf(),
            env: vec![("HOME".into(), home.into()), ("PATH".into(), path.into())],
            umask: 0o022,
        }
    }

    #[test]
    fn the_adapters_folder_wins_over_path() {
        let home = tempfile::tempdir().unwrap();
        let in_path = home.path().join("bin/lldb-dap");
        write_program(&in_path, "#!/bin/sh\n");
        let context = context(home.path(), in_path.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("lldb").unwrap();
        assert_eq!(entry.find(&context).unwrap().path, in_path);
        let ours = home.path().join(".cache/breakroom/adapters/bin/lldb-dap-19");
        write_program(&ours, "#!/bin/sh\n");
        write_program(&ours.with_file_name("lldb"), "#!/bin/sh\necho lldb version 19.1.7\n");
        let found = entry.find(&context).unwrap();
        assert_eq!((&found.path, &found.args), (&ours, &vec![ours.to_str().unwrap().to_string()]));
        assert_eq!(entry.version(&found, &context).unwrap(), "19.1.7");
    }

    #[test]
    fn netcoredbg_is_found_by_its_variable_before_path_and_missed_with_both_named() {
        let home = tempfile::tempdir().unwrap();
        let in_path = home.path().join("bin/netcoredbg");
        let mut context = context(home.path(), in_path.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("coreclr").unwrap();
        let refusal = entry.find(&context).unwrap_err().to_string();
        for part in
            ["netcoredbg is not installed", "$EASY_DOTNET_DEBUGGER_BIN_PATH", "a release of netcoredbg"]
        {
            assert!(refusal.contains(part), "{refusal}");
        }
        write_program(&in_path, "#!/bin/sh\n");
        assert_eq!(entry.find(&context).unwrap().path, in_path);
        let named = home.path().join("custom");
        context.env.push(("EASY_DOTNET_DEBUGGER_BIN_PATH".into(), named.clone().into()));
        assert_eq!(entry.find(&context).unwrap().path, in_path, "the variable names nothing that exists");
        write_program(&named, "#!/bin/sh\n");
        let found = entry.find(&context).unwrap();
        assert_eq!(found.args, [named.to_str().unwrap(), "--interpreter=vscode"]);
    }

    #[test]
    fn a_link_to_ourselves_is_no_other_debugger() {
        let home = tempfile::tempdir().unwrap();
        let link = home.path().join("ez");
        std::os::unix::fs::symlink(this_program().unwrap(), &link).unwrap();
        let context = context(home.path(), home.path().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        assert!(catalog.by_type("ez-debugserver").unwrap().find(&context).is_err());
        std::fs::remove_file(&link).unwrap();
        write_program(&link, "#!/bin/sh\n");
        assert_eq!(catalog.by_type("ez-debugserver").unwrap().find(&context).unwrap().path, link);
    }

    #[test]
    fn an_adapter_that_needs_an_interpreter_is_started_with_it() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python");
        write_program(&python, "#!/bin/sh\nexit 1\n");
        let context = context(home.path(), python.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("debugpy-stock").unwrap();
        let error = entry.find(&context).unwrap_err().to_string();
        let adapters = home.path().join(".cache/breakroom/adapters");
        assert!(error.contains(&format!("--target {}/debugpy debugpy==", adapters.display())), "{error}");
        let adapter = adapters.join("debugpy/debugpy/adapter");
        std::fs::create_dir_all(&adapter).unwrap();
        let found = entry.find(&context).unwrap();
        assert_eq!(found.path, adapter);
        assert_eq!(
            entry.spec(&found, None).unwrap().args,
            [python.to_str().unwrap(), "-c", entry.script.as_deref().unwrap(), adapter.to_str().unwrap()]
        );
    }

    #[test]
    fn an_adapter_that_is_the_debuggee_is_started_with_what_is_launched() {
        let home = tempfile::tempdir().unwrap();
        let rdbg = home.path().join("bin/rdbg3.1");
        write_program(&rdbg, "#!/bin/sh\n");
        let context = context(home.path(), rdbg.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("ruby").unwrap();
        assert!(entry.starts_with_launch() && !catalog.by_type("python").unwrap().starts_with_launch());
        let found = entry.find(&context).unwrap();
        let launch = serde_json::json!({"program": "x.rb", "args": ["1"], "cwd": "sub", "env": {"A": "b"}});
        let spec = entry.spec(&found, launch.as_object()).unwrap();
        assert_eq!(spec.args[spec.args.len() - 4..], ["BREAKROOM_PROGRAM=x.rb", "ruby", "x.rb", "1"]);
        assert_eq!((spec.cwd.as_deref(), spec.env[0].name.as_str()), (Some(Path::new("sub")), "A"));
        let error = entry.spec(&found, None).unwrap_err().to_string();
        assert!(error.contains("does not say `program` or `script`"), "{error}");
    }

    #[test]
    fn a_script_and_a_project_are_started_differently() {
        let home = tempfile::tempdir().unwrap();
        let cmake = home.path().join("bin/cmake");
        write_program(&cmake, "#!/bin/sh\necho cmake version 3.27.1\n");
        let context = context(home.path(), cmake.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("cmake").unwrap();
        let found = entry.find(&context).unwrap();
        let args = |program: &str| {
            let launch = serde_json::json!({ "program": program });
            entry.spec(&found, launch.as_object()).unwrap().args
        };
        assert_eq!(args("/s/CMakeLists.txt")[1..5], ["-S", "/s", "-B", "build"]);
        assert_eq!(args("/s/x.cmake")[3..], ["-P", "/s/x.cmake"]);
        write_program(&cmake, "#!/bin/sh\necho cmake version 3.26.0\n");
        assert!(entry.find(&context).is_err(), "it has no debugger yet");
    }

    #[test]
    fn python_is_debugged_by_our_own_adapter_with_debugpy_from_the_folder_or_from_python() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python");
        write_program(
            &python,
            "#!/bin/sh\n[ \"$2\" = \"import debugpy\" ] && exit $(cat \"$0.code\")\necho 1.8.22\n",
        );
        let code = python.with_file_name("python.code");
        std::fs::write(&code, "1").unwrap();
        let path = format!("{}:/usr/bin:/bin", python.parent().unwrap().display());
        // A python3 elsewhere in PATH would be taken for this one.
        std::os::unix::fs::symlink(&python, python.with_file_name("python3")).unwrap();
        std::fs::write(python.with_file_name("python3.code"), "1").unwrap();
        let context = context(home.path(), &path);
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("python").unwrap();
        assert!(entry.find(&context).is_err());
        std::fs::write(python.with_file_name("python3.code"), "0").unwrap();
        let own = std::env::current_exe().unwrap();
        let found = entry.find(&context).unwrap();
        let python3 = python.with_file_name("python3");
        assert_eq!(
            found.args,
            [own.to_str().unwrap(), "python", "dap", "--python", python3.to_str().unwrap()]
        );
        assert_eq!(entry.version(&found, &context).unwrap(), "1.8.22");
        let debugpy = home.path().join(".cache/breakroom/adapters/debugpy/debugpy");
        std::fs::create_dir_all(debugpy.join("adapter")).unwrap();
        let found = entry.find(&context).unwrap();
        assert_eq!(found.args[1..], ["python", "dap", "--debugpy", debugpy.to_str().unwrap()]);
    }

    #[test]
    fn a_check_decides_whether_the_module_is_there() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python3");
        write_program(&python, "#!/bin/sh\n[ \"$2\" = \"import debugpy\" ] || echo 1.8.22\n");
        let context = context(home.path(), python.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("debugpy-stock").unwrap();
        let found = entry.find(&context).unwrap();
        assert_eq!(found.args[1..], ["-c", "{{script}}", "debugpy.adapter"]);
        assert_eq!(entry.version(&found, &context).unwrap(), "1.8.22");
    }

    #[test]
    fn a_warning_beside_the_version_is_not_taken_for_it() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python3");
        write_program(
            &python,
            "#!/bin/sh\necho '0.00s - Debugger warning: frozen modules' >&2\necho 1.8.22\n",
        );
        let context = context(home.path(), python.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("debugpy-stock").unwrap();
        let found = entry.find(&context).unwrap();
        assert_eq!(entry.version(&found, &context).unwrap(), "1.8.22");
    }

    #[test]
    fn an_adapter_of_our_own_is_the_running_program_and_needs_what_it_starts() {
        let home = tempfile::tempdir().unwrap();
        let ez = home.path().join("bin/ez");
        let context = context(home.path(), ez.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let own = std::env::current_exe().unwrap();
        let built_in = catalog.by_type("ez").unwrap().find(&context).unwrap();
        assert_eq!(built_in.args, [own.to_str().unwrap(), "ez", "dap"]);
        let entry = catalog.by_type("ez-debugserver").unwrap();
        let error = entry.find(&context).unwrap_err().to_string();
        assert!(error.contains("ez") && error.contains("install"), "{error}");
        write_program(&ez, "#!/bin/sh\n[ \"$1\" = version ] && echo 'EZ v0.39.1'\n");
        let found = entry.find(&context).unwrap();
        assert_eq!(found.path, ez);
        assert_eq!(found.args, [own.to_str().unwrap(), "ez", "dap", "--", "ez", "debugserver"]);
        assert_eq!(entry.version(&found, &context).unwrap(), "0.39.1");
    }
}
