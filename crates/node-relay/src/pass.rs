//! Bytes as they come, between a connection that somebody has and one that acknowledges at once.
//!
//! For those who speak to an inspector themselves: js-debug, when it attaches.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use crate::error::RelayError;
use crate::quick::Quick;
use crate::target::PATIENCE;

const PIECE: usize = 64 * 1024;

/// Until both sides have said all they have to say, or one is gone.
pub fn pass(near: UnixStream, host: &str, port: u16) -> Result<(), RelayError> {
    let far = Quick::connect((host, port), PATIENCE)
        .and_then(|far| far.be_patient().map(|()| far))
        .map_err(|source| RelayError::Far { address: format!("{host}:{port}"), source })?;
    let streams = || Ok::<_, io::Error>((near.try_clone()?, far.again()?));
    let (mut from_near, mut to_far) = streams().map_err(RelayError::Stream)?;
    let (mut to_near, mut from_far) = (near, far);
    std::thread::spawn(move || {
        carry(&mut from_near, &mut to_far);
        to_far.finish();
    });
    carry(&mut from_far, &mut to_near);
    // Nothing can be said to somebody who says nothing any more: an inspector that closes is gone.
    let _ = to_near.shutdown(Shutdown::Both);
    Ok(())
}

fn carry(from: &mut impl Read, to: &mut impl Write) {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => {
                if to.write_all(piece.get(..read).unwrap_or_default()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn what_each_says_reaches_the_other_and_so_does_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (mut own, near) = UnixStream::pair().unwrap();
        let passing = std::thread::spawn(move || pass(near, "127.0.0.1", port));
        let (mut far, _) = listener.accept().unwrap();
        own.write_all(b"question").unwrap();
        let mut heard = [0; 8];
        far.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"question");
        far.write_all(b"answer").unwrap();
        drop(far);
        let mut heard = String::new();
        own.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "answer");
        passing.join().unwrap().unwrap();
    }
}
