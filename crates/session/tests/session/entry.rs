//! Stop on entry: asked for in the engine's way, told with the reason `entry`.

use breakroom_session::habits::{EntryStop, Part};
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::{changed, facts_of};
use crate::rig::{Rig, capabilities};

/// An engine with these facts that was sent this `launch` or `attach`, and what it got.
fn started(facts: EngineFacts, command: &str, arguments: Value) -> (Rig, ClientId, NodeId, Value, i64) {
    let (mut rig, client, node) = Rig::with_engine(facts);
    let seq = rig.request(client, command, arguments);
    let sent = rig.engine_heard(node).remove(0).json;
    rig.tell(node, "initialized", json!({}));
    (rig, client, node, sent, seq)
}

fn configure(rig: &mut Rig, client: ClientId, node: NodeId, launch: &Value) {
    rig.request(client, "configurationDone", json!({}));
    rig.answer(node, launch, json!({}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    rig.heard(client);
}

fn native() -> EngineFacts {
    facts_of("debugpy-stdio")
}

#[test]
fn an_engine_that_knows_the_word_is_sent_it_and_its_own_words_are_told() {
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(native(), "launch", arguments.clone());
    assert_eq!(sent["arguments"], arguments);
    configure(&mut rig, client, node, &sent);
    rig.tell(node, "stopped", json!({"reason": "entry", "description": "d", "threadId": 1}));
    let body = json!({"reason": "entry", "description": "d", "threadId": 1});
    assert_eq!(rig.event(client, "stopped")["body"], body);
    rig.finish(client, node);
}

#[test]
fn the_first_stop_is_the_entry_whatever_the_engine_calls_it() {
    for said in [
        json!({"reason": "pause", "threadId": 1}),
        json!({"reason": "step", "threadId": 1}),
        json!({"reason": "exception", "description": "signal SIGSTOP", "text": "signal SIGSTOP", "threadId": 1}),
        json!({"reason": "breakpoint", "hitBreakpointIds": [77], "threadId": 1}),
    ] {
        for command in ["launch", "attach"] {
            let arguments = json!({"program": "x", "stopOnEntry": true});
            let (mut rig, client, node, sent, _) = started(native(), command, arguments);
            configure(&mut rig, client, node, &sent);
            rig.tell(node, "stopped", said.clone());
            let told = rig.event(client, "stopped")["body"].clone();
            assert_eq!(told["reason"], "entry", "{said}");
            assert!(!told.to_string().contains("SIGSTOP") && !told.to_string().contains("77"), "{told}");
            rig.tell(node, "continued", json!({"threadId": 1}));
            rig.tell(node, "stopped", said.clone());
            assert_eq!(rig.event(client, "stopped")["body"]["reason"], said["reason"], "only the first");
            rig.finish(client, node);
        }
    }
}

#[test]
fn a_breakpoint_or_an_error_is_not_taken_for_the_entry() {
    for said in [
        json!({"reason": "breakpoint", "hitBreakpointIds": [5], "threadId": 1}),
        json!({"reason": "breakpoint", "threadId": 1}),
        json!({"reason": "exception", "text": "ValueError", "threadId": 1}),
    ] {
        let arguments = json!({"program": "x", "stopOnEntry": true});
        let (mut rig, client, node, sent, _) = started(native(), "launch", arguments);
        let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
        let answer = json!({"breakpoints": [{"id": 5, "verified": true, "line": 3}]});
        rig.round_trip(client, node, "setBreakpoints", list, answer);
        configure(&mut rig, client, node, &sent);
        rig.tell(node, "stopped", said.clone());
        assert_eq!(rig.event(client, "stopped")["body"]["reason"], said["reason"]);
        rig.finish(client, node);
    }
}

#[test]
fn whoever_does_not_ask_for_it_is_told_the_engines_reason() {
    let (mut rig, client, node, sent, _) = started(native(), "launch", json!({"program": "x"}));
    configure(&mut rig, client, node, &sent);
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "pause");
    rig.finish(client, node);
}

#[test]
fn an_engine_with_another_word_for_it_is_sent_that_one() {
    let facts = facts_of("gdb18-c");
    for (asked, sent) in [
        (
            json!({"program": "x", "stopOnEntry": true}),
            json!({"program": "x", "stopAtBeginningOfMainSubprogram": true}),
        ),
        (
            json!({"stopOnEntry": true, "breakroom": {"name": "n"}}),
            json!({"stopAtBeginningOfMainSubprogram": true}),
        ),
        (
            json!({"stopAtBeginningOfMainSubprogram": false, "stopOnEntry": true}),
            json!({"stopAtBeginningOfMainSubprogram": true, "stopOnEntry": false}),
        ),
        (json!({"program": "x", "stopOnEntry": false}), json!({"program": "x", "stopOnEntry": false})),
    ] {
        let (mut rig, client, node, launch, _) = started(facts.clone(), "launch", asked);
        assert_eq!(launch["arguments"], sent);
        configure(&mut rig, client, node, &launch);
        rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [9], "threadId": 1}));
        let stopped = rig.event(client, "stopped");
        let asked = sent["stopAtBeginningOfMainSubprogram"] == true;
        assert_eq!(stopped["body"]["reason"], if asked { "entry" } else { "breakpoint" });
        rig.finish(client, node);
    }
}

