//! From `initialize` to a running debuggee, in every order that adapters have.

use std::sync::Arc;

use breakroom_session::{Access, EngineChoice, Remark, Token};
use serde_json::json;

use crate::engines::facts_with;
use crate::rig::{Rig, TOKEN, capabilities, setup};

fn introduce() -> serde_json::Value {
    json!({"clientID": "test", "adapterID": "unheard-of"})
}

#[test]
fn a_known_adapter_id_starts_the_engine_and_its_own_capabilities_answer_initialize() {
    let mut rig = Rig::new();
    let client = rig.join();
    let seq = rig.request(client, "initialize", json!({"adapterID": "Python", "linesStartAt1": false}));
    assert_eq!(rig.started[0].1, EngineChoice::Type("python".into()));
    assert!(!rig.has_answer(client, seq));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    assert_eq!(initialize["arguments"]["linesStartAt1"], true, "the engine hears the hub's dialect");
    assert_eq!(initialize["arguments"]["adapterID"], "Python");
    rig.answer(node, &initialize, json!({"supportsX": 7}));
    assert_eq!(rig.response(client, seq)["body"], json!({"supportsX": 7, "supportsRestartRequest": true}));
    assert!(rig.heard(client).is_empty(), "what was in the answer is not told again");
}

#[test]
fn without_a_known_adapter_id_the_base_set_answers_at_once_and_the_exact_one_follows() {
    let mut rig = Rig::new();
    let client = rig.join();
    let seq = rig.request(client, "initialize", introduce());
    assert_eq!(rig.response(client, seq)["body"]["supportsBase"], true);
    assert!(rig.started.is_empty());
    rig.request(client, "launch", json!({"type": "python", "program": "x.py"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.tell(node, "initialized", json!({}));
    rig.answer(node, &initialize, json!({"supportsX": true}));
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["capabilities", "initialized"]);
    let offered = json!({
        "supportsX": true, "supportsRestartRequest": true,
        "supportsBase": false, "supportsConfigurationDoneRequest": false,
    });
    assert_eq!(heard[0].json["body"]["capabilities"], offered);
    assert_eq!(rig.engine_names(node), ["?launch"]);
}

#[test]
fn an_engine_without_capabilities_still_sends_an_object() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", introduce());
    rig.request(client, "launch", json!({"type": "perl"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!(null));
    let nothing = json!({"supportsBase": false, "supportsConfigurationDoneRequest": false});
    assert_eq!(rig.event(client, "capabilities")["body"]["capabilities"], nothing);
}

#[test]
fn the_launch_names_the_engine_by_type_then_by_file() {
    for (arguments, choice) in [
        (json!({"type": "go", "program": "main.py"}), EngineChoice::Type("go".into())),
        (json!({"program": "main.py"}), EngineChoice::File("main.py".into())),
        (
            json!({"type": "go", "breakroom": {"adapter": {"args": ["x"]}}}),
            EngineChoice::Record(json!({"args": ["x"]})),
        ),
    ] {
        let mut rig = Rig::new();
        let client = rig.join();
        rig.request(client, "initialize", introduce());
        rig.request(client, "launch", arguments);
        assert_eq!(rig.started[0].1, choice);
    }
}

#[test]
fn an_engine_fixed_by_the_command_line_is_used_whatever_the_launch_says() {
    let mut rig = Rig::with(breakroom_session::Setup {
        engine: Some(breakroom_session::EngineChoice::Type("go".into())),
        ..setup()
    });
    let client = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    rig.request(client, "initialize", introduce());
    assert!(rig.started.is_empty(), "nothing is started for whoever must still prove who it is");
    rig.request(client, "launch", json!({"type": "python", "breakroom": {"token": TOKEN}}));
    assert_eq!(rig.started[0].1, EngineChoice::Type("go".into()));
}

#[test]
fn what_the_engine_says_before_it_answers_initialize_comes_behind_that_answer() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    rig.tell(node, "output", json!({"output": "telemetry"}));
    rig.tell(node, "initialized", json!({}));
    rig.tell(node, "debugpySockets", json!({}));
    assert!(rig.heard(client).is_empty());
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    assert_eq!(rig.names(client), ["+initialize", "output", "debugpySockets", "initialized"]);
}

#[test]
fn initialized_is_told_once_however_often_and_whenever_it_is_said() {
    let (mut rig, client, node) = Rig::initialized();
    rig.heard(client);
    rig.tell(node, "initialized", json!({}));
    rig.request(client, "launch", json!({"program": "x.py"}));
    rig.tell(node, "initialized", json!({}));
    assert_eq!(rig.names(client), ["initialized"]);
    rig.finish_after_launch(client, node);
}

#[test]
fn initialized_may_come_long_after_the_launch_was_answered() {
    let (mut rig, client, node) = Rig::initialized();
    let seq = rig.request(client, "launch", json!({"program": "x.py"}));
    let launch = rig.got(node, "launch");
    rig.answer(node, &launch, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.tell(node, "initialized", json!({}));
    rig.event(client, "initialized");
}

/// The four classes of adapters: before `initialized`, between it and `configurationDone`, after that request but
/// before its answer, and behind both.
#[test]
fn the_launch_is_answered_when_the_engine_answers_it() {
    for class in 0..4 {
        let (mut rig, client, node) = Rig::initialized();
        let seq = rig.request(client, "launch", json!({"program": "x.py"}));
        let launch = rig.got(node, "launch");
        let at = |rig: &mut Rig, moment: usize| {
            if class == moment {
                assert!(!rig.has_answer(client, seq));
                rig.answer(node, &launch, json!({"class": class}));
            }
            assert_eq!(rig.has_answer(client, seq), class <= moment);
        };
        at(&mut rig, 0);
        rig.tell(node, "initialized", json!({}));
        rig.request(client, "setBreakpoints", json!({"source": {"path": "x.py"}, "breakpoints": []}));
        at(&mut rig, 1);
        let done = rig.request(client, "configurationDone", json!({}));
        at(&mut rig, 2);
        let configuration_done = rig.got(node, "configurationDone");
        rig.answer(node, &configuration_done, json!({}));
        assert_eq!(rig.response(client, done)["success"], true);
        at(&mut rig, 3);
        assert_eq!(rig.response(client, seq)["body"]["class"], class);
    }
}

#[test]
fn after_a_failed_launch_nothing_but_the_end_reaches_the_engine() {
    let (mut rig, client, node) = Rig::initialized();
    let seq = rig.request(client, "launch", json!({"program": "missing"}));
    let launch = rig.got(node, "launch");
    rig.fail(node, &launch, "no such program");
    assert!(rig.refusal(client, seq).1.contains("no such program"));
    rig.tell(node, "initialized", json!({}));
    rig.heard(client);
    let seq = rig.request(client, "setBreakpoints", json!({}));
    let (id, text) = rig.refusal(client, seq);
    assert_eq!(id, 9006);
    assert!(text.contains("no such program"), "{text}");
    let again = rig.request(client, "launch", json!({"program": "other"}));
    assert_eq!(rig.refusal(client, again).0, 9006);
    assert!(rig.heard(client).is_empty(), "`initialized` is not told after a failed launch");
    assert!(rig.engine_heard(node).is_empty());
    rig.finish(client, node);
}

#[test]
fn after_a_failed_launch_terminate_still_ends_the_engine() {
    let (mut rig, client, node) = Rig::initialized();
    rig.request(client, "launch", json!({"program": "missing"}));
    let launch = rig.got(node, "launch");
    rig.fail(node, &launch, "no such program");
    let seq = rig.request(client, "terminate", json!({}));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.node_ended(node, "exit code 0", "");
    rig.event(client, "terminated");
}

#[test]
fn a_missing_adapter_refuses_initialize_and_the_client_may_try_again() {
    let mut rig = Rig::new();
    let client = rig.join();
    let seq = rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_failed(node, "debugpy is not installed: pip install debugpy");
    let (id, text) = rig.refusal(client, seq);
    assert_eq!((id, text.contains("pip install")), (9007, true));
    rig.request(client, "initialize", json!({"adapterID": "go"}));
    let node = rig.started[1].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    assert_eq!(initialize["arguments"]["adapterID"], "go", "the engine hears the words of the second try");
    rig.answer(node, &initialize, capabilities());
    assert_eq!(rig.names(client), ["+initialize"]);
}

#[test]
fn a_missing_adapter_refuses_the_launch_and_what_was_sent_behind_it() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", introduce());
    let launch = rig.request(client, "launch", json!({"type": "cobol"}));
    let threads = rig.request(client, "threads", json!({}));
    let node = rig.started[0].0;
    rig.node_failed(node, "nothing is known about `cobol`");
    assert_eq!(rig.refusal(client, launch).0, 9007);
    assert_eq!(rig.refusal(client, threads).0, 9007);
    rig.request(client, "launch", json!({"type": "python"}));
    assert_eq!(rig.started.len(), 2, "the client may name another");
}

#[test]
fn an_engine_that_dies_before_it_is_ready_refuses_the_launch_with_its_last_words() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", introduce());
    let launch = rig.request(client, "launch", json!({"type": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    rig.node_ended(node, "exit code 1", "No module named debugpy");
    assert!(rig.refusal(client, launch).1.contains("No module named debugpy"));
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_refuses_initialize_is_ended_and_its_reason_told() {
    let mut rig = Rig::new();
    let client = rig.join();
    let seq = rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.fail(node, &initialize, "only one client");
    assert!(rig.refusal(client, seq).1.contains("only one client"));
    assert_eq!(rig.stopped.len(), 1);
}

#[test]
fn an_engine_started_for_its_adapter_id_gives_way_to_the_launchs_own() {
    let (mut rig, client, old) = Rig::initialized();
    rig.heard(client);
    rig.tell(old, "initialized", json!({}));
    rig.engine_heard(old);
    let early = rig.request(client, "threads", json!({}));
    let launch = rig.request(client, "launch", json!({"breakroom": {"adapter": {"args": ["mine"]}}}));
    assert_eq!(rig.stopped[0].0, old);
    assert_eq!(rig.refusal(client, early).0, 9008, "what the old one owed is answered");
    let new = rig.started[1].0;
    rig.request(client, "setBreakpoints", json!({}));
    rig.node_up(new);
    let initialize = rig.got(new, "initialize");
    rig.answer(new, &initialize, json!({"supportsNew": true}));
    assert_eq!(rig.event(client, "capabilities")["body"]["capabilities"]["supportsNew"], true);
    assert_eq!(rig.engine_names(new), ["?launch"], "breakpoints wait for the new engine's `initialized`");
    rig.tell(old, "output", json!({"output": "late words of the old one"}));
    rig.node_ended(old, "signal 15", "");
    rig.tell(new, "initialized", json!({}));
    assert_eq!(rig.engine_names(new), ["?setBreakpoints"]);
    assert!(!rig.has_answer(client, launch));
    let names = rig.names(client);
    assert!(!names.contains(&"terminated".to_owned()), "{names:?}");
}

#[test]
fn without_the_token_nothing_but_leaving_is_possible() {
    let mut rig = Rig::new();
    let client = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    let seq = rig.request(client, "initialize", json!({"adapterID": "python"}));
    assert_eq!(rig.response(client, seq)["body"]["supportsBase"], true);
    for (command, arguments) in [
        ("threads", json!({})),
        ("configurationDone", json!({})),
        ("breakroom/sessions", json!({})),
        ("launch", json!({"type": "python"})),
        ("attach", json!({"type": "python", "breakroom": {"token": "a-token-of-256-bit"}})),
    ] {
        let seq = rig.request(client, command, arguments);
        let (id, text) = rig.refusal(client, seq);
        assert_eq!(id, 9012, "{command}");
        assert!(!text.contains(TOKEN));
    }
    assert!(rig.started.is_empty());
    let seq = rig.request(client, "disconnect", json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.assert_over();
}

/// The rig fails on any message to an engine that holds the token or a "breakroom" member.
#[test]
fn the_token_opens_and_neither_it_nor_the_hubs_record_reaches_the_engine() {
    let mut rig = Rig::new();
    let client = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    rig.request(client, "initialize", json!({"adapterID": "python", "breakroom": {"token": TOKEN}}));
    rig.request(client, "launch", json!({"type": "python", "breakroom": {"token": TOKEN}, "mine": 1}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    let mut able = capabilities();
    able["supportsRestartRequest"] = true.into();
    rig.answer(node, &initialize, able);
    let launch = rig.got(node, "launch");
    assert_eq!(launch["arguments"], json!({"type": "python", "mine": 1}));
    rig.answer(node, &launch, json!({}));
    let again = json!({"arguments": {"type": "python", "breakroom": {"token": TOKEN}}});
    rig.request(client, "restart", again);
    assert_eq!(rig.got(node, "restart")["arguments"], json!({"arguments": {"type": "python"}}));
}

#[test]
fn a_record_written_twice_is_refused_since_two_readers_would_differ() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", introduce());
    let twice = r#"{"seq":2,"type":"request","command":"launch","arguments":{"type":"go","breakroom":{},"break\u0072oom":{"token":"x"}}}"#;
    rig.send(client, twice);
    assert_eq!(rig.refusal(client, 2).0, 9016);
    let twice = r#"{"seq":3,"type":"request","command":"launch","arguments":{"type":"go"},"arguments":{"breakroom":{}}}"#;
    rig.send(client, twice);
    assert_eq!(rig.refusal(client, 3).0, 9001);
    assert!(rig.started.is_empty());
}

#[test]
fn bad_arguments_of_a_launch_are_refused_and_cost_nothing() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", introduce());
    for arguments in [json!(null), json!([1]), json!("x"), json!({}), json!({"program": 5, "type": null})] {
        let seq = rig.request(client, "launch", arguments);
        assert_eq!(rig.refusal(client, seq).0, 9016);
    }
    assert!(rig.started.is_empty());
    rig.request(client, "attach", json!({"type": "python"}));
    assert_eq!(rig.started.len(), 1);
}

#[test]
fn requests_before_initialize_and_without_a_debuggee_are_refused_with_what_to_do() {
    let mut rig = Rig::new();
    let client = rig.join();
    let early = rig.request(client, "threads", json!({}));
    let (id, text) = rig.refusal(client, early);
    assert_eq!((id, text.contains("`initialize` first")), (9002, true));
    rig.request(client, "initialize", introduce());
    let early = rig.request(client, "threads", json!({}));
    let (id, text) = rig.refusal(client, early);
    assert_eq!((id, text.contains("`launch` or `attach` first")), (9004, true));
    let unknown = rig.request(client, "breakroom/fly", json!({}));
    assert_eq!(rig.refusal(client, unknown).0, 9014);
}

#[test]
fn a_second_initialize_and_a_second_launch_are_refused() {
    let (mut rig, client, node) = Rig::running();
    let again = rig.request(client, "initialize", json!({"adapterID": "go"}));
    assert_eq!(rig.refusal(client, again).0, 9003);
    let again = rig.request(client, "launch", json!({"type": "go"}));
    assert_eq!(rig.refusal(client, again).0, 9005);
    assert!(rig.engine_heard(node).is_empty());
    rig.finish(client, node);
}

#[test]
fn a_client_that_sends_everything_at_once_is_served_in_order() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    rig.request(client, "launch", json!({"program": "x.py"}));
    rig.request(client, "setBreakpoints", json!({}));
    rig.request(client, "configurationDone", json!({}));
    rig.request(client, "pause", json!({"threadId": 1}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    assert!(rig.engine_heard(node).is_empty(), "nothing but `initialize` until that is answered");
    rig.answer(node, &initialize, capabilities());
    assert_eq!(rig.engine_names(node), ["?launch", "?pause", "?setBreakpoints", "?configurationDone"]);
}

#[test]
fn configuration_done_is_answered_by_the_hub_for_an_engine_that_does_not_know_it() {
    let (mut rig, client, node) = Rig::initialized_with(json!({}), json!({}));
    rig.request(client, "launch", json!({}));
    rig.tell(node, "initialized", json!({}));
    let seq = rig.request(client, "configurationDone", json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    assert_eq!(rig.engine_names(node), ["?launch"]);
}

#[test]
fn capabilities_said_before_the_answer_to_initialize_count_too() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    rig.tell(node, "capabilities", json!({"capabilities": {"supportsConfigurationDoneRequest": true}}));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    rig.request(client, "launch", json!({"program": "x"}));
    rig.request(client, "configurationDone", json!({}));
    assert_eq!(rig.engine_names(node), ["?launch", "?configurationDone"]);
}

impl Rig {
    fn finish_after_launch(mut self, client: breakroom_session::ClientId, node: breakroom_session::NodeId) {
        let launch = self.got(node, "launch");
        self.answer(node, &launch, json!({}));
        self.finish(client, node);
    }
}

#[test]
fn what_is_known_of_a_program_is_said_before_it_runs() {
    let about = |program: &str| (program == "plain").then(|| "no symbols".to_owned());
    for (program, is_told) in [("plain", true), ("other", false)] {
        let facts = facts_with(|facts| facts.remark = Remark(Some(Arc::new(about))));
        let (mut rig, tess, node) = Rig::with_engine(facts);
        rig.heard(tess);
        rig.request(tess, "launch", json!({"program": program}));
        rig.got(node, "launch");
        let told = rig.heard(tess);
        let said = json!({"category": "console", "output": "breakroom: no symbols\n"});
        let count = told.iter().filter(|heard| heard.json["body"] == said).count();
        assert_eq!(count, usize::from(is_told), "{told:?}");
    }
}
