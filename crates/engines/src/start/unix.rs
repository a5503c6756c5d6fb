//! Adapters that listen on a unix socket.
//!
//! The socket is in a folder that only this user may enter and that is removed as soon as both have met,
//! or the start has failed.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::net::UnixStream;

use super::{Attempt, Engine};
use crate::connect::Place;
use crate::error::StartError;
use crate::folders;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// The kernel's limit for the path of a socket, without the closing NUL.
const LONGEST_PATH: usize = 107;

pub(super) async fn connect(attempt: &Attempt<'_>) -> Result<Engine, StartError> {
    let folder =
        MeetingFolder::create().map_err(|source| attempt.failed("a folder for its socket", source))?;
    let path = folder.socket();
    let place = path.to_str().ok_or(std::io::ErrorKind::InvalidFilename.into());
    let place = place.map_err(|source| attempt.failed("a name for its socket", source))?;
    let mut launched = attempt.launch(place).await?;
    let stream = attempt.meet(&mut launched, "listen on its socket", dial(&path)).await?;
    // An adapter that takes one client only, like CMake, removes its socket as soon as that has come.
    let place = Place::of_socket(&path).ok();
    let handed_over = || launched.over_socket(OwnedFd::from(stream.into_std()?), place);
    handed_over().map_err(|source| attempt.failed("its connection", source))
}

async fn dial(path: &Path) -> Result<UnixStream, StartError> {
    let mut pause = FIRST_PAUSE;
    loop {
        if let Ok(stream) = UnixStream::connect(path).await {
            return Ok(stream);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Removed with what is in it when it is dropped.
struct MeetingFolder(PathBuf);

impl MeetingFolder {
    fn create() -> std::io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let runtime = folders::runtime_dir().map_err(std::io::Error::other)?;
        let name = format!("adapter-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = MeetingFolder(runtime.join(name));
        if folder.socket().as_os_str().len() > LONGEST_PATH {
            let problem = format!(
                "{} is too long for a socket; set XDG_RUNTIME_DIR to a shorter one",
                folder.0.display()
            );
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidFilename, problem));
        }
        // A hub that was killed may have left one with the same number behind.
        let _ = std::fs::remove_dir_all(&folder.0);
        folders::private_folder(&folder.0).map_err(std::io::Error::other)?;
        Ok(folder)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for MeetingFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!("cannot remove {}: {error}", self.0.display());
        }
    }
}
