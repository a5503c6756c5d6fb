//! Breakpoints of several owners in one engine.

use breakroom_session::habits::Part;
use breakroom_session::{ClientId, EngineFacts, FileId, Input, NodeId};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities, ids, lines, setup};

#[test]
fn the_engine_is_told_the_union_and_each_owner_hears_of_its_own_in_its_own_order() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let mine = rig.set_lines(tess, node, &[9, 3]);
    assert_eq!((lines(&mine), ids(&mine)), (vec![9, 3], vec![1, 2]));
    let seq = rig.ask_lines(bob, &[5, 3]);
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(lines(&request), [9, 3, 5], "what both want is told once");
    rig.agree(node, &request);
    let theirs = rig.response(bob, seq);
    assert_eq!((lines(&theirs), ids(&theirs)), (vec![5, 3], vec![1, 2]));
    let mine = rig.set_lines(tess, node, &[3, 4]);
    assert_eq!((lines(&mine), ids(&mine)), (vec![3, 4], vec![2, 3]), "a number stays with its place");
    let seq = rig.ask_lines(tess, &[]);
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(lines(&request), [5, 3], "one owner's empty list does not wipe the other's");
    rig.agree(node, &request);
    assert_eq!(lines(&rig.response(tess, seq)), [] as [i64; 0]);
}

#[test]
fn a_list_that_changes_nothing_is_not_told_again() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3, 4]);
    let seq = rig.ask_lines(tess, &[3, 4]);
    assert_eq!(ids(&rig.response(tess, seq)), [1, 2]);
    let seq = rig.ask_lines(tess, &[4, 3]);
    assert_eq!(ids(&rig.response(tess, seq)), [2, 1], "nor is another order");
    let seq = rig.ask_lines(bob, &[4]);
    let theirs = rig.response(bob, seq);
    assert_eq!((lines(&theirs), ids(&theirs)), (vec![4], vec![1]));
    assert_eq!(theirs["body"]["breakpoints"][0]["verified"], true);
    let functions = json!({"breakpoints": []});
    rig.round_trip(tess, node, "setFunctionBreakpoints", functions.clone(), functions.clone());
    let seq = rig.request(bob, "setFunctionBreakpoints", functions);
    assert_eq!(rig.response(bob, seq)["body"], json!({"breakpoints": []}));
    assert!(rig.engine_heard(node).is_empty());
    let modified = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 4}], "sourceModified": true});
    rig.request(bob, "setBreakpoints", modified);
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [4, 3], "unless the source was modified");
}

#[test]
fn differing_terms_at_one_place_become_one_breakpoint_without_any() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let with = |term: &str| json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3, "condition": term, "vendor": 1}]});
    let seq = rig.request(tess, "setBreakpoints", with("a"));
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(request["arguments"], with("a"), "a sole owner is told in its own words");
    rig.agree(node, &request);
    rig.response(tess, seq);
    let seq = rig.request(bob, "setBreakpoints", with("a"));
    rig.response(bob, seq);
    assert!(rig.engine_heard(node).is_empty(), "identical specs share one breakpoint");
    rig.request(bob, "setBreakpoints", with("b"));
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(request["arguments"]["breakpoints"], json!([{"line": 3, "vendor": 1}]));
}

#[test]
fn the_old_list_of_lines_is_understood_and_does_not_contradict_the_union() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    let seq = rig.request(bob, "setBreakpoints", json!({"source": {"path": "x.py"}, "lines": [5, 3]}));
    let request = rig.got(node, "setBreakpoints");
    assert_eq!((lines(&request), &request["arguments"]["lines"]), (vec![3, 5], &json!([])));
    rig.agree(node, &request);
    let theirs = rig.response(bob, seq);
    assert_eq!((lines(&theirs), ids(&theirs)), (vec![5, 3], vec![1, 2]));
}

