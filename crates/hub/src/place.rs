//! Where the daemon listens: its socket's file, which others may remove, and its mark.
//!
//! Who comes in is the daemon's business.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use breakroom_engines::folders;

use crate::mark::Mark;

pub(crate) struct Place {
    path: PathBuf,
    /// Device and number of the socket's file.
    file: Option<(u64, u64)>,
    mark: Option<Mark>,
}

/// Whose the file at the socket's place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    /// Another daemon listens there.
    Others,
    Nobodys,
}

impl Place {
    /// The place of a daemon whose socket is bound at `path`.
    pub fn new(path: PathBuf) -> Self {
        let mut place = Place { file: identity(&path), path, mark: None };
        place.take_mark();
        place
    }

    fn take_mark(&mut self) {
        if self.mark.as_ref().is_some_and(Mark::is_seen) {
            return;
        }
        // Without it the hub is only harder to find.
        self.mark = Mark::take().inspect_err(|error| tracing::warn!("the mark of the hub: {error}")).ok();
    }

    fn whose(&self) -> Whose {
        match identity(&self.path) {
            None => Whose::Nobodys,
            found if found == self.file => Whose::Ours,
            Some(_) => Whose::Others,
        }
    }

    /// Makes the socket again if its file, or the folder that it is in, was removed.
    pub fn restore(&mut self) -> io::Result<Option<UnixListener>> {
        if self.whose() != Whose::Nobodys {
            return Ok(None);
        }
        folders::runtime_dir().map_err(io::Error::other)?;
        let listener = UnixListener::bind(&self.path)?;
        std::fs::set_permissions(&self.path, PermissionsExt::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        self.file = identity(&self.path);
        self.take_mark();
        tracing::warn!("the hub's socket {} was removed and is made again", self.path.display());
        Ok(Some(listener))
    }

    /// Callers that come after this start a hub of their own.
    pub fn give_up(&mut self) {
        if self.whose() == Whose::Ours {
            let _ = std::fs::remove_file(&self.path);
        }
        self.mark = None;
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
