//! Those who only look on, and those who want to know what the others do.

use breakroom_session::CloseReason;
use serde_json::json;

use crate::rig::{Rig, lines};

#[test]
fn an_observer_reads_and_changes_nothing() {
    let (mut rig, tess, _, node) = Rig::shared();
    let owl = rig.bring("Owl", json!({}), json!({"role": "observe"}));
    rig.heard(owl);
    let deeds = [
        "continue",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "reverseContinue",
        "goto",
        "restartFrame",
        "restart",
        "pause",
        "evaluate",
        "setVariable",
        "setExpression",
        "writeMemory",
        "terminate",
        "terminateThreads",
    ];
    for deed in deeds {
        let seq = rig.request(owl, deed, json!({"threadId": 1, "expression": "x"}));
        let (number, text) = rig.refusal(owl, seq);
        assert!(number == 9017 && text.contains("\"role\": \"drive\""), "{deed}: {text}");
    }
    assert!(rig.engine_heard(node).is_empty());
    let answer = rig.round_trip(owl, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": []}));
    assert_eq!(answer["success"], true);
    rig.request(owl, "disconnect", json!({}));
    rig.request(tess, "disconnect", json!({}));
}

/// Every request that an observer may send is in the table, so that a request which the hub learns to know, or never
/// heard of, is refused until somebody decides otherwise.
#[test]
fn an_observer_may_send_what_the_document_says_and_nothing_else() {
    let rows = documented();
    let others =
        ["setDebuggerProperty", "runInTerminal", "breakroom/pass", "breakroom/dance", "vendor/thing"];
    let refused = [("refused", others.map(str::to_owned).to_vec())];
    for (outcome, requests) in rows.iter().map(|(outcome, list)| (&**outcome, list.clone())).chain(refused) {
        for request in requests {
            let (mut rig, _, _, node) = Rig::shared();
            let owl = rig.bring("Owl", json!({}), json!({"role": "observe"}));
            rig.heard(owl);
            let arguments = json!({"threadId": 1, "source": {"path": "x.py"}, "breakpoints": [{"line": 3}]});
            let seq = rig.request(owl, &request, arguments);
            let reached = rig.engine_names(node);
            let answer = rig.has_answer(owl, seq).then(|| rig.response(owl, seq));
            let said = answer.unwrap_or_default();
            let number = said["body"]["error"]["id"].as_i64();
            let fits = match outcome {
                "answered" => number != Some(9017),
                "acknowledged" => reached.is_empty() && said["body"]["breakpoints"][0]["verified"] == false,
                "refused" => reached.is_empty() && number == Some(9017),
                _ => panic!("docs/sharing.md: `{outcome}` is no outcome"),
            };
            assert!(fits, "`{request}` is {outcome} by docs/sharing.md, and it was {said}; {reached:?}");
            if request != "disconnect" {
                assert_eq!(rig.session.describe().observers, ["Owl"], "after `{request}`");
            }
        }
    }
}

/// The table of docs/sharing.md about observers: each outcome with its requests.
fn documented() -> Vec<(String, Vec<String>)> {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sharing.md");
    let text = std::fs::read_to_string(document).unwrap();
    let table = text.lines().skip_while(|line| !line.starts_with("| Request of an observer |"));
    let rows = table.take_while(|line| line.starts_with('|')).skip(2).map(|line| {
        let mut cells = line.trim_matches('|').split('|');
        let names = cells.next().unwrap().split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (
            cells.next().unwrap().split_whitespace().next().unwrap().trim_matches([',', ';', '.']).to_owned(),
            names,
        )
    });
    let rows: Vec<(String, Vec<String>)> = rows.collect();
    assert!(rows.iter().map(|(_, names)| names.len()).sum::<usize>() > 30, "the table is there: {rows:?}");
    rows
}

#[test]
fn a_launch_or_an_attach_that_is_refused_changes_no_role() {
    let (mut rig, _, bob, node) = Rig::shared();
    let owl = rig.bring("Owl", json!({}), json!({"role": "observe"}));
    rig.heard(owl);
    for (client, command, role) in
        [(owl, "attach", "drive"), (owl, "launch", "drive"), (bob, "attach", "observe")]
    {
        let own = json!({"role": role, "onLastLeave": "terminate"});
        let seq = rig.request(client, command, json!({"program": "x.py", "breakroom": own}));
        assert_eq!(rig.response(client, seq)["success"], false, "{command}");
        assert_eq!(rig.session.describe().observers, ["Owl"], "after `{command}`");
    }
    let seq = rig.request(owl, "continue", json!({"threadId": 1}));
    assert_eq!(rig.refusal(owl, seq).0, 9017);
    let seq = rig.request(bob, "continue", json!({"threadId": 1}));
    assert_eq!(rig.engine_names(node), ["?continue"]);
    assert!(!rig.has_answer(bob, seq));
}

#[test]
fn an_observers_breakpoints_are_acknowledged_unverified_and_go_no_further() {
    let (mut rig, tess, _, node) = Rig::shared();
    let owl = rig.bring("Owl", json!({}), json!({"role": "observe"}));
    rig.heard(owl);
    let list = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3}, {"line": 4}]});
    let old = json!({"source": {"path": "x.py"}, "lines": [3]});
    for (arguments, count) in [(list, 2), (old, 1)] {
        let seq = rig.request(owl, "setBreakpoints", arguments);
        let answer = rig.response(owl, seq);
        let listed = answer["body"]["breakpoints"].as_array().unwrap();
        assert!(listed.len() == count && listed.iter().all(|each| each["verified"] == false), "{answer}");
    }
    for command in ["setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints"] {
        let seq = rig.request(owl, command, json!({"breakpoints": [], "filters": ["raised"]}));
        assert_eq!(rig.response(owl, seq)["success"], true);
    }
    assert!(rig.engine_heard(node).is_empty());
    rig.set_lines(tess, node, &[5]);
    let seq = rig.request(owl, "breakroom/breakpoints", json!({}));
    assert_eq!(lines(&rig.response(owl, seq)), [5]);
}

