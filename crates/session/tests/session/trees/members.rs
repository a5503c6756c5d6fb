//! The members of a group: children with an engine, a start and a fate of their own.

use breakroom_session::habits::{Console, EntryStop, Part, Preload};
use breakroom_session::{Amendments, EngineFacts, Fate, Input, NodeId, Opening};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::stage::js_capabilities;
use crate::engines::facts_with;

/// A group starts a member, which has answered `initialize`.
pub fn member(
    rig: &mut Rig,
    root: NodeId,
    request: &str,
    configuration: Value,
    facts: EngineFacts,
) -> NodeId {
    rig.ask(root, "startDebugging", json!({"request": request, "configuration": configuration}));
    let (child, _, opening) = rig.opened.last().unwrap();
    assert!(matches!(opening, Opening::Engine { .. }), "{opening:?}");
    let child = *child;
    rig.on(Input::NodeUp { node: child, facts });
    let initialize = rig.got(child, "initialize");
    rig.answer(child, &initialize, js_capabilities());
    child
}

pub fn runs(rig: &mut Rig, child: NodeId) {
    rig.tell(child, "initialized", json!({}));
    for heard in rig.engine_heard(child) {
        rig.answer(child, &heard.json, json!({}));
    }
}

/// A member that runs, in a group with it alone.
fn running(rig: &mut Rig, root: NodeId, request: &str, name: &str) -> NodeId {
    let child = member(rig, root, request, json!({"name": name, "type": "go"}), EngineFacts::default());
    runs(rig, child);
    child
}

#[test]
fn what_a_group_attached_to_is_let_go_and_what_it_launched_ends() {
    for (command, arguments) in [("disconnect", json!({})), ("terminate", json!({}))] {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        let attached = running(&mut rig, root, "attach", "db");
        let launched = running(&mut rig, root, "launch", "api");
        rig.request(tess, command, arguments);
        for (child, ends) in [(launched, true), (attached, false)] {
            let bye = rig.got(child, "disconnect");
            assert_eq!(bye["arguments"]["terminateDebuggee"], ends, "{command}");
            rig.answer(child, &bye, json!({}));
            let stopped = rig.stopped.iter().find(|(node, ..)| *node == child).unwrap();
            assert_eq!(stopped.2, Fate::Ends, "{command}: the engine itself ends");
        }
    }
}

#[test]
fn a_client_can_have_everything_in_a_group_ended() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let attached = running(&mut rig, root, "attach", "db");
    rig.request(tess, "disconnect", json!({"terminateDebuggee": true}));
    assert_eq!(rig.got(attached, "disconnect")["arguments"]["terminateDebuggee"], true);
}

#[test]
fn a_session_that_is_killed_leaves_what_a_group_attached_to_alone() {
    for killed in [true, false] {
        let (mut rig, _tess, root) = Rig::coordinated(setup(), json!({}));
        let attached = running(&mut rig, root, "attach", "db");
        let launched = running(&mut rig, root, "launch", "api");
        let reason = "it was asked to".to_owned();
        rig.on(if killed { Input::Killed { reason } } else { Input::Shutdown { reason } });
        assert_eq!(rig.got(launched, "disconnect")["arguments"]["terminateDebuggee"], true);
        assert_eq!(rig.got(attached, "disconnect")["arguments"]["terminateDebuggee"], false);
    }
}

#[test]
fn a_restart_lets_go_of_what_a_group_attached_to() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let attached = running(&mut rig, root, "attach", "db");
    let launched = running(&mut rig, root, "launch", "api");
    rig.request(tess, "restart", json!({}));
    assert_eq!(rig.got(launched, "disconnect")["arguments"]["terminateDebuggee"], true);
    assert_eq!(rig.got(attached, "disconnect")["arguments"]["terminateDebuggee"], false);
}

#[test]
fn what_a_member_started_has_the_members_fate_even_without_it() {
    for gone in [true, false] {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        let attached = running(&mut rig, root, "attach", "db");
        let (grandchild, _) = rig.announce_python(attached, 7);
        rig.child_runs(grandchild);
        if gone {
            rig.closes(attached);
        }
        rig.request(tess, "disconnect", json!({}));
        assert_eq!(rig.got(grandchild, "disconnect")["arguments"]["terminateDebuggee"], false, "{gone}");
    }
}

#[test]
fn a_program_of_a_group_that_is_to_live_on_is_released() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child = running(&mut rig, root, "launch", "api");
    rig.request(tess, "disconnect", json!({"terminateDebuggee": false}));
    let bye = rig.got(child, "disconnect");
    assert_eq!(bye["arguments"]["terminateDebuggee"], false);
    rig.answer(child, &bye, json!({}));
    let (.., debuggee) = rig.stopped.iter().find(|(node, ..)| *node == child).unwrap();
    assert_eq!(*debuggee, Fate::Lives, "its guard would end it: {:?}", rig.stopped);
}

