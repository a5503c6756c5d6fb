//! Terminals and files cannot be watched by the hub, so a thread carries their bytes through a pipe.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::FileType;

/// The same stream as something the hub can watch: itself if it is a pipe or a socket, else a relay.
pub fn passable(input: OwnedFd, output: OwnedFd) -> io::Result<(OwnedFd, OwnedFd)> {
    let input = if watchable(&input)? {
        input
    } else {
        let (read, write) = pipe()?;
        carry(input, write);
        read
    };
    let output = if watchable(&output)? {
        output
    } else {
        let (read, write) = pipe()?;
        carry(read, output);
        write
    };
    Ok((input, output))
}

fn watchable(fd: impl AsFd) -> io::Result<bool> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
    Ok(matches!(kind, FileType::Fifo | FileType::Socket))
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// Ends when either side does; closing the other is how that is passed on.
fn carry(from: OwnedFd, to: OwnedFd) {
    std::thread::spawn(move || {
        let (mut from, mut to) = (std::fs::File::from(from), std::fs::File::from(to));
        let _ = io::copy(&mut from, &mut to);
    });
}
