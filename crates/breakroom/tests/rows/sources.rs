//! Row "sources". What clients are told about sources that they spell differently is in the header of `rows_sharing.rs`.

use serde_json::{Value, json};

use crate::support::rig::{Rig, text};
use crate::support::trio::{Trio, asked, each, lines, on_word, sent, set_lines, taken};

/// Three spellings, one of each client; the adapter must be told one list.
fn one_source(rig: &Rig, spellings: [&str; 3]) {
    let mut trio = Trio::stopped(rig, &[]);
    set_lines(&mut trio.first, spellings[0], &[1]);
    set_lines(&mut trio.late, spellings[1], &[2]);
    let wanted = json!({"source": {"path": spellings[2]}, "breakpoints": [{"line": 3}]});
    let owed = trio.stalled.request("setBreakpoints", wanted);
    let told = trio.until_asked("setBreakpoints", 3);
    assert_eq!(
        told.iter().map(lines).collect::<Vec<_>>(),
        [vec![1], vec![1, 2], vec![1, 2, 3]],
        "{spellings:?}"
    );
    trio.wake();
    trio.stalled.response(owed);
    trio.end();
}

#[test]
fn a_file_is_one_source_through_links_and_spellings() {
    let rig = Rig::new();
    let folder = rig.sandbox.work();
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("real.py"), "pass\n").unwrap();
    std::os::unix::fs::symlink("real.py", folder.join("soft.py")).unwrap();
    std::fs::hard_link(folder.join("real.py"), folder.join("hard.py")).unwrap();
    let path = |name: &str| text(&folder.join(name));
    one_source(&rig, [&path("real.py"), &path("soft.py"), &path("sub/.././hard.py")]);
}

#[test]
fn a_file_that_is_not_here_is_one_source_through_spellings() {
    let rig = Rig::new();
    one_source(&rig, ["/nowhere/a.py", "/nowhere/./b/../a.py", "//nowhere/a.py"]);
}

#[test]
fn a_source_that_only_the_adapter_has_is_told_by_its_reference() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    let wants = |reference: i64, name: &str, line: i64| json!({"source": {"name": name, "sourceReference": reference}, "breakpoints": [{"line": line}]});
    trio.first.call("setBreakpoints", wants(7, "a", 1));
    trio.late.call("setBreakpoints", wants(7, "b", 2));
    trio.late.call("setBreakpoints", wants(8, "b", 3));
    let told: Vec<(Value, Vec<Value>)> = trio
        .asked("setBreakpoints")
        .iter()
        .map(|told| (told["source"]["sourceReference"].clone(), lines(told)))
        .collect();
    assert_eq!(
        told,
        [(json!(7), vec![json!(1)]), (json!(7), vec![json!(1), json!(2)]), (json!(8), vec![json!(3)])]
    );
    trio.end();
}

#[test]
fn one_setting_is_under_way_per_source_and_those_that_wait_are_told_as_one() {
    let rig = Rig::new();
    let answer = |lines: &[i64]| {
        let list: Vec<Value> =
            lines.iter().map(|line| json!({"id": line, "verified": true, "line": line})).collect();
        json!({"respond": "setBreakpoints", "body": {"breakpoints": list}})
    };
    let steps = [
        &[json!({"expect": "setBreakpoints"})][..],
        &on_word("x-other-source", &[]),
        &on_word("x-go", &[answer(&[1]), json!({"expect": "setBreakpoints"}), answer(&[1, 2, 3])]),
    ];
    let mut trio = Trio::stopped(&rig, &steps.concat());
    let wants = |line: i64| json!({"source": {"path": "/a"}, "breakpoints": [{"line": line}]});
    let first = trio.first.request("setBreakpoints", wants(1));
    trio.until_asked("setBreakpoints", 1);
    let late = trio.late.request("setBreakpoints", wants(2));
    let stalled = trio.stalled.request("setBreakpoints", wants(3));
    // Behind them in every connection, so they have arrived.
    trio.late.call("x-other-source", Value::Null);
    let arrived = || {
        let listed = trio.late.call("breakroom/breakpoints", json!({}));
        (listed["body"]["breakpoints"].as_array()?.len() == 3).then_some(())
    };
    breakroom_testkit::wait::until(crate::support::rig::LONG, arrived).expect("the hub has all three");
    assert_eq!(asked(&rig, "setBreakpoints").len(), 1, "one at a time");
    trio.late.call("x-go", Value::Null);
    for (client, request, line) in [(&mut trio.first, first, 1), (&mut trio.late, late, 2)] {
        let answer = client.response(request);
        assert_eq!(each(answer["body"]["breakpoints"].as_array().unwrap(), "line"), [line]);
    }
    let told = trio.asked("setBreakpoints");
    assert_eq!(told.iter().map(lines).collect::<Vec<_>>(), [vec![1], vec![1, 2, 3]]);
    trio.wake();
    let answer = trio.stalled.response(stalled);
    assert_eq!(each(answer["body"]["breakpoints"].as_array().unwrap(), "line"), [3]);
    trio.end();
}

