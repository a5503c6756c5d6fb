//! The built `breakroom` binary in a sandbox: own runtime, state, config and temp folders, the real adapters.
//!
//! A test never meets the hub of the person who runs it, nor that of another test. What is left at the end is killed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::census::Census;
use crate::client::Strict;

/// Variables that would carry the surroundings of the person who runs the tests into them.
const STRIPPED: [&str; 4] = ["BREAKROOM_", "DEBUG_SESSION", "DCP_", "VIRTUAL_ENV"];

pub struct Sandbox {
    binary: PathBuf,
    census: Census,
    folder: TempDir,
}

impl Sandbox {
    /// `binary` is `env!("CARGO_BIN_EXE_breakroom")`, which cargo shows only to that crate's own tests.
    pub fn new(binary: impl Into<PathBuf>) -> Sandbox {
        let mut census = Census::new();
        let folder =
            tempfile::Builder::new().prefix(census.mark()).tempdir().expect("the temp folder is writable");
        for name in ["run", "state", "config", "tmp", "work"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).expect("a new folder is writable");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("we own it");
        }
        census.watch_folder(folder.path().join("run"));
        census.watch_folder(folder.path().join("tmp"));
        census.leave_folder(folder.path().join("run").join("breakroom"));
        // That of every lldb of its user's together: whoever removed it could take it from another.
        census.leave_folder(folder.path().join("tmp").join("lldb"));
        Sandbox { binary: binary.into(), census, folder }
    }

    /// A folder for the test's own files; not looked at by the census.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// `XDG_RUNTIME_DIR`, `XDG_STATE_HOME` or `XDG_CONFIG_HOME` of what runs here: `run`, `state`, `config`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn binary(&self) -> &Path {
        &self.binary
    }

    pub fn census(&self) -> &Census {
        &self.census
    }

    /// `breakroom` with these arguments.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.program(&self.binary);
        command.args(arguments);
        command
    }

    /// Any program, with the sandbox around it.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if STRIPPED.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.env("XDG_RUNTIME_DIR", self.path("run"));
        command.env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command.env("TMPDIR", self.path("tmp"));
        // What the person's own editors have installed is not what is tested.
        command.env("XDG_DATA_HOME", self.path("data"));
        command.env("VSCODE_EXTENSIONS", self.path("extensions"));
        self.census.mark_command(&mut command);
        command
    }

    /// A strict client on the stdio of `breakroom` with these arguments.
    pub fn client<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Strict {
        Strict::spawn(self.command(arguments))
    }

    pub fn assert_nothing_left(&self, deadline: Duration) {
        self.census.assert_nothing_left(deadline);
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.census.end_all();
    }
}
