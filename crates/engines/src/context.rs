//! The launcher's surroundings: working folder, environment and umask of whoever asked for the session.
//!
//! Everything a session spawns and every look-up in PATH uses these.
//! The daemon's own surroundings are never consulted here, except by `of_this_process`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::spec::EnvVar;

/// Where the shells of this system look when there is no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that address us, or whoever asked an editor for a debug session. A debuggee that inherited them could join,
/// or be taken for, the very session that debugs it; some of them hold tokens.
const OWN_PREFIXES: [&str; 3] = ["DEBUG_SESSION", "DCP_", "BREAKROOM_"];

#[derive(Clone, Debug)]
pub struct Context {
    pub cwd: PathBuf,
    pub env: Vec<(OsString, OsString)>,
    pub umask: u32,
}

impl Context {
    pub fn of_this_process() -> Self {
        Context {
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            env: std::env::vars_os().collect(),
            umask: own_umask(),
        }
    }

    pub fn var(&self, name: &str) -> Option<&OsStr> {
        lookup(&self.env, name)
    }

    /// The program's place by the context's PATH, or relative to its working folder if the name has a slash.
    pub fn which(&self, program: &str) -> Option<PathBuf> {
        which(program, &self.cwd, &self.env)
    }

    /// The folders in which programs are looked for.
    pub(crate) fn path(&self) -> Vec<PathBuf> {
        path_folders(&self.env).collect()
    }

    /// The launcher's environment without the variables that are ours, plus `extra` (a missing value unsets).
    pub fn environment(&self, extra: &[EnvVar]) -> Vec<(OsString, OsString)> {
        let mut environment: Vec<(OsString, OsString)> =
            self.env.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
        for variable in extra {
            environment.retain(|(name, _)| name != variable.name.as_str());
            if let Some(value) = &variable.value {
                environment.push((OsString::from(&variable.name), OsString::from(value)));
            }
        }
        environment
    }

    pub fn home(&self) -> Option<&Path> {
        self.var("HOME").map(Path::new).filter(|home| home.is_absolute())
    }
}

/// `which` for an environment that differs from the context's, as an adapter's own may.
pub(crate) fn which(program: &str, cwd: &Path, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    if program.is_empty() {
        return None;
    }
    if program.contains('/') {
        return Some(cwd.join(program)).filter(|path| is_executable(path));
    }
    path_folders(env).map(|folder| folder.join(program)).find(|candidate| is_executable(candidate))
}

/// An empty or relative part of PATH means the working folder or one below, which may be a project that is not trusted: a
/// `python3` in it would be run by looking for debuggers. So these parts are left out.
fn path_folders(env: &[(OsString, OsString)]) -> impl Iterator<Item = PathBuf> {
    let path = lookup(env, "PATH").unwrap_or(OsStr::new(DEFAULT_PATH));
    let folders = path.as_bytes().split(|byte| *byte == b':');
    folders
        .map(|folder| PathBuf::from(OsString::from_vec(folder.to_vec())))
        .filter(|folder| folder.is_absolute())
}

pub fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

fn lookup<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
}

fn is_ours(name: &OsStr) -> bool {
    OWN_PREFIXES.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
}

/// Read, not set and restored: another thread that creates a file in between would get the wrong mode.
fn own_umask() -> u32 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let value = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(value.trim(), 8).ok()
        })
        .unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn context(cwd: &Path, env: &[(&str, &str)]) -> Context {
        let env = env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Context { cwd: cwd.to_path_buf(), env, umask: 0o022 }
    }

    fn program(path: &Path, mode: u32) {
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn programs_are_found_in_absolute_folders_of_path_or_by_their_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        program(&folder.path().join("bin/tool"), 0o755);
        program(&folder.path().join("here"), 0o755);
        program(&folder.path().join("bin/plain"), 0o644);
        let path = format!("/nowhere:{}", folder.path().join("bin").display());
        let with_path = |path: &str| context(folder.path(), &[("PATH", path)]);
        for relative in ["bin", "", "/nowhere::.:./bin:"] {
            assert_eq!(with_path(relative).which("tool"), None);
            assert_eq!(with_path(relative).which("here"), None);
        }
        let context = with_path(&path);
        assert_eq!(context.which("tool"), Some(folder.path().join("bin/tool")));
        assert_eq!(context.which("./here"), Some(folder.path().join("./here")));
        assert_eq!(context.which("plain"), None);
        assert_eq!(context.which("bin"), None);
        assert_eq!(context.which(""), None);
    }

    #[test]
    fn the_environment_is_the_launchers_without_our_variables_plus_what_is_asked_for() {
        let context = context(
            Path::new("/"),
            &[("A", "1"), ("B", "2"), ("DEBUG_SESSION_TOKEN", "x"), ("DCP_X", "x"), ("BREAKROOM_LOG", "x")],
        );
        let set =
            |name: &str, value: Option<&str>| EnvVar { name: name.into(), value: value.map(String::from) };
        let environment = context.environment(&[set("A", None), set("B", Some("3")), set("C", Some(""))]);
        assert_eq!(environment, [("B".into(), "3".into()), ("C".into(), "".into())]);
    }

    #[test]
    fn this_processs_context_knows_its_umask() {
        assert!(Context::of_this_process().umask <= 0o777);
    }
}
