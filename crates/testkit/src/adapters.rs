//! Where the real adapters of the tests are, and which ones were left out by hand.
//!
//! It finds and never installs: `cargo xtask test` installs. An adapter that is missing and was not skipped fails the test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder `cargo xtask test` installs into and the catalog looks into first.
pub fn folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|cache| Path::new(cache).is_absolute());
    let cache =
        cache.map(PathBuf::from).or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    cache.expect("HOME or XDG_CACHE_HOME is set").join("breakroom/adapters")
}

/// Whether tests of this adapter were left out with `cargo xtask test --skip NAME`; says so on stderr.
pub fn skipped(name: &str) -> bool {
    let skip = std::env::var("TESTKIT_SKIP").unwrap_or_default();
    let skipped = skip.split(',').any(|skipped| skipped == name);
    if skipped {
        eprintln!("skipped: this test needs {name}, which was left out by hand (--skip {name})");
    }
    skipped
}

/// debugpy's adapter on stdio. None: skipped by hand.
pub fn debugpy() -> Option<Command> {
    if skipped("debugpy") {
        return None;
    }
    let adapter = folder().join("debugpy/debugpy/adapter");
    assert!(adapter.exists(), "debugpy is not in {}: run `cargo xtask test` once", folder().display());
    let mut command = Command::new("python3");
    command.arg(adapter);
    Some(command)
}

/// lldb-dap on stdio. None: skipped by hand.
pub fn lldb() -> Option<Command> {
    if skipped("lldb") {
        return None;
    }
    let adapter = folder().join("lldb/usr/lib/llvm-19/bin/lldb-dap");
    assert!(adapter.exists(), "lldb is not in {}: run `cargo xtask test` once", folder().display());
    Some(Command::new(adapter))
}

/// The first program of this name on the PATH.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
