//! Rules about the source itself: which crate may use which, how files begin, what may not be in them.
//!
//! Style is rustfmt's and clippy's business; here is what they cannot see.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Which crates of ours a crate may depend on. A door is any crate in `crates/doors`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("breakroom-wire", &[]),
    ("breakroom-admission", &[]),
    ("breakroom-dap", &[]),
    ("breakroom-habits", &[]),
    ("breakroom-ports", &[]),
    ("breakroom-ide-protocol", &[]),
    ("breakroom-loopback-http", &["breakroom-admission"]),
    ("breakroom-session", &["breakroom-dap", "breakroom-habits"]),
    ("breakroom-engines", &["breakroom-habits", "breakroom-ports", "breakroom-wire"]),
    ("breakroom-launch", &["breakroom-engines"]),
    (
        "breakroom-hub",
        &[
            "breakroom-wire",
            "breakroom-admission",
            "breakroom-dap",
            "breakroom-session",
            "breakroom-engines",
            "breakroom-launch",
        ],
    ),
    ("breakroom-client", &["breakroom-wire"]),
    ("breakroom-debug-client", &["breakroom-client"]),
    (
        "a door",
        &[
            "breakroom-hub",
            "breakroom-admission",
            "breakroom-client",
            "breakroom-wire",
            "breakroom-dap",
            "breakroom-ide-protocol",
            "breakroom-loopback-http",
            "breakroom-debug-client",
            "breakroom-remote-runtime",
        ],
    ),
    ("breakroom-adapter", &["breakroom-wire"]),
    ("breakroom-ez", &[]),
    ("breakroom-ez-adapter", &["breakroom-adapter", "breakroom-ez"]),
    ("breakroom-ez-server", &["breakroom-adapter"]),
    ("breakroom-python-adapter", &["breakroom-ports", "breakroom-wire"]),
    ("breakroom-node-relay", &[]),
    ("breakroom-group-adapter", &["breakroom-adapter"]),
    ("breakroom-remote-runtime", &[]),
    ("breakroom-runtime-adapter", &["breakroom-adapter", "breakroom-remote-runtime", "breakroom-wire"]),
    (
        "breakroom",
        &[
            "breakroom-wire",
            "breakroom-dap",
            "breakroom-session",
            "breakroom-engines",
            "breakroom-launch",
            "breakroom-hub",
            "breakroom-client",
            "breakroom-debug-client",
            "breakroom-ez",
            "breakroom-ez-adapter",
            "breakroom-ez-server",
            "breakroom-python-adapter",
            "breakroom-node-relay",
            "breakroom-group-adapter",
            "breakroom-ide-protocol",
            "breakroom-runtime-adapter",
            "a door",
        ],
    ),
    ("breakroom-testkit", &["breakroom-wire"]),
    ("xtask", &[]),
];

/// Only tests may use it.
const TESTKIT: &str = "breakroom-testkit";

const LONGEST_FILE: usize = 800;

#[test]
fn dependencies_between_crates_point_one_way() {
    let packages = packages();
    let ours: Vec<&str> = packages.iter().map(name).collect();
    for package in &packages {
        let row = MAY_USE.iter().find(|(user, _)| *user == kind(name(package)));
        let (_, may_use) = row.unwrap_or_else(|| panic!("{} is new: add it to MAY_USE", name(package)));
        let dependencies = package["dependencies"].as_array().unwrap();
        for dependency in dependencies.iter().filter(|dependency| ours.contains(&name(dependency))) {
            let in_tests = dependency["kind"] == "dev" && name(dependency) == TESTKIT;
            let allowed = may_use.contains(&kind(name(dependency))) || in_tests;
            assert!(allowed, "{} may not depend on {}", name(package), name(dependency));
        }
    }
}

#[test]
fn the_session_does_no_input_or_output() {
    let packages = packages();
    let session = packages.iter().find(|package| name(package) == "breakroom-session").unwrap();
    for dependency in session["dependencies"].as_array().unwrap() {
        assert!(!["tokio", "rustix"].contains(&name(dependency)), "session depends on {}", name(dependency));
    }
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for (path, text) in rust_files() {
        assert!(text.starts_with("//!"), "{} does not begin with //!", path.display());
    }
}

#[test]
fn no_source_file_is_too_long() {
    for (path, text) in rust_files() {
        let in_source = path.components().any(|part| part.as_os_str() == "src");
        let lines = text.lines().count();
        assert!(!in_source || lines <= LONGEST_FILE, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn modules_are_named_after_their_file() {
    for (path, _) in rust_files() {
        assert_ne!(path.file_name().unwrap(), "mod.rs", "{}: use foo.rs and foo/bar.rs", path.display());
    }
}

#[test]
fn no_test_is_ignored() {
    // In two parts, or this file would be found.
    let attribute = ["#[ign", "ore"].concat();
    for (path, text) in rust_files() {
        assert!(!text.contains(&attribute), "{} ignores a test", path.display());
    }
}

#[test]
fn no_path_of_one_machine_is_in_the_source() {
    for word in [["/ro", "ot/"].concat(), ["/wo", "rk/"].concat()] {
        for path in files(&workspace()) {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let line = text.lines().position(|line| line.contains(&word));
            assert!(line.is_none(), "{}:{} has {word}", path.display(), line.unwrap_or_default() + 1);
        }
    }
}

fn kind(name: &str) -> &str {
    let is_front_end =
        ["breakroom-door-", "breakroom-frontend-"].iter().any(|prefix| name.starts_with(prefix));
    if is_front_end { "a door" } else { name }
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--offline", "--no-deps", "--format-version", "1"]).current_dir(workspace());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn rust_files() -> impl Iterator<Item = (PathBuf, String)> {
    let files = ["crates", "xtask"].into_iter().flat_map(|folder| files(&workspace().join(folder)));
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    })
}

/// All files below a folder but those that are built, git's own, or what a debugger that crashed in a test leaves behind.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let entries = entries.filter(|entry| {
        !["target", ".git", "node_modules", "core"].map(Into::into).contains(&entry.file_name())
    });
    entries
        .flat_map(
            |entry| {
                if entry.file_type().unwrap().is_dir() { files(&entry.path()) } else { vec![entry.path()] }
            },
        )
        .collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Licences that ask for nothing but their own text. cargo-deny says the same of every platform; this holds where it is
/// not installed.
const PERMISSIVE: [&str; 10] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "CC0-1.0",
];

#[test]
fn every_dependency_has_a_permissive_licence() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--offline", "--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(workspace())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.lines().count() > 50, "the dependencies are not listed");
    for line in text.lines().filter(|line| !line.is_empty() && !line.ends_with("(*)")) {
        let (package, licence) = line.split_once('|').unwrap();
        let fits = |choice: &str| {
            choice.split(" AND ").all(|one| PERMISSIVE.contains(&one.trim_matches(|c| "() ".contains(c))))
        };
        let choices = licence.replace('/', " OR ");
        assert!(choices.split(" OR ").any(fits), "{package} has the licence {licence}");
    }
}
