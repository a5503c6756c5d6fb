//! Which file a path means: paths are compared without case and with either separator, as Windows does.

use std::path::{Path, PathBuf};

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

/// Whether two spellings name one file.
pub fn same_file(one: &str, other: &str) -> bool {
    let folded = |path: &str| parts(path).map(str::to_lowercase).collect::<Vec<_>>();
    is_absolute(one) == is_absolute(other) && folded(one) == folded(other)
}

/// Whether a path goes up by `..`, which the protocol does not allow.
pub fn has_parent_steps(path: &str) -> bool {
    parts(path).any(|part| part == "..")
}

fn drive(path: &str) -> Option<&str> {
    let (drive, _) = path.split_at_checked(2)?;
    (drive.ends_with(':') && drive.starts_with(|letter: char| letter.is_ascii_alphabetic())).then_some(drive)
}

pub fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || drive(path).is_some()
}

/// The file of this machine that a path means: an absolute one as it is, or without its drive; else the longest end of it
/// that is below `folder`. `names` lists what is in a folder.
pub fn resolve(path: &str, folder: &Path, names: &dyn Fn(&Path) -> Vec<String>) -> Option<PathBuf> {
    if has_parent_steps(path) {
        return None;
    }
    let without_drive = drive(path).map_or(path, |drive| &path[drive.len()..]);
    let parts: Vec<&str> = parts(without_drive).collect();
    let absolute = is_absolute(path).then(|| walk(Path::new("/"), &parts, names)).flatten();
    absolute.or_else(|| (0..parts.len()).find_map(|from| walk(folder, &parts[from..], names)))
}

/// Goes down by these names, each as it is spelled if it is there, else in another case.
fn walk(from: &Path, parts: &[&str], names: &dyn Fn(&Path) -> Vec<String>) -> Option<PathBuf> {
    let Some((first, rest)) = parts.split_first() else { return Some(from.to_owned()) };
    let there = names(from);
    let exact = there.iter().filter(|name| *name == first);
    let folded = first.to_lowercase();
    let others = there.iter().filter(|name| *name != first && name.to_lowercase() == folded);
    exact.chain(others).find_map(|name| walk(&from.join(name), rest, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_many_spellings() {
        assert!(same_file("C:\\Repo\\a.cs", "c:/repo/A.CS"));
        assert!(same_file("src/./a.as", "src\\a.as"));
        assert!(!same_file("/src/a.as", "src/a.as") && !same_file("a.as", "b.as"));
        assert!(has_parent_steps("..\\g.ez") && has_parent_steps("a/../b") && !has_parent_steps("a/..b"));
    }

    #[test]
    fn path_is_found_in_any_spelling() {
        let tree = |folder: &Path| -> Vec<String> {
            let names: &[&str] = match folder.to_str().unwrap() {
                "/" => &["home", "x"],
                "/home" => &["game"],
                "/home/game" => &["src", "main.ez"],
                "/home/game/src" => &["Player.as", "player.as", "g.ez"],
                _ => &[],
            };
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let found = |path: &str| {
            resolve(path, Path::new("/home/game"), &tree).map(|path| path.to_str().unwrap().to_owned())
        };
        for (path, file) in [
            ("src/g.ez", "/home/game/src/g.ez"),
            ("SRC\\G.EZ", "/home/game/src/g.ez"),
            ("/home/game/src/player.as", "/home/game/src/player.as"),
            ("/HOME/game/src/Player.as", "/home/game/src/Player.as"),
            ("C:\\home\\game\\main.ez", "/home/game/main.ez"),
            ("Z:\\projects\\game\\src\\g.ez", "/home/game/src/g.ez"),
        ] {
            assert_eq!(found(path).as_deref(), Some(file), "{path}");
        }
        assert_eq!(found("..\\game\\main.ez"), None);
        assert_eq!(found("none.ez"), None);
    }
}
