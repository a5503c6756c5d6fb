//! Versions: found in what programs print, compared, and as part of a program's name (Debian's `rdbg3.1`).

use std::cmp::Ordering;
use std::path::PathBuf;

use crate::context::is_executable;

/// Stands in a program's name for a version: digits and dots.
pub(crate) const ANY: &str = "{{version}}";

/// The first word that begins with a number, a dot and a number, a leading `v` aside.
pub(crate) fn version_in(output: &str) -> Option<String> {
    output
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '"'))
        .map(|word| word.strip_prefix('v').unwrap_or(word))
        .find(|word| {
            let mut parts = word.split('.');
            let mut number =
                || parts.next().is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
            number() && number()
        })
        .map(str::to_string)
}

/// Number by number: 3.10 is later than 3.9.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    let numbers = |version: &str| -> Vec<u64> {
        let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
        version.split('.').map_while(|part| digits(part).parse().ok()).collect()
    };
    numbers(one).cmp(&numbers(other))
}

pub(crate) fn at_least(version: &str, least: &str) -> bool {
    compare(version, least) != Ordering::Less
}

/// The program of that name in these folders; with [`ANY`] in the name the one of the latest version.
pub(crate) fn matching_programs(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let Some((before, after)) = name.split_once(ANY) else {
        return folders.iter().map(|folder| folder.join(name)).find(|path| is_executable(path));
    };
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let versioned = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let version = name.strip_prefix(before)?.strip_suffix(after)?.to_owned();
        let plain = version.starts_with(|c: char| c.is_ascii_digit())
            && version.chars().all(|c| c.is_ascii_digit() || c == '.');
        (plain && is_executable(&file.path())).then(|| (version, file.path()))
    });
    // Of two that are the same the one in the earlier folder, as PATH has it.
    let latest = versioned.reduce(|best, other| match compare(&best.0, &other.0) {
        Ordering::Less => other,
        _ => best,
    });
    latest.map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (output, version) in [
            ("Delve Debugger\nVersion: 1.20.2\nBuild: $Id: x $", Some("1.20.2")),
            ("lldb version 19.1.7\n", Some("19.1.7")),
            ("GNU gdb (GDB) 18.1", Some("18.1")),
            ("node v20.1.0,", Some("20.1.0")),
            ("1.8.22+unknown", Some("1.8.22+unknown")),
            ("no version at all. 5", None),
            ("", None),
        ] {
            assert_eq!(version_in(output).as_deref(), version, "{output}");
        }
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        for (version, least, enough) in
            [("3.10", "3.9", true), ("13.1-3", "14", false), ("14", "14", true), ("3.27.0-rc1", "3.27", true)]
        {
            assert_eq!(at_least(version, least), enough, "{version} {least}");
        }
    }

    #[test]
    fn the_latest_of_several_versions_in_a_name_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for (name, mode) in
            [("rdbg3.9", 0o755), ("rdbg3.10", 0o755), ("rdbg4", 0o644), ("rdbg-old", 0o755), ("rdbg", 0o755)]
        {
            file(name, mode);
        }
        let folders = [Path::new("/nowhere").to_path_buf(), folder.path().to_path_buf()];
        let found = |name: &str| Some(matching_programs(&folders, name)?.file_name()?.to_str()?.to_owned());
        assert_eq!(found("rdbg{{version}}").as_deref(), Some("rdbg3.10"));
        assert_eq!(found("rdbg").as_deref(), Some("rdbg"));
        assert_eq!(found("lldb-{{version}}"), None);
    }
}
