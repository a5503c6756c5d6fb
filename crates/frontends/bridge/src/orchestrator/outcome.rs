//! How a run session ended, from the notifications about it.
//!
//! It prints nothing.

use breakroom_ide_protocol::{Change, ErrorDetail, MessageLevel};

/// The end of a run session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The service exited with this code.
    Exited(i32),
    /// The service ran and ended; how is not known.
    Ended,
    Failed(String),
    /// A signal to this process ended it, and no exit code is known.
    Stopped(u8),
}

/// What the notifications have said so far.
#[derive(Debug, Default)]
pub struct Progress {
    is_started: bool,
    /// The last message with the level `error`.
    error: Option<String>,
}

impl Progress {
    /// Takes a notification. Gives the outcome if it was the last.
    pub fn note(&mut self, change: &Change) -> Option<Outcome> {
        match change {
            Change::ProcessRestarted { .. } => self.is_started = true,
            Change::SessionMessage { level: MessageLevel::Error, message, code, details } => {
                let code = code.clone().unwrap_or_default();
                let details = details.clone();
                let detail = ErrorDetail { code, message: message.clone(), details };
                let text = detail.to_string();
                self.error = Some(text.strip_prefix(": ").map(ToOwned::to_owned).unwrap_or(text));
            }
            Change::SessionTerminated { exit_code } => return Some(self.outcome(*exit_code)),
            Change::SessionMessage { .. } | Change::ServiceLogs { .. } | Change::Unknown => {}
        }
        None
    }

    fn outcome(&self, exit_code: Option<i64>) -> Outcome {
        if let Some(code) = exit_code.and_then(as_i32) {
            return Outcome::Exited(code);
        }
        match &self.error {
            Some(error) => Outcome::Failed(error.clone()),
            None if self.is_started => Outcome::Ended,
            None => Outcome::Failed("the run session ended before its service was started".to_owned()),
        }
    }
}

/// The code is unsigned on the wire and a number of 32 bits, so 4294967295 is -1.
fn as_i32(code: i64) -> Option<i32> {
    let unsigned = || u32::try_from(code).ok().map(u32::cast_signed);
    i32::try_from(code).ok().or_else(unsigned)
}

impl Outcome {
    /// Adds what the bridge knows about a failed session. The IDE may have said the same already.
    pub fn with_failure_of_bridge(self, failure: Option<String>) -> Outcome {
        match (self, failure) {
            (Outcome::Failed(why), Some(failure)) if !why.contains(&failure) => {
                Outcome::Failed(format!("{why}\n{failure}"))
            }
            (outcome, _) => outcome,
        }
    }

    /// The exit status of a process that ends as the service did, as a shell shows it.
    pub fn status(&self) -> u8 {
        match self {
            Outcome::Exited(code) => u8::try_from(code.rem_euclid(256)).unwrap_or(1),
            Outcome::Ended => 0,
            Outcome::Failed(_) => 1,
            Outcome::Stopped(signal) => 128 + signal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(changes: &[Change]) -> Outcome {
        let mut progress = Progress::default();
        changes.iter().find_map(|change| progress.note(change)).unwrap()
    }

    const STARTED: Change = Change::ProcessRestarted { pid: None };

    #[test]
    fn exit_code_is_the_status_as_a_shell_shows_it() {
        for (code, status) in [(0, 0), (3, 3), (255, 255), (4_294_967_295, 255), (-1, 255), (256, 0)] {
            let end = Change::SessionTerminated { exit_code: Some(code) };
            assert_eq!(outcome(&[end]).status(), status, "{code}");
        }
        assert_eq!(outcome(&[Change::terminated(Some(-2))]), Outcome::Exited(-2));
        let end = Change::SessionTerminated { exit_code: Some(1 << 40) };
        assert_eq!(outcome(&[STARTED, end]), Outcome::Ended, "the code is unknown");
    }

    #[test]
    fn session_without_an_exit_code_has_failed_unless_it_was_started() {
        assert_eq!(outcome(&[STARTED, Change::terminated(None)]), Outcome::Ended);
        let Outcome::Failed(why) = outcome(&[Change::terminated(None)]) else { panic!() };
        assert!(why.contains("before its service was started"), "{why}");
        let failed = outcome(&[STARTED, Change::error("Code", "why"), Change::terminated(None)]);
        assert_eq!((failed.status(), failed), (1, Outcome::Failed("Code: why".to_owned())));
    }
}
