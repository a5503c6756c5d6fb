//! Who is at the other end of a loopback TCP connection, asked of the kernel or read from its socket tables.
//!
//! TCP has no peer credentials, so the owner of the socket with the mirrored addresses is looked up.
//! A socket that nobody owns any more (closed, not yet accepted) has no user: the tables would say root.

mod asked;
mod table;

use std::io;
use std::net::SocketAddr;

pub use table::{ESTABLISHED, LISTENING, Row, find};

const TABLES: &str = "/proc/net";

/// Whose a socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub uid: u32,
    /// As the kernel numbers it, the same for every process that holds it.
    pub socket: u64,
}

/// The owner of the socket that is the `peer` end of a connection that is `local` on our side.
pub fn peer_owner(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<Owner>> {
    let (local, peer) = (canonical(local), canonical(peer));
    if let Ok(socket) = asked::socket(peer, local) {
        // A listener is asked about when there is no such connection.
        return Ok(socket.owner.filter(|_| socket.state != LISTENING));
    }
    peer_in_tables(local, peer)
}

/// The user whose socket that is.
pub fn peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    Ok(peer_owner(local, peer)?.map(|owner| owner.uid))
}

fn peer_in_tables(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<Owner>> {
    find(TABLES, |row| row.owner.filter(|_| row.local == peer && row.remote == local))
}

/// The user who listens at `address`, or on every address with that port.
pub fn listener_uid(address: SocketAddr) -> io::Result<Option<u32>> {
    let address = canonical(address);
    // Nobody is connected from that port.
    let nobody = SocketAddr::new(address.ip(), 0);
    let owner = match asked::socket(address, nobody) {
        Ok(socket) => socket.owner.filter(|_| socket.state == LISTENING),
        Err(_) => listener_in_tables(address)?,
    };
    Ok(owner.map(|owner| owner.uid))
}

fn listener_in_tables(address: SocketAddr) -> io::Result<Option<Owner>> {
    let mut anywhere = None;
    let exact = find(TABLES, |row| {
        let owner = row.owner?;
        let listens = row.state == LISTENING && row.local.port() == address.port();
        // The kernel prefers the exact address to the wildcard, so must we.
        if listens && row.local.ip().is_unspecified() {
            anywhere = anywhere.or(Some(owner));
        }
        (listens && row.local.ip() == address.ip()).then_some(owner)
    })?;
    Ok(exact.or(anywhere))
}

/// `::ffff:127.0.0.1` and `127.0.0.1` are the same place, and one end may say it one way and the other the other.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn own_uid() -> u32 {
        rustix::process::getuid().as_raw()
    }

    /// By both ways, which never differ.
    fn peer(local: SocketAddr, peer: SocketAddr) -> Option<u32> {
        let owner = peer_owner(local, peer).unwrap();
        assert_eq!(peer_in_tables(local, peer).unwrap(), owner);
        assert_eq!(peer_uid(local, peer).unwrap(), owner.map(|owner| owner.uid));
        owner.map(|owner| owner.uid)
    }

    fn listens_at(address: SocketAddr) -> Option<u32> {
        let uid = listener_uid(address).unwrap();
        assert_eq!(listener_in_tables(address).unwrap().map(|owner| owner.uid), uid);
        uid
    }

    #[test]
    fn the_peer_of_an_accepted_connection_is_this_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, client) = listener.accept().unwrap();
        assert_eq!(peer(accepted.local_addr().unwrap(), client), Some(own_uid()));
        assert_eq!(peer(dialled.local_addr().unwrap(), dialled.peer_addr().unwrap()), Some(own_uid()));
    }

    #[test]
    fn a_peer_that_is_gone_or_not_yet_accepted_has_no_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, server) = (dialled.local_addr().unwrap(), dialled.peer_addr().unwrap());
        assert_eq!(peer(local, server), None);
        let (accepted, _) = listener.accept().unwrap();
        drop(dialled);
        assert_eq!(peer(accepted.local_addr().unwrap(), local), None);
        assert_eq!(peer(SocketAddr::new(local.ip(), 1), server), None, "somebody else only listens there");
    }

    #[test]
    fn a_listener_is_found_by_its_address_or_its_wildcard() {
        let exact = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = exact.local_addr().unwrap();
        assert_eq!(listens_at(address), Some(own_uid()));
        let wild = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = wild.local_addr().unwrap().port();
        assert_eq!(listens_at(SocketAddr::from(([127, 0, 0, 1], port))), Some(own_uid()));
        drop(exact);
        assert_eq!(listens_at(address), None);
    }
}
