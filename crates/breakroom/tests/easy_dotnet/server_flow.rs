//! The second flow: `startDebugSession` and `terminateDebugSession`, by the client's own ids.

use std::time::{Duration, Instant};

use breakroom_testkit::{Strict, fake, wait};
use serde_json::{Value, json};

use crate::support::plugin::{
    Plugin, Server, begin, catalog, dap, error_of, fake_in_catalog, port_of, program,
};
use crate::support::rig::{LONG, Rig, end, text};

fn debug(plugin: &Plugin, rig: &Rig, name: &str) -> String {
    let file = program(rig, name);
    plugin.request(
        "workspace/debug",
        json!({"useDefault": false, "useLaunchProfile": false, "filePath": file, "cliArgs": ""}),
    )
}

/// A session that runs, under this id of the client.
fn session(plugin: &Plugin, rig: &Rig, name: &str, id: i64) -> Strict {
    let call = debug(plugin, rig, name);
    let mut client = plugin.accept_session(id);
    begin(&mut client);
    assert_eq!(plugin.response(&call)["result"], Value::Null);
    client
}

/// What the hub does when a session is ended in the middle.
fn ends(mut client: Strict) {
    client.allow(&["output", "exited", "breakroom/activity"]);
    client.event("terminated");
    client.abandon();
}

fn live_sessions(rig: &Rig) -> usize {
    let listed = rig.sandbox.command(["ls", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed.as_array().unwrap().len()
}

#[test]
fn r000_26_port_is_ready_before_the_client_is_told_of_it() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let call = debug(&plugin, &rig, "a.fake");
    let (id, params) = plugin.asked("startDebugSession");
    // Connected, and the program started, before the request is answered.
    let mut client = dap(port_of(&params));
    begin(&mut client);
    plugin.answer(&id, json!(1));
    assert_eq!(plugin.response(&call)["result"], Value::Null);
    end(client);
}

#[test]
fn r000_28_29_start_debug_session_names_host_and_port() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    debug(&plugin, &rig, "a.fake");
    let asked = plugin.take("startDebugSession", |message| message["method"] == "startDebugSession");
    assert!(asked["id"].is_i64() && asked["jsonrpc"] == "2.0", "{asked}");
    assert_eq!(asked["params"].as_object().unwrap().len(), 2);
    assert!(asked["params"]["host"] == "127.0.0.1" && asked["params"]["port"].is_u64(), "{asked}");
}

#[test]
fn r000_32_client_may_answer_with_an_object_or_a_bare_integer() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    for answer in [json!({"sessionId": 3}), json!(4)] {
        let call = debug(&plugin, &rig, "a.fake");
        let (id, params) = plugin.asked("startDebugSession");
        plugin.answer(&id, answer);
        let mut client = dap(port_of(&params));
        begin(&mut client);
        assert_eq!(plugin.response(&call)["result"], Value::Null);
        end(client);
    }
}

#[test]
fn r000_33_same_id_for_two_sessions_is_an_error_and_spares_the_first() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut first = session(&plugin, &rig, "a.fake", 3);
    let call = debug(&plugin, &rig, "b.fake");
    let (id, params) = plugin.asked("startDebugSession");
    plugin.answer(&id, json!(3));
    let (code, text) = error_of(&plugin.response(&call));
    assert!(code == -32000 && text.contains("session id 3"), "{text}");
    assert_eq!(plugin.notified("displayError")["message"], text);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port_of(&params))).is_err());
    first.call("threads", Value::Null);
    end(first);
}

#[test]
fn r000_34_to_36_stop_asks_the_client_by_its_id_and_waits_for_the_end() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let client = session(&plugin, &rig, "a.fake", 42);
    let stopping = plugin.request("workspace/stop", json!({"_": ""}));
    let (id, params) = plugin.asked("terminateDebugSession");
    assert_eq!(params, json!({"sessionId": 42}));
    assert!(
        plugin.within(Duration::from_millis(200), |message| message["id"] == stopping.as_str()).is_none()
    );
    // As the plugin: the connection is closed, and there is no `disconnect`.
    client.abandon();
    plugin.answer(&id, json!(true));
    assert_eq!(plugin.response(&stopping)["result"], Value::Null);
    assert_eq!(live_sessions(&rig), 0);
    assert!(
        plugin.within(Duration::from_millis(100), |message| message["method"] == "displayError").is_none()
    );
    // Forgotten: nothing is left to ask for.
    plugin.call("workspace/stop", json!([]));
    assert!(
        plugin
            .within(Duration::from_millis(100), |message| message["method"] == "terminateDebugSession")
            .is_none()
    );
}

