//! Go through the real binary: delve over both directions of TCP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod failures;
    pub mod scenario;
}

use serde_json::{Value, json};
use support::company::GO;
use support::editor::Hub;
use support::failures::{self, NoProgram};
use support::scenario;

#[test]
fn the_tour_over_tcp_callback_through_the_shared_hub() {
    let Some((desk, mut session)) = GO.open(Hub::Shared, &["--type", "go"]) else { return };
    session.initialize(json!({}));
    scenario::tour(session, json!({}));
    desk.leave(Hub::Shared);
}

#[test]
fn the_tour_over_tcp_connect_through_a_private_hub() {
    let Some((desk, mut session)) = GO.open(Hub::Private, &[]) else { return };
    session.initialize(json!({}));
    session.client.allow(&["capabilities"]);
    // The type says how such an adapter behaves, though it is started by the record.
    let record = json!({"type": "go", "breakroom": {"adapter": {
        "args": ["dlv", "dap", "--listen", "127.0.0.1:{{port}}"], "mode": "tcp-connect", "debuggeeStdio": true,
        "banner": {"stdout": ["DAP server listening at"]},
    }}});
    scenario::tour(session, record);
    desk.leave(Hub::Private);
}

#[test]
fn a_program_that_spins_is_paused_and_terminated() {
    let Some((desk, mut session)) = GO.open(Hub::Shared, &["--type", "delve"]) else { return };
    session.initialize(json!({}));
    scenario::pause_and_terminate(session);
    desk.leave(Hub::Shared);
}

#[test]
fn every_way_to_choose_leads_to_delve() {
    scenario::every_way_to_choose(&GO);
}

#[test]
fn a_program_that_is_not_there_fails_the_launch() {
    failures::missing_program(&GO, &NoProgram::Refused("Failed to launch"));
}

#[test]
fn a_machine_without_delve_learns_how_to_install_it() {
    failures::missing_adapter(&GO, "apt-get install");
}

#[test]
fn bad_launch_arguments_cost_one_request() {
    failures::bad_arguments(&GO);
}

#[test]
fn a_record_that_cannot_work_is_refused_with_the_reason() {
    failures::bad_records(&GO);
}

#[test]
fn a_program_that_does_not_compile_fails_the_launch_with_the_compilers_words() {
    let Some((desk, mut session)) = GO.open(Hub::Shared, &["--type", "go"]) else { return };
    session.initialize(json!({}));
    std::fs::write(&session.debuggee.source, "package main\n\nfunc main() { undefined_thing() }\n").unwrap();
    let launch = session.client.request("launch", GO.arguments(&session.debuggee, json!({})));
    let answer = session.client.failure(launch);
    for said in [&answer["message"], &answer["body"]["error"]["format"]] {
        let said = said.as_str().unwrap();
        assert!(said.contains("Failed to launch") && said.contains("undefined_thing"), "{answer}");
    }
    session.client.output_containing("undefined_thing");
    session.client.event("terminated");
    // Delve would panic on any of these.
    let breakpoints = json!({"source": {"path": session.debuggee.source}, "breakpoints": [{"line": 3}]});
    for (command, arguments) in [
        ("setBreakpoints", breakpoints),
        ("configurationDone", Value::Null),
        ("threads", Value::Null),
        ("launch", GO.arguments(&session.debuggee, json!({}))),
    ] {
        let refusal = session.client.call_failing(command, arguments);
        assert!(refusal["message"].as_str().unwrap().contains("the launch failed"), "{refusal}");
    }
    session.disconnected("");
    desk.leave(Hub::Shared);
}