#[test]
fn a_member_that_does_not_answer_because_its_program_lives_on_is_not_ended_with_it() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child = running(&mut rig, root, "launch", "api");
    rig.request(tess, "disconnect", json!({"terminateDebuggee": false}));
    rig.got(child, "disconnect");
    rig.advance(5);
    let (_, grace, debuggee) = rig.stopped.iter().find(|(node, ..)| *node == child).unwrap();
    assert_eq!(*debuggee, Fate::Lives);
    assert!(grace.as_secs() > 3600, "{grace:?}");
}

#[test]
fn a_member_is_launched_with_what_its_engine_needs() {
    let (mut rig, _tess, root) = Rig::coordinated(setup(), json!({}));
    let types = [("javascript".to_owned(), "pwa-node".to_owned())].into_iter().collect();
    let defaults = json!({"cwd": "/w"}).as_object().unwrap().clone();
    let facts = EngineFacts {
        amendments: Amendments { defaults, types, ..Amendments::default() },
        ..EngineFacts::default()
    };
    let configuration = json!({"name": "web", "type": "javascript", "breakroom": {"token": "t"}});
    let child = member(&mut rig, root, "launch", configuration, facts.clone());
    let launch = rig.got(child, "launch");
    assert_eq!(launch["arguments"], json!({"cwd": "/w", "name": "web", "type": "pwa-node"}));
    // What an engine announces on its own server is in its words.
    let announced = json!({"name": "p", "type": "python", "subProcessId": 7, "connect": {"port": 5678}});
    rig.ask(child, "startDebugging", json!({"request": "attach", "configuration": announced}));
    let grandchild = rig.opened.last().unwrap().0;
    rig.on(Input::NodeUp { node: grandchild, facts });
    let initialize = rig.got(grandchild, "initialize");
    rig.answer(grandchild, &initialize, js_capabilities());
    assert_eq!(rig.got(grandchild, "attach")["arguments"], announced);
}

#[test]
fn a_member_stops_on_entry_by_the_word_of_its_engine() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let word = "stopAtBeginningOfMainSubprogram";
    let facts = facts_with(|facts| facts.starting.entry = EntryStop::Key(word.into()));
    let configuration = json!({"name": "c", "type": "cppdbg", "program": "x", "stopOnEntry": true});
    let child = member(&mut rig, root, "launch", configuration, facts);
    let launch = rig.got(child, "launch");
    assert_eq!(launch["arguments"][word], true);
    rig.answer(child, &launch, json!({}));
    runs(&mut rig, child);
    rig.stop_alone(child, 1, "breakpoint");
    assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "entry");
}

#[test]
fn a_program_that_something_in_it_stops_on_entry_is_told_so_once() {
    let entry = EntryStop::Preload(Preload {
        variable: "OPTIONS".into(),
        option: "--load x".into(),
        program: "ENTRY".into(),
        unless: vec!["port".into()],
        file: "entry.x".into(),
        script: String::new(),
    });
    let kinds = vec!["pwa-node".to_owned()];
    let facts = facts_with(|facts| {
        facts.part = Part::Coordinates;
        facts.starting.entry = entry;
        facts.kinds = kinds;
    });
    let launched = |more: Value| {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        let mut configuration = json!({"name": "c", "type": "js", "program": "x", "stopOnEntry": true});
        configuration.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let child = member(&mut rig, root, "launch", configuration, facts.clone());
        let launch = rig.got(child, "launch");
        (rig, tess, child, launch)
    };
    let asked = |more: Value| launched(more).3["arguments"].clone();
    let both = json!({"OPTIONS": "--load x", "ENTRY": "x"});
    for more in [json!({}), json!({"env": null}), json!({"env": {}})] {
        let told = asked(more);
        assert_eq!((&told["env"], &told["stopOnEntry"]), (&both, &json!(false)), "{told}");
    }
    let told = asked(json!({"env": {"A": "1", "OPTIONS": "-q"}}));
    assert_eq!(told["env"], json!({"A": "1", "OPTIONS": "-q --load x", "ENTRY": "x"}));
    for more in [json!({"port": 1}), json!({"program": null})] {
        let told = asked(more);
        assert!(told.get("env").is_none() && told["stopOnEntry"] == true, "{told}");
    }

    let (mut rig, tess, child, launch) = launched(json!({}));
    rig.answer(child, &launch, json!({}));
    rig.tell(child, "initialized", json!({}));
    for heard in rig.engine_heard(child) {
        rig.answer(child, &heard.json, json!({}));
    }
    let (grandchild, _) = rig.announce_js(child, "a.js");
    rig.child_up(grandchild, js_capabilities());
    runs(&mut rig, grandchild);
    let thread = rig.start_thread(tess, grandchild, 1);
    for (reason, told) in
        [("exception", "exception"), ("pause", "entry"), ("pause", "pause"), ("step", "step")]
    {
        rig.stop_alone(grandchild, 1, reason);
        assert_eq!(rig.event(tess, "stopped")["body"]["reason"], told);
        rig.round_trip(tess, grandchild, "continue", json!({"threadId": thread}), json!({}));
    }
}

