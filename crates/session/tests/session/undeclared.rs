//! Requests whose capability the engine did not declare, resumes that it refuses, and requests that it never answers.

use breakroom_session::habits::UnknownRequests;
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::Rig;

/// Every request that has a capability of its own.
const REQUESTS: [(&str, &str); 21] = [
    ("reverseContinue", "supportsStepBack"),
    ("stepBack", "supportsStepBack"),
    ("goto", "supportsGotoTargetsRequest"),
    ("gotoTargets", "supportsGotoTargetsRequest"),
    ("restartFrame", "supportsRestartFrame"),
    ("exceptionInfo", "supportsExceptionInfoRequest"),
    ("setVariable", "supportsSetVariable"),
    ("setExpression", "supportsSetExpression"),
    ("readMemory", "supportsReadMemoryRequest"),
    ("writeMemory", "supportsWriteMemoryRequest"),
    ("modules", "supportsModulesRequest"),
    ("loadedSources", "supportsLoadedSourcesRequest"),
    ("breakpointLocations", "supportsBreakpointLocationsRequest"),
    ("completions", "supportsCompletionsRequest"),
    ("dataBreakpointInfo", "supportsDataBreakpoints"),
    ("setDataBreakpoints", "supportsDataBreakpoints"),
    ("setFunctionBreakpoints", "supportsFunctionBreakpoints"),
    ("setInstructionBreakpoints", "supportsInstructionBreakpoints"),
    ("disassemble", "supportsDisassembleRequest"),
    ("stepInTargets", "supportsStepInTargetsRequest"),
    ("terminateThreads", "supportsTerminateThreadsRequest"),
];

fn arguments(command: &str) -> Value {
    match command {
        _ if command.starts_with("set") && command.ends_with("Breakpoints") => {
            json!({"breakpoints": [{"name": "f"}]})
        }
        _ => json!({"threadId": 1}),
    }
}

#[test]
fn an_undeclared_request_is_refused_at_once_and_holds_nothing() {
    for (command, capability) in REQUESTS {
        let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
        rig.stop(node, 1);
        rig.heard(client);
        let seq = rig.request(client, command, arguments(command));
        let (id, text) = rig.refusal(client, seq);
        assert_eq!(id, 9022, "{text}");
        assert!([command, capability, "fake"].iter().all(|word| text.contains(word)), "{text}");
        assert!(rig.engine_heard(node).is_empty(), "`{command}` was sent");
        assert_eq!(rig.session.describe().state, "stopped", "after `{command}`");
        rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": []}));
    }
}

#[test]
fn a_request_that_is_declared_is_forwarded() {
    for (command, capability) in REQUESTS {
        for later in [false, true] {
            let declared = json!({capability: true});
            let at_first = if later { json!({}) } else { declared.clone() };
            let (mut rig, client, node) = Rig::running_with(at_first, json!({}));
            if later {
                rig.tell(node, "capabilities", json!({"capabilities": declared}));
            }
            rig.stop(node, 1);
            rig.request(client, command, arguments(command));
            rig.got(node, command);
        }
    }
}

#[test]
fn a_request_of_a_vendor_needs_no_capability() {
    for (unknown_requests, is_forwarded) in [(UnknownRequests::Fail, true), (UnknownRequests::EndIt, false)] {
        let facts = facts_with(|facts| facts.claims.unknown_requests = unknown_requests);
        let (mut rig, client, node) = Rig::with_engine(facts);
        rig.request(client, "launch", json!({"program": "x"}));
        let launch = rig.got(node, "launch");
        rig.answer(node, &launch, json!({}));
        rig.engine_heard(node);
        let seq = rig.request(client, "vendor/thing", json!({}));
        assert_eq!(rig.engine_names(node) == ["?vendor/thing"], is_forwarded);
        assert_eq!(rig.has_answer(client, seq), !is_forwarded);
    }
}

#[test]
fn a_resume_that_the_engine_refuses_leaves_the_threads_stopped() {
    for command in ["continue", "next", "reverseContinue", "stepBack"] {
        let (mut rig, client, other, node) = Rig::shared();
        let seq = rig.request(client, command, json!({"threadId": 1}));
        let asked = rig.got(node, command);
        rig.fail(node, &asked, "cannot do that");
        assert_eq!(rig.refusal(client, seq).1, "cannot do that");
        assert_eq!(rig.session.describe().state, "stopped", "after `{command}`");
        for reader in [client, other] {
            let arguments = json!({"threadId": 1, "levels": reader.0});
            rig.round_trip(reader, node, "stackTrace", arguments, json!({"stackFrames": []}));
        }
    }
}

