//! Breakpoints in several engines at once.

use breakroom_dap::{failure, request, response};
use serde_json::{Value, json};

use super::*;
use crate::ids::FromClient;

const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);
const TESS: ClientId = ClientId(1);
const BOB: ClientId = ClientId(2);

fn file() -> ShelfId {
    ShelfId::Source(SourceId::Path("x.py".into()))
}

/// Two engines that know of nothing yet.
fn two() -> Ledger {
    with(&[ONE, TWO])
}

fn with(nodes: &[NodeId]) -> Ledger {
    let mut ledger = Ledger::default();
    nodes.iter().for_each(|node| assert!(ledger.admit(*node).is_empty()));
    ledger
}

fn asker(client: ClientId, seq: i64) -> Asker {
    Asker { client, seq: FromClient(seq) }
}

/// Everybody can be told, and nobody is late.
fn patience() -> Patience {
    Patience { until: Time::default(), deaf: Vec::new() }
}

fn set(ledger: &mut Ledger, client: ClientId, lines: &[i64]) -> Outcome {
    let listed: Vec<_> = lines.iter().map(|line| json!({"line": line})).collect();
    let arguments = json!({"source": {"path": "x.py"}, "breakpoints": listed});
    ledger.set(file(), asker(client, 1), request("setBreakpoints", arguments), &patience())
}

/// Which engines are told which lines.
fn told(outcome: Outcome) -> Vec<(NodeId, Vec<i64>)> {
    match outcome {
        Outcome::Tell(told) => told.into_iter().map(|(node, request)| (node, lines(&request))).collect(),
        Outcome::Later => Vec::new(),
        Outcome::Known(..) | Outcome::Pending(_) => panic!("nobody is told: {outcome:?}"),
    }
}

fn lines(request: &Request) -> Vec<i64> {
    let listed: Value = match request {
        Request::AsItCame(message) => arguments_of(message)["breakpoints"].clone(),
        Request::Instead { breakpoints, .. } => serde_json::from_slice(breakpoints).unwrap(),
    };
    listed.as_array().unwrap().iter().map(|each| each["line"].as_i64().unwrap()).collect()
}

fn says(ledger: &mut Ledger, node: NodeId, breakpoints: Value) -> Answered {
    let answer = response(1, "setBreakpoints", Some(json!({ "breakpoints": breakpoints })));
    ledger.answered(&file(), node, &answer, true)
}

fn refuses(ledger: &mut Ledger, node: NodeId, reason: &str) -> Answered {
    ledger.answered(&file(), node, &failure(1, "setBreakpoints", 1, reason, false), false)
}

/// The only reply that there is.
fn reply(answered: Answered) -> Value {
    assert_eq!(answered.replies.len(), 1, "{answered:?}");
    listed(answered.replies.into_iter().next().unwrap())
}

fn listed(reply: Reply) -> Value {
    match reply {
        Reply::List { breakpoints, .. } => serde_json::from_slice(&breakpoints).unwrap(),
        Reply::AsItCame { .. } | Reply::Failed { .. } => panic!("not a list: {reply:?}"),
    }
}

fn news(changed: Vec<(ClientId, Bytes)>) -> Vec<(ClientId, Value)> {
    changed.into_iter().map(|(owner, raw)| (owner, serde_json::from_slice(&raw).unwrap())).collect()
}

fn event(ledger: &mut Ledger, node: NodeId, breakpoint: Value) -> Changed {
    let text = breakpoint.to_string();
    ledger.changed(node, Json::first(text.as_bytes()).unwrap(), None, Some("changed"))
}

fn merged(changed: Changed) -> Vec<(ClientId, Value)> {
    match changed {
        Changed::Merged(changed) => news(changed),
        Changed::AsItSays(_) | Changed::NobodySetIt => panic!("not merged: {changed:?}"),
    }
}

fn truths(ledger: &Ledger) -> Vec<Truth> {
    ledger.all().map(|listed| listed.truth).collect()
}

fn verified(id: i64) -> Value {
    json!({"id": id, "verified": true, "line": 3})
}

