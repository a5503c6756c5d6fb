//! What an IDE may send: the commands, when each makes sense, and how a line is read.
//!
//! Reading never fails silently: whatever a line is, it is a command or a complaint that says what is wrong with it.
//! What a command does is elsewhere.

mod fields;

use breakroom_client::breakpoints::Terms;
use breakroom_debug_client::values::ScopeKind;
use serde_json::Value;

use fields::Fields;

/// No command has a name of more characters.
const LONGEST_ECHO: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Initialize { file: Option<String>, working_dir: Option<String> },
    Start,
    Resume { how: Resume, thread: Option<i64> },
    Pause { thread: Option<i64> },
    SetBreakpoint { spot: Spot, terms: Terms },
    ClearBreakpoint { spot: Spot },
    SetDataBreakpoint { name: String, frame: usize, access: Option<String> },
    ClearDataBreakpoint { name: String },
    AddWatch { expression: String },
    RemoveWatch { id: i64 },
    GetVariables { frame: usize, scope: ScopeKind, thread: Option<i64> },
    SetVariable { name: String, value: String, frame: usize },
    GetStackTrace { thread: Option<i64> },
    GetThreads,
    Evaluate { expression: String, frame: usize, thread: Option<i64> },
    Input { text: String },
    Terminate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    Into,
    Over,
    Out,
    Continue,
    Back,
    ReverseContinue,
}

/// Where a breakpoint is, in the IDE's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    Line { file: String, line: i64 },
    Function(String),
}

/// When a command makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before anything else.
    First,
    /// Once it is known what is debugged.
    Initialized,
    /// Before the program runs, or while it is stopped.
    StartOrStopped,
    Stopped,
    Running,
    Started,
    Always,
}

/// One command, in the table of all of them.
#[derive(Debug)]
pub struct Known {
    pub name: &'static str,
    /// What cannot be done, in `Cannot ...: why`.
    pub deed: &'static str,
    pub when: When,
    /// It overtakes what waits for a step.
    pub urgent: bool,
    read: fn(&Fields) -> Result<Command, String>,
}

/// What was on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Command(&'static Known, Command),
    Nonsense { message: String, command: Option<String> },
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Known {}

const COMMANDS: [Known; 22] = [
    known("initialize", "initialize", When::First, |fields| {
        Ok(Command::Initialize {
            file: fields.some_text("file")?,
            working_dir: fields.some_text("workingDir")?,
        })
    }),
    known("start", "start", When::StartOrStopped, |_| Ok(Command::Start)),
    known("stepInto", "step", When::Stopped, |fields| resume(fields, Resume::Into)),
    known("stepOver", "step", When::Stopped, |fields| resume(fields, Resume::Over)),
    known("stepOut", "step", When::Stopped, |fields| resume(fields, Resume::Out)),
    known("continue", "continue", When::Stopped, |fields| resume(fields, Resume::Continue)),
    known("stepBack", "step back", When::Stopped, |fields| resume(fields, Resume::Back)),
    known("reverseContinue", "continue backwards", When::Stopped, |fields| {
        resume(fields, Resume::ReverseContinue)
    }),
    known("pause", "pause", When::Running, |fields| {
        Ok(Command::Pause { thread: fields.some_number("threadId")? })
    })
    .urgent(),
    known("setBreakpoint", "set breakpoint", When::Initialized, |fields| {
        let [condition, log] = ["condition", "logMessage"].map(|key| fields.some_text(key));
        let terms = Terms { condition: condition?, hits: fields.some_count("hitCondition")?, log: log? };
        Ok(Command::SetBreakpoint { spot: spot(fields)?, terms })
    })
    .urgent(),
    known("clearBreakpoint", "clear breakpoint", When::Initialized, |fields| {
        Ok(Command::ClearBreakpoint { spot: spot(fields)? })
    })
    .urgent(),
    known("setDataBreakpoint", "set data breakpoint", When::Stopped, |fields| {
        let access = fields.some_text("accessType")?;
        Ok(Command::SetDataBreakpoint { name: fields.text("name")?, frame: fields.frame()?, access })
    }),
    known("clearDataBreakpoint", "clear data breakpoint", When::Started, |fields| {
        Ok(Command::ClearDataBreakpoint { name: fields.text("name")? })
    }),
    known("addWatch", "add watch", When::Initialized, |fields| {
        Ok(Command::AddWatch { expression: fields.text("expression")? })
    }),
    known("removeWatch", "remove watch", When::Initialized, |fields| {
        Ok(Command::RemoveWatch { id: fields.number("id")? })
    }),
    known("getVariables", "get variables", When::Stopped, |fields| {
        let scope = match fields.some_text("scope")?.as_deref() {
            None | Some("locals") => ScopeKind::Locals,
            Some("globals") => ScopeKind::Globals,
            Some("registers") => ScopeKind::Registers,
            Some(other) => return Err(format!("`scope` is locals, globals or registers, not {other:?}")),
        };
        Ok(Command::GetVariables { frame: fields.frame()?, scope, thread: fields.some_number("threadId")? })
    }),
    known("setVariable", "set variable", When::Stopped, |fields| {
        let [name, value] = ["name", "value"].map(|key| fields.text(key));
        Ok(Command::SetVariable { name: name?, value: value?, frame: fields.frame()? })
    }),
    known("getStackTrace", "get stack trace", When::Stopped, |fields| {
        Ok(Command::GetStackTrace { thread: fields.some_number("threadId")? })
    }),
    known("getThreads", "get threads", When::Started, |_| Ok(Command::GetThreads)),
    known("evaluate", "evaluate", When::Stopped, |fields| {
        let thread = fields.some_number("threadId")?;
        Ok(Command::Evaluate { expression: fields.text("expression")?, frame: fields.frame()?, thread })
    }),
    known("input", "give input", When::Started, |fields| Ok(Command::Input { text: fields.text("text")? }))
        .urgent(),
    known("terminate", "terminate", When::Always, |_| Ok(Command::Terminate)).urgent(),
];

