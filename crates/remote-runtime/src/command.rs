//! Requests: the commands with their fields, read leniently and written with every field.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tag_of;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Command {
    Start,
    Ready,
    Stop,
    Continue { thread_id: i64 },
    Step { thread_id: i64, step_kind: String, step_unit: String },
    Pause,
    SetBreakpoint(Breakpoint),
    RemoveBreakpoint { file: String, line: i64 },
    GetThreads,
    GetStack { thread_id: i64 },
    GetScope { thread_id: i64, frame_id: i64 },
    GetProperty(PropertyRange),
    GetEvaluation { thread_id: i64, frame_id: i64, expression: String },
    SetVariable { thread_id: i64, frame_id: i64, addr: i64, type_id: i64, value: String },
}

/// A breakpoint as it is set. Its file and line are its identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoint {
    pub file: String,
    pub line: i64,
    #[serde(default)]
    pub function: String,
    #[serde(default)]
    pub function_line_offset: i64,
    #[serde(default = "enabled")]
    pub enabled: bool,
    #[serde(default = "no_condition")]
    pub condition_type: String,
    #[serde(default)]
    pub condition: String,
}

fn enabled() -> bool {
    true
}

fn no_condition() -> String {
    Breakpoint::NO_CONDITION.to_owned()
}

impl Breakpoint {
    pub const NO_CONDITION: &str = "none";
    pub const EXPRESSION: &str = "expression";

    /// The condition, if there is one. An error for a type of condition that the protocol does not have.
    pub fn condition(&self) -> Result<Option<&str>, String> {
        match self.condition_type.as_str() {
            Self::NO_CONDITION | "" => Ok(None),
            Self::EXPRESSION if self.condition.trim().is_empty() => Ok(None),
            Self::EXPRESSION => Ok(Some(&self.condition)),
            other => Err(format!("unsupported conditionType {other:?}; use \"none\" or \"expression\"")),
        }
    }
}

/// Which children of which variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyRange {
    pub thread_id: i64,
    pub frame_id: i64,
    pub addr: i64,
    pub type_id: i64,
    pub start: i64,
    /// 0 and below: all of them.
    pub count: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    Into,
    Over,
    Out,
}

impl StepKind {
    pub fn name(self) -> &'static str {
        match self {
            StepKind::Into => "STEP_INTO",
            StepKind::Over => "STEP_OVER",
            StepKind::Out => "STEP_OUT",
        }
    }

    /// The step that a request asks for; why not, if it is unsupported. Visual Studio steps by statements where a host
    /// has them as the default, and means lines.
    pub fn read(kind: &str, unit: &str) -> Result<StepKind, String> {
        if !["STEP_LINE", "STEP_STATEMENT"].contains(&unit) {
            return Err(format!("unsupported stepUnit {unit:?}; only \"STEP_LINE\" is supported"));
        }
        let kinds = [StepKind::Into, StepKind::Over, StepKind::Out];
        let known = kinds.into_iter().find(|known| known.name() == kind);
        known.ok_or_else(|| format!("unsupported stepKind {kind:?}; use STEP_INTO, STEP_OVER or STEP_OUT"))
    }
}

/// Commands that are never answered.
const UNANSWERED: [&str; 4] = ["ready", "stop", "set_breakpoint", "remove_breakpoint"];
const ANSWERED: [&str; 10] = [
    "start",
    "continue",
    "step",
    "pause",
    "get_threads",
    "get_stack",
    "get_scope",
    "get_property",
    "get_evaluation",
    "set_variable",
];

/// Whether a command of this name is answered. An unknown one is: it is refused.
pub fn is_answered(command: &str) -> bool {
    !UNANSWERED.contains(&command)
}

impl Command {
    pub fn name(&self) -> String {
        tag_of(self, "command")
    }
}

/// A request that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub seq: i64,
    /// As it was spelled, because the client waits for exactly this name.
    pub name: String,
    pub command: Command,
    /// The whole message, from which a failure echoes ids.
    pub message: Value,
}

/// Why a line is not a request that can be carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum Unreadable {
    /// It cannot be answered.
    NotARequest(String),
    Refused {
        seq: i64,
        name: String,
        message: Value,
        why: String,
    },
}

const INTEGERS: [&str; 8] =
    ["threadId", "frameId", "addr", "typeId", "start", "count", "line", "functionLineOffset"];

