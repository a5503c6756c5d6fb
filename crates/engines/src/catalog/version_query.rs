//! Asking a found adapter for its version, and telling whether it is too old.
//!
//! How versions are read and compared is in `versions`.

use std::path::Path;

use serde_json::Value;

use super::entry::{Candidate, VersionQuery};
use super::find::either;
use super::versions::{at_least, version_in};
use crate::context::Context;
use crate::error::Outdated;
use crate::folders;
use crate::probe;

impl VersionQuery {
    pub(super) fn ask(&self, adapter: &Path, context: &Context) -> Option<String> {
        if let Some(file) = &self.file {
            let text = std::fs::read(folders::adapters_dir(context).ok()?.join(file)).ok()?;
            let said: Value = serde_json::from_slice(&text).ok()?;
            return version_in(said.get("version")?.as_str()?);
        }
        let program = match (&self.beside, &self.of) {
            // The name in PATH is often a link into the folder where both programs are.
            (Some(name), _) => adapter.canonicalize().ok()?.with_file_name(name),
            (None, Some(names)) => either(names, context)?,
            (None, None) => adapter.to_path_buf(),
        };
        let answer = probe::remembered(&program, &self.args, context)?;
        version_in(&answer.stdout).or_else(|| version_in(&answer.stderr))
    }
}

impl Candidate {
    /// The program of this candidate, if it exists and is older than the candidate needs.
    pub(super) fn outdated(&self, context: &Context, adapters: &Path) -> Option<Outdated> {
        let query = self.version.as_ref()?;
        let needed = query.at_least.clone()?;
        let path = self.program(context, adapters)?;
        let version = query.ask(&path, context)?;
        if at_least(&version, &needed) {
            return None;
        }
        // What a distribution appends, as Debian's `-3`, says nothing about the age.
        let version = version.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        Some(Outdated { path, version, needed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use breakroom_testkit::write_program;

    /// The folder in PATH, with Debian 12's own debuggers.
    fn debian_12(home: &Path) -> Context {
        let bin = home.join("bin");
        let says = |text: &str| format!("#!/bin/sh\n[ \"$1\" = --version ] && echo '{text}'\n");
        write_program(&bin.join("gdb"), says("GNU gdb (Debian 13.1-3) 13.1"));
        write_program(&bin.join("lldb-vscode-14"), "#!/bin/sh\n");
        write_program(&bin.join("lldb"), says("lldb version 14.0.6"));
        let env = vec![("HOME".into(), home.into()), ("PATH".into(), bin.into())];
        Context { cwd: home.to_path_buf(), env, umask: 0o022 }
    }

    #[test]
    fn a_debugger_that_is_too_old_is_no_debugger_and_is_told_with_both_versions() {
        let home = tempfile::tempdir().unwrap();
        let context = debian_12(home.path());
        let catalog = Catalog::load(&context).unwrap();
        for (name, said) in [
            ("gdb", "the adapter gdb is too old: found 13.1, needs 14 or newer ("),
            ("lldb", "the adapter lldb is too old: found 14.0.6, needs 18 or newer ("),
        ] {
            let error = catalog.by_type(name).unwrap().find(&context).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
            assert!(error.contains(&format!("breakroom doctor --fix {name}")), "{error}");
        }
    }

    #[test]
    fn a_debugger_that_is_too_old_gives_way_to_the_next_and_is_told_if_there_is_none() {
        let home = tempfile::tempdir().unwrap();
        let context = debian_12(home.path());
        let catalog = Catalog::load(&context).unwrap();
        let chosen = || match catalog.installed_for_type("c", &context) {
            Ok((entry, _)) => entry.name.clone(),
            Err(error) => error.to_string(),
        };
        let none = chosen();
        for said in ["lldb: found 14.0.6, needs 18 or newer (", "gdb: found 13.1, needs 14 or newer ("] {
            assert!(none.contains(said), "{none}");
        }
        write_program(&home.path().join("bin/codelldb"), "#!/bin/sh\n");
        assert_eq!(chosen(), "codelldb");
        write_program(&home.path().join("bin/lldb-dap-19"), "#!/bin/sh\n");
        assert_eq!(chosen(), "lldb", "the old one does not hide the new one");
    }
}
