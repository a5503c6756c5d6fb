//! Engines that would let a stopped program run on when they are asked to end it: it is killed before they hear of it.

use breakroom_session::habits::{Part, ProgramEnd, Wished, WishedEnd};
use breakroom_session::{ClientId, Fate, Input, NodeId, Setup};
use serde_json::{Value, json};

use super::super::rig::{Rig, capabilities, setup};
use super::members::{member, runs};
use super::stage::{ID, facts, js_capabilities, opens, shared_setup};
use crate::engines::{changed, facts_with};

fn launched(part: Part, end: ProgramEnd) -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::with(setup());
    let (tess, root) = rig.launch_with(
        changed(facts(part), |facts| facts.ending.program = end),
        js_capabilities(),
        json!({}),
    );
    (rig, tess, root)
}

#[test]
fn neither_the_root_nor_a_child_hears_of_the_end_before_the_programs_are_killed() {
    for arguments in [json!({}), json!({"terminateDebuggee": true})] {
        let (mut rig, tess, root) = launched(Part::Coordinates, ProgramEnd::KillPrograms);
        let (child, _) = rig.js_child(tess, root, "t.js");
        rig.tell(child, "stopped", json!({"threadId": 0, "reason": "breakpoint"}));
        rig.heard(tess);
        rig.request(tess, "disconnect", arguments);
        assert_eq!(rig.killed, [(root, false)]);
        assert!(rig.engine_names(root).is_empty() && rig.engine_names(child).is_empty());
        rig.on(Input::ProgramsKilled { node: root });
        rig.both_let_go(child, root);
    }
}

#[test]
fn a_child_that_is_announced_while_programs_are_killed_is_not_let_run() {
    let mut rig = Rig::with(setup());
    let engine = changed(facts(Part::Debugs), |facts| facts.ending.program = ProgramEnd::KillPrograms);
    let (tess, root) = rig.launch_with(engine, capabilities(), json!({}));
    rig.stop_alone(root, 1, "breakpoint");
    rig.request(tess, "terminate", json!({}));
    assert_eq!(rig.killed, [(root, false)]);
    let (late, _) = rig.announce_python(root, 7);
    rig.on(Input::NodeUp { node: late, facts: facts(Part::Debugs) });
    assert!(rig.engine_names(late).is_empty(), "it would be started");
    rig.on(Input::ProgramsKilled { node: root });
    rig.got(late, "initialize");
}

#[test]
fn the_end_of_an_engine_that_is_its_program_answers_who_asked_for_it() {
    for command in ["disconnect", "terminate"] {
        let (mut rig, tess, root) = launched(Part::Debugs, ProgramEnd::KillAll);
        rig.stop_alone(root, 1, "breakpoint");
        rig.heard(tess);
        let asked = rig.request(tess, command, json!({}));
        assert_eq!(rig.killed, [(root, true)]);
        assert!(rig.engine_names(root).is_empty(), "it would go on");
        rig.node_ended(root, "signal 9 (SIGKILL)", "");
        assert_eq!(rig.response(tess, asked)["success"], true);
        if command == "terminate" {
            rig.request(tess, "disconnect", json!({}));
        }
        rig.assert_over();
    }
}

#[test]
fn a_program_that_is_to_live_and_one_that_has_ended_are_not_killed() {
    let (mut rig, tess, root) = launched(Part::Debugs, ProgramEnd::KillPrograms);
    rig.stop_alone(root, 1, "breakpoint");
    rig.request(tess, "disconnect", json!({"terminateDebuggee": false}));
    assert!(rig.killed.is_empty());
    rig.got(root, "disconnect");

    let (mut rig, tess, root) = launched(Part::Debugs, ProgramEnd::KillPrograms);
    rig.tell(root, "exited", json!({"exitCode": 0}));
    rig.tell(root, "terminated", json!({}));
    rig.request(tess, "disconnect", json!({}));
    assert!(rig.killed.is_empty());
    rig.got(root, "disconnect");
}

/// An engine whose launch says how its program is to be ended.
fn wished(word: &str) -> (Rig, ClientId, NodeId) {
    wished_by(setup(), json!({}), word)
}