fn unbound(id: i64) -> Value {
    json!({"id": id, "verified": false})
}

#[test]
fn every_engine_is_told_and_the_owner_is_answered_when_the_last_of_them_has_spoken() {
    let mut ledger = two();
    assert_eq!(told(set(&mut ledger, TESS, &[3])), [(ONE, vec![3]), (TWO, vec![3])]);
    assert!(says(&mut ledger, TWO, json!([verified(70)])).replies.is_empty());
    let answer = reply(says(&mut ledger, ONE, json!([unbound(7)])));
    assert_eq!(answer, json!([{"id": 1, "verified": true, "line": 3}]), "one process has it");
}

#[test]
fn the_best_truth_is_told_and_of_equal_ones_the_first_engines() {
    let rejected = json!({"verified": false, "message": "no code here"});
    let moved = json!({"verified": true, "line": 4});
    for (one, two, best) in [
        (verified(1), moved.clone(), Truth::Verified),
        (moved.clone(), verified(1), Truth::Verified),
        (unbound(1), moved, Truth::Moved { line: 4 }),
        (rejected.clone(), unbound(1), Truth::Pending),
        (
            rejected,
            json!({"verified": false, "message": "nor here"}),
            Truth::Rejected { reason: "no code here".into() },
        ),
    ] {
        let mut ledger = with(&[ONE, TWO]);
        set(&mut ledger, TESS, &[3]);
        says(&mut ledger, ONE, json!([one]));
        says(&mut ledger, TWO, json!([two]));
        assert_eq!(truths(&ledger), [best]);
    }
}

#[test]
fn without_any_engine_a_breakpoint_is_pending_until_one_comes_and_says_otherwise() {
    let mut ledger = Ledger::default();
    let Outcome::Pending(answer) = set(&mut ledger, TESS, &[3, 4]) else { panic!("it must be pending") };
    let answer = listed(answer);
    assert_eq!(answer[0]["message"], "pending: no process has loaded it yet");
    assert_eq!((&answer[1]["id"], &answer[1]["verified"]), (&json!(2), &json!(false)));
    let first = ledger.admit(ONE);
    assert_eq!(first.iter().map(|(_, request)| lines(request)).collect::<Vec<_>>(), [[3, 4]]);
    let answered = says(&mut ledger, ONE, json!([verified(9), unbound(10)]));
    assert!(answered.replies.is_empty());
    let told = [(TESS, json!({"id": 1, "verified": true, "line": 3}))];
    assert_eq!(news(answered.changed), told, "only what is not pending any more");
    assert!(ledger.admit(TWO).len() == 1, "and the next one is told too");
    let answered = says(&mut ledger, TWO, json!([unbound(9), verified(10)]));
    assert_eq!(news(answered.changed), [(TESS, json!({"id": 2, "verified": true, "line": 3}))]);
}

#[test]
fn an_engine_that_has_not_loaded_the_file_makes_nothing_grey() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([verified(5)]));
    says(&mut ledger, TWO, json!([unbound(5)]));
    let changed = event(&mut ledger, TWO, json!({"id": 5, "verified": false, "message": "unbound"}));
    assert_eq!(merged(changed), []);
    let changed = event(&mut ledger, ONE, json!({"id": 5, "verified": false}));
    assert_eq!(
        merged(changed),
        [(TESS, json!({"id": 1, "verified": false}))],
        "but the last that had it does"
    );
    let changed = event(&mut ledger, TWO, json!({"id": 5, "verified": true, "line": 3}));
    assert_eq!(merged(changed), [(TESS, json!({"id": 1, "verified": true, "line": 3}))]);
    assert!(matches!(event(&mut ledger, TWO, json!({"id": 99, "verified": true})), Changed::NobodySetIt));
}

