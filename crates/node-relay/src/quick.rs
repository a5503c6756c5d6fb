//! A connection to an inspector whose every piece is acknowledged at once.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::sockopt;

#[derive(Debug)]
pub(crate) struct Quick(TcpStream);

impl Quick {
    /// Nobody is waited for longer than this, now or when something is to be heard.
    pub fn connect(to: impl ToSocketAddrs, patience: Duration) -> io::Result<Quick> {
        let mut failed = io::ErrorKind::AddrNotAvailable.into();
        for address in to.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(patience))?;
                    return Ok(Quick(stream));
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    pub fn again(&self) -> io::Result<Quick> {
        self.0.try_clone().map(Quick)
    }

    /// It may take as long as it likes until something is heard.
    pub fn be_patient(&self) -> io::Result<()> {
        self.0.set_read_timeout(None)
    }

    /// Our own end.
    pub fn near(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn close(&self) {
        // It may be closed already, which is what is wanted.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    /// The other end says no more; what it still is to hear it hears.
    pub fn finish(&self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Read for Quick {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The kernel forgets it whenever it likes. Where it is not known, all that is lost is time.
        let _ = sockopt::set_tcp_quickack(&self.0, true);
        let read = self.0.read(buffer)?;
        let _ = sockopt::set_tcp_quickack(&self.0, true);
        Ok(read)
    }
}

impl Write for Quick {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Quick {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
