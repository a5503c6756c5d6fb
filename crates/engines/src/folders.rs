//! Where things are kept: sockets, adapters we installed, state, and the user's settings.
//!
//! The runtime folder is checked before anything is put into it, since whoever can write there can pose as the hub. So is
//! what stands in for a missing home, since what is found there is executed. The other folders are only named here; who
//! needs one creates it.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::context::Context;

/// Where programs run that are only asked something, or that install something. Many take modules and settings from the
/// folder they run in, and a project's are somebody else's code; in this one only root can put any.
pub(crate) const NEUTRAL: &str = "/";

/// Why there is no folder that things can safely be kept in.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("cannot use the runtime folder {}: {source}.", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the runtime folder {} is not safe: {problem}. Remove it, or set XDG_RUNTIME_DIR to a folder of your own.", path.display())]
    Unsafe { path: PathBuf, problem: String },
    #[error("neither HOME nor {variable} is set, and {} cannot be used instead: {problem}. Set one of them, or remove that folder.", path.display())]
    Homeless { variable: &'static str, path: PathBuf, problem: String },
}

/// The folder for sockets: `$XDG_RUNTIME_DIR/breakroom`, or a private one in the temp folder if that is missing or has
/// too long a path.
///
/// It is created if it is missing, and refused if somebody else could have prepared it.
pub fn runtime_dir() -> Result<PathBuf, FolderError> {
    let path = match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(base) if base.is_absolute() && base.is_dir() && fits(&base) => base.join("breakroom"),
        _ => private_temp(),
    };
    private_folder(&path)?;
    Ok(path)
}

/// Whether the name of a socket below this folder is within the kernel's limit of 107 bytes.
fn fits(base: &Path) -> bool {
    base.as_os_str().len() + "/breakroom/hub-1.sock".len() <= 107
}

/// Where adapters that we install are, and where the catalog looks first.
pub fn adapters_dir(context: &Context) -> Result<PathBuf, FolderError> {
    Ok(base(context, "XDG_CACHE_HOME", ".cache")?.join("adapters"))
}

/// Where what we build is put, each in a folder of its own.
pub fn builds_dir(context: &Context) -> Result<PathBuf, FolderError> {
    Ok(base(context, "XDG_CACHE_HOME", ".cache")?.join("builds"))
}

/// Where scripts are that a program's runtime loads before the program.
pub(crate) fn preloads_dir(context: &Context) -> Result<PathBuf, FolderError> {
    Ok(base(context, "XDG_CACHE_HOME", ".cache")?.join("preloads"))
}

pub fn state_dir(context: &Context) -> Result<PathBuf, FolderError> {
    base(context, "XDG_STATE_HOME", ".local/state")
}

pub fn config_dir(context: &Context) -> Result<PathBuf, FolderError> {
    base(context, "XDG_CONFIG_HOME", ".config")
}

fn base(context: &Context, variable: &'static str, below_home: &str) -> Result<PathBuf, FolderError> {
    let named = context.var(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    match (named, context.home()) {
        (Some(path), _) => Ok(path.join("breakroom")),
        (None, Some(home)) => Ok(home.join(below_home).join("breakroom")),
        // A service without a home still has to work; it keeps nothing for long.
        (None, None) => homeless(&private_temp(), variable).map(|folder| folder.join(below_home)),
    }
}

/// Made already when something is only looked for: what is not there could otherwise be put there by anybody.
fn homeless<'a>(folder: &'a Path, variable: &'static str) -> Result<&'a Path, FolderError> {
    private_folder(folder).map(|()| folder).map_err(|error| {
        let problem = match error {
            FolderError::Io { source, .. } => source.to_string(),
            FolderError::Unsafe { problem, .. } | FolderError::Homeless { problem, .. } => problem,
        };
        FolderError::Homeless { variable, path: folder.to_path_buf(), problem }
    })
}

fn private_temp() -> PathBuf {
    std::env::temp_dir().join(format!("breakroom-{}", rustix::process::getuid().as_raw()))
}

pub(crate) fn private_folder(path: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { path: path.to_path_buf(), source };
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    // Looked at without following links: a link planted in a shared temp folder leads where its owner wants.
    let found = std::fs::symlink_metadata(path).map_err(failed)?;
    let problem = if !found.is_dir() {
        "it is not a folder but a file or a link".to_string()
    } else if found.uid() != rustix::process::getuid().as_raw() {
        format!("it belongs to user {}", found.uid())
    } else if found.mode() & 0o077 != 0 {
        format!("others may enter it (mode {:o}, it must be 700)", found.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(FolderError::Unsafe { path: path.to_path_buf(), problem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_private_folder_is_created_and_accepted_again() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("run");
        private_folder(&path).unwrap();
        private_folder(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_others_may_enter_a_link_and_a_file_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let open = temp.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(private_folder(&open).unwrap_err().to_string().contains("mode 755"));
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path(), &link).unwrap();
        assert!(private_folder(&link).unwrap_err().to_string().contains("a link"));
        let file = temp.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(private_folder(&file).unwrap_err().to_string().contains("not a folder"));
    }

    #[test]
    fn the_folders_follow_the_contexts_variables_and_ignore_relative_ones() {
        let with = |env: &[(&str, &str)]| Context {
            cwd: "/".into(),
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            umask: 0o022,
        };
        let home = with(&[("HOME", "/h"), ("XDG_STATE_HOME", "relative")]);
        assert_eq!(adapters_dir(&home).unwrap(), Path::new("/h/.cache/breakroom/adapters"));
        assert_eq!(state_dir(&home).unwrap(), Path::new("/h/.local/state/breakroom"));
        assert_eq!(config_dir(&with(&[("XDG_CONFIG_HOME", "/c")])).unwrap(), Path::new("/c/breakroom"));
    }

    #[test]
    fn what_stands_in_for_a_home_is_made_before_others_can_or_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("home");
        assert_eq!(homeless(&path, "XDG_CACHE_HOME").unwrap(), path);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        let refused = homeless(&path, "XDG_CACHE_HOME").unwrap_err().to_string();
        assert!(refused.contains("nor XDG_CACHE_HOME") && refused.contains("mode 777"), "{refused}");
    }
}
