//! The files in which the output of a run is kept: `RUN_ID.out` and `RUN_ID.err`.
//!
//! A run id becomes part of a path, so only a safe one is accepted. What is written into the files is the hub's business.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use breakroom_hub::OutputFiles;
use rustix::fs::OFlags;

const LONGEST_ID: usize = 128;

/// Creates the folder, for its user only, if it is missing.
pub fn create_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens the files of a run, or says why they cannot be used.
pub fn open(folder: &Path, run: &str) -> Result<OutputFiles, String> {
    check(run)?;
    let file = |ending: &str| {
        let path = folder.join(format!("{run}.{ending}"));
        create(&path).map_err(|error| format!("cannot create {}: {error}", path.display()))
    };
    Ok(OutputFiles { out: file("out")?.into(), err: file("err")?.into() })
}

fn check(run: &str) -> Result<(), String> {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_valid =
        (1..=LONGEST_ID).contains(&run.len()) && run.bytes().all(is_safe) && run != "." && run != "..";
    match is_valid {
        true => Ok(()),
        false => Err(format!(
            "it must have 1 to {LONGEST_ID} of the characters A-Z a-z 0-9 . _ -, and not be . or .."
        )),
    }
}

/// Continues a file of an earlier connection of the run. A link is never followed.
fn create(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
    OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_id_that_could_leave_the_folder_is_refused() {
        for run in ["", ".", "..", "a/b", "../x", "a b", "\u{e9}", &"x".repeat(129)] {
            assert!(check(run).is_err(), "{run:?}");
        }
        for run in ["run-1", "a.b_c", "...", &"x".repeat(128)] {
            assert!(check(run).is_ok(), "{run:?}");
        }
    }

    #[test]
    fn link_in_place_of_a_log_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::fs::write(&target, "precious").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join("r.out")).unwrap();
        let error = open(folder.path(), "r").unwrap_err();
        assert!(error.contains("r.out"), "{error}");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    }
}
