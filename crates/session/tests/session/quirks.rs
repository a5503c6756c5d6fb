//! What breaks a strict client, measured on real adapters: each by its number in the list, with what is made of it here.
//!
//! Some have files of their own: evaluating (11), failing (14), entry (18), truth (6), farewell, and trees for children
//! (15, 16). What is the catalog's or the machine's (13, 17 in part, 20) cannot be seen without a process.

use breakroom_session::EngineFacts;
use breakroom_session::habits::{Term, ThreadList, UnknownRequests};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::{Rig, capabilities};

#[test]
fn quirk_1_a_failure_without_its_command_finds_its_asker_by_the_number_alone() {
    for command in [json!(""), json!("other"), Value::Null] {
        let (mut rig, client, node) = Rig::at_a_stop();
        let seq = rig.request(client, "evaluate", json!({"expression": "x"}));
        let other = rig.request(client, "threads", json!({}));
        let asked = rig.got(node, "evaluate");
        let failed = json!({"seq": 0, "type": "response", "request_seq": asked["seq"], "success": false, "command": command, "message": "no"});
        rig.engine(node, failed.to_string());
        assert_eq!(rig.response(client, seq)["command"], "evaluate");
        assert!(!rig.has_answer(client, other));
        rig.finish(client, node);
    }
}

#[test]
fn quirk_2_numbers_that_are_zero_or_repeated_or_texts_mean_nothing() {
    let (mut rig, client, node) = Rig::running();
    for seq in [json!(0), json!(0), json!(9), json!(3), json!("12"), json!(-1)] {
        let said = json!({"seq": seq, "type": "event", "event": "output", "body": {"output": "x"}});
        rig.engine(node, said.to_string());
    }
    rig.engine(node, r#"{"type":"event","event":"output","body":{"output":"x"}}"#);
    let numbers: Vec<i64> =
        rig.heard(client).iter().map(|heard| heard.json["seq"].as_i64().unwrap()).collect();
    let first = numbers[0];
    assert_eq!(numbers, (first..first + 7).collect::<Vec<_>>());
    rig.finish(client, node);
}

#[test]
fn quirk_3_a_client_that_numbers_from_zero_is_answered_so_and_the_engine_hears_one() {
    let mut rig = Rig::new();
    let client = rig.join();
    let initialize = json!({"seq": 0, "type": "request", "command": "initialize", "arguments": {"adapterID": "python", "clientID": "hx"}});
    rig.send(client, initialize.to_string());
    let node = rig.started[0].0;
    rig.node_up(node);
    let asked = rig.got(node, "initialize");
    assert_eq!(asked["seq"], 1);
    rig.answer(node, &asked, capabilities());
    assert_eq!(rig.response(client, 0)["command"], "initialize");
    rig.finish(client, node);
}

#[test]
fn quirk_4_zero_is_a_number_like_any_other() {
    let (mut rig, client, node) = Rig::running();
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
    let answer = json!({"breakpoints": [{"id": 0, "verified": true, "line": 3}]});
    rig.round_trip(client, node, "setBreakpoints", list, answer);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 0, "hitBreakpointIds": [0]}));
    let stopped = rig.event(client, "stopped");
    assert_eq!(
        (&stopped["body"]["threadId"], &stopped["body"]["hitBreakpointIds"]),
        (&json!(0), &json!([1]))
    );
    let stack = json!({"stackFrames": [{"id": 0, "name": "f", "line": 3, "column": 1}]});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": 0}), stack);
    let frame = answer["body"]["stackFrames"][0]["id"].clone();
    rig.request(client, "scopes", json!({"frameId": frame}));
    assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], 0);
    rig.request(client, "next", json!({"threadId": 0}));
    assert_eq!(rig.got(node, "next")["arguments"]["threadId"], 0);
    rig.finish(client, node);
}