#[test]
fn numbers_of_two_engines_may_be_equal() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3, 4]);
    says(&mut ledger, ONE, json!([{"id": 0, "verified": true}, {"id": 1, "verified": true}]));
    says(&mut ledger, TWO, json!([{"id": 1, "verified": true}, {"id": 0, "verified": true}]));
    assert_eq!(ledger.numbers(TESS, ONE, &[0]), [1]);
    assert_eq!(ledger.numbers(TESS, TWO, &[0]), [2]);
    let hit = |node| ledger.hit(node, &[1]).iter().map(|hit| hit.owners[0].number).collect::<Vec<_>>();
    assert_eq!((hit(ONE), hit(TWO)), (vec![2], vec![1]));
    let (one, two) = (ledger.alias(BOB, ONE, 50), ledger.alias(BOB, TWO, 50));
    assert_ne!(one, two, "what nobody set is not the same either");
    ledger.dismiss(ONE);
    assert_eq!(ledger.aliases(BOB, ONE, &[50]).next(), None);
    assert_eq!(ledger.aliases(BOB, TWO, &[50]).collect::<Vec<_>>(), [two]);
}

#[test]
fn who_waits_only_for_an_engine_that_is_gone_is_answered_from_what_the_others_said() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([verified(1)]));
    let mut dismissed = ledger.dismiss(TWO);
    assert_eq!(reply(dismissed.remove(0).1), json!([{"id": 1, "verified": true, "line": 3}]));
    set(&mut ledger, TESS, &[3, 4]);
    let answer = reply(ledger.dismiss(ONE).remove(0).1);
    assert_eq!(answer[1]["reason"], "pending", "or hears that there is nobody");
    assert_eq!(lines(&ledger.admit(NodeId(3))[0].1), [3, 4], "and its wish stays");
}

#[test]
fn owners_hear_of_the_end_of_the_engine_that_had_their_breakpoint_but_not_of_the_last_ones() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([unbound(1)]));
    says(&mut ledger, TWO, json!([verified(1)]));
    let changed = ledger.dismiss(TWO).remove(0).1.changed;
    assert_eq!(news(changed), [(TESS, json!({"id": 1, "verified": false}))]);
    event(&mut ledger, ONE, verified(1));
    assert!(ledger.dismiss(ONE).remove(0).1.changed.is_empty(), "the program is over");
    ledger.admit(NodeId(3));
    let changed = says(&mut ledger, NodeId(3), json!([unbound(1)])).changed;
    assert_eq!(
        news(changed),
        [(TESS, json!({"id": 1, "verified": false}))],
        "the next one knows nothing yet"
    );
}

#[test]
fn a_refusal_undoes_a_wish_only_if_all_refuse() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([verified(1)]));
    says(&mut ledger, TWO, json!([verified(1)]));
    set(&mut ledger, TESS, &[3, 9]);
    assert!(refuses(&mut ledger, ONE, "no line 9").replies.is_empty());
    let answer = reply(says(&mut ledger, TWO, json!([verified(1), unbound(2)])));
    assert_eq!(answer[1], json!({"id": 2, "verified": false}), "one may still load it");
    event(&mut ledger, TWO, json!({"id": 2, "verified": false, "message": "none either"}));
    assert_eq!(truths(&ledger)[1], Truth::Rejected { reason: "no line 9".into() });
    let all = told(set(&mut ledger, BOB, &[5]));
    assert_eq!(all, [(ONE, vec![3, 5]), (TWO, vec![3, 9, 5])], "what one refused is not told it again");
    says(&mut ledger, ONE, json!([verified(1), verified(3)]));
    says(&mut ledger, TWO, json!([verified(1), unbound(2), verified(3)]));
    set(&mut ledger, BOB, &[5, 99]);
    assert!(refuses(&mut ledger, ONE, "no line 99").replies.is_empty());
    let answered = refuses(&mut ledger, TWO, "nor here");
    let [Reply::Failed { refusal, .. }] = &answered.replies[..] else { panic!("{answered:?}") };
    assert_eq!(refusal.failure_text().as_deref(), Some("no line 99"));
    assert!(answered.next.is_empty(), "both have what they had before");
    let again = told(set(&mut ledger, TESS, &[3, 9, 10]));
    assert_eq!(again, [(ONE, vec![3, 9, 10, 5]), (TWO, vec![3, 9, 10, 5])], "its owner asks for it again");
}

