//! Who has come over HTTP and has not shown the token yet.
//!
//! Anybody on this machine can connect, and each connection costs a descriptor that sessions need. So a stranger is heard
//! for a short time only, and there is room for so many: whoever has waited longest makes room for the next. One that has
//! shown the token may be silent for as long as it likes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

const MOST: usize = 64;
/// A client that has connected has something to say.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub struct Strangers(Mutex<VecDeque<Arc<Stranger>>>);

/// One connection.
#[derive(Default)]
pub struct Stranger {
    makes_room: CancellationToken,
    is_known: CancellationToken,
}

impl Strangers {
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

    /// It has shown the token.
    pub fn knows(&self, stranger: &Arc<Stranger>) {
        if !stranger.is_known.is_cancelled() {
            stranger.is_known.cancel();
            self.goes(stranger);
        }
    }

    pub fn goes(&self, stranger: &Arc<Stranger>) {
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|other| !Arc::ptr_eq(other, stranger));
    }
}

impl Stranger {
    /// Comes when it is heard no longer; never, if it has shown the token by then.
    pub async fn is_sent_away(&self) {
        tokio::select! {
            biased;
            () = self.is_known.cancelled() => std::future::pending().await,
            () = self.makes_room.cancelled() => {}
            () = tokio::time::sleep(PATIENCE) => {}
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
