//! A client without access: its deadline, its place among the others, and the limit of its messages.
//!
//! What it may ask is the session's business.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Waker, Poll};

use breakroom_admission::{PATIENCE, SentAway, Stranger, Strangers};
use breakroom_session::Session;
use tokio::time::Instant;

use super::{ClientIo, MAX_MESSAGE, State};

/// The largest message before access: a `launch` with the token and an environment. Each client may cost as much memory.
pub(super) const MAX_UNKNOWN: usize = 64 << 10;

/// The clients of this process that have no access yet. Descriptors and memory are the process's, so the limit is, too.
static STRANGERS: Strangers = Strangers::new();

/// A client that must still show the token.
pub(super) struct Unknown {
    stranger: Arc<Stranger>,
    sent_away: Pin<Box<dyn Future<Output = SentAway>>>,
}

impl Unknown {
    pub fn new() -> Self {
        let stranger = STRANGERS.comes();
        let waiting = stranger.clone();
        Unknown { stranger, sent_away: Box::pin(async move { waiting.is_sent_away().await }) }
    }
}

impl Drop for Unknown {
    fn drop(&mut self) {
        STRANGERS.goes(&self.stranger);
    }
}

impl ClientIo {
    /// Whether the client has no access and its time, or its place, is over.
    pub(super) fn is_sent_away(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> bool {
        let Some(unknown) = &mut self.unknown else { return false };
        match unknown.sent_away.as_mut().poll(cx) {
            Poll::Pending => false,
            Poll::Ready(why) => {
                // Its place is free at once, and it cannot come back to this.
                self.unknown = None;
                match why {
                    SentAway::MakesRoom => self.state = State::Lost,
                    SentAway::TooLate => {
                        let seconds = PATIENCE.as_secs();
                        let reason = format!(
                            "this connection belongs to another user and did not bring the token within {seconds} s. It is closed."
                        );
                        self.broken(reason, session, began);
                    }
                }
                true
            }
        }
    }

    /// Lifts the limits of a client that has shown the token.
    pub(super) fn admit(&mut self, session: &Session) {
        if self.unknown.is_some() && session.has_access(self.id) {
            self.unknown = None;
            self.endpoint.decoder.limit(MAX_MESSAGE);
        }
    }
}