/// The first field of a wrong type, which serde does not name.
fn wrong_field(message: &Value) -> Option<String> {
    let fields = message.as_object()?.iter().filter(|(name, _)| *name != "seq");
    fields.into_iter().find_map(|(name, value)| {
        let wanted = match name.as_str() {
            name if INTEGERS.contains(&name) => (!value.is_i64()).then_some("an integer"),
            "enabled" => (!value.is_boolean()).then_some("true or false"),
            "file" | "value" | "expression" | "condition" | "conditionType" | "function" | "stepKind"
            | "stepUnit" => (!value.is_string()).then_some("text"),
            _ => None,
        };
        wanted.map(|wanted| format!("`{name}` is {value}, expected {wanted}"))
    })
}

impl Request {
    pub fn read(line: &[u8]) -> Result<Request, Unreadable> {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let message: Value = serde_json::from_slice(line)
            .map_err(|error| Unreadable::NotARequest(format!("invalid JSON: {error}")))?;
        if message["type"] != "request" {
            let why = format!("`type` is {}, expected \"request\"", message["type"]);
            return Err(Unreadable::NotARequest(why));
        }
        let Some(name) = message["command"].as_str().map(str::to_owned) else {
            return Err(Unreadable::NotARequest("the request has no `command`".to_owned()));
        };
        let Some(seq) = message["seq"].as_i64() else {
            return Err(Unreadable::NotARequest(format!("the request `{name}` has no integer `seq`")));
        };
        let is_known = ANSWERED.contains(&&*name) || UNANSWERED.contains(&&*name);
        let read = match is_known {
            true => Command::deserialize(&message).map_err(|error| {
                format!("invalid arguments: {}", wrong_field(&message).unwrap_or_else(|| error.to_string()))
            }),
            false => Err(format!("unsupported command {name:?}")),
        };
        match read {
            Ok(command) => Ok(Request { seq, name, command, message }),
            Err(why) => Err(Unreadable::Refused { seq, name, message, why }),
        }
    }

    /// A request as a line.
    pub fn line(seq: i64, command: &Command) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            seq: i64,
            r#type: &'static str,
            #[serde(flatten)]
            command: &'a Command,
        }
        let line = serde_json::to_string(&Line { seq, r#type: "request", command });
        line.unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn request_written_then_read_is_the_same() {
        let range = PropertyRange { thread_id: -7, frame_id: 0, addr: 5, type_id: 6, start: 0, count: 0 };
        let commands = [
            Command::Start,
            Command::Continue { thread_id: 0 },
            Command::GetProperty(range),
            Command::RemoveBreakpoint { file: "src/ü.as".to_owned(), line: 3 },
        ];
        for command in commands {
            let line = Request::line(4, &command);
            assert!(line.ends_with("}\n") && line.starts_with(r#"{"seq":4,"type":"request","command":"#));
            assert_eq!(Request::read(line.as_bytes()).unwrap().command, command);
        }
    }

    #[test]
    fn request_with_missing_field_is_refused_with_its_name() {
        let line = json!({"type": "request", "seq": 9, "command": "continue", "more": 1}).to_string();
        let Err(Unreadable::Refused { seq: 9, why, .. }) = Request::read(line.as_bytes()) else { panic!() };
        assert!(why.contains("threadId"), "{why}");
        let line = json!({"type": "request", "seq": 9, "command": "fly"}).to_string();
        assert!(
            matches!(Request::read(line.as_bytes()), Err(Unreadable::Refused { why, .. }) if why.contains("fly"))
        );
        for text in ["", "[]", "1", "{}", r#"{"type":1}"#, r#"{"type":"request","command":"start"}"#, "\u{1}"]
        {
            assert!(matches!(Request::read(text.as_bytes()), Err(Unreadable::NotARequest(_))), "{text}");
        }
    }

    #[test]
    fn breakpoint_with_file_and_line_alone_is_enabled_without_condition() {
        let line = r#"{"type":"request","seq":1,"command":"set_breakpoint","file":"a.as","line":2}"#;
        let Command::SetBreakpoint(breakpoint) = Request::read(line.as_bytes()).unwrap().command else {
            panic!()
        };
        assert!(breakpoint.enabled && breakpoint.condition() == Ok(None));
        let changed = Breakpoint { condition_type: "when_changed".to_owned(), ..breakpoint };
        assert!(changed.condition().is_err());
    }

    #[test]
    fn step_other_than_by_line_is_unsupported() {
        assert_eq!(StepKind::read("STEP_OUT", "STEP_LINE"), Ok(StepKind::Out));
        assert_eq!(StepKind::read("STEP_OVER", "STEP_STATEMENT"), Ok(StepKind::Over));
        for (kind, unit) in [
            ("STEP_INTO", "STEP_INSTRUCTION"),
            ("STEP_INTO", ""),
            ("", "STEP_LINE"),
            ("SIDEWAYS", "STEP_LINE"),
        ] {
            assert!(StepKind::read(kind, unit).is_err(), "{kind} {unit}");
        }
    }
}
