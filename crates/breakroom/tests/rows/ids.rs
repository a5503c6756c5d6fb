//! Row "ids".

use std::collections::BTreeSet;

use breakroom_testkit::{Arrival, Strict};
use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::trio::{Trio, all_stopped, asked, said, stopped, taken, top_frame};

/// What an engine that counts anew at every stop answers, once.
fn answers() -> Vec<Value> {
    let variable = json!({"name": "a", "value": "1", "variablesReference": 3, "valueLocationReference": 4,
        "declarationLocationReference": 5});
    [
        taken("stackTrace", json!({"stackFrames": [{"id": 0, "name": "main", "line": 1, "column": 1}]})),
        taken("scopes", json!({"scopes": [{"name": "Locals", "variablesReference": 2, "expensive": false}]})),
        taken("variables", json!({"variables": [variable]})),
        taken("gotoTargets", json!({"targets": [{"id": 6, "label": "there", "line": 2}]})),
        taken("stepInTargets", json!({"targets": [{"id": 7, "label": "into"}]})),
    ]
    .concat()
}

/// Every id that a stop has to offer, with the request that would use it.
struct Ids {
    uses: Vec<(&'static str, &'static str, i64)>,
}

impl Ids {
    fn read(client: &mut Strict) -> Ids {
        let number = |value: &Value| value.as_i64().unwrap_or_else(|| panic!("{value} is no id"));
        let frame = top_frame(client, 1);
        let scopes = client.call("scopes", json!({"frameId": frame}));
        let locals = scopes["body"]["scopes"][0]["variablesReference"].clone();
        let variables = client.call("variables", json!({"variablesReference": locals}));
        let variable = &variables["body"]["variables"][0];
        let targets = client.call("gotoTargets", json!({"source": {"path": "/a"}, "line": 2}));
        let inside = client.call("stepInTargets", json!({"frameId": frame}));
        let uses = vec![
            ("scopes", "frameId", number(&frame)),
            ("variables", "variablesReference", number(&locals)),
            ("variables", "variablesReference", number(&variable["variablesReference"])),
            ("locations", "locationReference", number(&variable["valueLocationReference"])),
            ("locations", "locationReference", number(&variable["declarationLocationReference"])),
            ("goto", "targetId", number(&targets["body"]["targets"][0]["id"])),
            ("stepIn", "targetId", number(&inside["body"]["targets"][0]["id"])),
        ];
        Ids { uses }
    }

    fn numbers(&self) -> Vec<i64> {
        self.uses.iter().map(|(_, _, number)| *number).collect()
    }
}

#[test]
fn ids_are_the_hubs_own_shared_never_given_twice_and_refused_when_their_stop_is_over() {
    let rig = Rig::new();
    let step = [&taken("next", Value::Null)[..], &[all_stopped("step")]].concat();
    let mut trio = Trio::stopped(&rig, &[answers(), step, answers()].concat());
    let before = Ids::read(&mut trio.first);
    // What is cached is the same for whoever comes second; targets are not, and are asked for again below.
    assert_eq!(top_frame(&mut trio.late, 1), before.numbers()[0]);
    trio.first.call("next", json!({"threadId": 1}));
    trio.first.event("stopped");
    trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    let after = Ids::read(&mut trio.late);

    let all: Vec<i64> = before.numbers().into_iter().chain(after.numbers()).collect();
    assert!(all.iter().all(|number| (1..1 << 31).contains(number)), "{all:?}");
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "one was given twice: {all:?}");
    for client in [&mut trio.first, &mut trio.late] {
        for (command, key, number) in &before.uses {
            let refused = client.call_failing(command, json!({*key: number, "threadId": 1}));
            assert!(said(&refused).contains("belongs to an earlier stop"), "{refused}");
            assert_eq!(refused["body"]["error"]["id"], 9010, "{refused}");
        }
        // The engine's own numbers mean nothing here.
        let refused = client.call_failing("scopes", json!({"frameId": 1_000_000}));
        assert!(said(&refused).contains("never given"), "{refused}");
    }
    assert_eq!(trio.asked("scopes"), [json!({"frameId": 0}), json!({"frameId": 0})]);
    assert_eq!(asked(&rig, "goto").len() + asked(&rig, "stepIn").len() + asked(&rig, "locations").len(), 0);
    trio.wake();
    trio.stalled.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    trio.end();
}

