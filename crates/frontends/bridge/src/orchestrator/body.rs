//! The body of `PUT /run_session`, which the user writes and to which only the fields of the bridge are added.
//!
//! Whether the IDE can run it is for the IDE to decide.

use serde_json::{Map, Value};

const SOCKET: &str = "debug_bridge_socket_path";
const SESSION: &str = "debug_session_id";

/// What to run, without a bridge.
#[derive(Debug, Clone, PartialEq)]
pub struct Body(Map<String, Value>);

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the run session is not valid JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("the run session must be a JSON object with \"launch_configurations\"")]
    NotObject,
    #[error("the run session must not have \"{0}\"; this command opens a bridge and adds the field itself")]
    HasBridge(&'static str),
}

impl Body {
    pub fn parse(text: &[u8]) -> Result<Body, BodyError> {
        let Value::Object(members) = serde_json::from_slice(text)? else { return Err(BodyError::NotObject) };
        match [SOCKET, SESSION].into_iter().find(|field| members.contains_key(*field)) {
            Some(field) => Err(BodyError::HasBridge(field)),
            None => Ok(Body(members)),
        }
    }

    /// The text to be sent, with the bridge by which the service is debugged, if there is one.
    pub fn with_bridge(mut self, bridge: Option<(&str, &str)>) -> String {
        if let Some((socket, session)) = bridge {
            self.0.insert(SOCKET.to_owned(), socket.into());
            self.0.insert(SESSION.to_owned(), session.into());
        }
        Value::Object(self.0).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bridge_is_added_to_what_the_user_wrote() {
        let body = Body::parse(br#"{"launch_configurations": [{"type": "x"}], "new": 1}"#).unwrap();
        let sent = body.clone().with_bridge(Some(("/s", "i")));
        let expected = r#"{"debug_bridge_socket_path":"/s","debug_session_id":"i","launch_configurations":[{"type":"x"}],"new":1}"#;
        assert_eq!(sent, expected);
        assert_eq!(body.with_bridge(None), r#"{"launch_configurations":[{"type":"x"}],"new":1}"#);
    }

    #[test]
    fn body_that_is_no_object_or_has_a_bridge_is_refused() {
        for (text, part) in [
            ("[]", "must be a JSON object"),
            ("{", "not valid JSON"),
            (r#"{"debug_session_id": null}"#, SESSION),
            (r#"{"debug_bridge_socket_path": "/s"}"#, SOCKET),
        ] {
            let error = Body::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
