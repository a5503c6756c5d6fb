//! Who is at the other end of a loopback TCP connection, read from the kernel's socket tables.
//!
//! TCP has no peer credentials, so the owner of the socket with the mirrored addresses is looked up.
//! A socket that nobody owns any more (closed, not yet accepted) has no user: the tables would say root.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
const STATE_LISTEN: u8 = 0x0A;
const READ_AHEAD: usize = 32 << 10;

struct Row {
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
    uid: u32,
}

/// The user whose socket is the `peer` end of a connection that is `local` on our side.
pub fn peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    let (local, peer) = (canonical(local), canonical(peer));
    find(|row| (row.local == peer && row.remote == local).then_some(row.uid))
}

/// The user who listens at `address`, or on every address with that port.
pub fn listener_uid(address: SocketAddr) -> io::Result<Option<u32>> {
    let address = canonical(address);
    let mut anywhere = None;
    let exact = find(|row| {
        let listens = row.state == STATE_LISTEN && row.local.port() == address.port();
        // The kernel prefers the exact address to the wildcard, so must we.
        if listens && row.local.ip().is_unspecified() {
            anywhere = anywhere.or(Some(row.uid));
        }
        (listens && row.local.ip() == address.ip()).then_some(row.uid)
    })?;
    Ok(exact.or(anywhere))
}

/// The first row that is `wanted`. Nothing is read beyond it: the kernel walks all its sockets for every table that is
/// read to the end, which takes milliseconds.
fn find(mut wanted: impl FnMut(Row) -> Option<u32>) -> io::Result<Option<u32>> {
    for table in TABLES {
        let file = match File::open(table) {
            Ok(file) => file,
            // A kernel without IPv6 has no second table.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::with_capacity(READ_AHEAD, file).lines().skip(1) {
            if let Some(found) = row(&line?).and_then(&mut wanted) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Columns: number, local, remote, state, queues, timer, retransmits, uid, timeout, inode.
fn row(line: &str) -> Option<Row> {
    let columns: Vec<&str> = line.split_ascii_whitespace().collect();
    if *columns.get(9)? == "0" {
        return None;
    }
    Some(Row {
        local: address(columns[1])?,
        remote: address(columns[2])?,
        state: u8::from_str_radix(columns[3], 16).ok()?,
        uid: columns[7].parse().ok()?,
    })
}

/// The kernel prints each 32-bit word of the address as a number of this machine, so its bytes are already in order.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match ip.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (index, chunk) in bytes.chunks_exact_mut(4).enumerate() {
                chunk.copy_from_slice(&word(index * 8)?);
            }
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, port)))
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

    #[test]
    fn the_peer_of_an_accepted_connection_is_this_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        assert_eq!(peer_uid(accepted.local_addr().unwrap(), peer).unwrap(), Some(own_uid()));
        assert_eq!(
            peer_uid(dialled.local_addr().unwrap(), dialled.peer_addr().unwrap()).unwrap(),
            Some(own_uid())
        );
    }

    #[test]
    fn a_peer_that_is_gone_or_not_yet_accepted_has_no_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, peer) = (dialled.local_addr().unwrap(), dialled.peer_addr().unwrap());
        assert_eq!(peer_uid(local, peer).unwrap(), None);
        let (accepted, _) = listener.accept().unwrap();
        drop(dialled);
        assert_eq!(peer_uid(accepted.local_addr().unwrap(), local).unwrap(), None);
    }

    #[test]
    fn a_listener_is_found_by_its_address_or_its_wildcard() {
        let exact = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(listener_uid(exact.local_addr().unwrap()).unwrap(), Some(own_uid()));
        let wild = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = wild.local_addr().unwrap().port();
        assert_eq!(listener_uid(SocketAddr::from(([127, 0, 0, 1], port))).unwrap(), Some(own_uid()));
        drop(exact);
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        if cfg!(target_endian = "little") {
            assert_eq!(address("0100007F:1F90"), Some("127.0.0.1:8080".parse().unwrap()));
            assert_eq!(
                address("0000000000000000FFFF00000100007F:0050"),
                Some("127.0.0.1:80".parse().unwrap())
            );
            assert_eq!(address("00000000000000000000000001000000:0050"), Some("[::1]:80".parse().unwrap()));
        }
        for bad in ["", ":", "0100007F", "0100007F:G", "01:1", "zzzzzzzz:1", "ééééé:1"] {
            assert_eq!(address(bad), None, "{bad}");
        }
        assert!(row("garbage").is_none() && row("").is_none());
    }
}
