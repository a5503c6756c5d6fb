//! Who may be lost, and at which point: nothing that a client began outlives it.

use std::time::Duration;

use breakroom_testkit::wait;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::plugin::{
    Plugin, Server, attach_arguments, begin, dap, fake_in_catalog, port_of, program,
};
use crate::support::rig::{LONG, Rig, signal};

/// The points at which the plugin is lost, with its debug connection if it has one by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Asked,
    PortKnown,
    Connected,
    Initialized,
    Attached,
    Running,
}

const POINTS: [Point; 6] =
    [Point::Asked, Point::PortKnown, Point::Connected, Point::Initialized, Point::Attached, Point::Running];

fn lose_at(plugin: Plugin, rig: &Rig, point: Point) {
    let target = program(rig, "a.fake");
    let call = plugin.request("debugger/start", json!({"request": {"targetPath": target}}));
    if point == Point::Asked {
        return drop(plugin);
    }
    let port = port_of(&plugin.response(&call)["result"]);
    if point == Point::PortKnown {
        return drop(plugin);
    }
    let mut client = dap(port);
    client.allow(&["capabilities"]);
    match point {
        Point::Running => begin(&mut client),
        Point::Initialized | Point::Attached => {
            client.call("initialize", json!({"adapterID": "nvim-dap"}));
            if point == Point::Attached {
                let _ = client.request("attach", attach_arguments(port));
            }
        }
        _ => {}
    }
    client.abandon();
    drop(plugin);
}

#[test]
fn r000_22_client_that_dies_at_any_point_leaves_no_process() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    for point in POINTS {
        lose_at(server.client(), &rig, point);
        // The adapter's process ends, and the server goes on.
        let adapters = || {
            let processes = rig.sandbox.census().processes();
            processes.iter().all(|process| !process.command_line.contains("fake-adapter")).then_some(())
        };
        assert!(wait::until(LONG, adapters).is_some(), "{point:?}: an adapter is left");
    }
    assert!(server.finish().success());
    if rig.daemon_now().is_some() {
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn r000_20_port_closes_when_its_client_is_gone() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let port = plugin.start(&program(&rig, "a.fake"));
    drop(plugin);
    let refused = || std::net::TcpStream::connect(("127.0.0.1", port)).is_err().then_some(());
    assert!(wait::until(LONG, refused).is_some());
    server.client().start(&program(&rig, "a.fake"));
}

#[test]
fn debug_connection_outlives_the_plugins_json_rpc_connection() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&program(&rig, "a.fake")));
    begin(&mut client);
    drop(plugin);
    client.call("threads", Value::Null);
    crate::support::rig::end(client);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn server_that_is_ended_or_killed_takes_its_sessions_with_it() {
    for kind in [Signal::TERM, Signal::INT, Signal::KILL] {
        let rig = Rig::new();
        fake_in_catalog(&rig, &[]);
        let mut server = Server::start(&rig);
        let plugin = server.client();
        let mut client = dap(plugin.start(&program(&rig, "a.fake")));
        begin(&mut client);
        signal(server.process.id().cast_signed(), kind);
        assert!(wait::for_exit(&mut server.process, LONG).is_some());
        assert_eq!(server.socket.exists(), kind == Signal::KILL);
        client.abandon();
        // A killed server cannot remove its socket.
        let _ = std::fs::remove_file(&server.socket);
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn server_stays_while_its_editor_lives_and_ends_with_it() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    drop(server.client());
    let plugin = server.client();
    plugin.call("workspace/stop", json!([]));
    drop(plugin);
    assert!(server.finish().success());
    rig.sandbox.assert_nothing_left(LONG);
}

#[test]
fn cancelled_call_is_answered_as_cancelled() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let (one, two) = (program(&rig, "one.fake"), program(&rig, "two.fake"));
    assert!(one.exists() && two.exists());
    let server = Server::start(&rig);
    let plugin = server.client();
    let call = plugin.request("workspace/debug", json!({"useDefault": false, "useLaunchProfile": false}));
    let (id, _) = plugin.asked("promptSelection");
    plugin.send(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": call}}));
    plugin.answer(&id, json!("/no/such/choice"));
    let response = plugin.take("the response", |message| message["id"] == call.as_str());
    assert!(response["result"].is_null() || response["error"]["code"] == -32800, "{response}");
    // Without its file no program is meant any more.
    let call = plugin
        .request("workspace/debug", json!({"useDefault": false, "useLaunchProfile": false, "filePath": one}));
    let (id, _) = plugin.asked("startDebugSession");
    plugin.send(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": call}}));
    assert!(plugin.within(Duration::from_millis(100), |_| false).is_none());
    plugin.answer(&id, json!(false));
    let response = plugin.response(&call);
    assert_eq!(response["error"]["code"], -32800, "{response}");
}