#[test]
fn members_that_stop_on_entry_by_the_hubs_own_breakpoint_each_have_theirs() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let python = running(&mut rig, root, "launch", "web");
    let delve = facts_with(|facts| facts.starting.entry = EntryStop::Function("main.main".into()));
    let [one, two] = ["one", "two"].map(|name| {
        let configuration = json!({"name": name, "type": "go", "stopOnEntry": true});
        let child = member(&mut rig, root, "launch", configuration, delve.clone());
        let launch = rig.got(child, "launch");
        assert_eq!(launch["arguments"]["stopOnEntry"], false);
        rig.answer(child, &launch, json!({}));
        rig.tell(child, "initialized", json!({}));
        let list = rig.got(child, "setFunctionBreakpoints");
        assert_eq!(list["arguments"]["breakpoints"], json!([{"name": "main.main"}]));
        rig.answer(child, &list, json!({"breakpoints": [{"id": 5, "verified": true}]}));
        let done = rig.got(child, "configurationDone");
        rig.answer(child, &done, json!({}));
        child
    });
    rig.heard(tess);
    for child in [one, two] {
        rig.tell(
            child,
            "stopped",
            json!({"reason": "function breakpoint", "hitBreakpointIds": [5], "threadId": 1}),
        );
        assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "entry");
        let list = rig.got(child, "setFunctionBreakpoints");
        assert_eq!(list["arguments"]["breakpoints"], json!([]), "it is not wanted any more");
        rig.answer(child, &list, json!({"breakpoints": []}));
    }
    for child in [python, one, two] {
        assert!(!rig.engine_names(child).iter().any(|name| name.contains("setFunctionBreakpoints")));
    }
}

#[test]
fn js_debug_in_a_group_coordinates_there_too() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let list = json!({"source": {"path": "/a.js"}, "breakpoints": [{"line": 3}]});
    rig.request(tess, "setBreakpoints", list);
    let kinds = vec!["pwa-node".to_owned()];
    let facts = EngineFacts { part: Part::Coordinates, kinds, ..EngineFacts::default() };
    let child = member(&mut rig, root, "launch", json!({"name": "web", "type": "javascript"}), facts);
    rig.tell(child, "initialized", json!({}));
    let told = rig.engine_heard(child);
    assert!(!told.iter().any(|heard| heard.json["command"] == "setBreakpoints"));
    told.iter().for_each(|heard| rig.answer(child, &heard.json, json!({})));
    let seq = rig.request(tess, "threads", json!({}));
    assert_eq!(rig.response(tess, seq)["body"]["threads"], json!([]));
    let (grandchild, _) = rig.announce_js(child, "a.js");
    rig.child_up(grandchild, js_capabilities());
    rig.tell(grandchild, "initialized", json!({}));
    rig.got(grandchild, "setBreakpoints");
    rig.request(tess, "evaluate", json!({"expression": "1"}));
    rig.got(grandchild, "evaluate");
}

#[test]
fn an_expression_in_the_console_of_a_groups_gdb_is_a_value() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let facts = facts_with(|facts| facts.expressions.console = Console::Commands);
    let child = member(&mut rig, root, "launch", json!({"name": "c", "type": "cppdbg"}), facts);
    runs(&mut rig, child);
    let thread = rig.start_thread(tess, child, 1);
    rig.stop_alone(child, 1, "breakpoint");
    let frames = json!({"stackFrames": [{"id": 5, "name": "main", "line": 1, "column": 1}]});
    let stack = rig.round_trip(tess, child, "stackTrace", json!({"threadId": thread}), frames);
    let frame = stack["body"]["stackFrames"][0]["id"].clone();
    rig.request(tess, "evaluate", json!({"expression": "a + b", "frameId": frame, "context": "repl"}));
    assert_eq!(rig.got(child, "evaluate")["arguments"]["context"], "watch");
}

