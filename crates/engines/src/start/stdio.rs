//! Adapters that speak the protocol on their own stdin and stdout.
//!
//! There is nothing to wait for: an adapter that dies ends its streams, and whoever reads them sees it.

use super::{Attempt, Engine};
use crate::error::StartError;

pub(super) async fn start(attempt: &Attempt<'_>) -> Result<Engine, StartError> {
    let launched = attempt.launch("").await?;
    let (stdin, input) = launched.feed.map(|feed| (feed.write, feed.path)).unzip();
    Ok(Engine {
        reader: launched.stdout,
        writer: launched.stdin,
        stdout: None,
        stderr: launched.stderr,
        process: launched.process,
        stdin,
        input,
        place: None,
    })
}
