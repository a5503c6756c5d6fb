//! Python with its child processes, and several services of a compound as one session.

use breakroom_testkit::fixtures::{family, marked};
use serde_json::{Value, json};

use crate::support::agents::{desk, ended, go_on, leave, patiently, printed, says, start, value, write};

#[test]
fn a_python_program_and_its_children_are_one_session() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let child = family("child.py");
    let breakpoints =
        json!([{"file": child, "text": "mark: child"}, {"file": family("main.py"), "text": "mark: main"}]);
    let program =
        json!({"program": family("main.py"), "args": ["chain", "child"], "breakpoints": breakpoints});
    let mut stops = vec![start(&agent, program).data];
    while stops.len() < 4 {
        let epoch = stops.last().map(|stop| stop["epoch"].clone());
        stops.push(patiently(&agent, "debugger_wait", json!({"after_epoch": epoch})).data);
    }
    let (main, children): (Vec<&Value>, Vec<&Value>) =
        stops.iter().partition(|stop| stop["file"].as_str().is_some_and(|file| file.ends_with("main.py")));
    let [main] = &main[..] else { panic!("{stops:?}") };
    let session = agent.ok("debugger_get_session", json!({}));
    assert_eq!(
        (&session.data["childSessions"], &session.data["mode"]),
        (&json!(3), &json!("MultiSessionParent"))
    );

    let one = &children[0]["thread_id"];
    let stepped = patiently(&agent, "debugger_step", json!({"thread_id": one}));
    assert_eq!((&stepped.data["thread_id"], &stepped.data["line"]), (one, &json!(marked(&child, "next"))));
    assert_eq!(value(&agent, "steps"), "1");
    let total = json!({"expression": "total", "thread_id": main["thread_id"]});
    assert_eq!(agent.ok("debugger_evaluate", total).data["result"], "40");
    ended(&patiently(&agent, "debugger_continue", json!({"all": true})), 0);
    printed(&agent, &session.session(), "codes [0, 0]");
    leave(desk, agent);
}

const SERVICE: &str = "const name = process.argv[2];\nlet served = 0;\nserved += 1; // here\nconsole.log(`${name} served ${served}`);\n";

#[test]
fn several_services_of_a_compound_are_one_session() {
    let Some((desk, agent)) = desk(&["js-debug", "node", "debugpy"]) else { return };
    let file = write(&desk, "service.js", SERVICE);
    let python = write(&desk, "jobs.py", "name = 'jobs'\nprint(name, 'done', flush=True)  # here\n");
    let service = |name: &str| {
        let program = "${workspaceFolder}/service.js";
        json!({"name": name, "type": "node", "request": "launch", "program": program, "args": [name]})
    };
    let jobs = json!({
        "name": "jobs", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/jobs.py",
    });
    let launch = json!({
        "configurations": [service("api"), service("web"), jobs],
        "compounds": [{"name": "all", "configurations": ["api", "web", "jobs"]}],
    });
    write(&desk, ".vscode/launch.json", &launch.to_string());
    let breakpoints = json!([{"file": file, "text": "// here"}, {"file": python, "text": "# here"}]);
    let mut told = start(&agent, json!({"configuration": "all", "breakpoints": breakpoints}));
    let id = told.session();
    let mut names = Vec::new();
    while told.state() == "paused" {
        names.push(value(&agent, "name"));
        assert_eq!(told.session(), id);
        told = go_on(&agent);
    }
    names.sort();
    assert_eq!(names, ["api", "jobs", "web"], "{}", told.text);
    ended(&told, 0);
    for text in ["api served 1", "web served 1", "jobs done"] {
        printed(&agent, &id, text);
    }
    let none = agent.failed("debugger_start", json!({"configuration": "nosuch"}));
    says(&none, &["nosuch", "all"]);
    leave(desk, agent);
}
