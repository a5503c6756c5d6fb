//! Stdin, a word when it has ended, and one of each line that is not JSON. Nothing of it is changed.
//!
//! The protocol's library goes on answering for some seconds after the end. What was launched must not run for that long.

use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

pub struct Stdin<R> {
    inner: R,
    ended: CancellationToken,
    /// The line that is being read, as far as it is not longer than the library takes.
    line: Vec<u8>,
    is_too_long: bool,
    complaints: UnboundedSender<String>,
}

pub struct Watched<R> {
    pub stdin: Stdin<R>,
    /// Cancelled when nobody is there any more.
    pub ended: CancellationToken,
    /// What is wrong with each line that the library ignores.
    pub complaints: UnboundedReceiver<String>,
}

impl<R> Stdin<R> {
    pub fn watch(inner: R) -> Watched<R> {
        let ended = CancellationToken::new();
        let (sender, complaints) = unbounded_channel();
        let (line, is_too_long) = (Vec::new(), false);
        let stdin = Stdin { inner, ended: ended.clone(), line, is_too_long, complaints: sender };
        Watched { stdin, ended, complaints }
    }

    fn check(&mut self, mut read: &[u8]) {
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            self.keep(&read[..end]);
            read = &read[end + 1..];
            if let Some(complaint) = self.complaint() {
                // If nobody takes it, the transport is closed.
                let _ = self.complaints.send(complaint);
            }
            self.line.clear();
            self.is_too_long = false;
        }
        self.keep(read);
    }

    fn keep(&mut self, piece: &[u8]) {
        // The line's end counts too.
        self.is_too_long |= self.line.len() + piece.len() >= DEFAULT_MAX_LINE_LENGTH;
        if self.is_too_long {
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    fn complaint(&self) -> Option<String> {
        if self.is_too_long {
            return Some(format!("the line has {DEFAULT_MAX_LINE_LENGTH} bytes or more; send less at once"));
        }
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let error = serde_json::from_slice::<Value>(line).err()?;
        Some(format!("the line is not JSON: {error}; send one message a line"))
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
        self.check(&buffer.filled()[before..]);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn its_end_is_told_behind_all_that_was_said() {
        let Watched { mut stdin, ended, .. } = Stdin::watch(&b"abc"[..]);
        let mut read = [0; 2];
        stdin.read_exact(&mut read).await.unwrap();
        assert!(!ended.is_cancelled());
        let mut rest = String::new();
        stdin.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "c");
        assert!(ended.is_cancelled());
    }

    #[tokio::test]
    async fn each_line_that_is_not_json_is_complained_about() {
        let long = format!("\"{}\"\n", "x".repeat(DEFAULT_MAX_LINE_LENGTH));
        let said = ["{}\n\r\n\u{feff}[]\r\n{\n", &long, "null\n"].concat();
        let said = [said.as_bytes(), b"\"\xff\"\n{"].concat();
        let Watched { mut stdin, mut complaints, .. } = Stdin::watch(&said[..]);
        let mut read = Vec::new();
        stdin.read_to_end(&mut read).await.unwrap();
        drop(stdin);
        assert!(read == said);
        for part in ["not JSON: EOF while", "or more", "not JSON: invalid unicode"] {
            let complaint = complaints.recv().await.unwrap();
            assert!(complaint.contains(part), "{complaint}");
        }
        assert_eq!(complaints.recv().await, None);
    }
}
