//! An agent that goes: what it launched ends with it, what it joined goes on, and what a crash leaves waits for somebody.

use breakroom_testkit::{Mcp, adapters, wait};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::office::{LONGEST_WAIT, Office};
use crate::support::rig::{LONG, signal};

const LOOP: &str = "import time\ncount = 0\nwhile True:\n    count += 1\n    time.sleep(0.001)\n";

/// What `breakroom ls --json` shows of the only session, if there is one.
fn listed(office: &Office) -> Vec<Value> {
    let output = office.rig.sandbox.command(["ls", "--json"]).output().expect("the binary runs");
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str::<Value>(&text).unwrap_or_default().as_array().cloned().unwrap_or_default()
}

fn debuggees(office: &Office) -> usize {
    let runs = |line: &str| line.contains("spin.py");
    office.rig.sandbox.census().processes().iter().filter(|process| runs(&process.command_line)).count()
}

#[test]
fn what_an_agent_launched_ends_when_its_stdin_is_closed_and_what_it_joined_goes_on() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("spin.py", LOOP);
    let id = office.stopped_at(&program, 4).session();

    let guest = Mcp::with(&office.rig.sandbox, &["--as", "guest"]);
    let joined = guest.ok("debugger_attach", json!({"session_id": id, "wait_ms": LONGEST_WAIT}));
    assert_eq!((joined.session(), joined.state()), (id.clone(), "paused"));
    let own =
        guest.ok("debugger_start", json!({"program": program, "breakpoints": [4], "wait_ms": LONGEST_WAIT}));
    assert_eq!(listed(&office).len(), 2);
    assert!(guest.finish().success());
    let is_gone = |session: &Value| session["id"] != own.session().as_str();
    let gone = wait::until(LONG, || listed(&office).iter().all(is_gone).then_some(()));
    gone.unwrap_or_else(|| panic!("{:?}", listed(&office)));
    let step = office.ok("debugger_step", json!({"session_id": id, "wait_ms": LONGEST_WAIT}));
    assert_eq!(step.state(), "paused", "{step:?}");
    // Here the agent that launched it goes.
    office.close();
}

#[test]
fn a_door_that_is_killed_leaves_its_session_waiting_for_the_next_agent() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("spin.py", LOOP);
    let id = office.stopped_at(&program, 4).session();
    let watching = debuggees(&office);
    assert!(watching > 0);
    signal(office.agent.pid().cast_signed(), Signal::KILL);
    let Office { rig, agent } = office;
    agent.abandon();
    let agent = Mcp::new(&rig.sandbox);
    let office = Office { rig, agent };
    let lost = || {
        let sessions = listed(&office);
        let clients = sessions.first()?["clients"].as_array()?.len();
        (clients == 0).then_some(sessions)
    };
    let sessions = wait::until(LONG, lost).expect("the hub notices that the agent is gone");
    assert_eq!(sessions[0]["id"], id.as_str());
    assert_eq!(debuggees(&office), watching, "the program is still there");
    let joined = office.ok("debugger_attach", json!({"session_id": id, "wait_ms": LONGEST_WAIT}));
    assert_eq!(joined.state(), "paused", "{joined:?}");
    let value = office.ok("debugger_evaluate", json!({"expression": "count + 1"}));
    assert_eq!(value.data["result"], "1");
    let kill = office.rig.sandbox.command(["kill", "--all"]).output().expect("the binary runs");
    assert!(kill.status.success(), "{kill:?}");
    office.close();
}
