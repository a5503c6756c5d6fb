//! Output: what is kept in the files of a run, and programs that the adapter wants in a terminal.

use std::os::unix::fs::MetadataExt;

use breakroom_testkit::{Strict, wait};
use serde_json::{Value, json};

use crate::steps::{at_threads, event, launched_with};
use crate::support::bridging::{Bridging, request};
use crate::support::rig::{LONG, Rig, end};

fn output(category: Value, text: &str) -> Value {
    let mut body = json!({"category": category, "output": text});
    if category.is_null() {
        body.as_object_mut().unwrap().remove("category");
    }
    event("output", body)
}

/// A session that is launched, so that its script waits for `threads`.
fn begin(bridge: &Bridging, adapter: &Value, terminal: bool) -> Strict {
    launched_with(bridge, adapter, json!({"adapterID": "fake", "supportsRunInTerminalRequest": terminal}))
}

fn with_logs(rig: &Rig, options: &[&str]) -> (Bridging, std::path::PathBuf) {
    let logs = rig.sandbox.work().join("not/there/yet");
    let options = [&["--logs", logs.to_str().unwrap()], options].concat();
    (Bridging::start_with(rig, &["s"], &options, |_| {}), logs)
}

fn read(logs: &std::path::Path, name: &str) -> String {
    std::fs::read_to_string(logs.join(name)).unwrap_or_default()
}

