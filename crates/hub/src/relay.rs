//! Terminals and files cannot be watched by the hub, so a thread carries their bytes through a pipe.
//!
//! Pipes and sockets are left as they are, so that no message has to pass a second process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::fs::FileType;

/// A client's streams as something the hub can watch.
#[derive(Debug)]
pub struct Passable {
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub relayed: Relayed,
}

/// What is still on its way to the client after the hub has let go of it.
#[derive(Debug)]
pub struct Relayed(Option<JoinHandle<()>>);

impl Relayed {
    /// Waits until everything is written. A process that ended earlier would cut off the last answers.
    pub fn finish(self) {
        if let Some(carrier) = self.0 {
            // It only copies; should that panic, there is nothing left to wait for.
            let _ = carrier.join();
        }
    }
}

/// Each stream itself if it is a pipe or a socket, else a relay.
pub fn passable(input: OwnedFd, output: OwnedFd) -> io::Result<Passable> {
    let input = if watchable(&input)? {
        input
    } else {
        let (read, write) = pipe()?;
        carry(input, write);
        read
    };
    let (output, carrier) = if watchable(&output)? {
        (output, None)
    } else {
        let (read, write) = pipe()?;
        (write, Some(carry(read, output)))
    };
    Ok(Passable { input, output, relayed: Relayed(carrier) })
}

fn watchable(fd: impl AsFd) -> io::Result<bool> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
    Ok(matches!(kind, FileType::Fifo | FileType::Socket))
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// Ends when either side does; closing the other is how that is passed on.
fn carry(from: OwnedFd, to: OwnedFd) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut from, mut to) = (std::fs::File::from(from), std::fs::File::from(to));
        let _ = io::copy(&mut from, &mut to);
    })
}