#[test]
fn each_engine_is_told_at_its_own_pace_and_an_answer_is_about_the_list_that_was_asked_for() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([verified(1)]));
    assert_eq!(told(set(&mut ledger, BOB, &[4])), [(ONE, vec![3, 4])], "the other one is still busy");
    assert!(says(&mut ledger, ONE, json!([verified(1), verified(2)])).replies.is_empty());
    let answered = says(&mut ledger, TWO, json!([verified(1)]));
    assert_eq!(lines(&answered.next[0].1), [3, 4]);
    assert_eq!(answered.next[0].0, TWO);
    assert_eq!(reply(answered)[0]["id"], 1);
    let answered = says(&mut ledger, TWO, json!([verified(1), verified(2)]));
    assert!(matches!(answered.replies[..], [Reply::List { to: Asker { client: BOB, .. }, .. }]));
}

#[test]
fn an_engine_that_says_nothing_about_a_list_that_it_knows_keeps_its_word() {
    let mut ledger = with(&[ONE]);
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([unbound(1)]));
    event(&mut ledger, ONE, verified(1));
    let arguments = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3}], "sourceModified": true});
    ledger.set(file(), asker(TESS, 2), request("setBreakpoints", arguments), &patience());
    assert_eq!(reply(says(&mut ledger, ONE, json!([])))[0]["verified"], true);
    assert_eq!(ledger.numbers(TESS, ONE, &[1]), [1]);
}

#[test]
fn what_was_hit_is_verified_whatever_was_said_before() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    let unbound = json!([{"id": 4, "verified": false, "line": 3, "message": "Unbound breakpoint"}]);
    says(&mut ledger, ONE, unbound.clone());
    says(&mut ledger, TWO, unbound.clone());
    assert_eq!(ledger.verify_hit(TWO, &[5]), []);
    let changed = news(ledger.verify_hit(TWO, &[4]));
    assert_eq!(changed, [(TESS, json!({"id": 1, "verified": true, "line": 3}))]);
    assert_eq!(merged(event(&mut ledger, TWO, verified(4))), [], "it is said once");
    let mut sole = with(&[ONE]);
    set(&mut sole, TESS, &[3]);
    says(&mut sole, ONE, unbound);
    assert_eq!(sole.verify_hit(ONE, &[4]), [], "a sole engine says it itself");
    assert_eq!(truths(&sole), [Truth::Verified]);
}

#[test]
fn a_text_is_told_only_to_the_engine_whose_it_is_and_goes_with_it() {
    let mut ledger = two();
    let text = |node| ShelfId::Source(SourceId::Reference { node, number: 5 });
    let arguments = json!({"source": {"sourceReference": 5}, "breakpoints": [{"line": 3}]});
    let message = request("setBreakpoints", arguments);
    let outcome = ledger.set(text(TWO), asker(TESS, 1), message.clone(), &patience());
    assert_eq!(told(outcome), [(TWO, vec![3])]);
    let answer = response(1, "setBreakpoints", Some(json!({"breakpoints": [verified(8)]})));
    let answered = ledger.answered(&text(TWO), TWO, &answer, true);
    assert!(matches!(answered.replies[..], [Reply::AsItCame { .. }]), "in its own words");
    assert_eq!(told(ledger.set(text(ONE), asker(BOB, 1), message, &patience())), [(ONE, vec![3])]);
    assert!(ledger.admit(NodeId(3)).is_empty());
    ledger.dismiss(TWO);
    assert_eq!(ledger.all().map(|listed| listed.owner).collect::<Vec<_>>(), [BOB]);
}

