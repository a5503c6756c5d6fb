//! `restart` inside the session, by the engine or by the hub in its place.

use breakroom_session::habits::EntryStop;
use breakroom_session::{Amendments, ClientId, EngineFacts, Input, NodeId, Stdin};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::{Rig, capabilities, lines};

/// The old engine lets go and ends, and the new one comes up to where it waits for its launch.
fn replaced(rig: &mut Rig, old: NodeId) -> NodeId {
    let disconnect = rig.got(old, "disconnect");
    assert_eq!(disconnect["arguments"]["restart"], true);
    rig.answer(old, &disconnect, json!({}));
    // What it says now is nobody's business.
    rig.tell(old, "exited", json!({"exitCode": 0}));
    rig.tell(old, "terminated", json!({}));
    let started = rig.started.len();
    rig.node_ended(old, "exit code 0", "");
    assert_eq!(rig.started.len(), started + 1, "the same engine is started again");
    let new = rig.started[started].0;
    assert_eq!(rig.started[started].1, rig.started[0].1);
    rig.node_up(new);
    let initialize = rig.got(new, "initialize");
    rig.answer(new, &initialize, capabilities());
    new
}

/// The new engine is launched, configured and answers everything.
fn launched(rig: &mut Rig, new: NodeId) -> Vec<Value> {
    rig.tell(new, "initialized", json!({}));
    let heard: Vec<_> = rig.engine_heard(new).into_iter().map(|heard| heard.json).collect();
    for request in &heard {
        match request["command"].as_str() {
            Some("setBreakpoints") => rig.agree(new, request),
            _ => rig.answer(new, request, json!({})),
        }
    }
    heard
}

fn shared() -> (Rig, ClientId, ClientId, NodeId) {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    rig.set_lines(bob, node, &[5]);
    let filters = json!({"filters": ["raised"]});
    rig.round_trip(bob, node, "setExceptionBreakpoints", filters, json!({}));
    (rig, tess, bob, node)
}

