//! The body of `PUT /run_session`: what is to be run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::null_as_default;

/// Members that are not known here are ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSession {
    pub launch_configurations: Vec<LaunchConfiguration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<EnvVar>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_bridge_socket_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_session_id: Option<String>,
}

/// How one service is started. Which members there are depends on the type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LaunchConfiguration(pub Map<String, Value>);

/// An environment variable. One without a value is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvVar {
    pub name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub value: String,
}

/// Whether a service is debugged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Debug,
    NoDebug,
}

/// Where the debug adapter of a run session is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bridge {
    pub socket: String,
    pub session_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunSessionError {
    #[error("\"launch_configurations\" is empty; it must name at least one")]
    NoConfiguration,
    #[error("\"debug_bridge_socket_path\" needs \"debug_session_id\" beside it")]
    NoSessionId,
    #[error("\"debug_session_id\" needs \"debug_bridge_socket_path\" beside it")]
    NoSocket,
}

impl RunSession {
    /// The configuration that counts.
    pub fn configuration(&self) -> Result<&LaunchConfiguration, RunSessionError> {
        self.launch_configurations.first().ok_or(RunSessionError::NoConfiguration)
    }

    /// The debug bridge, if the run session is to be debugged through one.
    pub fn bridge(&self) -> Result<Option<Bridge>, RunSessionError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        match (given(&self.debug_bridge_socket_path), given(&self.debug_session_id)) {
            (Some(socket), Some(session_id)) => Ok(Some(Bridge { socket, session_id })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(RunSessionError::NoSessionId),
            (None, Some(_)) => Err(RunSessionError::NoSocket),
        }
    }
}

impl LaunchConfiguration {
    pub fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    pub fn mode(&self) -> Mode {
        match self.text("mode") {
            Some(mode) if mode.eq_ignore_ascii_case("NoDebug") => Mode::NoDebug,
            _ => Mode::Debug,
        }
    }

    /// A member that is a text and not empty.
    pub fn text(&self, member: &str) -> Option<&str> {
        self.0.get(member)?.as_str().filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RunSession {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn members_that_are_unknown_are_ignored_and_absent_ones_have_defaults() {
        let run = read(r#"{"launch_configurations": [{"type": "python", "new": {}}], "later": [1]}"#);
        let configuration = run.configuration().unwrap();
        assert_eq!((configuration.kind(), configuration.mode()), ("python", Mode::Debug));
        assert_eq!((&run.env, &run.args, run.bridge()), (&None, &None, Ok(None)));
    }

    #[test]
    fn variable_without_a_value_is_empty() {
        let run =
            read(r#"{"env": [{"name": "A"}, {"name": "B", "value": null}, {"name": "C", "value": "1"}]}"#);
        let values: Vec<_> = run.env.iter().flatten().map(|variable| &*variable.value).collect();
        assert_eq!(values, ["", "", "1"]);
    }

    #[test]
    fn bridge_needs_both_of_its_members() {
        let both = read(r#"{"debug_bridge_socket_path": "/s", "debug_session_id": "i"}"#);
        let bridge = Bridge { socket: "/s".to_owned(), session_id: "i".to_owned() };
        assert_eq!(both.bridge(), Ok(Some(bridge)));
        let socket = read(r#"{"debug_bridge_socket_path": "/s", "debug_session_id": ""}"#);
        assert_eq!(socket.bridge(), Err(RunSessionError::NoSessionId));
        let id = read(r#"{"debug_session_id": "i"}"#);
        assert_eq!(id.bridge(), Err(RunSessionError::NoSocket));
        assert_eq!(read("{}").configuration(), Err(RunSessionError::NoConfiguration));
    }
}