#[test]
fn a_breakpoint_that_the_engine_makes_for_it_is_nobodys() {
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, launch, _) = started(facts_of("gdb18-c"), "launch", arguments);
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
    let answer = json!({"breakpoints": [{"id": 1, "verified": false, "reason": "pending"}]});
    rig.round_trip(client, node, "setBreakpoints", list, answer);
    configure(&mut rig, client, node, &launch);
    let about = |reason: &str, id: i64| json!({"reason": reason, "breakpoint": {"id": id, "verified": true}});
    rig.tell(node, "breakpoint", about("new", 2));
    rig.tell(node, "breakpoint", about("changed", 1));
    rig.tell(node, "breakpoint", about("changed", 2));
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [2], "threadId": 1}));
    rig.tell(node, "breakpoint", about("removed", 2));
    rig.tell(node, "breakpoint", about("new", 3));
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["breakpoint", "stopped", "breakpoint"]);
    assert_eq!(heard[0].json["body"]["breakpoint"]["id"], 1);
    assert_eq!(heard[2].json["body"]["reason"], "new", "one that is set in the console is news");
    rig.finish(client, node);
}

#[test]
fn an_engine_that_stops_when_attached_to_is_attached_to_and_its_client_has_launched() {
    let arguments = json!({"program": "x.rb", "stopOnEntry": true});
    let (mut rig, client, node, sent, seq) = started(facts_of("rdbg-1.4"), "launch", arguments);
    assert_eq!(sent["command"], "attach");
    rig.answer(node, &sent, json!({}));
    let answer = rig.response(client, seq);
    assert_eq!((&answer["command"], &answer["success"]), (&json!("launch"), &json!(true)));
    rig.request(client, "configurationDone", json!({}));
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "entry");
    rig.finish(client, node);

    let (mut rig, client, node, sent, _) =
        started(facts_of("rdbg-1.4"), "launch", json!({"program": "x.rb"}));
    assert_eq!(sent["command"], "launch", "it would stop though nobody asked");
    rig.heard(client);
    rig.finish(client, node);
}

fn function() -> EngineFacts {
    facts_of("dlv-1.20")
}

