//! "Hello" and "No extra hop": whose surroundings a session lives in, and what a door is for.

use std::fs;
use std::os::unix::fs::symlink;

use breakroom_testkit::{Strict, fake};
use serde_json::{Value, json};

use crate::support::listening::Listening;
use crate::support::rig::{Rig, begin, end, launch, text};
use crate::support::strangers;
use crate::support::trio::{Words, introduction, join, on_word};

#[test]
fn a_relative_adapter_and_one_on_the_path_are_found_where_the_launcher_is() {
    let rig = Rig::new();
    // The daemon was started by somebody else, elsewhere.
    rig.serves_another();
    let folder = rig.sandbox.work().join("launcher");
    fs::create_dir_all(folder.join("bin")).unwrap();
    symlink(fake::adapter_path(), folder.join("bin/own-adapter")).unwrap();
    let log = text(&rig.log_path());
    for name in ["own-adapter", "bin/own-adapter", "./bin/own-adapter"] {
        let mut command = rig.sandbox.command(["dap"]);
        let path = std::env::var("PATH").unwrap_or_default();
        command.current_dir(&folder).env("PATH", format!("{}:{path}", text(&folder.join("bin"))));
        let mut client = Strict::spawn(command);
        begin(&mut client, json!({"args": [name, "--log", log]}));
        end(client);
        assert_eq!(rig.log()[0]["cwd"], text(&folder), "{name}");
    }
    let mut client = rig.client();
    client.call("initialize", introduction("Elsewhere", &Value::Null));
    let refused = client.call_failing("launch", launch(json!({"args": ["own-adapter"]})));
    assert!(refused["message"].as_str().unwrap().contains("own-adapter"), "{refused}");
    end(client);
}

#[test]
fn a_terminal_of_the_hub_has_the_launchers_surroundings_and_not_those_of_one_who_joined() {
    let rig = Rig::new();
    rig.serves_another();
    let folder = rig.sandbox.work().join("launcher");
    fs::create_dir(&folder).unwrap();
    let show = "echo \"<$WHO> <$(pwd)> <$(umask)>\"";
    let run =
        json!({"type": "request", "command": "runInTerminal", "arguments": {"args": ["sh", "-c", show]}});
    let steps = on_word("x-terminal", &[json!({"send": run}), json!({"expect_response": "runInTerminal"})]);
    let mut command = rig.sandbox.program("sh");
    command.args(["-c", "umask 027; exec \"$0\" dap"]).arg(rig.sandbox.binary());
    command.current_dir(&folder).env("WHO", "the launcher");
    let mut first = Strict::spawn(command);
    begin(&mut first, rig.fake(&steps));

    let mut command = rig.sandbox.command(["dap", "--session"]);
    command.env("WHO", "the joiner").current_dir("/");
    let mut late = Strict::spawn(command);
    late.call("initialize", introduction("Late", &Value::Null));
    late.event("initialized");
    late.call("attach", json!({}));
    late.call("configurationDone", Value::Null);
    late.call("x-terminal", Value::Null);
    let expected = format!("<the launcher> <{}> <0027>", text(&folder));
    for client in [&mut first, &mut late] {
        client.output_containing(&expected);
        client.output_containing("\"processId\"");
    }
    end(late);
    end(first);
}

#[test]
fn a_caller_in_another_mount_namespace_gets_a_hub_of_its_own() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    rig.serves_another();
    let mut command = rig.sandbox.program("unshare");
    command.args(["--mount", "--"]).arg(rig.sandbox.binary()).arg("dap");
    let mut client = Strict::spawn(command);
    begin(&mut client, rig.fake(&[]));
    let door = client.pid().unwrap();
    let processes = rig.sandbox.census().processes();
    let guard = processes.iter().find(|process| process.command_line.trim_end().ends_with(" guard")).unwrap();
    assert_eq!(guard.parent.cast_unsigned(), door, "the session lives in the door's own process");
    end(client);
}

/// The bytes that a process has read and written by whatever call.
fn moved(pid: u32) -> u64 {
    let table = fs::read_to_string(format!("/proc/{pid}/io")).expect("the process is ours");
    let count = |name: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel counts it");
        line.trim().parse::<u64>().expect("it is a number")
    };
    count("rchar:") + count("wchar:")
}

/// A megabyte in each direction.
fn talk(client: &mut Strict) {
    let expression = "x".repeat(1 << 17);
    for _ in 0..8 {
        let answer = client.call("evaluate", json!({"expression": expression, "context": "watch"}));
        assert_eq!(answer["body"]["result"], expression);
    }
}

#[test]
fn no_byte_of_a_session_passes_through_its_door() {
    let rig = Rig::new();
    let listening = Listening::start(&rig, &["--listen", "127.0.0.1:0"]);
    let direct = rig.client();
    let door = direct.pid().unwrap();
    for (mut client, door) in [(direct, door), (listening.client(), listening.door.id())] {
        begin(&mut client, rig.fake(&[]));
        let before = moved(door);
        talk(&mut client);
        let by_the_door = moved(door) - before;
        assert!(by_the_door < 1 << 16, "the door moved {by_the_door} bytes");
        end(client);
    }
}

#[test]
fn a_door_that_dies_is_the_loss_of_its_client_though_the_clients_own_pipes_stay_open() {
    let rig = Rig::new();
    let mut first = rig.client();
    begin(&mut first, rig.fake(&[]));
    let mut raw = rig.raw();
    raw.begin(rig.fake(&[]));
    raw.door.kill().unwrap();
    raw.door.wait().unwrap();
    let rest = std::iter::from_fn(|| raw.value()).count();
    assert_eq!(rest, 0, "the hub closes what it was given, and says nothing more");
    assert!(raw.input.is_some(), "the client still holds its end");
    // Another session of the same hub does not notice.
    first.call("threads", Value::Null);
    end(first);
    drop(raw);
    rig.only_the_daemon_is_left();
}

#[test]
fn one_that_joins_and_does_not_read_delays_nobody_who_joins_after_it() {
    let rig = Rig::new();
    let mut output =
        json!({"send": {"type": "event", "event": "output", "body": {"output": "x".repeat(2000)}}});
    output["repeat"] = 100.into();
    let mut first = rig.client();
    begin(
        &mut first,
        rig.fake(&on_word("x-print", &[output, json!({"send": {"type": "event", "event": "x-end"}})])),
    );
    first.call("x-print", Value::Null);
    first.event("x-end");
    first.allow(&["output"]);
    // Its picture is larger than its pipe.
    let mut stalled = rig.sandbox.client(["dap", "--session"]);
    stalled.call("initialize", introduction("Stalled", &Value::Null));
    stalled.event("initialized");
    stalled.stall();
    let asked = [stalled.request("attach", json!({})), stalled.request("configurationDone", Value::Null)];
    let mut late = join(&rig, "Late", &Words::default());
    (0..100).for_each(|_| drop(late.event("output")));
    stalled.wake();
    asked.into_iter().for_each(|request| drop(stalled.response(request)));
    (0..100).for_each(|_| drop(stalled.event("output")));
    for client in [stalled, late, first] {
        end(client);
    }
    rig.only_the_daemon_is_left();
}
