//! What an adapter leaves behind in the temporary folder when it dies: js-debug its sockets, leases and browser's profile.
//!
//! They are known by the number of the process in their names, or by its having them open, so nothing of anybody else's is
//! touched.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LitterNames {
    pub folder: PathBuf,
    /// How the names of the files and folders begin.
    pub prefixes: Vec<String>,
    /// How the names begin of files that are its own only if it has them open.
    pub held: Option<String>,
}

/// Removed when it is dropped, which is when nothing of the adapter is left.
#[derive(Debug)]
pub(crate) struct Litter {
    names: LitterNames,
    /// Those that it had open when it was last looked at.
    seen: Vec<PathBuf>,
}

impl Litter {
    pub fn new(names: LitterNames) -> Litter {
        Litter { names, seen: Vec::new() }
    }

    /// Looks at what the process has open, as long as it can be seen.
    pub fn look(&mut self, pid: u32) {
        let LitterNames { folder, held: Some(held), .. } = &self.names else { return };
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for file in descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.parent() == Some(folder) && name.starts_with(held) && !self.seen.contains(&file) {
                self.seen.push(file);
            }
        }
    }
}

impl Drop for Litter {
    fn drop(&mut self) {
        for file in &self.seen {
            let _ = std::fs::remove_file(file);
        }
        for entry in std::fs::read_dir(&self.names.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if self.names.prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                // Somebody may have been faster.
                let _ = match entry.file_type() {
                    Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(entry.path()),
                    _ => std::fs::remove_file(entry.path()),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_called_so_is_removed_with_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["node-cdp.7-a.sock", "node-cdp.7-b.sock", "node-cdp.77-a.sock", "mine"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for name in ["profile-7-a/b", "profile-77-a/b"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("profile-77-a", folder.path().join("profile-7-c")).unwrap();
        drop(Litter::new(LitterNames {
            folder: folder.path().into(),
            prefixes: vec!["node-cdp.7-".into(), "profile-7-".into()],
            held: None,
        }));
        let left = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["mine", "node-cdp.77-a.sock", "profile-77-a"]);
        assert!(folder.path().join("profile-77-a/b").exists(), "what a link names is not what is called so");
    }

    #[test]
    fn what_the_process_has_open_goes_with_it_and_what_another_has_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let _open = ["lease-a", "other"].map(|name| std::fs::File::create(path(name)).unwrap());
        std::fs::write(path("lease-b"), "").unwrap();
        let held = Some("lease-".to_owned());
        let mut litter =
            Litter::new(LitterNames { folder: folder.path().into(), prefixes: Vec::new(), held });
        litter.look(std::process::id());
        drop(litter);
        assert!(!path("lease-a").exists() && path("lease-b").exists() && path("other").exists());
    }
}
