//! A stderr that is never waited for: whoever started this process may not read it.
//!
//! Lines for which there is no room at once are lost.

use std::io::Write;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A pipe that can be written to at all has room for this much.
const ROOM: usize = 4096;

pub struct LossyStderr;

impl Write for LossyStderr {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        // Held meanwhile, so that no other thread takes the room.
        let mut stderr = std::io::stderr().lock();
        for piece in text.chunks(ROOM) {
            let has_room = {
                let mut asked = [PollFd::new(&stderr, PollFlags::OUT)];
                poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
            };
            // There is nobody to tell of an error.
            if !has_room || stderr.write_all(piece).is_err() {
                break;
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
