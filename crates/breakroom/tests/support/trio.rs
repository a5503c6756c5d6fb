//! Three clients on one session of the fake adapter: one from the start, one that joined late, one that joined late and
//! does not read until it is woken. And the steps that scripts for them are made of.
//!
//! The stalled one is owed more than its pipe holds before anything else happens, so everything that a test shows
//! happens while the hub cannot write to it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use breakroom_testkit::{Request, Strict, wait};
use serde_json::{Value, json};

use super::rig::{LONG, Rig, end, launch, text};

/// Refusals of this many requests, each with its own name of this length in it, fill any pipe.
const OWED: usize = 40;
const NAME: usize = 4000;

pub struct Trio<'a> {
    pub rig: &'a Rig,
    pub first: Strict,
    pub late: Strict,
    pub stalled: Strict,
    /// What the stalled one asked before anything else; see [`wake`].
    pub owed: Vec<Request>,
}

/// What one client says about itself: more for its `initialize`, and the hub's own member in `launch` or `attach`.
#[derive(Clone, Default)]
pub struct Words {
    pub declared: Value,
    pub own: Value,
}

impl Words {
    pub fn declaring(declared: Value) -> Words {
        Words { declared, ..Words::default() }
    }

    pub fn own(own: Value) -> Words {
        Words { own, ..Words::default() }
    }
}

