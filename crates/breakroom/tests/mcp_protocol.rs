//! The agents' protocol beside the tools: both lifecycles on stdio, resources and their watchers, the prompt, how far a
//! long start is, and calls that nobody waits for any more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod mcp_wire;
    pub mod rig;
}

use std::fs::{self, File};
use std::io::{Write, pipe};

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::{adapters, wait};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::{Value, json};
use support::mcp_wire::{Lines, PATIENCE, REVISIONS, STATELESS, Visitor, Web, hello, meta, tool};
use support::rig::{Rig, text};

/// A start of the EZ program that stops in `add`, three times.
fn start() -> Value {
    let breakpoint = json!({"line": Program::Ez.line("add")});
    json!({"program": text(&Program::Ez.source()), "breakpoints": [breakpoint], "wait_ms": 45_000})
}

fn started(lines: &mut Lines) -> String {
    let answer = lines.call("debugger_start", start());
    assert_eq!(answer["structuredContent"]["state"], "paused", "{answer}");
    answer["structuredContent"]["session_id"].as_str().unwrap().to_owned()
}

fn uri(id: &str, what: &str) -> String {
    format!("debugger://sessions/{id}/{what}")
}

/// Puts what every request brings into it.
fn alone(mut params: Value) -> Value {
    params["_meta"] = meta();
    params
}

#[test]
fn every_revision_with_a_handshake_is_spoken_on_stdio() {
    let rig = Rig::new();
    let asked = REVISIONS.map(|revision| (revision, revision));
    // One that nobody knows gets the newest with a handshake.
    for (asked, given) in asked.into_iter().chain([("1999-01-01", REVISIONS[3]), (STATELESS, REVISIONS[3])]) {
        let mut lines = Lines::start(&rig);
        let greeting = lines.ask("initialize", hello(asked));
        assert_eq!(greeting["result"]["protocolVersion"], given, "{greeting}");
        let capabilities = &greeting["result"]["capabilities"];
        assert_eq!(capabilities["resources"], json!({"subscribe": true}), "{greeting}");
        assert!(greeting["result"]["instructions"].as_str().unwrap().contains("debugger_start"));
        lines.notify("notifications/initialized", json!({}));
        assert!(lines.ask("ping", json!({}))["result"].is_object());
        assert!(lines.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len() > 10);
        assert!(lines.leave().success());
    }
}

