//! The signals that end a run: SIGINT, SIGTERM and SIGHUP.
//!
//! What is done then is not decided here.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

/// Signals in this time after the first mean the same, because `timeout` and service managers send several.
const ECHO: Duration = Duration::from_secs(1);

pub struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
    first: Option<Instant>,
}

impl Signals {
    /// From now on these signals do not end the process.
    pub fn watch() -> io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            first: None,
        })
    }

    /// The next signal that is not an echo of the first. May be cancelled.
    pub async fn next(&mut self) -> u8 {
        loop {
            let number = tokio::select! {
                _ = self.hangup.recv() => 1,
                _ = self.interrupt.recv() => 2,
                _ = self.terminate.recv() => 15,
            };
            match self.first {
                Some(first) if first.elapsed() < ECHO => {}
                Some(_) => return number,
                None => {
                    self.first = Some(Instant::now());
                    return number;
                }
            }
        }
    }
}