#[test]
fn the_hubs_own_breakpoint_stops_the_program_and_is_gone_before_anybody_sees_it() {
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(function(), "launch", arguments);
    assert_eq!(sent["arguments"], json!({"program": "x", "stopOnEntry": false}));
    assert!(rig.engine_names(node).is_empty(), "the launch may fail yet");
    rig.request(client, "configurationDone", json!({}));
    assert_eq!(rig.engine_heard(node).len(), 2);
    rig.answer(node, &sent, json!({}));
    rig.heard(client);
    let own = json!({"seq": 3, "command": "setFunctionBreakpoints"});
    rig.answer(node, &own, json!({"breakpoints": [{"id": 1, "verified": true}]}));
    assert!(rig.names(client).is_empty());
    rig.tell(
        node,
        "stopped",
        json!({"reason": "function breakpoint", "hitBreakpointIds": [1], "threadId": 1}),
    );
    let body = rig.event(client, "stopped")["body"].clone();
    assert_eq!(body, json!({"reason": "entry", "hitBreakpointIds": [], "threadId": 1}));
    let removed = rig.got(node, "setFunctionBreakpoints");
    assert_eq!(removed["arguments"]["breakpoints"], json!([]));
    rig.answer(node, &removed, json!({"breakpoints": []}));
    let seq = rig.request(client, "breakroom/breakpoints", json!({}));
    assert_eq!(rig.response(client, seq)["body"]["breakpoints"], json!([]));
    rig.finish(client, node);
}

#[test]
fn it_is_told_together_with_a_clients_function_breakpoints_and_before_the_configuration_is_done() {
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(function(), "launch", arguments);
    rig.answer(node, &sent, json!({}));
    // As VS Code does it: nothing is waited for.
    let set = rig.request(client, "setFunctionBreakpoints", json!({"breakpoints": [{"name": "main.add"}]}));
    rig.request(client, "configurationDone", json!({}));
    let heard = rig.engine_heard(node);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["?setFunctionBreakpoints", "?configurationDone"]);
    let told = heard[0].json["arguments"]["breakpoints"].clone();
    assert_eq!(told, json!([{"name": "main.main"}, {"name": "main.add"}]));
    let both = json!({"breakpoints": [{"id": 1, "verified": true}, {"id": 2, "verified": true}]});
    rig.answer(node, &heard[0].json, both);
    let answer = rig.response(client, set);
    assert_eq!(answer["body"]["breakpoints"], json!([{"id": 1, "verified": true}]));
    rig.answer(node, &heard[1].json, json!({}));
    // Another one may be hit before.
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [2], "threadId": 1}));
    let first = rig.event(client, "stopped")["body"].clone();
    assert_eq!((&first["reason"], &first["hitBreakpointIds"]), (&json!("breakpoint"), &json!([1])));
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [1], "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "entry");
    let left = rig.got(node, "setFunctionBreakpoints");
    assert_eq!(left["arguments"]["breakpoints"], json!([{"name": "main.add"}]));
    rig.finish(client, node);
}

#[test]
fn a_program_that_is_started_again_stops_on_entry_again() {
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(function(), "launch", arguments);
    configure_and_agree(&mut rig, client, node, &sent);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [1], "threadId": 1}));
    rig.request(client, "restart", json!({}));
    rig.node_ended(node, "exit code 0", "");
    let new = rig.started.last().unwrap().0;
    rig.node_up_with(new, function());
    let initialize = rig.got(new, "initialize");
    rig.answer(new, &initialize, capabilities());
    let launch = rig.got(new, "launch");
    assert_eq!(launch["arguments"]["stopOnEntry"], false);
    rig.tell(new, "initialized", json!({}));
    let told = rig.got(new, "setFunctionBreakpoints");
    assert_eq!(told["arguments"]["breakpoints"], json!([{"name": "main.main"}]));
    rig.answer(new, &told, json!({"breakpoints": [{"id": 1, "verified": true}]}));
    rig.answer(new, &launch, json!({}));
    rig.heard(client);
    rig.tell(new, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [1], "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "entry");
    rig.finish(client, new);
}

