//! What agents' clients do that the protocol leaves open: which of the two answers they show a model, words of their own in
//! a call, how they go, and crowds that are no clients at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod mcp_wire;
    pub mod rig;
}

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use breakroom_testkit::adapters;
use breakroom_testkit::fixtures::Program;
use serde_json::{Value, json};
use support::mcp_wire::{Lines, PATIENCE, REVISIONS, Visitor, Web, hello, meta, tool};
use support::rig::{Rig, text};

fn start() -> Value {
    let breakpoint = json!({"line": Program::Ez.line("add").to_string()});
    json!({"program": text(&Program::Ez.source()), "breakpoints": [breakpoint], "wait_ms": "45000"})
}

/// A client of this name.
fn introduced(rig: &Rig, name: &str) -> Lines {
    let mut lines = Lines::start(rig);
    let mut hello = hello(REVISIONS[3]);
    hello["clientInfo"]["name"] = name.into();
    assert!(lines.ask("initialize", hello)["result"].is_object());
    lines.notify("notifications/initialized", json!({}));
    lines
}

/// Some clients show a model the data and not the text, by which source and output would be lost. Others drop the data, which
/// would take half of the room for nothing.
#[test]
fn clients_that_would_not_show_both_get_the_text_alone() {
    let rig = Rig::new();
    let text_alone = [
        "@cline/core",
        "claude-code",
        "codex-mcp-client",
        "copilot-cli",
        "gemini-cli-mcp-client",
        "opencode",
        "Visual Studio Code - Insiders",
    ];
    for name in text_alone.into_iter().chain(["wire"]) {
        let mut lines = introduced(&rig, name);
        let takes_data = !text_alone.contains(&name);
        let tools = lines.ask("tools/list", json!({}))["result"]["tools"].take();
        assert_eq!(tools.as_array().unwrap().len(), 16);
        // Whoever was promised data and gets none takes the answer for broken.
        let promised = tools.as_array().unwrap().iter().filter(|tool| tool.get("outputSchema").is_some());
        assert_eq!(promised.count(), if takes_data { 16 } else { 0 }, "{name}");
        for (tool, arguments, wanted) in
            [("debugger_start", start(), "> "), ("debugger_step", json!({"kind": "up"}), "Next: ")]
        {
            let answer = lines.call(tool, arguments);
            assert!(answer["content"][0]["text"].as_str().unwrap().contains(wanted), "{answer}");
            assert_eq!(answer.get("structuredContent").is_some(), takes_data, "{name}: {answer}");
        }
        assert!(lines.leave().success());
    }
    // Without a handshake, every request says whose it is.
    let mut lines = Lines::start(&rig);
    let mut about = meta();
    about["io.modelcontextprotocol/clientInfo"]["name"] = "copilot-cli".into();
    let mut call = tool("debugger_get_session", json!({}));
    call["_meta"] = about;
    let answer = lines.ask("tools/call", call);
    assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
    assert!(answer["result"].get("structuredContent").is_none(), "{answer}");
    assert!(lines.leave().success());
}

/// Long, with quotes and ends of lines, which take more as data.
const FULL: &str = r#"text = '"\n' * 9000
names = ['say "%d" ' % at * 5 for at in range(900)]
# many
for name in names:
    print(name)
print('over')
"#;

/// What nobody reads takes no room from what is read.
#[test]
fn clients_that_get_the_text_alone_get_it_for_the_whole_budget() {
    if adapters::skipped("debugpy") {
        return;
    }
    let rig = Rig::new();
    let many: Vec<_> = (0..200).map(|at| format!("x{at} = 'local \"{at}\"'")).collect();
    let program = rig.sandbox.work().join("full.py");
    std::fs::write(&program, FULL.replace("# many", &many.join("\n"))).unwrap();
    let mut lines = introduced(&rig, "claude-code");
    let breakpoints = json!([{"text": "print('over')"}]);
    let start = json!({"program": text(&program), "breakpoints": breakpoints, "wait_ms": 45_000});
    for (tool, mut arguments) in [
        ("debugger_start", start),
        ("debugger_inspect", json!({})),
        ("debugger_inspect", json!({"what": "variables"})),
        ("debugger_inspect", json!({"variable": "names"})),
        ("debugger_inspect", json!({"variable": "text"})),
        ("debugger_inspect", json!({"what": "source", "count": 1_000})),
        ("debugger_inspect", json!({"what": "output", "cursor": 0})),
        ("debugger_inspect", json!({"what": "output", "filter": "say"})),
        ("debugger_evaluate", json!({"expression": "text"})),
        ("debugger_evaluate", json!({"expression": "names"})),
        ("debugger_evaluate", json!({"expressions": vec!["text"; 30]})),
        ("debugger_script", json!({"steps": [{"tool": "inspect", "what": "variables"}]})),
    ] {
        arguments["max_tokens"] = 1_000.into();
        let answer = lines.call(tool, arguments.clone());
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(
            (3_000..=4_000).contains(&text.chars().count()),
            "{tool} {arguments}: {}\n{text}",
            text.len()
        );
    }
    assert!(lines.leave().success());
}

