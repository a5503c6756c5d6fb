//! Where an import may lead: candidates, the name it gets, who may import from `internal` folders.

use std::path::{Component, Path, PathBuf};

/// Without `.` and `..`; symbolic links are not looked at.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut normalised = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalised.pop();
            }
            _ => normalised.push(component),
        }
    }
    normalised
}

/// In the order in which they are tried.
pub(super) fn candidates(import: &str, folder: &Path, root: &Path) -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    for base in [folder, root] {
        let path = normalised(&base.join(import));
        let mut file = path.clone().into_os_string();
        file.push(".ez");
        let named_whole = path.extension().is_some_and(|extension| extension == "ez");
        let both = [PathBuf::from(file), path];
        for candidate in both.into_iter().skip(usize::from(named_whole)) {
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    candidates
}

/// What a module is called after its file or folder.
pub(super) fn module_name(path: &Path) -> String {
    let file = path.extension().is_some_and(|extension| extension == "ez");
    let name = if file { path.file_stem() } else { path.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn is_name(text: &str) -> bool {
    let part = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    !text.is_empty() && text.chars().all(part) && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// The folder from within which alone this may be imported, if it lies in an `internal` one.
pub(super) fn reserved_for(path: &Path) -> Option<PathBuf> {
    let folders: Vec<Component<'_>> = path.components().collect();
    let internal = folders.iter().rposition(|component| component.as_os_str() == "internal")?;
    Some(folders[..internal].iter().collect())
}
