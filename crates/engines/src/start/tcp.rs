//! Adapters that are met over TCP on the loopback: they listen for us, or they call us.
//!
//! A port is open to every user of the machine, so the one at the other end has to be ours.
//! The one connection that succeeds is the one that is used: most adapters accept only one.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use tokio::net::{TcpListener, TcpStream};

use super::ready::Signs;
use super::{Attempt, Engine};
use crate::connect::{Attempts, Connection, LOOKS, Pauses, Place};
use crate::error::{ConnectError, StartError, Tail};
use breakroom_ports as ports;

/// Somebody may take the port between our look and the adapter's.
const PORT_ATTEMPTS: usize = 3;

pub(super) async fn connect(attempt: &Attempt<'_>) -> Result<Engine, StartError> {
    let mut attempts_left = PORT_ATTEMPTS;
    loop {
        attempts_left -= 1;
        let address = free_address(attempt)?;
        let mut launched = attempt.launch(&address.port().to_string()).await?;
        let expected = format!("listen on {address}");
        let stderr = launched.stderr.try_clone();
        let stderr = stderr.map_err(|source| attempt.failed("a descriptor", source))?;
        let mut signs = attempt.signs(&launched)?;
        let meeting = async {
            attempt.ready(&stderr, &mut signs).await;
            dial(attempt, address, &mut signs).await
        };
        match attempt.meet(&mut launched, &expected, meeting).await {
            Ok(Connection { socket, place }) => {
                let engine = launched.over_socket(socket, Some(place));
                return engine.map_err(|source| attempt.failed("its connection", source));
            }
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
    let handed_over = || {
        stream.set_nodelay(true)?;
        // Who calls us does not listen.
        launched.over_socket(OwnedFd::from(stream.into_std()?), None)
    };
    handed_over().map_err(|source| attempt.failed("its connection", source))
}

fn free_address(attempt: &Attempt<'_>) -> Result<SocketAddr, StartError> {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|source| attempt.failed("a free port", source))
}

async fn dial(
    attempt: &Attempt<'_>,
    address: SocketAddr,
    signs: &mut Signs,
) -> Result<Connection, StartError> {
    let places = [Place::Tcp(address)];
    let mut attempts = Attempts { places: &places, last_error: None };
    let mut pauses = Pauses::default();
    let met = loop {
        match attempts.once().await {
            Some(met) => break met,
            None => signs.next(pauses.next()).await,
        }
    };
    met.map_err(|error| match error {
        ConnectError::Stranger { owner, .. } => {
            StartError::Port { name: attempt.spec.name.clone(), port: address.port(), owner }
        }
        error => attempt.failed("its connection", std::io::Error::other(error)),
    })
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
