//! Events of the runtime: what changed in its program.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    Stopped {
        reason: StopReason,
        thread_id: i64,
        /// Empty if it is unknown.
        #[serde(default)]
        file: String,
        /// From 1; 0 if it is unknown.
        #[serde(default)]
        line: i64,
        /// Only for exceptions, and always for them.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        exception: Option<Exception>,
    },
    Continued {
        thread_id: i64,
    },
    ProgramExited {
        #[serde(default)]
        exit_code: i64,
    },
    Output {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        category: String,
        output: String,
    },
    ThreadStarted {
        thread_id: i64,
    },
    ThreadExited {
        thread_id: i64,
    },
    BreakpointChanged {
        change_type: ChangeType,
        file: String,
        line: i64,
        #[serde(default)]
        enabled: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    pub exception_name: String,
    pub exception_message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    Breakpoint,
    Step,
    Pause,
    Exception,
    /// A reason that the protocol does not have.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    Added,
    Changed,
    Removed,
    #[serde(other)]
    Other,
}

const KNOWN: [&str; 7] = [
    "stopped",
    "continued",
    "program_exited",
    "output",
    "thread_started",
    "thread_exited",
    "breakpoint_changed",
];

impl Event {
    /// `None` for an event that this version does not know; an error for one without a required field.
    pub fn read(message: Value) -> Result<Option<Event>, String> {
        let name = message["event"].as_str().unwrap_or_default().to_owned();
        if !KNOWN.contains(&&*name) {
            return Ok(None);
        }
        Event::deserialize(message)
            .map(Some)
            .map_err(|error| format!("the event `{name}` is invalid: {error}"))
    }

    /// This event as a line.
    pub fn line(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'static str,
            #[serde(flatten)]
            event: &'a Event,
        }
        serde_json::to_string(&Line { r#type: "event", event: self }).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_written_then_read_is_the_same() {
        let exception = Exception { exception_name: "E".to_owned(), exception_message: "m".to_owned() };
        let stopped = |reason, exception| Event::Stopped {
            reason,
            thread_id: -1,
            file: "a.as".to_owned(),
            line: 3,
            exception,
        };
        for event in [
            stopped(StopReason::Step, None),
            stopped(StopReason::Exception, Some(exception)),
            Event::Output { category: "warn".to_owned(), output: "a\nb".to_owned() },
            Event::BreakpointChanged {
                change_type: ChangeType::Added,
                file: "a.as".to_owned(),
                line: 1,
                enabled: true,
            },
        ] {
            let line = event.line();
            assert!(line.starts_with(r#"{"type":"event","event":""#) && line.ends_with("}\n"), "{line}");
            assert_eq!(Event::read(serde_json::from_str(&line).unwrap()), Ok(Some(event)));
        }
    }

    #[test]
    fn event_that_is_unknown_is_ignored_and_one_without_its_thread_is_invalid() {
        let read = |text: &str| Event::read(serde_json::from_str(text).unwrap());
        assert_eq!(read(r#"{"event":"heartbeat"}"#), Ok(None));
        assert!(read(r#"{"event":"stopped","reason":"step"}"#).is_err());
        let strange = read(r#"{"event":"stopped","reason":"cosmic","threadId":1,"x":2}"#).unwrap().unwrap();
        assert!(matches!(strange, Event::Stopped { reason: StopReason::Other, line: 0, .. }));
    }
}
