//! Files of the launcher's folder that an engine knows under paths of another machine.
//!
//! The folder is looked through once, and only if an engine names a file that is not here: by a thread of its own, since a
//! session's must not wait for a disk. What belongs to a language's own runtime is not looked for: it has files of every
//! name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use breakroom_engines::Context;
use breakroom_session::{Finder, Search};

/// A folder with more files is no project, and looking through it would take long.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 16;
/// An ordinary project is looked through in that time, and nobody notices that a session did nothing else.
const PATIENCE: Duration = Duration::from_millis(50);

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
    Some(finder_in(folder, look_through))
}

fn finder_in(folder: PathBuf, look_through: fn(&Path) -> Index) -> Finder {
    let walk = Mutex::new(Walk::Unasked);
    Finder(Arc::new(move |path| {
        if RUNTIMES.iter().any(|runtime| path.starts_with(runtime)) || Path::new(path).exists() {
            return Search::Nothing;
        }
        let mut walk = walk.lock().unwrap_or_else(PoisonError::into_inner);
        match walk.index(&folder, look_through) {
            Some(index) => find(path, &folder, index).map_or(Search::Nothing, Search::Found),
            None => Search::UnderWay,
        }
    }))
}

/// How far the folder has been looked through.
enum Walk {
    Unasked,
    UnderWay(Receiver<Index>),
    Done(Index),
}

impl Walk {
    /// What was found, if all has been looked through. The first who asks waits a moment for it.
    fn index(&mut self, folder: &Path, look_through: fn(&Path) -> Index) -> Option<&Index> {
        let patience = match self {
            Walk::Unasked => {
                let (done, result) = channel();
                let folder = folder.to_path_buf();
                // Without a thread nothing is found, and the channel says so.
                let walks = move || drop(done.send(look_through(&folder)));
                drop(std::thread::Builder::new().name("sources".into()).spawn(walks));
                *self = Walk::UnderWay(result);
                PATIENCE
            }
            Walk::UnderWay(_) | Walk::Done(_) => Duration::ZERO,
        };
        if let Walk::UnderWay(result) = self {
            *self = match result.recv_timeout(patience) {
                Ok(index) => Walk::Done(index),
                Err(RecvTimeoutError::Disconnected) => Walk::Done(Index::new()),
                Err(RecvTimeoutError::Timeout) => return None,
            };
        }
        match self {
            Walk::Done(index) => Some(index),
            Walk::Unasked | Walk::UnderWay(_) => None,
        }
    }
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
    use std::time::Instant;

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
        let here = |file: &str| Search::Found(folder.join(file).to_string_lossy().into_owned());
        for (path, found) in [
            ("/app/src/b/x.py", here("src/b/x.py")),
            ("/app/b/x.py", here("src/b/x.py")),
            ("/app/x.py", Search::Nothing),
            ("/app/main.py", here("main.py")),
            ("/app/other.py", Search::Nothing),
            ("/rustc/1/src/b/x.py", Search::Nothing),
            ("/app/node_modules/only.js", Search::Nothing),
            ("/app/.git/hidden.py", Search::Nothing),
            (folder.join("main.py").to_str().unwrap(), Search::Nothing),
        ] {
            assert_eq!(once_looked(&*find, path), found, "{path}");
        }
        assert!(finder(&Context { cwd: home.path().into(), ..context }).is_none(), "a home is no project");
    }

    /// What is found when all has been looked through.
    fn once_looked(find: &dyn Fn(&str) -> Search, path: &str) -> Search {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            match find(path) {
                Search::UnderWay if Instant::now() < until => std::thread::yield_now(),
                found => return found,
            }
        }
    }

    #[test]
    fn a_folder_that_takes_long_to_look_through_keeps_nobody() {
        static LOOKS: Mutex<()> = Mutex::new(());
        fn slow(folder: &Path) -> Index {
            let _waits = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
            Index::from([("main.py".to_owned(), vec![folder.join("main.py")])])
        }
        let Finder(find) = finder_in(PathBuf::from("/no/such/project"), slow);
        let held = LOOKS.lock().unwrap();
        for _ in 0..3 {
            assert_eq!(find("/app/main.py"), Search::UnderWay);
        }
        drop(held);
        assert_eq!(once_looked(&*find, "/app/main.py"), Search::Found("/no/such/project/main.py".into()));
    }
}