#[test]
fn one_file_is_one_source_however_it_is_spelled() {
    // Both spellings are one file; anything else has no identity.
    fn identify(path: &str) -> Option<FileId> {
        path.ends_with("same.py").then_some(FileId { device: 1, inode: 7 })
    }
    let (mut rig, tess, bob, node) = shared_where(identify);
    let set = |path: &str, line: i64| json!({"source": {"path": path}, "breakpoints": [{"line": line}]});
    for (client, path, line, union) in [
        (tess, "/a/same.py", 3, vec![3]),
        (bob, "/link/same.py", 4, vec![3, 4]),
        (bob, "/a/other.py", 5, vec![5]),
        (tess, "//a/./b/../other.py", 6, vec![5, 6]),
    ] {
        rig.request(client, "setBreakpoints", set(path, line));
        let request = rig.got(node, "setBreakpoints");
        assert_eq!(lines(&request), union, "{path}");
        let told = request["arguments"]["source"]["path"].as_str().unwrap();
        assert_ne!(told, "/link/same.py", "the engine hears of one file under one name");
        rig.agree(node, &request);
    }
    // Each sees its own spelling, in answers and in what is told.
    let frames =
        json!({"stackFrames": [{"id": 1, "name": "f", "line": 3, "source": {"path": "/a/same.py"}}]});
    for (client, path) in [(tess, "/a/same.py"), (bob, "/link/same.py")] {
        let seq = rig.request(client, "stackTrace", json!({"threadId": 1, "levels": client.0}));
        let request = rig.got(node, "stackTrace");
        rig.answer(node, &request, frames.clone());
        let source = &rig.response(client, seq)["body"]["stackFrames"][0]["source"];
        assert_eq!(source["path"], path);
    }
    rig.tell(node, "output", json!({"output": "x", "source": {"path": "/a/same.py"}}));
    assert_eq!(rig.event(bob, "output")["body"]["source"]["path"], "/link/same.py");
    let seq = rig.request(bob, "source", json!({"source": {"path": "/link/same.py"}, "sourceReference": 0}));
    let request = rig.got(node, "source");
    assert_eq!(request["arguments"]["source"]["path"], "/a/same.py", "and the engine the one it was told");
    rig.answer(node, &request, json!({"content": ""}));
    rig.response(bob, seq);
    // A text that only the engine has is known by its number, whatever its name.
    let text = json!({"source": {"sourceReference": 9, "name": "same.py"}, "breakpoints": [{"line": 6}]});
    rig.request(bob, "setBreakpoints", text);
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [6]);
}

#[test]
fn answers_that_are_short_empty_or_without_ids_still_give_each_owner_a_whole_list() {
    let all: Vec<Value> = [3, 4, 5].iter().map(|line| json!({"line": line, "verified": true})).collect();
    for (answer, verified) in [
        (json!({"breakpoints": []}), [false, false]),
        (json!({}), [false, false]),
        (json!({"breakpoints": [{"id": 8, "verified": true, "line": 5}]}), [true, false]),
        (json!({ "breakpoints": all }), [true, true]),
    ] {
        let (mut rig, tess, bob, node) = Rig::shared();
        rig.set_lines(tess, node, &[3]);
        let seq = rig.ask_lines(bob, &[5, 4]);
        let request = rig.got(node, "setBreakpoints");
        rig.answer(node, &request, answer.clone());
        let theirs = rig.response(bob, seq);
        let listed = theirs["body"]["breakpoints"].as_array().unwrap();
        assert_eq!(ids(&theirs), [1, 2], "{answer}");
        let said: Vec<_> = listed.iter().map(|each| each["verified"] == true).collect();
        assert_eq!(said, verified, "{answer}");
    }
}

