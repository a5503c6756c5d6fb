//! Each failure of an adapter as the client sees it: `output` on stderr, one `terminated`, the end of the connection.

use std::time::{Duration, Instant};

use breakroom_testkit::client::Rule;
use serde_json::{Value, json};

use crate::steps::{at_threads, event, failure, launched};
use crate::support::bridging::Bridging;
use crate::support::rig::{Rig, initialize};

#[test]
fn r46_r50_r51_r71_missing_adapter_is_reported_to_a_client_that_has_said_nothing() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let text = failure(bridge.client("s", &json!({"args": ["/no/such/adapter"]})));
    assert!(text.starts_with("Failed to launch debug adapter: "), "{text}");
    assert!(text.contains("/no/such/adapter"), "{text}");
}

#[test]
fn r69_session_whose_adapter_failed_can_be_connected_again() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    failure(bridge.client("s", &json!({"args": ["/no/such/adapter"]})));
    assert_eq!(bridge.line()["state"], "connected");
    let failed = bridge.line();
    assert_eq!(failed["state"], "error");
    assert!(failed["error"].as_str().unwrap().contains("/no/such/adapter"), "{failed}");
    crate::support::rig::end(bridge.client("s", &rig.fake(&[])));
    assert_eq!(bridge.line(), json!({"session": "s", "state": "connected"}));
    assert_eq!(bridge.line()["state"], "terminated");
}

#[test]
fn r47_adapter_that_never_connects_is_given_up_after_the_timeout() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["a", "b", "c"]);
    let sleeps = |timeout: Value| {
        let mut adapter = json!({"args": ["sh", "-c", "echo thinking >&2; exec sleep 600", "{{port}}"]});
        adapter.as_object_mut().unwrap().extend(timeout.as_object().unwrap().clone());
        adapter
    };
    let began = Instant::now();
    let timeout = json!({"mode": "tcp-connect", "connectionTimeoutSeconds": 1});
    let text = failure(bridge.client("a", &sleeps(timeout)));
    assert!(began.elapsed() >= Duration::from_secs(1) && text.contains("within 1 s"), "{text}");
    let text =
        failure(bridge.client("b", &sleeps(json!({"mode": "tcp-callback", "connectionTimeout": "1500ms"}))));
    assert!(text.contains("within 1.5 s"), "{text}");
    // Zero and less: no connection can come in time.
    let text =
        failure(bridge.client("c", &sleeps(json!({"mode": "tcp-callback", "connectionTimeoutSeconds": 0}))));
    assert!(text.contains("did not"), "{text}");
}

#[test]
fn r89_r90_timeout_without_a_word_about_it_is_10_s() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let adapter = json!({"args": ["sleep", "600", "{{port}}"], "mode": "tcp-callback"});
    let began = Instant::now();
    let mut client = bridge
        .client("s", &json!({"args": ["sh", "-c", "exec sleep 600", "{{port}}"], "mode": adapter["mode"]}));
    client.tolerate(&[Rule::InitializeFirst]);
    client.event("output");
    assert!(began.elapsed() >= Duration::from_secs(10), "{:?}", began.elapsed());
    client.event("terminated");
    client.finish();
}

#[test]
fn r11_adapter_that_ends_before_it_connects_is_noticed_at_once() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s", "t"]);
    for (session, mode) in [("s", "tcp-callback"), ("t", "tcp-connect")] {
        let script = "echo no license >&2; exit 4";
        let adapter =
            json!({"args": ["sh", "-c", script, "{{port}}"], "mode": mode, "connectionTimeoutSeconds": 600});
        let text = failure(bridge.client(session, &adapter));
        assert!(text.contains("exit code 4") && text.contains("no license"), "{text}");
    }
}

#[test]
fn stdio_adapter_that_ends_at_once_is_reported_with_its_stderr() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let adapter = json!({"args": ["sh", "-c", "echo broken install >&2; exit 3"]});
    let text = failure(bridge.client("s", &adapter));
    assert!(text.contains("exit code 3") && text.contains("broken install"), "{text}");
}

