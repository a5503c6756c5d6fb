//! Adapters that are met over TCP on the loopback: they listen for us, or they call us.
//!
//! A port is open to every user of the machine, so the one at the other end has to be ours.
//! The one connection that succeeds is the one that is used: most adapters accept only one.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use super::{Attempt, Engine, Launched};
use crate::error::{StartError, Tail};
use crate::ports;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Somebody may take the port between our look and the adapter's.
const PORT_ATTEMPTS: usize = 3;
/// The kernel's table is not read at one instant, so a row can be missed once.
const LOOKS: usize = 3;

pub(super) async fn connect(attempt: &Attempt<'_>) -> Result<Engine, StartError> {
    let mut attempts_left = PORT_ATTEMPTS;
    loop {
        attempts_left -= 1;
        let address = free_address(attempt)?;
        let mut launched = attempt.launch(&address.port().to_string()).await?;
        let expected = format!("listen on {address}");
        match attempt.meet(&mut launched, &expected, dial(attempt, address)).await {
            Ok(stream) => return engine(attempt, launched, stream),
            Err(StartError::Died { tail, .. }) if attempts_left > 0 && says_port_is_taken(&tail) => {}
            Err(error @ StartError::Port { .. }) if attempts_left > 0 => tracing::warn!("{error}"),
            Err(error) => return Err(error),
        }
    }
}

pub(super) async fn callback(attempt: &Attempt<'_>) -> Result<Engine, StartError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map_err(|source| attempt.failed("a port to listen on", source))?;
    let address = listener.local_addr().map_err(|source| attempt.failed("a port to listen on", source))?;
    let mut launched = attempt.launch(&address.port().to_string()).await?;
    let expected = format!("connect to {address}");
    let stream = attempt.meet(&mut launched, &expected, accept(attempt, &listener)).await?;
    engine(attempt, launched, stream)
}

fn engine(attempt: &Attempt<'_>, launched: Launched, stream: TcpStream) -> Result<Engine, StartError> {
    let handed_over = || {
        stream.set_nodelay(true)?;
        launched.over_socket(OwnedFd::from(stream.into_std()?))
    };
    handed_over().map_err(|source| attempt.failed("its connection", source))
}

fn free_address(attempt: &Attempt<'_>) -> Result<SocketAddr, StartError> {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|source| attempt.failed("a free port", source))
}

async fn dial(attempt: &Attempt<'_>, address: SocketAddr) -> Result<TcpStream, StartError> {
    let mut pause = FIRST_PAUSE;
    loop {
        if let Ok(stream) = TcpStream::connect(address).await
            && !is_connected_to_itself(&stream)
        {
            return check_owner(attempt, stream, address);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A port that nobody listens on yet may be given to the very socket that dials it, which then meets itself.
fn is_connected_to_itself(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(local), Ok(peer)) if local == peer)
}

fn check_owner(
    attempt: &Attempt<'_>,
    stream: TcpStream,
    address: SocketAddr,
) -> Result<TcpStream, StartError> {
    let look = || {
        let local = stream.local_addr().ok()?;
        // Until it is accepted our connection has no owner but the listener; afterwards there may be no listener.
        ports::listener_uid(address).ok()?.or(ports::peer_uid(local, address).ok()?)
    };
    let owner = (0..LOOKS).find_map(|_| look());
    match owner {
        Some(uid) if uid == rustix::process::getuid().as_raw() => Ok(stream),
        Some(uid) => Err(refused(attempt, address.port(), format!("a process of user {uid}"))),
        None => Err(refused(attempt, address.port(), "an unknown process".into())),
    }
}

fn refused(attempt: &Attempt<'_>, port: u16, owner: String) -> StartError {
    StartError::Port { name: attempt.spec.name.clone(), port, owner }
}

/// Takes the first connection that comes from a process of this user; the others are closed unread.
async fn accept(attempt: &Attempt<'_>, listener: &TcpListener) -> Result<TcpStream, StartError> {
    loop {
        let (stream, peer) =
            listener.accept().await.map_err(|source| attempt.failed("the adapter's connection", source))?;
        let look = || ports::peer_uid(stream.local_addr().ok()?, peer).ok()?;
        match (0..LOOKS).find_map(|_| look()) {
            Some(uid) if uid == rustix::process::getuid().as_raw() => return Ok(stream),
            owner => tracing::warn!("refused a connection from {peer} (user {owner:?}) meant for an adapter"),
        }
    }
}

fn says_port_is_taken(tail: &Tail) -> bool {
    let text = tail.0.to_ascii_lowercase();
    text.contains("address already in use") || text.contains("eaddrinuse")
}