fn wished_by(setup: Setup, declared: Value, word: &str) -> (Rig, ClientId, NodeId) {
    let means = [("hard", WishedEnd::Kill), ("soft", WishedEnd::Ask), ("not", WishedEnd::Spare)];
    let means = means.into_iter().map(|(word, end)| (word.to_owned(), end)).collect();
    let mut rig = Rig::with(setup);
    let engine = changed(facts(Part::Coordinates), |facts| {
        facts.ending.program = ProgramEnd::KillPrograms;
        facts.ending.wished = Some(Wished { key: "end".to_owned(), means });
    });
    let (tess, root) = rig.launch_as(engine, js_capabilities(), declared, json!({"end": word}));
    (rig, tess, root)
}

#[test]
fn a_launch_says_how_its_program_is_ended_whoever_ends_it() {
    let ends = [
        ("disconnect", json!({})),
        ("disconnect", json!({"terminateDebuggee": true})),
        ("terminate", json!({})),
        ("shutdown", json!({})),
    ];
    for (command, arguments) in ends {
        for (word, stands) in
            [("hard", true), ("hard", false), ("soft", true), ("soft", false), ("not", true)]
        {
            let (mut rig, tess, root) = wished(word);
            let (child, _) = rig.js_child(tess, root, "t.js");
            if stands {
                rig.tell(child, "stopped", json!({"threadId": 0, "reason": "breakpoint"}));
            }
            rig.heard(tess);
            let case = format!("{word} {command} {arguments} {stands}");
            match command {
                "shutdown" => rig.on(Input::Shutdown { reason: "the hub goes".to_owned() }),
                _ => drop(rig.request(tess, command, arguments.clone())),
            }
            let signalled = Vec::from_iter((word != "not").then_some((root, false)));
            let (killed, asked) = if word == "hard" { (signalled, vec![]) } else { (vec![], signalled) };
            assert_eq!((&rig.killed, &rig.asked_to_go), (&killed, &asked), "{case}");
            if word != "not" {
                rig.on(Input::ProgramsKilled { node: root });
            }
            let disconnect = rig.got(child, "disconnect");
            assert_eq!(disconnect["arguments"]["terminateDebuggee"], word == "hard", "{case}");
            rig.advance(20);
            let fates: Vec<Fate> =
                rig.stopped.iter().filter(|(node, ..)| *node == root).map(|(.., fate)| *fate).collect();
            assert_eq!(fates, [if word == "hard" { Fate::Ends } else { Fate::Lives }], "{case}");
        }
    }
}

#[test]
fn a_child_whose_program_is_to_be_left_alone_is_only_left_by_its_own_client() {
    for (command, arguments) in [("disconnect", json!({"terminateDebuggee": true})), ("terminate", json!({}))]
    {
        let (mut rig, _, root) = wished_by(shared_setup(), opens(), "not");
        let (child, _) = rig.announce_js(root, "t.js");
        rig.child_runs(child);
        let own = rig.visitor("Own", json!({}), json!({"session": ID, "node": child.0}));
        rig.engine_heard(child);
        rig.request(own, command, arguments);
        assert!(rig.killed.is_empty() && rig.asked_to_go.is_empty(), "{command}");
        assert_eq!(rig.got(child, "disconnect")["arguments"]["terminateDebuggee"], false, "{command}");
    }
}

/// js-debug answers when the program has ended, and a server never does.
#[test]
fn whoever_ends_a_session_whose_program_lives_on_hears_soon_that_it_is_over() {
    let (mut rig, tess, root) = wished("not");
    rig.js_child(tess, root, "t.js");
    rig.heard(tess);
    rig.request(tess, "terminate", json!({}));
    rig.advance(20);
    let names = rig.names(tess);
    let count = |name: &str| names.iter().filter(|heard| *heard == name).count();
    assert_eq!((count("+terminate"), count("terminated")), (1, 1), "{names:?}");
}

