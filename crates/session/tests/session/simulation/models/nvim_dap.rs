//! nvim-dap: waits for every answer, asks for whole stacks and the variables of every scope, and hangs up at the end.

use super::{AtTerminated, Knows, Model, Opens, Pace};

pub const MODEL: Model = Model {
    name: "nvim-dap",
    first_seq: 1,
    introduces: r#"{
        "clientID": "neovim", "clientName": "neovim", "locale": "en_US", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true,
        "supportsRunInTerminalRequest": true, "supportsProgressReporting": true, "supportsStartDebuggingRequest": true
    }"#,
    adds: "{}",
    pace: Pace::OneByOne,
    configures: &["setBreakpoints", "setExceptionBreakpoints"],
    then: &[],
    at_stop: &[("threads", "{}"), ("stackTrace", "{}")],
    opens: Opens::Every,
    resumes: r#"{"granularity": "statement"}"#,
    at_terminated: AtTerminated::HangsUp,
    goodbye: r#"{"restart": false}"#,
    knows: Knows::Whatever,
};
