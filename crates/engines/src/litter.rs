//! What an adapter leaves behind in the temporary folder when it dies: js-debug its sockets, leases and browser's profile.
//!
//! They are known by the number of the process in their names, or by its having them open, so nothing of anybody else's is
//! touched.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LitterNames {
    pub folder: PathBuf,
    /// How the names of the files and folders begin. One that ends with a slash is the whole path of a folder.
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
        for path in self.names.prefixes.iter().filter(|path| path.ends_with('/')) {
            remove_own_folder(&self.names.folder.join(path));
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

/// Removes a folder and, if nothing else is in it, the one above. Another user could have made the one above a link to
/// anywhere, so both must be this user's.
fn remove_own_folder(path: &Path) {
    let uid = rustix::process::getuid().as_raw();
    let is_own =
        |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == uid);
    let Some(above) = path.parent().filter(|above| is_own(above)) else { return };
    if is_own(path) && std::fs::remove_dir_all(path).is_ok() {
        // Other processes may have theirs in it.
        let _ = std::fs::remove_dir(above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_that_is_named_by_its_path_is_removed_unless_a_link_leads_there() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["lldb/7/x.expr", "lldb/77/x.expr", "elsewhere/7/precious"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("elsewhere", folder.path().join("link")).unwrap();
        let prefixes = vec!["lldb/7/".into(), "link/7/".into()];
        drop(Litter::new(LitterNames { folder: folder.path().into(), prefixes, held: None }));
        let left =
            ["lldb/7", "lldb/77", "elsewhere/7/precious"].map(|name| folder.path().join(name).exists());
        assert_eq!(left, [false, true, true]);
        let prefixes = vec!["lldb/77/".into()];
        drop(Litter::new(LitterNames { folder: folder.path().into(), prefixes, held: None }));
        assert!(!folder.path().join("lldb").exists());
    }

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
