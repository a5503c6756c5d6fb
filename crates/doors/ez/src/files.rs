//! Which files the IDE means, and how it spells them.
//!
//! A debugger may know a file by another path than the IDE does; each hears of it under its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use breakroom_client::model::Frame;

use crate::event::Members;

#[derive(Debug)]
pub struct Files {
    /// What relative paths may be relative to, the likeliest first.
    folders: Vec<PathBuf>,
    named: Vec<Named>,
    /// What paths of the debugger turned out to be, because each stop asks for the same ones again.
    spellings: HashMap<String, String>,
}

#[derive(Debug)]
struct Named {
    canonical: PathBuf,
    absolute: String,
    spelled: String,
}

impl Files {
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Files { folders, named: Vec::new(), spellings: HashMap::new() }
    }

    /// The path by which a debugger knows what the IDE calls so. The same file has the same path, however it is spelled.
    pub fn name(&mut self, spelled: &str) -> String {
        let absolute = self.find(spelled);
        let canonical = canonical(&absolute);
        if let Some(known) = self.named.iter().find(|named| named.canonical == canonical) {
            return known.absolute.clone();
        }
        let absolute = absolute.to_string_lossy().into_owned();
        self.named.push(Named { canonical, absolute: absolute.clone(), spelled: spelled.to_owned() });
        self.spellings.clear();
        absolute
    }

    fn find(&self, spelled: &str) -> PathBuf {
        let candidates = || self.folders.iter().map(|folder| folder.join(spelled));
        let found = candidates().find(|path| path.exists()).or_else(|| candidates().next());
        let path = found.unwrap_or_else(|| PathBuf::from(spelled));
        std::path::absolute(&path).unwrap_or(path)
    }

    /// As the IDE spells it, if it has named the file.
    pub fn spelling(&mut self, path: &str) -> String {
        if let Some(known) = self.spellings.get(path) {
            return known.clone();
        }
        let canonical = canonical(Path::new(path));
        let named = self.named.iter().find(|named| named.canonical == canonical);
        let spelled = named.map_or(path, |named| &named.spelled).to_owned();
        self.spellings.insert(path.to_owned(), spelled.clone());
        spelled
    }

    /// Where a frame is; empty if it is in no file.
    pub fn file_of(&mut self, frame: &Frame) -> String {
        match &frame.source {
            Some(source) => {
                source.path.as_deref().map_or_else(|| source.name.clone(), |path| self.spelling(path))
            }
            None => String::new(),
        }
    }

    pub fn same(&self, one: &str, other: &str) -> bool {
        one == other || canonical(Path::new(one)) == canonical(Path::new(other))
    }
}

pub fn location(file: &str, line: i64, column: i64) -> Members {
    vec![("file", file.into()), ("line", line.into()), ("column", column.max(1).into())]
}

/// Why this cannot be a program. What is no file is not opened: a pipe that nobody writes to would wait for ever.
pub fn check(path: &Path) -> Result<(), String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    match found.is_file() {
        true => std::fs::File::open(path).map(drop).map_err(|error| error.to_string()),
        false => Err("it is not a file".to_owned()),
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_path_and_is_told_as_it_was_first_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("t.ez");
        std::fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link.ez")).unwrap();
        let mut files = Files::new(vec![folder.path().to_owned()]);
        let path = files.name("link.ez");
        assert_eq!(path, folder.path().join("link.ez").to_string_lossy());
        assert_eq!(files.name("./t.ez"), path);
        assert_eq!(files.spelling(&real.to_string_lossy()), "link.ez");
        assert_eq!(files.spelling("/nowhere/else.ez"), "/nowhere/else.ez");
    }
}