#[test]
fn words_that_clients_add_to_a_call_are_passed_over() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let added = json!({"wait_for_previous": true, "random_string": "x", "_meta": {}});
    let answer = lines.call("debugger_get_session", added);
    assert_ne!(answer["isError"], true, "{answer}");
    let answer = lines.call("debugger_get_session", json!({"wait_for_nobody": true}));
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("`wait_for_nobody`"), "{answer}");
    assert!(lines.leave().success());
}

/// Whoever goes while it waits takes along what it launched. What it asked before is still answered.
#[test]
fn a_client_that_goes_while_a_call_waits_leaves_nothing_running() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let started = lines.call("debugger_start", start());
    assert_eq!(started["structuredContent"]["state"], "paused", "{started}");
    let wait = tool("debugger_wait", json!({"after_epoch": 1_000, "wait_ms": 45_000}));
    let waiting = lines.begin("tools/call", wait);
    // The wait is under way when this is answered.
    assert!(lines.ask("ping", json!({}))["result"].is_object());
    let last = lines.begin("tools/list", json!({}));
    lines.hang_up();
    assert!(lines.answer(last)["result"]["tools"].is_array());
    // It does not end by its own time, but because the session does.
    let waited = lines.answer(waiting);
    assert_eq!(waited["result"]["structuredContent"]["state"], "ended", "{waited}");
    assert!(lines.leave().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn a_session_that_is_over_keeps_its_language() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let mut start = start();
    start["breakpoints"] = json!([]);
    let ended = lines.call("debugger_start", start);
    assert_eq!(ended["structuredContent"]["state"], "ended", "{ended}");
    let id = &ended["structuredContent"]["session_id"];
    // The hub lets go of it in its own time.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = lines.call("debugger_get_session", json!({"session_id": id}));
        assert_eq!(seen["structuredContent"]["language"], "ez", "{seen}");
        if seen["structuredContent"]["clients"].is_null() {
            break;
        }
        assert!(Instant::now() < deadline, "the hub keeps it: {seen}");
    }
    assert!(lines.leave().success());
}

/// The watchers of all sessions hear of each one's state, and of what is printed they hear nothing.
#[test]
fn watchers_of_all_sessions_hear_when_one_goes_on() {
    let rig = Rig::new();
    let mut lines = Lines::greeted(&rig);
    let started = lines.call("debugger_start", start());
    assert_eq!(started["structuredContent"]["state"], "paused", "{started}");
    let uri = "debugger://sessions";
    assert!(lines.ask("resources/subscribe", json!({"uri": uri}))["result"].is_object());
    let told = |message: &Value| message["method"] == "notifications/resources/updated";
    lines.call("debugger_breakpoints", json!({"remove": ["all"]}));
    lines.call("debugger_continue", json!({"wait_ms": 45_000}));
    lines.first(told);
    let read = |lines: &mut Lines| {
        let answer = lines.ask("resources/read", json!({"uri": uri}));
        answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    while !read(&mut lines).contains("\"state\":\"ended\"") {
        lines.first(told);
    }
    assert!(lines.leave().success());
}

/// Older libraries read every event as a message, and hang up where it is none.
#[test]
fn a_stream_has_nothing_but_messages() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[2]);
    let mut stream = web.open(&visitor.dressed(web.get()));
    let subscribed = visitor.ask("resources/subscribe", json!({"uri": "debugger://sessions"}));
    assert!(subscribed["result"].is_object(), "{subscribed}");
    visitor.call("debugger_start", start());
    let first = stream.data().expect("that a session has come is told");
    let message: Value = serde_json::from_str(&first).unwrap_or_else(|_| panic!("no message: {first:?}"));
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    visitor.call("debugger_stop", json!({}));
}

