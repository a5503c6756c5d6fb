//! Rows "who may drive" and "a resume".

use breakroom_testkit::Arrival;
use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::trio::{
    Trio, Words, all_stopped, asked, heard, on_word, said, sent, set_lines, taken, top_frame,
};

#[test]
fn everybody_drives_who_did_not_say_otherwise() {
    let rig = Rig::new();
    let step = [&taken("next", Value::Null)[..], &[all_stopped("step")]].concat();
    let mut trio = Trio::stopped(&rig, &[step.clone(), step.clone(), step].concat());
    let next = json!({"threadId": 1});
    trio.first.call("next", next.clone());
    trio.first.event("stopped");
    trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    trio.late.call("next", next.clone());
    trio.late.event("stopped");
    trio.first.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    let stepped = trio.stalled.request("next", next);
    for client in [&mut trio.first, &mut trio.late] {
        client.event("continued");
        let told = client.event("stopped");
        assert_eq!(told["body"]["description"], "step (resumed by Stalled)");
    }
    trio.wake();
    trio.stalled.response(stepped);
    for by in ["First", "Late"] {
        trio.stalled.event("continued");
        assert_eq!(trio.stalled.event("stopped")["body"]["description"], format!("step (resumed by {by})"));
    }
    trio.stalled.event("stopped");
    trio.end();
}

