//! The process that closes an inspector when the sessions for which it was opened are over, however that came about.
//!
//! It is told by the end of a connection, which comes even if all of us are killed, and before that where the inspector is. Of
//! one that nobody has found by then it looks for itself. How an inspector is closed it knows, too. There is one for a
//! process, also for sessions of other hubs: two would close the door under each other's session.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::net;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::geteuid;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

/// How long one that is there may take to hear of us. It may be busy with a door that does not answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// The inspector is closed when it is dropped, and no other session has it.
#[derive(Debug)]
pub struct Closer {
    session: File,
}

impl Closer {
    /// The one that the process has already: of a session that has it open, or of an attach that failed.
    pub(super) async fn of(pid: u32) -> Option<Closer> {
        // Everybody may take that name: nobody is waited for who lets nobody in, or is somebody else.
        let mut session = UnixStream::connect(format!("\0{}", meeting_name(pid).ok()?)).await.ok()?;
        if session.peer_cred().ok()?.uid() != geteuid().as_raw() {
            return None;
        }
        // One that is just about to end says nothing any more.
        tokio::time::timeout(PATIENCE, session.read_u8()).await.ok()?.ok()?;
        let session = session.into_std().ok()?;
        session.set_nonblocking(false).ok()?;
        Some(Closer { session: OwnedFd::from(session).into() })
    }

    /// `before` is where the process listens already: none of these is the door that is to be closed.
    pub(super) fn start(ourselves: &Path, pid: u32, before: &HashSet<net::SocketAddr>) -> io::Result<Closer> {
        let mut child = Command::new(std::path::absolute(ourselves)?)
            .args(["node", "close", &pid.to_string()])
            .args(before.iter().map(net::SocketAddr::to_string))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not for it are signals of a terminal that end the others.
            .process_group(0)
            .spawn()?;
        let session = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let waiter = std::thread::Builder::new().name("closer-reaper".into()).stack_size(64 * 1024);
        waiter.spawn(move || child.wait())?;
        Ok(Closer { session: OwnedFd::from(session).into() })
    }

    pub(super) fn is_open_at(&mut self, address: net::SocketAddr) -> io::Result<()> {
        self.session.write_all(format!("{address}\n").as_bytes())
    }
}

/// Where the closer of a process is found. The name is gone with whoever has it, as no file would be.
pub fn meeting_place(pid: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(meeting_name(pid)?)
}

fn meeting_name(pid: u32) -> io::Result<String> {
    // In another container the same number is another process.
    let numbers = std::fs::read_link("/proc/self/ns/pid")?;
    Ok(format!("breakroom/closer/{}/{}/{pid}", geteuid().as_raw(), numbers.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_testkit::wait;
    use rustix::net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
    };

    /// Its backlog is full, which is where a connect that blocks would stay.
    #[tokio::test]
    async fn whoever_has_the_name_and_lets_nobody_in_keeps_nobody_waiting() {
        let pid = std::process::id();
        let name = SocketAddrUnix::new_abstract_name(meeting_name(pid).unwrap().as_bytes()).unwrap();
        let socket =
            || socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
        let stranger = socket();
        bind(&stranger, &name).unwrap();
        listen(&stranger, 0).unwrap();
        let visitors: Vec<_> = std::iter::repeat_with(socket)
            .map_while(|visitor| connect(&visitor, &name).ok().map(|()| visitor))
            .collect();
        assert!(!visitors.is_empty());
        assert!(tokio::time::timeout(wait::DEADLINE, Closer::of(pid)).await.unwrap().is_none());
    }
}
