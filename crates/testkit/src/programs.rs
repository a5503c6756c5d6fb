//! Programs that a test makes and then has executed: scripts that stand for a tool, copies of a binary.
//!
//! Another process writes them. A test that wrote one itself would hold it open for writing, a child that some other
//! test forks at that moment would inherit the descriptor, and executing the file would fail with `ETXTBSY`.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// An executable file with this content; its folder is made where it is missing.
pub fn write_program(path: &Path, content: impl AsRef<[u8]>) {
    let folder = path.parent().expect("a program is in a folder");
    fs::create_dir_all(folder).expect("the folder is writable");
    let mut text = tempfile::tempfile().expect("the temp folder is writable");
    std::io::Write::write_all(&mut text, content.as_ref()).expect("the temp folder has room");
    std::io::Seek::rewind(&mut text).expect("a file can be read again");
    install(text, path);
}

/// An executable copy of `from`.
pub fn copy_program(from: &Path, to: &Path) {
    install(File::open(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())), to);
}

fn install(content: File, path: &Path) {
    let script = "umask 022 && rm -f -- \"$1\" && cat > \"$1\" && chmod 755 -- \"$1\"";
    let mut shell = Command::new("/bin/sh");
    let done = shell.args(["-c", script, "sh"]).arg(path).stdin(Stdio::from(content)).status();
    assert!(done.is_ok_and(|status| status.success()), "{} cannot be written", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_however_many_processes_other_threads_start() {
        let folder = tempfile::tempdir().unwrap();
        let _others: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..100).for_each(|_| drop(Command::new("/bin/true").status()))))
            .collect();
        for round in 0..100 {
            let path = folder.path().join(format!("tool{round}"));
            write_program(&path, "#!/bin/sh\nexit 7\n");
            assert_eq!(Command::new(&path).status().unwrap().code(), Some(7));
        }
    }
}
