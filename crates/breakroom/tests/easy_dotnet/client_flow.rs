//! The first flow: what passes over the port of `debugger/start`, and how failures reach the client.

use std::io::Write;
use std::net::TcpStream;

use breakroom_testkit::{Strict, fake};
use serde_json::{Value, json};

use crate::support::plugin::{Server, attach_arguments, begin, catalog, dap, fake_in_catalog, program};
use crate::support::rig::{Rig, end, initialize, text};

fn requests(rig: &Rig, command: &str) -> Vec<Value> {
    rig.log().into_iter().filter(|message| message["command"] == command).collect()
}

#[test]
fn r000_07_prepared_target_is_launched_whatever_the_client_sends() {
    for command in ["attach", "launch"] {
        let rig = Rig::new();
        fake_in_catalog(&rig, &[]);
        let server = Server::start(&rig);
        let target = program(&rig, "a.fake");
        let plugin = server.client();
        let mut client = dap(plugin.start(&target));
        client.allow(&["capabilities"]);
        initialize(&mut client);
        let mut arguments = attach_arguments(1);
        arguments["stopOnEntry"] = json!(false);
        let start = client.request(command, arguments);
        client.event("initialized");
        let response = client.response(start);
        assert_eq!(response["command"], command);
        client.call("configurationDone", Value::Null);
        let launches = requests(&rig, "launch");
        let [launch] = &launches[..] else { panic!("{launches:?}") };
        assert_eq!(launch["arguments"]["program"], text(&target));
        assert_eq!(launch["arguments"]["cwd"], text(&rig.sandbox.work()));
        assert_eq!(launch["arguments"]["stopOnEntry"], false);
        assert!(launch["arguments"].get("port").is_none(), "{launch}");
        assert!(requests(&rig, "attach").is_empty());
        end(client);
    }
}

#[test]
fn r000_18_odd_and_long_messages_pass_in_both_directions_in_order() {
    let rig = Rig::new();
    let long = "ä".repeat(200_000);
    fake_in_catalog(
        &rig,
        &[
            json!({"expect": "configurationDone"}),
            json!({"respond": "configurationDone"}),
            json!({"send": {"type": "event", "event": "output", "body": {"category": "stdout", "output": "{{i}}\n"}}, "repeat": 500}),
            json!({"send": {"type": "event", "event": "output", "body": {"category": "stdout", "output": long}}}),
            json!({"send": {"type": "event", "event": "vendor/strange", "body": {"any": [1, null, {"x": 1.5}]}}}),
        ],
    );
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    client.allow(&["output"]);
    begin(&mut client);
    let strange = client.event("vendor/strange");
    assert_eq!(strange["body"]["any"], json!([1, null, {"x": 1.5}]));
    let expected: String = (0..500).map(|count| format!("{count}\n")).chain([long.clone()]).collect();
    assert_eq!(client.timeline().output(), expected);
    let evaluated = client.call("evaluate", json!({"expression": long, "vendorField": {"deep": [true]}}));
    assert_eq!(evaluated["body"]["result"], long);
    let asked = requests(&rig, "evaluate");
    assert_eq!(asked[0]["arguments"]["vendorField"], json!({"deep": [true]}));
    end(client);
}

#[test]
fn r000_24_what_is_sent_with_the_connect_is_not_lost() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let port = plugin.start(&program(&rig, "a.fake"));
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let message =
        json!({"seq": 500, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}});
    let message = message.to_string();
    (&stream).write_all(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes()).unwrap();
    let mut client = Strict::tcp(stream);
    let request = client.expect_answer(500);
    client.response(request);
    end(client);
}