#[test]
fn each_owner_hears_of_its_breakpoints_under_its_own_number_and_of_nobody_elses() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    rig.set_lines(bob, node, &[4, 3]);
    rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": {"id": 103, "verified": true}}));
    assert_eq!(rig.event(tess, "breakpoint")["body"]["breakpoint"]["id"], 1);
    assert_eq!(rig.event(bob, "breakpoint")["body"]["breakpoint"]["id"], 2);
    rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": {"id": 104, "verified": true}}));
    assert_eq!(rig.event(bob, "breakpoint")["body"]["breakpoint"]["id"], 1);
    assert!(rig.heard(tess).is_empty());
}

#[test]
fn what_nobody_set_is_news_for_everybody_also_without_a_number() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    for id in [json!(50), Value::Null] {
        let mut breakpoint = json!({"verified": true, "line": 77});
        if !id.is_null() {
            breakpoint["id"] = id.clone();
        }
        rig.tell(node, "breakpoint", json!({"reason": "new", "breakpoint": breakpoint}));
        for client in [tess, bob] {
            let told = rig.event(client, "breakpoint")["body"]["breakpoint"].clone();
            assert_eq!(told["line"], 77);
            assert_eq!(told.get("id").is_some(), !id.is_null());
        }
    }
}

#[test]
fn an_engine_that_changes_its_numbers_is_understood_by_the_place_in_the_right_source() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    let other = json!({"source": {"path": "y.py"}, "breakpoints": [{"line": 9}, {"line": 3}]});
    rig.request(bob, "setBreakpoints", other);
    let request = rig.got(node, "setBreakpoints");
    rig.answer(
        node,
        &request,
        json!({"breakpoints": [{"id": 209, "verified": false}, {"id": 203, "verified": false}]}),
    );
    rig.heard(bob);
    let moved = json!({"id": 900, "verified": true, "line": 3, "source": {"path": "y.py"}});
    rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": moved}));
    assert_eq!(rig.event(bob, "breakpoint")["body"]["breakpoint"]["id"], 2);
    assert!(rig.heard(tess).is_empty(), "its line 3 is in another source");
    rig.tell(
        node,
        "breakpoint",
        json!({"reason": "changed", "breakpoint": {"id": 901, "verified": true, "line": 9}}),
    );
    assert_eq!(rig.event(bob, "breakpoint")["body"]["breakpoint"]["id"], 1, "only one source has a line 9");
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.tell(node, "stopped", json!({"reason": "x", "threadId": 2, "hitBreakpointIds": [900]}));
    assert_eq!(rig.event(bob, "stopped")["body"]["hitBreakpointIds"], json!([2]));
    assert_eq!(rig.event(tess, "stopped")["body"]["hitBreakpointIds"], json!([]));
}

#[test]
fn a_breakpoint_that_the_engine_removed_is_told_again_when_somebody_wants_it() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3, 4]);
    rig.tell(node, "breakpoint", json!({"reason": "removed", "breakpoint": {"id": 103}}));
    assert_eq!(rig.event(tess, "breakpoint")["body"]["breakpoint"]["id"], 1);
    rig.ask_lines(bob, &[3]);
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [3, 4]);
}

#[test]
fn the_breakpoints_that_were_hit_have_each_clients_own_numbers() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3, 4]);
    rig.set_lines(bob, node, &[4]);
    let carl = rig.bring("Carl", json!({}), json!({}));
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.heard(carl);
    let hit = json!({"reason": "breakpoint", "threadId": 2, "hitBreakpointIds": [104]});
    rig.tell(node, "stopped", hit);
    for (client, numbers) in [(tess, json!([2])), (bob, json!([1])), (carl, json!([]))] {
        assert_eq!(rig.event(client, "stopped")["body"]["hitBreakpointIds"], numbers);
    }
}

#[test]
fn an_owner_that_leaves_takes_only_its_own_with_it() {
    for lost in [true, false] {
        let (mut rig, tess, bob, node) = Rig::shared();
        rig.set_lines(tess, node, &[3, 4]);
        rig.set_lines(bob, node, &[4, 5]);
        if lost {
            rig.lose(tess);
        } else {
            rig.request(tess, "disconnect", json!({}));
        }
        let request = rig.got(node, "setBreakpoints");
        assert_eq!(lines(&request), [4, 5]);
        rig.agree(node, &request);
        assert!(rig.heard(bob).is_empty());
        rig.finish(bob, node);
    }
}

