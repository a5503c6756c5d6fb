//! The remote runtime protocol, version 1.0: JSON Lines between a Visual Studio extension and a script runtime.
//!
//! Here are its messages and its rules, for both sides: the runtime adapter sends requests, the Visual Studio front end
//! answers them. It opens no connection and knows neither DAP nor a debugger.

mod command;
mod event;
mod paths;
mod response;
mod size;
mod value;

pub use command::{Breakpoint, Command, PropertyRange, Request, StepKind, Unreadable, is_answered};
pub use event::{ChangeType, Event, Exception, StopReason};
pub use paths::{has_parent_steps, resolve, same_file};
pub use response::{
    Assigned, Evaluation, Invalid, Properties, Reply, Response, Scope, Stack, Threads, failure_fields,
};
pub use size::{cut, fit_list, pieces};
pub use value::{Elements, Frame, Thread, Variable};

use serde_json::Value;

/// What a side may receive.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    Response(Response),
    Event(Event),
    /// Not a message of the protocol, or one that this version does not know: it is ignored.
    Ignored,
    /// A message that breaks the protocol, and how.
    Invalid(Invalid),
}

impl Incoming {
    /// Reads a line that a runtime sent. Text that does not begin as an object is not a message: some runtimes write a
    /// heartbeat between messages.
    pub fn read(line: &[u8]) -> Incoming {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if !line.trim_ascii_start().starts_with(b"{") {
            return Incoming::Ignored;
        }
        let message: Value = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => return Incoming::Invalid(Invalid::of(&Value::Null, error.to_string())),
        };
        match message["type"].as_str() {
            Some("response") => match Response::read(&message) {
                Ok(response) => Incoming::Response(response),
                Err(invalid) => Incoming::Invalid(invalid),
            },
            Some("event") => match Event::read(message) {
                Ok(Some(event)) => Incoming::Event(event),
                Ok(None) => Incoming::Ignored,
                Err(why) => Incoming::Invalid(Invalid::of(&Value::Null, why)),
            },
            Some("request") => Incoming::Ignored,
            _ => Incoming::Invalid(Invalid::of(&message, format!("its type is {}", message["type"]))),
        }
    }
}

/// The name of a variant that serde knows by its tag, such as `get_stack`.
fn tag_of(value: &impl serde::Serialize, tag: &str) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value[tag].as_str().unwrap_or_default().to_owned()
}
