//! Where Python and debugpy are.
//!
//! A folder of debugpy that is named is taken as it is, without starting Python; otherwise Python is asked.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::FindError;

/// What is started when a launch names nothing else.
#[derive(Debug, Clone)]
pub struct Debugpy {
    pub python: PathBuf,
    /// The package itself: the folder that can be run.
    pub folder: PathBuf,
    pub version: String,
}

/// Finding a module is quicker than importing it. Its own path says which program is behind a wrapper.
const WHERE: &str = "import importlib.util, os, sys\n\
                     found = importlib.util.find_spec('debugpy')\n\
                     print(sys.executable)\n\
                     print(os.path.dirname(found.origin) if found and found.origin else '')";

impl Debugpy {
    /// `folder` and `python` are what the caller named, if it did.
    pub fn find(folder: Option<PathBuf>, python: Option<PathBuf>) -> Result<Debugpy, FindError> {
        let Some(folder) = folder else {
            return Debugpy::of(python.or_else(in_path).ok_or(FindError::NoPython)?);
        };
        let version = version(&folder).ok_or_else(|| FindError::NoVersion(folder.clone()))?;
        // A launch may name its own, so that there is none in PATH is told when one is needed.
        let python = python.or_else(in_path).unwrap_or_else(|| "python3".into());
        Ok(Debugpy { python, folder, version })
    }

    /// The one that this Python imports.
    fn of(python: PathBuf) -> Result<Debugpy, FindError> {
        // A name with a folder in it means one seen from here.
        let seen = if python.components().count() > 1 { std::path::absolute(&python).ok() } else { None };
        let mut asking = Command::new(seen.as_ref().unwrap_or(&python));
        // In the project's folder a file of that name would be found first, and be run as if it were debugpy.
        asking.args(["-c", WHERE]).current_dir("/").stdin(Stdio::null());
        let asked = asking.output();
        let answer = asked.map_err(|source| FindError::Python { python: python.clone(), source })?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let mut lines = text.lines();
        let executable = lines.next().filter(|line| !line.is_empty()).map(PathBuf::from);
        let folder = lines.next().filter(|line| !line.is_empty()).map(PathBuf::from);
        let Some(folder) = folder.filter(|_| answer.status.success()) else {
            return Err(FindError::NoDebugpy { python });
        };
        let version = version(&folder).ok_or_else(|| FindError::NoVersion(folder.clone()))?;
        Ok(Debugpy { python: executable.unwrap_or(python), folder, version })
    }

    pub(crate) fn launcher(&self) -> PathBuf {
        self.folder.join("launcher")
    }

    pub(crate) fn stock_adapter(&self) -> PathBuf {
        self.folder.join("adapter")
    }
}

fn in_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // A relative part means the folder that this runs in, which may be a project's.
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let found = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|file| is_program(file));
    ["python3", "python"].into_iter().find_map(found)
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Written by the tool that made the package: `"version": "1.8.22"` in one of its lines.
fn version(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("_version.py")).ok()?;
    text.lines().find_map(|line| {
        let value = line.trim().strip_prefix("\"version\":")?;
        Some(value.trim_matches(|c: char| c.is_whitespace() || "\",".contains(c)).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_testkit::write_program;

    #[test]
    fn the_version_is_read_from_the_package() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Debugpy::find(Some(folder.path().to_owned()), None).is_err());
        let text = "version_json = '''\n{\n \"error\": null,\n \"version\": \"1.8.22\"\n}\n'''\n";
        std::fs::write(folder.path().join("_version.py"), text).unwrap();
        let found = Debugpy::find(Some(folder.path().to_owned()), Some("py".into())).unwrap();
        assert_eq!((found.version.as_str(), found.python), ("1.8.22", PathBuf::from("py")));
    }

    #[test]
    fn a_python_without_debugpy_says_how_to_install_it() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python3");
        write_program(&python, "#!/bin/sh\necho /bin/python3\necho\n");
        let error = Debugpy::find(None, Some(python)).unwrap_err().to_string();
        assert!(error.contains("-m pip install debugpy"), "{error}");
    }

    #[test]
    fn python_is_asked_where_nothing_of_the_project_is_within_reach() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python3");
        write_program(&python, "#!/bin/sh\npwd > \"$0.folder\"\n");
        assert!(Debugpy::find(None, Some(python.clone())).is_err());
        assert_eq!(std::fs::read_to_string(python.with_extension("folder")).unwrap(), "/\n");
    }
}
