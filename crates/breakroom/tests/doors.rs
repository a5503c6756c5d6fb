//! The doors: where they listen, what they relay, and what they do when the hub or the kernel has no room for them.
//!
//! Who may not come in is in `intruders.rs`. Rows of the list of faults: slowloris, stale sockets, too long paths,
//! descriptors used up, half-open connections.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod listening;
    pub mod rig;
    pub mod strangers;
}

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use breakroom_testkit::frames::write_message;
use breakroom_testkit::{Strict, wait};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::listening::{Listening, rest};
use support::rig::{LONG, Rig, begin, end, launch, message, signal, text};
use support::strangers;

#[test]
fn a_listening_door_says_where_and_serves_several_clients() {
    let rig = Rig::new();
    for place in ["127.0.0.1:0", "localhost:0", "[::1]:0"] {
        for more in [&[][..], &["--private"]] {
            let listening = Listening::start(&rig, &[&["--listen", place], more].concat());
            assert!(listening.address().ip().is_loopback() && listening.address().port() > 0);
            let mut first = listening.client();
            let mut second = listening.client();
            begin(&mut first, rig.fake(&[]));
            begin(&mut second, rig.fake(&[]));
            end(first);
            second.call("threads", Value::Null);
            end(second);
        }
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn only_what_is_left_over_is_removed_from_a_sockets_place() {
    let rig = Rig::new();
    let path = rig.sandbox.work().join("precious");
    fs::write(&path, "keep").unwrap();
    let refused = rig.sandbox.command(["dap", "--socket", &text(&path)]).output().unwrap();
    assert!(!refused.status.success());
    assert_eq!(fs::read_to_string(&path).unwrap(), "keep");
    fs::remove_file(&path).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let listening = Listening::start(&rig, &["--socket", &text(&path)]);
    end({
        let mut client = Strict::unix(UnixStream::connect(&listening.place).unwrap());
        begin(&mut client, rig.fake(&[]));
        client
    });
}

#[test]
fn a_runtime_folder_with_a_very_long_path_still_works() {
    let rig = Rig::new();
    let long = rig.sandbox.path("run").join("x".repeat(120));
    fs::create_dir(&long).unwrap();
    let mut command = rig.sandbox.command(["dap"]);
    command.env("XDG_RUNTIME_DIR", &long);
    let mut client = Strict::spawn(command);
    begin(&mut client, rig.fake(&[]));
    end(client);
}

#[test]
fn requests_from_a_file_are_all_answered() {
    let rig = Rig::new();
    for more in [&[][..], &["--private"]] {
        let input = rig.sandbox.work().join("requests");
        let mut requests = File::create(&input).unwrap();
        let mut ask = |seq: i64, command: &str, arguments: Value| {
            write_message(&mut requests, message(seq, command, arguments).to_string().as_bytes()).unwrap();
        };
        ask(1, "initialize", json!({}));
        ask(2, "launch", launch(rig.fake(&[])));
        ask(3, "threads", json!({}));
        ask(4, "disconnect", json!({}));
        let mut door = rig.sandbox.command(["dap"]);
        let output = door.args(more).stdin(File::open(&input).unwrap()).output().unwrap();
        assert!(output.status.success());
        let answers = String::from_utf8(output.stdout).unwrap();
        for seq in 1..=4 {
            assert!(answers.contains(&format!("\"request_seq\":{seq}")), "no answer to {seq} in {answers}");
        }
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn the_last_answer_is_written_to_a_file_before_the_door_ends() {
    let rig = Rig::new();
    for more in [&[][..], &["--private"]] {
        let large = "x".repeat(4 << 20);
        let steps =
            [json!({"expect": "disconnect"}), json!({"respond": "disconnect", "body": {"large": large}})];
        let path = rig.sandbox.work().join("answers");
        let mut door = rig.sandbox.command(["dap"]);
        door.args(more).stdin(Stdio::piped()).stdout(File::create(&path).unwrap());
        let mut door = door.spawn().unwrap();
        let mut input = door.stdin.take().unwrap();
        let mut ask = |seq: i64, command: &str, arguments: Value| {
            write_message(&mut input, message(seq, command, arguments).to_string().as_bytes()).unwrap();
        };
        ask(1, "initialize", json!({}));
        ask(2, "launch", launch(rig.fake(&steps)));
        let launched = || fs::read_to_string(&path).unwrap().contains("\"initialized\"").then_some(());
        wait::until(LONG, launched).expect("the session begins");
        ask(3, "disconnect", json!({}));
        assert!(wait::for_exit(&mut door, LONG).expect("the door ends").success());
        let answers = fs::read_to_string(&path).unwrap();
        assert!(answers.len() > 4 << 20 && answers.ends_with('}'), "{} bytes", answers.len());
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn a_terminal_is_relayed() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    let rig = Rig::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options().read(true).write(true).open(slave.to_str().unwrap()).unwrap();
    let mut mode = tcgetattr(&slave).unwrap();
    mode.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &mode).unwrap();
    let mut door = rig.sandbox.command(["dap"]);
    door.stdin(slave.try_clone().unwrap()).stdout(slave);
    let mut child = door.spawn().unwrap();
    // The command keeps a copy of the terminal, which would keep it open for ever.
    drop(door);
    let mut client = Strict::over(master.try_clone().unwrap(), master);
    begin(&mut client, rig.fake(&[]));
    client.call("threads", Value::Null);
    client.call("disconnect", json!({}));
    assert!(wait::for_exit(&mut child, LONG).expect("the door ends with its session").success());
    client.finish();
    rig.only_the_daemon_is_left();
}

#[test]
fn a_header_that_never_ends_is_cut_off_after_ten_seconds() {
    let rig = Rig::new();
    let listening = Listening::start(&rig, &["--listen", "127.0.0.1:0"]);
    let mut stream = listening.connect();
    let reader = stream.try_clone().unwrap();
    let end = std::thread::spawn(move || rest(reader));
    let began = Instant::now();
    // One byte now and then, for ever: each of them a sign of life.
    let mut header = b"Content-Length: 5".iter().chain(std::iter::repeat(&b' '));
    while !end.is_finished() && began.elapsed() < LONG {
        let _ = stream.write_all(&[*header.next().unwrap()]);
        std::thread::park_timeout(Duration::from_millis(100));
    }
    assert!(end.is_finished(), "it is still connected after {:?}", began.elapsed());
    let said = end.join().unwrap();
    assert!(began.elapsed() >= Duration::from_secs(9), "a slow header has its time");
    assert!(said.is_empty() || said.contains("within 10 s"), "{said}");
    rig.only_the_daemon_is_left_beside(listening.door.id());
}

#[test]
fn a_connection_that_falls_silent_is_watched_by_the_kernel() {
    let rig = Rig::new();
    let listening = Listening::start(&rig, &["--listen", "127.0.0.1:0"]);
    let mut client = listening.client();
    begin(&mut client, rig.fake(&[]));
    let local = format!(":{:04X}", listening.address().port());
    let is_watched = || {
        let table = fs::read_to_string("/proc/net/tcp").unwrap();
        let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = rows.find(|fields| fields.len() > 5 && fields[1].ends_with(&local) && fields[3] == "01")?;
        // Timer 2 is the keep-alive's; 1 is that of an answer whose receipt is still to be confirmed.
        row[5].starts_with("02:").then_some(())
    };
    wait::until(LONG, is_watched).expect("the kernel sends signs of life");
    end(client);
}

#[test]
fn a_hub_without_descriptors_keeps_its_sessions_and_recovers() {
    let rig = Rig::new();
    let few = format!("ulimit -n 48; exec {} serve", text(rig.sandbox.binary()));
    let mut serve = rig.sandbox.program("sh");
    let mut serve = serve.args(["-c", &few]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let path = rig.sandbox.path("run").join("breakroom/hub-1.sock");
    wait::until(LONG, || UnixStream::connect(&path).ok()).expect("it listens");
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    let crowd: Vec<UnixStream> = (0..60).map(|_| UnixStream::connect(&path).unwrap()).collect();
    for _ in 0..10 {
        client.call("threads", Value::Null);
    }
    drop(crowd);
    rig.serves_another();
    client.call("threads", Value::Null);
    end(client);
    signal(serve.id().cast_signed(), Signal::TERM);
    wait::for_exit(&mut serve, LONG).expect("it ends");
    rig.sandbox.assert_nothing_left(LONG);
}

#[test]
fn a_caller_in_another_network_namespace_gets_a_hub_of_its_own() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    rig.serves_another();
    let mut command = rig.sandbox.program("unshare");
    command.args(["--net", "--"]).arg(rig.sandbox.binary()).arg("dap");
    let mut client = Strict::spawn(command);
    begin(&mut client, rig.fake(&[]));
    let door = client.pid().unwrap();
    let guards = rig.sandbox.census().processes();
    let guard = guards.iter().find(|process| process.command_line.trim_end().ends_with(" guard")).unwrap();
    assert_eq!(guard.parent.cast_unsigned(), door, "the session lives in the door's own process");
    end(client);
}

#[test]
fn a_door_whose_hub_cannot_be_reached_says_why() {
    let rig = Rig::new();
    // Not even root can make a folder below a file.
    let file = rig.sandbox.work().join("file");
    std::fs::write(&file, "").unwrap();
    let mut command = rig.sandbox.command(["dap"]);
    command.env("XDG_RUNTIME_DIR", file.join("run")).env("TMPDIR", file.join("tmp"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("runtime folder"), "{said}");
}
