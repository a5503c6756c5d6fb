//! Helix: counts from 0, sets no exceptions, and stops reading at an event that it does not know or cannot decode.

use super::{AtTerminated, Knows, Model, Opens, Pace};

pub const MODEL: Model = Model {
    name: "Helix",
    first_seq: 0,
    introduces: r#"{
        "clientID": "hx", "clientName": "helix", "locale": "en-us", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true, "supportsVariablePaging": false,
        "supportsRunInTerminalRequest": true, "supportsMemoryReferences": false, "supportsProgressReporting": false,
        "supportsInvalidatedEvent": false
    }"#,
    adds: "{}",
    pace: Pace::OneByOne,
    configures: &["setBreakpoints"],
    then: &[],
    at_stop: &[("threads", "{}"), ("stackTrace", "{}")],
    opens: Opens::Every,
    resumes: "{}",
    at_terminated: AtTerminated::Disconnects,
    goodbye: r#"{"restart": false}"#,
    knows: Knows::Only(&[
        ("initialized", &[]),
        ("stopped", &["reason"]),
        ("continued", &["threadId"]),
        ("exited", &["exitCode"]),
        ("terminated", &[]),
        ("thread", &["reason", "threadId"]),
        ("output", &["output"]),
        ("breakpoint", &["reason", "breakpoint"]),
        ("module", &["reason", "module"]),
        ("loadedSource", &["reason", "source"]),
        ("process", &["name"]),
        ("capabilities", &["capabilities"]),
        ("memory", &["memoryReference", "offset", "count"]),
    ]),
};
