//! Node.js: a parent that only coordinates and a child that runs the program, as one session.

use breakroom_testkit::Mcp;
use breakroom_testkit::fixtures::{family, marked};
use serde_json::{Value, json};

use crate::support::agents::{
    desk, ended, go_on, leave, patiently, printed, says, stands, start, value, write,
};
use crate::support::company::listed;

const PROGRAM: &str =
    "let sum = 0;\nfor (let n = 1; n <= 3; n++) {\n  sum += n; // here\n}\nconsole.log(`sum ${sum}`);\n";

#[test]
fn a_program_stops_at_a_breakpoint_that_was_set_before_anything_ran() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "app.js", PROGRAM);
    for language in ["nodejs", "javascript", "node"] {
        let breakpoints = json!([{"text": "// here"}]);
        let told = start(&agent, json!({"language": language, "program": file, "breakpoints": breakpoints}));
        stands(&told, &file, 3);
        assert_eq!(told.data["reason"], "breakpoint", "{}", told.text);
        assert_eq!(told.data["breakpoints"][0]["state"], "verified", "{}", told.text);
        let session = agent.ok("debugger_get_session", json!({"session_id": told.session()}));
        let data = &session.data;
        assert_eq!((&data["id"], &data["language"]), (&json!(told.session()), &json!("nodejs")));
        let mode = (&data["mode"], &data["childSessions"], &data["state"]);
        assert_eq!(mode, (&json!("MultiSessionParent"), &json!(1), &json!("paused")), "{}", session.text);
        assert_eq!(value(&agent, "n"), "1");
        agent.ok("debugger_breakpoints", json!({"remove": "all"}));
        let end = go_on(&agent);
        ended(&end, 0);
        printed(&agent, &told.session(), "sum 6");
        agent.ok("debugger_stop", json!({}));
    }
    leave(desk, agent);
}

#[test]
fn typescript_is_debugged_in_its_own_lines() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let text =
        "const half: number = 20;\nconst twice: number = half * 2;\nconsole.log(`twice ${twice}`); // here\n";
    let file = write(&desk, "app.ts", text);
    let compiled =
        format!("\"use strict\";\n{}//# sourceMappingURL=app.js.map\n", text.replace(": number", ""));
    let program = write(&desk, "app.js", &compiled);
    // Each line is one below where it was.
    let map = json!({
        "version": 3, "file": "app.js", "sources": ["app.ts"], "names": [], "mappings": ";AAAA;AACA;AACA",
    });
    write(&desk, "app.js.map", &map.to_string());
    let breakpoints = json!([{"file": file, "text": "// here"}]);
    let told =
        start(&agent, json!({"language": "typescript", "program": program, "breakpoints": breakpoints}));
    stands(&told, &file, 3);
    assert_eq!(value(&agent, "twice + 2"), "42");
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn it_stops_on_entry_only_if_that_is_wanted() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "app.js", PROGRAM);
    let entry = start(&agent, json!({"language": "nodejs", "program": file, "stop_on_entry": true}));
    assert_eq!(entry.data["reason"], "entry", "{}", entry.text);
    stands(&entry, &file, 1);
    // A breakpoint of now is hit as well.
    let set = agent.ok("debugger_set_breakpoint", json!({"line": 5}));
    assert_eq!(set.state(), "verified", "{}", set.text);
    let told = go_on(&agent);
    stands(&told, &file, 5);
    assert_eq!(value(&agent, "sum"), "6");
    ended(&go_on(&agent), 0);

    let end = start(&agent, json!({"language": "nodejs", "program": file}));
    ended(&end, 0);
    leave(desk, agent);
}

#[test]
fn a_breakpoint_in_a_file_that_is_not_loaded_yet_is_pending_until_it_is() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let late = write(&desk, "late.js", "exports.twice = (n) => {\n  return n * 2; // here\n};\n");
    let main =
        "let n = 21;\nn += 0; // first\nconst late = require('./late.js');\nconsole.log(late.twice(n));\n";
    let file = write(&desk, "app.js", main);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "// first"}]}));
    stands(&told, &file, 2);
    let set = agent.ok("debugger_set_breakpoint", json!({"file": late, "text": "// here"}));
    assert_eq!(set.state(), "pending", "{}", set.text);
    says(&set, &["pending", "it binds when"]);
    let told = go_on(&agent);
    stands(&told, &late, 2);
    let listed = agent.ok("debugger_breakpoints", json!({}));
    assert_eq!(listed.data["breakpoints"][1]["state"], "verified", "{}", listed.text);
    assert_eq!(listed.data["breakpoints"][1]["hits"], 1, "{}", listed.text);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

/// js-debug has both by one number.
#[test]
fn a_breakpoint_that_is_set_behind_another_leaves_that_where_it_is() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let text = "let count = 0;\nfor (let i = 0; i < 4; i++) {\n  count += 1;\n  console.log(count);\n}\n";
    let file = write(&desk, "app.js", text);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"line": 3}]}));
    stands(&told, &file, 3);
    agent.ok("debugger_set_breakpoint", json!({"line": 4}));
    for line in [4, 3, 4] {
        stands(&go_on(&agent), &file, line);
    }
    let listed = agent.ok("debugger_breakpoints", json!({}));
    says(
        &listed,
        &["breakpoint 1 app.js:3 · verified · 2 hits", "breakpoint 2 app.js:4 · verified · 2 hits"],
    );

    // The same place again means other terms: from now on it captures.
    agent.ok("debugger_set_breakpoint", json!({"line": 4, "capture": ["count"]}));
    let told = go_on(&agent);
    stands(&told, &file, 3);
    assert_eq!(told.data["captured"], Value::Null, "{}", told.text);
    let told = go_on(&agent);
    stands(&told, &file, 3);
    assert_eq!(told.data["captured"][0]["values"]["count"], "3", "{}", told.text);
    let end = go_on(&agent);
    ended(&end, 0);
    assert_eq!(end.data["captured"][0]["values"]["count"], "4", "{}", end.text);
    leave(desk, agent);
}

