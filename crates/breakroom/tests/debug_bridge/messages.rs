//! What passes through a bridged session: numbers are the bridge's, and everything else is as it was sent.

use std::io::Write;

use breakroom_testkit::fake;
use breakroom_testkit::frames::FrameReader;
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};

use crate::steps::{at_threads, event, launched, launched_with};
use crate::support::bridging::{Bridging, request};
use crate::support::rig::{LONG, Rig, end, initialize, text};

/// The messages that the adapter received, without the description of its process.
fn received(rig: &Rig) -> Vec<Value> {
    rig.log().into_iter().filter(|line| line.get("command").is_some()).collect()
}

fn logging(rig: &Rig, steps: &[Value]) -> Value {
    rig.fake_with(steps, &["--log", rig.log_path().to_str().unwrap()])
}

#[test]
fn r06_r58_to_r60_numbers_of_both_sides_count_from_1_whatever_they_are() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let mut client = bridge.client("s", &logging(&rig, &[]));
    let mut seq = 500;
    let mut send = |client: &mut breakroom_testkit::Strict, command: &str, arguments: Value| {
        seq += 7;
        client.send(json!({"seq": seq, "type": "request", "command": command, "arguments": arguments}))
    };
    let request = send(&mut client, "initialize", json!({"adapterID": "x"}));
    assert_eq!(client.response(request)["request_seq"], 507);
    let launch = send(&mut client, "launch", json!({"program": "x"}));
    client.event("initialized");
    assert_eq!(client.response(launch)["request_seq"], 514);
    let threads = send(&mut client, "threads", json!({}));
    assert_eq!(client.response(threads)["request_seq"], 521);
    let seqs: Vec<i64> = client
        .timeline()
        .entries
        .iter()
        .filter(|entry| entry.direction == breakroom_testkit::client::Direction::Received)
        .map(|entry| entry.message["seq"].as_i64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as i64).collect::<Vec<_>>());
    let disconnect = send(&mut client, "disconnect", json!({}));
    client.response(disconnect);
    client.finish();
    let seqs: Vec<i64> = received(&rig).iter().map(|message| message["seq"].as_i64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as i64).collect::<Vec<_>>());
}

#[test]
fn r91_initialize_always_offers_run_in_terminal() {
    for said in [json!({}), json!({"supportsRunInTerminalRequest": false})] {
        let rig = Rig::new();
        let bridge = Bridging::start(&rig, &["s"]);
        let mut client = bridge.client("s", &logging(&rig, &[]));
        let mut arguments = json!({"adapterID": "x"});
        arguments.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        client.call("initialize", arguments);
        end(client);
        let initialize = &received(&rig)[0];
        assert_eq!(initialize["command"], "initialize");
        assert_eq!(initialize["arguments"]["supportsRunInTerminalRequest"], true, "{initialize}");
    }
}

