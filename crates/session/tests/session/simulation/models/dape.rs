//! dape: sends exceptions before breakpoints, asks for threads twice, and says `terminate` when it is told of the end.

use super::{AtTerminated, Knows, Model, Opens, Pace};

pub const MODEL: Model = Model {
    name: "dape",
    first_seq: 1,
    introduces: r#"{
        "clientID": "dape", "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true, "locale": "en-US",
        "supportsRunInTerminalRequest": true, "supportsStartDebuggingRequest": true
    }"#,
    adds: "{}",
    pace: Pace::OneByOne,
    configures: &["setExceptionBreakpoints", "setBreakpoints"],
    then: &[],
    at_stop: &[("threads", "{}"), ("threads", "{}"), ("stackTrace", r#"{"levels": 20}"#)],
    opens: Opens::First,
    resumes: "{}",
    at_terminated: AtTerminated::SaysTerminate,
    goodbye: r#"{"restart": false}"#,
    knows: Knows::Whatever,
};
