//! Waiting for any descriptor to become readable or writable. The one place with unsafe code.
//!
//! The runtime's own types want to know what a descriptor is: a pipe, a TCP socket, a unix socket. Here it is
//! whatever an editor had as its stdin, so the runtime is given the bare descriptor.

use std::io;
use std::os::fd::OwnedFd;

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