#[test]
fn r07_r62_vendor_messages_keep_their_bytes_but_for_the_numbers() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let rest = r#""type":"event",  "event":"vendor/thing","body":{"big":12345678901234567890,"text":"a<b&c\u00e9","z":1,"a":[1.50,null]},"extra":[1]}"#;
    let asked = r#"{"deep": {"n": 1e300,"m":0.10}, "list":[true,null]}"#;
    let steps = [
        json!({"expect": "vendor/ask"}),
        json!({"frame": format!("{{\"seq\":9,{rest}")}),
        json!({"respond": "vendor/ask", "body": {}}),
    ];
    let record = rig.sandbox.work().join("record");
    let mut adapter = rig.fake(&steps);
    let recorder = json!([text(fake::adapter_path()), "record", text(&record), "--"]);
    let args = [recorder.as_array().unwrap().clone(), adapter["args"].as_array().unwrap().clone()].concat();
    adapter["args"] = args.into();
    let (stream, answer) = bridge.handshake(&request("s", &adapter));
    assert_eq!(answer["success"], true);
    let frame = |seq: u32, command: &str, arguments: &str| {
        let body =
            format!(r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#);
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let mut reader = FrameReader::new(stream.try_clone().unwrap().into(), Peer::Adapter);
    let mut until = |words: &str| loop {
        match reader.read().unwrap().expect("the connection is open") {
            Frame::Message(body) => {
                let body = String::from_utf8(body.to_vec()).unwrap();
                if body.contains(words) {
                    return body;
                }
            }
            Frame::Junk(junk) => panic!("{junk:?}"),
        }
    };
    (&stream).write_all(frame(1, "initialize", r#"{"adapterID":"x"}"#).as_bytes()).unwrap();
    until("\"initialize\"");
    (&stream).write_all(frame(2, "launch", r#"{"program":"x"}"#).as_bytes()).unwrap();
    until("\"launch\"");
    (&stream).write_all(frame(3, "vendor/ask", asked).as_bytes()).unwrap();
    let thing = until("vendor/thing");
    assert!(thing.starts_with("{\"seq\":") && thing.ends_with(rest), "{thing}");
    until("vendor/ask");
    (&stream).write_all(frame(4, "disconnect", "{}").as_bytes()).unwrap();
    until("\"disconnect\"");
    let told = std::fs::read_to_string(record.with_extension("to")).unwrap();
    assert!(told.contains(asked), "{told}");
}

#[test]
fn output_before_initialize_is_told_after_its_answer() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let early = event("output", json!({"output": "no license\n"}));
    let mut client = bridge.client("s", &logging(&rig, &[early]));
    // The adapter has printed it when its log is there.
    breakroom_testkit::wait::until(LONG, || rig.log_path().exists().then_some(())).unwrap();
    initialize(&mut client);
    client.output_containing("no license");
    end(client);
}

#[test]
fn r61_answers_to_reverse_requests_and_cancel_carry_the_right_numbers() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let reverse =
        json!({"send": {"seq": 77, "type": "request", "command": "vendor/question", "arguments": {}}});
    let steps = [
        json!({"expect": "vendor/slow"}),
        reverse,
        json!({"expect_response": "vendor/question"}),
        json!({"expect": "cancel"}),
        json!({"respond": "cancel"}),
        json!({"respond": "vendor/slow", "success": false, "message": "cancelled"}),
    ];
    let mut client = launched(&bridge, &logging(&rig, &steps));
    let slow = client.request("vendor/slow", json!({}));
    let question = client.reverse("vendor/question");
    client.reply(&question, true, json!({"answer": 42}));
    client.output_containing("42");
    client.call("cancel", json!({"requestId": slow.seq}));
    client.failure(slow);
    end(client);
    let messages = received(&rig);
    let seq_of =
        |command: &str| messages.iter().find(|message| message["command"] == command).unwrap()["seq"].clone();
    let cancel = messages.iter().find(|message| message["command"] == "cancel").unwrap();
    assert_eq!(cancel["arguments"]["requestId"], seq_of("vendor/slow"));
}

#[test]
fn r73_r75_adapter_gets_the_environment_without_credentials_and_with_what_is_configured() {
    let rig = Rig::new();
    let bridge = Bridging::start_with(&rig, &["s"], &[], |command| {
        command
            .env("DCP_SECRET", "1")
            .env("DEBUG_SESSION_PORT", "localhost:1")
            .env("dcp_x", "kept")
            .env("PLAIN", "old");
    });
    let mut adapter = logging(&rig, &[]);
    adapter["env"] =
        json!([{"name": "DCP_MINE", "value": "1"}, {"name": "PLAIN", "value": "new"}, {"name": "EMPTY"}]);
    let mut client = bridge.client("s", &adapter);
    initialize(&mut client);
    end(client);
    let env = rig.log()[0]["env"].clone();
    for (name, wanted) in [
        ("DCP_SECRET", Value::Null),
        ("DEBUG_SESSION_TOKEN", Value::Null),
        ("DEBUG_SESSION_PORT", Value::Null),
        ("DCP_INSTANCE_ID_PREFIX", Value::Null),
        ("dcp_x", json!("kept")),
        ("PLAIN", json!("new")),
        ("DCP_MINE", json!("1")),
        ("EMPTY", json!("")),
    ] {
        assert_eq!(env[name], wanted, "{name}");
    }
}

#[test]
fn r08_r30_r86_to_r88_ports_stand_wherever_the_placeholder_does() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s", "t"]);
    let fake = rig.fake_with(&[], &[]);
    for (session, mode, option) in [("s", "tcp-connect", "--listen"), ("t", "tcp-callback", "--connect")] {
        let mut adapter = fake.clone();
        adapter["mode"] = mode.into();
        let args = adapter["args"].as_array_mut().unwrap();
        let log = rig.log_path();
        args.extend([option, "{{port}}", "--log", log.to_str().unwrap()].map(Value::from));
        let mut client = bridge.client(session, &adapter);
        // The fake adapter says where it listens.
        client.allow(&["output"]);
        initialize(&mut client);
        end(client);
        let argv = rig.log()[0]["argv"].clone();
        assert!(!argv.to_string().contains("{{port}}"), "{argv}");
        std::fs::remove_file(rig.log_path()).unwrap();
    }
}

#[test]
fn r61_progress_names_the_request_by_the_clients_number() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    // The adapter's third request: `initialize`, `launch` and this one.
    let body = json!({"progressId": "p", "title": "indexing", "requestId": 3});
    let steps =
        [json!({"expect": "vendor/slow"}), event("progressStart", body), json!({"respond": "vendor/slow"})];
    let declared = json!({"adapterID": "fake", "supportsProgressReporting": true});
    let mut client = launched_with(&bridge, &rig.fake(&steps), declared);
    let slow = client.send(json!({"seq": 900, "type": "request", "command": "vendor/slow"}));
    assert_eq!(client.event("progressStart")["body"]["requestId"], 900);
    client.response(slow);
    end(client);
}

#[test]
fn r94_wrong_types_and_unknown_headers_of_the_adapter_end_nothing() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let vendor = r#"{"seq":7,"type":"event","event":"vendor/framed","body":{}}"#;
    let framed =
        format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{vendor}", vendor.len());
    let module = event("module", json!({"reason": 5, "module": {"id": "m", "name": 7}}));
    let steps = at_threads(&[json!({"raw": framed}), module]);
    let mut client = launched(&bridge, &rig.fake(&steps));
    client.call("threads", Value::Null);
    client.event("vendor/framed");
    assert_eq!(client.event("module")["body"]["module"]["name"], 7);
    end(client);
}

#[test]
fn r76_stderr_of_the_adapter_is_in_the_log_of_its_session() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let steps = at_threads(&[json!({"stderr": "low on licences\n"})]);
    let mut client = launched(&bridge, &rig.fake(&steps));
    client.call("threads", Value::Null);
    let logged = || {
        let log = rig.sandbox.command(["log", "--json"]).output().unwrap();
        String::from_utf8(log.stdout).unwrap().contains("low on licences").then_some(())
    };
    breakroom_testkit::wait::until(LONG, logged).expect("the log has what the adapter wrote");
    end(client);
}
