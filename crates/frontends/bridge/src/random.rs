//! Random names, such as those of sockets and sessions.
//!
//! They are not secrets.

use std::io;

/// This many random lower-case letters.
pub fn letters(count: usize) -> io::Result<String> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| char::from(b'a' + byte % 26)).collect())
}
