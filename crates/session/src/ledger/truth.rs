//! What is known about a breakpoint: what one engine says of it, and which of several engines knows best.

use super::merged::Answer;
use super::spec::Place;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Truth {
    Pending,
    Verified,
    Moved { line: i64 },
    Rejected { reason: String },
}

impl Truth {
    pub fn of(answer: Option<&Answer>, place: &Place) -> Truth {
        let Some(answer) = answer else { return Truth::Pending };
        match (answer.verified, answer.line, place, &answer.message) {
            (true, Some(line), Place::Line { line: asked, .. }, _) if line != *asked => Truth::Moved { line },
            (true, ..) => Truth::Verified,
            (false, _, _, Some(reason)) => Truth::Rejected { reason: reason.clone() },
            (false, ..) => Truth::Pending,
        }
    }

    /// A process that has not loaded a file says nothing against one that stops there.
    pub fn rank(&self) -> u8 {
        match self {
            Truth::Verified => 3,
            Truth::Moved { .. } => 2,
            Truth::Pending => 1,
            Truth::Rejected { .. } => 0,
        }
    }
}
