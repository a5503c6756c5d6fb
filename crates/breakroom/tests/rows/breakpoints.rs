//! Rows "breakpoints" and "breakpoint ids". Three owners' terms with real debuggers are in `differing.rs`.

use breakroom_testkit::{Arrival, Request};
use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::trio::{
    Trio, Words, all_stopped, each, lines, on_word, said, set, set_lines, stopped, taken,
};

const FILE: &str = "/nowhere/a.py";

#[test]
fn the_adapter_is_told_the_union_and_each_owner_hears_of_its_own_in_its_own_order_and_numbers() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    let first = set_lines(&mut trio.first, FILE, &[3, 5]);
    assert_eq!(
        (each(&first, "line"), each(&first, "id")),
        (vec![json!(3), json!(5)], vec![json!(1), json!(2)])
    );
    let late = set_lines(&mut trio.late, FILE, &[7, 5]);
    assert_eq!(
        (each(&late, "line"), each(&late, "id")),
        (vec![json!(7), json!(5)], vec![json!(1), json!(2)])
    );
    let of_stalled = json!({"source": {"path": FILE}, "breakpoints": [{"line": 9}, {"line": 5}]});
    let of_stalled = trio.stalled.request("setBreakpoints", of_stalled);
    let told = trio.until_asked("setBreakpoints", 3);
    assert_eq!(
        each(&told.iter().map(|told| json!({"lines": lines(told)})).collect::<Vec<_>>(), "lines"),
        [json!([3, 5]), json!([3, 5, 7]), json!([3, 5, 7, 9])]
    );

    // Sent again, in another order and with one more: the numbers are those from before.
    let again = set_lines(&mut trio.late, FILE, &[5, 11, 7]);
    assert_eq!(each(&again, "id"), [2, 3, 1]);
    let count = trio.asked("setBreakpoints").len();
    let again = set_lines(&mut trio.first, FILE, &[5, 3]);
    assert_eq!(
        (each(&again, "line"), each(&again, "id")),
        (vec![json!(5), json!(3)], vec![json!(2), json!(1)])
    );
    assert_eq!(trio.asked("setBreakpoints").len(), count, "the adapter knows all of it");

    let listed = trio.late.call("breakroom/breakpoints", json!({}))["body"]["breakpoints"].clone();
    let mut owned: Vec<(String, i64)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (each["owner"].as_str().unwrap().to_owned(), each["line"].as_i64().unwrap()))
        .collect();
    owned.sort();
    let expected =
        [("First", 3), ("First", 5), ("Late", 5), ("Late", 7), ("Late", 11), ("Stalled", 5), ("Stalled", 9)];
    assert_eq!(owned, expected.map(|(name, line)| (name.to_owned(), line)));
    trio.wake();
    let answer = trio.stalled.response(of_stalled)["body"]["breakpoints"].as_array().unwrap().clone();
    assert_eq!(
        (each(&answer, "line"), each(&answer, "id")),
        (vec![json!(9), json!(5)], vec![json!(1), json!(2)])
    );
    trio.end();
}

/// Where the program stopped, in whatever order the hub wants to know.
fn place(line: i64) -> [Value; 2] {
    let frame = json!({"id": 1, "name": "f", "line": line, "column": 1, "source": {"path": FILE}});
    taken("stackTrace", json!({"stackFrames": [frame]}))
}

fn value(result: &str) -> [Value; 2] {
    taken("evaluate", json!({"result": result, "variablesReference": 0}))
}

/// The engine's breakpoint 1 stops the program.
fn hit() -> Value {
    stopped(
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [1]}),
    )
}

fn on_terms(terms: Value) -> Vec<Value> {
    let mut breakpoint = terms;
    breakpoint["line"] = json!(5);
    vec![breakpoint]
}

