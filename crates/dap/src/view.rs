//! What the hub looks into, and nothing more.
//!
//! Each view reads a payload leniently: integers are `i64` (delve sends -1, starlark 0.0), names stay
//! strings, and what is absent, null or of the wrong type has DAP's default.

use crate::json::Json;

/// `arguments` of a client's `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Initialize {
    pub client_id: Option<String>,
    pub client_name: Option<String>,
    pub adapter_id: Option<String>,
    pub locale: Option<String>,
    pub zero_based_lines: bool,
    pub zero_based_columns: bool,
    pub uri_paths: bool,
    pub run_in_terminal: bool,
    pub start_debugging: bool,
    pub progress: bool,
    pub invalidated: bool,
    pub memory_event: bool,
    /// Ours: it knows how to give the program input by `breakroom/input`.
    pub input: bool,
}

impl Initialize {
    pub fn of(arguments: Option<Json>) -> Self {
        let Some(arguments) = arguments else {
            return Self::default();
        };
        let text = |key: &str| arguments.str(key).map(|text| text.into_owned());
        let is_false = |key: &str| arguments.get(key).and_then(Json::as_bool) == Some(false);
        Initialize {
            client_id: text("clientID"),
            client_name: text("clientName"),
            adapter_id: text("adapterID"),
            locale: text("locale"),
            zero_based_lines: is_false("linesStartAt1"),
            zero_based_columns: is_false("columnsStartAt1"),
            uri_paths: arguments.str("pathFormat").as_deref() == Some("uri"),
            run_in_terminal: arguments.flag("supportsRunInTerminalRequest"),
            start_debugging: arguments.flag("supportsStartDebuggingRequest"),
            progress: arguments.flag("supportsProgressReporting"),
            invalidated: arguments.flag("supportsInvalidatedEvent"),
            memory_event: arguments.flag("supportsMemoryEvent"),
            input: arguments.flag("supportsBreakroomInput"),
        }
    }
}

/// The capabilities that change what the hub does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub configuration_done: bool,
    pub terminate: bool,
    pub cancel: bool,
    pub restart: bool,
    pub terminate_debuggee: bool,
    /// Ours: the program's input can be given by `breakroom/input`.
    pub input: bool,
}

impl Capabilities {
    pub fn of(body: Option<Json>) -> Self {
        let mut capabilities = Self::default();
        capabilities.merge(body);
        capabilities
    }

    /// Takes over what a `capabilities` event names and leaves the rest.
    pub fn merge(&mut self, body: Option<Json>) {
        let Some(body) = body else { return };
        let take = |key: &str, field: &mut bool| {
            if let Some(value) = body.get(key).and_then(Json::as_bool) {
                *field = value;
            }
        };
        take("supportsConfigurationDoneRequest", &mut self.configuration_done);
        take("supportsTerminateRequest", &mut self.terminate);
        take("supportsCancelRequest", &mut self.cancel);
        take("supportsRestartRequest", &mut self.restart);
        take("supportTerminateDebuggee", &mut self.terminate_debuggee);
        // debugpy's spelling.
        take("supportsTerminateDebuggee", &mut self.terminate_debuggee);
        take("supportsBreakroomInput", &mut self.input);
    }
}

/// Body of `stopped` or `continued`, or the arguments of a resume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Run {
    pub thread: Option<i64>,
    /// `allThreadsStopped` or `allThreadsContinued`; absent means what the message's own default is.
    pub all: Option<bool>,
    pub single_thread: bool,
}

impl Run {
    pub fn of(body: Option<Json>) -> Self {
        let Some(body) = body else { return Self::default() };
        let flag = |key: &str| body.get(key).and_then(Json::as_bool);
        Run {
            thread: body.i64("threadId"),
            all: flag("allThreadsStopped").or_else(|| flag("allThreadsContinued")),
            single_thread: body.flag("singleThread"),
        }
    }
}

/// `arguments` of `disconnect`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Disconnect {
    pub terminate_debuggee: Option<bool>,
}

impl Disconnect {
    pub fn of(arguments: Option<Json>) -> Self {
        let flag = |key: &str| arguments?.get(key)?.as_bool();
        Disconnect { terminate_debuggee: flag("terminateDebuggee") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Option<Json<'_>> {
        Json::first(text.as_bytes())
    }

    #[test]
    fn absent_null_and_wrong_types_have_the_defaults_of_dap() {
        let view = Initialize::of(json(
            r#"{"linesStartAt1":null,"pathFormat":7,"supportsProgressReporting":"yes"}"#,
        ));
        assert_eq!(view, Initialize::default());
        assert!(Initialize::of(json(r#"{"linesStartAt1":false}"#)).zero_based_lines);
    }

    #[test]
    fn a_capabilities_event_changes_only_what_it_names() {
        let mut capabilities = Capabilities::of(json(r#"{"supportsCancelRequest":true}"#));
        capabilities.merge(json(r#"{"supportsTerminateRequest":true}"#));
        assert!(capabilities.cancel && capabilities.terminate && !capabilities.configuration_done);
    }

    #[test]
    fn negative_and_float_thread_ids_are_read() {
        assert_eq!(Run::of(json(r#"{"threadId":-1.0}"#)).thread, Some(-1));
    }
}