#[test]
fn an_owner_that_leaves_while_a_telling_is_under_way_is_taken_out_behind_it() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    let seq = rig.ask_lines(bob, &[4]);
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(lines(&request), [3, 4]);
    rig.lose(tess);
    assert!(rig.engine_heard(node).is_empty(), "one telling at a time");
    rig.agree(node, &request);
    assert_eq!(lines(&rig.response(bob, seq)), [4]);
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(lines(&request), [4]);
    rig.agree(node, &request);
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn what_is_asked_while_a_telling_is_under_way_is_told_as_one_and_answered_each() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let first = rig.ask_lines(tess, &[3]);
    let request = rig.got(node, "setBreakpoints");
    let second = rig.ask_lines(tess, &[5, 6]);
    let third = rig.ask_lines(bob, &[6, 7]);
    assert!(rig.engine_heard(node).is_empty());
    rig.agree(node, &request);
    assert_eq!(lines(&rig.response(tess, first)), [3], "an answer is about the list that was asked for");
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(lines(&request), [5, 6, 7]);
    rig.agree(node, &request);
    assert_eq!(lines(&rig.response(tess, second)), [5, 6]);
    assert_eq!(lines(&rig.response(bob, third)), [6, 7]);
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_list_that_the_engine_refuses_is_undone_and_does_not_stand_in_the_way_of_others() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    let seq = rig.ask_lines(tess, &[3, 999]);
    let request = rig.got(node, "setBreakpoints");
    rig.fail(node, &request, "no line 999");
    assert_eq!(rig.response(tess, seq)["message"], "no line 999");
    assert!(rig.engine_heard(node).is_empty(), "the engine has what it had before");
    rig.ask_lines(bob, &[4]);
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [3, 4]);
}

#[test]
fn everybodys_breakpoints_are_listed_with_their_owner_and_what_is_known_of_each() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.ask_lines(tess, &[3, 4, 5, 6]);
    let request = rig.got(node, "setBreakpoints");
    let answers = json!({"breakpoints": [
        {"id": 1, "verified": true, "line": 3},
        {"id": 2, "verified": true, "line": 8},
        {"id": 3, "verified": false, "message": "no code here"},
        {"id": 4, "verified": false},
    ]});
    rig.answer(node, &request, answers);
    rig.round_trip(
        bob,
        node,
        "setFunctionBreakpoints",
        json!({"breakpoints": [{"name": "main"}]}),
        json!({"breakpoints": [{"id": 9, "verified": true}]}),
    );
    let seq = rig.request(bob, "breakroom/breakpoints", json!({}));
    let listed = rig.response(bob, seq)["body"]["breakpoints"].clone();
    let states: Vec<_> = listed.as_array().unwrap().iter().map(|each| each["state"].clone()).collect();
    assert_eq!(states, ["verified", "moved", "rejected", "pending", "verified"]);
    let source = json!({"path": "x.py"});
    assert_eq!(
        listed[1],
        json!({"id": 2, "line": 4, "owner": "Tess", "own": false, "state": "moved", "hits": 0, "actualLine": 8, "source": source})
    );
    assert_eq!(listed[2]["reason"], "no code here");
    assert_eq!(
        listed[4],
        json!({"id": 1, "name": "main", "owner": "Bob", "own": true, "state": "verified", "hits": 0})
    );
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn others_breakpoints_are_news_only_for_those_who_want_the_hubs_events() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.set_lines(tess, node, &[3]);
    let agent = rig.bring("Agent", json!({}), json!({"events": true}));
    let told = |rig: &mut Rig| {
        let heard = rig.heard(agent).into_iter().filter(|heard| heard.name() == "breakpoint");
        heard
            .map(|heard| (heard.json["body"]["reason"].clone(), heard.json["body"]["breakpoint"].clone()))
            .collect::<Vec<_>>()
    };
    let shown = told(&mut rig);
    let expected = json!({
        "id": 1, "line": 3, "verified": true, "source": {"path": "x.py"}, "breakroom": {"owner": "Tess"}
    });
    assert_eq!(shown, [(json!("new"), expected)], "what was there before it came");
    rig.set_lines(agent, node, &[9]);
    rig.set_lines(bob, node, &[3, 5]);
    let news = told(&mut rig);
    let lines: Vec<_> =
        news.iter().map(|(reason, it)| (reason.as_str().unwrap(), it["line"].as_i64().unwrap())).collect();
    assert_eq!(lines, [("new", 3), ("new", 5)]);
    assert_eq!(news[0].1["breakroom"]["owner"], "Bob");
    assert_ne!(news[0].1["id"], 2, "its own has that number");
    rig.tell(
        node,
        "breakpoint",
        json!({"reason": "changed", "breakpoint": {"id": 105, "verified": true, "line": 6}}),
    );
    rig.set_lines(bob, node, &[5]);
    let lines: Vec<_> =
        told(&mut rig).iter().map(|(reason, it)| (reason.clone(), it["line"].clone())).collect();
    assert_eq!(lines, [(json!("changed"), json!(6)), (json!("removed"), json!(3))]);
    let heard = rig.names(tess);
    assert!(!heard.contains(&"breakpoint".into()), "{heard:?}");
}

