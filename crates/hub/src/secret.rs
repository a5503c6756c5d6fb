//! The hub's token: what a connection of another user must bring.
//!
//! 256 random bits in a file that only its owner can read. It is never an argument, an environment variable or
//! part of a message.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use breakroom_engines::{folders, ports};
use breakroom_session::{Access, Token};

use crate::hello::PeerAccess;

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the hub's token cannot be kept: {0}")]
    Folder(#[from] folders::FolderError),
    #[error("the hub's token in {path} cannot be used: {source}; remove the file to get a new one")]
    File { path: PathBuf, source: io::Error },
}

/// Where the token is, made if there is none yet.
pub fn token() -> Result<(PathBuf, Token), SecretError> {
    let path = folders::runtime_dir()?.join("token");
    let fail = |source| SecretError::File { path: path.clone(), source };
    create(&path).map_err(fail)?;
    let text = read(&path).map_err(fail)?;
    Ok((path, Token::new(text.into_bytes())))
}

/// What a TCP peer must show: the same user may do everything, anybody else must bring the token.
pub fn peer_access(local: SocketAddr, peer: SocketAddr) -> PeerAccess {
    let ours = rustix::process::getuid().as_raw();
    // The table changes while it is read, and then a row may be missed.
    let uid = (0..3).find_map(|_| ports::peer_uid(local, peer).ok().flatten());
    if uid == Some(ours) { PeerAccess::SameUser } else { PeerAccess::NeedsToken }
}

pub(crate) fn access(peer: PeerAccess) -> io::Result<Access> {
    match peer {
        PeerAccess::SameUser => Ok(Access::Granted),
        PeerAccess::NeedsToken => {
            token().map(|(_, token)| Access::NeedsToken(token)).map_err(io::Error::other)
        }
    }
}

/// Writes a fresh token beside its place and links it in, so that two that start at once agree on one.
fn create(path: &PathBuf) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let fresh = path.with_extension(std::process::id().to_string());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    let linked = fs::hard_link(&fresh, path);
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn read(path: &PathBuf) -> io::Result<String> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.mode() & 0o077 != 0 || metadata.uid() != rustix::process::getuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others can read it"));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if text.len() != 64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a token"));
    }
    Ok(text)
}
