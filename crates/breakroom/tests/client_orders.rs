//! The orders in which real editors ask, measured on them, against real debuggers through the real binary.
//!
//! Each must get through a session with every request answered, in the order that it waits for. What Visual Studio sends
//! is known from its logs and from what its makers say about it; the others were recorded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod scenario;
}

use breakroom_testkit::client::Timeline;
use breakroom_testkit::{Request, Strict};
use serde_json::{Value, json};
use support::company::{C, PYTHON};
use support::editor::{Desk, Hub, extend};
use support::scenario::{Debuggee, Language};

/// Whether an editor waits for each answer to its configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    OneByOne,
    Pipelines,
}

/// What it does when it hears that the program is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goodbye {
    Disconnects,
    /// It asks for the end of what has ended, and then disconnects.
    Terminates,
    HangsUp,
}

/// How one editor asks.
struct Order {
    introduces: &'static str,
    first_seq: i64,
    /// What it adds to a launch.
    adds: &'static str,
    pace: Pace,
    configures: &'static [&'static str],
    /// What it asks as soon as it is done.
    then: &'static [&'static str],
    /// What it asks at a stop before it looks into the top frame.
    at_stop: &'static [(&'static str, &'static str)],
    evaluates: Option<&'static str>,
    goodbye: Goodbye,
    /// The only events that it survives, if it dies of others.
    survives: Option<&'static [&'static str]>,
}

const VS_CODE: Order = Order {
    introduces: r#"{
        "clientID": "vscode", "clientName": "Visual Studio Code", "locale": "en", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true, "supportsVariablePaging": true,
        "supportsRunInTerminalRequest": true, "supportsProgressReporting": true, "supportsInvalidatedEvent": true,
        "supportsMemoryReferences": true, "supportsMemoryEvent": true, "supportsArgsCanBeInterpretedByShell": true,
        "supportsStartDebuggingRequest": true, "supportsANSIStyling": true
    }"#,
    first_seq: 1,
    adds: r#"{"__configurationTarget": 6, "__sessionId": "9d3b", "request": "launch", "name": "t"}"#,
    pace: Pace::Pipelines,
    configures: &["setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"],
    then: &["threads"],
    at_stop: &[
        ("threads", "{}"),
        ("threads", "{}"),
        ("stackTrace", r#"{"startFrame": 0, "levels": 1}"#),
        ("stackTrace", r#"{"startFrame": 0, "levels": 20}"#),
    ],
    evaluates: Some("hover"),
    goodbye: Goodbye::Disconnects,
    survives: None,
};

const NVIM_DAP: Order = Order {
    introduces: r#"{
        "clientID": "neovim", "clientName": "neovim", "locale": "en_US", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true,
        "supportsRunInTerminalRequest": true, "supportsProgressReporting": true, "supportsStartDebuggingRequest": true
    }"#,
    adds: r#"{"request": "launch", "name": "t"}"#,
    pace: Pace::OneByOne,
    configures: &["setBreakpoints", "setExceptionBreakpoints"],
    then: &[],
    at_stop: &[("threads", "{}"), ("stackTrace", "{}")],
    evaluates: Some("repl"),
    goodbye: Goodbye::HangsUp,
    ..VS_CODE
};

const DAPE: Order = Order {
    introduces: r#"{
        "clientID": "dape", "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true, "locale": "en-US",
        "supportsRunInTerminalRequest": true, "supportsStartDebuggingRequest": true
    }"#,
    configures: &["setExceptionBreakpoints", "setBreakpoints"],
    at_stop: &[("threads", "{}"), ("threads", "{}"), ("stackTrace", r#"{"levels": 20}"#)],
    evaluates: None,
    goodbye: Goodbye::Terminates,
    ..NVIM_DAP
};

const HELIX: Order = Order {
    introduces: r#"{
        "clientID": "hx", "clientName": "helix", "locale": "en-us", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true, "supportsVariablePaging": false,
        "supportsRunInTerminalRequest": true, "supportsMemoryReferences": false, "supportsProgressReporting": false,
        "supportsInvalidatedEvent": false
    }"#,
    first_seq: 0,
    adds: "{}",
    configures: &["setBreakpoints"],
    at_stop: &[("threads", "{}"), ("stackTrace", "{}")],
    evaluates: None,
    goodbye: Goodbye::Disconnects,
    survives: Some(&[
        "initialized",
        "stopped",
        "continued",
        "exited",
        "terminated",
        "thread",
        "output",
        "breakpoint",
        "module",
        "loadedSource",
        "process",
        "capabilities",
        "memory",
    ]),
    ..NVIM_DAP
};

