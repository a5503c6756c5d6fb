//! What passes through the hub is not touched: a real debugpy session is written down on both sides of it and compared.
//!
//! On the adapter's side a recorder writes raw bytes, on the client's side this test does. Every message must be equal
//! byte for byte, apart from `seq` and `request_seq`, the numbers the hub mints, its own `initialize` with what follows
//! from it (`capabilities` and `initialized`), and its own member of the launch arguments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod rig;
}

use std::fs::File;
use std::path::Path;

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::frames::FrameReader;
use breakroom_testkit::{adapters, fake};
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};
use support::rig::{Raw, Rig, text};

/// A client that writes down every byte it sends and gets.
struct Witness {
    client: Raw,
    sent: Vec<Vec<u8>>,
    received: Vec<Vec<u8>>,
}

impl Witness {
    fn say(&mut self, body: &str) {
        self.client.frame(body.as_bytes());
        self.sent.push(body.as_bytes().to_vec());
    }

    fn hear(&mut self) -> Value {
        let body = self.client.next().expect("the connection is open");
        self.received.push(body.clone());
        serde_json::from_slice(&body).expect("debugpy sends JSON")
    }

    fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.hear();
            if fits(&message) {
                return message;
            }
        }
    }

    fn event(&mut self, name: &str) -> Value {
        self.until(|message| message["event"] == name)
    }

    /// Sends a request as it is and waits for its answer.
    fn ask(&mut self, body: &str) -> Value {
        let seq = serde_json::from_str::<Value>(body).unwrap()["seq"].clone();
        self.say(body);
        self.until(|message| message["type"] == "response" && message["request_seq"] == seq)
    }
}

fn recorded(path: &Path, extension: &str) -> Vec<Vec<u8>> {
    let file = File::open(path.with_extension(extension)).expect("the recorder has written");
    let mut reader = FrameReader::new(file.into(), Peer::Adapter);
    std::iter::from_fn(|| match reader.read().expect("the recording is whole") {
        Some(Frame::Message(body)) => Some(body.to_vec()),
        Some(Frame::Junk(junk)) => panic!("text between messages: {:?}", String::from_utf8_lossy(&junk)),
        None => None,
    })
    .collect()
}

/// The message with every number that the hub may change written as `N`. Nothing else is touched.
fn masked(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body).into_owned();
    let mut names = vec!["seq", "request_seq", "variablesReference", "frameId"];
    let message: Value = serde_json::from_str(&text).unwrap();
    // Frames and breakpoints have numbers of the hub's own; their key is just `id`.
    if matches!(message["command"].as_str(), Some("stackTrace" | "setBreakpoints")) {
        names.push("id");
    }
    let text = names.iter().fold(text, |text, name| mask(&text, &format!("\"{name}\":")));
    ["[", " ["].iter().fold(text, |text, open| mask(&text, &format!("\"hitBreakpointIds\":{open}")))
}

fn mask(text: &str, name: &str) -> String {
    let mut parts = text.split(name);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.trim_start();
        let spaces = &part[..part.len() - number.len()];
        let rest = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let shown = if rest.len() < number.len() { "N" } else { "" };
        masked += &format!("{name}{spaces}{shown}{rest}");
    }
    masked
}

fn is(body: &[u8], key: &str, value: &str) -> bool {
    serde_json::from_slice::<Value>(body).unwrap()[key] == value
}

/// Compares two lists of messages and says where they part.
fn assert_equal(direction: &str, before: &[Vec<u8>], after: &[Vec<u8>]) {
    for (number, (before, after)) in before.iter().zip(after).enumerate() {
        assert_eq!(masked(before), masked(after), "message {number} {direction}");
    }
    assert_eq!(before.len(), after.len(), "messages {direction}");
}

