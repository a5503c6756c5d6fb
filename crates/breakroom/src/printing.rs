//! What a command answers, on stdout, for whoever may have seen enough before its end.

use std::io::{ErrorKind, Write};

use anyhow::Result;

/// Prints all of it, or as much as is read.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed?),
    }
}
