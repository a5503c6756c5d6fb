//! `cargo xtask vsix`: packages `editors/vscode` as an extension that VS Code installs.
//!
//! The version is that of the workspace, the licence its two texts. It publishes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{needs, run_in, workspace};

pub fn package(arguments: &[String]) -> Result<()> {
    let workspace = workspace()?;
    let file = match arguments {
        [] => workspace.join("target/breakroom.vsix"),
        [file] => std::path::absolute(file)?,
        _ => bail!("cargo xtask vsix takes one file at most"),
    };
    let folder = stage(&workspace, &file)?;
    let mut vsce = Command::new("node");
    vsce.arg(needs::provide_vsce()?).args(["package", env!("CARGO_PKG_VERSION")]);
    vsce.args(["--no-update-package-json", "--no-git-tag-version", "--no-dependencies"]);
    vsce.args(["--allow-missing-repository", "--out"]).arg(&file).stdin(Stdio::null());
    let packaged = run_in(&folder, &mut vsce);
    let removed = fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()));
    packaged.and(removed)
}

/// A copy of the extension with the licence in it, beside the file that is made.
fn stage(workspace: &Path, file: &Path) -> Result<PathBuf> {
    let folder = file.with_extension("staged");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for entry in fs::read_dir(workspace.join("editors/vscode"))? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    let texts = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| fs::read_to_string(workspace.join(name)));
    let texts = texts.into_iter().collect::<Result<Vec<_>, _>>()?;
    fs::write(folder.join("LICENSE.txt"), texts.join("\n"))?;
    Ok(folder)
}