/// debugpy never answers what it has no function for.
#[test]
fn cancel_ends_the_wait_for_an_engine_that_cannot_cancel() {
    let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
    let seq = rig.request(client, "evaluate", json!({"expression": "1"}));
    let asked = rig.got(node, "evaluate");
    let cancel = rig.request(client, "cancel", json!({"requestId": seq}));
    assert_eq!(rig.refusal(client, seq), (9013, "cancelled".to_owned()));
    assert_eq!(rig.response(client, cancel)["success"], true);
    rig.advance(20);
    assert!(rig.heard(client).is_empty(), "nobody waits for it");
    rig.answer(node, &asked, json!({"result": "1", "variablesReference": 0}));
    assert!(rig.heard(client).is_empty(), "it was answered");
}

#[test]
fn a_cancelled_read_is_asked_again_for_the_next_client() {
    let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
    rig.stop(node, 1);
    rig.heard(client);
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    let asked = rig.got(node, "stackTrace");
    rig.request(client, "cancel", json!({"requestId": seq}));
    assert_eq!(rig.refusal(client, seq).0, 9013);
    let again = rig.request(client, "stackTrace", json!({"threadId": 1}));
    let second = rig.got(node, "stackTrace");
    rig.answer(node, &second, json!({"stackFrames": []}));
    assert_eq!(rig.response(client, again)["success"], true);
    rig.answer(node, &asked, json!({"stackFrames": []}));
}

#[test]
fn a_cancelled_resume_that_is_never_answered_leaves_the_threads_stopped() {
    let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
    rig.stop(node, 1);
    let seq = rig.request(client, "continue", json!({"threadId": 1}));
    rig.got(node, "continue");
    let refused = rig.request(client, "stackTrace", json!({"threadId": 1}));
    assert_eq!(rig.refusal(client, refused).0, 9011);
    rig.request(client, "cancel", json!({"requestId": seq}));
    assert_eq!(rig.refusal(client, seq).0, 9013);
    assert_eq!(rig.session.describe().state, "stopped");
    rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": []}));
}

#[test]
fn a_cancelled_resume_that_is_answered_late_is_told_to_its_client_too() {
    for stops_first in [false, true] {
        let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
        rig.stop(node, 1);
        let seq = rig.request(client, "continue", json!({"threadId": 1}));
        let asked = rig.got(node, "continue");
        rig.request(client, "cancel", json!({"requestId": seq}));
        rig.heard(client);
        if stops_first {
            rig.stop(node, 1);
            rig.heard(client);
        }
        rig.answer(node, &asked, json!({"allThreadsContinued": true}));
        let (state, told) = if stops_first { ("stopped", vec![]) } else { ("running", vec!["continued"]) };
        assert_eq!(rig.session.describe().state, state);
        assert_eq!(rig.names(client), told);
    }
}

#[test]
fn what_is_asked_before_the_engine_answers_initialize_is_refused_with_its_answer() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({}));
    rig.request(client, "launch", json!({"type": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let asked = ["setFunctionBreakpoints", "readMemory", "setDataBreakpoints"]
        .map(|command| rig.request(client, command, arguments(command)));
    assert!(asked.iter().all(|seq| !rig.has_answer(client, *seq)));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    for seq in asked {
        assert_eq!(rig.refusal(client, seq).0, 9022);
    }
    assert_eq!(rig.engine_names(node), ["?launch"]);
}

#[test]
fn an_engine_that_the_catalog_knows_to_answer_is_asked() {
    let facts = facts_with(|facts| facts.claims.answers = vec!["exceptionInfo".into()]);
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started.last().unwrap().0;
    rig.node_up_with(node, facts);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    rig.start(client, node, "launch");
    rig.request(client, "exceptionInfo", json!({"threadId": 1}));
    rig.got(node, "exceptionInfo");
    let seq = rig.request(client, "modules", json!({}));
    assert_eq!(rig.refusal(client, seq).0, 9022);
}

#[test]
fn a_cancel_of_unknown_progress_is_answered_for_an_engine_that_cannot_cancel() {
    let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
    let cancel = rig.request(client, "cancel", json!({"progressId": "p1"}));
    assert_eq!(rig.response(client, cancel)["success"], true);
    assert!(rig.engine_heard(node).is_empty());
}