#[test]
fn an_engine_that_takes_another_ones_place_is_told_what_that_one_knew() {
    let (mut rig, tess, node) = Rig::initialized();
    rig.tell(node, "initialized", json!({}));
    rig.set_lines(tess, node, &[3]);
    rig.request(tess, "launch", json!({"breakroom": {"adapter": {"args": ["other"]}}}));
    let other = rig.started.last().unwrap().0;
    assert_ne!(node, other);
    rig.node_up(other);
    let initialize = rig.got(other, "initialize");
    rig.answer(other, &initialize, crate::rig::capabilities());
    rig.tell(other, "initialized", json!({}));
    assert_eq!(lines(&rig.got(other, "setBreakpoints")), [3]);
}

#[test]
fn an_editor_that_saves_by_renaming_does_not_lose_the_breakpoints_of_others() {
    // Each look finds another file under the same name.
    fn identify(_: &str) -> Option<FileId> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static LOOKS: AtomicU64 = AtomicU64::new(0);
        Some(FileId { device: 1, inode: LOOKS.fetch_add(1, Ordering::Relaxed) })
    }
    let (mut rig, tess, bob, node) = shared_where(identify);
    rig.set_lines(bob, node, &[20]);
    rig.ask_lines(tess, &[11]);
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [20, 11]);
}

/// A session of Tess and Bob in which a path means the file that `identify` says.
fn shared_where(identify: fn(&str) -> Option<FileId>) -> (Rig, ClientId, ClientId, NodeId) {
    let mut rig = Rig::with(breakroom_session::Setup { identify: Some(identify), ..setup() });
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientName": "Tess", "adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, crate::rig::capabilities());
    rig.start(tess, node, "launch");
    let bob = rig.bring("Bob", json!({}), json!({}));
    (rig, tess, bob, node)
}

#[test]
fn what_one_engine_agreed_to_outlives_another_that_could_not_be_started() {
    let (mut rig, tess, node) = Rig::initialized();
    rig.tell(node, "initialized", json!({}));
    rig.set_lines(tess, node, &[3]);
    rig.request(tess, "launch", json!({"program": "x.py", "breakroom": {"adapter": {"args": ["missing"]}}}));
    let refused = rig.ask_lines(tess, &[4]);
    let missing = rig.started.last().unwrap().0;
    rig.node_failed(missing, "it is not installed");
    assert_eq!(rig.response(tess, refused)["success"], false);
    let bob = rig.join();
    rig.request(bob, "initialize", json!({"adapterID": "python"}));
    let third = rig.started.last().unwrap().0;
    rig.node_up(third);
    let initialize = rig.got(third, "initialize");
    rig.answer(third, &initialize, capabilities());
    rig.tell(third, "initialized", json!({}));
    assert_eq!(lines(&rig.got(third, "setBreakpoints")), [3]);
}