#[test]
fn quirk_4_an_integer_that_is_written_with_a_point_is_one() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let seq = rig.request(client, "evaluate", json!({"expression": "x", "context": "watch"}));
    let asked = rig.got(node, "evaluate");
    let text = format!(
        r#"{{"seq":0,"type":"response","request_seq":{},"success":true,"command":"evaluate","body":{{"result":"1.0","variablesReference":0.0,"indexedVariables":2.0}}}}"#,
        asked["seq"]
    );
    rig.engine(node, text);
    let body = rig.response(client, seq)["body"].to_string();
    assert_eq!(body, r#"{"indexedVariables":2,"result":"1.0","variablesReference":0}"#);
    rig.finish(client, node);
}

#[test]
fn quirk_5_a_thread_may_have_another_number_at_every_stop() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let seq = rig.request(client, "next", json!({"threadId": 1}));
    let next = rig.got(node, "next");
    rig.answer(node, &next, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.stop(node, 8);
    assert_eq!(rig.event(client, "stopped")["body"]["threadId"], 8);
    let stack = json!({"stackFrames": [{"id": 2, "name": "f", "line": 3, "column": 1}]});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": 8}), stack);
    assert_eq!(answer["success"], true);
    rig.finish(client, node);
}

#[test]
fn quirk_7_a_stop_that_names_no_breakpoints_is_told_as_it_is_to_one_who_is_alone() {
    let (mut rig, client, node) = Rig::running();
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
    let answer = json!({"breakpoints": [{"id": 1, "verified": true, "line": 3}]});
    rig.round_trip(client, node, "setBreakpoints", list, answer);
    let body = json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true});
    rig.tell(node, "stopped", body.clone());
    assert_eq!(rig.event(client, "stopped")["body"], body);
    assert!(rig.engine_names(node).is_empty(), "nothing had to be asked");
    rig.finish(client, node);
}

#[test]
fn quirk_8_nulls_are_left_out_and_words_on_successes_stay() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    let asked = rig.got(node, "stackTrace");
    let text = format!(
        r#"{{"type":"response","request_seq":{},"success":true,"command":"stackTrace","message":"Success","body":{{"stackFrames":[{{"id":1,"name":"f","line":1,"column":1,"source":{{"path":"/x","sourceReference":null}}}}]}},"seq":1}}"#,
        asked["seq"]
    );
    rig.engine(node, text);
    let answer = rig.response(client, seq);
    assert_eq!(answer["message"], "Success");
    assert_eq!(answer["body"]["stackFrames"][0]["source"], json!({"path": "/x"}));
    rig.engine(node, r#"{"type":"event","body":null,"event":"terminated"}"#);
    assert!(rig.event(client, "terminated").get("body").is_none());
    rig.finish(client, node);
}

#[test]
fn quirk_9_more_or_fewer_frames_than_were_asked_for_are_told_as_they_come() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame =
        |id: i64| json!({"id": id, "name": "f", "line": 0, "column": 0, "source": {"name": "relative.c"}});
    let stack = json!({"stackFrames": [frame(1), frame(2), {"id": 3, "name": "g", "line": 0, "column": 0}], "totalFrames": 51});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": 1, "levels": 1}), stack);
    assert_eq!(answer["body"]["stackFrames"].as_array().unwrap().len(), 3);
    assert_eq!(answer["body"]["totalFrames"], 51);
    rig.finish(client, node);
}

#[test]
fn quirk_10_scopes_are_called_what_the_engine_calls_them() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let stack = json!({"stackFrames": [{"id": 7, "name": "f", "line": 3, "column": 1}]});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), stack);
    let frame = answer["body"]["stackFrames"][0]["id"].clone();
    let named = |name: &str| json!({"name": name, "variablesReference": 1, "expensive": false});
    let scopes = json!({"scopes": [named("Local: add"), named("Arguments")]});
    let answer = rig.round_trip(client, node, "scopes", json!({"frameId": frame}), scopes);
    let scopes = answer["body"]["scopes"].as_array().unwrap().clone();
    assert_eq!((&scopes[0]["name"], &scopes[1]["name"]), (&json!("Local: add"), &json!("Arguments")));
    assert!(scopes[0].get("presentationHint").is_none());
    rig.finish(client, node);
}