/// First and Late want line 5 each on a condition, Stalled has it logged. The answer to the latter is still owed.
fn differing<'a>(rig: &'a Rig, steps: &[Value]) -> (Trio<'a>, Request) {
    let mut trio = Trio::stopped(rig, steps);
    set(&mut trio.first, FILE, on_terms(json!({"condition": "x"})));
    set(&mut trio.late, FILE, on_terms(json!({"condition": "y"})));
    let log = json!({"source": {"path": FILE}, "breakpoints": on_terms(json!({"logMessage": "v is {v}"}))});
    let owed = trio.stalled.request("setBreakpoints", log);
    let told = trio.until_asked("setBreakpoints", 2);
    assert_eq!(told[1]["breakpoints"], json!([{"line": 5}]), "one breakpoint, without any terms");
    let owned = || {
        let listed = trio.late.call("breakroom/breakpoints", json!({}));
        (listed["body"]["breakpoints"].as_array()?.len() == 3).then_some(())
    };
    breakroom_testkit::wait::until(crate::support::rig::LONG, owned).expect("the hub has all three");
    (trio, owed)
}

#[test]
fn where_terms_differ_the_hub_judges_and_goes_on_unseen_or_tells_everybody_whose_stop_it_is() {
    let rig = Rig::new();
    let go_on = taken("continue", json!({"allThreadsContinued": true}));
    let judged =
        |x: &str, y: &str, v: &str| [&[hit()][..], &place(5), &value(x), &value(y), &value(v)].concat();
    let steps = [
        // First resumes; nobody wants the first hit, and the hub lets it go on.
        &go_on[..],
        &judged("False", "0", "1"),
        &go_on,
        // Late wants the second.
        &judged("False", "True", "2"),
    ];
    let (mut trio, owed) = differing(&rig, &steps.concat());
    trio.first.call("continue", json!({"threadId": 1}));
    let told = trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    assert_eq!(told[1]["body"]["hitBreakpointIds"], json!([1]));
    assert_eq!(told[1]["body"]["description"], "breakpoint (resumed by First)");
    let told = trio.first.event("stopped");
    assert_eq!(told["body"]["hitBreakpointIds"], json!([]), "not its own");
    assert_eq!(told["body"]["description"], "breakpoint, set by Late");
    for client in [&mut trio.first, &mut trio.late] {
        for text in ["v is 1\n", "v is 2\n"] {
            assert_eq!(client.event("output")["body"]["output"], text);
        }
    }
    assert_eq!(trio.asked("continue").len(), 2, "First's and the hub's own");
    let asked: Vec<Value> = each(&trio.asked("evaluate"), "expression");
    assert_eq!(asked, ["x", "y", "v", "x", "y", "v"], "each for itself, never joined");
    let listed = trio.first.call("breakroom/breakpoints", json!({}))["body"]["breakpoints"].clone();
    assert_eq!(each(listed.as_array().unwrap(), "hits"), [0, 1, 2]);
    trio.wake();
    trio.stalled.response(owed);
    trio.stalled.expect_order(&[
        Arrival::Event("continued"),
        Arrival::Event("output"),
        Arrival::Event("output"),
    ]);
    let told = trio.stalled.event("stopped");
    assert_eq!(told["body"]["description"], "breakpoint, set by Late (resumed by First)");
    trio.end();
}

#[test]
fn the_hub_never_goes_on_by_itself_for_another_reason_during_a_step_or_if_a_term_cannot_be_judged() {
    let rig = Rig::new();
    let go_on = taken("continue", json!({"allThreadsContinued": true}));
    let fails = [
        json!({"expect": "evaluate"}),
        json!({"respond": "evaluate", "success": false, "message": "no such name"}),
    ];
    let steps = [
        &go_on[..],
        &[all_stopped("exception")],
        &taken("next", Value::Null),
        &[hit()],
        &go_on,
        &[hit()],
        &place(5),
        &fails,
        &value("0"),
        &value("1"),
    ];
    let (mut trio, owed) = differing(&rig, &steps.concat());
    let mut expected = Vec::new();
    for (command, description) in [
        ("continue", "exception (resumed by First)"),
        ("next", "breakpoint, set by First and Stalled (resumed by First); a step was under way"),
        (
            "continue",
            "breakpoint (resumed by First); the condition `x` cannot be judged: no such name (First)",
        ),
    ] {
        trio.first.call(command, json!({"threadId": 1}));
        trio.first.event("stopped");
        let told = trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
        let said = told[1]["body"]["description"].as_str().unwrap().to_owned();
        let why = description.rsplit("; ").next().unwrap();
        assert!(said.ends_with(why), "{said:?} does not say {why:?}");
        expected.push(why);
    }
    for client in [&mut trio.first, &mut trio.late] {
        assert_eq!(client.event("output")["body"]["output"], "v is 1\n");
    }
    assert_eq!(trio.asked("continue").len(), 2, "both are First's");
    trio.wake();
    trio.stalled.response(owed);
    for why in expected {
        let told = trio.stalled.event("stopped");
        assert!(told["body"]["description"].as_str().unwrap().ends_with(why), "{told}");
        trio.stalled.event("continued");
    }
    trio.stalled.event("output");
    trio.end();
}