#[test]
fn answers_are_matched_by_index_then_by_line_and_may_be_short_or_empty() {
    let rig = Rig::new();
    let answers = [
        // Moved, and without any number.
        json!([{"verified": true, "line": 2}]),
        // In another order.
        json!([{"id": 3, "verified": true, "line": 20}, {"id": 4, "verified": true, "line": 10}]),
        // Short: the second is left out.
        json!([{"id": 3, "verified": true, "line": 10}, {"id": 9, "verified": true, "line": 30}]),
        json!([]),
    ];
    let steps: Vec<Value> =
        answers.into_iter().flat_map(|list| taken("setBreakpoints", json!({"breakpoints": list}))).collect();
    let mut trio = Trio::stopped(&rig, &steps);
    let moved = set_lines(&mut trio.first, "/moved", &[1]);
    assert_eq!((&moved[0]["line"], &moved[0]["verified"]), (&json!(2), &json!(true)));
    let turned = set_lines(&mut trio.first, "/turned", &[10, 20]);
    assert_eq!(each(&turned, "line"), [20, 10], "a whole answer is matched by its order");
    let short = set_lines(&mut trio.late, "/short", &[10, 20, 30]);
    assert_eq!(each(&short, "verified"), [true, false, true], "{short:?}");
    assert_eq!((&short[0]["line"], &short[2]["line"]), (&json!(10), &json!(30)));
    let empty = set_lines(&mut trio.late, "/empty", &[1, 2]);
    assert_eq!(each(&empty, "verified"), [false, false]);
    for list in [&short, &empty] {
        assert!(list.iter().all(|breakpoint| breakpoint["id"].is_i64()), "{list:?}");
    }
    trio.end();
}

#[test]
fn exception_filters_are_merged_to_the_strongest() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    let wants = |filters: Value, options: Value| json!({"filters": filters, "filterOptions": options});
    trio.first.call(
        "setExceptionBreakpoints",
        wants(json!(["raised"]), json!([{"filterId": "u", "condition": "x"}])),
    );
    trio.late.call("setExceptionBreakpoints", wants(json!(["uncaught"]), json!([{"filterId": "u"}])));
    let owed = trio.stalled.request("setExceptionBreakpoints", wants(json!(["raised", "other"]), json!([])));
    let told = trio.until_asked("setExceptionBreakpoints", 3);
    assert_eq!(told[1], wants(json!(["raised", "uncaught"]), json!([{"filterId": "u"}])));
    assert_eq!(told[2], wants(json!(["raised", "uncaught", "other"]), json!([{"filterId": "u"}])));
    // What one takes back is still what the others want.
    trio.late.call("setExceptionBreakpoints", wants(json!([]), json!([])));
    let told = trio.asked("setExceptionBreakpoints").pop().unwrap();
    assert_eq!(told, wants(json!(["raised", "other"]), json!([{"filterId": "u", "condition": "x"}])));
    trio.wake();
    trio.stalled.response(owed);
    trio.end();
}

#[test]
fn each_client_sees_its_own_spelling_of_a_source() {
    let rig = Rig::new();
    let folder = rig.sandbox.work();
    std::fs::write(folder.join("real.py"), "pass\n").unwrap();
    std::os::unix::fs::symlink("real.py", folder.join("soft.py")).unwrap();
    let [real, soft] = ["real.py", "soft.py"].map(|name| text(&folder.join(name)));
    let frame = json!({"id": 1, "name": "f", "line": 1, "column": 1, "source": {"path": real}});
    let stack = json!({"stackFrames": [frame], "totalFrames": 1});
    let steps = [
        &taken("stackTrace", stack)[..],
        &[sent("output", json!({"output": "x", "source": {"path": real}}))],
    ]
    .concat();
    let mut trio = Trio::stopped(&rig, &steps);
    set_lines(&mut trio.first, &real, &[1]);
    set_lines(&mut trio.late, &soft, &[2]);
    let stacks =
        [&mut trio.first, &mut trio.late].map(|client| client.call("stackTrace", json!({"threadId": 1})));
    let paths = stacks.each_ref().map(|stack| &stack["body"]["stackFrames"][0]["source"]["path"]);
    assert_eq!(paths, [&json!(real), &json!(soft)]);
    trio.wake();
    for (client, path) in [(&mut trio.first, &real), (&mut trio.late, &soft), (&mut trio.stalled, &real)] {
        assert_eq!(client.event("output")["body"]["source"]["path"], path.as_str());
    }
    trio.end();
}

#[test]
fn filters_that_change_nothing_for_the_engine_are_not_told_again() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    let wants = |filters: Value| json!({"filters": filters});
    trio.first.call("setExceptionBreakpoints", wants(json!(["a", "b"])));
    trio.late.call("setExceptionBreakpoints", wants(json!(["b"])));
    trio.first.call("setExceptionBreakpoints", wants(json!(["a", "b"])));
    trio.late.call("setExceptionBreakpoints", wants(json!(["c"])));
    let told = trio.asked("setExceptionBreakpoints");
    let filters: Vec<_> = told.iter().map(|told| told["filters"].clone()).collect();
    assert_eq!(filters, [json!(["a", "b"]), json!(["a", "b", "c"])]);
    trio.end();
}