#[test]
fn quirk_12_what_the_debuggee_writes_beside_the_protocol_is_output() {
    let (mut rig, client, node) = Rig::running();
    rig.on(breakroom_session::Input::Output { node, category: "stdout", text: "hello\n".into() });
    let output = rig.event(client, "output");
    assert_eq!(output["body"], json!({"category": "stdout", "output": "hello\n"}));
    rig.on(breakroom_session::Input::Stderr { node, text: "DEBUGGER: Connected.\n".into() });
    assert!(rig.names(client).is_empty(), "what the adapter says for itself is not the program's");
    rig.finish(client, node);
}

#[test]
fn quirk_13_a_slow_engine_is_asked_everything_at_once() {
    let (mut rig, client, node) = Rig::at_a_stop();
    for command in ["threads", "modules", "loadedSources"] {
        rig.request(client, command, json!({}));
    }
    assert_eq!(rig.engine_names(node), ["?threads", "?modules", "?loadedSources"]);
    rig.finish(client, node);
}

#[test]
fn quirk_15_a_second_initialized_is_not_told() {
    let (mut rig, client, node) = Rig::initialized();
    rig.request(client, "launch", json!({"program": "x.js"}));
    rig.tell(node, "initialized", json!({}));
    rig.request(client, "configurationDone", json!({}));
    let heard = rig.engine_heard(node);
    rig.answer(node, &heard[1].json, json!({}));
    // Only now, as js-debug does it for a child.
    rig.answer(node, &heard[0].json, json!({}));
    rig.tell(node, "initialized", json!({}));
    let names = rig.names(client);
    assert_eq!(names.iter().filter(|name| *name == "initialized").count(), 1, "{names:?}");
    rig.finish(client, node);
}

#[test]
fn what_is_attached_to_by_an_address_is_called_by_it_unless_it_has_a_name() {
    for (arguments, name) in [
        (json!({"port": 9229}), "localhost:9229"),
        (json!({"port": 9229, "address": "127.0.0.1"}), "127.0.0.1:9229"),
        (json!({"connect": {"host": "::1", "port": 5678}}), "::1:5678"),
        (json!({"port": 9229, "name": "server"}), "server"),
        (json!({}), ""),
    ] {
        let mut rig = Rig::new();
        let client = rig.join();
        rig.request(client, "initialize", json!({"adapterID": "python"}));
        rig.request(client, "attach", arguments);
        assert_eq!(rig.session.describe().name, name);
    }
}

#[test]
fn quirk_17_an_attach_that_says_nothing_is_sent_as_it_is() {
    let (mut rig, client, node) = Rig::initialized();
    let seq = rig.request(client, "attach", json!({}));
    let attach = rig.got(node, "attach");
    assert_eq!(attach["arguments"], json!({}));
    rig.tell(node, "debugpyWaitingForServer", json!({"host": "127.0.0.1", "port": 1}));
    rig.answer(node, &attach, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.finish(client, node);
}

#[test]
fn quirk_19_what_comes_before_the_answer_to_initialize_waits_for_it() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    // netcoredbg's capabilities, starlark's `initialized`, debugpy's telemetry.
    rig.tell(node, "capabilities", json!({"capabilities": {"supportsStepBack": true}}));
    rig.tell(node, "initialized", json!({}));
    rig.tell(node, "output", json!({"category": "telemetry", "output": "ptvsd"}));
    assert!(rig.names(client).is_empty());
    rig.answer(node, &initialize, capabilities());
    let names = rig.names(client);
    assert_eq!(names.first().unwrap(), "+initialize");
    assert_eq!(names.last().unwrap(), "initialized", "{names:?}");
    rig.finish(client, node);
}