#[test]
fn a_stop_names_no_breakpoint_that_a_client_never_heard_of() {
    let (mut rig, tess, node) = Rig::running();
    let bob = rig.join_late();
    rig.request(bob, "initialize", json!({"adapterID": "python"}));
    let breakpoint = json!({"id": 43, "verified": true, "line": 5});
    rig.tell(node, "breakpoint", json!({"reason": "new", "breakpoint": breakpoint}));
    rig.request(bob, "attach", json!({}));
    rig.request(bob, "configurationDone", json!({}));
    let body =
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [43]});
    rig.tell(node, "stopped", body);
    assert_eq!(rig.event(tess, "stopped")["body"]["hitBreakpointIds"], json!([1]));
    assert_eq!(rig.event(bob, "stopped")["body"]["hitBreakpointIds"], json!([]));
}

#[test]
fn a_root_that_only_opens_others_is_told_nothing_and_what_is_set_is_pending() {
    let mut rig = Rig::new();
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"adapterID": "unheard-of"}));
    rig.request(tess, "launch", json!({"type": "python"}));
    let early = rig.ask_lines(tess, &[3]);
    let filters = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["raised"]}));
    let node = rig.started.last().unwrap().0;
    let facts = EngineFacts { name: "fake".into(), part: Part::Coordinates, ..EngineFacts::default() };
    rig.on(Input::NodeUp { node, facts });
    let pending = json!({
        "id": 1, "verified": false, "message": "pending: no process has loaded it yet", "reason": "pending"
    });
    assert_eq!(rig.response(tess, early)["body"]["breakpoints"], json!([pending]));
    assert_eq!(rig.response(tess, filters)["success"], true);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.tell(node, "initialized", json!({}));
    let late = rig.ask_lines(tess, &[4, 3]);
    assert_eq!(ids(&rig.response(tess, late)), [2, 1]);
    let filters = rig.request(tess, "setExceptionBreakpoints", json!({"filters": []}));
    assert_eq!(rig.response(tess, filters)["success"], true);
    let seq = rig.request(tess, "breakroom/breakpoints", json!({}));
    assert_eq!(rig.response(tess, seq)["body"]["breakpoints"][0]["state"], "pending");
    let told: Vec<_> = rig.engine_heard(node).iter().map(|heard| heard.json["command"].clone()).collect();
    assert_eq!(told, ["launch"]);
}

#[test]
fn what_was_hit_is_verified_though_the_engine_has_not_said_so_yet() {
    let (mut rig, tess, node) = Rig::running();
    let seq = rig.ask_lines(tess, &[3]);
    let request = rig.got(node, "setBreakpoints");
    let unbound = json!({"id": 0, "verified": false, "message": "Unbound breakpoint"});
    rig.answer(node, &request, json!({"breakpoints": [unbound]}));
    rig.response(tess, seq);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [0]}));
    let heard: Vec<_> = rig.heard(tess).iter().map(|heard| heard.name()).collect();
    assert_eq!(heard, ["stopped"], "it will say so itself");
    let seq = rig.request(tess, "breakroom/breakpoints", json!({}));
    assert_eq!(rig.response(tess, seq)["body"]["breakpoints"][0]["state"], "verified");
    let seq = rig.ask_lines(tess, &[3]);
    let again = rig.response(tess, seq)["body"]["breakpoints"].clone();
    assert_eq!(again, json!([{"id": 1, "verified": true}]));
}
