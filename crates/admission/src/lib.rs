//! Connections that have not shown the token yet: how many there may be, and for how long.
//!
//! It reads no connection and knows no token; its users say when a connection comes, is known and goes.
//!
//! Any user of this machine can connect to a TCP port, and each connection costs descriptors and memory that sessions
//! need. So a connection without the token has a deadline, and their number is limited: the oldest one makes room for the
//! next. A connection that has shown the token may be silent for as long as it likes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The limit of connections without the token.
pub const MOST: usize = 64;
/// The time that a connection has to show the token.
pub const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub struct Strangers(Mutex<VecDeque<Arc<Stranger>>>);

/// One connection.
#[derive(Debug, Default)]
pub struct Stranger {
    makes_room: CancellationToken,
    is_known: CancellationToken,
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentAway {
    /// Newer connections took its place.
    MakesRoom,
    /// It did not show the token in time.
    TooLate,
}

impl Strangers {
    pub const fn new() -> Self {
        Strangers(Mutex::new(VecDeque::new()))
    }

    /// A connection was accepted.
    pub fn comes(&self) -> Arc<Stranger> {
        let stranger = Arc::<Stranger>::default();
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.push_back(stranger.clone());
        if strangers.len() > MOST
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.makes_room.cancel();
        }
        stranger
    }

    /// The connection has shown the token.
    pub fn knows(&self, stranger: &Arc<Stranger>) {
        if !stranger.is_known.is_cancelled() {
            stranger.is_known.cancel();
            self.goes(stranger);
        }
    }

    /// The connection is closed.
    pub fn goes(&self, stranger: &Arc<Stranger>) {
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|other| !Arc::ptr_eq(other, stranger));
    }
}

impl Stranger {
    /// Waits until the connection must be closed; without end, if it has shown the token by then.
    pub async fn is_sent_away(&self) -> SentAway {
        tokio::select! {
            biased;
            () = self.is_known.cancelled() => std::future::pending().await,
            () = self.makes_room.cancelled() => SentAway::MakesRoom,
            () = tokio::time::sleep(PATIENCE) => SentAway::TooLate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_strangers_the_oldest_makes_room() {
        let strangers = Strangers::default();
        let known = strangers.comes();
        strangers.knows(&known);
        let gone = strangers.comes();
        strangers.goes(&gone);
        let all: Vec<_> = (0..=MOST).map(|_| strangers.comes()).collect();
        let away: Vec<_> = all.iter().map(|stranger| stranger.makes_room.is_cancelled()).collect();
        assert!(away[0] && away[1..].iter().all(|is_away| !is_away), "{away:?}");
        assert!(!known.makes_room.is_cancelled() && !gone.makes_room.is_cancelled());
    }
}
