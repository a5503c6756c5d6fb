//! Descriptors that come from elsewhere: watching them, and closing those that nobody asked for.
//! The one place with unsafe code.
//!
//! The runtime's own types want to know what a descriptor is: a pipe, a TCP socket, a unix socket. Here it is
//! whatever an editor had as its stdin, so the runtime is given the bare descriptor.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use rustix::fs::OFlags;
use tokio::io::unix::AsyncFd;

/// Makes the descriptor non-blocking and has the runtime watch it.
#[allow(unsafe_code)]
pub(crate) fn watched(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
    // SAFETY: the descriptor must stay open and the same for as long as it is watched. It is owned by the `AsyncFd`,
    // and an `OwnedFd` neither changes nor closes its descriptor before it is dropped.
    unsafe { AsyncFd::register(fd) }.map_err(Into::into)
}

/// Closes everything but stdin, stdout and stderr. A daemon that kept the pipes of the editor that happened to start it
/// would keep whoever reads them waiting for an end that never comes.
///
/// To be called before anything else is opened.
#[allow(unsafe_code)]
pub fn close_inherited() -> io::Result<()> {
    let number =
        |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse::<RawFd>().ok();
    let open: Vec<RawFd> = std::fs::read_dir("/proc/self/fd")?.filter_map(number).collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // The listing itself was open while it was read and is closed by now.
        if std::fs::symlink_metadata(format!("/proc/self/fd/{descriptor}")).is_ok() {
            // SAFETY: nothing in this process has opened a descriptor yet, so what is open was inherited, belongs to
            // no object, and becomes owned here for the first time.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
    }
    Ok(())
}
