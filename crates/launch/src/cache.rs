//! Folders of ours for what is built: one for each source, found again by the source's path.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use breakroom_engines::{Context, folders, short_name};

use crate::failure::Failure;

/// The folder for what is made of this source. It is there afterwards.
pub fn folder_for(source: &Path, context: &Context) -> Result<PathBuf, Failure> {
    let name = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let builds = folders::builds_dir(context).map_err(|error| Failure::said(error.to_string()))?;
    let folder = builds.join(format!("{name}-{}", short_name(source)));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|error| Failure::said(format!("{} cannot be made: {error}.", folder.display())))?;
    Ok(folder)
}

/// A word that no other build on this machine uses at the same time.
pub fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
