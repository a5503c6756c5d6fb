//! Rows "reads" and "`cancel`".

use breakroom_testkit::{Arrival, Strict};
use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::trio::{Trio, Words, all_stopped, asked, on_word, said, taken, top_frame};

/// The reference of the local variables of thread 1.
fn locals(client: &mut Strict) -> Value {
    let frame = top_frame(client, 1);
    let scopes = client.call("scopes", json!({"frameId": frame}));
    scopes["body"]["scopes"][0]["variablesReference"].clone()
}

fn variables(client: &mut Strict, reference: &Value) -> Value {
    client.call("variables", json!({"variablesReference": reference}))["body"]["variables"].clone()
}

fn one(value: &str) -> Value {
    json!({"variables": [{"name": "a", "value": value, "variablesReference": 0}]})
}

#[test]
fn identical_reads_cost_the_adapter_one_until_the_stop_ends() {
    let rig = Rig::new();
    let steps = [
        &[json!({"expect": "variables"})],
        &on_word("loadedSources", &[json!({"respond": "variables", "body": one("first stop")})])[..],
        &taken("next", Value::Null),
        &[all_stopped("step")],
        &taken("variables", one("second stop")),
    ];
    let mut trio = Trio::stopped(&rig, &steps.concat());
    let reference = locals(&mut trio.first);
    assert_eq!(locals(&mut trio.late), reference);
    let read = json!({"variablesReference": reference});
    let first = trio.first.request("variables", read.clone());
    let late = trio.late.request("variables", read.clone());
    let stalled = trio.stalled.request("variables", read);
    trio.until_asked("variables", 1);
    // Behind its own question, and with a word that changes nothing.
    trio.late.call("loadedSources", Value::Null);
    for (client, request) in [(&mut trio.first, first), (&mut trio.late, late)] {
        assert_eq!(client.response(request)["body"], one("first stop"));
        client.call("threads", Value::Null);
    }
    for command in ["stackTrace", "scopes", "variables", "threads"] {
        assert_eq!(asked(&rig, command).len(), 1, "{command}");
    }
    trio.late.call("next", json!({"threadId": 1}));
    trio.late.event("stopped");
    trio.first.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    let reference = locals(&mut trio.late);
    for client in [&mut trio.late, &mut trio.first] {
        assert_eq!(variables(client, &reference), one("second stop")["variables"]);
    }
    assert_eq!(trio.asked("variables").len(), 2);
    trio.wake();
    assert_eq!(trio.stalled.response(stalled)["body"], one("first stop"));
    trio.stalled.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    trio.end();
}

#[test]
fn whatever_may_change_a_value_ends_what_was_read_and_is_told_to_those_who_declared_it() {
    const CHANGES: [(&str, &str); 5] = [
        ("setVariable", "variables"),
        ("setExpression", "variables"),
        ("writeMemory", "variables"),
        ("evaluate", "variables"),
        ("x-vendor", "all"),
    ];
    let rig = Rig::new();
    let declares = Words::declaring(json!({"supportsInvalidatedEvent": true}));
    let mut trio = Trio::saying(&rig, "launch", &[], &[declares.clone(), declares, Words::default()]);
    let reference = locals(&mut trio.first);
    variables(&mut trio.late, &reference);
    // A watch changes nothing.
    trio.first.call("evaluate", json!({"expression": "1", "context": "watch"}));
    variables(&mut trio.late, &reference);
    assert_eq!(asked(&rig, "variables").len(), 1);
    for (count, (command, area)) in (2..).zip(CHANGES) {
        let arguments = json!({"variablesReference": reference, "name": "a", "value": "1", "expression": "a = 1",
            "memoryReference": "0x1", "data": "", "context": "repl"});
        trio.first.call(command, arguments);
        assert_eq!(trio.late.event("invalidated")["body"]["areas"], json!([area]), "{command}");
        variables(&mut trio.late, &reference);
        variables(&mut trio.first, &reference);
        assert_eq!(asked(&rig, "variables").len(), count, "{command}");
    }
    // Who did it knows, and the stalled one never declared it: both are strict.
    trio.end();
}

#[test]
fn a_lazy_variable_is_computed_for_each_who_opens_it() {
    let rig = Rig::new();
    let lazy =
        json!({"name": "property", "value": "", "variablesReference": 9, "presentationHint": {"lazy": true}});
    let mut trio = Trio::stopped(&rig, &taken("variables", json!({"variables": [lazy]})));
    let reference = locals(&mut trio.first);
    let property = variables(&mut trio.first, &reference)[0]["variablesReference"].clone();
    for _ in 0..2 {
        variables(&mut trio.first, &property);
        variables(&mut trio.late, &property);
    }
    assert_eq!(trio.asked("variables").len(), 1 + 4);
    trio.end();
}

#[test]
fn what_is_kept_of_answers_is_bounded() {
    let rig = Rig::new();
    let big = one(&"x".repeat(5 << 20));
    let scope = |name: &str, reference: i64| json!({"name": name, "variablesReference": reference, "expensive": false});
    let scopes = json!({"scopes": [scope("a", 2), scope("b", 3)]});
    let big = taken("variables", big);
    let steps = [&taken("scopes", scopes)[..], &big, &big, &big].concat();
    let mut trio = Trio::stopped(&rig, &steps);
    let frame = top_frame(&mut trio.first, 1);
    let scopes = trio.first.call("scopes", json!({"frameId": frame}))["body"]["scopes"].clone();
    let [a, b] = [0, 1].map(|at: usize| scopes[at]["variablesReference"].clone());
    variables(&mut trio.first, &a);
    variables(&mut trio.late, &a);
    assert_eq!(asked(&rig, "variables").len(), 1, "one answer of 5 MB is kept");
    variables(&mut trio.first, &b);
    variables(&mut trio.late, &a);
    assert_eq!(asked(&rig, "variables").len(), 3, "two are not");
    trio.end();
}

#[test]
fn a_cancel_reaches_the_adapter_only_from_the_sole_waiter() {
    let rig = Rig::new();
    let cancelled = json!({"respond": "variables", "success": false, "message": "cancelled"});
    let steps = [&[json!({"expect": "variables"})][..], &taken("cancel", Value::Null), &[cancelled]].concat();
    let mut trio = Trio::stopped(&rig, &steps);
    let reference = locals(&mut trio.first);
    let read = json!({"variablesReference": reference});
    let of_first = trio.first.request("variables", read.clone());
    trio.until_asked("variables", 1);
    let of_late = trio.late.request("variables", read);
    // Behind its question, so that both wait.
    trio.late.call("breakroom/breakpoints", json!({}));
    trio.first.call("cancel", json!({"requestId": of_first.seq}));
    assert_eq!(said(&trio.first.failure(of_first)), "cancelled");
    assert_eq!(asked(&rig, "cancel"), [] as [Value; 0]);
    let known = rig.log().into_iter().find(|line| line["command"] == "variables").unwrap()["seq"].clone();
    trio.late.call("cancel", json!({"requestId": of_late.seq}));
    assert_eq!(said(&trio.late.failure(of_late)), "cancelled");
    assert_eq!(
        asked(&rig, "cancel"),
        [json!({"requestId": known})],
        "under the number that the adapter knows"
    );
    trio.end();
}