#[test]
fn an_engine_that_cannot_restart_is_replaced_inside_the_session() {
    let (mut rig, tess, bob, old) = shared();
    rig.tell(old, "thread", json!({"reason": "started", "threadId": 1}));
    rig.tell(old, "module", json!({"reason": "new", "module": {"id": 4, "name": "m"}}));
    rig.heard(tess);
    rig.heard(bob);
    let seq = rig.request(bob, "restart", json!({}));
    assert_eq!(rig.names(tess), ["continued", "module", "thread"], "what there was is no more");
    let new = replaced(&mut rig, old);
    assert_eq!(rig.got(new, "launch")["arguments"], json!({"program": "x.py"}));
    let launch_seq = 2;
    assert!(!rig.has_answer(bob, seq), "the launch is not answered yet");
    rig.tell(new, "initialized", json!({}));
    let told: Vec<_> = rig.engine_heard(new).into_iter().map(|heard| heard.json).collect();
    let commands: Vec<_> = told.iter().map(|each| each["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["setBreakpoints", "setExceptionBreakpoints", "configurationDone"]);
    assert_eq!(lines(&told[0]), [3, 5]);
    rig.agree(new, &told[0]);
    rig.answer(new, &json!({"seq": launch_seq, "command": "launch"}), json!({}));
    assert_eq!(rig.response(bob, seq)["success"], true);
    rig.tell(new, "process", json!({"name": "again"}));
    let body =
        json!({"reason": "breakpoint", "threadId": 9, "allThreadsStopped": true, "hitBreakpointIds": [103]});
    rig.tell(new, "stopped", body);
    assert_eq!(rig.names(tess), ["process", "stopped"]);
    assert_eq!(rig.names(bob), ["continued", "module", "thread", "process", "stopped"]);
    let late = rig.bring("Late", json!({}), json!({}));
    let shown = rig.names(late);
    assert_eq!(shown.iter().filter(|name| *name == "stopped").count(), 1, "{shown:?}");
    assert!(!shown.contains(&"terminated".into()));
}

#[test]
fn new_arguments_replace_the_old_ones_and_the_hubs_own_record_stays_here() {
    let (mut rig, tess, old) = Rig::at_a_stop();
    let again = json!({"arguments": {"program": "y.py", "breakroom": {"token": "secret"}, "x": 1}});
    let seq = rig.request(tess, "restart", again);
    let new = replaced(&mut rig, old);
    let launch = rig.got(new, "launch");
    assert_eq!(launch["arguments"], json!({"program": "y.py", "x": 1}));
    rig.answer(new, &launch, json!({}));
    launched(&mut rig, new);
    assert_eq!(rig.response(tess, seq)["success"], true);
    rig.finish(tess, new);
}

#[test]
fn an_engine_that_can_restart_is_asked_to() {
    let mut able = capabilities();
    able["supportsRestartRequest"] = true.into();
    let (mut rig, tess, node) = Rig::running_with(able, json!({}));
    let launched = json!({"program": "x.py"});
    for (asked, told) in [
        (json!({"vendor": 1}), json!({"vendor": 1, "arguments": launched})),
        (json!({}), json!({"arguments": launched})),
        (json!({"arguments": null}), json!({"arguments": launched})),
        (Value::Null, json!({"arguments": launched})),
        (json!({"arguments": {"program": "y.py"}}), json!({"arguments": {"program": "y.py"}})),
    ] {
        let seq = rig.request(tess, "restart", asked);
        let request = rig.got(node, "restart");
        assert_eq!(request["arguments"], told);
        rig.answer(node, &request, json!({}));
        rig.response(tess, seq);
    }
    assert!(rig.stopped.is_empty());
}

/// A program whose input is the hub's, of an engine that can restart it.
fn reads_what_the_hub_gives(introduction: Value) -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", introduction);
    let node = rig.started[0].0;
    rig.node_up_with(node, EngineFacts { stdin: Stdin::Hubs, ..EngineFacts::default() });
    let initialize = rig.got(node, "initialize");
    let mut able = capabilities();
    able["supportsRestartRequest"] = json!(true);
    rig.answer(node, &initialize, able);
    rig.start(client, node, "launch");
    (rig, client, node)
}

/// What was given to the old program, and that its input has ended, must not reach the new one.
#[test]
fn an_engine_whose_program_was_given_input_by_the_hub_is_replaced_though_it_can_restart() {
    for given in [Some(json!({"text": "x\n"})), Some(json!({"end": true})), None] {
        let declared = json!({"adapterID": "python", "supportsBreakroomInput": true});
        let (mut rig, client, node) = reads_what_the_hub_gives(declared);
        if let Some(given) = given.clone() {
            let seq = rig.request(client, "breakroom/input", given);
            let (ticket, ..) = rig.given.remove(0);
            rig.on(Input::HubAnswered { ticket, result: Ok(json!(null)) });
            rig.response(client, seq);
        }
        rig.request(client, "restart", json!({}));
        let heard = rig.engine_names(node);
        let expected = if given.is_some() { "?disconnect" } else { "?restart" };
        assert_eq!(heard, [expected], "{given:?}");
    }
}

#[test]
fn an_input_that_was_ended_for_want_of_anybody_is_anew_once_somebody_can_give_some() {
    for (comes, expected) in [(false, "?restart"), (true, "?disconnect")] {
        let (mut rig, client, node) = reads_what_the_hub_gives(json!({"adapterID": "python"}));
        assert_eq!(rig.input_ended, [node]);
        if comes {
            rig.bring("Ann", json!({"supportsBreakroomInput": true}), json!({}));
        }
        rig.request(client, "restart", json!({}));
        assert_eq!(rig.engine_names(node), [expected]);
    }
}

#[test]
fn an_engine_that_restarts_by_itself_hears_the_launch_in_its_own_words_and_stops_on_entry_again() {
    let mut able = capabilities();
    able["supportsRestartRequest"] = true.into();
    let defaults = json!({"terminal": "console"}).as_object().unwrap().clone();
    let amendments = Amendments { defaults, ..Amendments::default() };
    let facts = facts_with(|facts| {
        facts.amendments = amendments;
        facts.starting.entry = EntryStop::Key("stopFirst".into());
    });
    let mut rig = Rig::new();
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up_with(node, facts);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, able);
    rig.request(tess, "launch", json!({"program": "x", "stopOnEntry": true, "breakroom": {"name": "n"}}));
    let launch = rig.got(node, "launch");
    rig.answer(node, &launch, json!({}));
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1}));
    rig.tell(node, "continued", json!({"threadId": 1}));
    let seq = rig.request(tess, "restart", json!({}));
    let restart = rig.got(node, "restart");
    assert_eq!(restart["arguments"]["arguments"], launch["arguments"]);
    rig.answer(node, &restart, json!({}));
    rig.response(tess, seq);
    rig.heard(tess);
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 2}));
    assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "entry");
    rig.finish(tess, node);
}

