//! Commands that are piped in: waited for as long as they can be carried out.
//!
//! Behind the end of the program only what is there already is read, so that it can be named. Whoever holds the pipe open
//! is not waited for.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use anyhow::Result;
use breakroom_door_terminal::Rest;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Reads stdin.
pub struct Piped {
    /// Its end is the order to wait no more.
    order: UnixStream,
}

struct Order(UnixStream);

impl Rest for Order {
    fn wait_no_more(&self) {
        // If it fails nobody listens to it any more.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Piped {
    pub fn new() -> Result<(Piped, Arc<dyn Rest>)> {
        let (order, giver) = UnixStream::pair()?;
        Ok((Piped { order }, Arc::new(Order(giver))))
    }
}

impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let stdin = io::stdin();
        loop {
            let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.order, PollFlags::IN)];
            match poll(&mut ready, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if ready[0].revents().is_empty() {
                return Ok(0);
            }
            match rustix::io::read(&stdin, &mut *buffer) {
                // Somebody has made it not wait, who may have the same pipe.
                Err(Errno::AGAIN | Errno::INTR) => {}
                read => return Ok(read?),
            }
        }
    }
}
