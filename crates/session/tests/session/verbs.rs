//! Requests that are for the hub itself, and the one of the same family that is not.

use breakroom_session::{EngineFacts, Input, Stdin, Verb};
use serde_json::json;

use crate::rig::Rig;

#[test]
fn what_the_hub_says_reaches_the_one_who_asked() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let seq = rig.request(bob, "breakroom/sessions", json!({}));
    let (ticket, verb) = rig.asked_hub.remove(0);
    assert_eq!(verb, Verb::Sessions);
    rig.on(Input::HubAnswered { ticket, result: Ok(json!({"sessions": []})) });
    assert_eq!(rig.response(bob, seq)["body"], json!({"sessions": []}));
    rig.on(Input::HubAnswered { ticket, result: Ok(json!({})) });
    let seq = rig.request(bob, "breakroom/kill", json!({"session": "x"}));
    let (ticket, verb) = rig.asked_hub.remove(0);
    assert_eq!(verb, Verb::Kill { session: "x".into(), by: "Bob".into() });
    rig.on(Input::HubAnswered { ticket, result: Err("there is no session x".into()) });
    assert_eq!(rig.refusal(bob, seq), (9018, "there is no session x".into()));
    assert!(rig.names(tess).is_empty());
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_verb_without_what_it_needs_is_refused_and_one_left_open_is_answered() {
    let (mut rig, _, bob, _) = Rig::shared();
    let seq = rig.request(bob, "breakroom/kill", json!({}));
    assert_eq!(rig.refusal(bob, seq).0, 9016);
    let seq = rig.request(bob, "breakroom/dance", json!({}));
    assert_eq!(rig.refusal(bob, seq).0, 9014);
    let open = rig.request(bob, "breakroom/sessions", json!({}));
    rig.request(bob, "disconnect", json!({}));
    assert_eq!(rig.refusal(bob, open).0, 9013);
    let (ticket, _) = rig.asked_hub.remove(0);
    rig.on(Input::HubAnswered { ticket, result: Ok(json!({})) });
}

#[test]
fn an_observer_ends_no_session() {
    let (mut rig, _, _, _) = Rig::shared();
    let watcher = rig.bring("Watcher", json!({}), json!({"role": "observe"}));
    let seq = rig.request(watcher, "breakroom/kill", json!({"session": "x"}));
    assert_eq!(rig.refusal(watcher, seq).0, 9017);
}

#[test]
fn what_a_program_is_to_read_goes_to_its_engine() {
    let (mut rig, _, bob, node) = Rig::shared();
    // An engine that does not know the request may die of it.
    let seq = rig.request(bob, "breakroom/input", json!({"text": "x\n"}));
    assert_eq!(rig.refusal(bob, seq).0, 9014);
    rig.tell(node, "capabilities", json!({"capabilities": {"supportsBreakroomInput": true}}));
    let seq = rig.request(bob, "breakroom/input", json!({"text": "x\n"}));
    let asked = rig.got(node, "breakroom/input");
    assert_eq!(asked["arguments"], json!({"text": "x\n"}));
    rig.answer(node, &asked, json!({}));
    assert_eq!(rig.response(bob, seq)["success"], true);
    let watcher = rig.bring("Watcher", json!({}), json!({"role": "observe"}));
    let seq = rig.request(watcher, "breakroom/input", json!({"text": "x\n"}));
    assert_eq!(rig.refusal(watcher, seq).0, 9017);
}

/// A terminal of the hub: whoever knows how to give input is told that it can be done, and nobody else.
#[test]
fn what_a_program_in_a_terminal_of_the_hub_is_to_read_is_written_there() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let ann = rig.bring("Ann", json!({"supportsBreakroomInput": true}), json!({}));
    rig.ask(node, "runInTerminal", json!({"args": ["python"], "cwd": "/"}));
    let (ticket, _) = rig.terminals.remove(0);
    rig.on(Input::Terminal { ticket, result: Ok(42) });
    let offer = json!({"capabilities": {"supportsBreakroomInput": true}});
    assert_eq!(rig.event(ann, "capabilities")["body"], offer);
    assert!(rig.names(tess).is_empty() && rig.names(bob).is_empty());

    let seq = rig.request(bob, "breakroom/input", json!({}));
    assert_eq!(rig.refusal(bob, seq).0, 9016);
    let seq = rig.request(bob, "breakroom/input", json!({"text": "x\n", "end": true}));
    let (ticket, whose, text, end) = rig.given.remove(0);
    assert_eq!((whose, text.as_str(), end), (node, "x\n", true));
    rig.on(Input::HubAnswered { ticket, result: Ok(json!(null)) });
    assert_eq!(rig.response(bob, seq)["success"], true);
    let seq = rig.request(bob, "breakroom/input", json!({"text": "y"}));
    let (ticket, ..) = rig.given.remove(0);
    rig.on(Input::HubAnswered { ticket, result: Err("the program's input has ended.".into()) });
    assert!(rig.refusal(bob, seq).1.contains("has ended"));
    let asked = rig.engine_names(node);
    assert!(!asked.iter().any(|name| name.contains("input")), "{asked:?}");
}

#[test]
fn an_engine_whose_stdin_is_its_programs_is_offered_with_input() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python", "supportsBreakroomInput": true}));
    let node = rig.started.last().unwrap().0;
    rig.node_up_with(node, EngineFacts { stdin: Stdin::Hubs, ..EngineFacts::default() });
    let asked = rig.got(node, "initialize");
    rig.answer(node, &asked, json!({"supportsConfigurationDoneRequest": true}));
    let told = rig.heard(client).into_iter().find(|heard| heard.json["command"] == "initialize").unwrap();
    assert_eq!(told.json["body"]["supportsBreakroomInput"], true, "{}", told.json);
    rig.start(client, node, "launch");
    rig.request(client, "breakroom/input", json!({"text": "x\n"}));
    assert_eq!(rig.given.remove(0).1, node);
}

/// With every engine: a program that reads must not wait for what nobody can give.
#[test]
fn the_input_that_the_hub_holds_ends_at_once_if_no_client_can_give_any() {
    for (gives, start, ended) in
        [(false, "launch", true), (true, "launch", false), (false, "attach", false), (true, "attach", false)]
    {
        let mut rig = Rig::new();
        let client = rig.join();
        let declared = json!({"adapterID": "python", "supportsBreakroomInput": gives});
        rig.request(client, "initialize", declared);
        let node = rig.started[0].0;
        rig.node_up_with(node, EngineFacts { stdin: Stdin::Hubs, ..EngineFacts::default() });
        let asked = rig.got(node, "initialize");
        rig.answer(node, &asked, json!({"supportsConfigurationDoneRequest": true}));
        rig.start(client, node, start);
        assert_eq!(rig.input_ended, Vec::from_iter(ended.then_some(node)), "{gives} {start}");
        rig.heard(client);
        if ended {
            // Who holds the input says that it has ended.
            rig.request(client, "breakroom/input", json!({"text": "x\n"}));
            assert_eq!(rig.given.len(), 1);
        }
    }
    // In a terminal of the hub's too.
    let (mut rig, _, _, node) = Rig::shared();
    rig.ask(node, "runInTerminal", json!({"args": ["python"], "cwd": "/"}));
    let (ticket, _) = rig.terminals.remove(0);
    rig.on(Input::Terminal { ticket, result: Ok(42) });
    assert_eq!(rig.input_ended, [node]);
}