#[test]
fn what_one_set_before_it_said_that_it_only_observes_is_taken_back() {
    let (mut rig, tess, _, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    let owl = rig.join_late();
    rig.request(owl, "initialize", json!({"adapterID": "python"}));
    rig.set_lines(owl, node, &[4]);
    rig.request(owl, "attach", json!({"breakroom": {"role": "observe"}}));
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [3]);
}

#[test]
fn observers_do_not_keep_a_session_that_its_last_driver_ends() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let owl = rig.bring("Owl", json!({}), json!({"role": "observe"}));
    rig.heard(owl);
    let described = rig.session.describe();
    assert_eq!((described.clients.len(), described.observers), (3, vec!["Owl".to_owned()]));
    rig.request(tess, "disconnect", json!({}));
    assert!(rig.engine_heard(node).is_empty(), "another driver is there");
    rig.request(bob, "disconnect", json!({}));
    let request = rig.got(node, "disconnect");
    rig.answer(node, &request, json!({}));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(rig.names(owl), ["terminated"]);
    rig.request(owl, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_observer_leaves_alone_whatever_it_says_about_the_debuggee() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let owl = rig.bring("Owl", json!({}), json!({"role": "observe"}));
    let owls = rig.bring("Owls", json!({}), json!({"role": "observe"}));
    rig.request(owl, "disconnect", json!({"terminateDebuggee": true}));
    assert_eq!(rig.closed(owl), Some(&CloseReason::Disconnected));
    rig.lose(tess);
    rig.lose(bob);
    rig.request(owls, "pause", json!({"threadId": 1}));
    assert!(rig.engine_heard(node).is_empty() && rig.stopped.is_empty(), "a lost driver ends nothing");
    rig.finish(owls, node);
}

