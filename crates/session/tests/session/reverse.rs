//! Requests of the engine: one client answers, or the hub does, and the engine hears exactly one answer.

use breakroom_session::habits::TerminalWord;
use breakroom_session::{ClientId, Input, NodeId};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::{Rig, capabilities};

fn with_terminal() -> (Rig, ClientId, NodeId) {
    let declared = json!({"supportsRunInTerminalRequest": true, "supportsStartDebuggingRequest": true});
    Rig::running_with(capabilities(), declared)
}

fn answer(rig: &mut Rig, client: ClientId, request: &Value, body: Value) {
    let (seq, command) = (&request["seq"], &request["command"]);
    let message = json!({"seq": 900, "type": "response", "request_seq": seq, "success": true, "command": command, "body": body});
    rig.send(client, message.to_string());
}

#[test]
fn the_launcher_is_asked_for_a_terminal_and_its_answer_carries_the_engines_own_number() {
    let (mut rig, client, node) = with_terminal();
    let seq = rig.ask(node, "runInTerminal", json!({"args": ["python"], "cwd": "/"}));
    let asked = rig.asked(client, "runInTerminal");
    assert_eq!(asked["arguments"], json!({"args": ["python"], "cwd": "/"}));
    answer(&mut rig, client, &asked, json!({"processId": 4711}));
    let answered = rig.got(node, "runInTerminal");
    assert_eq!(answered["request_seq"], seq);
    assert_eq!(answered["body"]["processId"], 4711);
    answer(&mut rig, client, &asked, json!({"processId": 4712}));
    assert!(rig.engine_heard(node).is_empty(), "a second answer is dropped");
}

#[test]
fn what_the_environment_of_a_program_in_a_terminal_is_not_to_say_it_does_not() {
    let mut rig = Rig::new();
    let client = rig.join();
    let declared = json!({"adapterID": "python", "supportsRunInTerminalRequest": true});
    rig.request(client, "initialize", declared);
    let node = rig.started[0].0;
    let word = TerminalWord { variable: "OPTIONS".into(), says: "--tell".into(), instead: "--hush".into() };
    rig.node_up_with(node, facts_with(|facts| facts.starting.terminal_words = vec![word]));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.request(client, "launch", json!({"program": "x"}));
    rig.got(node, "launch");
    let env = json!({"OPTIONS": "--a \"b\" --tell", "OTHER": "--tell", "NONE": null});
    rig.ask(node, "runInTerminal", json!({"args": ["x"], "env": env}));
    let asked = rig.asked(client, "runInTerminal");
    let expected = json!({"OPTIONS": "--a \"b\" --hush", "OTHER": "--tell", "NONE": null});
    assert_eq!(asked["arguments"], json!({"args": ["x"], "env": expected}));
}

