//! Responses: their bodies, what is wrong with one that is received, and how one is written.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::value::{Frame, Thread, Variable};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    pub threads: Vec<Thread>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    pub thread_id: i64,
    pub frames: Vec<Frame>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    pub thread_id: i64,
    pub frame_id: i64,
    pub variables: Vec<Variable>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Properties {
    pub thread_id: i64,
    pub frame_id: i64,
    pub addr: i64,
    pub type_id: i64,
    #[serde(default)]
    pub start: i64,
    /// How many are in `properties`.
    #[serde(default)]
    pub count: i64,
    /// How many there are.
    #[serde(default)]
    pub size: i64,
    pub properties: Vec<Variable>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    pub thread_id: i64,
    pub frame_id: i64,
    pub expression: String,
    pub result: Variable,
}

/// The body of the response to `set_variable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assigned {
    pub thread_id: i64,
    pub frame_id: i64,
    pub addr: i64,
    pub type_id: i64,
}

/// A response that was received.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub request_seq: i64,
    pub command: String,
    /// The whole message, or why the request failed.
    pub result: Result<Value, String>,
}

/// A message that breaks the protocol. What it was about is known as far as it says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    pub request_seq: Option<i64>,
    pub command: Option<String>,
    pub why: String,
}

impl Invalid {
    pub fn of(message: &Value, why: String) -> Invalid {
        let command = message["command"].as_str().map(str::to_owned);
        Invalid { request_seq: message["requestSeq"].as_i64(), command, why }
    }
}

impl Response {
    pub fn read(message: &Value) -> Result<Response, Invalid> {
        let invalid = |what: &str| Invalid::of(message, format!("a response without {what}"));
        let request_seq = message["requestSeq"].as_i64().ok_or_else(|| invalid("`requestSeq`"))?;
        let command = message["command"].as_str().ok_or_else(|| invalid("`command`"))?.to_owned();
        let success = message["success"].as_bool().ok_or_else(|| invalid("`success`"))?;
        let why = || match message["message"].as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => format!("the runtime refused `{command}` without a reason"),
        };
        let result = if success { Ok(message.clone()) } else { Err(why()) };
        Ok(Response { request_seq, command, result })
    }

    /// The command-specific fields of a success.
    pub fn body<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_json::from_value(self.result?)
            .map_err(|error| format!("the response to `{}` is invalid: {error}", self.command))
    }
}

/// A response that is to be written.
#[derive(Debug)]
pub struct Reply<'a> {
    pub request_seq: i64,
    pub command: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, B: Serialize> {
    r#type: &'static str,
    request_seq: i64,
    command: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(flatten)]
    body: B,
}

impl Reply<'_> {
    pub fn success(&self, body: impl Serialize) -> String {
        self.line(None, body)
    }

    /// `fields` are those of [`failure_fields`].
    pub fn failure(&self, why: &str, fields: &Map<String, Value>) -> String {
        self.line(Some(if why.trim().is_empty() { "failed" } else { why }), fields)
    }

    fn line(&self, message: Option<&str>, body: impl Serialize) -> String {
        let Reply { request_seq, command } = *self;
        let success = message.is_none();
        let line = Line { r#type: "response", request_seq, command, success, message, body };
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    }
}

/// What a failure echoes.
const ECHOED: [&str; 6] = ["threadId", "frameId", "addr", "typeId", "start", "expression"];

/// The command-specific fields of a failure: ids as the request has them, everything else empty.
pub fn failure_fields(request: &Value) -> Map<String, Value> {
    let fields = match request["command"].as_str().unwrap_or_default() {
        "get_threads" => json!({"threads": []}),
        "get_stack" => json!({"threadId": 0, "frames": []}),
        "get_scope" => json!({"threadId": 0, "frameId": 0, "variables": []}),
        "get_property" => json!({
            "threadId": 0, "frameId": 0, "addr": 0, "typeId": 0, "start": 0, "count": 0, "size": 0,
            "properties": [],
        }),
        "get_evaluation" => json!({"threadId": 0, "frameId": 0, "expression": "", "result": {}}),
        "set_variable" => json!({"threadId": 0, "frameId": 0, "addr": 0, "typeId": 0}),
        _ => json!({}),
    };
    let Value::Object(mut fields) = fields else { return Map::new() };
    for (name, value) in &mut fields {
        let said = &request[name.as_str()];
        let is_alike = (value.is_i64() && said.is_i64()) || (value.is_string() && said.is_string());
        if ECHOED.contains(&name.as_str()) && is_alike {
            *value = said.clone();
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_echoes_ids_and_leaves_the_rest_empty() {
        let request = json!({"command": "get_property", "threadId": 7, "addr": "x", "start": 3, "count": 9});
        let reply = Reply { request_seq: 2, command: "get_property" };
        let line = reply.failure("", &failure_fields(&request));
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            read,
            json!({
                "type": "response", "requestSeq": 2, "command": "get_property", "success": false,
                "message": "failed", "threadId": 7, "frameId": 0, "addr": 0, "typeId": 0, "start": 3,
                "count": 0, "size": 0, "properties": [],
            })
        );
    }

    #[test]
    fn success_without_a_required_field_is_invalid() {
        let message = json!({"requestSeq": 1, "command": "get_stack", "success": true, "threadId": 1});
        let why = Response::read(&message).unwrap().body::<Stack>().unwrap_err();
        assert!(why.contains("get_stack") && why.contains("frames"), "{why}");
        let invalid = Response::read(&json!({"requestSeq": 1, "command": "get_stack"})).unwrap_err();
        assert_eq!(invalid.request_seq, Some(1));
    }

    #[test]
    fn failure_without_a_message_has_one_for_people() {
        let message = json!({"requestSeq": 1, "command": "pause", "success": false, "message": ""});
        let why = Response::read(&message).unwrap().result.unwrap_err();
        assert!(why.contains("pause"), "{why}");
    }
}
