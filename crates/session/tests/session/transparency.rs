//! What passes through the hub leaves it as it came, but for numbers. Invariant 9.

use serde_json::json;

use crate::rig::{Rig, capabilities, without_numbers};

const VENDOR: &str = r#""z" : 1,"a":[ 1e400,123456789012345678901234567890 ,-0.0],"null":null,"twice":1,"twice":{"seq":5,"id":7},"é\u0000\ud800":"\u00e9\/","deep":{"x":[[[{}]]],"name":null,"id":3.0},"data":{"line":2.0,"path":null}"#;

fn same(sent: &str, received: &[u8]) {
    let (sent, received) = (without_numbers(sent.as_bytes()), without_numbers(received));
    assert_eq!(String::from_utf8_lossy(&sent), String::from_utf8_lossy(&received));
}

#[test]
fn a_request_reaches_the_engine_byte_for_byte() {
    let (mut rig, client, node) = Rig::running();
    for text in [
        format!(
            r#"{{ "command":"vendor/thing","seq":70,"type":"request","arguments":{{{VENDOR}}},{VENDOR}}}"#
        ),
        format!(r#"{{"arguments":{{{VENDOR}}} , "type" : "request","seq" : 71,"command":"setBreakpoints"}}"#),
        r#"{"seq":72,"type":"request","command":"x","arguments":null}"#.to_owned(),
        r#"{"seq":73,"type":"request","command":"x","arguments":[1,2]}"#.to_owned(),
        r#"{"seq":74,"type":"request","command":"x"}"#.to_owned(),
    ] {
        rig.send(client, text.clone());
        let heard = rig.engine_heard(node);
        assert_eq!(heard.len(), 1);
        same(&text, &heard[0].bytes);
    }
}

#[test]
fn an_answer_reaches_the_client_byte_for_byte() {
    let (mut rig, client, node) = Rig::running();
    for text in [
        format!(
            r#"{{"body":{{{VENDOR}}},"request_seq":SEQ,"success":true , "seq":0,"type":"response","command":"vendor/thing",{VENDOR}}}"#
        ),
        format!(
            r#"{{"seq":9,"type":"response","request_seq":SEQ,"command":"vendor/thing","success":false,"message":"no","body":{{"error":{{"id":3,"format":"{{x}}",{VENDOR}}}}}}}"#
        ),
        r#"{"seq":9,"type":"response","request_seq":SEQ,"command":"vendor/thing","success":true,"body":null,"message":null}"#.to_owned(),
    ] {
        rig.request(client, "vendor/thing", json!({}));
        let seq = rig.got(node, "vendor/thing")["seq"].to_string();
        let text = text.replace("SEQ", &seq);
        rig.engine(node, text.clone());
        let heard = rig.heard(client);
        assert_eq!(heard.len(), 1);
        same(&text, &heard[0].bytes);
    }
}

#[test]
fn an_event_reaches_the_client_byte_for_byte() {
    let (mut rig, client, node) = Rig::running();
    for text in [
        format!(r#"{{"event":"vendor/event","seq":3,"type":"event","body":{{{VENDOR}}},{VENDOR}}}"#),
        format!(
            r#"{{"seq":3,"type":"event","event":"stopped","body":{{"threadId":1,"reason":"x",{VENDOR}}}}}"#
        ),
        r#"{"seq":3,"type":"event","event":"terminated","body":{"restart":false,"again":[1]}}"#.to_owned(),
    ] {
        rig.engine(node, text.clone());
        let heard = rig.heard(client);
        assert_eq!(heard.len(), 1);
        same(&text, &heard[0].bytes);
    }
}

#[test]
fn reverse_requests_and_their_answers_pass_byte_for_byte() {
    let (mut rig, client, node) = Rig::running();
    let ask = format!(r#"{{"seq":44,"type":"request","command":"vendor/ask","arguments":{{{VENDOR}}}}}"#);
    rig.engine(node, ask.clone());
    let heard = rig.heard(client);
    same(&ask, &heard[0].bytes);
    let seq = &heard[0].json["seq"];
    let reply = format!(
        r#"{{"seq":8,"type":"response","request_seq":{seq},"success":true,"command":"vendor/ask","body":{{{VENDOR}}}}}"#
    );
    rig.send(client, reply.clone());
    let heard = rig.engine_heard(node);
    same(&reply, &heard[0].bytes);
    assert_eq!(heard[0].json["request_seq"], 44);
}

#[test]
fn a_launch_loses_nothing_but_the_hubs_own_record() {
    let (mut rig, client, node) = Rig::initialized();
    let launch = format!(
        r#"{{"seq":2,"type":"request","command":"launch","arguments":{{"a":1,"breakroom":{{"name":"x"}},{VENDOR}}}}}"#
    );
    rig.send(client, launch.clone());
    let heard = rig.engine_heard(node);
    same(&launch.replace(r#""breakroom":{"name":"x"},"#, ""), &heard[0].bytes);
}

#[test]
fn text_that_looks_like_numbers_of_ours_is_left_alone() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let text = r#"{"seq":1,"type":"event","event":"output","body":{"output":"{\"variablesReference\":5,\"seq\":1}","name":"variablesReference","x":["frameId"]}}"#;
    rig.engine(node, text);
    assert_eq!(rig.heard(client)[0].json["body"]["output"], r#"{"variablesReference":5,"seq":1}"#);
}

#[test]
fn a_client_that_counts_from_zero_and_speaks_in_uris_is_translated_at_its_own_edge() {
    let declared = json!({"linesStartAt1": false, "columnsStartAt1": false, "pathFormat": "uri"});
    let (mut rig, client, node) = Rig::running_with(crate::rig::capabilities(), declared);
    rig.stop(node, 1);
    let frame = json!({"id": 1, "name": "f", "line": 3, "column": 1, "source": {"path": "/p/a b.py"}});
    let answer =
        rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": [frame]}));
    let told = &answer["body"]["stackFrames"][0];
    assert_eq!((&told["line"], &told["column"]), (&json!(2), &json!(0)));
    assert_eq!(told["source"]["path"], "file:///p/a%20b.py");
    let set = json!({"source": {"path": "file:///p/a%20b.py"}, "breakpoints": [{"line": 2}], "lines": [2]});
    rig.request(client, "setBreakpoints", set);
    let arguments = rig.got(node, "setBreakpoints")["arguments"].clone();
    assert_eq!(
        arguments,
        json!({"source": {"path": "/p/a b.py"}, "breakpoints": [{"line": 3}], "lines": [3]})
    );
}

#[test]
fn helix_which_dies_of_an_event_that_it_does_not_know_is_not_told_of_it() {
    let (mut rig, helix, node) = Rig::running_with(capabilities(), json!({"clientID": "hx"}));
    let other = rig.bring("Bob", json!({}), json!({}));
    rig.heard(other);
    rig.tell(node, "debugpySockets", json!({"sockets": []}));
    rig.tell(node, "process", json!({"name": "p"}));
    assert_eq!(rig.names(helix), ["process"]);
    assert_eq!(rig.names(other), ["debugpySockets", "process"]);
}