#[test]
fn an_engine_that_counts_strangely_or_not_at_all_is_answered_with_its_number_or_zero() {
    for (request, seq) in [
        (r#"{"seq":0,"type":"request","command":"runInTerminal","arguments":{"args":["x"]}}"#, 0),
        (r#"{"type":"request","command":"runInTerminal","arguments":{"args":["x"]}}"#, 0),
        (r#"{"seq":"12","type":"request","command":"runInTerminal","arguments":{"args":["x"]}}"#, 12),
        (r#"{"seq":-3,"type":"request","command":"runInTerminal","arguments":{"args":["x"]}}"#, -3),
    ] {
        let (mut rig, client, node) = with_terminal();
        rig.engine(node, request);
        let asked = rig.asked(client, "runInTerminal");
        answer(&mut rig, client, &asked, json!({}));
        assert_eq!(rig.got(node, "runInTerminal")["request_seq"], seq);
    }
}

#[test]
fn several_requests_are_answered_each_under_its_own_number_in_any_order() {
    let (mut rig, client, node) = with_terminal();
    let seqs: Vec<_> = (0..3).map(|_| rig.ask(node, "runInTerminal", json!({"args": ["x"]}))).collect();
    let asked: Vec<_> = (0..3).map(|_| rig.asked(client, "runInTerminal")).collect();
    for at in [2, 0, 1] {
        answer(&mut rig, client, &asked[at], json!({"processId": at}));
        let answered = rig.got(node, "runInTerminal");
        assert_eq!(
            (&answered["request_seq"], &answered["body"]["processId"]),
            (&json!(seqs[at]), &json!(at))
        );
    }
}

#[test]
fn an_answer_without_its_command_is_given_one() {
    let (mut rig, client, node) = with_terminal();
    rig.ask(node, "vendor/ask", json!({"what": "this"}));
    let seq = rig.asked(client, "vendor/ask")["seq"].clone();
    let message =
        json!({"seq": 900, "type": "response", "request_seq": seq, "success": false, "message": "no"});
    rig.send(client, message.to_string());
    assert_eq!(rig.got(node, "vendor/ask")["success"], false);
}

#[test]
fn a_client_without_a_terminal_gets_one_of_ours() {
    let (mut rig, client, node) = Rig::running();
    let env = json!({"A": "1", "B": null});
    let first = rig.ask(node, "runInTerminal", json!({"args": ["python", "x y"], "cwd": "/p", "env": env}));
    let second = rig.ask(node, "runInTerminal", json!({"args": ["sh"], "cwd": ""}));
    assert!(rig.heard(client).is_empty());
    let (ticket, request) = rig.terminals[0].clone();
    assert_eq!(request.args, ["python", "x y"]);
    assert_eq!(request.cwd.as_deref(), Some("/p"));
    assert_eq!(request.env, [("A".into(), Some("1".into())), ("B".into(), None)]);
    assert_eq!(rig.terminals[1].1.cwd, None);
    let other = rig.terminals[1].0;
    rig.on(Input::Terminal { ticket: other, result: Err("no pty".into()) });
    let failed = rig.got(node, "runInTerminal");
    assert_eq!((&failed["request_seq"], &failed["message"]), (&json!(second), &json!("no pty")));
    rig.on(Input::Terminal { ticket, result: Ok(99) });
    let answered = rig.got(node, "runInTerminal");
    assert_eq!((&answered["request_seq"], &answered["body"]["processId"]), (&json!(first), &json!(99)));
    rig.on(Input::Terminal { ticket, result: Ok(99) });
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_terminal_without_a_command_is_refused() {
    let (mut rig, _, node) = Rig::running();
    rig.ask(node, "runInTerminal", json!({"args": []}));
    assert_eq!(rig.got(node, "runInTerminal")["success"], false);
    assert!(rig.terminals.is_empty());
}

#[test]
fn what_only_a_client_could_do_is_failed_at_once_if_none_declared_it() {
    let (mut rig, client, node) = Rig::running();
    let seq = rig.ask(node, "startDebugging", json!({"request": "launch"}));
    let failed = rig.got(node, "startDebugging");
    assert_eq!((&failed["request_seq"], &failed["success"]), (&json!(seq), &json!(false)));
    assert!(rig.heard(client).is_empty());
}

#[test]
fn unknown_requests_go_to_the_launcher() {
    let (mut rig, client, node) = Rig::running();
    let seq = rig.ask(node, "vendor/pick", json!({"from": [1, 2]}));
    let asked = rig.asked(client, "vendor/pick");
    answer(&mut rig, client, &asked, json!({"picked": 2}));
    assert_eq!(rig.got(node, "vendor/pick")["request_seq"], seq);
}

#[test]
fn before_anybody_launched_there_is_nobody_to_ask() {
    let (mut rig, _, node) = Rig::initialized();
    rig.ask(node, "vendor/pick", json!({}));
    assert_eq!(rig.got(node, "vendor/pick")["success"], false);
}

#[test]
fn a_client_that_dies_before_it_answers_fails_the_request_once() {
    let (mut rig, client, node) = with_terminal();
    let first = rig.ask(node, "runInTerminal", json!({"args": ["x"]}));
    rig.asked(client, "runInTerminal");
    rig.stall_client(client);
    let second = rig.ask(node, "runInTerminal", json!({"args": ["y"]}));
    rig.lose(client);
    let mut failed = [rig.got(node, "runInTerminal"), rig.got(node, "runInTerminal")];
    failed.sort_by_key(|answer| answer["request_seq"].as_i64());
    for (answer, seq) in failed.iter().zip([first, second]) {
        assert_eq!((&answer["request_seq"], &answer["success"]), (&json!(seq), &json!(false)));
    }
    assert_eq!(rig.engine_names(node), ["?disconnect"], "and nothing is asked twice");
}

#[test]
fn a_request_that_comes_after_its_client_said_goodbye_is_failed() {
    let (mut rig, client, node) = with_terminal();
    rig.request(client, "disconnect", json!({}));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    rig.ask(node, "vendor/pick", json!({}));
    assert_eq!(rig.got(node, "vendor/pick")["success"], false);
}

/// Whoever is at the other end of an address may say what it likes.
#[test]
fn nothing_is_run_for_an_engine_that_was_attached_to() {
    let declared = json!({"supportsRunInTerminalRequest": true, "supportsStartDebuggingRequest": true});
    for declared in [json!({}), declared] {
        let (mut rig, client, node) = Rig::initialized_with(capabilities(), declared);
        rig.start(client, node, "attach");
        rig.heard(client);
        let wanted = json!({"request": "launch", "configuration": {"type": "go", "program": "/bin/id"}});
        for (command, arguments) in
            [("runInTerminal", json!({"args": ["id"], "cwd": "/"})), ("startDebugging", wanted)]
        {
            let seq = rig.ask(node, command, arguments);
            let refused = rig.got(node, command);
            assert_eq!((&refused["request_seq"], &refused["success"]), (&json!(seq), &json!(false)));
            assert!(refused["message"].as_str().unwrap().contains("attached to"), "{refused}");
        }
        assert!(rig.terminals.is_empty() && rig.opened.is_empty() && rig.heard(client).is_empty());
    }
}

#[test]
fn nothing_is_run_for_an_engine_whose_start_has_failed() {
    let (mut rig, client, node) = Rig::initialized_with(capabilities(), json!({}));
    rig.request(client, "attach", json!({}));
    let attach = rig.got(node, "attach");
    rig.fail(node, &attach, "no");
    rig.ask(node, "runInTerminal", json!({"args": ["id"], "cwd": "/"}));
    assert!(rig.terminals.is_empty());
}