#[test]
fn an_engine_that_asks_for_a_restart_gets_it_once_from_the_hub() {
    let (mut rig, tess, bob, old) = shared();
    rig.tell(old, "terminated", json!({"restart": {"port": 7}}));
    let new = replaced(&mut rig, old);
    let launch = rig.got(new, "launch");
    assert_eq!(launch["arguments"], json!({"program": "x.py", "__restart": {"port": 7}}));
    rig.answer(new, &launch, json!({}));
    launched(&mut rig, new);
    rig.tell(new, "terminated", json!({"restart": false}));
    for client in [tess, bob] {
        let names = rig.names(client);
        assert_eq!(names.iter().filter(|name| *name == "terminated").count(), 1, "{names:?}");
    }
}

#[test]
fn references_and_requests_of_the_old_program_do_not_reach_the_new_one() {
    let (mut rig, tess, old) = Rig::at_a_stop();
    let stack = json!({"stackFrames": [{"id": 0, "name": "f", "line": 1, "column": 1}]});
    let stack = rig.round_trip(tess, old, "stackTrace", json!({"threadId": 1}), stack);
    let frame = stack["body"]["stackFrames"][0]["id"].clone();
    let open = rig.request(tess, "evaluate", json!({"expression": "x"}));
    rig.request(tess, "restart", json!({}));
    assert!(rig.refusal(tess, open).1.contains("restarted"));
    let second = rig.request(tess, "restart", json!({}));
    assert_eq!(rig.refusal(tess, second).0, 9019);
    let new = replaced(&mut rig, old);
    let launch = rig.got(new, "launch");
    rig.answer(new, &launch, json!({}));
    launched(&mut rig, new);
    let seq = rig.request(tess, "scopes", json!({"frameId": frame}));
    assert_eq!(rig.refusal(tess, seq).0, 9010);
    assert!(rig.engine_heard(new).is_empty());
}

#[test]
fn owners_hear_which_of_their_breakpoints_the_new_engine_sees_differently() {
    let (mut rig, tess, bob, old) = shared();
    rig.request(tess, "restart", json!({}));
    let new = replaced(&mut rig, old);
    let launch = rig.got(new, "launch");
    rig.answer(new, &launch, json!({}));
    rig.tell(new, "initialized", json!({}));
    let set = rig.got(new, "setBreakpoints");
    let answers = json!([{"id": 1, "verified": true, "line": 3}, {"id": 2, "verified": false, "line": 5}]);
    rig.answer(new, &set, json!({"breakpoints": answers}));
    let told = rig.event(bob, "breakpoint")["body"].clone();
    assert_eq!(told["reason"], "changed");
    assert_eq!(told["breakpoint"], json!({"id": 1, "verified": false, "line": 5}));
    assert!(!rig.names(tess).contains(&"breakpoint".into()), "hers is as it was");
}

#[test]
fn what_is_asked_during_a_restart_waits_for_the_new_engine() {
    let (mut rig, tess, old) = Rig::at_a_stop();
    rig.request(tess, "restart", json!({}));
    let set = rig.ask_lines(tess, &[7]);
    let threads = rig.request(tess, "threads", json!({}));
    let new = replaced(&mut rig, old);
    let launch = rig.got(new, "launch");
    rig.answer(new, &launch, json!({}));
    assert!(rig.engine_heard(new).is_empty(), "it has not said that it can be configured");
    let heard = launched(&mut rig, new);
    assert!(heard.iter().any(|request| request["command"] == "setBreakpoints" && lines(request) == [7]));
    rig.response(tess, set);
    rig.response(tess, threads);
}

#[test]
fn a_restart_that_fails_says_why_and_ends_the_session_for_everybody() {
    for way in ["not started", "launch refused", "died"] {
        let (mut rig, tess, bob, old) = shared();
        let seq = rig.request(bob, "restart", json!({}));
        if way == "not started" {
            let disconnect = rig.got(old, "disconnect");
            rig.answer(old, &disconnect, json!({}));
            rig.node_ended(old, "exit code 0", "");
            let new = rig.started.last().unwrap().0;
            rig.node_failed(new, "no such program");
        } else {
            let new = replaced(&mut rig, old);
            let launch = rig.got(new, "launch");
            match way {
                "died" => rig.node_ended(new, "signal 9", ""),
                _ => {
                    rig.fail(new, &launch, "no such file");
                    rig.node_ended(new, "exit code 0", "");
                }
            }
        }
        let (number, why) = rig.refusal(bob, seq);
        assert!(number == 9006 && why.contains("could not be started again"), "{way}: {why}");
        for client in [tess, bob] {
            rig.event(client, "terminated");
            rig.request(client, "disconnect", json!({}));
        }
        rig.assert_over();
    }
}