#[test]
fn what_others_do_is_told_to_those_who_asked_and_to_nobody_else() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let curious = rig.bring("Carl", json!({}), json!({"events": true}));
    rig.heard(curious);
    rig.request(tess, "evaluate", json!({"expression": "x + 1", "context": "repl"}));
    let told = rig.event(curious, "breakroom/activity")["body"].clone();
    assert_eq!(
        told,
        json!({"client": "Tess", "deed": "evaluated", "command": "evaluate", "expression": "x + 1"})
    );
    rig.request(bob, "setVariable", json!({"name": "n", "value": "2"}));
    let told = rig.event(curious, "breakroom/activity")["body"].clone();
    assert_eq!(
        told,
        json!({"client": "Bob", "deed": "set a variable", "command": "setVariable", "name": "n", "value": "2"})
    );
    rig.round_trip(tess, node, "next", json!({"threadId": 1}), json!({}));
    let told = rig.event(curious, "breakroom/activity")["body"].clone();
    assert_eq!(told, json!({"client": "Tess", "deed": "stepped", "command": "next", "threadId": 1}));
    rig.event(curious, "continued");
    rig.stop(node, 1);
    rig.event(curious, "stopped");
    rig.round_trip(curious, node, "continue", json!({"threadId": 1}), json!({}));
    assert!(rig.heard(curious).is_empty(), "nobody is told of its own deeds");
    for client in [tess, bob] {
        let names = rig.names(client);
        assert!(names.iter().all(|name| !name.starts_with("breakroom/")), "{names:?}");
    }
}

/// Leaving is no deed; leaving nothing behind for those who stay is.
#[test]
fn whoever_ends_the_session_for_others_is_named_to_them() {
    for (parting, who_stays) in [
        (json!({}), "observe"),
        (json!({"terminateDebuggee": true}), "observe"),
        // Beside one who drives only the client that launched it may.
        (json!({"terminateDebuggee": true}), "drive"),
    ] {
        let (mut rig, tess, bob, _) = Rig::shared();
        let owl = rig.bring("Owl", json!({}), json!({"role": who_stays, "events": true}));
        rig.heard(owl);
        let (leaves, ends, name) =
            if who_stays == "drive" { (bob, tess, "Tess") } else { (tess, bob, "Bob") };
        rig.request(leaves, "disconnect", json!({}));
        rig.request(ends, "disconnect", parting.clone());
        let told: Vec<_> = rig.heard(owl).into_iter().map(|heard| heard.json["body"].clone()).collect();
        let end = json!({"client": name, "deed": "ended the session", "command": "disconnect"});
        assert!(told.contains(&end), "{parting} beside one to {who_stays}: {told:?}");
        assert!(!told.iter().any(|told| told["client"] != name && told["deed"] != "left"), "{told:?}");
    }
    // One who drives keeps it, and nobody has ended anything.
    let (mut rig, tess, bob, _) = Rig::shared();
    let curious = rig.bring("Carl", json!({}), json!({"events": true}));
    rig.request(tess, "disconnect", json!({}));
    rig.heard(curious);
    rig.request(bob, "disconnect", json!({"terminateDebuggee": false}));
    let told = rig.heard(curious);
    assert!(told.iter().all(|told| told.json["body"]["deed"] != "ended the session"), "{told:?}");
}

#[test]
fn a_resume_that_was_refused_is_no_deed() {
    let (mut rig, tess, bob, _) = Rig::shared();
    let curious = rig.bring("Carl", json!({}), json!({"events": true}));
    rig.request(tess, "next", json!({"threadId": 1}));
    rig.heard(curious);
    rig.request(bob, "next", json!({"threadId": 1}));
    assert!(rig.heard(curious).is_empty());
}

#[test]
fn who_comes_goes_or_is_lost_is_told_to_those_who_asked() {
    let (mut rig, tess, bob, _) = Rig::shared();
    let agent = rig.bring("Agent", json!({}), json!({"events": true}));
    rig.heard(agent);
    let late = rig.bring("Late", json!({}), json!({}));
    rig.request(late, "disconnect", json!({}));
    rig.on(breakroom_session::Input::ClientLeft { client: late });
    rig.lose(bob);
    let told: Vec<_> = rig.heard(agent).into_iter().map(|heard| heard.json["body"].clone()).collect();
    let expected = [("Late", "joined"), ("Late", "left"), ("Bob", "was lost")];
    assert_eq!(told, expected.map(|(client, deed)| json!({"client": client, "deed": deed})));
    assert!(!rig.names(tess).contains(&"breakroom/activity".into()));
}
