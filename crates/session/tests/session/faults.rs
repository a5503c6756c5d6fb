//! Bad messages: each costs itself and nothing else, and whoever sent it is told.

use serde_json::json;

use crate::rig::Rig;

#[test]
fn requests_under_one_repeated_number_are_answered_each_in_turn() {
    let (mut rig, client, node) = Rig::running();
    for command in ["threads", "modules", "threads"] {
        rig.send(client, json!({"seq": 7, "type": "request", "command": command}).to_string());
    }
    let heard = rig.engine_heard(node);
    for request in heard.iter().rev() {
        rig.answer(node, &request.json, json!({"of": request.json["seq"]}));
    }
    let answers = rig.heard(client);
    let told: Vec<_> = answers.iter().map(|answer| (answer.name(), &answer.json["body"]["of"])).collect();
    let sent: Vec<_> = heard.iter().rev().map(|request| &request.json["seq"]).collect();
    assert_eq!(
        told,
        [("+threads".into(), sent[0]), ("+modules".into(), sent[1]), ("+threads".into(), sent[2])]
    );
    rig.assert_nothing_owed();
}

#[test]
fn a_client_may_count_from_zero_but_the_engine_never_sees_a_zero() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.send(
        client,
        json!({"seq": 0, "type": "request", "command": "initialize", "arguments": {"adapterID": "python"}})
            .to_string(),
    );
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    assert_eq!(initialize["seq"], 1);
    rig.answer(node, &initialize, json!({}));
    assert_eq!(rig.response(client, 0)["success"], true);
}

