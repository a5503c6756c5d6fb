//! Debug servers that others may come to as well: whoever leaves one leaves its program running.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use breakroom_testkit::wait;
use serde_json::json;

use crate::support::agents::{at_last, desk, leave, ticks_on, value, write};
use crate::support::editor::Bystander;

const SPIN_GO: &str = "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n\nfunc main() {\n\tticks := 0\n\tfor {\n\t\tticks++\n\t\tfmt.Println(ticks)\n\t\ttime.Sleep(10 * time.Millisecond)\n\t}\n}\n";

#[test]
fn a_go_program_runs_on_when_its_server_for_several_clients_is_left() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    let file = write(&desk, "spin.go", SPIN_GO);
    let work = desk.sandbox.work();
    let mut build = Command::new("go");
    build.args(["build", "-gcflags=all=-N -l", "-o", "spin", "spin.go"]).current_dir(&work);
    assert!(build.status().unwrap().success());
    let mut server = desk.sandbox.program("dlv");
    server.args([
        "exec",
        "--headless",
        "--accept-multiclient",
        "--continue",
        "--listen=127.0.0.1:0",
        "./spin",
    ]);
    server.current_dir(&work).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Bystander(server.spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("listening at: ") {
        said.clear();
        assert!(lines.read_line(&mut said).unwrap() > 0, "it listens");
    }
    let address = said.rsplit(' ').next().unwrap().trim();
    let attach = json!({"address": address, "language": "go", "breakpoints": [{"file": file, "line": 12}]});
    // Such a server may refuse whoever comes while it settles, and says that it stopped before it answers about it.
    let attached = || (!at_last(&agent, "debugger_attach", attach.clone()).is_error).then_some(());
    wait::until(wait::DEADLINE, attached).expect("it is attached to");
    let stands = || agent.call("debugger_inspect", json!({})).text.contains("spin.go:12").then_some(());
    wait::until(wait::DEADLINE, stands).expect("it stands");
    let before: i64 = value(&agent, "ticks").parse().unwrap();
    let left = agent.ok("debugger_stop", json!({}));
    assert_eq!(left.state(), "left", "{}", left.text);
    ticks_on(&mut lines, before);
    // The program outlives its server, and ends when nobody reads what it prints.
    drop((server, lines));
    leave(desk, agent);
}
