//! VS Code: declares everything, sends its configuration without waiting for answers, looks twice at every stop.

use super::{AtTerminated, Knows, Model, Opens, Pace};

pub const MODEL: Model = Model {
    name: "VS Code",
    first_seq: 1,
    introduces: r#"{
        "clientID": "vscode", "clientName": "Visual Studio Code", "locale": "en", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true, "supportsVariablePaging": true,
        "supportsRunInTerminalRequest": true, "supportsProgressReporting": true, "supportsInvalidatedEvent": true,
        "supportsMemoryReferences": true, "supportsMemoryEvent": true, "supportsArgsCanBeInterpretedByShell": true,
        "supportsStartDebuggingRequest": true, "supportsANSIStyling": true
    }"#,
    adds: r#"{"__configurationTarget": 6, "__sessionId": "9d3b"}"#,
    pace: Pace::Pipelines,
    configures: &["setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"],
    then: &[("threads", "{}")],
    at_stop: &[
        ("threads", "{}"),
        ("threads", "{}"),
        ("stackTrace", r#"{"startFrame": 0, "levels": 1}"#),
        ("stackTrace", r#"{"startFrame": 0, "levels": 20}"#),
    ],
    opens: Opens::First,
    resumes: "{}",
    at_terminated: AtTerminated::Disconnects,
    goodbye: r#"{"restart": false}"#,
    knows: Knows::Whatever,
};