#[test]
fn the_revision_without_a_handshake_is_spoken_on_stdio() {
    let rig = Rig::new();
    let mut lines = Lines::start(&rig);
    let found = lines.ask("server/discover", alone(json!({})));
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!(STATELESS)), "{found}");
    let answer = lines.ask("tools/call", alone(tool("debugger_start", start())));
    assert_eq!(answer["result"]["structuredContent"]["state"], "paused", "{answer}");
    let answer = lines.ask("tools/call", alone(tool("debugger_evaluate", json!({"expression": "a + b"}))));
    assert_eq!(answer["result"]["structuredContent"]["result"], "42", "{answer}");
    // Whoever leaves takes along what it launched.
    assert!(lines.leave().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn garbage_on_stdio_does_not_end_the_server() {
    let rig = Rig::new();
    let log = rig.sandbox.work().join("stderr");
    let mut lines = Lines::start_with(&rig, &["mcp"], File::create(&log).unwrap().into());
    lines.greet();
    let garbage = [
        "",
        "{",
        "null",
        "[]",
        "\u{feff}{}",
        "Content-Length: 2\r\n\r\n{}",
        "{\"jsonrpc\": \"2.0\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": 77, \"result\": {}}",
        "{\"jsonrpc\": \"2.0\", \"method\": \"no/such\"}",
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \"params\": {\"requestId\": 4711}}",
    ];
    for line in garbage {
        lines.say(line);
        assert!(lines.ask("ping", json!({}))["result"].is_object(), "{line}");
    }
    assert_eq!(lines.ask("no/such", json!({}))["error"]["code"], -32601);
    // Two of them are no JSON, and empty lines are nothing.
    let is_complaint = |message: &Value| message["error"]["code"] == -32700;
    for _ in 0..2 {
        let complaint = lines.first(is_complaint);
        assert!(complaint["error"]["message"].as_str().unwrap().contains("not JSON"), "{complaint}");
    }
    assert!(!lines.news.iter().any(is_complaint), "{:?}", lines.news);
    assert!(lines.leave().success());
    // Its log is for errors of its own.
    assert_eq!(fs::read_to_string(log).unwrap(), "");
}

#[test]
fn an_agent_that_does_not_read_stderr_is_answered_all_the_same() {
    let rig = Rig::new();
    let (_unread, stderr) = pipe().unwrap();
    let flags = fcntl_getfl(&stderr).unwrap();
    fcntl_setfl(&stderr, flags | OFlags::NONBLOCK).unwrap();
    while (&stderr).write(&[b'x'; 4096]).is_ok() {}
    fcntl_setfl(&stderr, flags).unwrap();
    let mut lines = Lines::start_with(&rig, &["--log", "trace", "mcp"], stderr.into());
    lines.greet();
    started(&mut lines);
    assert!(lines.leave().success());
}

#[test]
fn sessions_can_be_read_as_resources() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let list = |lines: &mut Lines| {
        let answer = lines.ask("resources/list", json!({}));
        let listed = answer["result"]["resources"].as_array().unwrap().clone();
        listed.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list(&mut lines), ["debugger://sessions"]);
    let id = started(&mut lines);
    assert_eq!(list(&mut lines), ["debugger://sessions", &uri(&id, "state"), &uri(&id, "output")]);
    let templates = lines.ask("resources/templates/list", json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap().clone();
    assert_eq!(templates[0]["uriTemplate"], "debugger://sessions/{session_id}/state");

    let read = |lines: &mut Lines, uri: &str| {
        let answer = lines.ask("resources/read", json!({"uri": uri}));
        let content = answer["result"]["contents"][0].clone();
        assert_eq!(content["uri"], uri, "{answer}");
        (content["mimeType"].as_str().unwrap().to_owned(), content["text"].as_str().unwrap().to_owned())
    };
    let (kind, state) = read(&mut lines, &uri(&id, "state"));
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(
        (kind.as_str(), &state["state"], &state["epoch"]),
        ("application/json", &json!("paused"), &json!(1))
    );
    let (_, all) = read(&mut lines, "debugger://sessions");
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all["sessions"][0]["session_id"], id);
    lines.call("debugger_continue", json!({"wait_ms": 45_000}));
    let (kind, output) = read(&mut lines, &uri(&id, "output"));
    assert_eq!((kind.as_str(), output.trim_end()), ("text/plain", "hello 42 none"));

    for unknown in ["debugger://sessions/none/state", "debugger://sessions/", "file:///etc/passwd", ""] {
        let answer = lines.ask("resources/read", json!({"uri": unknown}));
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        let answer = lines.ask("resources/subscribe", json!({"uri": unknown}));
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
    assert!(lines.leave().success());
}

#[test]
fn whoever_subscribes_hears_of_changes_until_it_does_not_want_to() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let id = started(&mut lines);
    let (state, output) = (uri(&id, "state"), uri(&id, "output"));
    let is_of = |uri: &str| {
        let uri = uri.to_owned();
        move |message: &Value| {
            message["method"] == "notifications/resources/updated" && message["params"]["uri"] == *uri
        }
    };
    for uri in [&state, &output, &"debugger://sessions".to_owned()] {
        let answer = lines.ask("resources/subscribe", json!({"uri": uri}));
        assert!(answer["result"].is_object(), "{answer}");
    }
    lines.call("debugger_continue", json!({"wait_ms": 45_000}));
    lines.first(is_of(&state));
    lines.first(is_of(&output));
    assert!(lines.ask("resources/unsubscribe", json!({"uri": output}))["result"].is_object());
    // What was under way is here by now.
    lines.news.clear();
    lines.call("debugger_continue", json!({"wait_ms": 45_000}));
    lines.first(is_of(&state));
    lines.call("debugger_stop", json!({}));
    // That it is gone is a change, too.
    lines.first(is_of(&state));
    lines.first(is_of("debugger://sessions"));
    assert!(!lines.news.iter().any(is_of(&output)), "{:?}", lines.news);
    assert!(lines.leave().success());
}