#[test]
fn a_member_may_take_its_time_to_start_and_to_build_but_must_answer_initialize() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let configuration = json!({"name": "slow", "type": "go"});
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": configuration}));
    let slow = rig.opened.last().unwrap().0;
    rig.advance(300);
    rig.on(Input::NodeUp { node: slow, facts: EngineFacts::default() });
    let initialize = rig.got(slow, "initialize");
    rig.answer(slow, &initialize, js_capabilities());
    rig.advance(300);
    assert!(rig.stopped.is_empty(), "it builds");
    runs(&mut rig, slow);
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": configuration}));
    let mute = rig.opened.last().unwrap().0;
    rig.on(Input::NodeUp { node: mute, facts: EngineFacts::default() });
    rig.heard(tess);
    rig.advance(60);
    assert_eq!(rig.stopped.iter().map(|(node, ..)| *node).collect::<Vec<_>>(), [mute]);
    let said =
        rig.heard(tess).iter().map(|heard| heard.json["body"]["output"].to_string()).collect::<String>();
    assert!(said.contains("did not answer `initialize`"), "{said}");
}

#[test]
fn a_member_that_attaches_by_an_address_gets_an_engine() {
    let (mut rig, _tess, root) = Rig::coordinated(setup(), json!({}));
    let connect = json!({"host": "127.0.0.1", "port": 5678});
    let configuration = json!({"name": "api", "type": "python", "connect": connect});
    let child = member(&mut rig, root, "attach", configuration.clone(), EngineFacts::default());
    assert_eq!(rig.got(child, "attach")["arguments"], configuration);
}

#[test]
fn a_member_that_is_paused_to_stop_on_entry_is_paused_before_it_is_let_go() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let facts = facts_with(|facts| facts.starting.entry = EntryStop::Pause);
    let configuration = json!({"name": "c", "type": "cmake", "stopOnEntry": true});
    let child = member(&mut rig, root, "launch", configuration, facts.clone());
    rig.tell(child, "initialized", json!({}));
    let asked = rig.engine_names(child);
    let at = |name: &str| asked.iter().position(|asked| asked == name);
    assert!(at("?pause").is_some() && at("?pause") < at("?configurationDone"), "{asked:?}");
    rig.stop_alone(child, 1, "pause");
    assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "entry");
    let free = member(&mut rig, root, "launch", json!({"name": "d", "type": "cmake"}), facts);
    rig.tell(free, "initialized", json!({}));
    assert!(!rig.engine_names(free).contains(&"?pause".to_owned()), "nobody asked for it");
}

#[test]
fn a_member_that_asks_for_it_is_started_again_once_its_engine_is_gone() {
    for bound in [false, true] {
        let launch = json!({"stopAll": bound});
        let (mut rig, tess, root) = Rig::coordinated_with(setup(), launch);
        let child = running(&mut rig, root, "launch", "api");
        rig.tell(root, "terminated", json!({}));
        let opened = rig.opened.len();
        rig.tell(child, "terminated", json!({"restart": {"port": 7}}));
        assert_eq!(rig.opened.len(), opened, "two at once could want the same port");
        let bye = rig.got(child, "disconnect");
        rig.answer(child, &bye, json!({}));
        rig.closes(child);
        assert_eq!(rig.opened.len(), opened + 1);
        let (again, parent, opening) = rig.opened.last().unwrap().clone();
        assert!(parent == root && matches!(opening, Opening::Engine { .. }), "{opening:?}");
        rig.on(Input::NodeUp { node: again, facts: EngineFacts::default() });
        let initialize = rig.got(again, "initialize");
        rig.answer(again, &initialize, js_capabilities());
        let launch = rig.got(again, "launch");
        assert_eq!(launch["arguments"]["__restart"], json!({"port": 7}));
        assert_eq!(launch["arguments"]["name"], "api");
        rig.answer(again, &launch, json!({}));
        runs(&mut rig, again);
        assert!(!rig.names(tess).contains(&"terminated".to_owned()), "the session goes on");
        rig.tell(again, "exited", json!({"exitCode": 0}));
        rig.tell(again, "terminated", json!({}));
        let bye = rig.got(again, "disconnect");
        rig.answer(again, &bye, json!({}));
        rig.closes(again);
        assert!(rig.names(tess).contains(&"terminated".to_owned()));
    }
}

#[test]
fn a_member_that_is_to_be_started_again_is_not_once_the_session_ends() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child = running(&mut rig, root, "launch", "api");
    rig.tell(child, "terminated", json!({"restart": true}));
    rig.request(tess, "disconnect", json!({}));
    let bye = rig.got(child, "disconnect");
    rig.answer(child, &bye, json!({}));
    let opened = rig.opened.len();
    rig.closes(child);
    assert_eq!(rig.opened.len(), opened);
    // What was never begun is called off by the driver at once.
    for (node, ..) in rig.stopped.clone() {
        if node != child && node != root {
            rig.node_ended(node, "called off", "");
        }
    }
    let bye = rig.got(root, "disconnect");
    rig.answer(root, &bye, json!({}));
    rig.closes(root);
    rig.assert_over();
}
