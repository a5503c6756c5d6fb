//! The agents' door over HTTP: who may come in, both lifecycles of the protocol, and how it ends.
//!
//! Whoever comes in can run any code as this user, so everything that is not a local agent with the token is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod mcp_wire;
    pub mod rig;
}

use std::fs;
use std::io::Write;
use std::net::{Shutdown, TcpStream};

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::wait;
use rustix::process::Signal;
use serde_json::{Value, json};
use support::mcp_wire::{Lines, PATIENCE, REVISIONS, STATELESS, Visitor, Web, hello, tool};
use support::rig::{Rig, signal, text};

/// A start of the EZ program that stops in `add`.
fn start() -> Value {
    let breakpoint = json!({"line": Program::Ez.line("add")});
    json!({"program": text(&Program::Ez.source()), "breakpoints": [breakpoint], "wait_ms": 45_000})
}

#[test]
fn only_whoever_brings_the_token_comes_in() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let token = &web.token;
    let last = if token.ends_with('0') { '1' } else { '0' };
    let almost = format!("Bearer {}{last}", &token[..63]);
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        almost,
        format!("Bearer {token}0"),
        format!("Bearer {}", &token[..63]),
        format!("Basic {token}"),
        token.clone(),
    ];
    let ask = web.alone("tools/list", json!({}));
    let mut refused = vec![web.send(&ask.clone().without("Authorization"))];
    refused.extend(wrong.iter().map(|value| web.send(&ask.clone().with("Authorization", value))));
    // Where nothing is, too: nobody learns what is there.
    let mut elsewhere = ask.clone();
    elsewhere.path = "/".to_owned();
    refused.push(web.send(&elsewhere.clone().without("Authorization")));
    refused.push(web.send(&web.get().without("Authorization")));
    for answer in refused {
        assert_eq!(answer.status, 401, "{answer:?}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert!(answer.body.contains("Authorization: Bearer TOKEN"), "{answer:?}");
        assert!(answer.body.contains("breakroom mcp --print-config"), "{answer:?}");
        assert!(!answer.body.contains(&token[..63]), "{answer:?}");
    }
    assert_eq!(web.send(&elsewhere).status, 404);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let answer = web.send(&ask.clone().with("Authorization", &format!("{scheme} {token}")));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

#[test]
fn what_a_browser_sends_for_a_page_is_refused_even_with_the_token() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let ask = web.alone("tools/list", json!({}));
    let port = web.address.port();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.evil.example", "0.0.0.0"] {
        let answer = web.send(&ask.clone().with("Host", host));
        assert_eq!(answer.status, 403, "{host}: {answer:?}");
    }
    assert_eq!(web.send(&ask.clone().without("Host")).status, 400);
    let own = format!("http://127.0.0.1:{port}");
    for origin in ["https://evil.example", "null", "http://localhost", &own, "nonsense"] {
        for ask in [ask.clone(), web.get()] {
            let answer = web.send(&ask.with("Origin", origin));
            assert_eq!(answer.status, 403, "{origin}: {answer:?}");
        }
    }
    for host in ["localhost".to_owned(), format!("localhost:{port}"), format!("[::1]:{port}")] {
        let answer = web.send(&ask.clone().with("Host", &host));
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
    }
    // Nor may a page ask beforehand whether it might.
    let mut preflight = ask.with("Origin", "https://evil.example").without("Authorization");
    preflight.method = "OPTIONS";
    let answer = web.send(&preflight);
    assert_eq!(answer.status, 401, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[test]
fn an_address_that_others_reach_is_refused() {
    let rig = Rig::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8127"] {
        let output = rig.sandbox.command(["mcp", "--http", address]).output().unwrap();
        assert!(!output.status.success());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains("is not a loopback address"), "{complaint}");
        assert!(complaint.contains("ssh -L"), "{complaint}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn the_token_is_in_nothing_that_is_logged_said_or_seen() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    let started = visitor.call("debugger_start", start());
    assert_eq!(started["structuredContent"]["state"], "paused", "{started}");
    let mut said = started.to_string();
    said += &web.send(&web.alone("server/discover", json!({}))).body;
    said += &web.send(&web.get().with("Authorization", &format!("Bearer {}0", web.token))).body;
    for process in rig.sandbox.census().processes() {
        said += &process.command_line;
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        said += &String::from_utf8_lossy(&environment);
    }
    visitor.call("debugger_stop", json!({}));
    said += &web.said;
    said += &fs::read_to_string(rig.sandbox.path("state").join("breakroom/hub.log")).unwrap_or_default();
    let log = fs::read_to_string(&web.stderr).unwrap();
    assert!(log.contains("tools/call") || log.contains("CallTool"), "everything is logged:\n{log}");
    said += &log;
    assert!(said.contains("the token is in "), "it is said where it is");
    assert!(!said.contains(&web.token), "the token leaked");
}

#[test]
fn a_request_that_is_too_large_is_refused_and_others_are_served() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let filler = "x".repeat(5 << 20);
    let answer = web.send(&web.alone("tools/call", tool("debugger_evaluate", json!({"expression": filler}))));
    // One that gives up before the whole is there may be heard as a reset.
    assert!([0, 413].contains(&answer.status), "{}", answer.status);
    let fits = "x".repeat(3 << 20);
    let answer = web.send(&web.alone("tools/call", tool("debugger_evaluate", json!({"expression": fits}))));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.message()["result"]["isError"], true);
    web.serves();
}

