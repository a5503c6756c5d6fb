//! What the members of a group can do, told to a client that sees them as one program.

use breakroom_session::{ClientId, EngineFacts, Input, NodeId};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::members::runs;
use super::stage::{opens, shared_setup};

/// A member comes that can do this.
fn member(rig: &mut Rig, root: NodeId, can: Value) -> NodeId {
    let configuration = json!({"name": "member", "type": "go"});
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": configuration}));
    let child = rig.opened.last().unwrap().0;
    rig.on(Input::NodeUp { node: child, facts: EngineFacts::default() });
    let initialize = rig.got(child, "initialize");
    rig.answer(child, &initialize, can);
    child
}

fn told(rig: &mut Rig, client: ClientId) -> Value {
    rig.event(client, "capabilities")["body"]["capabilities"].clone()
}

fn python() -> Value {
    let filters =
        json!([{"filter": "raised", "label": "Raised"}, {"filter": "all", "label": "All of Python"}]);
    json!({
        "supportsSetVariable": true, "supportsConditionalBreakpoints": true, "supportsRestartFrame": false,
        "supportsReadMemoryRequest": true, "supportsConfigurationDoneRequest": true,
        "exceptionBreakpointFilters": filters, "completionTriggerCharacters": ["."],
    })
}

fn go() -> Value {
    let filters = json!([{"filter": "panic", "label": "Panics"}, {"filter": "all", "label": "All of Go"}]);
    json!({
        "supportsStepBack": true, "supportsConfigurationDoneRequest": true,
        "exceptionBreakpointFilters": filters, "completionTriggerCharacters": [".", ":"],
    })
}

#[test]
fn a_flat_client_hears_what_the_members_can_do_as_they_come() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let first = member(&mut rig, root, python());
    let can = told(&mut rig, tess);
    assert_eq!(can["supportsSetVariable"], true);
    assert_eq!(can["supportsConditionalBreakpoints"], true);
    assert!(can.get("supportsReadMemoryRequest").is_none(), "an address does not say whose it is: {can}");
    assert!(can.get("supportsRestartFrame").is_none(), "nobody said that it can be done: {can}");
    runs(&mut rig, first);
    rig.heard(tess);
    let second = member(&mut rig, root, go());
    let can = told(&mut rig, tess);
    assert_eq!(can["supportsStepBack"], true);
    assert!(can.get("supportsSetVariable").is_none(), "it is known: {can}");
    assert_eq!(can["supportsConditionalBreakpoints"], false, "the second would stop without looking");
    let filters: Vec<_> =
        can["exceptionBreakpointFilters"].as_array().unwrap().iter().map(|it| it["filter"].clone()).collect();
    assert_eq!(filters, ["all", "uncaught", "raised", "panic"], "those of all, each once");
    assert_eq!(can["completionTriggerCharacters"], json!([".", ":"]));
    runs(&mut rig, second);
    rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["raised", "panic"]}));
    for (node, knows) in [(first, "raised"), (second, "panic")] {
        let asked = rig.got(node, "setExceptionBreakpoints");
        assert_eq!(asked["arguments"]["filters"], json!([knows]));
    }
}

#[test]
fn a_late_joiner_hears_the_same() {
    let (mut rig, _tess, root) = Rig::coordinated(setup(), json!({}));
    for can in [python(), go()] {
        let child = member(&mut rig, root, can);
        runs(&mut rig, child);
    }
    let late = rig.visitor("Late", json!({}), json!({}));
    let can = told(&mut rig, late);
    assert_eq!((&can["supportsSetVariable"], &can["supportsStepBack"]), (&json!(true), &json!(true)));
}

#[test]
fn what_a_member_says_later_is_news_too() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child = member(&mut rig, root, go());
    runs(&mut rig, child);
    rig.heard(tess);
    rig.tell(child, "capabilities", json!({"capabilities": {"supportsSetVariable": true}}));
    assert_eq!(told(&mut rig, tess), json!({"supportsSetVariable": true}));
}

#[test]
fn who_sees_one_node_at_a_time_hears_what_that_one_can_do() {
    let (mut rig, ann, root) = Rig::coordinated(shared_setup(), opens());
    let child = member(&mut rig, root, go());
    runs(&mut rig, child);
    assert!(!rig.names(ann).contains(&"capabilities".to_owned()));
}

#[test]
fn members_that_can_do_what_is_known_are_not_mentioned() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    rig.js_child(tess, root, "a.js");
    let child = member(&mut rig, root, json!({"supportsConfigurationDoneRequest": true}));
    runs(&mut rig, child);
    assert!(!rig.names(tess).contains(&"capabilities".to_owned()));
}

#[test]
fn a_member_is_not_sent_what_it_did_not_claim() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let first = member(&mut rig, root, python());
    let second = member(&mut rig, root, go());
    let threads = [first, second].map(|child| {
        runs(&mut rig, child);
        let thread = rig.start_thread(tess, child, 1);
        rig.stop_alone(child, 1, "breakpoint");
        rig.heard(tess);
        rig.engine_heard(child);
        thread
    });
    for (command, thread, child, knows) in [
        ("stepBack", threads[0], first, false),
        ("exceptionInfo", threads[1], second, false),
        ("stepBack", threads[1], second, true),
    ] {
        let seq = rig.request(tess, command, json!({"threadId": thread}));
        assert_eq!(rig.engine_names(child).join(" ").contains(command), knows, "{command}");
        if !knows {
            let (_, text) = rig.refusal(tess, seq);
            assert!(text.contains(command) && text.contains("member"), "{text}");
        }
    }
}