#[test]
fn the_breakpoints_that_were_hit_have_each_clients_own_numbers_also_if_the_engine_names_none() {
    let rig = Rig::new();
    let plain = stopped(json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    let named = stopped(
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [2]}),
    );
    let next = taken("next", Value::Null);
    let steps =
        [&on_word("x-named", &[]), &next[..], &[named], &taken("continue", json!({})), &[plain], &place(5)];
    let mut trio = Trio::stopped(&rig, &steps.concat());
    set_lines(&mut trio.first, FILE, &[3, 5]);
    // Two of its own, the second of which is the engine's second.
    set_lines(&mut trio.late, FILE, &[7, 9, 5]);
    trio.first.call("x-named", Value::Null);
    for command in ["next", "continue"] {
        trio.first.call(command, json!({"threadId": 1}));
        let told = trio.first.event("stopped");
        assert_eq!(told["body"]["hitBreakpointIds"], json!([2]), "{command}: {told}");
        let told = trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
        assert_eq!(told[1]["body"]["hitBreakpointIds"], json!([3]), "{command}: {told:?}");
    }
    trio.wake();
    for _ in 0..2 {
        trio.stalled.event("continued");
        let told = trio.stalled.event("stopped");
        let ids = told["body"].get("hitBreakpointIds").cloned().unwrap_or(json!([]));
        assert_eq!(ids, json!([]), "it has none: {told}");
        assert_eq!(told["body"]["description"], "breakpoint, set by First and Late (resumed by First)");
    }
    trio.end();
}

#[test]
fn data_and_instruction_breakpoints_are_the_first_owners() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    for (command, key) in
        [("setDataBreakpoints", "dataId"), ("setInstructionBreakpoints", "instructionReference")]
    {
        let wants = |condition: &str| json!({"breakpoints": [{key: "0x10", "condition": condition}]});
        let first = trio.first.call(command, wants("a"));
        let late = trio.late.call(command, wants("b"));
        let answer = &late["body"]["breakpoints"][0];
        assert!(answer["verified"] == false && said(answer).contains("the first one counts"), "{late}");
        assert_eq!(first["success"], true);
        let told = trio.asked(command);
        assert!(told.iter().all(|told| told["breakpoints"] == wants("a")["breakpoints"]), "{told:?}");
    }
    trio.end();
}

#[test]
fn only_who_wants_the_hubs_events_hears_of_others_breakpoints() {
    let rig = Rig::new();
    let words = [Words::default(), Words::own(json!({"events": true})), Words::default()];
    let mut trio = Trio::saying(&rig, "launch", &[], &words);
    trio.late.allow(&["breakroom/activity"]);
    set_lines(&mut trio.first, FILE, &[3]);
    let told = trio.late.event("breakpoint")["body"].clone();
    assert_eq!(told["reason"], "new");
    assert_eq!(
        (&told["breakpoint"]["line"], &told["breakpoint"]["breakroom"]["owner"]),
        (&json!(3), &json!("First"))
    );
    set_lines(&mut trio.first, FILE, &[]);
    assert_eq!(trio.late.event("breakpoint")["body"]["reason"], "removed");
    // The others are strict and heard nothing of it.
    trio.end();
}