#[test]
fn a_real_session_passes_byte_for_byte() {
    let Some(debugpy) = adapters::debugpy() else { return };
    let rig = Rig::new();
    let recording = rig.sandbox.work().join("recording");
    let mut args = vec![text(fake::adapter_path()), "record".into(), text(&recording), "--".into()];
    args.push(debugpy.get_program().to_str().unwrap().into());
    args.extend(debugpy.get_args().map(|arg| arg.to_str().unwrap().to_owned()));
    let record = json!({"args": args});
    let program = Program::Python;
    let source = text(&program.source());

    let mut witness = Witness { client: rig.raw(), sent: Vec::new(), received: Vec::new() };
    witness.ask(r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x","supportsProgressReporting":true,"supportsInvalidatedEvent":true,"supportsMemoryEvent":true,"supportsVariableType":true}}"#);
    // The hub's member stands in the middle, and what stands around it is unusual on purpose.
    let own = format!("\"breakroom\": {{\"adapter\": {record}}} ,");
    let launch = format!(
        r#"{{ "command" : "launch",  "seq":2,"type":"request","arguments":{{"program":"{source}", "console":"internalConsole",{own}"x-vendor": {{"big": 123456789012345678901234567890, "null":null, "text":"\u00e9\ud83d\ude00", "e":1.50e+3}},  "justMyCode" :false,"cwd":null}}}}"#
    )
    .replace("\"cwd\":null", "\"env\":{}");
    witness.say(&launch);
    witness.event("initialized");
    let line = program.line("add");
    witness.ask(&format!(
        r#"{{"arguments":{{"breakpoints":[{{"line":{line}}}],"source":{{"path":"{source}","name":"t.py"}},"lines":[{line}],"sourceModified":false}},"command":"setBreakpoints","type":"request","seq":3}}"#
    ));
    witness
        .ask(r#"{"seq":4,"type":"request","command":"setExceptionBreakpoints","arguments":{"filters":[]}}"#);
    witness.ask(r#"{"seq":5,"type":"request","command":"configurationDone"}"#);
    let stopped = witness.event("stopped");
    let thread = stopped["body"]["threadId"].as_i64().unwrap();
    witness.ask(r#"{"seq":6,"type":"request","command":"threads","arguments":null}"#);
    let stack = witness.ask(&format!(
        r#"{{"seq":7,"type":"request","command":"stackTrace","arguments":{{"threadId":{thread},"startFrame":0,"levels":20}}}}"#
    ));
    let frame = stack["body"]["stackFrames"][0]["id"].as_i64().unwrap();
    let scopes = witness.ask(&format!(
        r#"{{"seq":8,"type":"request","command":"scopes","arguments":{{"frameId": {frame}}}}}"#
    ));
    let locals = scopes["body"]["scopes"][0]["variablesReference"].as_i64().unwrap();
    witness.ask(&format!(
        r#"{{"seq":9,"type":"request","command":"variables","arguments":{{"variablesReference":{locals}}}}}"#
    ));
    for (seq, expression) in
        [(10, "1+1"), (11, "[{'a': 1}, 'é\\u20ac']"), (12, "no_such_name"), (13, "'x' * 100000")]
    {
        witness.ask(&format!(
            r#"{{"seq":{seq},"type":"request","command":"evaluate","arguments":{{"expression":"{expression}","frameId":{frame},"context":"repl"}}}}"#
        ));
    }
    witness.ask(&format!(
        r#"{{"seq":14,"type":"request","command":"setVariable","arguments":{{"variablesReference":{locals},"name":"a","value":"41"}}}}"#
    ));
    witness.ask(
        r#"{"seq":15,"type":"request","command":"debugpySystemInfo","arguments":{"deep":[[[{"seq":99}]]]}}"#,
    );
    witness.ask(
        r#"{"seq":16,"type":"request","command":"x-nobody-knows-this","arguments":{"a":[1,2,{"b":null}]}}"#,
    );
    witness.ask(r#"{"seq":17,"type":"request","command":"modules","arguments":{}}"#);
    witness.say(&format!(
        r#"{{"seq":18,"type":"request","command":"next","arguments":{{"threadId":{thread}}}}}"#
    ));
    witness.event("stopped");
    witness.ask(r#"{"seq":19,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"/nowhere"},"breakpoints":[]}}"#);
    witness.ask(&format!(
        r#"{{"seq":20,"type":"request","command":"setBreakpoints","arguments":{{"source":{{"path":"{source}"}},"breakpoints":[]}}}}"#
    ));
    witness.say(&format!(
        r#"{{"seq":21,"type":"request","command":"continue","arguments":{{"threadId":{thread}}}}}"#
    ));
    witness.event("terminated");
    witness.ask(r#"{"seq":22,"type":"request","command":"disconnect","arguments":{"restart":false}}"#);
    let Witness { client, sent, received } = witness;
    client.finish();
    rig.only_the_daemon_is_left();

    let told = recorded(&recording, "to");
    let said = recorded(&recording, "from");
    assert!(is(&told[0], "command", "initialize"), "the hub introduces itself");
    let nested = br#"[[[{"seq":99}]]]"#;
    let untouched = |body: &Vec<u8>| body.windows(nested.len()).any(|window| window == nested);
    assert!(told.iter().any(untouched), "only the outermost `seq` is the hub's");
    let without_own: Vec<Vec<u8>> = sent[1..]
        .iter()
        .map(|body| String::from_utf8(body.clone()).unwrap().replacen(&own, "", 1).into_bytes())
        .collect();
    assert_equal("from the client to the adapter", &without_own, &told[1..]);

    // The adapter's answer to the hub's `initialize` became the client's `capabilities`.
    let hubs = |body: &Vec<u8>| !is(body, "command", "initialize") && !is(body, "event", "capabilities");
    let received: Vec<Vec<u8>> = received.into_iter().filter(hubs).collect();
    let mut said: Vec<Vec<u8>> = said.into_iter().filter(hubs).collect();
    let after = said.split_off(said.len().min(received.len()));
    assert_equal("from the adapter to the client", &said, &received);
    // What an adapter still says behind its answer to `disconnect` is for nobody.
    assert!(is(received.last().unwrap(), "command", "disconnect"));
    println!(
        "{} messages to the adapter and {} from it are equal byte for byte; {} came too late",
        told.len() - 1,
        received.len(),
        after.len()
    );
}
