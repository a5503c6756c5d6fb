//! Adapters that listen on a unix socket.
//!
//! The socket is in a folder that only this user may enter and that is removed when nothing of the adapter is left,
//! or the start has failed.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

use super::ready::Signs;
use super::{Attempt, Engine};
use crate::connect::{Pauses, Place};
use crate::error::StartError;
use crate::folders;

/// The kernel's limit for the path of a socket, without the closing NUL.
const LONGEST_PATH: usize = 107;
const SOCKET: &str = "s";

pub(super) async fn connect(attempt: &Attempt<'_>) -> Result<Engine, StartError> {
    let folder =
        MeetingFolder::create().map_err(|source| attempt.failed("a folder for its socket", source))?;
    let path = folder.socket();
    let place = path.to_str().ok_or(std::io::ErrorKind::InvalidFilename.into());
    let place = place.map_err(|source| attempt.failed("a name for its socket", source))?;
    let mut launched = attempt.launch_in(place, Some(folder.0.clone())).await?;
    let stderr = launched.stderr.try_clone();
    let stderr = stderr.map_err(|source| attempt.failed("a descriptor", source))?;
    let mut signs = attempt.signs(&launched)?.or_in(&folder.0);
    let meeting = async {
        attempt.ready(&stderr, &mut signs).await;
        dial(&path, signs).await
    };
    let stream = attempt.meet(&mut launched, "listen on its socket", meeting).await?;
    // An adapter that takes one client only, like CMake, removes its socket as soon as that has come.
    let place = Place::of_socket(&path).ok();
    let handed_over = || {
        let mut engine = launched.over_socket(OwnedFd::from(stream.into_std()?), place)?;
        engine.process.is_met_in(folder);
        Ok(engine)
    };
    handed_over().map_err(|source| attempt.failed("its connection", source))
}

async fn dial(path: &Path, mut signs: Signs) -> Result<UnixStream, StartError> {
    let (mut pauses, mut moments) = (Pauses::default(), Pauses::of_a_moment());
    loop {
        match UnixStream::connect(path).await {
            Ok(stream) => return Ok(stream),
            // It is there and will listen at once.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => signs.next(moments.next()).await,
            Err(_) => signs.next(pauses.next()).await,
        }
    }
}

/// Removed with what is in it when it is dropped.
#[derive(Debug)]
pub(crate) struct MeetingFolder(PathBuf);

impl MeetingFolder {
    fn create() -> std::io::Result<Self> {
        let runtime = folders::runtime_dir().map_err(std::io::Error::other)?;
        MeetingFolder::create_in(&runtime)
    }

    /// Hubs in two containers may share the folder and have the same number, so the name is drawn, and nothing that is
    /// there already is touched.
    fn create_in(runtime: &Path) -> std::io::Result<Self> {
        let mut drawn = [0; 4];
        getrandom::fill(&mut drawn).map_err(std::io::Error::other)?;
        let name = format!("adapter-{:08x}", u32::from_ne_bytes(drawn));
        let path = runtime.join(name);
        if path.join(SOCKET).as_os_str().len() > LONGEST_PATH {
            let problem =
                format!("{} is too long for a socket; set XDG_RUNTIME_DIR to a shorter one", path.display());
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidFilename, problem));
        }
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(MeetingFolder(path))
    }

    fn socket(&self) -> PathBuf {
        self.0.join(SOCKET)
    }
}

impl Drop for MeetingFolder {
    fn drop(&mut self) {
        // The guard may have been faster.
        if let Err(error) = std::fs::remove_dir_all(&self.0)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!("cannot remove {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_hub_of_the_same_number_has_there_stays() {
        let runtime = tempfile::tempdir().unwrap();
        let others = (0..64).map(|count| format!("adapter-{}-{count}", std::process::id()));
        let others: Vec<PathBuf> = others.map(|name| runtime.path().join(name).join(SOCKET)).collect();
        for socket in &others {
            std::fs::create_dir(socket.parent().unwrap()).unwrap();
            std::fs::write(socket, "").unwrap();
        }
        let ours = [(); 2].map(|()| MeetingFolder::create_in(runtime.path()).unwrap());
        assert_ne!(ours[0].0, ours[1].0);
        drop(ours);
        assert_eq!(others.iter().find(|socket| !socket.exists()), None);
        assert_eq!(std::fs::read_dir(runtime.path()).unwrap().count(), others.len());
    }
}