fn configure_and_agree(rig: &mut Rig, client: ClientId, node: NodeId, launch: &Value) {
    rig.answer(node, launch, json!({}));
    rig.request(client, "configurationDone", json!({}));
    let own = rig.got(node, "setFunctionBreakpoints");
    rig.answer(node, &own, json!({"breakpoints": [{"id": 1, "verified": true}]}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    rig.heard(client);
}

fn by_commands() -> EngineFacts {
    let how =
        EntryStop::Commands { key: "preRunCommands".into(), run: vec!["stop \"main\"".into(), "b".into()] };
    changed(facts_of("lldb-19"), |facts| facts.starting.entry = how)
}

#[test]
fn an_engine_that_is_stopped_by_its_own_commands_is_sent_them_before_a_clients() {
    let both = json!(["stop \"main\"", "b"]);
    for (asked, sent) in [
        (
            json!({"program": "x", "stopOnEntry": true}),
            json!({"program": "x", "stopOnEntry": false, "preRunCommands": both}),
        ),
        (
            json!({"stopOnEntry": true, "preRunCommands": []}),
            json!({"stopOnEntry": false, "preRunCommands": both}),
        ),
        (
            json!({"preRunCommands": ["own"], "stopOnEntry": true}),
            json!({"preRunCommands": ["stop \"main\"", "b", "own"], "stopOnEntry": false}),
        ),
        (json!({"program": "x"}), json!({"program": "x"})),
    ] {
        let (rig, client, node, launch, _) = started(by_commands(), "launch", asked);
        assert_eq!(launch["arguments"], sent);
        rig.finish(client, node);
    }
}

#[test]
fn a_clients_breakpoint_at_the_entry_counts_and_is_the_only_one_that_is_named() {
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(by_commands(), "launch", arguments);
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}, {"line": 7}]});
    let answer = json!({"breakpoints": [{"id": 5, "verified": true, "line": 3}, {"id": 6, "verified": true, "line": 7}]});
    rig.round_trip(client, node, "setBreakpoints", list, answer);
    configure(&mut rig, client, node, &sent);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [0, 6], "threadId": 1}));
    let entry = rig.event(client, "stopped")["body"].clone();
    assert_eq!((&entry["reason"], &entry["hitBreakpointIds"]), (&json!("entry"), &json!([2])));
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.heard(client);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [6], "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.finish(client, node);
}

#[test]
fn what_stops_a_program_before_its_entry_keeps_its_reason_and_the_entry_still_comes() {
    for early in [
        json!({"reason": "breakpoint", "hitBreakpointIds": [5], "threadId": 1}),
        json!({"reason": "exception", "description": "signal SIGSEGV", "threadId": 1}),
    ] {
        let arguments = json!({"program": "x", "stopOnEntry": true});
        let (mut rig, client, node, sent, _) = started(by_commands(), "launch", arguments);
        let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": 3}]});
        let answer = json!({"breakpoints": [{"id": 5, "verified": true, "line": 3}]});
        rig.round_trip(client, node, "setBreakpoints", list, answer);
        configure(&mut rig, client, node, &sent);
        rig.tell(node, "stopped", early.clone());
        let told = rig.event(client, "stopped")["body"].clone();
        assert_eq!((&told["reason"], &told["description"]), (&early["reason"], &early["description"]));
        rig.tell(node, "continued", json!({"threadId": 1}));
        rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [0], "threadId": 1}));
        assert_eq!(rig.event(client, "stopped")["body"]["reason"], "entry");
        rig.heard(client);
        rig.finish(client, node);
    }
}