const fn known(
    name: &'static str,
    deed: &'static str,
    when: When,
    read: fn(&Fields) -> Result<Command, String>,
) -> Known {
    Known { name, deed, when, urgent: false, read }
}

impl Known {
    const fn urgent(self) -> Self {
        Known { urgent: true, ..self }
    }
}

fn resume(fields: &Fields, how: Resume) -> Result<Command, String> {
    Ok(Command::Resume { how, thread: fields.some_number("threadId")? })
}

/// What somebody said, as far as it is needed to recognise it: a line has room for more than that.
fn echo(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn spot(fields: &Fields) -> Result<Spot, String> {
    if let Some(name) = fields.some_text("function")? {
        return Ok(Spot::Function(name));
    }
    let file = fields.text("file")?;
    match fields.number("line")? {
        line @ 1.. => Ok(Spot::Line { file, line }),
        line => Err(format!("`line` counts from 1, so there is no line {line}")),
    }
}

impl Said {
    pub fn read(line: &[u8]) -> Said {
        let complain = |message: String| Said::Nonsense { message, command: None };
        let Ok(line) = std::str::from_utf8(line) else {
            return complain("invalid JSON: the line is not UTF-8".to_owned());
        };
        if line.trim().is_empty() {
            return complain("invalid JSON: the line is empty; send one command a line".to_owned());
        }
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => return complain(format!("invalid JSON: {error}")),
        };
        let Value::Object(message) = message else {
            return complain("invalid message: a command is a JSON object".to_owned());
        };
        let name = message.get("command").and_then(Value::as_str);
        let complain = |message: String| Said::Nonsense { message, command: name.map(echo) };
        match message.get("type") {
            Some(Value::String(kind)) if kind == "command" => {}
            Some(Value::String(kind)) => return complain(format!("unknown message type: {}", echo(kind))),
            Some(_) => return complain("invalid message: `type` must be \"command\"".to_owned()),
            None => return complain("invalid message: `type` is missing; it must be \"command\"".to_owned()),
        }
        let Some(name) = name else {
            return complain(match message.contains_key("command") {
                true => "invalid message: `command` must be a string".to_owned(),
                false => "invalid message: `command` is missing".to_owned(),
            });
        };
        let Some(known) = COMMANDS.iter().find(|known| known.name == name) else {
            return complain(format!("unknown command: {}", echo(name)));
        };
        let read = Fields::of(message.get("params")).and_then(|fields| (known.read)(&fields));
        match read {
            Ok(command) => Said::Command(known, command),
            Err(why) => complain(format!("Cannot {}: {why}", known.deed)),
        }
    }
}

#[cfg(test)]
mod tests;
