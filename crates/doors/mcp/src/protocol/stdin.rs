//! Stdin, and a word when it has ended.
//!
//! The protocol's library goes on answering for some seconds then. What was launched must not run for that long.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

pub struct Stdin<R> {
    inner: R,
    ended: CancellationToken,
}

impl<R> Stdin<R> {
    /// The other one is cancelled when nobody is there any more.
    pub fn new(inner: R) -> (Stdin<R>, CancellationToken) {
        let ended = CancellationToken::new();
        (Stdin { inner, ended: ended.clone() }, ended)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Stdin<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let (before, had_room) = (buffer.filled().len(), buffer.remaining() > 0);
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let is_over = match &read {
            Poll::Ready(Ok(())) => had_room && buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_over {
            self.ended.cancel();
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn its_end_is_told_behind_all_that_was_said() {
        let (mut stdin, ended) = Stdin::new(&b"abc"[..]);
        let mut read = [0; 2];
        stdin.read_exact(&mut read).await.unwrap();
        assert!(!ended.is_cancelled());
        let mut rest = String::new();
        stdin.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "c");
        assert!(ended.is_cancelled());
    }
}