#[test]
fn what_the_guard_does_without_the_hub_is_as_the_launch_says() {
    for (word, guarded, spared) in
        [("hard", true, false), ("soft", false, false), ("not", false, true), ("?", true, false)]
    {
        let (rig, _, root) = wished(word);
        assert_eq!(rig.guarded, Vec::from_iter(guarded.then_some((root, false))), "{word}");
        assert_eq!(rig.spared, Vec::from_iter(spared.then_some(root)), "{word}");
    }
}

#[test]
fn a_session_that_is_ended_by_hand_ends_its_program_whatever_its_launch_says() {
    let (mut rig, tess, root) = wished("not");
    let (child, _) = rig.js_child(tess, root, "t.js");
    rig.tell(child, "stopped", json!({"threadId": 0, "reason": "breakpoint"}));
    rig.on(Input::Killed { reason: "by hand".to_owned() });
    assert_eq!(rig.killed, [(root, false)]);
}

#[test]
fn a_restart_kills_first_and_closes_no_connection_before_that() {
    let (mut rig, tess, root) = launched(Part::Coordinates, ProgramEnd::KillPrograms);
    let (child, _) = rig.js_child(tess, root, "t.js");
    rig.tell(child, "stopped", json!({"threadId": 0, "reason": "breakpoint"}));
    rig.heard(tess);
    rig.request(tess, "restart", json!({}));
    assert_eq!(rig.killed, [(root, false)]);
    assert!(rig.stopped.is_empty(), "a connection that is closed lets the program go");
    rig.on(Input::ProgramsKilled { node: root });
    let stopped: Vec<_> = rig.stopped.iter().map(|(node, ..)| *node).collect();
    assert_eq!(stopped, [child, root]);
}

/// A member of a group, of an engine that would let its program run on, stopped.
fn stopped_member(rig: &mut Rig, root: NodeId, request: &str) -> NodeId {
    let engine = facts_with(|facts| facts.ending.program = ProgramEnd::KillPrograms);
    let child = member(rig, root, request, json!({"name": "api", "type": "java"}), engine);
    runs(rig, child);
    rig.stop_alone(child, 1, "breakpoint");
    child
}

#[test]
fn a_restart_of_a_group_kills_the_members_that_are_stopped() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let child = stopped_member(&mut rig, root, "launch");
    rig.heard(tess);
    rig.request(tess, "restart", json!({}));
    assert_eq!(rig.killed, [(child, false)]);
    assert!(rig.asked_to_go.is_empty(), "a program that handles the signal would run on");
    assert!(rig.engine_names(child).is_empty(), "it would go on");
}

#[test]
fn what_was_attached_to_is_never_killed() {
    let mut rig = Rig::with(setup());
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"adapterID": "python"}));
    let root = rig.started[0].0;
    rig.node_up_with(
        root,
        changed(facts(Part::Debugs), |facts| facts.ending.program = ProgramEnd::KillPrograms),
    );
    let initialize = rig.got(root, "initialize");
    rig.answer(root, &initialize, js_capabilities());
    rig.start(tess, root, "attach");
    rig.stop_alone(root, 1, "breakpoint");
    rig.request(tess, "disconnect", json!({"terminateDebuggee": true}));
    assert!(rig.killed.is_empty() && rig.asked_to_go.is_empty());
    rig.got(root, "disconnect");

    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let attached = stopped_member(&mut rig, root, "attach");
    let launched = stopped_member(&mut rig, root, "launch");
    rig.request(tess, "disconnect", json!({}));
    assert_eq!(rig.killed, [(launched, false)]);
    assert_eq!(rig.got(attached, "disconnect")["arguments"]["terminateDebuggee"], false);
}