#[test]
fn failure_before_the_answer_to_initialize_answers_it_too() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let steps = [json!({"expect": "initialize"}), json!({"stderr": "no display\n"}), json!({"exit": 5})];
    let mut client = bridge.client("s", &rig.fake(&steps));
    client.tolerate(&[Rule::InitializeFirst]);
    let request = client.request("initialize", json!({"adapterID": "fake"}));
    let output = client.event("output");
    assert!(output["body"]["output"].as_str().unwrap().contains("no display"), "{output}");
    client.failure(request);
    client.event("terminated");
    client.finish();
}

#[test]
fn r48_r52_crash_of_the_adapter_makes_one_terminated() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let steps =
        [json!({"expect": "threads"}), json!({"stderr": "segmentation fault\n"}), json!({"exit": 139})];
    let mut client = launched(&bridge, &rig.fake(&steps));
    let threads = client.request("threads", Value::Null);
    client.failure(threads);
    let output = client.event("output");
    assert_eq!(output["body"]["category"], "stderr");
    client.event("terminated");
    client.closed();
    client.finish();
    assert_eq!(bridge.line()["state"], "connected");
    let ended = bridge.line();
    assert_eq!(ended["state"], "error");
    assert!(ended["error"].as_str().unwrap().contains("exit code 139"), "{ended}");
}

#[test]
fn r52_terminated_of_the_adapter_is_not_repeated() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let terminated = event("terminated", json!({}));
    let last = [event("exited", json!({"exitCode": 7})), terminated.clone(), terminated, json!({"exit": 0})];
    let steps = [at_threads(&[]), last.to_vec()].concat();
    let mut client = launched(&bridge, &rig.fake(&steps));
    client.call("threads", Value::Null);
    client.event("exited");
    client.event("terminated");
    client.closed();
    // The strict client fails on a second one.
    client.finish();
    assert_eq!(bridge.line()["state"], "connected");
    assert_eq!(bridge.line(), json!({"session": "s", "state": "terminated", "exit_code": 7}));
}

#[test]
fn r49_r53_broken_framing_of_the_adapter_is_told_before_the_connection_closes() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let steps = [
        json!({"expect": "threads"}),
        json!({"raw": "Content-Length: nonsense\r\n\r\n"}),
        json!({"hang": true}),
    ];
    let mut client = launched(&bridge, &rig.fake(&steps));
    let threads = client.request("threads", Value::Null);
    client.failure(threads);
    let output = client.event("output");
    assert_eq!(output["body"]["category"], "stderr");
    client.event("terminated");
    client.closed();
    client.finish();
}

#[test]
fn requests_sent_before_a_failed_start_are_all_answered() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    // It starts, so that the requests are there when it ends.
    let steps = [json!({"expect": "initialize"}), json!({"exit": 5})];
    let mut client = bridge.client("s", &rig.fake(&steps));
    client.tolerate(&[Rule::InitializeFirst]);
    let initialize = client.request("initialize", json!({"adapterID": "fake"}));
    let launch = client.request("launch", json!({"program": "x"}));
    client.event("output");
    client.failure(initialize);
    client.failure(launch);
    client.event("terminated");
    client.finish();
}

#[test]
fn what_was_attached_to_goes_on_when_the_client_is_lost() {
    for (command, ends) in [("attach", false), ("launch", true)] {
        let rig = Rig::new();
        let bridge = Bridging::start(&rig, &["s"]);
        let capabilities =
            json!({"supportTerminateDebuggee": true, "supportsConfigurationDoneRequest": true});
        let steps = [json!({"expect": "initialize"}), json!({"respond": "initialize", "body": capabilities})];
        let mut client =
            bridge.client("s", &rig.fake_with(&steps, &["--log", rig.log_path().to_str().unwrap()]));
        initialize(&mut client);
        let start = client.request(command, json!({"program": "x"}));
        client.event("initialized");
        client.response(start);
        client.call("configurationDone", json!({}));
        client.abandon();
        assert_eq!(bridge.line()["state"], "connected");
        assert_eq!(bridge.line()["state"], "terminated");
        let disconnect = rig.log().into_iter().find(|line| line["command"] == "disconnect").unwrap();
        assert_eq!(disconnect["arguments"]["terminateDebuggee"], ends, "{command}: {disconnect}");
    }
}
