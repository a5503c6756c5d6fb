//! The fake adapter's places, numberings and speed mode, and that the census sees what it leaves behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use breakroom_testkit::{Rule, Sandbox, Strict, census, fake, wait};
use serde_json::{Value, json};

const FAKE: &str = env!("CARGO_BIN_EXE_fake-adapter");

fn session(mut client: Strict) -> breakroom_testkit::client::Ended {
    client.call("initialize", Value::Null);
    client.call("threads", Value::Null);
    client.call("disconnect", Value::Null);
    client.finish()
}

fn ended(mut child: Child) {
    assert!(wait::for_exit(&mut child, wait::DEADLINE).unwrap().success());
}

#[test]
fn it_listens_connects_and_takes_a_unix_socket() {
    let mut child = Command::new(FAKE).args(["--listen", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap();
    session(Strict::tcp(TcpStream::connect(address).unwrap()));
    ended(child);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let child = Command::new(FAKE).args(["--connect", &port]).spawn().unwrap();
    session(Strict::tcp(listener.accept().unwrap().0));
    ended(child);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let child = Command::new(FAKE).arg("--socket").arg(&path).spawn().unwrap();
    let stream = wait::until(wait::DEADLINE, || UnixStream::connect(&path).ok()).unwrap();
    session(Strict::unix(stream));
    ended(child);
}

#[test]
fn it_serves_several_connections_each_with_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let says = |text: &str| {
        let body = json!({"text": text, "port": "{{port}}"});
        let steps = [
            json!({"expect": "initialize"}),
            json!({"respond": "initialize"}),
            json!({"send": {"type": "event", "event": "x", "body": body}}),
        ];
        fake::write_script(folder.path(), &steps)
    };
    let log = folder.path().join("log");
    let mut server = Command::new(FAKE);
    server.args([says("first"), says("later")]).args(["--serve", "0", "--log"]).arg(&log);
    let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address: std::net::SocketAddr = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
    for (number, expected) in ["first", "later", "later"].into_iter().enumerate() {
        let mut client = Strict::tcp(TcpStream::connect(address).unwrap());
        client.call("initialize", Value::Null);
        let said = client.event("x")["body"].clone();
        assert_eq!((&said["text"], &said["port"]), (&json!(expected), &json!(address.port())));
        client.call("disconnect", Value::Null);
        client.finish();
        let log = std::fs::read_to_string(fake::log_of(&log, number)).unwrap();
        assert!(log.contains("\"disconnect\""), "{log}");
    }
    assert!(server.try_wait().unwrap().is_none(), "it stays");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn it_numbers_messages_as_asked() {
    for (how, expected) in [("zero", json!(0)), ("missing", Value::Null)] {
        let mut command = Command::new(FAKE);
        command.args(["--seq", how]);
        let mut client = Strict::spawn(command);
        client.tolerate(&[Rule::Sequence]);
        assert!(session(client).timeline.received().all(|message| message["seq"] == expected), "{how}");
    }
}

#[test]
fn it_logs_its_surroundings_and_all_it_receives() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = Command::new(FAKE);
    command.arg("--log").arg(&log).env("GREETING", "hi").current_dir(folder.path());
    session(Strict::spawn(command));
    let text = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["env"]["GREETING"], "hi");
    assert_eq!(lines[0]["cwd"], folder.path().canonicalize().unwrap().to_str().unwrap());
    let commands: Vec<&str> = lines[1..].iter().map(|line| line["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["initialize", "threads", "disconnect"]);
}

#[test]
fn five_hundred_events_before_a_sudden_exit_all_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let output = json!({"type": "event", "event": "output", "body": {"output": "line {{i}}\n"}});
    let mut client = Strict::spawn(fake::command(
        folder.path(),
        &[json!({"expect": "launch"}), json!({"repeat": 500, "send": output}), json!({"exit": 3})],
    ));
    client.allow(&["output"]);
    client.call("initialize", Value::Null);
    let _ = client.request("launch", json!({}));
    let ended = client.finish();
    assert_eq!(ended.status.unwrap().code(), Some(3));
    assert_eq!(ended.timeline.events("output").count(), 500);
    assert!(ended.timeline.output().ends_with("line 499\n"));
}

#[test]
fn stdout_can_be_closed_while_the_process_lives() {
    let folder = tempfile::tempdir().unwrap();
    let steps =
        [json!({"expect": "initialize"}), json!({"respond": "initialize"}), json!({"close_stdout": true})];
    let mut client = Strict::spawn(fake::command(folder.path(), &steps));
    client.call("initialize", Value::Null);
    client.closed();
    let running = format!("/proc/{}/cmdline", client.pid().unwrap());
    assert!(!std::fs::read(running).unwrap().is_empty(), "the process has ended");
    assert!(client.finish().status.unwrap().success());
}

#[test]
fn the_speed_mode_answers_with_the_size_asked_for_and_floods() {
    let mut command = Command::new(FAKE);
    command.arg("bench");
    let mut client = Strict::spawn(command);
    client.call("initialize", Value::Null);
    let small = client.call("variables", json!({"variablesReference": 1}));
    assert_eq!(small["body"]["variables"][0]["name"], "counter");
    for (bytes, variables) in [(1_000, 1), (1_000_000, 1_000), (16_000_000, 4)] {
        let wish = json!({"variablesReference": 1, "bench": {"bytes": bytes, "variables": variables}});
        // Four in flight, as the figures ask for.
        let requests: Vec<_> = (0..4).map(|_| client.request("variables", wish.clone())).collect();
        for request in requests {
            let answer = client.response(request);
            assert_eq!(answer["body"]["variables"].as_array().unwrap().len(), variables);
            let size = answer["body"].to_string().len();
            assert!(size > bytes * 9 / 10 && size < bytes * 11 / 10, "{size} instead of {bytes}");
        }
    }
    client.allow(&["output"]);
    client.call("flood", json!({"bench": {"events": 10_000}}));
    assert_eq!(client.timeline().events("output").count(), 10_000);
    client.call("disconnect", Value::Null);
    client.finish();
}

#[test]
fn the_census_sees_a_grandchild_that_outlives_its_adapter() {
    let sandbox = Sandbox::new(FAKE);
    let steps = [
        json!({"expect": "initialize"}),
        json!({"spawn": ["setsid", "sleep", "1000"]}),
        json!({"respond": "initialize"}),
    ];
    let script = fake::write_script(&sandbox.work(), &steps);
    let mut client = sandbox.client([script]);
    client.call("initialize", Value::Null);
    assert!(!census::open_descriptors(client.pid().unwrap()).is_empty());
    client.call("disconnect", Value::Null);
    client.finish();
    let sleeping = |sandbox: &Sandbox| {
        let processes = sandbox.census().processes();
        processes.len() == 1 && processes[0].command_line.contains("sleep 1000")
    };
    wait::until(wait::DEADLINE, || sleeping(&sandbox).then_some(())).expect("the grandchild is counted");
    sandbox.census().end_all();
    sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn the_census_sees_sockets_and_files_that_are_left() {
    let sandbox = Sandbox::new(FAKE);
    let path = sandbox.path("run").join("s");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let left = sandbox.census().left();
    assert_eq!(left.sockets, [path.to_str().unwrap()]);
    assert_eq!(left.files, std::slice::from_ref(&path));
    let failed = std::panic::catch_unwind(|| sandbox.assert_nothing_left(Duration::ZERO));
    assert!(failed.is_err());
    drop(listener);
    std::fs::remove_file(path).unwrap();
    let folder = sandbox.path("tmp").join("empty");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(sandbox.census().left().files, std::slice::from_ref(&folder));
    std::fs::remove_dir(folder).unwrap();
    sandbox.assert_nothing_left(wait::DEADLINE);
}

#[test]
fn a_stubborn_adapter_survives_sigterm() {
    let mut command = Command::new(FAKE);
    command.arg("--ignore-sigterm");
    let mut client = Strict::spawn(command);
    client.call("initialize", Value::Null);
    let pid = rustix::process::Pid::from_raw(client.pid().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    client.call("threads", Value::Null);
    client.call("disconnect", Value::Null);
    assert!(client.finish().status.unwrap().success());
}

#[test]
fn its_path_can_be_asked_for_by_other_crates() {
    let output = Command::new(fake::adapter_path()).arg("--nonsense").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown option --nonsense"));
}