/// It ends the session at a failed answer, holds 31 bits, and asks for frames and values in a format.
const VISUAL_STUDIO: Order = Order {
    introduces: r#"{
        "clientID": "visualstudio", "clientName": "Visual Studio", "locale": "en-US", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true,
        "supportsRunInTerminalRequest": true, "supportsMemoryReferences": true, "supportsProgressReporting": true,
        "SupportsMessageBox": true, "supportsHandshakeRequest": true, "supportsVsAdditionalBreakpointBinds": true,
        "supportsHitCountsChange": true, "supportsVsCustomMessages": true, "supportsMapURLToFilePathRequest": true,
        "supportsLaunchUnelevatedProcessRequest": true
    }"#,
    pace: Pace::OneByOne,
    configures: &["setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"],
    then: &["threads"],
    at_stop: &[
        ("threads", "{}"),
        (
            "stackTrace",
            r#"{"startFrame": 0, "levels": 1000, "format": {"parameters": true, "parameterTypes": true, "parameterNames": true, "line": true, "module": true}}"#,
        ),
    ],
    evaluates: Some("watch"),
    ..VS_CODE
};

#[test]
fn vs_codes_order_works_everywhere() {
    everywhere(&VS_CODE);
}

#[test]
fn nvim_daps_order_works_everywhere() {
    everywhere(&NVIM_DAP);
}

#[test]
fn dapes_order_works_everywhere() {
    everywhere(&DAPE);
}

#[test]
fn helixs_order_works_everywhere() {
    everywhere(&HELIX);
}

#[test]
fn visual_studios_order_works_everywhere() {
    everywhere(&VISUAL_STUDIO);
}

fn everywhere(order: &Order) {
    for language in [&PYTHON, &C] {
        if language.skipped() {
            continue;
        }
        let desk = Desk::new();
        let debuggee = language.debuggee(&desk);
        // As an editor starts an adapter that it knows nothing about but its command.
        let strict = desk.editor(Hub::Private, &["--type", language.kind]);
        Editor { strict, order, language, debuggee, last_seq: order.first_seq - 1 }.debugs();
        desk.leave(Hub::Private);
    }
}

struct Editor<'a> {
    strict: Strict,
    order: &'a Order,
    language: &'a Language,
    debuggee: Debuggee,
    last_seq: i64,
}