#[test]
fn garbage_does_not_end_the_server() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let head = |more: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}",
            web.address, web.token
        )
    };
    let raw = [
        b"\0\xff\xfe\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"Content-Length: 20\r\n\r\n{\"seq\": 1, \"type\": \"".to_vec(),
        head("").into_bytes(),
        head("Content-Length: 1000\r\n\r\n{").into_bytes(),
        head("Content-Length: -1\r\n\r\n").into_bytes(),
        head("Transfer-Encoding: chunked\r\n\r\nzzz\r\n").into_bytes(),
        head(&format!("X: {}\r\n\r\n", "y".repeat(1 << 20))).into_bytes(),
    ];
    for bytes in raw {
        let mut stream = TcpStream::connect(web.address).unwrap();
        // It may have closed before the end.
        let _ = stream.write_all(&bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        web.serves();
    }
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    let bodies = [
        "",
        "{",
        "null",
        "[]",
        "[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]",
        "{\"jsonrpc\": \"2.0\"}",
        "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"tools/list\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"tools/list\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"no/such\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": []}",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": 1}}",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}",
        "\u{feff}{}",
    ];
    for body in bodies {
        for mut ask in [visitor.request(1, "ping", json!({})), web.alone("tools/list", json!({}))] {
            ask.body = body.as_bytes().to_vec();
            let answer = web.send(&ask);
            assert!((200..500).contains(&answer.status), "{body}: {answer:?}");
        }
        web.serves();
    }
    let answer = visitor.ask("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // What was said in between has not disturbed this one.
    assert!(visitor.ask("ping", json!({}))["result"].is_object());
    let answer = web.send(&visitor.request(1, "ping", json!({})).with("Content-Type", "text/plain"));
    assert_eq!(answer.status, 415, "{answer:?}");
    let answer = web.send(&visitor.request(1, "ping", json!({})).with("Accept", "text/html"));
    assert_eq!(answer.status, 406, "{answer:?}");
    assert!(web.stderr.exists() && !fs::read_to_string(&web.stderr).unwrap().contains("panicked"));
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    for revision in REVISIONS {
        let visitor = Visitor::greet(&web, revision);
        assert_eq!(visitor.greeting["protocolVersion"], revision);
        assert_eq!(visitor.greeting["serverInfo"]["name"], "breakroom");
        let tools = visitor.ask("tools/list", json!({}));
        assert!(tools["result"]["tools"].as_array().unwrap().len() > 10, "{tools}");
        let answer = visitor.call("debugger_get_session", json!({}));
        assert_ne!(answer["isError"], true, "{answer}");
    }
    // One that nobody knows gets the newest with a handshake.
    for revision in ["1999-01-01", "2999-01-01", STATELESS] {
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(revision)});
        let answer = web.send(&web.post(&message)).message();
        assert_eq!(answer["result"]["protocolVersion"], REVISIONS[3], "{answer}");
    }
}

