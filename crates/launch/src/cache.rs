//! Folders of ours for what is built: one for each source, found again by the source's path.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use breakroom_engines::{Context, folders};

use crate::failure::Failure;

/// The folder for what is made of this source. It is there afterwards.
pub fn folder_for(source: &Path, context: &Context) -> Result<PathBuf, Failure> {
    let name = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = folders::builds_dir(context).join(format!("{name}-{:016x}", fnv(source)));
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

/// FNV-1a: a short name for a path of any length.
fn fnv(path: &Path) -> u64 {
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
