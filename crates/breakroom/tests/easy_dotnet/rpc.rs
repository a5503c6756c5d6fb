//! JSON-RPC: the ready line, the socket, ids, parameters in their forms, errors, and several clients.

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use serde_json::{Value, json};

use crate::support::plugin::{Server, error_of, fake_in_catalog, program};
use crate::support::rig::Rig;

#[test]
fn r000_01_server_answers_initialize_with_its_version_and_routes() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let answer = server.connect().initialize(&rig.sandbox.work());
    assert!(answer["serverInfo"]["version"].as_str().unwrap().starts_with("3."), "{answer}");
    let routes = answer["capabilities"]["routes"].as_array().unwrap();
    for route in [
        "initialize",
        "debugger/start",
        "workspace/debug",
        "workspace/debug-attach",
        "workspace/stop",
        "launch-profiles",
    ] {
        assert!(routes.contains(&json!(route)), "{route} is not in {routes:?}");
    }
    assert!(server.finish().success());
    rig.sandbox.assert_nothing_left(crate::support::rig::LONG);
}

#[test]
fn r000_r1_options_that_are_not_known_do_not_end_the_server() {
    let rig = Rig::new();
    let link = rig.sandbox.work().join("dotnet-easydotnet");
    std::os::unix::fs::symlink(rig.sandbox.binary(), &link).unwrap();
    let mut command = rig.sandbox.program(&link);
    command.args(["--logLevel", "Verbose", "--of-the-future", "--other", "value"]);
    let server = Server::spawn(&rig, command);
    server.client();
    let refused = rig.sandbox.program(&link).args(["roslyn", "start"]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("is not served"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn r000_r2_socket_is_private_and_its_path_short_enough() {
    let rig = Rig::new();
    let deep = rig.sandbox.path("tmp").join("d".repeat(20));
    std::fs::create_dir(&deep).unwrap();
    let server = Server::start_with(&rig, &[], |command| {
        command.env("TMPDIR", &deep);
    });
    let socket = std::fs::symlink_metadata(&server.socket).unwrap();
    assert!(socket.file_type().is_socket() && socket.mode() & 0o777 == 0o600);
    assert!(server.socket.as_os_str().len() < 104, "{}", server.socket.display());
    server.client();
    let path = server.socket.clone();
    assert!(server.finish().success());
    assert!(!path.exists());
}

#[test]
fn r000_r3_ids_are_echoed_as_they_were_sent() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let client = server.client();
    for id in [json!("c-77"), json!(77), json!("77"), json!(0)] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "workspace/stop"}));
        let response = client.take("the response", |message| message["id"] == id);
        assert_eq!(response, json!({"jsonrpc": "2.0", "id": id, "result": null}));
    }
}

#[test]
fn r000_r4_no_parameters_may_be_written_in_each_way() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let client = server.client();
    for params in [json!([]), json!({}), json!({"_": ""}), Value::Null] {
        assert_eq!(client.call("workspace/stop", params), Value::Null);
    }
    client.send(&json!({"jsonrpc": "2.0", "id": "absent", "method": "workspace/stop"}));
    assert_eq!(client.response("absent")["result"], Value::Null);
}

#[test]
fn r000_04_request_is_named_or_positional_and_required() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let target = json!({"targetPath": program(&rig, "a.fake")});
    for params in [json!({"request": target}), json!([target])] {
        assert_eq!(client.call("debugger/start", params)["success"], true);
    }
    for params in [json!({}), json!([]), Value::Null, json!({"req": target}), json!({"request": null})] {
        let (code, text) = client.failing("debugger/start", params.clone());
        assert!(code == -32602 && text.contains("`request`"), "{params}: {code} {text}");
    }
}

#[test]
fn r000_05_target_path_is_a_required_string() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let client = server.client();
    for request in [json!({}), json!({"targetPath": null}), json!({"targetPath": 5})] {
        let (code, text) = client.failing("debugger/start", json!({"request": request}));
        assert!(code == -32602 && text.contains("targetPath"), "{code} {text}");
    }
}

#[test]
fn r000_06_optional_fields_may_be_absent_null_or_text_only() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let target = program(&rig, "a.fake");
    for field in ["targetFramework", "configuration"] {
        for value in [Value::Null, json!("x")] {
            let mut request = json!({"targetPath": target});
            request[field] = value;
            client.call("debugger/start", json!({"request": request}));
        }
        let mut request = json!({"targetPath": target});
        request[field] = json!(7);
        let (code, text) = client.failing("debugger/start", json!({"request": request}));
        assert!(code == -32602 && text.contains(field), "{code} {text}");
    }
}

#[test]
fn r000_09_answer_is_success_and_a_port() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let started = client.call("debugger/start", json!({"request": {"targetPath": program(&rig, "a.fake")}}));
    assert_eq!(started.as_object().unwrap().len(), 2);
    assert!(started["success"] == true && started["port"].as_u64().unwrap() > 0, "{started}");
}

#[test]
fn r000_11_failures_are_errors_and_never_success_false() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    std::fs::write(rig.sandbox.work().join("notes.unknown"), "no program").unwrap();
    let server = Server::start(&rig);
    let client = server.client();
    for (target, part) in [("none.fake", "no such file"), ("notes.unknown", "notes.unknown")] {
        let path = rig.sandbox.work().join(target);
        let (code, text) = client.failing("debugger/start", json!({"request": {"targetPath": path}}));
        assert!(code == -32000 && text.contains(part), "{code} {text}");
    }
}

#[test]
fn r000_41_any_client_that_speaks_json_rpc_is_served() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let (first, second) = (server.client(), server.connect());
    let (code, text) = first.failing("solution/list-projects", json!([]));
    assert!(code == -32601 && text.contains("solution/list-projects"), "{text}");
    for (bytes, code) in [("{", -32700), ("[]", -32600), (r#"{"id": 1}"#, -32600)] {
        second.bytes(format!("Content-Length: {}\r\n\r\n{bytes}", bytes.len()).as_bytes());
        let response =
            second.take("the refusal", |message| message["id"].is_null() && message.get("error").is_some());
        assert_eq!(error_of(&response).0, code);
    }
    // Another header and another order of members do not matter.
    let body = r#"{"params":[],"method":"workspace/stop","id":"x","jsonrpc":"2.0"}"#;
    let header = "Content-Type: application/vscode-jsonrpc; charset=utf-8";
    second.bytes(format!("{header}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    second.response("x");
    first.call("workspace/stop", json!({}));
}

#[test]
fn client_of_another_major_version_or_without_its_folder_is_refused() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let client = server.connect();
    let old = json!({"request": {"clientInfo": {"name": "EasyDotnet", "version": "2.9.0"}}});
    let (code, text) = client.failing("initialize", old);
    assert!(code == -32000 && text.contains("2.9.0"), "{text}");
    let lost = json!({"request": {"projectInfo": {"rootDir": "/no/such/folder"}}});
    let (code, text) = client.failing("initialize", lost);
    assert!(code == -32000 && text.contains("/no/such/folder"), "{text}");
}

#[test]
fn stream_is_fetched_once_by_its_token() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let client = server.client();
    let stream = client.call("launch-profiles", json!({"targetPath": rig.sandbox.work()}));
    let token = json!({"token": stream["token"]});
    assert_eq!(client.call("$/enumerator/next", token.clone()), json!({"values": [], "finished": true}));
    assert_eq!(client.failing("$/enumerator/next", token).0, -32001);
}
