//! What programs print, for the files that a front end gave the session.
//!
//! It chooses what is recorded and under which stream. The driver writes it, and writes by itself what a terminal of the
//! hub prints.

use breakroom_dap::Message;

use crate::io::Effect;
use crate::session::Session;

/// The file that a text belongs into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recording {
    #[default]
    Nothing,
    /// `output` events, until the hub runs the program in a terminal of its own.
    Events,
    /// What the terminal prints. Events would repeat it.
    Terminal,
}

impl Stream {
    /// None for what the program did not print.
    fn of(category: Option<&str>) -> Option<Stream> {
        match category {
            None | Some("stdout" | "console") => Some(Stream::Out),
            Some("stderr") => Some(Stream::Err),
            Some(_) => None,
        }
    }
}

impl Session {
    pub(crate) fn record(&mut self, message: &Message) {
        if self.recording != Recording::Events {
            return;
        }
        let Some(body) = message.payload() else { return };
        let Some(stream) = Stream::of(body.str("category").as_deref()) else { return };
        if let Some(text) = body.str("output") {
            let text = text.into_owned();
            self.effect(Effect::Record { stream, text });
        }
    }

    /// A program of the session runs in a terminal of the hub.
    pub(crate) fn record_terminal(&mut self) {
        if self.recording == Recording::Events {
            self.recording = Recording::Terminal;
        }
    }
}
