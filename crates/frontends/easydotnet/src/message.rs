//! JSON-RPC 2.0: the three kinds of messages, read and composed.
//!
//! Ids are echoed as they came. Nothing here knows a method. An absent member is never written as null, because the plugin
//! takes null for a value; only the result of a method that returns nothing is null.

use breakroom_wire::header;
use serde_json::{Map, Value, json};

/// A message from the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Value, outcome: Result<Value, RpcError> },
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    pub code: i64,
    pub message: String,
}

/// The codes of JSON-RPC and of StreamJsonRpc.
pub mod code {
    pub const PARSE: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const NO_METHOD: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const FAILED: i64 = -32000;
    pub const UNKNOWN_TOKEN: i64 = -32001;
    pub const CANCELLED: i64 = -32800;
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }

    /// A method that could not do what it was called for.
    pub fn failed(message: impl Into<String>) -> RpcError {
        RpcError::new(code::FAILED, message)
    }

    pub fn invalid_params(message: impl Into<String>) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, message)
    }
}

/// Reads one message. The error is the response to what cannot be read.
pub fn read(body: &[u8]) -> Result<Incoming, Value> {
    let refuse = |code, text: String| Err(response(&Value::Null, Err(RpcError::new(code, text))));
    let mut message: Map<String, Value> = match serde_json::from_slice(body) {
        Ok(Value::Object(message)) => message,
        Ok(_) => return refuse(code::INVALID_REQUEST, "the message is not an object".into()),
        Err(error) => return refuse(code::PARSE, format!("the message is not JSON: {error}")),
    };
    let mut take = |name: &str| message.remove(name);
    let method = match take("method") {
        Some(Value::String(method)) => Some(method),
        _ => None,
    };
    let params = take("params").unwrap_or_default();
    let (id, result, error) = (take("id"), take("result"), take("error"));
    match (id, method) {
        (Some(id), Some(method)) if id.is_string() || id.is_number() => {
            Ok(Incoming::Request { id, method, params })
        }
        (None, Some(method)) => Ok(Incoming::Notification { method, params }),
        (Some(id), None) if result.is_some() || error.is_some() => {
            let outcome = match error.filter(|error| !error.is_null()) {
                None => Ok(result.unwrap_or_default()),
                Some(error) => {
                    let text = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
                    Err(RpcError::new(error["code"].as_i64().unwrap_or_default(), text))
                }
            };
            Ok(Incoming::Response { id, outcome })
        }
        _ => refuse(
            code::INVALID_REQUEST,
            "the message is neither a request, a notification nor a response".into(),
        ),
    }
}

pub fn response(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    }
}

pub fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The message with its header.
pub fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut framed = Vec::new();
    header::write_content_length(&mut framed, body.len());
    framed.extend_from_slice(body.as_bytes());
    framed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_messages_are_told_apart_and_ids_kept() {
        let of = |text: &str| read(text.as_bytes());
        for id in [json!("c-1"), json!(7)] {
            let text = json!({"jsonrpc": "2.0", "id": id, "method": "m", "params": []}).to_string();
            assert_eq!(of(&text), Ok(Incoming::Request { id, method: "m".into(), params: json!([]) }));
        }
        let note = Incoming::Notification { method: "n".into(), params: Value::Null };
        assert_eq!(of(r#"{"method": "n"}"#), Ok(note));
        let answer = Incoming::Response { id: json!(3), outcome: Ok(Value::Null) };
        assert_eq!(of(r#"{"id": 3, "result": null}"#), Ok(answer));
        let failed = Incoming::Response { id: json!(3), outcome: Err(RpcError::new(-32001, "no")) };
        assert_eq!(of(r#"{"id": 3, "error": {"code": -32001, "message": "no"}}"#), Ok(failed));
        for (text, code) in [("{", -32700), ("[]", -32600), ("7", -32600), (r#"{"id": 1}"#, -32600)] {
            let refusal = of(text).unwrap_err();
            assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(code)), "{text}");
        }
    }

    #[test]
    fn response_has_a_result_or_an_error_and_never_both() {
        let failed = response(&json!("c-1"), Err(RpcError::failed("no")));
        assert!(failed.get("result").is_none() && failed["error"].get("data").is_none());
        let done = response(&json!("c-1"), Ok(Value::Null));
        assert!(done.get("error").is_none() && done.get("result").is_some());
    }
}