/// rdbg takes function breakpoints and sets none; the answer to cdt-gdb's `terminate` ends nothing.
#[test]
fn what_an_engine_claims_and_does_not_have_is_offered_to_nobody_and_not_used() {
    let withdraw = vec!["supportsFunctionBreakpoints".into(), "supportsTerminateRequest".into()];
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up_with(node, facts_with(|facts| facts.claims.withdraw = withdraw));
    let mut claimed = capabilities();
    claimed["supportsFunctionBreakpoints"] = true.into();
    claimed["supportsTerminateRequest"] = true.into();
    claimed["supportsLogPoints"] = true.into();
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, claimed.clone());
    let offered = rig.response(client, 1)["body"].clone();
    assert_eq!(offered["supportsFunctionBreakpoints"], false);
    assert_eq!(offered["supportsTerminateRequest"], false);
    assert_eq!(offered["supportsLogPoints"], true);
    rig.request(client, "launch", json!({"program": "x"}));
    let launch = rig.got(node, "launch");
    rig.answer(node, &launch, json!({}));
    rig.tell(node, "capabilities", json!({"capabilities": claimed}));
    let offered = rig.event(client, "capabilities")["body"]["capabilities"].clone();
    assert_eq!(offered["supportsTerminateRequest"], false);
    assert_eq!(offered["supportsLogPoints"], true);
    rig.request(client, "terminate", json!({}));
    rig.got(node, "disconnect");
}

/// Delve 1.20 counts hits without saying so.
#[test]
fn what_an_engine_has_and_does_not_claim_is_offered() {
    let offer: Vec<String> = vec!["supportsHitConditionalBreakpoints".into(), "supportsLogPoints".into()];
    for claimed in [json!({}), capabilities(), json!({"supportsLogPoints": false})] {
        let mut rig = Rig::new();
        let client = rig.join();
        rig.request(client, "initialize", json!({"adapterID": "python"}));
        let node = rig.started[0].0;
        rig.node_up_with(node, facts_with(|facts| facts.claims.add = offer.clone()));
        let initialize = rig.got(node, "initialize");
        rig.answer(node, &initialize, claimed);
        let offered = rig.response(client, 1)["body"].clone();
        assert!(offer.iter().all(|key| offered[key] == true), "{offered}");
    }
}

/// Native debuggers pause a program by a signal, and tell that.
#[test]
fn a_stop_that_somebody_asked_for_is_a_pause_whatever_did_it() {
    for said in [
        json!({"reason": "exception", "description": "signal SIGSTOP", "text": "signal SIGSTOP", "threadId": 1}),
        json!({"reason": "SIGINT", "threadId": 1}),
        json!({"reason": "pause", "threadId": 1}),
    ] {
        let (mut rig, client, node) = Rig::running();
        rig.request(client, "pause", json!({"threadId": 1}));
        let pause = rig.got(node, "pause");
        rig.answer(node, &pause, json!({}));
        rig.heard(client);
        rig.tell(node, "stopped", said.clone());
        let told = rig.event(client, "stopped")["body"].clone();
        assert_eq!(told["reason"], "pause");
        assert!(!told.to_string().contains("SIG"), "{told}");
        rig.tell(node, "continued", json!({"threadId": 1}));
        rig.heard(client);
        rig.tell(node, "stopped", said.clone());
        assert_eq!(
            rig.event(client, "stopped")["body"]["reason"],
            said["reason"],
            "nobody asked for this one"
        );
        rig.finish(client, node);
    }
    // What happened to the program just then is told as it is.
    let (mut rig, client, node) = Rig::running();
    rig.request(client, "pause", json!({"threadId": 1}));
    let crash = json!({"reason": "exception", "description": "signal SIGSEGV", "threadId": 1});
    rig.tell(node, "stopped", crash.clone());
    assert_eq!(rig.event(client, "stopped")["body"], crash);
    rig.finish(client, node);
}

/// Nothing comes of it, and what happens after the next resume is none of its doing.
#[test]
fn a_pause_of_what_is_stopped_explains_no_later_stop() {
    let (mut rig, client, node) = Rig::at_a_stop();
    rig.round_trip(client, node, "pause", json!({"threadId": 1}), json!({}));
    rig.round_trip(client, node, "continue", json!({"threadId": 1}), json!({}));
    rig.heard(client);
    let interrupted = json!({"reason": "exception", "description": "signal SIGINT", "threadId": 1});
    rig.tell(node, "stopped", interrupted.clone());
    assert_eq!(rig.event(client, "stopped")["body"], interrupted);
    // One that is asked for while the resume is under way means the run that begins.
    rig.request(client, "continue", json!({"threadId": 1}));
    rig.request(client, "pause", json!({"threadId": 1}));
    for command in ["continue", "pause"] {
        let asked = rig.got(node, command);
        rig.answer(node, &asked, json!({}));
    }
    rig.heard(client);
    rig.tell(node, "stopped", interrupted);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "pause");
    rig.finish(client, node);
}

