//! One TCP socket of this machine, asked of the kernel by its two addresses.
//!
//! That is some microseconds where a table is milliseconds, but not every kernel answers, nor every sandbox lets ask:
//! whoever gets no answer has to read the tables.

use std::io;
use std::net::{IpAddr, SocketAddr};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, netlink};

use crate::Owner;

/// `SOCK_DIAG_BY_FAMILY`: both the question and its answer.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`: one socket is meant, and not all that fit.
const REQUEST: u16 = 1;
const HEADER: usize = 16;
const ANSWER: usize = HEADER + 72;
const NUMBER: u32 = 1;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Socket {
    pub state: u8,
    /// None if no process has it: it is closed, or not yet accepted.
    pub owner: Option<Owner>,
}

/// The socket at `local` that is connected to `remote`, else the one that would accept such a connection.
pub(super) fn socket(local: SocketAddr, remote: SocketAddr) -> io::Result<Socket> {
    let answer = answer(&question(local, remote))?;
    read(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the kernel knows no such socket"))
}

fn answer(question: &[u8]) -> io::Result<Vec<u8>> {
    let protocol = Some(netlink::SOCK_DIAG);
    let kernel =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
    rustix::net::send(&kernel, question, SendFlags::empty())?;
    let mut answer = vec![0; 512];
    // It is there when the question is sent. Should it not be, waiting would not bring it.
    let (size, _) = rustix::net::recv(&kernel, &mut answer, RecvFlags::DONTWAIT)?;
    answer.truncate(size);
    Ok(answer)
}

fn question(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let [family, _] = family.as_raw().to_le_bytes();
    let [protocol, ..] = ipproto::TCP.as_raw().get().to_le_bytes();
    let mut body = vec![family, protocol, 0, 0];
    // In every state.
    body.extend(u32::MAX.to_ne_bytes());
    body.extend(local.port().to_be_bytes());
    body.extend(remote.port().to_be_bytes());
    body.extend(octets(local.ip()));
    body.extend(octets(remote.ip()));
    // At any interface, and whatever its cookie is.
    for word in [0, u32::MAX, u32::MAX] {
        body.extend(word.to_ne_bytes());
    }
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(u32::try_from(HEADER + body.len()).unwrap_or_default().to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend(NUMBER.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    message.extend(body);
    message
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => {
            let mut octets = [0; 16];
            octets[..4].copy_from_slice(&ip.octets());
            octets
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// None if it is a refusal, or nothing that was asked for.
fn read(answer: &[u8]) -> Option<Socket> {
    let word = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    if answer.len() < ANSWER || kind != BY_FAMILY || word(8)? != NUMBER {
        return None;
    }
    let (uid, inode) = (word(HEADER + 64)?, word(HEADER + 68)?);
    let owner = Owner { uid, socket: inode.into() };
    Some(Socket { state: answer[HEADER + 1], owner: (inode != 0).then_some(owner) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ESTABLISHED, LISTENING};
    use std::net::{TcpListener, TcpStream};

    /// The state and the user of such a socket.
    fn found(local: SocketAddr, remote: SocketAddr) -> (u8, Option<u32>) {
        let socket = socket(local, remote).unwrap();
        (socket.state, socket.owner.map(|owner| owner.uid))
    }

    /// Whether this kernel answers such questions, found without the one that is tested: it is asked for all sockets of
    /// TCP, of which there is one at least, with nothing said about which.
    fn can_be_asked() -> bool {
        let _one = TcpListener::bind("127.0.0.1:0").unwrap();
        let [family, _] = AddressFamily::INET.as_raw().to_le_bytes();
        // `NLM_F_REQUEST | NLM_F_DUMP`, and TCP in every state.
        let mut all = [72_u32.to_ne_bytes(), [0; 4], NUMBER.to_ne_bytes(), [0; 4]].concat();
        all[4..6].copy_from_slice(&20_u16.to_ne_bytes());
        all[6..8].copy_from_slice(&0x301_u16.to_ne_bytes());
        all.extend([family, 6, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        all.resize(72, 0);
        answer(&all).is_ok_and(|answer| answer.get(4..6) == Some(&20_u16.to_ne_bytes()))
    }

    #[test]
    fn a_connection_has_an_owner_when_it_is_accepted_and_a_listener_from_the_start() {
        // A kernel that does not answer is not wrong.
        if !can_be_asked() {
            return;
        }
        let own = Some(rustix::process::getuid().as_raw());
        // The last is met over the other family, too.
        for (host, dialled) in [("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("[::]", "127.0.0.1")] {
            let Ok(listener) = TcpListener::bind(format!("{host}:0")) else { continue };
            let address = format!("{dialled}:{}", listener.local_addr().unwrap().port()).parse().unwrap();
            let client = TcpStream::connect(address).unwrap();
            let local = client.local_addr().unwrap();
            assert_eq!(found(address, local), (ESTABLISHED, None), "{host}");
            let _accepted = listener.accept().unwrap();
            assert_eq!(found(address, local), (ESTABLISHED, own), "{host}");
            assert_eq!(found(local, address), (ESTABLISHED, own), "{host}");
            let nobody = SocketAddr::new(local.ip(), 0);
            assert_eq!(found(address, nobody), (LISTENING, own), "{host}");
        }
    }

    #[test]
    fn what_is_no_answer_is_not_read_as_one() {
        let mut answer = vec![0; ANSWER];
        for bytes in [&[][..], &[0; 4], &answer, &[0xff; ANSWER]] {
            assert_eq!(read(bytes), None);
        }
        answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        answer[8..12].copy_from_slice(&NUMBER.to_ne_bytes());
        assert_eq!(read(&answer), Some(Socket { state: 0, owner: None }));
        assert_eq!(read(&answer[..ANSWER - 1]), None);
    }
}
