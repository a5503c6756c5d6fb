//! Files of ours that adapters and their programs load: named by what is in them, so that entries of two versions have two
//! and nobody finds half of one.
//!
//! They stay: a program that was let go may start others that load them. What is in them is their own business.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;

/// A file that an adapter is told of, as `{{companion}}` in its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// The last part of the file's name.
    pub file: String,
    /// `{{path}}` and `{{breakroom}}` in it are what they are elsewhere, each in quotes.
    pub script: String,
}

impl Companion {
    /// The file for an adapter that is there, with our own program.
    pub(crate) fn written(&self, folder: &Path, adapter: &Path, ourselves: &Path) -> io::Result<PathBuf> {
        let quoted = |path: &Path| serde_json::Value::from(path.to_string_lossy()).to_string();
        let script = self.script.replace("{{path}}", &quoted(adapter));
        written(folder, &self.file, &script.replace("{{breakroom}}", &quoted(ourselves)))
    }
}

/// The path of a file with this text in it.
pub(crate) fn written(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let path = folder.join(format!("{:016x}-{name}", hasher.finish()));
    if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path);
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let beside = folder.join(format!(".{}-{count}", std::process::id()));
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, &path).inspect_err(|_| drop(std::fs::remove_file(&beside)))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_once_and_again_when_somebody_changed_it() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a b");
        let path = written(&below, "x.js", "1").unwrap();
        std::fs::write(&path, "half").unwrap();
        assert_eq!(written(&below, "x.js", "1").unwrap(), path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1");
        assert_eq!(std::fs::read_dir(&below).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_companion_knows_the_adapter_and_us() {
        let folder = tempfile::tempdir().unwrap();
        let companion = Companion { file: "x.js".into(), script: "load({{path}}, {{breakroom}})".into() };
        let path = companion.written(folder.path(), Path::new("/a \"b"), Path::new("/bin/us")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), r#"load("/a \"b", "/bin/us")"#);
    }
}