#[test]
fn data_is_watched_only_in_the_engine_that_named_it_or_else_in_the_active_one() {
    let mut ledger = two();
    let data = |name: &str| request("setDataBreakpoints", json!({"breakpoints": [{"dataId": name}]}));
    let nodes = |outcome| match outcome {
        Outcome::Tell(told) => told.into_iter().map(|(node, _)| node).collect(),
        _ => Vec::new(),
    };
    ledger.homes.given(TESS, "0x10", TWO);
    assert_eq!(nodes(ledger.set(ShelfId::Data, asker(TESS, 1), data("0x10"), &patience())), [TWO]);
    ledger.homes.given(BOB, "0x10", ONE);
    assert_eq!(
        nodes(ledger.set(ShelfId::Data, asker(BOB, 1), data("0x10"), &patience())),
        [ONE],
        "the same name"
    );
    let answer =
        response(1, "setDataBreakpoints", Some(json!({"breakpoints": [{"id": 1, "verified": true}]})));
    for node in [ONE, TWO] {
        ledger.answered(&ShelfId::Data, node, &answer, true);
    }
    let owners = |node| ledger.hit(node, &[1])[0].owners.iter().map(|owned| owned.owner).collect::<Vec<_>>();
    assert_eq!((owners(ONE), owners(TWO)), (vec![BOB], vec![TESS]));
    ledger.homes.focus(TWO);
    assert_eq!(
        nodes(ledger.set(ShelfId::Data, asker(ClientId(3), 1), data("unheard-of"), &patience())),
        [TWO]
    );
}

#[test]
fn functions_are_told_to_every_engine() {
    let mut ledger = two();
    let message = request("setFunctionBreakpoints", json!({"breakpoints": [{"name": "main"}]}));
    let Outcome::Tell(told) = ledger.set(ShelfId::Functions, asker(TESS, 1), message, &patience()) else {
        panic!("engines must be told")
    };
    assert_eq!(told.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [ONE, TWO]);
    assert!(told.iter().all(|(_, request)| matches!(request, Request::AsItCame(_))));
}

#[test]
fn an_owner_that_leaves_is_taken_out_of_every_engine() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([verified(1)]));
    says(&mut ledger, TWO, json!([verified(1)]));
    set(&mut ledger, BOB, &[4]);
    says(&mut ledger, ONE, json!([verified(1), verified(2)]));
    let left = ledger.forget(TESS).remove(0).1;
    assert_eq!(
        left.iter().map(|(node, request)| (*node, lines(request))).collect::<Vec<_>>(),
        [(ONE, vec![4])]
    );
    let answered = says(&mut ledger, TWO, json!([verified(1), verified(2)]));
    assert_eq!(lines(&answered.next[0].1), [4], "the busy one behind what it is being told");
}

#[test]
fn a_new_engine_takes_the_place_of_all_that_were_there() {
    let mut ledger = two();
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([unbound(1)]));
    says(&mut ledger, TWO, json!([verified(1)]));
    assert_eq!(lines(&ledger.renew(NodeId(3))[0].1), [3]);
    assert!(says(&mut ledger, TWO, json!([verified(1)])).replies.is_empty(), "an old one is not heard");
    let changed = says(&mut ledger, NodeId(3), json!([unbound(1)])).changed;
    assert_eq!(news(changed), [(TESS, json!({"id": 1, "verified": false}))]);
}

/// js-debug does so with the first that comes behind those that were set before its process was there.
#[test]
fn two_breakpoints_by_one_number_of_an_engine_are_told_apart_by_their_lines() {
    let mut ledger = with(&[ONE]);
    set(&mut ledger, TESS, &[3]);
    says(&mut ledger, ONE, json!([verified(1)]));
    assert_eq!(ledger.named(ONE, &[1, 9]), [1, 9]);
    set(&mut ledger, TESS, &[3, 4]);
    let next = json!({"id": 1, "verified": true, "line": 4});
    says(&mut ledger, ONE, json!([verified(1), next.clone()]));
    event(&mut ledger, ONE, next);
    assert_eq!(truths(&ledger), [Truth::Verified, Truth::Verified]);
    assert_eq!(ledger.named(ONE, &[1, 9]), [9], "nobody can say which of the two it is");
    assert_eq!(ledger.hit_at(ONE, &file(), 4).len(), 1);
}
