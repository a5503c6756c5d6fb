//! A project's `.breakroom.toml`, and the user's trust in it.
//!
//! The file comes with somebody's code, so its commands run only after the user has said so.
//! Trust is given to the exact bytes at the exact place: a later change has to be trusted again.

pub mod above;
pub mod editor;

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::catalog::{self, CatalogFile};
use crate::context::Context;
use crate::error::CatalogError;
use crate::folders;
use crate::words::short_name;

const FILE_NAME: &str = ".breakroom.toml";

#[derive(Clone, Debug)]
pub struct Project {
    pub path: PathBuf,
    pub trust: Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Trusted,
    Untrusted,
}

/// The nearest file in the working folder or above, up to the root of the repository or the home folder.
pub(crate) fn load(context: &Context) -> Result<Option<(Project, CatalogFile)>, CatalogError> {
    let Some(path) = nearest(context) else {
        return Ok(None);
    };
    let unreadable = |source| CatalogError::Read { path: path.clone(), source };
    if !is_own(&path) {
        // In a shared folder like /tmp anybody could otherwise keep others from debugging.
        tracing::warn!("{} is ignored: another user has put it there", path.display());
        return Ok(None);
    }
    let path = path.canonicalize().map_err(unreadable)?;
    let unreadable = |source| CatalogError::Read { path: path.clone(), source };
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    // Compared with the very bytes that are parsed, so that nothing can be exchanged in between.
    let trust = match std::fs::read(record_place(&path, context)?) {
        Ok(record) if record == self::record(&path, &bytes) => Trust::Trusted,
        _ => Trust::Untrusted,
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| CatalogError::Toml { path: path.clone(), problem: format!("not UTF-8: {error}") })?;
    let file = catalog::parse(&path, &text)?;
    Ok(Some((Project { path, trust }, file)))
}

/// Trusts the file at `path` (or the one in the folder `path`) as it is now, and says which file that is.
pub fn trust(path: &Path, context: &Context) -> Result<PathBuf, CatalogError> {
    let mut path = context.cwd.join(path);
    if path.is_dir() {
        path = path.join(FILE_NAME);
    }
    let path = path.canonicalize().map_err(|source| CatalogError::Read { path, source })?;
    let bytes = std::fs::read(&path).map_err(|source| CatalogError::Read { path: path.clone(), source })?;
    catalog::parse(&path, &String::from_utf8_lossy(&bytes))?;
    let place = record_place(&path, context)?;
    write_record(&place, &record(&path, &bytes))
        .map_err(|source| CatalogError::Write { path: place, source })?;
    Ok(path)
}

/// Written beside and renamed, so that a full disk cannot leave half a record.
fn write_record(place: &Path, record: &[u8]) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let beside = place.with_extension(std::process::id().to_string());
    std::fs::write(&beside, record)?;
    std::fs::rename(&beside, place)
}

/// Whether something was put there by the user, by root, or by whoever owns the file that the user named. In a shared
/// folder like /tmp anybody could otherwise offer others what to run.
pub fn has_known_owner(path: &Path, named: &Path) -> bool {
    let by_named = std::fs::metadata(named).map(|found| found.uid()).ok();
    is_of(path, &[Some(0), Some(rustix::process::getuid().as_raw()), by_named])
}

/// The same for one file or link: where a link leads, whoever made it has chosen.
pub fn has_known_maker(path: &Path, named: &Path) -> bool {
    let by_named = std::fs::metadata(named).map(|found| found.uid()).ok();
    let known = [Some(0), Some(rustix::process::getuid().as_raw()), by_named];
    std::fs::symlink_metadata(path).is_ok_and(|found| known.contains(&Some(found.uid())))
}

/// Whether something was put there by the user or by root: for what nobody has named.
pub fn is_own(path: &Path) -> bool {
    is_of(path, &[Some(0), Some(rustix::process::getuid().as_raw())])
}

fn is_of(path: &Path, owners: &[Option<u32>]) -> bool {
    let known =
        |found: io::Result<std::fs::Metadata>| found.is_ok_and(|found| owners.contains(&Some(found.uid())));
    // Whoever made a link has chosen what it leads to.
    known(std::fs::symlink_metadata(path)) && known(std::fs::metadata(path))
}

fn nearest(context: &Context) -> Option<PathBuf> {
    for folder in context.cwd.ancestors() {
        let path = folder.join(FILE_NAME);
        if path.is_file() {
            return Some(path);
        }
        if folder.join(".git").exists() || Some(folder) == context.home() {
            return None;
        }
    }
    None
}

/// The record holds the path as well, so that two paths with one hash cannot be taken for each other.
fn record(path: &Path, content: &[u8]) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b"\0", content].concat()
}

fn record_place(path: &Path, context: &Context) -> Result<PathBuf, CatalogError> {
    Ok(folders::state_dir(context)?.join("trust").join(short_name(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(home: &Path, cwd: &Path) -> Context {
        Context { cwd: cwd.to_path_buf(), env: vec![("HOME".into(), home.into())], umask: 0o022 }
    }

    #[test]
    fn the_search_ends_at_the_repository_and_at_the_home_folder() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let deep = home.join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        let file = home.join(FILE_NAME);
        std::fs::write(&file, "").unwrap();
        assert_eq!(nearest(&context(&home, &deep)), Some(file));
        std::fs::create_dir(home.join("a/.git")).unwrap();
        assert_eq!(nearest(&context(&home, &deep)), None);
        let inner = home.join("a").join(FILE_NAME);
        std::fs::write(&inner, "").unwrap();
        assert_eq!(nearest(&context(&home, &deep)), Some(inner));
        assert_eq!(nearest(&context(&deep, &deep)), None);
    }

    #[test]
    fn trust_is_for_one_content_at_one_place() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (one, two) = (home.join("one"), home.join("two"));
        for folder in [&one, &two] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(FILE_NAME), "[settings]\na = 1\n").unwrap();
        }
        let trust_at = |folder: &Path| load(&context(&home, folder)).unwrap().unwrap().0.trust;
        assert_eq!(trust_at(&one), Trust::Untrusted);
        assert_eq!(trust(Path::new("."), &context(&home, &one)).unwrap(), one.join(FILE_NAME));
        assert_eq!((trust_at(&one), trust_at(&two)), (Trust::Trusted, Trust::Untrusted));
        std::fs::write(one.join(FILE_NAME), "[settings]\na = 2\n").unwrap();
        assert_eq!(trust_at(&one), Trust::Untrusted);
    }

    #[test]
    fn what_cannot_be_read_cannot_be_trusted() {
        let home = tempfile::tempdir().unwrap();
        let context = context(home.path(), home.path());
        assert!(trust(Path::new("."), &context).unwrap_err().to_string().contains(FILE_NAME));
        std::fs::write(home.path().join(FILE_NAME), "adapter = 1").unwrap();
        assert!(trust(Path::new("."), &context).unwrap_err().to_string().contains("line 1"));
    }
}
