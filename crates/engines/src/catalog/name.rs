//! Patterns for the names of files, as catalogs and projects write them. Folders have no part in it.

use std::path::Path;

/// `*` stands for any characters and `?` for one, in the file's name.
pub(crate) fn name_matches(pattern: &str, path: &Path) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.to_string_lossy().chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            // The last star takes one character more.
            _ => match retry {
                Some((star, taken)) => {
                    retry = Some((star, taken + 1));
                    (p, n) = (star + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, matches) in [
            ("*.py", "a.py", true),
            ("*.py", ".py", true),
            ("*.py", "a.pyc", false),
            ("*_test.go", "a_test_test.go", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "x", false),
            ("**", "x", true),
            ("é*", "été", true),
        ] {
            assert_eq!(
                name_matches(pattern, Path::new("/folder.py").join(name).as_path()),
                matches,
                "{pattern} {name}"
            );
        }
    }
}