#[test]
fn r63_r64_r66_r93_output_is_kept_by_category_and_forwarded() {
    let rig = Rig::new();
    let (bridge, logs) = with_logs(&rig, &[]);
    let steps = at_threads(&[
        output(json!("stdout"), "one\n"),
        output(json!("stderr"), "two\n"),
        output(json!("console"), "three\n"),
        output(Value::Null, "four\n"),
        output(json!("telemetry"), "five\n"),
        output(json!("important"), "six\n"),
    ]);
    let mut client = begin(&bridge, &rig.fake(&steps), false);
    client.call("threads", Value::Null);
    let shown = client.output_containing("six");
    for text in ["one", "two", "three", "four"] {
        assert!(shown.contains(text), "{shown}");
    }
    end(client);
    assert!(bridge.finish().success());
    assert_eq!(read(&logs, "run-1.out"), "one\nthree\nfour\n");
    assert_eq!(read(&logs, "run-1.err"), "two\n");
    assert_eq!(std::fs::metadata(logs.join("run-1.out")).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn output_without_a_run_id_is_not_kept_and_an_unsafe_run_id_is_refused() {
    let rig = Rig::new();
    let (bridge, logs) = with_logs(&rig, &[]);
    let mut unsafe_id = request("s", &rig.fake(&[]));
    unsafe_id["run_id"] = "../escape".into();
    let (_, answer) = bridge.handshake(&unsafe_id);
    assert!(answer["error"].as_str().unwrap().starts_with("run id cannot be used"), "{answer}");
    let steps = at_threads(&[output(json!("stdout"), "one\n")]);
    let mut without = request("s", &rig.fake(&steps));
    without.as_object_mut().unwrap().remove("run_id");
    let (stream, answer) = bridge.handshake(&without);
    assert_eq!(answer, json!({"success": true}));
    let mut client = Strict::unix(stream);
    client.call("initialize", json!({"adapterID": "fake"}));
    client.call("threads", Value::Null);
    client.output_containing("one");
    end(client);
    assert!(bridge.finish().success());
    assert_eq!(std::fs::read_dir(&logs).unwrap().count(), 0);
}

fn in_terminal(script: &str) -> Value {
    let arguments = json!({
        "kind": "integrated", "args": ["sh", "-c", script], "cwd": "/",
        "env": {"PLAIN": null, "GIVEN": "given"},
    });
    json!({"send": {"type": "request", "command": "runInTerminal", "arguments": arguments}})
}

#[test]
fn r10_r65_r92_bridge_runs_the_program_and_keeps_what_its_terminal_prints() {
    let rig = Rig::new();
    let logs = rig.sandbox.work().join("logs");
    std::fs::create_dir(&logs).unwrap();
    let bridge = Bridging::start_with(&rig, &["s"], &["--logs", logs.to_str().unwrap()], |command| {
        command.env("PLAIN", "inherited").env("DCP_SECRET", "secret");
    });
    let script = "echo \"in $PWD plain=$PLAIN given=$GIVEN secret=$DCP_SECRET$DEBUG_SESSION_TOKEN\"; \
                  command -v env >/dev/null && echo found; test -t 1 && echo terminal; exec sleep 600";
    let steps = [
        output(json!("stdout"), "before\n"),
        json!({"expect": "threads"}),
        in_terminal(script),
        json!({"expect_response": "runInTerminal"}),
        output(json!("stdout"), "repeated by an event\n"),
        json!({"respond": "threads", "body": {"threads": []}}),
    ];
    // The client declares that it could, and is not asked all the same.
    let mut client = begin(&bridge, &rig.fake(&steps), true);
    client.call("threads", Value::Null);
    client.output_containing("terminal\n");
    let shown = client.output_containing("repeated by an event");
    // The adapter prints the answer and its own line between those of the terminal.
    let of_terminal = ["in / plain= given=given secret=", "found", "terminal"];
    let printed: Vec<_> = shown.lines().filter(|line| of_terminal.contains(line)).collect();
    assert_eq!(printed, of_terminal, "{shown}");
    assert!(shown.contains("processId"), "{shown}");
    let kept = wait::until(LONG, || Some(read(&logs, "run-1.out")).filter(|kept| kept.contains("terminal")));
    let kept = kept.unwrap();
    assert!(kept.starts_with("before\n") && kept.contains("given=given"), "{kept}");
    assert!(!kept.contains("repeated by an event"), "{kept}");
    // The program ends with its session.
    end(client);
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r92_client_runs_the_program_if_the_bridge_is_told_so() {
    let rig = Rig::new();
    let (bridge, logs) = with_logs(&rig, &["--run-in-terminal", "client"]);
    let steps = at_threads(&[
        in_terminal("true"),
        json!({"expect_response": "runInTerminal"}),
        output(json!("stdout"), "from an event\n"),
    ]);
    let mut client = begin(&bridge, &rig.fake(&steps), true);
    let threads = client.request("threads", Value::Null);
    let asked = client.reverse("runInTerminal");
    assert_eq!(asked["arguments"]["args"], json!(["sh", "-c", "true"]));
    client.reply(&asked, true, json!({"processId": 4711}));
    client.response(threads);
    client.output_containing("from an event");
    end(client);
    assert!(bridge.finish().success());
    assert!(read(&logs, "run-1.out").contains("from an event\n"));
}

#[test]
fn tail_of_an_adapter_that_ends_at_once_is_not_lost() {
    for _ in 0..20 {
        let rig = Rig::new();
        let bridge = Bridging::start(&rig, &["s"]);
        let mut line = event("output", json!({"output": "line {{i}}\n"}));
        line["repeat"] = 500.into();
        let (exited, terminated) = (event("exited", json!({"exitCode": 3})), event("terminated", json!({})));
        let steps = [json!({"expect": "threads"}), line, exited, terminated, json!({"exit": 0})];
        let mut client = begin(&bridge, &rig.fake(&steps), false);
        let threads = client.request("threads", Value::Null);
        let shown = client.output_containing("line 499\n");
        assert_eq!(shown.lines().count(), 500);
        client.event("exited");
        client.event("terminated");
        client.failure(threads);
        client.closed();
        client.finish();
        assert_eq!(bridge.line()["state"], "connected");
        assert_eq!(bridge.line(), json!({"session": "s", "state": "terminated", "exit_code": 3}));
    }
}
