//! Files in the temporary folder that an adapter leaves behind when it dies: js-debug its sockets.
//!
//! They are known by the number of the process in their names, so nothing of anybody else's is touched.

use std::path::PathBuf;

/// Removed when it is dropped, which is when nothing of the adapter is left.
#[derive(Debug)]
pub(crate) struct Litter {
    pub folder: PathBuf,
    /// How the names of the files begin.
    pub prefix: String,
}

impl Drop for Litter {
    fn drop(&mut self) {
        for file in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if file.file_name().to_string_lossy().starts_with(&self.prefix) {
                // Somebody may have been faster.
                let _ = std::fs::remove_file(file.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_whose_names_begin_so_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["node-cdp.7-a.sock", "node-cdp.7-b.sock", "node-cdp.77-a.sock", "mine"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        drop(Litter { folder: folder.path().into(), prefix: "node-cdp.7-".into() });
        let left = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["mine", "node-cdp.77-a.sock"]);
    }
}