#[test]
fn an_observer_looks_at_everything_and_changes_nothing() {
    const DEEDS: [&str; 16] = [
        "continue",
        "reverseContinue",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
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
    const LISTS: [&str; 4] =
        ["setBreakpoints", "setFunctionBreakpoints", "setDataBreakpoints", "setInstructionBreakpoints"];
    let rig = Rig::new();
    let observe = Words::own(json!({"role": "observe"}));
    let mut trio = Trio::saying(&rig, "launch", &[], &[Words::default(), observe.clone(), observe]);
    for deed in DEEDS {
        let refused = trio.late.call_failing(deed, json!({"threadId": 1, "expression": "1"}));
        assert!(said(&refused).contains("not for observers"), "{refused}");
    }
    for list in LISTS {
        let wanted = json!({"source": {"path": "/a"}, "breakpoints": [{"line": 1}, {"line": 2}]});
        let answer = trio.late.call(list, wanted);
        let unverified = |breakpoint: &Value| breakpoint["verified"] == false;
        let breakpoints = answer["body"]["breakpoints"].as_array().unwrap();
        assert!(breakpoints.len() == 2 && breakpoints.iter().all(unverified), "{answer}");
    }
    trio.late.call("setExceptionBreakpoints", json!({"filters": ["all"]}));
    let frame = top_frame(&mut trio.late, 1);
    trio.late.call("scopes", json!({"frameId": frame}));
    assert_eq!(trio.late.call("breakroom/breakpoints", json!({}))["body"]["breakpoints"], json!([]));

    set_lines(&mut trio.first, "/a", &[3]);
    assert_eq!(trio.asked("setBreakpoints").len(), 1, "the driver's own");
    let changed = DEEDS.iter().chain(&LISTS[1..]).chain(&["setExceptionBreakpoints"]);
    for command in changed {
        assert_eq!(asked(&rig, command), [] as [Value; 0], "`{command}` of an observer reached the adapter");
    }
    trio.end();
}

#[test]
fn while_a_resume_is_under_way_reads_and_second_resumes_are_refused_with_the_name_and_a_failed_one_never_was()
{
    let rig = Rig::new();
    let refused = json!({"respond": "next", "success": false, "message": "no"});
    let steps = [
        &[json!({"expect": "next"})],
        &on_word("x-refuse", &[refused])[..],
        &[json!({"expect": "next"})],
        &on_word("x-agree", &[json!({"respond": "next"}), all_stopped("step")]),
    ];
    let mut trio = Trio::stopped(&rig, &steps.concat());
    let frame = top_frame(&mut trio.late, 1);
    let scopes = trio.late.call("scopes", json!({"frameId": frame}));
    let locals = scopes["body"]["scopes"][0]["variablesReference"].clone();
    for (word, agrees) in [("x-refuse", false), ("x-agree", true)] {
        let next = trio.first.request("next", json!({"threadId": 1}));
        // Behind the step, from the same client.
        let behind = trio.first.request("next", json!({"threadId": 1}));
        assert_eq!(said(&trio.first.failure(behind)), "not stopped: resumed by First");
        for (command, arguments) in [
            ("stackTrace", json!({"threadId": 1})),
            ("scopes", json!({"frameId": frame})),
            ("variables", json!({"variablesReference": locals})),
            ("evaluate", json!({"expression": "1", "frameId": frame})),
            ("continue", json!({"threadId": 1})),
            ("next", json!({"threadId": 1})),
            ("stepIn", json!({"threadId": 1})),
        ] {
            let refusal = trio.late.call_failing(command, arguments);
            assert_eq!(said(&refusal), "not stopped: resumed by First", "{command}");
            assert_eq!(refusal["body"]["error"]["id"], 9011, "{refusal}");
        }
        trio.late.call(word, Value::Null);
        if agrees {
            trio.first.response(next);
            trio.first.event("stopped");
            trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
            let stale = trio.late.call_failing("scopes", json!({"frameId": frame}));
            assert!(said(&stale).contains("earlier stop"), "{stale}");
        } else {
            assert_eq!(said(&trio.first.failure(next)), "no");
            // The stop is back, with its ids; a strict client has heard of nothing.
            trio.late.call("variables", json!({"variablesReference": locals}));
            assert_eq!(top_frame(&mut trio.first, 1), frame);
        }
    }
    assert_eq!(trio.asked("next").len(), 2);
    trio.wake();
    trio.stalled.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
    trio.end();
}

/// What an engine says about a resume that it carries out, in every order that engines have.
const ORDERS: [&[&str]; 5] = [
    &["response", "continued", "stopped"],
    &["continued", "response", "stopped"],
    &["continued", "stopped", "response"],
    &["response", "stopped"],
    &["stopped", "response"],
];

const RESUMES: [&str; 8] =
    ["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto", "restartFrame"];

#[test]
fn every_other_client_hears_of_each_kind_of_resume_exactly_once_before_the_stop_whatever_the_engine_says_first()
 {
    let rig = Rig::new();
    let mut steps = Vec::new();
    for command in RESUMES {
        for order in ORDERS {
            if command == "goto" {
                steps.extend(taken("gotoTargets", json!({"targets": [{"id": 1, "label": "x", "line": 1}]})));
            }
            steps.push(json!({"expect": command}));
            steps.extend(order.iter().map(|what| match *what {
                "response" => json!({"respond": command}),
                "continued" => sent("continued", json!({"threadId": 1, "allThreadsContinued": true})),
                _ => all_stopped("step"),
            }));
        }
    }
    let mut trio = Trio::stopped(&rig, &steps);
    for command in RESUMES {
        for order in ORDERS {
            let mut arguments = json!({"threadId": 1});
            if command == "goto" {
                let targets = trio.first.call("gotoTargets", json!({"source": {"path": "/a"}, "line": 1}));
                arguments["targetId"] = targets["body"]["targets"][0]["id"].clone();
            }
            if command == "restartFrame" {
                arguments = json!({"frameId": top_frame(&mut trio.first, 1)});
            }
            let resumed = trio.first.request(command, arguments);
            trio.first.response(resumed);
            // Who asked hears what the engine itself says, and nothing made up.
            if order.contains(&"continued") {
                trio.first.event("continued");
            }
            trio.first.event("stopped");
            let told = trio.late.expect_order(&[Arrival::Event("continued"), Arrival::Event("stopped")]);
            assert_eq!(told[1]["body"]["description"], "step (resumed by First)", "{command} {order:?}");
        }
    }
    trio.wake();
    let rounds = RESUMES.len() * ORDERS.len();
    for _ in 0..rounds {
        trio.stalled.event("continued");
        trio.stalled.event("stopped");
    }
    for client in [&trio.late, &trio.stalled] {
        let runs = heard(client, &["continued", "stopped"]);
        let names: Vec<&str> = runs.iter().map(|(name, _)| &**name).collect();
        let expected = [&["stopped"][..], &["continued", "stopped"].repeat(rounds)].concat();
        assert_eq!(names, expected);
    }
    trio.end();
}