#[test]
fn answers_to_unknown_repeated_and_zero_requests_are_dropped_and_counted() {
    let (mut rig, client, node) = Rig::running();
    let seq = rig.request(client, "threads", json!({}));
    let threads = rig.got(node, "threads");
    let before = rig.session.oddities();
    for request_seq in [json!(0), json!(-1), json!(9999), json!("3"), json!(null), json!(1e300)] {
        let answer = json!({"seq": 1, "type": "response", "request_seq": request_seq, "success": true, "command": "threads"});
        rig.engine(node, answer.to_string());
    }
    rig.engine(node, r#"{"seq":1,"type":"response","success":true,"command":"threads"}"#);
    assert!(!rig.has_answer(client, seq) && rig.heard(client).is_empty());
    rig.answer(node, &threads, json!({"threads": []}));
    rig.answer(node, &threads, json!({"threads": []}));
    assert_eq!(rig.names(client), ["+threads"]);
    assert_eq!(rig.session.oddities() - before, 8);
}

#[test]
fn an_engine_may_leave_out_or_repeat_its_numbers() {
    let (mut rig, client, node) = Rig::running();
    for text in [
        r#"{"type":"event","event":"output","body":{"output":"a"}}"#,
        r#"{"seq":0,"type":"event","event":"output","body":{"output":"a"}}"#,
        r#"{"seq":0,"type":"event","event":"output","body":{"output":"a"}}"#,
        r#"{"seq":-4,"type":"event","event":"output","body":{"output":"a"}}"#,
        r#"{"seq":"x","type":"event","event":"output","body":{"output":"a"}}"#,
        r#"{"seq":1,"seq":2,"type":"event","event":"output","body":{"output":"a"}}"#,
    ] {
        rig.engine(node, text);
    }
    assert_eq!(
        rig.names(client),
        ["output"; 6],
        "the rig checks that the client's numbers go on without a gap"
    );
}

#[test]
fn what_is_no_message_is_dropped_from_an_engine_and_refused_to_a_client() {
    let nonsense =
        ["", " ", "[]", "7", "null", "\"x\"", "{}", "{", r#"{"type":"request"}"#, r#"{"seq":1,"type":"x"}"#];
    let (mut rig, client, node) = Rig::running();
    let before = rig.session.oddities();
    for text in nonsense {
        rig.engine(node, text);
    }
    assert_eq!(rig.session.oddities() - before, nonsense.len() as u64);
    assert!(rig.heard(client).is_empty());
    for text in nonsense {
        rig.send_broken(client, text);
        let refusal = rig.response(client, 0);
        assert_eq!(refusal["body"]["error"]["id"], 9001, "{text}");
    }
    assert!(rig.engine_heard(node).is_empty());
    rig.finish(client, node);
}

#[test]
fn a_client_with_a_bad_number_is_told_so_under_number_zero_and_the_engine_sees_nothing() {
    let (mut rig, client, node) = Rig::running();
    for seq in ["-1", "\"5\"", "1.5", "9007199254740993", "1e300", "null", "true", "99999999999999999999999"]
    {
        rig.send_broken(client, format!(r#"{{"seq":{seq},"type":"request","command":"threads"}}"#));
        let refusal = rig.response(client, 0);
        assert_eq!((&refusal["command"], &refusal["body"]["error"]["id"]), (&json!("threads"), &json!(9001)));
    }
    rig.send_broken(client, r#"{"type":"request","command":"threads"}"#);
    assert!(rig.response(client, 0)["message"].as_str().unwrap().contains("missing"));
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn broken_json_of_a_client_is_refused_under_its_own_number_if_that_can_be_read() {
    let (mut rig, client, node) = Rig::running();
    rig.send_broken(
        client,
        r#"{"seq":50,"type":"request","command":"evaluate","arguments":{"expression": }}"#,
    );
    let refusal = rig.response(client, 50);
    assert_eq!(refusal["command"], "evaluate");
    assert!(refusal["message"].as_str().unwrap().contains("at byte"), "{refusal}");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn events_and_unasked_answers_of_a_client_are_dropped() {
    let (mut rig, client, node) = Rig::running();
    let before = rig.session.oddities();
    rig.send(client, r#"{"seq":80,"type":"event","event":"stopped","body":{}}"#);
    rig.send(
        client,
        r#"{"seq":81,"type":"response","request_seq":3,"success":true,"command":"runInTerminal"}"#,
    );
    rig.send(client, r#"{"seq":82,"type":"response","success":true,"command":"runInTerminal"}"#);
    assert_eq!(rig.session.oddities() - before, 3);
    assert!(rig.heard(client).is_empty() && rig.engine_heard(node).is_empty());
}

#[test]
fn lone_surrogates_and_invalid_utf_8_pass_both_ways_as_they_are() {
    let (mut rig, client, node) = Rig::running();
    let strange = b"\"\\ud800 \xff\xfe \\udc00\x01\"";
    let request = [
        b"{\"seq\":60,\"type\":\"request\",\"command\":\"evaluate\",\"arguments\":{\"expression\":",
        &strange[..],
        b"}}",
    ]
    .concat();
    rig.send(client, request);
    let heard = rig.engine_heard(node);
    assert!(heard[0].bytes.windows(strange.len()).any(|window| window == strange));
    let seq = heard[0].json["seq"].to_string();
    let answer = [
        b"{\"seq\":1,\"type\":\"response\",\"request_seq\":",
        seq.as_bytes(),
        b",\"success\":true,\"command\":\"evaluate\",\"body\":{\"result\":",
        strange,
        b",\"variablesReference\":0}}",
    ]
    .concat();
    rig.engine(node, answer);
    let heard = rig.heard(client);
    assert_eq!(heard[0].name(), "+evaluate");
    assert!(heard[0].bytes.windows(strange.len()).any(|window| window == strange));
}

#[test]
fn a_hundred_thousand_levels_are_refused_from_a_client_and_passed_from_an_engine() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let (mut rig, client, node) = Rig::running();
    rig.send_broken(client, format!(r#"{{"seq":60,"type":"request","command":"x","arguments":{deep}}}"#));
    let refusal = rig.response(client, 60);
    assert!(refusal["message"].as_str().unwrap().contains("512 levels"));
    assert!(rig.engine_heard(node).is_empty());
    rig.engine(node, format!(r#"{{"seq":1,"type":"event","event":"x","body":{deep}}}"#));
    assert_eq!(
        rig.heard(client)[0].bytes.len(),
        deep.len() + r#"{"seq":1,"type":"event","event":"x","body":}"#.len()
    );
}

#[test]
fn a_million_keys_and_huge_numbers_pass_both_ways() {
    let many: Vec<_> = (0..1_000_000).map(|key| format!("\"k{key}\":1{:0>4}", key % 7)).collect();
    let many = format!("{{{},\"n\":1e99999,\"m\":{}}}", many.join(","), "9".repeat(10_000));
    let (mut rig, client, node) = Rig::running();
    rig.send(client, format!(r#"{{"seq":60,"type":"request","command":"x","arguments":{many}}}"#));
    let heard = rig.engine_heard(node);
    assert!(heard[0].text().contains(&many));
    rig.engine(node, format!(r#"{{"seq":1,"type":"event","event":"x","body":{many}}}"#));
    assert!(rig.heard(client)[0].text().contains(&many));
}

#[test]
fn a_failure_without_its_command_is_given_the_one_that_failed() {
    for command in [r#","command":"""#, "", r#","command":null"#, r#","command":7"#] {
        let (mut rig, client, node) = Rig::running();
        let seq = rig.request(client, "evaluate", json!({"expression": "x"}));
        let asked = &rig.got(node, "evaluate")["seq"];
        let answer =
            format!(r#"{{"type":"response","request_seq":{asked}{command},"success":false,"message":"no"}}"#);
        rig.engine(node, answer);
        assert_eq!(rig.response(client, seq)["command"], "evaluate");
    }
}

#[test]
fn an_engine_that_is_not_up_or_unknown_or_gone_is_not_heard() {
    let (mut rig, client, node) = Rig::running();
    rig.heard(client);
    let before = rig.session.oddities();
    let event = r#"{"seq":1,"type":"event","event":"output","body":{"output":"x"}}"#;
    rig.engine(breakroom_session::NodeId(77), event);
    rig.node_ended(node, "exit code 0", "");
    rig.engine(node, event);
    assert_eq!(rig.session.oddities() - before, 2);
    assert_eq!(rig.names(client), ["terminated"]);
}

#[test]
fn inputs_about_nobody_are_counted_and_do_no_harm() {
    use breakroom_session::{ClientId, Input, Ticket};
    let (mut rig, client, node) = Rig::running();
    let nobody = ClientId(99);
    rig.on(Input::Client { client: nobody, message: "{}".into() });
    rig.on(Input::ClientLeft { client: nobody });
    rig.on(Input::ClientBroken { client: nobody, reason: "x".into() });
    rig.on(Input::Terminal { ticket: Ticket(99), result: Ok(1) });
    rig.on(Input::Timer);
    rig.finish(client, node);
}
