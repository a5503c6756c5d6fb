//! Which of several definitions are only compiled from another, as their file's source map says.
//!
//! Without a map the debugger knows nothing of the source either, and which of the two is meant is not guessed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Definition;
use crate::telling::source::read;

/// What stands in a compiled file before the name of its map.
const NAMES_MAP: &str = "//# sourceMappingURL=";

/// Leaves out what is in a file that was compiled from the file of another one.
pub fn without_compiled(found: Vec<Definition>) -> Vec<Definition> {
    if found.len() < 2 {
        return found;
    }
    let is_compiled = |one: &Definition| {
        let sources = sources(&one.file);
        found.iter().any(|other| other.file != one.file && sources.contains(&other.file))
    };
    let kept: Vec<bool> = found.iter().map(|one| !is_compiled(one)).collect();
    found.into_iter().zip(kept).filter_map(|(one, is_kept)| is_kept.then_some(one)).collect()
}

/// The files that a file was compiled from, as far as they are there.
fn sources(file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(file);
    let map = read(file).ok().and_then(|text| {
        let (_, name) = text.rsplit_once(NAMES_MAP)?;
        Some(folder.join(name.lines().next()?.trim()))
    });
    let Some(map) = map else { return Vec::new() };
    let text = read(&map).unwrap_or_default();
    let said: Value = serde_json::from_str(&text).unwrap_or_default();
    let root = map.parent().unwrap_or(folder).join(said["sourceRoot"].as_str().unwrap_or_default());
    let named = said["sources"].as_array().into_iter().flatten().filter_map(Value::as_str);
    named.filter_map(|source| root.join(source).canonicalize().ok()).collect()
}
