//! Where the IDE is and how to log in to it: the environment variables that the IDE gives its orchestrator.
//!
//! It connects to nothing.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use breakroom_ide_protocol::{CERTIFICATE, INSTANCE_ID_PREFIX, PORT, Port, PortError, TOKEN};

use crate::random;

/// Names and defaults of the timeouts, which are DCP's.
const REQUEST_TIMEOUT: (&str, u64) = ("DCP_IDE_REQUEST_TIMEOUT_SECONDS", 120);
const NOTIFICATION_TIMEOUT: (&str, u64) = ("DCP_IDE_NOTIFICATION_TIMEOUT_SECONDS", 20);
/// 0 turns the pings off.
const KEEPALIVE: (&str, u64) = ("DCP_IDE_NOTIFICATION_KEEPALIVE_SECONDS", 5);

const INSTANCE_LETTERS: usize = 12;

/// What the environment says about the IDE.
pub struct Settings {
    pub port: Port,
    pub token: String,
    /// The DER form of the only certificate that is trusted. Without it, the connection is plain HTTP.
    pub certificate: Option<Vec<u8>>,
    /// The id of this orchestrator, the same for each connection.
    pub instance_id: String,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// How long the WebSocket may be silent.
    pub notification_timeout: Duration,
    /// The interval between two pings.
    pub keepalive: Option<Duration>,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(
        "{0} is not set; an IDE sets it for the orchestrator that it starts, as `breakroom ide -- COMMAND` does"
    )]
    Missing(&'static str),
    #[error(transparent)]
    Port(#[from] PortError),
    #[error("{CERTIFICATE} must be the base64 text of a certificate in DER form: {0}")]
    Certificate(base64::DecodeError),
    #[error("{name} is {value:?}; it must be a number of seconds")]
    Seconds { name: &'static str, value: String },
    #[error("no random numbers for the id of this orchestrator: {0}")]
    Random(std::io::Error),
}

impl Settings {
    pub fn from_environment() -> Result<Settings, SettingsError> {
        // No variable of this protocol can hold anything but text.
        Settings::read(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// A variable that is empty counts as absent.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Settings, SettingsError> {
        let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let required = |name| given(name).ok_or(SettingsError::Missing(name));
        let seconds = |(name, default): (&'static str, u64)| {
            let read = |value: String| {
                value.trim().parse().map_err(|_| SettingsError::Seconds { name, value: value.clone() })
            };
            given(name).map_or(Ok(default), read).map(Duration::from_secs)
        };
        let letters = random::letters(INSTANCE_LETTERS).map_err(SettingsError::Random)?;
        Ok(Settings {
            port: required(PORT)?.parse()?,
            token: required(TOKEN)?,
            certificate: given(CERTIFICATE).as_deref().map(decode).transpose()?,
            instance_id: format!("{}{letters}", given(INSTANCE_ID_PREFIX).unwrap_or_default()),
            request_timeout: seconds(REQUEST_TIMEOUT)?,
            notification_timeout: seconds(NOTIFICATION_TIMEOUT)?,
            keepalive: Some(seconds(KEEPALIVE)?).filter(|interval| !interval.is_zero()),
        })
    }
}

/// Line breaks are allowed in the base64 text.
fn decode(text: &str) -> Result<Vec<u8>, SettingsError> {
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(text).map_err(SettingsError::Certificate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let value = |name: &str| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| value);
        Settings::read(|name| value(name).map(ToString::to_string))
    }

    fn error(variables: &[(&str, &str)]) -> String {
        read(variables).err().unwrap().to_string()
    }

    #[test]
    fn instance_id_is_the_prefix_and_twelve_letters() {
        let settings =
            read(&[(PORT, "localhost:1"), (TOKEN, "t"), (INSTANCE_ID_PREFIX, "dcp-")]).ok().unwrap();
        let letters = settings.instance_id.strip_prefix("dcp-").unwrap();
        assert!(letters.len() == 12 && letters.bytes().all(|letter| letter.is_ascii_lowercase()));
        let other = read(&[(PORT, "localhost:1"), (TOKEN, "t")]).ok().unwrap();
        assert!(other.instance_id.len() == 12 && !settings.instance_id.ends_with(&other.instance_id));
    }

    #[test]
    fn certificate_is_base64_and_absent_means_none() {
        let with = |certificate| read(&[(PORT, "1"), (TOKEN, "t"), (CERTIFICATE, certificate)]);
        assert_eq!(with("AQ\nID\n").ok().unwrap().certificate, Some(vec![1, 2, 3]));
        assert_eq!(with("").ok().unwrap().certificate, None);
        assert!(with("-----BEGIN").is_err());
    }

    #[test]
    fn variable_that_is_missing_or_wrong_is_named() {
        assert!(error(&[(TOKEN, "t")]).contains(PORT));
        assert!(error(&[(PORT, "1")]).contains(TOKEN));
        assert!(error(&[(PORT, "1"), (TOKEN, "")]).contains(TOKEN));
        assert!(error(&[(PORT, "elsewhere:1"), (TOKEN, "t")]).contains("elsewhere:1"));
        assert!(error(&[(PORT, "1"), (TOKEN, "t"), (KEEPALIVE.0, "5s")]).contains(KEEPALIVE.0));
    }
}
