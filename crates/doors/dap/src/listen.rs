//! Listening doors: each connection is checked, then served on a thread of its own.
//!
//! The first line on stdout says where, so that whoever started the door can connect.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use breakroom_hub::{PeerAccess, Process, peer_access};
use rustix::net::sockopt;
use tokio::signal::unix::{SignalKind, signal};

use crate::{DoorError, Options, io_error, serve_in};

/// A peer that vanished without a word is noticed after about a minute.
const KEEPALIVE: Duration = Duration::from_secs(30);
const USER_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn tcp(options: &Options, address: SocketAddr) -> Result<(), DoorError> {
    if !address.ip().is_loopback() {
        return Err(DoorError::NotLoopback(address));
    }
    let what = || format!("cannot listen on {address}");
    let listener = TcpListener::bind(address).map_err(|source| io_error(what(), source))?;
    let address = listener.local_addr().map_err(|source| io_error(what(), source))?;
    announce(&address.to_string())?;
    loop {
        match accept(&listener) {
            Ok((stream, peer)) => {
                let access = peer_access(address, peer);
                match both_ways(stream.into()) {
                    Ok(connection) => spawn(options, connection, access),
                    Err(error) => tracing::warn!("{peer} could not be served: {error}"),
                }
            }
            Err(error) => pause(&error),
        }
    }
}

pub(crate) fn unix(options: &Options, path: &Path) -> Result<(), DoorError> {
    let what = || format!("cannot listen on {}", path.display());
    if UnixStream::connect(path).is_ok() {
        return Err(DoorError::InUse(path.to_path_buf()));
    }
    remove_leftover(path).map_err(|source| io_error(what(), source))?;
    let listener = UnixListener::bind(path).map_err(|source| io_error(what(), source))?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600))
        .map_err(|source| io_error(what(), source))?;
    remove_at_the_end(path).map_err(|source| io_error(what(), source))?;
    announce(&path.display().to_string())?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => match same_user(&stream).and_then(|()| both_ways(stream.into())) {
                Ok(connection) => spawn(options, connection, PeerAccess::SameUser),
                Err(error) => tracing::warn!("a connection was refused: {error}"),
            },
            Err(error) => pause(&error),
        }
    }
}

fn announce(place: &str) -> Result<(), DoorError> {
    let mut stdout = io::stdout();
    let said = writeln!(stdout, "listening on {place}").and_then(|()| stdout.flush());
    said.map_err(|source| io_error("stdout cannot be written", source))
}

fn spawn(options: &Options, (input, output): (OwnedFd, OwnedFd), access: PeerAccess) {
    let place = match access {
        PeerAccess::SameUser => None,
        PeerAccess::NeedsToken => match Place::take() {
            Some(place) => Some(place),
            None => return tracing::debug!("too many connections of other users wait to be handed over"),
        },
    };
    let options = options.clone();
    std::thread::spawn(move || {
        if let Err(error) = serve_in(&options, input, output, access, Process::Shared, || drop(place)) {
            tracing::warn!("{error}");
        }
    });
}

/// How many connections of other users are being handed over. The hub limits those that it has; connections that come
/// faster than it takes them would cost this process its descriptors.
static WAITING: AtomicUsize = AtomicUsize::new(0);
const MOST_WAITING: usize = 64;

struct Place;

impl Place {
    fn take() -> Option<Place> {
        let place = Place;
        (WAITING.fetch_add(1, Ordering::Relaxed) < MOST_WAITING).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The next connection, set up so that a peer which is gone is noticed.
fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, peer) = listener.accept()?;
    prepare(&stream)?;
    Ok((stream, peer))
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE / 3)?;
    sockopt::set_tcp_keepcnt(stream, 3)?;
    sockopt::set_tcp_user_timeout(stream, u32::try_from(USER_TIMEOUT.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

fn same_user(stream: &UnixStream) -> io::Result<()> {
    let peer = sockopt::socket_peercred(stream)?;
    if peer.uid != rustix::process::getuid() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's"));
    }
    Ok(())
}

fn both_ways(socket: OwnedFd) -> io::Result<(OwnedFd, OwnedFd)> {
    Ok((socket.try_clone()?, socket))
}

/// Out of descriptors or memory: those who are inside go on, and the next one waits a moment.
fn pause(error: &io::Error) {
    tracing::warn!("a connection could not be accepted: {error}");
    std::thread::park_timeout(Duration::from_millis(100));
}

/// A socket that nobody listens on is left over; anything else at that path is not ours to remove.
fn remove_leftover(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn remove_at_the_end(path: &Path) -> io::Result<()> {
    let path = path.to_path_buf();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        let wait = async {
            let (mut terminate, mut interrupt) =
                (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            io::Result::Ok(())
        };
        if runtime.block_on(wait).is_ok() {
            let _ = std::fs::remove_file(&path);
            std::process::exit(0);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accepted_connection_whose_peer_vanished_is_noticed_within_a_minute() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = accept(&listener).unwrap();
        // One that sends nothing is asked whether it is there.
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        let (first, between) =
            (sockopt::tcp_keepidle(&stream).unwrap(), sockopt::tcp_keepintvl(&stream).unwrap());
        let silent = first + between * sockopt::tcp_keepcnt(&stream).unwrap();
        assert!(silent <= Duration::from_secs(60), "{silent:?}");
        // One that is sent something must acknowledge it.
        let unacknowledged = Duration::from_millis(sockopt::tcp_user_timeout(&stream).unwrap().into());
        assert!(!unacknowledged.is_zero() && unacknowledged <= Duration::from_secs(60), "{unacknowledged:?}");
        assert!(stream.nodelay().unwrap());
    }
}