#[test]
fn the_function_may_be_what_the_launch_names() {
    let facts = changed(native(), |facts| {
        facts.starting.entry = EntryStop::Function("{{launch.mainClass}}.main".into())
    });
    let arguments = json!({"mainClass": "a.Main", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(facts.clone(), "launch", arguments);
    assert_eq!(sent["arguments"]["stopOnEntry"], false);
    rig.request(client, "configurationDone", json!({}));
    let own = rig.got(node, "setFunctionBreakpoints");
    assert_eq!(own["arguments"]["breakpoints"], json!([{"name": "a.Main.main"}]));
    rig.finish(client, node);
    // Without the name the engine is left to stop as it can.
    let (rig, client, node, sent, _) = started(facts, "launch", json!({"stopOnEntry": true}));
    assert_eq!(sent["arguments"], json!({"stopOnEntry": true}));
    rig.finish(client, node);
}

#[test]
fn an_engine_that_stops_if_it_is_paused_first_is_paused_before_it_is_let_go() {
    let facts = || facts_of("cmake-4");
    let arguments = json!({"program": "x", "stopOnEntry": true});
    let (mut rig, client, node, sent, _) = started(facts(), "launch", arguments);
    rig.request(client, "configurationDone", json!({}));
    assert_eq!(rig.engine_names(node), ["?pause", "?configurationDone"]);
    rig.answer(node, &sent, json!({}));
    rig.heard(client);
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "entry");
    rig.request(client, "restart", json!({}));
    rig.node_ended(node, "exit code 0", "");
    let new = rig.started.last().unwrap().0;
    rig.node_up_with(new, facts());
    let initialize = rig.got(new, "initialize");
    rig.answer(new, &initialize, capabilities());
    let launch = rig.got(new, "launch");
    rig.tell(new, "initialized", json!({}));
    assert_eq!(rig.engine_names(new), ["?pause", "?configurationDone"]);
    rig.answer(new, &launch, json!({}));
    rig.heard(client);
    rig.tell(new, "stopped", json!({"reason": "pause", "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "entry");
    rig.finish(client, new);
}

#[test]
fn an_engine_that_is_not_to_stop_first_is_not_paused() {
    for command in ["launch", "attach"] {
        let arguments = json!({"program": "x", "stopOnEntry": command == "attach"});
        let (mut rig, client, node, sent, _) = started(facts_of("cmake-4"), command, arguments);
        rig.request(client, "configurationDone", json!({}));
        assert_eq!(rig.engine_names(node), ["?configurationDone"]);
        rig.answer(node, &sent, json!({}));
        rig.finish(client, node);
    }
}

#[test]
fn an_engine_that_only_coordinates_stops_nowhere_itself() {
    let facts = changed(facts_of("js-debug-parent"), |facts| {
        facts.part = Part::Coordinates;
        facts.starting.entry = EntryStop::ByAttach;
    });
    let arguments = json!({"program": "x.js", "stopOnEntry": true});
    let (rig, client, node, sent, _) = started(facts, "launch", arguments.clone());
    assert_eq!((&sent["command"], &sent["arguments"]), (&json!("launch"), &arguments));
    rig.finish(client, node);
}

#[test]
fn a_breakpoint_where_a_program_begins_is_hit_though_the_engine_would_pass_it() {
    for (line, told) in [(1, true), (2, false)] {
        let (mut rig, client, node, sent, _) =
            started(facts_of("rdbg-1.4"), "launch", json!({"program": "x.rb"}));
        assert_eq!(sent["command"], "launch");
        let breakpoints = json!({"source": {"path": "x.rb"}, "breakpoints": [{"line": line}]});
        rig.request(client, "setBreakpoints", breakpoints);
        let set = rig.got(node, "setBreakpoints");
        rig.answer(node, &set, json!({"breakpoints": [{"verified": true}]}));
        rig.answer(node, &sent, json!({}));
        rig.request(client, "configurationDone", json!({}));
        let names: Vec<_> = rig.engine_heard(node).into_iter().map(|heard| heard.json).collect();
        assert_eq!(
            (&names[0]["command"], &names[1]["command"]),
            (&json!("attach"), &json!("configurationDone"))
        );
        names.iter().for_each(|request| rig.answer(node, request, json!({})));
        rig.heard(client);
        rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true}));
        let stack = rig.got(node, "stackTrace");
        let frame = json!({"id": 7, "name": "main", "line": 1, "column": 1, "source": {"path": "x.rb"}});
        rig.answer(node, &stack, json!({"stackFrames": [frame]}));
        if told {
            let body = rig.event(client, "stopped")["body"].clone();
            assert_eq!((&body["reason"], &body["hitBreakpointIds"]), (&json!("breakpoint"), &json!([1])));
        } else {
            let request = rig.got(node, "continue");
            rig.answer(node, &request, json!({}));
            assert!(rig.names(client).is_empty(), "nobody has a breakpoint there");
        }
        rig.finish(client, node);
    }
}
