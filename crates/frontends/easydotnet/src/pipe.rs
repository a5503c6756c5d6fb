//! The unix socket that stands for .NET's named pipe: its name, its path and who may connect.
//!
//! The plugin computes the path from the printed name, so the rule is the plugin's. A file that is already at a path is
//! never removed: the name is random, and another one is tried.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::net::{Shutdown, sockopt};

/// Where .NET puts a named pipe on Unix, before its name.
const PREFIX: &str = "CoreFxPipe_";
const NAME: &str = "EasyDotnet_";
/// The shortest limit of the systems that the plugin runs on, with the final NUL.
const LONGEST_PATH: usize = 103;
const FEWEST_LETTERS: usize = 6;
const MOST_LETTERS: usize = 22;
const ATTEMPTS: usize = 16;

/// A bound socket. Dropping it removes its file.
#[derive(Debug)]
pub struct Pipe {
    pub listener: UnixListener,
    /// What the ready line says.
    pub name: String,
    path: PathBuf,
}

impl Pipe {
    pub fn bind(folder: &Path) -> io::Result<Pipe> {
        for _ in 0..ATTEMPTS {
            let name = random_name(folder)?;
            let path = path_of(folder, &name);
            // The file must never be open to others, not even for a moment.
            let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
            let bound = UnixListener::bind(&path);
            rustix::process::umask(before);
            match bound {
                Ok(listener) => {
                    let pipe = Pipe { listener, name, path };
                    std::fs::set_permissions(&pipe.path, PermissionsExt::from_mode(0o600))?;
                    return Ok(pipe);
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, "every random name that was tried is taken"))
    }

    /// Refuses connections from now on. A thread that waits for one gets an error.
    pub fn close(&self) {
        // First, because the process may end as soon as nothing is accepted.
        let _ = std::fs::remove_file(&self.path);
        // It fails only if the socket was closed before.
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The folder in which the plugin looks for the socket.
pub fn folder(variable: impl Fn(&str) -> Option<String>) -> PathBuf {
    let named =
        ["TMPDIR", "TEMP", "TMP"].into_iter().find_map(|name| variable(name).filter(|v| !v.is_empty()));
    named.unwrap_or_else(|| "/tmp".to_owned()).into()
}

/// The path of the socket with this name.
pub fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{name}"))
}

/// Refuses a peer that is another user.
pub fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = sockopt::socket_peercred(stream)?;
    if peer.uid == rustix::process::getuid() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the peer is another user"))
}

/// A name that is short enough for the path to fit.
fn random_name(folder: &Path) -> io::Result<String> {
    let taken = path_of(folder, NAME).as_os_str().len();
    let room = LONGEST_PATH.saturating_sub(taken).min(MOST_LETTERS);
    if room < FEWEST_LETTERS {
        let text = format!(
            "the path of a socket in {} would be longer than {LONGEST_PATH} bytes; set TMPDIR to a shorter folder",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut bytes = [0; MOST_LETTERS];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let letters = bytes.iter().take(room).map(|byte| char::from(b'a' + byte % 26));
    Ok(format!("{NAME}{}", letters.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_the_first_variable_that_says_one() {
        let of = |set: &[(&str, &str)]| {
            folder(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("TMPDIR", "/a"), ("TEMP", "/b"), ("TMP", "/c")]), Path::new("/a"));
        assert_eq!(of(&[("TMPDIR", ""), ("TEMP", "/b"), ("TMP", "/c")]), Path::new("/b"));
        assert_eq!(of(&[("TMP", "/c/")]), Path::new("/c"));
        assert_eq!(of(&[]), Path::new("/tmp"));
    }

    #[test]
    fn socket_is_for_its_user_only_and_gone_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = Pipe::bind(folder.path()).unwrap();
        let path = path_of(folder.path(), &pipe.name);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        check_peer(&UnixStream::connect(&path).unwrap()).unwrap();
        drop(pipe);
        assert!(!path.exists());
    }

    #[test]
    fn name_is_cut_for_a_long_folder_and_refused_for_a_longer_one() {
        let folder = tempfile::tempdir().unwrap();
        let begun = folder.path().as_os_str().len() + 1 + PREFIX.len() + NAME.len() + 1;
        let deep = folder.path().join("x".repeat(LONGEST_PATH - begun - FEWEST_LETTERS));
        std::fs::create_dir(&deep).unwrap();
        let pipe = Pipe::bind(&deep).unwrap();
        assert_eq!(path_of(&deep, &pipe.name).as_os_str().len(), LONGEST_PATH);
        let deeper = folder.path().join("x".repeat(LONGEST_PATH - begun - FEWEST_LETTERS + 1));
        std::fs::create_dir(&deeper).unwrap();
        let error = Pipe::bind(&deeper).unwrap_err().to_string();
        assert!(error.contains("TMPDIR"), "{error}");
    }
}
