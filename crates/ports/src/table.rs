//! The kernel's tables of TCP sockets, row by row.
//!
//! They are not read at one instant, so a row can be missed: whoever does not find one may look again.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::{Owner, canonical};

pub const ESTABLISHED: u8 = 0x01;
pub const LISTENING: u8 = 0x0A;

const READ_AHEAD: usize = 32 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub state: u8,
    /// None if no process has it: it is closed, or not yet accepted.
    pub owner: Option<Owner>,
}

/// The first row in the tables of this folder that is `wanted`. Nothing is read beyond it: the kernel walks all its sockets
/// for every table that is read to the end, which takes milliseconds.
pub fn find<T>(folder: &str, mut wanted: impl FnMut(Row) -> Option<T>) -> io::Result<Option<T>> {
    for table in ["tcp", "tcp6"] {
        let file = match File::open(format!("{folder}/{table}")) {
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
    let owner = Owner { uid: columns.get(7)?.parse().ok()?, socket: columns.get(9)?.parse().ok()? };
    Some(Row {
        local: address(columns[1])?,
        remote: address(columns[2])?,
        state: u8::from_str_radix(columns[3], 16).ok()?,
        owner: Some(owner).filter(|owner| owner.socket != 0),
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

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn a_row_is_somebodys_only_with_a_socket() {
        let line =
            |socket: &str| format!("  1: 00000000:0001 00000000:0002 0A 0:0 00:0 0  1000  0 {socket} 1 0");
        let there = row(&line("77")).unwrap();
        assert_eq!((there.state, there.owner), (LISTENING, Some(Owner { uid: 1000, socket: 77 })));
        assert_eq!((there.local.port(), there.remote.port()), (1, 2));
        assert_eq!(row(&line("0")).unwrap().owner, None);
        for bad in
            ["", "garbage", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"]
        {
            assert_eq!(row(bad), None, "{bad}");
        }
    }
}
