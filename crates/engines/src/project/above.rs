//! The folders of a file's project: those above it, as far as they can belong to it.
//!
//! What is found there steers what is built and run, so what others have put there does not count.

use std::path::{Path, PathBuf};

use super::has_known_owner;
use crate::context::Context;

/// The nearest folder above a file with something of that name in it, which nobody else has put there.
pub fn folder_with(file: &Path, name: &str, context: &Context) -> Option<PathBuf> {
    let folder = folders_above(file, context).find(|folder| folder.join(name).exists())?;
    has_known_owner(&folder.join(name), file).then(|| folder.to_path_buf())
}

/// A path in a folder, for those who look above one. Nobody can make it: its owner would count as whoever was named.
pub fn inside(folder: &Path) -> PathBuf {
    folder.join("\0")
}

/// The folders above a file, up to the root of the repository or the home folder: what is beyond is not of its project.
pub fn folders_above<'a>(file: &'a Path, context: &'a Context) -> impl Iterator<Item = &'a Path> {
    let is_last = |folder: &Path| folder.join(".git").exists() || Some(folder) == context.home();
    let mut beyond = false;
    file.ancestors().skip(1).take_while(move |folder| !std::mem::replace(&mut beyond, is_last(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_repository_or_the_home_folder_is_not_found() {
        let outside = tempfile::tempdir().unwrap();
        let (home, project) = (outside.path().join("home"), outside.path().join("home/project"));
        let file = project.join("src/main.ts");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(&file, "").unwrap();
        std::fs::write(outside.path().join("tool"), "").unwrap();
        let context = |home: &Path| Context {
            cwd: project.clone(),
            env: vec![("HOME".into(), home.into())],
            umask: 0o022,
        };
        let found = |home: &Path| folder_with(&file, "tool", &context(home));
        assert_eq!(found(Path::new("/elsewhere")).as_deref(), Some(outside.path()));
        assert_eq!(found(&home), None);
        std::fs::write(home.join("tool"), "").unwrap();
        assert_eq!(found(&home), Some(home.clone()));
        std::fs::create_dir(project.join(".git")).unwrap();
        assert_eq!(found(&home), None);
        std::fs::write(project.join("tool"), "").unwrap();
        assert_eq!(found(&home), Some(project.clone()));
    }

    #[test]
    fn what_another_user_has_put_above_a_file_is_not_found() {
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("project/main.ts");
        std::fs::create_dir_all(outside.path().join("project")).unwrap();
        std::fs::write(&file, "").unwrap();
        let tool = outside.path().join("tool");
        std::fs::write(&tool, "").unwrap();
        let context = Context { cwd: outside.path().into(), env: vec![], umask: 0o022 };
        let found = || folder_with(&file, "tool", &context);
        assert!(found().is_some());
        // Only root can give files away; nobody else can play this.
        if std::os::unix::fs::chown(&tool, Some(12345), None).is_ok() {
            assert_eq!(found(), None);
            std::fs::rename(&tool, tool.with_extension("real")).unwrap();
            std::os::unix::fs::symlink("/bin/true", &tool).unwrap();
            std::os::unix::fs::lchown(&tool, Some(12345), None).unwrap();
            assert_eq!(found(), None, "whoever made the link has chosen the program");
            std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
            assert!(found().is_some(), "the file that is to be run is that user's too");
            let beside = outside.path().join("_");
            std::fs::write(&beside, "").unwrap();
            std::os::unix::fs::chown(&beside, Some(12345), None).unwrap();
            assert_eq!(
                folder_with(&inside(outside.path()), "tool", &context),
                None,
                "nobody has named a file"
            );
        }
    }
}
