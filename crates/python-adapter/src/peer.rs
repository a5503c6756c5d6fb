//! Who is at the other end of a connection on this machine, and whether he may be.
//!
//! Whoever speaks to us may have anything run, or pose as the program, so this is asked at every door. The token alone opens
//! none: debugpy takes it from the words a process is started with, and hands it on to children and to gdb in theirs, and
//! those every user can read.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use breakroom_ports as ports;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

const ALMIGHTY: u32 = 0;
/// The kernel's table is not read at one instant, so a row can be missed once.
const LOOKS: usize = 3;
/// No line of ancestors is longer.
const GENERATIONS: usize = 64;

/// Whose the other end's socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(ports::Owner);

/// Whether the connection from `peer` to `local` belongs to this user, or to one who may do everything anyway.
pub(crate) fn is_ours(local: SocketAddr, peer: SocketAddr) -> bool {
    Owner::of(local, peer).is_some_and(Owner::is_ours)
}

impl Owner {
    /// None if nobody has it any more.
    pub fn of(local: SocketAddr, peer: SocketAddr) -> Option<Owner> {
        again(|| ports::peer_owner(local, peer).ok()?.map(Owner))
    }

    pub fn is_ours(self) -> bool {
        self.0.uid == ALMIGHTY || self.0.uid == rustix::process::geteuid().as_raw()
    }

    /// Whether it is one of these processes, or was started by one. As root we debug programs of other users, and programs
    /// that become another user.
    pub fn descends_from(self, ancestors: &[i64]) -> bool {
        // What others hold can only be seen by root.
        if rustix::process::geteuid().as_raw() != ALMIGHTY {
            return false;
        }
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        let mut pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.any(|pid: i64| {
            self.is_held_by(pid)
                && std::iter::successors(Some(pid), |pid| parent(*pid))
                    .take(GENERATIONS)
                    .any(|pid| ancestors.contains(&pid))
        })
    }

    /// The process with this number, if the socket is its own. What a peer says of itself may be another's number.
    pub fn process(self, pid: i64) -> Option<OwnedFd> {
        let raw = i32::try_from(pid).ok().filter(|pid| *pid > 0).and_then(Pid::from_raw)?;
        // Opened before it is looked at, so that a number that is given anew names nobody.
        let process = pidfd_open(raw, PidfdFlags::empty()).ok()?;
        self.is_held_by(pid).then_some(process)
    }

    fn is_held_by(self, pid: i64) -> bool {
        let socket = format!("socket:[{}]", self.0.socket);
        let Ok(mut files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        files.any(|file| {
            file.and_then(|file| std::fs::read_link(file.path()))
                .is_ok_and(|target| target.as_os_str() == socket.as_str())
        })
    }
}

fn parent(pid: i64) -> Option<i64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may have spaces and brackets of its own.
    let (_, columns) = text.rsplit_once(')')?;
    columns.split_whitespace().nth(1)?.parse().ok()
}

fn again(mut look: impl FnMut() -> Option<Owner>) -> Option<Owner> {
    (0..LOOKS).find_map(|_| look())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_connection_of_our_own_is_ours_and_one_that_is_not_there_is_not() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else { continue };
            let local = listener.local_addr().unwrap();
            let stream = TcpStream::connect(local).unwrap();
            let (_accepted, peer) = listener.accept().unwrap();
            assert!(is_ours(local, peer), "{host}");
            drop(stream);
            assert!(!is_ours(local, SocketAddr::new(peer.ip(), 1)));
        }
    }

    #[test]
    fn a_connection_by_the_newer_kind_of_socket_is_ours_too() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let mapped = std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped();
        // A machine may have none.
        let Ok(_stream) = TcpStream::connect(SocketAddr::new(mapped.into(), local.port())) else { return };
        let (_accepted, peer) = listener.accept().unwrap();
        assert!(is_ours(local, peer));
    }

    #[test]
    fn a_row_that_was_missed_is_looked_for_again_but_not_for_ever() {
        let row = Owner(ports::Owner { uid: 1, socket: 2 });
        let found_at = |at: usize| {
            let mut looks = 0;
            let found = again(|| {
                looks += 1;
                (looks == at).then_some(row)
            });
            (found, looks)
        };
        assert_eq!(found_at(1), (Some(row), 1));
        assert_eq!(found_at(3), (Some(row), 3));
        assert_eq!(found_at(4), (None, 3));
    }

    #[test]
    fn one_who_has_hung_up_is_not_taken_for_root() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let stream = TcpStream::connect(local).unwrap();
        let (mut accepted, peer) = listener.accept().unwrap();
        drop(stream);
        assert_eq!(accepted.read(&mut [0]).unwrap(), 0);
        assert!(!is_ours(local, peer));
    }

    #[test]
    fn a_number_is_believed_only_of_the_process_that_has_the_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let _stream = TcpStream::connect(local).unwrap();
        let (_accepted, peer) = listener.accept().unwrap();
        let owner = Owner::of(local, peer).unwrap();
        assert!(owner.process(i64::from(std::process::id())).is_some());
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        let believed = owner.process(i64::from(other.id())).is_some();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!believed);
        assert!([0, -1, 1 << 40].iter().all(|pid| owner.process(*pid).is_none()));
    }

    /// Only root can start a process of another user.
    #[test]
    fn a_process_of_another_user_is_ours_only_by_descent() {
        const NOBODY: u32 = 65534;
        if rustix::process::geteuid().as_raw() != ALMIGHTY {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let script =
            "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.recv(1)";
        let mut command = Command::new("python3");
        command.args(["-c", script, &local.port().to_string()]).uid(NOBODY).gid(NOBODY).current_dir("/");
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        let owner = Owner::of(local, peer).unwrap();
        assert!(!owner.is_ours());
        assert!(owner.descends_from(&[i64::from(child.id())]));
        assert!(owner.descends_from(&[i64::from(std::process::id())]));
        assert!(!owner.descends_from(&[]));
        drop(accepted);
        child.wait().unwrap();
    }
}
