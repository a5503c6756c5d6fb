//! Files that decide what a build tool runs: those of the project's folder, and those that the tool takes from above it.
//!
//! The tools take them from whoever put them there, which in a shared folder like /tmp can be anybody.

use std::path::Path;

use breakroom_engines::has_known_owner;

use crate::failure::Failure;

/// A tool and the names of what steers it.
pub struct Steered {
    pub tool: &'static str,
    /// In the folder in which it is run.
    pub here: &'static [&'static str],
    /// There, and in every folder above up to the root of the machine.
    pub above: &'static [&'static str],
}

pub const CARGO: Steered = Steered {
    tool: "cargo",
    here: &[],
    above: &[
        "Cargo.toml",
        "rust-toolchain",
        "rust-toolchain.toml",
        ".cargo",
        ".cargo/config",
        ".cargo/config.toml",
    ],
};
pub const RUSTC: Steered =
    Steered { tool: "rustc", here: &[], above: &["rust-toolchain", "rust-toolchain.toml"] };
pub const GO: Steered = Steered { tool: "go", here: &[], above: &["go.mod", "go.work"] };
pub const CMAKE: Steered = Steered {
    tool: "cmake",
    here: &["CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json"],
    above: &[],
};
pub const DOTNET: Steered = Steered {
    tool: "dotnet",
    here: &[],
    above: &[
        "Directory.Build.props",
        "Directory.Build.targets",
        "Directory.Build.rsp",
        "Directory.Packages.props",
        "global.json",
        "NuGet.Config",
        "NuGet.config",
        "nuget.config",
    ],
};

/// Refuses to run the tool in a folder where somebody else than the user, root or the folder's owner steers it.
pub fn check(steered: &Steered, folder: &Path) -> Result<(), Failure> {
    let here = steered.here.iter().map(|name| folder.join(name));
    let above = folder.ancestors().flat_map(|above| steered.above.iter().map(move |name| above.join(name)));
    let foreign =
        |path: &std::path::PathBuf| path.symlink_metadata().is_ok() && !has_known_owner(path, folder);
    match here.chain(above).find(foreign) {
        Some(path) => Err(Failure::said(format!(
            "{} was put there by another user, and would decide what {} runs. Work in a folder that it does not reach.",
            path.display(),
            steered.tool
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_user_has_put_above_a_project_keeps_it_from_being_built() {
        let outside = tempfile::tempdir().unwrap();
        let project = outside.path().join("project");
        std::fs::create_dir_all(outside.path().join(".cargo")).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let config = outside.path().join(".cargo/config.toml");
        std::fs::write(&config, "").unwrap();
        let refusal = |steered: &Steered| check(steered, &project).err().map(|failure| failure.to_string());
        assert_eq!(refusal(&CARGO), None);
        // Only root can give files away; nobody else can play this.
        if std::os::unix::fs::chown(&config, Some(12345), None).is_ok() {
            let refused = refusal(&CARGO).unwrap();
            assert!(refused.contains(config.to_str().unwrap()) && refused.contains("cargo"), "{refused}");
            assert_eq!(refusal(&GO), None);
            // A lone file is compiled by a compiler that such a file may choose.
            let toolchain = outside.path().join("rust-toolchain.toml");
            std::fs::write(&toolchain, "").unwrap();
            assert_eq!(refusal(&RUSTC), None);
            std::os::unix::fs::chown(&toolchain, Some(12345), None).unwrap();
            assert!(refusal(&RUSTC).is_some_and(|refused| refused.contains("rustc")));
            std::os::unix::fs::chown(&project, Some(12345), None).unwrap();
            assert_eq!(refusal(&CARGO), None, "the project that was named is that user's too");
        }
    }
}
