//! Files of the launcher's folder that an engine knows under paths of another machine.
//!
//! The folder is looked through once, and only if an engine names a file that is not here. What belongs to a language's own
//! runtime is not looked for: it has files of every name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use breakroom_engines::Context;
use breakroom_session::Finder;

/// A folder with more files is no project, and looking through it would take long.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 16;

/// Where the sources of runtimes and distributions are said to be, on machines where they were built.
const RUNTIMES: [&str; 5] = ["/rustc/", "/usr/", "/build/", "/lib/", "/proc/"];
/// Folders with other people's files in them.
const OTHERS: [&str; 5] = ["node_modules", "target", "vendor", "venv", "__pycache__"];

/// By their names, where the files of that name are.
type Index = HashMap<String, Vec<PathBuf>>;

pub(crate) fn finder(context: &Context) -> Option<Finder> {
    let folder = context.cwd.clone();
    // These are no project, and everything is below them.
    if folder.parent().is_none() || Some(&*folder) == context.home() {
        return None;
    }
    let index: Mutex<Option<Index>> = Mutex::new(None);
    Some(Finder(Arc::new(move |path| {
        if RUNTIMES.iter().any(|runtime| path.starts_with(runtime)) || Path::new(path).exists() {
            return None;
        }
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        find(path, &folder, index.get_or_insert_with(|| look_through(&folder)))
    })))
}

/// The one file that has the most names at its end in common with the path. One that shares only its own name is meant only
/// if it is in the folder itself.
fn find(path: &str, folder: &Path, index: &Index) -> Option<String> {
    let name = Path::new(path).file_name()?.to_str()?;
    let in_common = |file: &Path| {
        let (mut one, mut other) = (file.components().rev(), Path::new(path).components().rev());
        std::iter::from_fn(|| one.next().zip(other.next())).take_while(|(one, other)| one == other).count()
    };
    let files = index.get(name)?;
    let most = files.iter().map(|file| in_common(file)).max()?;
    let mut best = files.iter().filter(|file| in_common(file) == most);
    let (Some(file), None) = (best.next(), best.next()) else { return None };
    (most > 1 || file.parent() == Some(folder)).then(|| file.to_string_lossy().into_owned())
}

fn look_through(folder: &Path) -> Index {
    let mut index = Index::new();
    let mut waiting = vec![(folder.to_path_buf(), 0)];
    let mut count = 0;
    while let Some((folder, depth)) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are not followed: they may lead round in circles.
            let Ok(kind) = entry.file_type() else { continue };
            let is_others = name.starts_with('.') || OTHERS.contains(&&*name);
            if kind.is_dir() && depth < DEEPEST && !is_others {
                waiting.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                count += 1;
                if count > MOST_FILES {
                    // Half of it could make the wrong file look like the only one.
                    return Index::new();
                }
                index.entry(name).or_default().push(entry.path());
            }
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_file_with_the_longest_common_end_is_found() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("project");
        for file in
            ["src/a/x.py", "src/b/x.py", "main.py", "deep/other.py", "node_modules/only.js", ".git/hidden.py"]
        {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let context =
            Context { cwd: folder.clone(), env: vec![("HOME".into(), home.path().into())], umask: 0o022 };
        let Finder(find) = finder(&context).unwrap();
        let here = |file: &str| Some(folder.join(file).to_string_lossy().into_owned());
        for (path, found) in [
            ("/app/src/b/x.py", here("src/b/x.py")),
            ("/app/b/x.py", here("src/b/x.py")),
            ("/app/x.py", None),
            ("/app/main.py", here("main.py")),
            ("/app/other.py", None),
            ("/rustc/1/src/b/x.py", None),
            ("/app/node_modules/only.js", None),
            ("/app/.git/hidden.py", None),
            (folder.join("main.py").to_str().unwrap(), None),
        ] {
            assert_eq!(find(path), found, "{path}");
        }
        assert!(finder(&Context { cwd: home.path().into(), ..context }).is_none(), "a home is no project");
    }
}
