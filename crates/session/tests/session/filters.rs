//! Exception filters of several owners in one engine.

use serde_json::{Value, json};

use crate::rig::{Rig, capabilities};

#[test]
fn exception_filters_are_merged_and_those_of_an_owner_that_leaves_are_taken_back() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let command = "setExceptionBreakpoints";
    rig.round_trip(tess, node, command, json!({"filters": ["raised"]}), json!({}));
    let seq = rig.request(bob, command, json!({"filters": ["uncaught"]}));
    let request = rig.got(node, command);
    assert_eq!(request["arguments"]["filters"], json!(["raised", "uncaught"]));
    rig.answer(node, &request, json!({}));
    rig.response(bob, seq);
    rig.lose(tess);
    assert_eq!(rig.got(node, command)["arguments"]["filters"], json!(["uncaught"]));
    assert!(rig.heard(bob).is_empty());
}

#[test]
fn filters_that_change_nothing_for_the_engine_are_not_told_again() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let filters = |names: Value| json!({"filters": names});
    rig.round_trip(
        tess,
        node,
        "setExceptionBreakpoints",
        filters(json!(["a", "b"])),
        json!({"breakpoints": [{}, {}]}),
    );
    let seq = rig.request(tess, "setExceptionBreakpoints", filters(json!(["a", "b"])));
    assert_eq!(rig.response(tess, seq)["body"], json!({"breakpoints": [{}, {}]}));
    let seq = rig.request(bob, "setExceptionBreakpoints", filters(json!(["b"])));
    rig.response(bob, seq);
    assert!(rig.engine_heard(node).is_empty());
    // What is on its way is not known yet, and an answer that was overtaken does not count.
    rig.request(bob, "setExceptionBreakpoints", filters(json!(["c"])));
    let first = rig.got(node, "setExceptionBreakpoints");
    rig.request(bob, "setExceptionBreakpoints", filters(json!(["d"])));
    rig.answer(node, &first, json!({}));
    rig.request(bob, "setExceptionBreakpoints", filters(json!(["c"])));
    let told = rig.engine_heard(node);
    assert_eq!(told.len(), 2);
    assert_eq!(told[1].json["arguments"]["filters"], json!(["a", "b", "c"]));
}

#[test]
fn filters_that_were_refused_do_not_come_back_with_those_of_others() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["raised"]}));
    let refused = rig.got(node, "setExceptionBreakpoints");
    rig.fail(node, &refused, "no such filter");
    rig.request(bob, "setExceptionBreakpoints", json!({"filters": ["uncaught"]}));
    let told = rig.got(node, "setExceptionBreakpoints");
    assert_eq!(told["arguments"]["filters"], json!(["uncaught"]));
}

#[test]
fn an_engine_that_replaces_another_is_told_the_filters_too() {
    let (mut rig, tess, node) = Rig::initialized();
    rig.tell(node, "initialized", json!({}));
    let filters = json!({"filters": ["raised"]});
    rig.round_trip(tess, node, "setExceptionBreakpoints", filters.clone(), json!({}));
    let launch = json!({"program": "x.py", "breakroom": {"adapter": {"args": ["its-own"]}}});
    rig.request(tess, "launch", launch);
    let own = rig.started.last().unwrap().0;
    rig.node_up(own);
    let initialize = rig.got(own, "initialize");
    rig.answer(own, &initialize, capabilities());
    rig.tell(own, "initialized", json!({}));
    assert_eq!(rig.got(own, "setExceptionBreakpoints")["arguments"], filters);
}

#[test]
fn filters_of_one_who_leaves_before_the_engine_is_ready_are_taken_back() {
    let mut rig = Rig::new();
    let (tess, bob) = (rig.join(), rig.join());
    rig.request(tess, "initialize", json!({"adapterID": "unheard-of"}));
    rig.request(bob, "initialize", json!({"adapterID": "unheard-of"}));
    rig.request(tess, "launch", json!({"type": "python"}));
    rig.request(bob, "setExceptionBreakpoints", json!({"filters": ["raised"]}));
    rig.lose(bob);
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let told = rig.engine_heard(node);
    let filters = told.iter().rfind(|heard| heard.json["command"] == "setExceptionBreakpoints");
    assert_eq!(filters.unwrap().json["arguments"]["filters"], json!([]));
}

#[test]
fn filters_that_wait_cannot_be_cancelled_since_others_are_told_together_with_them() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.stall_engine(node);
    let seq = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["raised"]}));
    rig.request(bob, "setExceptionBreakpoints", json!({"filters": ["uncaught"]}));
    rig.request(tess, "cancel", json!({"requestId": seq}));
    rig.engine_reads_on(node);
    for expected in [json!(["raised"]), json!(["raised", "uncaught"])] {
        let told = rig.got(node, "setExceptionBreakpoints");
        assert_eq!(told["arguments"]["filters"], expected);
        rig.answer(node, &told, json!({}));
    }
    assert_eq!(rig.response(tess, seq)["success"], true);
}
