//! Run sessions whose adapter is started by a debug bridge.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use breakroom_ide_protocol::Change;
use breakroom_testkit::fake;
use serde_json::json;

use crate::peer::Call;
use crate::server::{Adapter, Bridge, SESSION, Server, bridged, framed};

#[test]
fn r15_r19_to_r23_r31_r32_r35_r77_run_is_answered_first_and_no_dap_byte_precedes_the_handshakes_answer() {
    let server = Server::start(&[], &[]);
    let bridge = Bridge::listen();
    // Nothing accepts the connection yet.
    let run = server.run(&bridged(&bridge));
    let (mut stream, handshake) = bridge.accept();
    assert_eq!((&handshake["token"], &handshake["session_id"]), (&json!(server.token), &json!(SESSION)));
    assert_eq!(handshake["run_id"], json!(run));
    let config = &handshake["debug_adapter_config"];
    assert_eq!(config["mode"], "stdio");
    assert!(config["args"][0].as_str().unwrap().ends_with("fake-adapter"), "{config}");
    // A DAP byte that came too early would be here within this second.
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let early = stream.read(&mut [0]).unwrap_err();
    assert!(matches!(early.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{early}");
    stream.set_read_timeout(None).unwrap();
    framed(r#"{"success":true}"#).iter().for_each(|byte| stream.write_all(&[*byte]).unwrap());
    let mut adapter = Adapter::new(stream);
    let launch = adapter.start();
    assert_eq!((&launch["program"], &launch["cwd"]), (&json!("/srv/service.py"), &json!("/srv")));
    let call = Call::delete(&server, &run);
    assert_eq!(server.send(call).status.as_u16(), 200);
    adapter.rest();
    server.finish();
}

#[test]
fn delete_ends_a_service_whose_adapter_does_not_answer_the_launch() {
    let server = Server::start(&[], &[]);
    let mut notifications = server.listen();
    let bridge = Bridge::listen();
    let run = server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    let initialize = adapter.until("initialize");
    adapter.answer(&initialize, json!({"supportsConfigurationDoneRequest": true}));
    adapter.until("launch");
    assert_eq!(server.send(Call::delete(&server, &run)).status.as_u16(), 200);
    adapter.rest();
    assert_eq!(notifications.next(&run), Change::SessionTerminated { exit_code: None });
    notifications.expect_silence();
    server.finish();
}

#[test]
fn r34_r41_r42_editor_debugs_the_service_and_its_output_is_not_sent_as_service_logs() {
    let server = Server::start(&[], &[]);
    let mut notifications = server.listen();
    let bridge = Bridge::listen();
    let run = server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    adapter.start();
    let session = server.hub_session(&run);
    assert_eq!(notifications.next(&run), Change::ProcessRestarted { pid: Some(4711) });
    let mut editor = server.editor(&session);
    editor.allow(&["process", "thread"]);
    editor.call("initialize", json!({"adapterID": "x", "clientName": "the editor"}));
    editor.call("attach", json!({}));
    editor.event("initialized");
    editor.call("configurationDone", json!({}));
    adapter.event("output", json!({"category": "stdout", "output": "hello\n"}));
    assert_eq!(editor.event("output")["body"]["output"], "hello\n");
    adapter.event("stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    editor.event("stopped");
    let asked = editor.request("evaluate", json!({"expression": "total"}));
    let evaluate = adapter.until("evaluate");
    adapter.answer(&evaluate, json!({"result": "42", "variablesReference": 0}));
    assert_eq!(editor.response(asked)["body"]["result"], "42");
    adapter.event("exited", json!({"exitCode": 3}));
    adapter.event("terminated", json!({}));
    editor.allow(&["exited"]);
    editor.event("terminated");
    adapter.rest();
    assert_eq!(notifications.next(&run), Change::SessionTerminated { exit_code: Some(3) });
    notifications.expect_silence();
    editor.closed();
    editor.abandon();
    server.finish();
}

#[test]
fn r36_r39_r40_stop_of_the_editor_ends_the_service_and_closes_the_bridges_connection() {
    for stop in [("disconnect", json!({"terminateDebuggee": true})), ("terminate", json!({}))] {
        let server = Server::start(&[], &[]);
        let mut notifications = server.listen();
        let bridge = Bridge::listen();
        let run = server.run(&bridged(&bridge));
        let mut adapter = bridge.adapter();
        adapter.start();
        let session = server.hub_session(&run);
        assert_eq!(notifications.next(&run), Change::ProcessRestarted { pid: Some(4711) });
        let mut editor = server.editor(&session);
        editor.allow(&["process", "terminated", "exited", "output"]);
        editor.call("initialize", json!({"adapterID": "x"}));
        editor.call("attach", json!({}));
        editor.event("initialized");
        editor.call("configurationDone", json!({}));
        let asked = editor.request(stop.0, stop.1);
        // The end of the connection is what this returns at.
        let commands = adapter.rest();
        assert!(commands.contains(&"disconnect".to_owned()), "{commands:?}");
        editor.response(asked);
        assert_eq!(notifications.next(&run), Change::SessionTerminated { exit_code: None });
        notifications.expect_silence();
        editor.abandon();
        server.finish();
    }
}

#[test]
fn r07_delete_ends_the_service_and_is_answered_again() {
    let server = Server::start(&[], &[]);
    let mut notifications = server.listen();
    let bridge = Bridge::listen();
    let run = server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    adapter.start();
    assert_eq!(notifications.next(&run), Change::ProcessRestarted { pid: Some(4711) });
    assert_eq!(server.send(Call::delete(&server, &run)).status.as_u16(), 200);
    assert!(adapter.rest().contains(&"disconnect".to_owned()));
    assert_eq!(notifications.next(&run), Change::SessionTerminated { exit_code: None });
    let again = server.send(Call::delete(&server, &run)).status.as_u16();
    assert!([200, 204].contains(&again), "{again}");
    notifications.expect_silence();
    server.finish();
}

#[test]
fn r37_r38_session_is_listed_under_its_run_and_nothing_runs_below_the_endpoint() {
    let server = Server::start(&[], &[]);
    let bridge = Bridge::listen();
    let run = server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    adapter.start();
    server.lists(&format!("{run} service.py"));
    // But for the hub, which the first client starts.
    assert_eq!(server.children(), [server.rig.daemon().to_string()]);
    drop(adapter);
    server.finish();
}

#[test]
fn endpoint_that_is_killed_takes_its_services_along() {
    let mut server = Server::start(&[], &[]);
    let bridge = Bridge::listen();
    server.run(&bridged(&bridge));
    let mut adapter = bridge.adapter();
    adapter.start();
    server.kill();
    adapter.rest();
    server.rig.only_the_daemon_is_left();
}

#[test]
fn r17_r27_r28_projects_are_served_where_a_debugger_for_them_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("bin/Debug/net8.0");
    std::fs::create_dir_all(&output).unwrap();
    std::fs::write(output.join("Shop.dll"), "").unwrap();
    let project = folder.path().join("Shop.csproj");
    let body = json!({"launch_configurations": [{"type": "project", "project_path": project}]});
    let served = |server: &Server| {
        let info = server.send(Call::new(server, "GET", "/info"));
        let info: serde_json::Value = serde_json::from_str(&info.body).unwrap();
        info["supported_launch_configurations"].as_array().unwrap().contains(&json!("project"))
    };

    // In the place of the entry that is built in, so that it makes no difference what this machine has.
    let nothing = Path::new("/no/such/netcoredbg");
    let without = Server::start_with(&[], &[], &[("netcoredbg", "coreclr", nothing)]);
    assert!(!served(&without));
    let refused = without.send(Call::put(&without, &body.to_string()));
    assert_eq!(refused.error(), (400, "UnsupportedLaunchConfiguration".to_owned()));
    assert!(refused.body.contains("netcoredbg"), "{}", refused.body);
    without.finish_unused();

    let with = Server::start_with(&[], &[], &[("netcoredbg", "coreclr", fake::adapter_path())]);
    assert!(served(&with));
    let bridge = Bridge::listen();
    let mut body = body;
    body["debug_bridge_socket_path"] = json!(bridge.path);
    body["debug_session_id"] = json!(SESSION);
    with.run(&body);
    let (mut stream, handshake) = bridge.accept();
    assert_eq!(handshake["debug_adapter_config"]["mode"], "stdio");
    stream.write_all(&framed(r#"{"success":true}"#)).unwrap();
    let launch = Adapter::new(stream).start();
    assert_eq!(launch["program"], json!(output.join("Shop.dll")));
    with.finish();
}
