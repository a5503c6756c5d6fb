//! How a program ends, its server with it, and what is left: nothing.

use breakroom_testkit::{fake_ez, wait};
use serde_json::{Value, json};

use crate::support::editor::{Desk, Hub};
use crate::support::ez::Ez;

#[test]
fn the_exit_code_is_the_processs_if_the_server_tells_none() {
    for (program, code) in
        [("let x int 1\nlet y int 1\nexit 7\n", 7), ("let x int 1\nlet y int 1\ndie\n", 137)]
    {
        let mut ez = Ez::open("real", program);
        ez.launch(&[], json!({}));
        ez.ended(code, "", "");
    }
}

#[test]
fn a_runtime_error_is_shown_and_ends_the_program_with_its_code() {
    let program = "print begins\nlet x int 1\nfail division by zero\n";
    let mut ez = Ez::open("real", program);
    ez.launch(&[], json!({}));
    ez.ended(1, "begins\n", "Runtime error: division by zero\n");

    let mut ez = Ez::open("", program);
    ez.launch(&[], json!({}));
    let error = ez.client.event_where("output", |body| body["category"] == "stderr");
    assert_eq!(error["body"]["line"], 3, "{error}");
    ez.ended(1, "begins\n", "division by zero\n");
}

#[test]
fn terminate_ends_a_server_that_lives_on_and_all_that_its_program_started() {
    for habits in ["real", ""] {
        let mut ez = Ez::open(habits, "let x int 1\nlet y int 1\nspawn\nprint spins\nspin\n");
        ez.launch(&[], json!({}));
        ez.client.output_containing("spins");
        let sleeps =
            || ez.desk.sandbox.census().processes().iter().any(|one| one.command_line.contains("sleep 600"));
        wait::until(wait::DEADLINE, || sleeps().then_some(())).expect("the program has started it");
        ez.client.call("terminate", Value::Null);
        ez.client.event("terminated");
        ez.left("spins\n", "");
    }
}

#[test]
fn terminate_ends_a_program_that_prints_without_end() {
    for habits in ["real", ""] {
        let mut ez = Ez::open(habits, "let x int 1\nlet y int 1\nflood\n");
        ez.launch(&[], json!({}));
        ez.client.output_containing("more and more");
        ez.client.call("terminate", Value::Null);
        ez.client.event("terminated");
        ez.client.allow(&["output"]);
        ez.client.call("disconnect", Value::Null);
        ez.client.finish();
        ez.desk.leave(Hub::Private);
    }
}

#[test]
fn a_server_ends_with_its_adapter_when_nobody_is_there_any_more() {
    for habits in ["real", ""] {
        let desk = Desk::new();
        let program = desk.sandbox.work().join("p.ez");
        std::fs::write(&program, "let x int 1\nlet y int 1\nspawn\nprint spins\nspin\n").unwrap();
        let mut command = desk.sandbox.command(["ez", "dap", "--"]);
        command.arg(fake_ez::server_path()).arg("debugserver").env(fake_ez::HABITS_VARIABLE, habits);
        let mut client = breakroom_testkit::Strict::spawn(command);
        client.call("initialize", json!({"adapterID": "x"}));
        client.call("launch", json!({"program": program}));
        client.event("initialized");
        client.call("configurationDone", Value::Null);
        client.output_containing("spins");
        // Its stdin ends, without a word before.
        let status = client.finish().status.unwrap();
        assert!(status.success(), "{status}");
        desk.leave(Hub::Private);
    }
}

#[test]
fn a_lost_client_leaves_no_server_behind() {
    let mut ez = Ez::open("real", "let x int 1\nlet y int 1\nspawn\nprint spins\nspin\n");
    ez.launch(&[], json!({"breakroom": {"onLastLeave": "terminate"}}));
    ez.client.output_containing("spins");
    ez.client.abandon();
    ez.desk.leave(Hub::Private);
}
