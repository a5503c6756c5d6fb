//! What the IDE tells the orchestrator about a run session: one JSON object in each text frame of the WebSocket.

use serde::{Deserialize, Serialize};

use crate::ErrorDetail;
use crate::failure::null_as_default;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The run session.
    pub session_id: String,
    #[serde(flatten)]
    pub change: Change,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "notification_type", rename_all = "camelCase", rename_all_fields = "snake_case")]
pub enum Change {
    ProcessRestarted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
    },
    /// The last one of its run session.
    SessionTerminated {
        /// Unsigned on the wire. The orchestrator reads it as the number of 32 bits that it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    ServiceLogs {
        is_std_err: bool,
        log_message: String,
    },
    SessionMessage {
        level: MessageLevel,
        message: String,
        /// Required for errors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        details: Vec<ErrorDetail>,
    },
    /// One that a later version knows.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageLevel {
    Error,
    Info,
    Debug,
}

#[derive(Debug, thiserror::Error)]
pub enum NotificationError {
    #[error("the notification is no JSON object of this protocol: {0}")]
    Invalid(#[from] serde_json::Error),
    #[error("the notification names no run session")]
    NoSession,
}

impl Notification {
    pub fn new(session_id: impl Into<String>, change: Change) -> Self {
        Notification { session_id: session_id.into(), change }
    }

    /// The content of one text frame.
    pub fn parse(text: &str) -> Result<Notification, NotificationError> {
        let notification: Notification = serde_json::from_str(text)?;
        if notification.session_id.is_empty() {
            return Err(NotificationError::NoSession);
        }
        Ok(notification)
    }
}

impl Change {
    /// The end of a run session, with the exit code as it is on the wire.
    pub fn terminated(exit_code: Option<i64>) -> Change {
        Change::SessionTerminated { exit_code: exit_code.map(|code| code & i64::from(u32::MAX)) }
    }

    /// A line of the service's output. One newline at its end belongs to the frame and not to the text.
    pub fn log_line(is_std_err: bool, line: &str) -> Change {
        let line = line.strip_suffix('\n').unwrap_or(line);
        Change::ServiceLogs { is_std_err, log_message: line.strip_suffix('\r').unwrap_or(line).to_owned() }
    }

    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Change {
        let (message, code) = (message.into(), Some(code.into()));
        Change::SessionMessage { level: MessageLevel::Error, message, code, details: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(change: Change) -> String {
        serde_json::to_string(&Notification::new("run-1", change)).unwrap()
    }

    #[test]
    fn each_notification_is_one_object_with_its_type() {
        for (change, text) in [
            (Change::ProcessRestarted { pid: Some(7) }, r#""notification_type":"processRestarted","pid":7}"#),
            (
                Change::terminated(Some(-1)),
                r#""notification_type":"sessionTerminated","exit_code":4294967295}"#,
            ),
            (Change::terminated(None), r#""notification_type":"sessionTerminated"}"#),
            (
                Change::log_line(false, "a\n\n"),
                r#""notification_type":"serviceLogs","is_std_err":false,"log_message":"a\n"}"#,
            ),
            (
                Change::error("Failed", "why"),
                r#""notification_type":"sessionMessage","level":"error","message":"why","code":"Failed"}"#,
            ),
        ] {
            let expected = format!("{{\"session_id\":\"run-1\",{text}");
            assert_eq!(written(change.clone()), expected);
            assert_eq!(Notification::parse(&expected).unwrap().change, change);
        }
    }

    #[test]
    fn type_that_a_later_version_knows_is_unknown_and_no_error() {
        let text = r#"{"notification_type": "sessionMoved", "session_id": "run-1", "to": {}}"#;
        assert_eq!(Notification::parse(text).unwrap().change, Change::Unknown);
    }

    #[test]
    fn details_that_are_null_count_as_absent() {
        let text = r#"{"notification_type": "sessionMessage", "session_id": "run-1", "level": "error", "message": "why", "code": "Failed", "details": null}"#;
        assert_eq!(Notification::parse(text).unwrap().change, Change::error("Failed", "why"));
    }

    #[test]
    fn notification_without_a_session_is_an_error() {
        let missing = Notification::parse(r#"{"notification_type": "processRestarted"}"#);
        assert!(matches!(missing, Err(NotificationError::Invalid(_))));
        let empty = Notification::parse(r#"{"notification_type": "processRestarted", "session_id": ""}"#);
        assert!(matches!(empty, Err(NotificationError::NoSession)));
        assert!(Notification::parse("[]").is_err());
    }
}