#[test]
fn whoever_listens_without_a_handshake_hears_of_changes() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    let answer = visitor.call("debugger_start", start());
    let id = answer["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    let wanted = json!({
        "resourceSubscriptions": [uri(&id, "state"), "debugger://sessions/none/state"],
        "resourcesListChanged": true, "toolsListChanged": true,
    });
    let mut stream = web.open(&web.alone("subscriptions/listen", json!({"notifications": wanted})));
    assert_eq!(stream.status, 200);
    let mut next = || stream.next().expect("the stream goes on");
    let accepted = next();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    let accepted = &accepted["params"]["notifications"];
    assert_eq!(accepted["resourceSubscriptions"], json!([uri(&id, "state")]), "{accepted}");
    assert_eq!(accepted["resourcesListChanged"], true, "{accepted}");
    assert_ne!(accepted["toolsListChanged"], true, "the list of tools never changes: {accepted}");

    visitor.call("debugger_continue", json!({"wait_ms": 45_000}));
    let told = next();
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], uri(&id, "state"));
    visitor.call("debugger_start", start());
    while next()["method"] != "notifications/resources/list_changed" {}
    // The revisions with a handshake have no such request.
    let answer = visitor.ask("subscriptions/listen", json!({"notifications": {}}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[test]
fn whoever_subscribes_over_http_hears_of_changes_on_its_stream() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    let mut stream = web.open(&visitor.dressed(web.get()));
    let answer = visitor.call("debugger_start", start());
    let id = answer["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    assert!(visitor.ask("resources/subscribe", json!({"uri": uri(&id, "state")}))["result"].is_object());
    // Another one moves it.
    let other = web.send(&web.alone("tools/call", tool("debugger_continue", json!({"wait_ms": 45_000}))));
    assert_eq!(other.message()["result"]["structuredContent"]["state"], "paused", "{other:?}");
    let told = stream.next().unwrap();
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], uri(&id, "state"));
}

#[test]
fn the_prompt_says_how_to_debug() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let listed = lines.ask("prompts/list", json!({}));
    let prompts = listed["result"]["prompts"].as_array().unwrap().clone();
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0]["name"], "debugging-workflow");
    let arguments = json!({"program": "shop.py", "problem": "the total is wrong"});
    let got = lines.ask("prompts/get", json!({"name": "debugging-workflow", "arguments": arguments}));
    let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("Debug shop.py") && text.contains("the total is wrong"), "{text}");
    // What it tells to use is there.
    let tools = lines.ask("tools/list", json!({}));
    let tools: Vec<_> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let named: Vec<&str> = words.filter(|word| word.starts_with("debugger_")).collect();
    assert!(named.len() > 5, "{named:?}");
    named.iter().for_each(|name| assert!(tools.contains(&json!(name)), "{name}"));
    assert!(lines.ask("prompts/get", json!({"name": "debugging-workflow"}))["result"].is_object());
    assert_eq!(lines.ask("prompts/get", json!({"name": "none"}))["error"]["code"], -32602);
    assert!(lines.leave().success());
}

/// The steps of a start, as its caller is told them.
fn check_progress(told: &[Value], token: &Value) {
    let steps: Vec<f64> = told.iter().map(|step| step["params"]["progress"].as_f64().unwrap()).collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    assert!(told.iter().all(|step| step["params"]["progressToken"] == *token), "{told:?}");
    let words: Vec<&str> = told.iter().filter_map(|step| step["params"]["message"].as_str()).collect();
    assert!(words.iter().any(|words| words.starts_with("rustc ")), "what is built is said: {words:?}");
}