#[test]
fn resuming_one_thread_leaves_the_ids_of_another_valid() {
    let rig = Rig::new();
    let second = stopped(json!({"reason": "pause", "threadId": 2, "allThreadsStopped": false}));
    let steps = [&[second][..], &taken("continue", json!({"allThreadsContinued": false}))].concat();
    let mut trio = Trio::stopped(&rig, &steps);
    for client in [&mut trio.first, &mut trio.late] {
        client.event_where("stopped", |body| body["threadId"] == 2);
    }
    let (one, two) = (top_frame(&mut trio.late, 1), top_frame(&mut trio.late, 2));
    trio.first.call("continue", json!({"threadId": 1, "singleThread": true}));
    let told = trio.late.event("continued");
    assert_eq!(told["body"], json!({"threadId": 1, "allThreadsContinued": false}));
    trio.late.call("scopes", json!({"frameId": two}));
    let refused = trio.late.call_failing("scopes", json!({"frameId": one}));
    assert_eq!(said(&refused), "not stopped: resumed by First");
    trio.wake();
    trio.stalled.event_where("stopped", |body| body["threadId"] == 2);
    trio.stalled.event("continued");
    trio.end();
}

#[test]
fn thread_ids_of_31_bits_pass_as_they_are() {
    const THREAD: i64 = (1 << 31) - 1;
    let rig = Rig::new();
    let steps = [
        &taken("threads", json!({"threads": [{"id": THREAD, "name": "t"}, {"id": 1, "name": "main"}]}))[..],
        &[stopped(json!({"reason": "pause", "threadId": THREAD, "allThreadsStopped": false}))],
    ];
    let mut trio = Trio::stopped(&rig, &steps.concat());
    let threads = trio.first.call("threads", Value::Null);
    assert_eq!(threads["body"]["threads"][0]["id"], THREAD);
    trio.first.event_where("stopped", |body| body["threadId"] == THREAD);
    trio.late.event_where("stopped", |body| body["threadId"] == THREAD);
    trio.late.call("stackTrace", json!({"threadId": THREAD}));
    assert_eq!(trio.asked("stackTrace")[0]["threadId"], THREAD);
    trio.wake();
    trio.stalled.event_where("stopped", |body| body["threadId"] == THREAD);
    trio.end();
}

#[test]
fn thread_ids_that_no_client_could_hold_are_minted_and_find_back() {
    const THREAD: i64 = 0x7f12_3456_7890;
    let rig = Rig::new();
    let steps = [
        &taken("threads", json!({"threads": [{"id": THREAD, "name": "t"}, {"id": 1, "name": "main"}]}))[..],
        &[stopped(json!({"reason": "pause", "threadId": THREAD, "allThreadsStopped": false}))],
        &taken("continue", json!({"allThreadsContinued": false})),
    ];
    let mut trio = Trio::stopped(&rig, &steps.concat());
    let threads = trio.first.call("threads", Value::Null)["body"]["threads"].clone();
    let minted = threads[0]["id"].as_i64().unwrap();
    assert!((1..1 << 31).contains(&minted) && threads[1]["id"] == 1, "{threads}");
    for client in [&mut trio.first, &mut trio.late] {
        client.event_where("stopped", |body| body["threadId"] == minted);
    }
    let frame = top_frame(&mut trio.late, minted);
    trio.late.call("continue", json!({"threadId": minted, "singleThread": true}));
    assert_eq!(trio.first.event("continued")["body"]["threadId"], minted);
    let refused = trio.first.call_failing("scopes", json!({"frameId": frame}));
    assert_eq!(said(&refused), "not stopped: resumed by Late");
    assert_eq!(trio.asked("stackTrace")[0]["threadId"], THREAD);
    assert_eq!(trio.asked("continue")[0]["threadId"], THREAD);
    trio.wake();
    trio.stalled.event_where("stopped", |body| body["threadId"] == minted);
    trio.stalled.event_where("continued", |body| body["threadId"] == minted);
    trio.end();
}