impl<'a> Trio<'a> {
    /// Everybody knows that thread 1 is stopped. Then the adapter plays `steps`.
    pub fn stopped(rig: &'a Rig, steps: &[Value]) -> Trio<'a> {
        Trio::saying(rig, "launch", steps, &Default::default())
    }

    /// The same with what each says about itself, in their order. `command` starts the session.
    pub fn saying(rig: &'a Rig, command: &str, steps: &[Value], words: &[Words; 3]) -> Trio<'a> {
        let [of_first, of_late, of_stalled] = words;
        let stop = stopped(json!({"reason": "entry", "threadId": 1, "allThreadsStopped": true}));
        let steps = [&taken("initialize", able())[..], &configured(), &[stop], steps].concat();
        let mut first = rig.client();
        let mut arguments = launch(rig.fake_with(&steps, &["--log", &text(&rig.log_path())]));
        extend(&mut arguments["breakroom"], &of_first.own);
        start(&mut first, "First", &of_first.declared, command, arguments);
        first.event("stopped");
        let mut late = join(rig, "Late", of_late);
        late.event("stopped");
        let mut stalled = join(rig, "Stalled", of_stalled);
        stalled.event("stopped");
        let owed = stall(&mut stalled);
        Trio { rig, first, late, stalled, owed }
    }

    pub fn wake(&mut self) {
        wake(&mut self.stalled, std::mem::take(&mut self.owed));
    }

    /// What the adapter was asked with this command, in order: the arguments. All that was sent before is in it.
    pub fn asked(&mut self, command: &str) -> Vec<Value> {
        self.first.call("x-barrier", Value::Null);
        asked(self.rig, command)
    }

    /// Waits until the adapter was asked so often with this command, by a client that cannot be asked itself.
    pub fn until_asked(&self, command: &str, count: usize) -> Vec<Value> {
        let enough = || Some(asked(self.rig, command)).filter(|asked| asked.len() >= count);
        wait::until(LONG, enough).unwrap_or_else(|| panic!("`{command}`: {:?}", asked(self.rig, command)))
    }

    /// Everybody leaves, the stalled one after it read everything, and nothing stays.
    pub fn end(mut self) {
        self.wake();
        end(self.stalled);
        end(self.late);
        end(self.first);
        self.rig.only_the_daemon_is_left();
    }
}

/// The adapter can do all that it is asked for here.
fn able() -> Value {
    let requests = [
        "supportsCancelRequest",
        "supportsConditionalBreakpoints",
        "supportsConfigurationDoneRequest",
        "supportsDataBreakpoints",
        "supportsEvaluateForHovers",
        "supportsFunctionBreakpoints",
        "supportsGotoTargetsRequest",
        "supportsInstructionBreakpoints",
        "supportsLoadedSourcesRequest",
        "supportsRestartFrame",
        "supportsSetExpression",
        "supportsSetVariable",
        "supportsStepBack",
        "supportsStepInTargetsRequest",
        "supportsTerminateRequest",
        "supportsWriteMemoryRequest",
    ];
    requests
        .into_iter()
        .map(|name| (name.to_owned(), Value::Bool(true)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// What the adapter was asked so far with this command.
pub fn asked(rig: &Rig, command: &str) -> Vec<Value> {
    let requests =
        rig.log().into_iter().filter(|line| line["command"] == command && line["type"] == "request");
    requests.map(|line| line["arguments"].clone()).collect()
}

/// The whole of `initialize`, `launch` or `attach`, and `configurationDone` of a client whose adapter comes with it.
pub fn start(client: &mut Strict, name: &str, declared: &Value, command: &str, arguments: Value) {
    client.call("initialize", introduction(name, declared));
    let launch = client.request(command, arguments);
    client.event("capabilities");
    client.event("initialized");
    let done = client.request("configurationDone", Value::Null);
    client.response(launch);
    client.response(done);
}

/// A client that takes part in the only session there is. What it is shown is for the test to look at.
pub fn join(rig: &Rig, name: &str, Words { declared, own }: &Words) -> Strict {
    let mut client = rig.sandbox.client(["dap", "--session"]);
    client.call("initialize", introduction(name, declared));
    client.event("initialized");
    client.call("attach", if own.is_null() { json!({}) } else { json!({"breakroom": own}) });
    client.call("configurationDone", Value::Null);
    client
}

pub fn introduction(name: &str, declared: &Value) -> Value {
    let mut arguments = json!({"adapterID": "fake", "clientID": "test", "clientName": name});
    extend(&mut arguments, declared);
    arguments
}

fn extend(object: &mut Value, more: &Value) {
    if let (Some(object), Some(more)) = (object.as_object_mut(), more.as_object()) {
        object.extend(more.clone());
    }
}

/// Makes a client stop reading and be owed more than its pipe holds.
pub fn stall(client: &mut Strict) -> Vec<Request> {
    client.stall();
    let name = format!("breakroom/{}", "x".repeat(NAME));
    (0..OWED).map(|_| client.request(&name, Value::Null)).collect()
}

/// A stalled client reads again, and finds the answer to everything that it asked.
pub fn wake(stalled: &mut Strict, owed: Vec<Request>) {
    stalled.wake();
    for request in owed {
        stalled.failure(request);
    }
}

/// Steps up to the moment when the program runs.
pub fn configured() -> [Value; 2] {
    taken("configurationDone", Value::Null)
}

/// A request that is answered with this.
pub fn taken(command: &str, body: Value) -> [Value; 2] {
    let mut answer = json!({"respond": command});
    if !body.is_null() {
        answer["body"] = body;
    }
    [json!({"expect": command}), answer]
}

pub fn sent(event: &str, body: Value) -> Value {
    json!({"send": {"type": "event", "event": event, "body": body}})
}

pub fn stopped(body: Value) -> Value {
    sent("stopped", body)
}

/// A stop of everything, announced by thread 1, for this reason.
pub fn all_stopped(reason: &str) -> Value {
    stopped(json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}))
}

/// The steps that follow when somebody asks for them with this request, which nobody knows.
pub fn on_word(word: &str, steps: &[Value]) -> Vec<Value> {
    [&taken(word, Value::Null)[..], steps].concat()
}

/// The id of the top frame of a thread.
pub fn top_frame(client: &mut Strict, thread: i64) -> Value {
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    stack["body"]["stackFrames"][0]["id"].clone()
}

/// Sets breakpoints in these lines and gives the answer's list.
pub fn set_lines(client: &mut Strict, path: &str, lines: &[i64]) -> Vec<Value> {
    set(client, path, lines.iter().map(|line| json!({"line": line})).collect())
}

pub fn set(client: &mut Strict, path: &str, breakpoints: Vec<Value>) -> Vec<Value> {
    let arguments = json!({"source": {"path": path}, "breakpoints": breakpoints});
    let answer = client.call("setBreakpoints", arguments);
    answer["body"]["breakpoints"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// One member of each.
pub fn each(list: &[Value], key: &str) -> Vec<Value> {
    list.iter().map(|element| element[key].clone()).collect()
}

/// Lines of one telling.
pub fn lines(arguments: &Value) -> Vec<Value> {
    each(arguments["breakpoints"].as_array().expect("it has a list"), "line")
}

pub fn said(answer: &Value) -> &str {
    answer["message"].as_str().unwrap_or_default()
}

/// The events of these names that a client heard, in order: name and body.
pub fn heard(client: &Strict, names: &[&str]) -> Vec<(String, Value)> {
    let timeline = client.timeline();
    let events = timeline.received().filter(|message| message["type"] == "event");
    let named = events.filter_map(|message| {
        let name = message["event"].as_str()?;
        names.contains(&name).then(|| (name.to_owned(), message["body"].clone()))
    });
    named.collect()
}