#[test]
fn leaving_during_a_restart_leaves_nothing_behind() {
    for command in ["disconnect", "terminate"] {
        let (mut rig, tess, old) = Rig::at_a_stop();
        let restart = rig.request(tess, "restart", json!({}));
        let seq = rig.request(tess, command, json!({}));
        assert_eq!(rig.response(tess, seq)["success"], true, "{command}");
        assert_eq!(rig.response(tess, restart)["success"], false);
        rig.node_ended(old, "exit code 0", "");
        assert_eq!(rig.started.len(), 1, "no engine is started for nobody");
        if command == "terminate" {
            rig.request(tess, "disconnect", json!({}));
        }
        rig.assert_over();
    }
}

#[test]
fn a_client_that_comes_during_a_restart_joins_the_new_program() {
    let (mut rig, tess, old) = Rig::at_a_stop();
    rig.request(tess, "restart", json!({}));
    let late = rig.join_late();
    let seq = rig.request(late, "initialize", json!({"clientName": "Late", "adapterID": "python"}));
    assert!(!rig.has_answer(late, seq));
    let new = replaced(&mut rig, old);
    rig.response(late, seq);
    rig.request(late, "attach", json!({}));
    rig.request(late, "configurationDone", json!({}));
    let launch = rig.got(new, "launch");
    rig.answer(new, &launch, json!({}));
    launched(&mut rig, new);
    rig.tell(new, "stopped", json!({"reason": "entry", "threadId": 1, "allThreadsStopped": true}));
    assert_eq!(rig.names(late).last().unwrap(), "stopped");
}

#[test]
fn what_the_old_engine_learned_to_do_is_not_told_of_the_new_one() {
    let (mut rig, tess, old) = Rig::at_a_stop();
    rig.tell(old, "capabilities", json!({"capabilities": {"supportsStepBack": true}}));
    rig.request(tess, "restart", json!({}));
    let new = replaced(&mut rig, old);
    launched(&mut rig, new);
    let late = rig.bring("Late", json!({}), json!({}));
    assert!(!rig.names(late).contains(&"capabilities".into()));
}

#[test]
fn a_session_that_is_being_ended_does_not_begin_again() {
    let mut unable = capabilities();
    unable["supportsTerminateRequest"] = false.into();
    let (mut rig, tess, node) = Rig::running_with(unable, json!({}));
    rig.request(tess, "terminate", json!({}));
    let seq = rig.request(tess, "restart", json!({}));
    assert!(rig.refusal(tess, seq).1.contains("being ended"));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    let seq = rig.request(tess, "restart", json!({}));
    assert!(rig.refusal(tess, seq).1.contains("being ended"));
    assert_eq!(rig.stopped.len(), 1);
}

#[test]
fn one_who_leaves_during_its_restart_is_answered_also_if_the_new_engine_says_nothing() {
    let (mut rig, tess, old) = Rig::at_a_stop();
    let seq = rig.request(tess, "restart", json!({}));
    let new = replaced(&mut rig, old);
    rig.request(tess, "disconnect", json!({}));
    rig.got(new, "disconnect");
    rig.advance(6);
    assert_eq!(rig.response(tess, seq)["success"], false);
    rig.node_ended(new, "exit code 0", "");
    rig.assert_over();
}

#[test]
fn a_new_engine_is_told_the_properties_that_were_set_of_the_old_one_if_that_knew_of_such() {
    for knows in [true, false] {
        let mut can = capabilities();
        can["supportsDebuggerProperties"] = json!(knows);
        let (mut rig, tess, old) = Rig::running_with(can, json!({}));
        rig.set_lines(tess, old, &[3]);
        rig.round_trip(tess, old, "setDebuggerProperty", json!({"skip": []}), json!({}));
        rig.request(tess, "restart", json!({}));
        let new = replaced(&mut rig, old);
        let launch = rig.got(new, "launch");
        rig.answer(new, &launch, json!({}));
        let told = launched(&mut rig, new);
        let commands: Vec<_> = told.iter().map(|request| request["command"].as_str().unwrap()).collect();
        let (properties, rest) = commands.split_at(usize::from(knows));
        assert_eq!(rest, ["setBreakpoints", "configurationDone"]);
        assert!(properties.iter().all(|command| *command == "setDebuggerProperty"), "{commands:?}");
        assert!(!knows || told[0]["arguments"] == json!({"skip": []}), "{told:?}");
    }
}
