//! Looking for an installed adapter, and asking it for its version.
//!
//! The adapters folder comes first, so that what we installed and tested wins over what happens to be in PATH.
//! Nothing is installed here.

use std::path::{Path, PathBuf};

use super::entry::{Candidate, Entry, Origin, VersionQuery};
use crate::context::{Context, is_executable};
use crate::error::CatalogError;
use crate::folders;
use crate::probe;
use crate::project::Trust;
use crate::spec::AdapterSpec;

/// Stands in `programs` for the program that runs now: adapters of our own are part of it.
const OURSELVES: &str = "{{breakroom}}";

/// An adapter that is installed.
#[derive(Clone, Debug)]
pub struct Found {
    /// What to show: the adapter's own folder, or its program.
    pub path: PathBuf,
    /// The whole command, with the placeholders of the mode still in it.
    pub args: Vec<String>,
    program: PathBuf,
    version: Option<VersionQuery>,
}

impl Entry {
    /// The first candidate that exists.
    pub fn find(&self, context: &Context) -> Result<Found, CatalogError> {
        if let Origin::Project { path, trust: Trust::Untrusted } = &self.origin {
            return Err(CatalogError::Untrusted { name: self.name.clone(), path: path.clone() });
        }
        let adapters = folders::adapters_dir(context);
        self.find.iter().find_map(|candidate| candidate.locate(context, &adapters)).ok_or_else(|| {
            CatalogError::NotInstalled {
                name: self.name.clone(),
                looked_for: self.find.iter().map(Candidate::describe).collect::<Vec<_>>().join("; "),
                install: self.install_command(context),
            }
        })
    }

    /// The command that installs it, for a person to copy.
    pub fn install_command(&self, context: &Context) -> String {
        self.install.replace("{{adapters}}", &folders::adapters_dir(context).to_string_lossy())
    }

    pub fn spec(&self, found: &Found) -> AdapterSpec {
        AdapterSpec {
            name: self.name.clone(),
            args: found.args.clone(),
            mode: self.mode,
            env: self.env.clone(),
            connection_timeout_seconds: self.connection_timeout_seconds,
            debuggee_stdio: self.debuggee_stdio,
            banner: self.banner.clone(),
        }
    }

    /// Runs the program that knows; None if it does not answer in time or with nothing like a version.
    pub fn version(&self, found: &Found, context: &Context) -> Option<String> {
        let query = found.version.as_ref()?;
        let program = match (&query.beside, &query.of) {
            // The name in PATH is often a link into the folder where both programs are.
            (Some(name), _) => found.program.canonicalize().ok()?.with_file_name(name),
            (None, Some(name)) => context.which(name)?,
            (None, None) => found.program.clone(),
        };
        let answer = probe::run(&program, &query.args, context)?;
        version_in(&answer.stdout).or_else(|| version_in(&answer.stderr))
    }
}

impl Candidate {
    fn locate(&self, context: &Context, adapters: &Path) -> Option<Found> {
        let needed = self.needs.as_ref().map(|path| adapters.join(path));
        if needed.as_ref().is_some_and(|path| !path.exists()) {
            return None;
        }
        let started: Option<Vec<PathBuf>> =
            self.needs_programs.iter().map(|name| context.which(name)).collect();
        // We may be called by that name ourselves, and are not what is looked for.
        let started = started.filter(|started| !started.iter().any(|program| is_this_program(program)))?;
        let in_adapters = || {
            self.programs.iter().map(|name| adapters.join("bin").join(name)).find(|path| is_executable(path))
        };
        let in_path = || {
            self.programs.iter().find_map(|name| match name.as_str() {
                OURSELVES => this_program(),
                name => context.which(&from_home(name, context)),
            })
        };
        let program = in_adapters().or_else(in_path)?;
        if !self.check.is_empty() && !probe::run(&program, &self.check, context)?.succeeded {
            return None;
        }
        let path = needed.or(started.into_iter().next()).unwrap_or_else(|| program.clone());
        // Arguments are text; a folder that is not cannot be named in them.
        let (path_text, adapters_text) = (path.to_str()?, adapters.to_str()?);
        let fill = |arg: &String| arg.replace("{{path}}", path_text).replace("{{adapters}}", adapters_text);
        let mut args = vec![program.to_str()?.to_string()];
        args.extend(self.args.iter().map(fill));
        let version = self.version.as_ref().map(|query| VersionQuery {
            beside: query.beside.clone(),
            of: query.of.clone(),
            args: query.args.iter().map(fill).collect(),
        });
        Some(Found { path, args, program, version })
    }