#[test]
fn a_long_start_says_how_far_it_is() {
    if adapters::skipped("lldb") {
        return;
    }
    let rig = Rig::new();
    // Built before it can be debugged.
    fs::copy(Program::Rust.source(), rig.sandbox.work().join("t.rs")).unwrap();
    let arguments = json!({
        "program": "t.rs", "breakpoints": [{"line": Program::Rust.line("add")}], "wait_ms": 45_000,
    });
    let mut lines = Lines::greeted(&rig);
    let mut params = tool("debugger_start", arguments.clone());
    params["_meta"] = json!({"progressToken": "how far"});
    let answer = lines.ask("tools/call", params);
    let is_progress = |message: &Value| message["method"] == "notifications/progress";
    let told: Vec<Value> = lines.news.iter().filter(|message| is_progress(message)).cloned().collect();
    check_progress(&told, &json!("how far"));
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    // Whoever does not ask is not told.
    lines.news.clear();
    lines.call("debugger_stop", json!({}));
    lines.call("debugger_start", arguments.clone());
    assert!(!lines.news.iter().any(is_progress), "{:?}", lines.news);
    assert!(lines.leave().success());

    // Over HTTP it comes before the answer, on the same stream.
    fs::write(rig.sandbox.work().join("t.rs"), fs::read(Program::Rust.source()).unwrap()).unwrap();
    let web = Web::start(&rig);
    let mut params = tool("debugger_start", arguments);
    params["_meta"] = json!({"progressToken": 7});
    let messages = web.send(&web.alone("tools/call", params)).messages();
    let (answer, told) = messages.split_last().unwrap();
    assert!(told.iter().all(is_progress) && !told.is_empty(), "{told:?}");
    assert!(answer["result"].is_object(), "{answer}");
    assert!(told.iter().all(|step| step["params"]["progressToken"] == 7), "{told:?}");
}

#[test]
fn a_call_that_is_cancelled_leaves_the_session_as_it_is() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let mut start = start();
    start["args"] = json!(["spin"]);
    start["wait_ms"] = json!(0);
    lines.call("debugger_start", start);
    // It says something, and never stops.
    let waiting = lines.begin("tools/call", tool("debugger_continue", json!({"wait_ms": 45_000})));
    lines.notify("notifications/cancelled", json!({"requestId": waiting, "reason": "no patience"}));
    let paused = lines.call("debugger_pause", json!({"wait_ms": 45_000}));
    assert_eq!(paused["structuredContent"]["state"], "paused", "{paused}");
    let value = lines.call("debugger_evaluate", json!({"expression": "1 + 1"}));
    assert_eq!(value["structuredContent"]["result"], "2", "{value}");
    // There is no answer to what nobody waits for.
    assert!(!lines.news.iter().any(|message| message["id"] == waiting), "{:?}", lines.news);
    assert!(lines.leave().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn what_comes_after_a_call_was_cancelled_is_told_to_the_next() {
    if adapters::skipped("debugpy") {
        return;
    }
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let source = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('hello', flush=True)\nprint('bye')\n";
    fs::write(rig.sandbox.work().join("waits.py"), source).unwrap();
    let breakpoint = json!({"line": 5});
    lines.call("debugger_start", json!({"program": "waits.py", "breakpoints": [breakpoint], "wait_ms": 0}));
    let waiting = lines.begin("tools/call", tool("debugger_wait", json!({"wait_ms": 45_000})));
    lines.notify("notifications/cancelled", json!({"requestId": waiting}));
    // It reads one line after the other, so the call is given up by then.
    assert!(lines.ask("ping", json!({}))["result"].is_object());
    fs::write(rig.sandbox.work().join("go"), "").unwrap();
    let is_paused = |lines: &mut Lines| {
        let all = lines.ask("resources/read", json!({"uri": "debugger://sessions"}));
        all["result"]["contents"][0]["text"].as_str().unwrap().contains("paused").then_some(())
    };
    wait::until(PATIENCE, || is_paused(&mut lines)).expect("it stops");
    // Nobody was told of the stop, so that nothing goes on from it.
    let stopped = lines.call("debugger_continue", json!({"wait_ms": 45_000}));
    assert_eq!(stopped["structuredContent"]["state"], "paused", "{stopped}");
    let text = stopped["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("it had stopped here before this call") && text.contains("hello"), "{text}");
    assert!(lines.leave().success());
}
