//! The environment variables by which an orchestrator finds the IDE.

use std::fmt;
use std::str::FromStr;

/// `localhost:PORT`, where the IDE listens.
pub const PORT: &str = "DEBUG_SESSION_PORT";
/// The bearer token.
pub const TOKEN: &str = "DEBUG_SESSION_TOKEN";
/// The certificate of the IDE: base64 of its DER form. It is the only root.
pub const CERTIFICATE: &str = "DEBUG_SESSION_SERVER_CERTIFICATE";
/// The text that the IDE answers at [`INFO_PATH`](crate::INFO_PATH), for programs that do not ask.
pub const INFO: &str = "DEBUG_SESSION_INFO";
/// Whether services are debugged or only run.
pub const RUN_MODE: &str = "DEBUG_SESSION_RUN_MODE";
pub const RUN_MODE_DEBUG: &str = "Debug";
/// How the ids of the orchestrator's instances begin.
pub const INSTANCE_ID_PREFIX: &str = "DCP_INSTANCE_ID_PREFIX";

/// The port in [`PORT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port(pub u16);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{PORT} is {0:?}; it must be `localhost:PORT`")]
pub struct PortError(String);

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "localhost:{}", self.0)
    }
}

impl FromStr for Port {
    type Err = PortError;

    /// The host may be absent.
    fn from_str(text: &str) -> Result<Self, PortError> {
        let number = text.trim();
        let number = number.strip_prefix("localhost:").unwrap_or(number);
        number.parse().ok().filter(|port| *port != 0).map(Port).ok_or_else(|| PortError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_read_with_and_without_its_host() {
        for text in ["localhost:4711", " localhost:4711\n", "4711"] {
            assert_eq!(text.parse(), Ok(Port(4711)));
        }
        assert_eq!(Port(4711).to_string(), "localhost:4711");
        for text in ["", "localhost", "localhost:0", "localhost:70000", "example.org:80"] {
            assert!(text.parse::<Port>().is_err(), "{text}");
        }
    }
}