impl Editor<'_> {
    fn debugs(mut self) {
        self.strict.allow(self.language.events);
        self.strict.allow(&["capabilities", "continued", "breakpoint", "loadedSource", "debugpySockets"]);
        let launch = self.starts();
        self.configures();
        let then: Vec<Request> = self.order.then.iter().map(|command| self.ask(command, json!({}))).collect();
        then.into_iter().for_each(|asked| drop(self.strict.response(asked)));
        self.strict.response(launch);
        self.looks_around();
        self.lets_go();
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Request {
        self.last_seq += 1;
        let message =
            json!({"seq": self.last_seq, "type": "request", "command": command, "arguments": arguments});
        self.strict.send(message)
    }

    fn call(&mut self, command: &str, arguments: Value) -> Value {
        let asked = self.ask(command, arguments);
        self.strict.response(asked)["body"].take()
    }

    fn starts(&mut self) -> Request {
        let mut introduction: Value = serde_json::from_str(self.order.introduces).unwrap();
        introduction["adapterID"] = self.language.kind.into();
        self.call("initialize", introduction);
        let mut arguments = self.language.arguments(&self.debuggee, json!({"type": self.language.kind}));
        extend(&mut arguments, serde_json::from_str(self.order.adds).unwrap());
        let launch = self.ask("launch", arguments);
        self.strict.event("initialized");
        launch
    }

    fn configures(&mut self) {
        let line = self.language.line("add");
        let mut open = Vec::new();
        for command in self.order.configures.iter().chain(&["configurationDone"]) {
            let arguments = match *command {
                "setBreakpoints" => json!({
                    "source": {"path": self.debuggee.source, "name": "t"},
                    "breakpoints": [{"line": line}], "lines": [line], "sourceModified": false,
                }),
                "setFunctionBreakpoints" => json!({"breakpoints": []}),
                "setExceptionBreakpoints" => json!({"filters": []}),
                _ => json!({}),
            };
            let asked = self.ask(command, arguments);
            match self.order.pace {
                Pace::OneByOne => drop(self.strict.response(asked)),
                Pace::Pipelines => open.push(asked),
            }
        }
        open.into_iter().for_each(|asked| drop(self.strict.response(asked)));
    }

    /// At the first of three stops.
    fn looks_around(&mut self) {
        let stopped = self.strict.event("stopped")["body"].take();
        assert_eq!(stopped["reason"], "breakpoint");
        let thread = stopped["threadId"].clone();
        let mut stack = Value::Null;
        for (command, arguments) in self.order.at_stop {
            let mut arguments: Value = serde_json::from_str(arguments).unwrap();
            if *command == "stackTrace" {
                arguments["threadId"] = thread.clone();
            }
            stack = self.call(command, arguments);
        }
        let frame = stack["stackFrames"][0]["id"].clone();
        assert!(frame.as_i64().is_some_and(|id| i32::try_from(id).is_ok()), "{stack}");
        let scopes = self.call("scopes", json!({"frameId": frame}));
        let locals = scopes["scopes"][0]["variablesReference"].clone();
        let variables = self.call("variables", json!({"variablesReference": locals}))["variables"].take();
        let named = |name: &str| variables.as_array().unwrap().iter().any(|one| one["name"] == name);
        assert!(named("a") && named("b"), "{variables}");
        if let Some(context) = self.order.evaluates {
            let arguments = json!({"expression": "total", "frameId": frame, "context": context});
            let value = self.call("evaluate", arguments)["result"].take();
            assert!(value.as_str().unwrap().contains("42"), "{value}");
        }
        for _ in 0..2 {
            self.call("continue", json!({"threadId": thread}));
            self.strict.event("stopped");
        }
        self.call("continue", json!({"threadId": thread}));
    }

    fn lets_go(mut self) {
        self.strict.event("exited");
        self.strict.event("terminated");
        if self.order.goodbye == Goodbye::HangsUp {
            let timeline = self.strict.abandon();
            return self.order.check(&timeline);
        }
        if self.order.goodbye == Goodbye::Terminates {
            let asked = self.ask("terminate", json!({"restart": false}));
            self.strict.response(asked);
        }
        let goodbye = self.ask("disconnect", json!({"restart": false}));
        self.strict.response(goodbye);
        let timeline = self.strict.finish().timeline;
        self.order.check(&timeline);
    }
}

impl Order {
    /// One order of events, and none that the editor dies of.
    fn check(&self, timeline: &Timeline) {
        let events: Vec<&str> = timeline.received().filter_map(|message| message["event"].as_str()).collect();
        let at = |name: &str| events.iter().position(|event| *event == name);
        let count = |name: &str| events.iter().filter(|event| **event == name).count();
        assert_eq!((count("initialized"), count("exited"), count("terminated")), (1, 1, 1), "{events:?}");
        assert!(at("initialized") < at("stopped") && at("exited") < at("terminated"), "{events:?}");
        let survives = |event: &&str| self.survives.is_none_or(|known| known.contains(event));
        assert!(events.iter().all(survives), "{events:?}");
    }
}