/// Reads until the other side has closed.
fn is_cut(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn a_thousand_silent_connections_keep_no_client_out() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    // One that has shown the token is no stranger, however silent.
    let mut known = TcpStream::connect(web.address).unwrap();
    let ask =
        format!("GET / HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n", web.address, web.token);
    known.write_all(ask.as_bytes()).unwrap();
    assert_eq!(known.read(&mut [0; 12]).unwrap(), 12);
    let mut silent: Vec<_> = (0..1_000).map(|_| TcpStream::connect(web.address).unwrap()).collect();
    web.serves();
    let started = visitor.call("debugger_start", start());
    assert_eq!(started["structuredContent"]["state"], "paused", "{started}");
    visitor.call("debugger_stop", json!({}));
    let open = std::fs::read_dir(format!("/proc/{}/fd", web.door.id())).unwrap().count();
    assert!(open < 200, "{open} descriptors");
    assert!(is_cut(&mut silent[0]), "the first has made room for others");
    // The last are heard for a while, and then no longer.
    assert!(is_cut(silent.last_mut().unwrap()));
    known.write_all(ask.as_bytes()).unwrap();
    let mut answer = [0; 4096];
    known.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(known.read(&mut answer).unwrap() > 0, "it was silent for longer, and is still heard");
    web.serves();
}

#[test]
fn headers_that_never_end_are_cut() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let mut slow = TcpStream::connect(web.address).unwrap();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n").unwrap();
    let mut dribble = slow.try_clone().unwrap();
    let dribbling = std::thread::spawn(move || {
        let deadline = Instant::now() + PATIENCE;
        // Each is a header of its own, so that it is never silent.
        while dribble.write_all(b"X: y\r\n").is_ok() {
            assert!(Instant::now() < deadline, "it is heard for ever");
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    assert!(is_cut(&mut slow));
    dribbling.join().unwrap();
    // Nor does one that is refused stay.
    let mut refused = TcpStream::connect(web.address).unwrap();
    refused.write_all(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    assert!(is_cut(&mut refused));
    web.serves();
}

#[test]
fn nothing_but_the_header_is_a_way_to_show_the_token() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let ask = web.alone("tools/list", json!({}));
    let port = web.address.port();
    for name in ["token", "access_token", "authorization"] {
        let mut asked = ask.clone().without("Authorization");
        asked.path = format!("/mcp?{name}={}", web.token);
        assert_eq!(web.send(&asked).status, 401, "{name}");
        let cookie = format!("{name}={}", web.token);
        assert_eq!(web.send(&ask.clone().without("Authorization").with("Cookie", &cookie)).status, 401);
    }
    // Names of this machine, in any case, and none that only look like one.
    for (host, status) in [
        ("LOCALHOST".to_owned(), 200),
        (format!("LocalHost:{port}"), 200),
        ("[::1]".to_owned(), 200),
        ("[::ffff:127.0.0.1]".to_owned(), 403),
        ("localhost.".to_owned(), 403),
        ("localhost.evil.example".to_owned(), 403),
        ("127.0.0.1:1@evil.example".to_owned(), 403),
        ("2130706433".to_owned(), 403),
        ("a b".to_owned(), 400),
        (String::new(), 400),
    ] {
        let answer = web.send(&ask.clone().with("Host", &host));
        assert_eq!(answer.status, status, "{host:?}: {answer:?}");
    }
    for origin in ["NULL", "", " ", "file://", "vscode-webview://x"] {
        let answer = web.send(&ask.clone().with("Origin", origin));
        assert_eq!(answer.status, 403, "{origin:?}: {answer:?}");
    }
    // An older protocol needs no host; a rebound name would be missing.
    let mut old = TcpStream::connect(web.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.0\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
        web.token,
        ask.body.len()
    );
    old.write_all(&[head.as_bytes(), &ask.body].concat()).unwrap();
    let mut answer = String::new();
    old.set_read_timeout(Some(PATIENCE)).unwrap();
    old.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 400"), "{answer}");
}

/// The number of somebody's visit is no token.
#[test]
fn whoever_only_knows_the_number_of_a_visit_can_neither_use_hear_nor_end_it() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    for method in ["GET", "DELETE", "POST"] {
        let mut ask = visitor.dressed(web.get());
        if method == "POST" {
            ask = visitor.request(7, "ping", json!({}));
        }
        ask.method = method;
        assert_eq!(web.send(&ask.without("Authorization")).status, 401, "{method}");
    }
    assert!(visitor.ask("ping", json!({}))["result"].is_object());
}
