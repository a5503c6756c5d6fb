//! Thousands of breakpoints in one file: the work grows with their number and not with its square.
//!
//! What is measured is the time that the test's own thread had a processor, so that it does not matter how busy the
//! machine is. How long a request takes is a figure of `cargo xtask bench`.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::rig::{Rig, ids};

const FEW: i64 = 2_500;
const FACTOR: i64 = 4;
/// What is linear grows by the factor, and a little more where memory does not fit into a cache. Its square is 16.
const MOST: f64 = 9.0;

/// Nanoseconds that this thread had a processor so far.
fn spent() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    schedstat.split(' ').next().unwrap().parse().unwrap()
}

/// `work` is given how many breakpoints there are.
fn grows_with_the_number(work: impl Fn(i64)) {
    grows_from(FEW, work);
}

fn grows_from(few: i64, work: impl Fn(i64)) {
    let cost = |count: i64| {
        let before = spent();
        work(count);
        spent() - before
    };
    let best = |count: i64| (0..3).map(|_| cost(count)).fold(f64::INFINITY, f64::min);
    let (few, many) = (best(few), best(few * FACTOR));
    let growth = many / few;
    assert!(growth < MOST, "{FACTOR} times as many took {growth:.1} times as long, {:.0} ms", many / 1e6);
}

fn ask(rig: &mut Rig, client: ClientId, lines: impl Iterator<Item = i64>, condition: Option<&str>) -> i64 {
    let breakpoint = |line: i64| match condition {
        Some(condition) => json!({"line": line, "condition": condition}),
        None => json!({"line": line}),
    };
    let listed: Vec<Value> = lines.map(breakpoint).collect();
    rig.request(client, "setBreakpoints", json!({"source": {"path": "x.py"}, "breakpoints": listed}))
}

fn set(
    rig: &mut Rig,
    client: ClientId,
    node: NodeId,
    lines: std::ops::Range<i64>,
    condition: Option<&str>,
) -> Value {
    let seq = ask(rig, client, lines, condition);
    let request = rig.got(node, "setBreakpoints");
    rig.agree(node, &request);
    rig.response(client, seq)
}

#[test]
fn setting_replacing_and_repeating_a_list_is_linear() {
    grows_with_the_number(|count| {
        let (mut rig, tess, _, node) = Rig::shared();
        let first = set(&mut rig, tess, node, 0..count, None);
        assert_eq!(ids(&first).len() as i64, count);
        let next = set(&mut rig, tess, node, 1..count + 1, None);
        assert_eq!(ids(&next)[0], 2, "a number stays with its place");
        let seq = ask(&mut rig, tess, (1..count + 1).rev(), None);
        assert_eq!(ids(&rig.response(tess, seq))[0], count + 1, "the engine knows it already");
    });
}

#[test]
fn two_owners_on_different_conditions_are_linear() {
    grows_with_the_number(|count| {
        let (mut rig, tess, bob, node) = Rig::shared();
        for first in 0..2 {
            set(&mut rig, tess, node, first..first + count, Some("a == 1"));
            set(&mut rig, bob, node, first..first + count, Some("a == 2"));
        }
    });
}

#[test]
fn answers_that_name_fewer_are_linear() {
    grows_with_the_number(|count| {
        let (mut rig, tess, _, node) = Rig::shared();
        let seq = ask(&mut rig, tess, 0..count, None);
        let request = rig.got(node, "setBreakpoints");
        let known: Vec<Value> = (1..count).map(|line| json!({"verified": true, "line": line})).collect();
        rig.answer(node, &request, json!({"breakpoints": known}));
        assert_eq!(ids(&rig.response(tess, seq)).len() as i64, count);
    });
}

#[test]
fn a_list_that_is_refused_and_asked_for_again_is_linear() {
    grows_with_the_number(|count| {
        let (mut rig, tess, _, node) = Rig::shared();
        set(&mut rig, tess, node, 0..count, None);
        let seq = ask(&mut rig, tess, 1..count + 1, Some("a =="));
        let request = rig.got(node, "setBreakpoints");
        rig.fail(node, &request, "no such condition");
        rig.refusal(tess, seq);
        set(&mut rig, tess, node, 1..count + 1, Some("a == 1"));
    });
}

#[test]
fn all_moved_into_one_line_are_linear() {
    grows_with_the_number(|count| {
        let (mut rig, tess, bob, node) = Rig::shared();
        for (client, condition) in [(tess, "a == 1"), (bob, "a == 2")] {
            let seq = ask(&mut rig, client, 0..count, Some(condition));
            let request = rig.got(node, "setBreakpoints");
            let there = |id: i64| json!({"id": id, "verified": true, "line": 7});
            let told = request["arguments"]["breakpoints"].as_array().unwrap().len();
            let moved: Vec<Value> = (0..told as i64).map(there).collect();
            rig.answer(node, &request, json!({"breakpoints": moved}));
            rig.response(client, seq);
        }
    });
}

#[test]
fn the_list_of_all_breakpoints_is_linear() {
    grows_with_the_number(|count| {
        let (mut rig, tess, bob, node) = Rig::shared();
        set(&mut rig, tess, node, 0..count, None);
        let seq = rig.request(bob, "breakroom/breakpoints", json!({}));
        assert_eq!(ids(&rig.response(bob, seq)).len() as i64, count);
    });
}

#[test]
fn an_owner_that_leaves_takes_its_own_along_in_linear_time() {
    grows_with_the_number(|count| {
        let (mut rig, tess, bob, node) = Rig::shared();
        set(&mut rig, tess, node, 0..count, Some("a == 1"));
        set(&mut rig, bob, node, 0..count, Some("a == 2"));
        rig.request(bob, "disconnect", json!({}));
        let request = rig.got(node, "setBreakpoints");
        rig.agree(node, &request);
    });
}

#[test]
fn an_event_for_each_breakpoint_is_linear_for_a_client_with_events() {
    grows_from(FEW / 5, |count| {
        let (mut rig, tess, _, node) = Rig::shared();
        let eve = rig.bring("Eve", json!({}), json!({"events": true}));
        set(&mut rig, tess, node, 0..count, None);
        rig.heard(eve);
        for line in 0..count {
            let breakpoint = json!({"id": line + 100, "verified": false, "line": line});
            rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": breakpoint}));
        }
        assert_eq!(rig.heard(tess).len() as i64, count);
        assert_eq!(rig.heard(eve).len() as i64, count);
    });
}
