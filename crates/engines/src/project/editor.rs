//! A project's `.vscode` folder, and the user's trust in it.
//!
//! Its configurations only say what the user asks for by name; its tasks are commands of somebody else's, and run only
//! after the user has said so. The files are read once and judged together: a setting can be part of a task's command.

use std::path::{Path, PathBuf};

use super::{Trust, is_own, record, record_place, write_record};
use crate::context::Context;
use crate::error::CatalogError;

const FOLDER: &str = ".vscode";
const FILES: [&str; 3] = ["launch.json", "tasks.json", "settings.json"];

#[derive(Clone, Debug)]
pub struct EditorFolder {
    pub path: PathBuf,
    pub trust: Trust,
    files: Vec<(&'static str, String)>,
}

impl EditorFolder {
    /// The nearest one in the folder or above, up to the root of the repository or the home folder.
    pub fn nearest(from: &Path, context: &Context) -> Result<Option<EditorFolder>, CatalogError> {
        for folder in from.ancestors() {
            let path = folder.join(FOLDER);
            if FILES.iter().any(|name| path.join(name).is_file()) {
                return EditorFolder::read(&path, context);
            }
            if folder.join(".git").exists() || Some(folder) == context.home() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn read(named: &Path, context: &Context) -> Result<Option<EditorFolder>, CatalogError> {
        let unreadable = |path: &Path, source| CatalogError::Read { path: path.to_path_buf(), source };
        let path = named.canonicalize().map_err(|source| unreadable(named, source))?;
        let mut files = Vec::new();
        for name in FILES {
            let file = path.join(name);
            if !file.exists() {
                continue;
            }
            // In a shared folder like /tmp anybody could otherwise offer others what to run: a folder of theirs, or a
            // link to files of ours that they have chosen.
            if let Some(foreign) = [named, &file].into_iter().find(|path| !is_own(path)) {
                tracing::warn!("{} is ignored: another user has put it there", foreign.display());
                return Ok(None);
            }
            let bytes = std::fs::read(&file).map_err(|source| unreadable(&file, source))?;
            files.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
        let mut folder = EditorFolder { path, trust: Trust::Untrusted, files };
        let known = std::fs::read(record_place(&folder.path, context)?).ok();
        if known.is_some_and(|known| known == folder.record()) {
            folder.trust = Trust::Trusted;
        }
        Ok(Some(folder))
    }

    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    /// The folder that it is about.
    pub fn workspace(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Trusts it as it is now.
    pub fn trust(&self, context: &Context) -> Result<(), CatalogError> {
        let place = record_place(&self.path, context)?;
        write_record(&place, &self.record()).map_err(|source| CatalogError::Write { path: place, source })
    }

    /// Every file with its name and length, so that nothing can be moved from one to another.
    fn record(&self) -> Vec<u8> {
        let parts = self.files.iter().map(|(name, text)| format!("{name} {}\n{text}", text.len()));
        record(&self.path, parts.collect::<String>().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(home: &Path) -> Context {
        Context { cwd: home.to_path_buf(), env: vec![("HOME".into(), home.into())], umask: 0o022 }
    }

    #[test]
    fn it_is_found_above_and_trusted_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (work, deep) = (home.join("work"), home.join("work/a/b"));
        std::fs::create_dir_all(&deep).unwrap();
        assert!(EditorFolder::nearest(&deep, &context(&home)).unwrap().is_none());
        std::fs::create_dir(work.join(FOLDER)).unwrap();
        std::fs::write(work.join(".vscode/tasks.json"), "{}").unwrap();
        let find = || EditorFolder::nearest(&deep, &context(&home)).unwrap().unwrap();
        assert_eq!((find().workspace(), find().trust), (&*work, Trust::Untrusted));
        find().trust(&context(&home)).unwrap();
        assert_eq!((find().file("tasks.json"), find().trust), (Some("{}"), Trust::Trusted));
        std::fs::write(work.join(".vscode/settings.json"), "{}").unwrap();
        assert_eq!(find().trust, Trust::Untrusted, "a new file may change what a task does");
    }

    #[test]
    fn the_search_ends_at_the_repository() {
        let home = tempfile::tempdir().unwrap();
        let inner = home.path().join("repository");
        std::fs::create_dir_all(inner.join(".git")).unwrap();
        std::fs::create_dir(home.path().join(FOLDER)).unwrap();
        std::fs::write(home.path().join(".vscode/launch.json"), "{}").unwrap();
        assert!(EditorFolder::nearest(&inner, &context(home.path())).unwrap().is_none());
    }
}