#[test]
fn r000_37_any_answer_but_true_is_reported_and_the_server_ends_the_session() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start_with(&rig, &["--client-timeout", "3"], |_| {});
    let plugin = server.client();
    let answers = [
        json!({"result": false}),
        json!({"result": null}),
        json!({"error": {"code": -32001, "message": "nvim-dap is missing"}}),
        Value::Null,
    ];
    for (answer, word) in answers.into_iter().zip(["false", "null", "nvim-dap is missing", "did not answer"])
    {
        let client = session(&plugin, &rig, "a.fake", 1);
        let stopping = plugin.request("workspace/stop", json!([]));
        let (id, _) = plugin.asked("terminateDebugSession");
        if let Value::Object(mut members) = answer {
            members.insert("jsonrpc".into(), json!("2.0"));
            members.insert("id".into(), id);
            plugin.send(&Value::Object(members));
        }
        assert_eq!(plugin.response(&stopping)["result"], Value::Null);
        let shown = plugin.notified("displayError");
        assert!(shown["message"].as_str().unwrap().contains(word), "{shown}");
        assert_eq!(live_sessions(&rig), 0);
        ends(client);
    }
}

#[test]
fn r000_38_session_is_terminated_while_it_is_stopped() {
    let rig = Rig::new();
    fake_in_catalog(
        &rig,
        &[
            json!({"expect": "configurationDone"}),
            json!({"respond": "configurationDone"}),
            json!({"send": {"type": "event", "event": "stopped", "body": {"reason": "pause", "threadId": 1, "allThreadsStopped": true}}}),
        ],
    );
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = session(&plugin, &rig, "a.fake", 9);
    client.event("stopped");
    let stopping = plugin.request("workspace/stop", json!([]));
    let (id, params) = plugin.asked("terminateDebugSession");
    assert_eq!(params["sessionId"], 9);
    client.abandon();
    plugin.answer(&id, json!(true));
    plugin.response(&stopping);
    assert_eq!(live_sessions(&rig), 0);
}

#[test]
fn r000_39_ending_one_of_two_sessions_leaves_the_other_alive() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let (plugin, other) = (server.client(), server.client());
    let first = session(&plugin, &rig, "a.fake", 3);
    let second = session(&plugin, &rig, "b.fake", 4);
    let mut elsewhere = session(&other, &rig, "c.fake", 3);
    first.abandon();
    plugin.take("the end of the first session", |message| {
        let left = json!([{"name": "b.fake", "isDebugging": true}]);
        message["method"] == "runningProcesses/changed" && message["params"]["projects"] == left
    });
    let stopping = plugin.request("workspace/stop", json!([]));
    let (id, params) = plugin.asked("terminateDebugSession");
    assert_eq!(params["sessionId"], 4);
    second.abandon();
    plugin.answer(&id, json!(true));
    plugin.response(&stopping);
    // The sessions of another client are not touched.
    elsewhere.call("threads", Value::Null);
    end(elsewhere);
}

#[test]
fn r000_40_sessions_follow_each_other_on_one_connection() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    for id in [1, 2, 1] {
        end(session(&plugin, &rig, "a.fake", id));
        assert!(wait::until(LONG, || (live_sessions(&rig) == 0).then_some(())).is_some());
        plugin.take("the end of the session", |message| {
            message["method"] == "runningProcesses/changed" && message["params"]["projects"] == json!([])
        });
    }
    drop(plugin);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r000_45_session_that_ended_by_itself_is_not_terminated() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    end(session(&plugin, &rig, "a.fake", 5));
    plugin.take("the end", |message| {
        message["method"] == "runningProcesses/changed" && message["params"]["projects"] == json!([])
    });
    plugin.call("workspace/stop", json!([]));
    assert!(
        plugin
            .within(Duration::from_millis(200), |message| message["method"] == "terminateDebugSession")
            .is_none()
    );
}

#[test]
fn r000_r5_request_without_an_answer_ends_with_the_clients_timeout() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start_with(&rig, &[], |command| {
        command.env("BREAKROOM_CLIENT_TIMEOUT", "0.5");
    });
    let plugin = server.client();
    let began = Instant::now();
    let call = debug(&plugin, &rig, "a.fake");
    let (_, params) = plugin.asked("startDebugSession");
    let (code, text) = error_of(&plugin.response(&call));
    assert!(code == -32000 && text.contains("did not answer `startDebugSession`"), "{text}");
    assert!(began.elapsed() >= Duration::from_millis(500));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port_of(&params))).is_err());
}

#[test]
fn r000_r6_call_is_answered_only_when_the_program_was_started() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let call = debug(&plugin, &rig, "a.fake");
    let mut client = plugin.accept_session(1);
    client.allow(&["capabilities"]);
    crate::support::rig::initialize(&mut client);
    assert!(plugin.within(Duration::from_millis(300), |message| message["id"] == call.as_str()).is_none());
    let attach = client.request("attach", json!({}));
    client.event("initialized");
    client.response(attach);
    assert_eq!(plugin.response(&call)["result"], Value::Null);
    client.call("configurationDone", Value::Null);
    end(client);
}