#[test]
fn a_guard_that_says_nothing_keeps_neither_the_end_nor_a_restart() {
    for command in ["disconnect", "restart"] {
        let (mut rig, tess, root) = launched(Part::Coordinates, ProgramEnd::KillPrograms);
        let (child, _) = rig.js_child(tess, root, "t.js");
        rig.stop_alone(child, 0, "breakpoint");
        rig.heard(tess);
        rig.request(tess, command, json!({}));
        assert_eq!(rig.killed, [(root, false)]);
        assert!(rig.engine_names(root).is_empty() && rig.stopped.is_empty());
        rig.advance(2);
        if command == "disconnect" {
            for node in [child, root] {
                let bye = rig.got(node, "disconnect");
                rig.answer(node, &bye, json!({}));
            }
        }
        let stopped: Vec<_> = rig.stopped.iter().map(|(node, ..)| *node).collect();
        assert_eq!(stopped, [child, root], "{command}");
        rig.on(Input::ProgramsKilled { node: root });
        assert_eq!(rig.stopped.len(), 2, "{command}: what comes late changes nothing");
    }
}

#[test]
fn a_member_that_its_own_client_ends_is_killed_first_too() {
    for (command, arguments) in [("disconnect", json!({"terminateDebuggee": true})), ("terminate", json!({}))]
    {
        let (mut rig, tess, root) = Rig::coordinated(shared_setup(), opens());
        let child = stopped_member(&mut rig, root, "launch");
        rig.heard(tess);
        let own = rig.visitor("Own", json!({}), json!({"session": ID, "node": child.0}));
        rig.engine_heard(child);
        rig.request(own, command, arguments);
        assert_eq!(rig.killed, [(child, false)], "{command}");
        assert!(rig.engine_names(child).is_empty(), "{command}: it would go on");
        rig.on(Input::ProgramsKilled { node: child });
        rig.got(child, "disconnect");
    }
}

#[test]
fn a_program_that_runs_is_asked_to_go_and_not_killed() {
    let (mut rig, tess, root) = launched(Part::Coordinates, ProgramEnd::KillPrograms);
    let (child, _) = rig.js_child(tess, root, "server.js");
    rig.request(tess, "disconnect", json!({}));
    assert!(rig.killed.is_empty(), "its handlers would not run");
    assert_eq!(rig.asked_to_go, [(root, false)]);
    assert!(rig.engine_names(child).is_empty(), "the engine would kill it");
    rig.on(Input::ProgramsKilled { node: root });
    rig.got(child, "disconnect");
}

#[test]
fn what_is_to_be_ended_by_its_engine_is_not_signalled_at_all() {
    for stops in [true, false] {
        let engine = changed(facts(Part::Coordinates), |facts| {
            facts.ending.program = ProgramEnd::KillPrograms;
            facts.ending.asked = vec!["pwa-node".into()];
        });
        let mut rig = Rig::with(setup());
        let (tess, root) = rig.launch_with(engine, js_capabilities(), json!({}));
        let (child, _) = rig.js_child(tess, root, "page");
        if stops {
            rig.stop_alone(child, 0, "breakpoint");
        }
        rig.request(tess, "disconnect", json!({}));
        assert!(rig.killed.is_empty() && rig.asked_to_go.is_empty());
        rig.got(child, "disconnect");
    }
}

/// Nobody could tell it later: the hub may be lost at any moment.
#[test]
fn a_guard_is_told_with_the_launch_whom_to_kill_should_the_hub_be_lost() {
    for (end, guarded) in [
        (ProgramEnd::Asked, None),
        (ProgramEnd::KillPrograms, Some(false)),
        (ProgramEnd::KillAll, Some(true)),
    ] {
        let (rig, _, root) = launched(Part::Debugs, end);
        assert_eq!(rig.guarded, Vec::from_iter(guarded.map(|whole| (root, whole))), "{end:?}");
    }
    let end_asked = vec!["pwa-node".into()];
    let engine = changed(facts(Part::Coordinates), |facts| {
        facts.ending.program = ProgramEnd::KillPrograms;
        facts.ending.asked = end_asked;
    });
    let mut rig = Rig::with(setup());
    rig.launch_with(engine, js_capabilities(), json!({}));
    assert!(rig.guarded.is_empty(), "a browser tidies up behind itself");

    let (mut rig, _, root) = Rig::coordinated(setup(), json!({}));
    stopped_member(&mut rig, root, "attach");
    assert!(rig.guarded.is_empty(), "it is not ours");
    let launched = stopped_member(&mut rig, root, "launch");
    assert_eq!(rig.guarded, [(launched, false)]);
}