#[test]
fn r000_25_session_is_interactive_in_both_directions() {
    let rig = Rig::new();
    let ask = json!({"type": "request", "command": "runInTerminal", "arguments": {"kind": "integrated", "title": "x", "cwd": "/", "args": ["true"]}});
    fake_in_catalog(
        &rig,
        &[
            json!({"expect": "configurationDone"}),
            json!({"respond": "configurationDone"}),
            json!({"send": ask}),
            json!({"expect_response": "runInTerminal"}),
            json!({"send": {"type": "event", "event": "stopped", "body": {"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}}}),
        ],
    );
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    client.allow(&["capabilities", "output"]);
    client.call(
        "initialize",
        json!({"adapterID": "nvim-dap", "clientID": "neovim", "supportsRunInTerminalRequest": true}),
    );
    let attach = client.request("attach", attach_arguments(1));
    client.event("initialized");
    let done = client.request("configurationDone", Value::Null);
    client.response(attach);
    client.response(done);
    let asked = client.reverse("runInTerminal");
    assert_eq!(asked["arguments"]["args"], json!(["true"]));
    client.reply(&asked, true, json!({"processId": 1}));
    client.event("stopped");
    let stack = client.call("stackTrace", json!({"threadId": 1}));
    let frame = stack["body"]["stackFrames"][0]["id"].clone();
    let scopes = client.call("scopes", json!({"frameId": frame}));
    let reference = scopes["body"]["scopes"][0]["variablesReference"].clone();
    let variables = client.call("variables", json!({"variablesReference": reference}));
    assert_eq!(variables["body"]["variables"][0]["value"], "42");
    client.allow(&["continued"]);
    client.call("next", json!({"threadId": 1}));
    end(client);
}

#[test]
fn r000_r10_failed_response_arrives_in_its_words_and_stalls_nothing() {
    let rig = Rig::new();
    fake_in_catalog(
        &rig,
        &[
            json!({"expect": "evaluate"}),
            json!({"respond": "evaluate", "success": false, "message": "CS0103: no such name"}),
        ],
    );
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    begin(&mut client);
    let failed = client.call_failing("evaluate", json!({"expression": "bad"}));
    assert_eq!(failed["message"], "CS0103: no such name");
    assert_eq!(client.call("evaluate", json!({"expression": "good"}))["body"]["result"], "good");
    end(client);
}

#[test]
fn r000_r11_breakpoints_keep_all_that_was_said_and_need_no_more() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    client.allow(&["capabilities"]);
    initialize(&mut client);
    let attach = client.request("attach", attach_arguments(1));
    client.event("initialized");
    let breakpoint =
        json!({"line": 3, "column": 9, "condition": "a > 1", "hitCondition": "2", "logMessage": "a is {a}"});
    client.call("setBreakpoints", json!({"source": {"path": "/x/Program.cs"}, "breakpoints": [breakpoint]}));
    client.response(attach);
    client.call("configurationDone", Value::Null);
    let told = requests(&rig, "setBreakpoints");
    assert_eq!(told.last().unwrap()["arguments"]["breakpoints"], json!([breakpoint]));
    end(client);
}

#[test]
fn r000_r09_debugger_that_dies_at_once_reaches_the_client_and_the_user() {
    let rig = Rig::new();
    let script = fake::write_script(
        &rig.sandbox.work(),
        &[json!({"stderr": "GLIBC_2.36 not found\n"}), json!({"exit": 3})],
    );
    let args = json!([text(&script)]);
    catalog(&rig, &format!("programs = [{:?}]\nargs = {args}", text(fake::adapter_path())));
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    let asked = client.request("initialize", json!({"adapterID": "nvim-dap"}));
    let failed = client.failure(asked);
    assert!(failed["message"].as_str().unwrap().contains("GLIBC_2.36"), "{failed}");
    client.output_containing("GLIBC_2.36 not found");
    client.event("terminated");
    client.closed();
    client.finish();
    let shown = plugin.notified("displayError");
    assert!(shown["message"].as_str().unwrap().contains("GLIBC_2.36 not found"), "{shown}");
    drop(plugin);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r000_r13_session_is_listed_and_can_be_joined() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    begin(&mut client);
    let listed = rig.sandbox.command(["ls", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed[0]["labels"], json!({"easydotnet": "a.fake"}));
    let mut joiner = rig.sandbox.client(["dap", "--session", listed[0]["id"].as_str().unwrap()]);
    initialize(&mut joiner);
    let attach = joiner.request("attach", json!({}));
    joiner.event("initialized");
    joiner.call("configurationDone", Value::Null);
    joiner.response(attach);
    joiner.call("threads", Value::Null);
    end(joiner);
    client.call("threads", Value::Null);
    end(client);
}
