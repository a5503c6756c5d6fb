//! Row "slow reader". One that asks without end and reads nothing is in `faults_client.rs`.

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::commands::listed;
use crate::support::rig::{BOUND, LONG, Rig, end, peak};
use crate::support::trio::{Trio, heard, on_word, sent, taken};

/// Floods come in rounds that are read before the next one, so that only the stalled one is ever behind.
const ROUNDS: u64 = 6;
const ROUND: u64 = 250;

fn number(output: &Value) -> Option<u64> {
    let mut words = output["body"]["output"].as_str()?.strip_prefix("line ")?.split(' ');
    let (round, line): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(round * ROUND + line)
}

#[test]
fn one_that_does_not_read_misses_output_and_is_told_how_much_but_no_answer_and_no_change_of_state() {
    const OUTPUTS: u64 = ROUNDS * ROUND;
    let rig = Rig::new();
    let flood = |round: u64| {
        let text = format!("line {round} {{{{i}}}} {}\n", "x".repeat(8000));
        let mut flood = sent("output", json!({"category": "stdout", "output": text}));
        flood["repeat"] = ROUND.into();
        on_word("x-flood", &[flood])
    };
    let floods: Vec<Value> = (0..ROUNDS).flat_map(flood).collect();
    let steps = [&floods[..], &taken("next", Value::Null), &[sent("x-end", json!({}))]].concat();
    let mut trio = Trio::stopped(&rig, &steps);
    let mut answers = Vec::new();
    for round in 0..ROUNDS {
        trio.first.call("x-flood", Value::Null);
        answers.extend((0..20).map(|_| trio.stalled.request("breakroom/breakpoints", json!({}))));
        for client in [&mut trio.first, &mut trio.late] {
            for line in round * ROUND..(round + 1) * ROUND {
                assert_eq!(number(&client.event("output")), Some(line), "nothing is missing and in order");
            }
        }
    }
    trio.late.call("next", json!({"threadId": 1}));
    trio.late.event("x-end");
    trio.first.event("continued");
    trio.first.event("x-end");
    assert!(peak(rig.daemon()) < BOUND, "{} bytes were resident", peak(rig.daemon()));

    trio.wake();
    for answer in answers {
        trio.stalled.response(answer);
    }
    trio.stalled.event("continued");
    trio.stalled.event("x-end");
    let marker = trio.stalled.event_where("output", |body| {
        body["output"].as_str().is_some_and(|text| text.contains("outputs were left out"))
    });
    let left_out: u64 =
        marker["body"]["output"].as_str().unwrap().split(' ').find_map(|word| word.parse().ok()).unwrap();
    for line in 0..OUTPUTS - left_out {
        assert_eq!(number(&trio.stalled.event("output")), Some(line), "the rest is there, in order");
    }
    assert!(left_out > 0 && left_out < OUTPUTS, "{left_out}");
    trio.end();
}

#[test]
fn one_that_is_hopelessly_behind_is_let_go_with_the_reason_and_the_others_miss_nothing() {
    const ROUNDS: usize = 10;
    const ROUND: usize = 10;
    let rig = Rig::new();
    let mut flood = sent("x-big", json!({"text": "x".repeat(1 << 20)}));
    flood["repeat"] = ROUND.into();
    let floods: Vec<Value> = (0..ROUNDS).flat_map(|_| on_word("x-flood", &[flood.clone()])).collect();
    let mut trio = Trio::stopped(&rig, &floods);
    for _ in 0..ROUNDS {
        trio.first.call("x-flood", Value::Null);
        for client in [&mut trio.first, &mut trio.late] {
            (0..ROUND).for_each(|_| drop(client.event("x-big")));
        }
    }
    let gone = || (listed(&rig)[0]["clients"] == json!(["First", "Late"])).then_some(());
    wait::until(LONG, gone).unwrap_or_else(|| panic!("{:?}", listed(&rig)));
    let said = || Some(trio.stalled.stderr()).filter(|said| said.contains("did not read what it was sent"));
    wait::until(LONG, said).unwrap_or_else(|| panic!("its door says {:?}", trio.stalled.stderr()));
    let Trio { first, late, stalled, .. } = trio;
    stalled.abandon();
    end(late);
    end(first);
    rig.only_the_daemon_is_left();
}

#[test]
fn one_that_does_not_read_hears_how_things_are_and_not_how_they_came_to_be() {
    const TIMES: u64 = 4000;
    let rig = Rig::new();
    let mut module =
        sent("module", json!({"reason": "changed", "module": {"id": 1, "name": "x".repeat(2000)}}));
    module["repeat"] = TIMES.into();
    let last = sent("module", json!({"reason": "changed", "module": {"id": 1, "name": "last"}}));
    let steps = on_word("x-flood", &[module, last, sent("x-end", json!({}))]);
    let mut trio = Trio::stopped(&rig, &steps);
    trio.first.call("x-flood", Value::Null);
    trio.first.event("x-end");
    trio.late.event("x-end");
    trio.first.allow(&["module"]);
    trio.late.allow(&["module"]);
    trio.stalled.allow(&["module"]);
    trio.wake();
    trio.stalled.event("x-end");
    let modules = heard(&trio.stalled, &["module"]);
    assert_eq!(modules.last().unwrap().1["module"]["name"], "last");
    assert!((modules.len() as u64) < TIMES, "{} of {TIMES} were told", modules.len());
    trio.end();
}
