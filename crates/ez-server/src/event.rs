//! What the server says, read from one JSON object.
//!
//! Only what the document lists, and what is known to be added to it, counts as said by the server: anything else on its
//! stdout is the program's output. Fields of the wrong type are read as absent; servers send odd ones.

use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Initialized,
    Started,
    Stopped {
        reason: Reason,
        at: Location,
    },
    Output {
        category: Category,
        text: String,
    },
    Error(Problem),
    Variables(Vec<Variable>),
    StackTrace(Vec<Frame>),
    BreakpointSet {
        file: String,
        line: i64,
        id: Option<i64>,
    },
    BreakpointCleared,
    Evaluated {
        result: String,
        kind: Option<String>,
    },
    Exited {
        code: i64,
    },
    Terminated,
    /// Nothing that DAP has a use for.
    Aside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Entry,
    Step,
    Breakpoint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Stdout,
    Stderr,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Category::Stdout => "stdout",
            Category::Stderr => "stderr",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Location {
    pub file: String,
    pub line: i64,
    pub column: i64,
}

/// An `error` event: about a command, or about a place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problem {
    pub message: String,
    pub command: Option<String>,
    pub at: Option<Location>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variable {
    pub name: String,
    pub value: String,
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub function: String,
    pub at: Location,
}

/// Events that carry nothing for DAP: changed variables are asked for, and the rest belongs to commands we never send.
const ASIDES: &[&str] = &[
    "variableUpdate",
    "variableSet",
    "dataBreakpointSet",
    "dataBreakpointCleared",
    "watchAdded",
    "watchRemoved",
    "watchUpdate",
    "threads",
];

impl Event {
    /// None: this object is none of the server's events.
    pub fn from_object(object: &Map<String, Value>) -> Option<Event> {
        if object.get("type")? != "event" {
            return None;
        }
        let name = object.get("event")?.as_str()?;
        let data = match object.get("data") {
            None | Some(Value::Null) => &Value::Null,
            Some(data @ Value::Object(_)) => data,
            Some(_) => return None,
        };
        Some(match name {
            "initialized" => Event::Initialized,
            "started" => Event::Started,
            "stopped" => Event::Stopped {
                reason: reason(&data["reason"]),
                at: location(&data["location"]).unwrap_or_default(),
            },
            "output" => Event::Output { category: category(&data["category"]), text: text(&data["text"]) },
            "error" => Event::Error(Problem {
                message: text(&data["message"]),
                command: data["command"].as_str().map(str::to_owned),
                at: location(&data["location"]),
            }),
            "variables" => Event::Variables(list(&data["variables"], |variable| Variable {
                name: text(&variable["name"]),
                value: text(&variable["value"]),
                kind: text(&variable["type"]),
            })),
            "stackTrace" => Event::StackTrace(list(&data["frames"], |frame| Frame {
                function: text(&frame["function"]),
                at: location(frame).unwrap_or_default(),
            })),
            "breakpointSet" => Event::BreakpointSet {
                file: text(&data["file"]),
                line: data["line"].as_i64().unwrap_or_default(),
                id: data["id"].as_i64(),
            },
            "breakpointCleared" => Event::BreakpointCleared,
            "evaluateResult" => Event::Evaluated {
                result: text(&data["result"]),
                kind: data["type"].as_str().map(str::to_owned),
            },
            "exited" => Event::Exited { code: data["exitCode"].as_i64().unwrap_or_default() },
            "terminated" => Event::Terminated,
            aside if ASIDES.contains(&aside) => Event::Aside,
            _ => return None,
        })
    }
}

fn reason(value: &Value) -> Reason {
    match value.as_str() {
        Some("entry") => Reason::Entry,
        Some("breakpoint") => Reason::Breakpoint,
        _ => Reason::Step,
    }
}

fn category(value: &Value) -> Category {
    match value.as_str() {
        None | Some("stdout") => Category::Stdout,
        Some(_) => Category::Stderr,
    }
}

fn location(value: &Value) -> Option<Location> {
    let line = value["line"].as_i64()?;
    let column = value["column"].as_i64().unwrap_or(1).max(1);
    Some(Location { file: text(&value["file"]), line, column })
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().map(|values| values.iter().map(read).collect()).unwrap_or_default()
}

/// Values are text in the document, but a number is better shown than lost.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Option<Event> {
        Event::from_object(value.as_object().unwrap())
    }

    #[test]
    fn only_events_of_the_document_and_its_known_extensions_are_the_servers() {
        assert_eq!(read(&json!({"type": "event", "event": "started", "data": {}})), Some(Event::Started));
        assert_eq!(read(&json!({"event": "terminated", "type": "event"})), Some(Event::Terminated));
        assert_eq!(read(&json!({"type": "event", "event": "watchUpdate", "data": {}})), Some(Event::Aside));
        for other in [
            json!({"a": 1}),
            json!({"type": "event"}),
            json!({"type": "event", "event": 3}),
            json!({"type": "event", "event": "party", "data": {}}),
            json!({"type": "event", "event": "started", "data": [1]}),
            json!({"type": "command", "command": "start"}),
        ] {
            assert_eq!(read(&other), None, "{other}");
        }
    }

    #[test]
    fn fields_of_the_wrong_type_cost_no_event() {
        let stopped = json!({"type": "event", "event": "stopped", "data": {"reason": 3, "location": null}});
        let nowhere = Location::default();
        assert_eq!(read(&stopped), Some(Event::Stopped { reason: Reason::Step, at: nowhere }));
        let number = json!({"type": "event", "event": "variables", "data": {"variables": [{"name": "x", "value": 3}]}});
        let x = Variable { name: "x".into(), value: "3".into(), kind: String::new() };
        assert_eq!(read(&number), Some(Event::Variables(vec![x])));
    }
}
