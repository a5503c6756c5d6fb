//! The handshake of the debug bridge: one length-prefixed JSON object in each direction, before the first DAP byte.
//!
//! It reads exactly the handshake and not a byte more, because DAP may follow in the same write. Whether the session exists
//! and the token is right is decided in `sessions`; nothing is started here.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use breakroom_wire::header;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::timeout;

/// What stands for the port in the arguments of an adapter.
const PORT: &str = "{{port}}";
/// The largest handshake, in both directions.
pub const MAX_MESSAGE: usize = 65_536;
/// The time for the whole handshake, counted from the moment the connection was accepted.
pub const DEADLINE: Duration = Duration::from_secs(30);

const WRONG_TYPE: &str = "the handshake has a member of the wrong type";

/// How long a client that was refused may keep sending.
const DRAIN: Duration = Duration::from_secs(1);

/// What the client of a debug session sends first.
#[derive(Deserialize)]
pub struct Request {
    #[serde(default)]
    pub token: String,
    #[serde(default)]
    pub session_id: String,
    #[serde(default)]
    pub run_id: Option<String>,
    /// Null counts as missing.
    #[serde(default)]
    pub debug_adapter_config: Option<AdapterConfig>,
}

/// Which adapter the client wants, and how to reach it.
#[derive(Debug, Clone, Deserialize)]
pub struct AdapterConfig {
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub env: Option<Vec<EnvEntry>>,
    #[serde(default, rename = "connectionTimeoutSeconds")]
    pub connection_timeout_seconds: Option<f64>,
    /// The other spelling: a duration such as `10s` or `1m30s`.
    #[serde(default, rename = "connectionTimeout")]
    pub connection_timeout: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct EnvEntry {
    pub name: String,
    /// Omitted by clients when it is empty.
    #[serde(default)]
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Response {
    pub success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Response {
    pub fn accepted() -> Self {
        Response { success: true, error: None }
    }

    pub fn refused(error: impl Into<String>) -> Self {
        Response { success: false, error: Some(error.into()) }
    }
}

/// Why a handshake could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The connection ended, or the deadline passed: nothing can be answered.
    #[error("the handshake did not arrive: {0}")]
    Lost(#[from] io::Error),
    /// The framing is intact, so the client can be told.
    #[error("{0}")]
    Invalid(String),
}

/// Reads one handshake request.
pub fn read(stream: &UnixStream, by: Instant) -> Result<Request, ReadError> {
    let mut prefix = [0; 4];
    read_exact(stream, &mut prefix, by)?;
    let length = u32::from_be_bytes(prefix) as usize;
    if length == 0 || length > MAX_MESSAGE {
        let text = format!("the handshake has {length} bytes; it must have 1 to {MAX_MESSAGE}");
        return Err(ReadError::Invalid(text));
    }
    let mut body = vec![0; length];
    read_exact(stream, &mut body, by)?;
    parse(&body)
}

/// A request from its JSON.
pub fn parse(body: &[u8]) -> Result<Request, ReadError> {
    // The parser's own text could repeat a part of the input, which holds the token.
    let describe = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => WRONG_TYPE.to_owned(),
        _ => "the handshake is not valid JSON".to_owned(),
    };
    let value: Value = serde_json::from_slice(body).map_err(|error| ReadError::Invalid(describe(error)))?;
    let object = match value {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    if !has_objects(&object) {
        return Err(ReadError::Invalid(WRONG_TYPE.to_owned()));
    }
    serde_json::from_value(object).map_err(|error| ReadError::Invalid(describe(error)))
}

/// Whether there is an object wherever one belongs. From an array serde would read members by their positions.
fn has_objects(request: &Value) -> bool {
    let config = &request["debug_adapter_config"];
    let mut entries = config["env"].as_array().into_iter().flatten();
    request.is_object() && (config.is_null() || config.is_object()) && entries.all(Value::is_object)
}

/// Writes the answer. Nothing else may be written before it.
pub fn write(mut stream: &UnixStream, response: &Response, by: Instant) -> io::Result<()> {
    let body = serde_json::to_vec(response)?;
    let prefix = header::length_prefix(body.len()).map_err(io::Error::other)?;
    stream.set_write_timeout(Some(remaining(by)?))?;
    stream.write_all(&[&prefix[..], &body].concat())?;
    stream.set_write_timeout(None)
}

/// Refuses the handshake.
pub fn refuse(stream: &UnixStream, error: &str, by: Instant) {
    let by = by.min(Instant::now() + DRAIN);
    match write(stream, &Response::refused(error), by) {
        Ok(()) => close(stream, by),
        Err(error) => tracing::debug!("a client left before its handshake was refused: {error}"),
    }
}

/// Ends a connection after its last words. What the client has sent beyond them is read and dropped until `by`, because
/// unread bytes would destroy the last words on their way. Duplicates of the connection end too.
pub fn close(stream: &UnixStream, by: Instant) {
    let drain = || {
        stream.shutdown(Shutdown::Write)?;
        stream.set_read_timeout(Some(remaining(by)?))?;
        io::copy(&mut stream.take(16 * MAX_MESSAGE as u64), &mut io::sink())
    };
    if let Err(error) = drain() {
        tracing::debug!("a client did not close its connection: {error}");
    }
    // It fails only if the client was faster.
    let _ = stream.shutdown(Shutdown::Both);
}

pub(crate) fn remaining(by: Instant) -> io::Result<Duration> {
    let left = by.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

pub(crate) fn read_exact(mut stream: &UnixStream, mut buffer: &mut [u8], by: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        stream.set_read_timeout(Some(remaining(by)?))?;
        match stream.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => buffer = &mut buffer[read..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
    stream.set_read_timeout(None)
}

impl AdapterConfig {
    /// The adapter record of the hub, or why there can be none.
    pub fn record(&self) -> Result<Value, String> {
        if self.args.first().is_none_or(String::is_empty) {
            return Err("\"args\" is empty; its first element is the debug adapter to start".to_owned());
        }
        let mode = self.mode.as_deref().filter(|mode| !mode.is_empty()).unwrap_or("stdio");
        if !["stdio", "tcp-callback", "tcp-connect"].contains(&mode) {
            return Err(format!(
                "mode {mode:?} is unknown; use \"stdio\", \"tcp-callback\" or \"tcp-connect\""
            ));
        }
        if mode != "stdio" && !self.args.iter().any(|argument| argument.contains(PORT)) {
            return Err(format!(
                "mode {mode:?} needs {PORT} in \"args\", so that the adapter learns the port"
            ));
        }
        let mut names = self.env.iter().flatten().map(|entry| &entry.name);
        if let Some(name) = names.find(|name| name.is_empty() || name.contains('=')) {
            return Err(format!("{name:?} cannot be the name of an environment variable"));
        }
        let variables = self.env.iter().flatten().flat_map(|entry| [&entry.name, &entry.value]);
        if self.args.iter().chain(variables).any(|text| text.contains('\0')) {
            return Err("\"args\" or \"env\" holds a NUL character".to_owned());
        }
        let env = self.env.iter().flatten().map(|entry| json!({"name": entry.name, "value": entry.value}));
        let timeout = timeout::of(self.connection_timeout_seconds, self.connection_timeout.as_deref())?;
        let mut record = json!({"args": self.args, "mode": mode, "env": env.collect::<Vec<_>>()});
        // Over stdio there is no connection to wait for.
        if mode != "stdio" {
            record["connectionTimeoutSeconds"] = json!(timeout.as_secs_f64());
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Value, String> {
        serde_json::from_str::<AdapterConfig>(text).unwrap().record()
    }

    #[test]
    fn absent_members_get_their_defaults() {
        let record = config(r#"{"args": ["adapter", "--x"]}"#).unwrap();
        assert_eq!(record, json!({"args": ["adapter", "--x"], "mode": "stdio", "env": []}));
        let record = config(
            r#"{"args": ["a", "{{port}}"], "mode": "tcp-connect", "env": [{"name": "A"}, {"name": "B", "value": "1"}],
                "connectionTimeoutSeconds": 3}"#,
        );
        let env = json!([{"name": "A", "value": ""}, {"name": "B", "value": "1"}]);
        let record = record.unwrap();
        assert_eq!((&record["env"], &record["connectionTimeoutSeconds"]), (&env, &json!(3.0)));
    }

    #[test]
    fn config_that_cannot_start_anything_is_refused_with_the_reason() {
        for (text, reason) in [
            (r#"{"args": []}"#, "\"args\" is empty"),
            (r#"{"args": [""]}"#, "\"args\" is empty"),
            (r#"{}"#, "\"args\" is empty"),
            (r#"{"args": ["a"], "mode": "callback"}"#, "mode \"callback\" is unknown"),
            (r#"{"args": ["a"], "connectionTimeout": "soon"}"#, "soon"),
            (r#"{"args": ["a"], "mode": "tcp-connect"}"#, "needs {{port}}"),
            (r#"{"args": ["a"], "env": [{"name": "A=B"}]}"#, "A=B"),
            (r#"{"args": ["a\u0000"]}"#, "NUL"),
        ] {
            let error = config(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn input_that_is_not_a_handshake_is_refused_without_repeating_it() {
        for text in [
            "{",
            "[]",
            "7",
            "\u{1}",
            r#"{"token": 5}"#,
            r#"{"token":"secret","session_id":{}}"#,
            r#"["secret", "s"]"#,
            r#"{"token":"secret","debug_adapter_config":[["adapter"]]}"#,
            r#"{"token":"secret","debug_adapter_config":{"args":["adapter"],"env":[["A","1"]]}}"#,
        ] {
            let Err(ReadError::Invalid(error)) = parse(text.as_bytes()) else { panic!("{text}") };
            assert!(!error.contains("secret"), "{error}");
        }
        for empty in ["null", "{}", r#"{"debug_adapter_config": null, "unknown": [1]}"#] {
            let request = parse(empty.as_bytes()).unwrap();
            assert!(request.session_id.is_empty() && request.debug_adapter_config.is_none(), "{empty}");
        }
    }
}