#[test]
fn the_revision_without_a_handshake_is_spoken() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let answer = web.send(&web.alone("server/discover", json!({})));
    assert_eq!(answer.header("mcp-session-id"), None);
    let found = &answer.message()["result"];
    let revisions = found["supportedVersions"].as_array().unwrap();
    assert!(revisions.contains(&json!(STATELESS)), "{found}");
    assert!(found["capabilities"]["tools"].is_object(), "{found}");
    let ask = |name: &str, arguments: Value| {
        let answer = web.send(&web.alone("tools/call", tool(name, arguments)));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()["result"].clone()
    };
    let started = ask("debugger_start", start());
    assert_eq!(started["structuredContent"]["state"], "paused", "{started}");
    let id = &started["structuredContent"]["session_id"];
    let sum = ask("debugger_evaluate", json!({"session_id": id, "expression": "a + b"}));
    assert_eq!(sum["structuredContent"]["result"], "42", "{sum}");
    ask("debugger_stop", json!({"session_id": id}));
    // Whoever says which revision it speaks must say it with every request, and twice the same.
    let mut silent = web.alone("tools/list", json!({}));
    silent.body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string().into();
    assert_eq!(web.send(&silent).status, 400);
    let other = web.alone("tools/list", json!({})).with("MCP-Protocol-Version", REVISIONS[3]);
    assert_eq!(web.send(&other).status, 400);
}

#[test]
fn a_visit_ends_by_delete_and_other_methods_are_refused() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    assert_eq!(web.send(&web.get().without("Accept")).status, 406);
    let unknown = web.get().with("Mcp-Session-Id", "nobody");
    assert_eq!(web.send(&unknown).status, 404);
    let mut put = web.alone("tools/list", json!({}));
    put.method = "PUT";
    assert_eq!(web.send(&put).status, 405);

    let visitor = Visitor::greet(&web, REVISIONS[3]);
    let stream = web.open(&visitor.dressed(web.get()));
    assert_eq!(stream.status, 200);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let mut goodbye = visitor.dressed(web.get());
    goodbye.method = "DELETE";
    let gone = web.send(&goodbye);
    assert!((200..300).contains(&gone.status), "{gone:?}");
    // The client has to shake hands again, and learns it by this.
    assert_eq!(web.send(&visitor.request(1, "ping", json!({}))).status, 404);
    web.serves();
}

/// Some clients shake hands for every call and never say goodbye.
#[test]
fn of_too_many_visitors_the_one_that_was_silent_for_longest_is_forgotten() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let (busy, silent) = (Visitor::greet(&web, REVISIONS[3]), Visitor::greet(&web, REVISIONS[3]));
    for _ in 0..98 {
        Visitor::greet(&web, REVISIONS[3]);
    }
    assert!(busy.ask("ping", json!({}))["result"].is_object());
    let last = Visitor::greet(&web, REVISIONS[3]);
    for (visitor, status) in [(&silent, 404), (&busy, 200), (&last, 200)] {
        assert_eq!(web.send(&visitor.request(1, "ping", json!({}))).status, status);
    }
}

#[test]
fn visitors_that_say_goodbye_throw_nobody_out() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let silent = Visitor::greet(&web, REVISIONS[3]);
    for _ in 0..110 {
        let visitor = Visitor::greet(&web, REVISIONS[3]);
        let mut goodbye = visitor.dressed(web.get());
        goodbye.method = "DELETE";
        let gone = web.send(&goodbye);
        assert!((200..300).contains(&gone.status), "{gone:?}");
    }
    assert_eq!(web.send(&silent.request(1, "ping", json!({}))).status, 200);
}

#[test]
fn two_clients_are_in_the_same_sessions() {
    let rig = Rig::new();
    let web = Web::start(&rig);
    let first = Visitor::greet(&web, REVISIONS[0]);
    let second = Visitor::greet(&web, REVISIONS[3]);
    let id = first.call("debugger_start", start())["structuredContent"]["session_id"].clone();
    let seen = second.call("debugger_get_session", json!({}));
    assert_eq!(seen["structuredContent"]["session_id"], id, "{seen}");
    let moved = second.call("debugger_step", json!({"session_id": id, "kind": "out", "wait_ms": 45_000}));
    assert_eq!(moved["structuredContent"]["state"], "paused", "{moved}");
    let third = web.send(&web.alone("tools/call", tool("debugger_inspect", json!({"what": "stop"}))));
    let place = |answer: &Value| {
        (answer["structuredContent"]["line"].clone(), answer["structuredContent"]["epoch"].clone())
    };
    assert_eq!(place(&third.message()["result"]), place(&moved), "{moved}");
    assert_eq!(place(&first.call("debugger_wait", json!({}))), place(&moved));
    // That one goes is nothing to the other.
    let mut goodbye = first.dressed(web.get());
    goodbye.method = "DELETE";
    web.send(&goodbye);
    let ended = second.call("debugger_stop", json!({"session_id": id}));
    assert_ne!(ended["isError"], true, "{ended}");
}

