//! Which worker threads of a process stand still. What they say comes through the inspector of their process, each message as
//! a text inside of another.
//!
//! Only whether one stops, goes on or is gone is read; the rest is js-debug's.

use std::collections::HashSet;

use serde::Deserialize;

/// How messages begin that have a worker's words in them, or tell that it is gone.
const SAID: &[u8] = br#"{"method":"NodeWorker.receivedMessageFromWorker""#;
const GONE: &[u8] = br#"{"method":"NodeWorker.detachedFromWorker""#;
/// How its own words begin.
const STOPS: &str = r#"{"method":"Debugger.paused""#;
const GOES_ON: &str = r#"{"method":"Debugger.resumed""#;
/// Both of them, as they are written inside of another message, and no further from its beginning than this.
const INSIDE: [&[u8]; 2] = [br#"\"Debugger.paused\""#, br#"\"Debugger.resumed\""#];
const HEAD: usize = 256;

/// Those that stand still, by the inspector's names for them.
#[derive(Debug, Default)]
pub(crate) struct Workers(HashSet<String>);

#[derive(Deserialize)]
struct Event {
    params: Params,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    #[serde(default)]
    message: String,
}

impl Workers {
    /// Hears what the inspector says. Most of it is not about workers, and is not parsed to find out.
    pub fn hear(&mut self, text: &[u8]) {
        let head = &text[..text.len().min(HEAD)];
        let inside = |word: &&[u8]| head.windows(word.len()).any(|part| part == *word);
        let matters = text.starts_with(GONE) || text.starts_with(SAID) && INSIDE.iter().any(inside);
        if !matters {
            return;
        }
        let Ok(Event { params: Params { session_id, message } }) = serde_json::from_slice(text) else {
            return;
        };
        if message.starts_with(STOPS) {
            self.0.insert(session_id);
        } else if message.starts_with(GOES_ON) || text.starts_with(GONE) {
            self.0.remove(&session_id);
        }
    }

    pub fn one_stands_still(&self) -> bool {
        !self.0.is_empty()
    }
}
