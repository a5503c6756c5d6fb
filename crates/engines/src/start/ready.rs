//! Adapters that must not be met before they say that they wait: rdbg loses its program if it is connected to while that
//! begins.
//!
//! What they say is only looked at. It stays in the pipe for whoever reads it later.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::pipe::{PipeFlags, SpliceFlags};

/// An adapter may have been told to say less.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);
/// It is among the first that they say.
const MOST: usize = 16 * 1024;

/// Waits until the adapter has said this on its stderr, or has had time enough to.
pub(super) async fn has_said(line: &str, stderr: &OwnedFd) {
    let said = async {
        while !seen(stderr).is_some_and(|text| contains(&text, line.as_bytes())) {
            tokio::time::sleep(PAUSE).await;
        }
    };
    if tokio::time::timeout(PATIENCE, said).await.is_err() {
        tracing::warn!("an adapter has not said {line:?}, and is connected to all the same");
    }
}

/// What is in the pipe.
fn seen(pipe: &OwnedFd) -> Option<Vec<u8>> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    let size = rustix::pipe::tee(pipe, &write, MOST, SpliceFlags::NONBLOCK).ok()?;
    let mut text = vec![0; size];
    let size = rustix::io::read(&read, &mut text).ok()?;
    text.truncate(size);
    Some(text)
}

fn contains(text: &[u8], line: &[u8]) -> bool {
    text.windows(line.len()).any(|part| part == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_an_adapter_says_is_seen_and_stays_where_it_is() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        rustix::io::write(&write, b"Debugger can attach\nwait").unwrap();
        assert_eq!(seen(&read).unwrap(), b"Debugger can attach\nwait");
        rustix::io::write(&write, b" for it...\n").unwrap();
        has_said("wait for it", &read).await;
        let mut text = [0; 64];
        let size = rustix::io::read(&read, &mut text).unwrap();
        assert_eq!(&text[..size], b"Debugger can attach\nwait for it...\n");
    }
}