#[test]
fn told_to_end_it_ends_what_it_launched_although_others_wait() {
    let rig = Rig::new();
    let mut web = Web::start(&rig);
    let visitor = Visitor::greet(&web, REVISIONS[3]);
    let spin = json!({"program": text(&Program::Ez.source()), "args": ["spin"], "wait_ms": 0});
    let started = visitor.call("debugger_start", spin);
    assert_ne!(started["isError"], true, "{started}");
    // A stream that nothing comes over, and a call that would wait long.
    let _stream = web.open(&visitor.dressed(web.get()));
    let waiting =
        web.alone("tools/call", tool("debugger_wait", json!({"after_epoch": 1_000, "wait_ms": 45_000})));
    let mut stream = TcpStream::connect(web.address).unwrap();
    let mut bytes = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n", waiting.body.len());
    waiting.headers.iter().for_each(|(name, value)| bytes += &format!("{name}: {value}\r\n"));
    stream.write_all(&[bytes.as_bytes(), b"\r\n", &waiting.body].concat()).unwrap();
    // And somebody who never finishes a sentence.
    let mut half = TcpStream::connect(web.address).unwrap();
    half.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    web.serves();
    signal(web.door.id().cast_signed(), Signal::TERM);
    let status = wait::for_exit(&mut web.door, PATIENCE).expect("it ends");
    assert!(status.success(), "{status:?}");
    rig.only_the_daemon_is_left();
}

/// What `--print-config` prints for a client.
fn printed(rig: &Rig, arguments: &[&str]) -> String {
    let output = rig.sandbox.command(["mcp", "--print-config"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_printed_for_clients_leads_to_the_server() {
    let rig = Rig::new();
    let server = |config: &str| -> Value {
        serde_json::from_str::<Value>(config).unwrap()["mcpServers"]["breakroom"].clone()
    };
    let started = server(&printed(&rig, &["cursor"]));
    assert_eq!(started["command"], text(rig.sandbox.binary()));
    assert_eq!(started["args"], json!(["mcp"]));
    let mut lines = Lines::start(&rig);
    assert!(lines.ask("initialize", hello(REVISIONS[3]))["result"].is_object());
    assert!(lines.leave().success());

    let web = Web::start(&rig);
    let address = web.address.to_string();
    let asked = server(&printed(&rig, &["cursor", "--http", &address]));
    assert_eq!(asked["url"], format!("http://{address}/mcp"));
    let header = asked["headers"]["Authorization"].as_str().unwrap();
    let header = header.replace("${env:BREAKROOM_TOKEN}", &web.token);
    assert_eq!(web.send(&web.alone("tools/list", json!({})).with("Authorization", &header)).status, 200);

    let all = printed(&rig, &["--http", &address]);
    assert!(!all.contains(&web.token), "what is printed may end up in a repository");
    assert!(all.contains("breakroom/token"), "{all}");
    let all = printed(&rig, &[]) + &all;
    for client in [
        "Claude Code",
        "Claude Desktop",
        "Cursor",
        "VS Code",
        "Codex",
        "Gemini CLI",
        "Zed",
        "Windsurf",
        "opencode",
        "Copilot CLI",
        "Qwen Code",
        "Cline",
    ] {
        assert!(all.contains(&format!("# {client}: ")), "{client}");
    }
    let refused =
        rig.sandbox.command(["mcp", "--print-config", "claude-desktop", "--http", &address]).output();
    let refused = String::from_utf8(refused.unwrap().stderr).unwrap();
    assert!(refused.contains("leave out --http"), "{refused}");
}
