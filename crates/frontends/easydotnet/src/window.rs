//! A port for one connection: open for the connect window, then closed.
//!
//! Only a connection of the same user counts; others are closed and do not use up the port. What comes over the connection
//! is not read here.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use breakroom_hub::{PeerAccess, peer_access};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, sockopt};

/// A peer that vanished without closing its connection is noticed after about a minute.
const KEEPALIVE: Duration = Duration::from_secs(30);
const USER_TIMEOUT: Duration = Duration::from_secs(60);

/// A listening port of 127.0.0.1.
#[derive(Debug)]
pub struct Window {
    listener: TcpListener,
    address: SocketAddr,
    length: Duration,
    until: Instant,
}

/// Closes the window of another thread.
#[derive(Debug)]
pub struct WindowCloser(TcpListener);

/// Why no client came.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    #[error("no debug client connected within {} s; the port is closed", .0.as_secs_f64())]
    Expired(Duration),
    #[error("the port was closed before a debug client connected")]
    Closed,
    #[error("no debug client could connect: {0}")]
    Io(#[from] io::Error),
}

impl Window {
    /// The port accepts connections when this returns.
    pub fn open(length: Duration) -> io::Result<Window> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Window { listener, address, length, until: Instant::now() + length })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn closer(&self) -> io::Result<WindowCloser> {
        self.listener.try_clone().map(WindowCloser)
    }

    /// Waits for the one connection. The port is closed when this returns.
    pub fn accept(self) -> Result<TcpStream, NoClient> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let timeout =
                Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            let mut ready = [PollFd::new(&self.listener, PollFlags::IN)];
            match poll(&mut ready, Some(&timeout)) {
                Ok(0) => return Err(NoClient::Expired(self.length)),
                Ok(_) if ready[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                    return Err(NoClient::Closed);
                }
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(io::Error::from(error).into()),
            }
            match self.listener.accept() {
                Ok((stream, peer)) if peer_access(self.address, peer) == PeerAccess::SameUser => {
                    prepare(&stream)?;
                    return Ok(stream);
                }
                Ok((_, peer)) => {
                    tracing::warn!("a connection from {peer} was closed: it has ended, or is of another user")
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(NoClient::Closed),
                // It was given up before it was accepted.
                Err(error) => tracing::debug!("a connection could not be accepted: {error}"),
            }
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The closer's copy of the descriptor would go on listening.
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
    }
}

impl WindowCloser {
    pub fn close(&self) {
        // It fails only if the port was closed before.
        let _ = rustix::net::shutdown(&self.0, Shutdown::Both);
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE / 3)?;
    sockopt::set_tcp_keepcnt(stream, 3)?;
    sockopt::set_tcp_user_timeout(stream, u32::try_from(USER_TIMEOUT.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn window_takes_one_connection_and_refuses_the_next() {
        let window = Window::open(LONG).unwrap();
        let (address, _closer) = (window.address, window.closer().unwrap());
        let first = TcpStream::connect(address).unwrap();
        let taken = window.accept().unwrap();
        assert_eq!(taken.peer_addr().unwrap(), first.local_addr().unwrap());
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn window_that_expires_or_is_closed_refuses_connections() {
        let window = Window::open(Duration::from_millis(1)).unwrap();
        let address = window.address;
        assert!(matches!(window.accept(), Err(NoClient::Expired(_))));
        assert!(TcpStream::connect(address).is_err());

        let window = Window::open(LONG).unwrap();
        let (address, closer) = (window.address, window.closer().unwrap());
        let waiting = std::thread::spawn(move || window.accept());
        closer.close();
        assert!(matches!(waiting.join().unwrap(), Err(NoClient::Closed)));
        drop(closer);
        assert!(TcpStream::connect(address).is_err());
    }
}
