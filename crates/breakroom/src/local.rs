//! A session for a client inside this program: the terminal front and the demo are clients like any other.

use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};
use breakroom_door_dap::{DoorError, Hub, Options, Place, Session, serve};
use breakroom_hub::PeerAccess;

use crate::cli::this_program;

/// A connection to a hub, and the thread that keeps it. The connection's end ends the thread.
pub struct Local {
    pub stream: UnixStream,
    door: JoinHandle<Result<(), DoorError>>,
}

impl Local {
    pub fn connect(hub: Hub, session: Session) -> Result<Self> {
        let (stream, theirs) = UnixStream::pair().context("no socket pair")?;
        let output = theirs.try_clone().context("no socket pair")?;
        let options = Options { place: Place::Stdio, session, hub, executable: this_program()? };
        let door =
            std::thread::spawn(move || serve(&options, theirs.into(), output.into(), PeerAccess::SameUser));
        Ok(Local { stream, door })
    }

    /// Waits until the hub has let go of the session.
    pub fn finish(self) -> Result<()> {
        drop(self.stream);
        match self.door.join() {
            Ok(ended) => Ok(ended?),
            Err(_) => anyhow::bail!("the session ended by an error of the hub"),
        }
    }
}
