//! The private unix socket that sessions connect to.
//!
//! The folder must be the user's own and closed to others. A file that is already at a path is never removed: the name is
//! random, and another one is tried.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::net::{Shutdown, sockopt};

use crate::random;

/// The kernel's limit for the path of a unix socket, without the final NUL.
const LONGEST_PATH: usize = 107;
const NAME_LENGTH: usize = 8;
const ATTEMPTS: usize = 16;

/// A bound socket. Dropping it removes its file.
#[derive(Debug)]
pub struct PrivateSocket {
    pub listener: UnixListener,
    pub path: PathBuf,
}

impl PrivateSocket {
    /// Binds a socket with a random name in a folder that was checked to be private.
    pub fn bind(folder: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let path = folder.join(format!("bridge-{}", random::letters(NAME_LENGTH)?));
            if path.as_os_str().len() > LONGEST_PATH {
                let text = format!(
                    "the path of a socket in {} would be longer than {LONGEST_PATH} bytes; set XDG_RUNTIME_DIR to a shorter folder",
                    folder.display()
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            match UnixListener::bind(&path) {
                Ok(listener) => {
                    let socket = PrivateSocket { listener, path };
                    std::fs::set_permissions(&socket.path, PermissionsExt::from_mode(0o600))?;
                    return Ok(socket);
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, "every random name that was tried is taken"))
    }

    /// Refuses connections from now on. A thread that waits for one gets an error.
    pub fn close(&self) {
        // It fails only if the socket was closed before.
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
    }
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Refuses a peer that is another user.
pub fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = sockopt::socket_peercred(stream)?;
    if peer.uid == rustix::process::getuid() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the peer is another user"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_is_for_its_user_only_and_gone_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let socket = PrivateSocket::bind(folder.path()).unwrap();
        let path = socket.path.clone();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let stream = UnixStream::connect(&path).unwrap();
        check_peer(&stream).unwrap();
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn path_that_is_too_long_is_refused_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("x".repeat(100));
        std::fs::create_dir(&deep).unwrap();
        let error = PrivateSocket::bind(&deep).unwrap_err().to_string();
        assert!(error.contains("XDG_RUNTIME_DIR"), "{error}");
    }
}