/// rdbg has neither hit counts nor log messages, and says nothing about the one and no to the other.
#[test]
fn what_the_hub_judges_in_an_engines_place_is_offered() {
    let judged = vec![Term::Condition, Term::HitCondition, Term::LogMessage];
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up_with(node, facts_with(|facts| facts.breakpoints.judged = judged));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({"supportsLogPoints": false, "supportsStepBack": true}));
    let offered = rig.response(client, 1)["body"].clone();
    for key in ["supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints"] {
        assert_eq!(offered[key], true, "{key}: {offered}");
    }
    assert_eq!(offered["supportsStepBack"], true);
}

/// perl: "Debuggee is running".
#[test]
fn a_list_of_threads_that_is_refused_is_what_is_known_of_them() {
    let facts = facts_with(|facts| facts.running.threads = ThreadList::WhenStopped);
    for (facts, unknown) in
        [(facts, json!([{"id": 1, "name": "Thread 1"}])), (EngineFacts::default(), Value::Null)]
    {
        let (mut rig, client, node) = Rig::with_engine(facts);
        rig.request(client, "launch", json!({"program": "x"}));
        let launch = rig.got(node, "launch");
        rig.answer(node, &launch, json!({}));
        let refused = |rig: &mut Rig| {
            let seq = rig.request(client, "threads", json!({}));
            let asked = rig.got(node, "threads");
            rig.fail(node, &asked, "Debuggee is running");
            rig.response(client, seq)["body"]["threads"].clone()
        };
        assert_eq!(refused(&mut rig), unknown);
        rig.stop(node, 7);
        let list = json!({"threads": [{"id": 7, "name": "main"}]});
        rig.round_trip(client, node, "threads", json!({}), list.clone());
        rig.tell(node, "continued", json!({"threadId": 7}));
        assert_eq!(refused(&mut rig), list["threads"]);
        rig.finish(client, node);
    }
}

/// perl after a failed launch.
#[test]
fn an_engine_that_refuses_to_be_let_go_is_ended_and_its_client_is_told_nothing_of_it() {
    let (mut rig, client, node) = Rig::running();
    let seq = rig.request(client, "disconnect", json!({}));
    let asked = rig.got(node, "disconnect");
    rig.fail(node, &asked, "Can't call method");
    assert_eq!(rig.response(client, seq)["success"], true);
    assert!(!rig.stopped.is_empty(), "the hub ends it");
}

/// rdbg ends its thread for the protocol, and then answers nothing any more.
#[test]
fn an_engine_that_ends_by_a_request_that_it_does_not_know_is_sent_none() {
    for unknown_requests in [UnknownRequests::Fail, UnknownRequests::EndIt] {
        let facts = facts_with(|facts| facts.claims.unknown_requests = unknown_requests);
        let (mut rig, client, node) = Rig::with_engine(facts);
        rig.request(client, "launch", json!({"program": "x"}));
        let launch = rig.got(node, "launch");
        rig.answer(node, &launch, json!({}));
        rig.engine_heard(node);
        for (command, is_vendors) in [("vendor/thing", true), ("readMemory", false)] {
            let seq = rig.request(client, command, json!({}));
            if is_vendors && unknown_requests == UnknownRequests::Fail {
                rig.got(node, command);
                continue;
            }
            let refusal = rig.response(client, seq);
            assert_eq!(refusal["success"], false, "{refusal}");
            assert!(refusal["message"].as_str().unwrap().contains(command), "{refusal}");
        }
        rig.request(client, "evaluate", json!({"expression": "x", "context": "watch"}));
        assert_eq!(rig.engine_names(node), ["?evaluate"]);
    }
}