    fn describe(&self) -> String {
        let programs = self.programs.join(", ").replace(OURSELVES, "breakroom");
        match &self.needs {
            Some(needed) => format!("{needed} in the adapters folder with {programs}"),
            None if !self.needs_programs.is_empty() => self.needs_programs.join(", "),
            None if self.check.is_empty() => programs,
            None => format!("{programs} where `{}` works", self.check.join(" ")),
        }
    }
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

/// The first word that begins with a number, a dot and a number, a leading `v` aside.
fn version_in(output: &str) -> Option<String> {
    output
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '"'))
        .map(|word| word.strip_prefix('v').unwrap_or(word))
        .find(|word| {
            let mut parts = word.split('.');
            let mut number =
                || parts.next().is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
            number() && number()
        })
        .map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use std::os::unix::fs::PermissionsExt;

    fn context(home: &Path, path: &str) -> Context {
        Context {
            cwd: home.to_path_buf(),
            env: vec![("HOME".into(), home.into()), ("PATH".into(), path.into())],
            umask: 0o022,
        }
    }

    fn program(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_adapters_folder_wins_over_path() {
        let home = tempfile::tempdir().unwrap();
        let in_path = home.path().join("bin/lldb-dap");
        program(&in_path, "#!/bin/sh\n");
        let context = context(home.path(), in_path.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("lldb").unwrap();
        assert_eq!(entry.find(&context).unwrap().path, in_path);
        let ours = home.path().join(".cache/breakroom/adapters/bin/lldb-dap-19");
        program(&ours, "#!/bin/sh\n");
        program(&ours.with_file_name("lldb"), "#!/bin/sh\necho lldb version 19.1.7\n");
        let found = entry.find(&context).unwrap();
        assert_eq!((&found.path, &found.args), (&ours, &vec![ours.to_str().unwrap().to_string()]));
        assert_eq!(entry.version(&found, &context).unwrap(), "19.1.7");
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
        program(&link, "#!/bin/sh\n");
        assert_eq!(catalog.by_type("ez-debugserver").unwrap().find(&context).unwrap().path, link);
    }

    #[test]
    fn an_adapter_that_needs_an_interpreter_is_started_with_it() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python");
        program(&python, "#!/bin/sh\nexit 1\n");
        let context = context(home.path(), python.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("Python").unwrap();
        let error = entry.find(&context).unwrap_err().to_string();
        let adapters = home.path().join(".cache/breakroom/adapters");
        assert!(error.contains(&format!("--target {}/debugpy debugpy==", adapters.display())), "{error}");
        let adapter = adapters.join("debugpy/debugpy/adapter");
        std::fs::create_dir_all(&adapter).unwrap();
        let found = entry.find(&context).unwrap();
        assert_eq!(found.path, adapter);
        assert_eq!(entry.spec(&found).args, [python.to_str().unwrap(), adapter.to_str().unwrap()]);
    }

    #[test]
    fn a_check_decides_whether_the_module_is_there() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python3");
        program(&python, "#!/bin/sh\n[ \"$2\" = \"import debugpy\" ] || echo 1.8.22\n");
        let context = context(home.path(), python.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("debugpy").unwrap();
        let found = entry.find(&context).unwrap();
        assert_eq!(found.args[1..], ["-m", "debugpy.adapter"]);
        assert_eq!(entry.version(&found, &context).unwrap(), "1.8.22");
    }

    #[test]
    fn a_warning_beside_the_version_is_not_taken_for_it() {
        let home = tempfile::tempdir().unwrap();
        let python = home.path().join("bin/python3");
        program(&python, "#!/bin/sh\necho '0.00s - Debugger warning: frozen modules' >&2\necho 1.8.22\n");
        let context = context(home.path(), python.parent().unwrap().to_str().unwrap());
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("debugpy").unwrap();
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
        program(&ez, "#!/bin/sh\n[ \"$1\" = version ] && echo 'EZ v0.39.1'\n");
        let found = entry.find(&context).unwrap();
        assert_eq!(found.path, ez);
        assert_eq!(found.args, [own.to_str().unwrap(), "ez", "dap", "--", "ez", "debugserver"]);
        assert_eq!(entry.version(&found, &context).unwrap(), "0.39.1");
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (output, version) in [
            ("Delve Debugger\nVersion: 1.20.2\nBuild: $Id: x $", Some("1.20.2")),
            ("lldb version 19.1.7\n", Some("19.1.7")),
            ("GNU gdb (GDB) 18.1", Some("18.1")),
            ("node v20.1.0,", Some("20.1.0")),
            ("1.8.22+unknown", Some("1.8.22+unknown")),
            ("no version at all. 5", None),
            ("", None),
        ] {
            assert_eq!(version_in(output).as_deref(), version, "{output}");
        }
    }
}