#[test]
fn r000_r7_failure_is_an_error_and_shown_with_the_same_words() {
    let rig = Rig::new();
    fake_in_catalog(
        &rig,
        &[
            json!({"expect": "launch"}),
            json!({"respond": "launch", "success": false, "message": "the dll is gone"}),
        ],
    );
    let server = Server::start(&rig);
    let plugin = server.client();
    let call = debug(&plugin, &rig, "a.fake");
    let mut client = plugin.accept_session(1);
    client.allow(&["capabilities", "output", "terminated"]);
    crate::support::rig::initialize(&mut client);
    let attach = client.request("attach", json!({}));
    let failed = client.failure(attach);
    assert!(
        failed["message"].as_str().unwrap().contains("the dll is gone") && failed["command"] == "attach",
        "{failed}"
    );
    let (code, text) = error_of(&plugin.response(&call));
    assert!(code == -32000 && text.contains("the dll is gone"), "{text}");
    assert_eq!(plugin.notified("displayError")["message"], text);
    client.abandon();
}

#[test]
fn r000_r8_running_processes_change_at_the_start_and_at_the_end() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let client = session(&plugin, &rig, "a.fake", 1);
    let running = plugin.notified("runningProcesses/changed");
    assert_eq!(running, json!({"projects": [{"name": "a.fake", "isDebugging": true}]}));
    end(client);
    assert_eq!(plugin.notified("runningProcesses/changed"), json!({"projects": []}));
}

#[test]
fn r000_r9_debugger_that_dies_fails_the_call_with_its_stderr() {
    let rig = Rig::new();
    let script = fake::write_script(
        &rig.sandbox.work(),
        &[json!({"stderr": "GLIBC_2.36 not found\n"}), json!({"exit": 3})],
    );
    catalog(&rig, &format!("programs = [{:?}]\nargs = [{:?}]", text(fake::adapter_path()), text(&script)));
    let server = Server::start(&rig);
    let plugin = server.client();
    let call = debug(&plugin, &rig, "a.fake");
    let (id, params) = plugin.asked("startDebugSession");
    plugin.answer(&id, json!(1));
    let mut client = dap(port_of(&params));
    let _ = client.request("initialize", json!({"adapterID": "nvim-dap"}));
    let (code, said) = error_of(&plugin.response(&call));
    assert!(code == -32000 && said.contains("GLIBC_2.36 not found"), "{said}");
    assert_eq!(plugin.notified("displayError")["message"], said);
    client.abandon();
    drop(plugin);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn program_of_the_project_is_chosen_by_the_user_where_there_are_several() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let (one, two) = (program(&rig, "one.fake"), program(&rig, "two.fake"));
    let server = Server::start(&rig);
    let plugin = server.client();
    let params = json!({"useDefault": false, "useLaunchProfile": false, "cliArgs": ""});
    let call = plugin.request("workspace/debug", params.clone());
    let (id, asked) = plugin.asked("promptSelection");
    let ids: Vec<_> =
        asked["choices"].as_array().unwrap().iter().map(|choice| choice["id"].clone()).collect();
    assert_eq!(ids, [text(&one), text(&two)]);
    plugin.answer(&id, json!(text(&two)));
    let mut client = plugin.accept_session(1);
    begin(&mut client);
    plugin.response(&call);
    end(client);
    // The choice is the default from then on; a choice that is dismissed starts nothing.
    let mut by_default = params.clone();
    by_default["useDefault"] = json!(true);
    let call = plugin.request("workspace/debug", by_default);
    let mut client = plugin.accept_session(2);
    begin(&mut client);
    plugin.response(&call);
    end(client);
    let call = plugin.request("workspace/debug", params);
    let (id, _) = plugin.asked("promptSelection");
    plugin.answer(&id, Value::Null);
    assert_eq!(plugin.response(&call)["result"], Value::Null);
}

#[test]
fn project_without_a_program_is_an_error_that_is_shown() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let plugin = server.client();
    let (code, said) =
        plugin.failing("workspace/debug", json!({"useDefault": false, "useLaunchProfile": false}));
    assert!(code == -32000 && said.contains("nothing to debug"), "{said}");
    assert_eq!(plugin.notified("displayError")["message"], said);
}

#[test]
fn r000_27_session_begun_elsewhere_is_offered_and_joined() {
    let rig = Rig::new();
    let server = Server::start_with(&rig, &["--offer"], |_| {});
    let plugin = server.client();
    let mut elsewhere = rig.client();
    elsewhere.allow(&["breakroom/activity"]);
    let mut launch = crate::support::rig::launch(rig.fake(&[]));
    launch["program"] = json!(program(&rig, "begun elsewhere"));
    crate::support::rig::begin_with(&mut elsewhere, "launch", launch);
    let (id, params) = plugin.asked("startDebugSession");
    plugin.answer(&id, json!(1));
    let mut joined = dap(port_of(&params));
    begin(&mut joined);
    joined.call("threads", Value::Null);
    // It is offered once, and is not for the plugin to end.
    assert!(
        plugin.within(Duration::from_secs(3), |message| message["method"] == "startDebugSession").is_none()
    );
    let stopping = plugin.request("workspace/stop", json!([]));
    let (id, params) = plugin.asked("terminateDebugSession");
    assert_eq!(params["sessionId"], 1);
    joined.abandon();
    plugin.answer(&id, json!(true));
    plugin.response(&stopping);
    elsewhere.call("threads", Value::Null);
    end(elsewhere);
}