/// A stop of each: every one once, in whatever order.
fn every_stop(agent: &Mcp, first: breakroom_testkit::mcp::Reply, count: usize) -> Vec<Value> {
    let mut stops = vec![first.data];
    while stops.len() < count {
        let epoch = stops.last().map(|stop| stop["epoch"].clone());
        stops.push(patiently(agent, "debugger_wait", json!({"after_epoch": epoch})).data);
    }
    stops
}

#[test]
fn two_workers_and_a_forked_child_stop_each_in_its_turn_and_none_is_lost() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let (worker, forked) = (family("worker.js"), family("forked.js"));
    let breakpoints =
        json!([{"file": worker, "text": "mark: worker"}, {"file": forked, "text": "mark: forked"}]);
    let program = json!({
        "language": "nodejs", "program": family("main.js"), "args": ["worker", "worker", "fork"],
        "breakpoints": breakpoints,
    });
    let stops = every_stop(&agent, start(&agent, program), 3);
    let thread = |stop: &Value| stop["thread_id"].as_i64().unwrap();
    let name_in = |thread: i64| {
        let arguments = json!({"expression": "name", "thread_id": thread});
        agent.ok("debugger_evaluate", arguments).data["result"]
            .as_str()
            .unwrap()
            .trim_matches('\'')
            .to_owned()
    };
    let mut names: Vec<_> = stops.iter().map(|stop| name_in(thread(stop))).collect();
    names.sort();
    assert_eq!(names, ["fork2", "worker0", "worker1"]);
    let session = agent.ok("debugger_get_session", json!({}));
    assert_eq!(session.data["childSessions"], 4, "{}", session.text);
    assert_eq!(session.data["mode"], "MultiSessionParent");
    let hits = agent.ok("debugger_breakpoints", json!({})).data["breakpoints"].clone();
    assert_eq!((&hits[0]["hits"], &hits[1]["hits"]), (&json!(2), &json!(1)));

    // The last that was shown is the active one; another is chosen by its number, for one call or for all.
    let active = thread(&stops[2]);
    assert_eq!(session.data["active_thread"], active);
    assert_eq!(value(&agent, "name"), name_in(active));
    let chosen = thread(&stops[0]);
    agent.ok("debugger_get_session", json!({"thread_id": chosen}));
    assert_eq!(value(&agent, "name"), name_in(chosen));

    // One is stepped while the others stand where they were.
    let stepped = patiently(&agent, "debugger_step", json!({}));
    assert_eq!(thread(&stepped.data), chosen, "{}", stepped.text);
    assert_eq!((&stepped.data["reason"], value(&agent, "steps")), (&json!("step"), "1".to_owned()));
    says(&stepped, &["still stopped: "]);
    let other = thread(&stops[1]);
    let stepped = patiently(&agent, "debugger_step", json!({"thread_id": other}));
    assert_eq!(thread(&stepped.data), other, "{}", stepped.text);
    let last = json!({"what": "variables", "thread_id": active, "filter": "steps"});
    says(&agent.ok("debugger_inspect", last), &["steps: number = 0"]);

    // Each goes on by itself; whoever is left is named.
    let one = agent.ok("debugger_continue", json!({"thread_id": other, "wait_ms": 0}));
    assert_eq!(one.state(), "paused", "{}", one.text);
    says(&one, &["the rest runs", &format!("thread {chosen}"), &format!("thread {active}")]);
    let end = patiently(&agent, "debugger_continue", json!({"all": true}));
    ended(&end, 0);
    for name in names {
        printed(&agent, &session.session(), &format!("{name} 2"));
    }
    leave(desk, agent);
}

/// Stops that came together are shown one by one by `continue` alone.
#[test]
fn continue_alone_shows_every_stop_once() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let breakpoints = json!([{"file": family("worker.js"), "text": "mark: worker"}]);
    let program =
        json!({"program": family("main.js"), "args": vec!["worker"; 4], "breakpoints": breakpoints});
    let mut told = start(&agent, program);
    let mut names = Vec::new();
    while told.state() == "paused" {
        names.push(value(&agent, "name"));
        told = go_on(&agent);
    }
    ended(&told, 0);
    names.sort();
    assert_eq!(names, ["worker0", "worker1", "worker2", "worker3"]);
    leave(desk, agent);
}

#[test]
fn a_grandchild_is_debugged_below_its_parent() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let forked = family("forked.js");
    let breakpoints = json!([{"file": forked, "text": "mark: forked"}]);
    let program = json!({"program": family("main.js"), "args": ["chain"], "breakpoints": breakpoints});
    let stops = every_stop(&agent, start(&agent, program), 2);
    for stop in &stops {
        assert_eq!(stop["line"], marked(&forked, "forked"), "{stop}");
    }
    let session = agent.ok("debugger_get_session", json!({}));
    let children = session.data["children"].as_array().unwrap();
    let parents: Vec<_> = children.iter().map(|child| child["parent"].as_i64().unwrap()).collect();
    assert_eq!(children.len(), 3, "{}", session.text);
    let ids: Vec<_> = children.iter().map(|child| child["id"].as_i64().unwrap()).collect();
    assert_eq!(&parents[1..], &ids[..2], "each below the one before: {children:?}");
    assert_eq!(listed(&desk)[0]["nodes"], 4);
    ended(&patiently(&agent, "debugger_continue", json!({"all": true})), 0);
    printed(&agent, &session.session(), "chain0-child 2");
    leave(desk, agent);
}
