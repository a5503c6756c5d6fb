//! The daemon beside its sessions: hubs of other versions, clients that move, and how it goes.
//!
//! How sessions and processes end is tested in `ends`; what several clients see of each other in `sharing`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod commands;
    pub mod hubs;
    pub mod rig;
}

use std::fs::File;
use std::io::BufReader;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use breakroom_testkit::{Arrival, Strict, wait};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::commands::{complaint, follow, lines_until, listed, named, only_id, run, said, stop};
use support::hubs::{OtherHub, read_frame, socket, write_frame};
use support::rig::{LONG, Rig, SLACK, begin, begin_with, end, initialize, launch, message, signal, text};

fn held_elsewhere(id: &str, name: &str, version: &str) -> Value {
    // A later version may tell more, and an earlier one less.
    json!({"id": id, "name": name, "state": "stopped", "clients": ["Ann"], "version": version, "mood": "good"})
}

#[test]
fn sessions_of_other_versions_are_listed_and_ended_and_joining_them_says_which_version_to_use() {
    let rig = Rig::new();
    let newer = OtherHub::start(&rig, 2, held_elsewhere("new2", "tomorrow", "9.9.9"));
    let older = OtherHub::start(&rig, 0, held_elsewhere("old0", "yesterday", "0.0.1"));
    // Nobody listens there any more.
    drop(UnixListener::bind(socket(&rig, 3)).unwrap());
    let ids = || listed(&rig).iter().map(|session| session["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(), ["old0", "new2"]);
    assert!(rig.daemon_now().is_none(), "nobody starts a hub to hear that it has none");
    let mut client = rig.client();
    begin_with(&mut client, "launch", named("today", rig.fake(&[])));
    let here = listed(&rig).remove(0);
    assert_eq!(here["name"], "today");
    assert!(here.get("version").is_none(), "{here}");
    assert_eq!(ids().len(), 3);
    let table = said(&run(&rig, &["ls"]));
    assert!(
        table.contains("held by breakroom 9.9.9") && table.contains("held by breakroom 0.0.1"),
        "{table}"
    );

    for (wanted, version) in [("new2", "9.9.9"), ("tomorrow", "9.9.9"), ("old0", "0.0.1")] {
        for command in [&["attach", wanted][..], &["dap", "--session", wanted], &["log", wanted]] {
            let refused = complaint(&run(&rig, command));
            let fits = refused.contains(&format!("held by a hub of breakroom {version}"));
            assert!(fits && refused.contains("breakroom kill"), "{command:?}: {refused}");
        }
    }
    let mut other = rig.client();
    initialize(&mut other);
    let refused = other.call_failing("attach", json!({"breakroom": {"session": "tomorrow"}}));
    assert!(refused["message"].as_str().unwrap().contains("held by a hub of breakroom 9.9.9"), "{refused}");
    end(other);

    // Without a name there are three to choose from; with one it is found as ever.
    let several = complaint(&run(&rig, &["dap", "--session"]));
    assert!(several.contains("several sessions") && several.contains("new2"), "{several}");
    let unknown = complaint(&run(&rig, &["kill", "nope"]));
    assert!(
        unknown.starts_with("breakroom: there is no session `nope`") && unknown.contains("old0"),
        "{unknown}"
    );
    let log = said(&run(&rig, &["log", "today"]));
    assert!(log.contains("test launched today"), "{log}");

    assert_eq!(said(&run(&rig, &["kill", "tomorrow"])), "ended new2  tomorrow\n");
    assert!(newer.holds_nothing() && !older.holds_nothing());
    let all = said(&run(&rig, &["kill", "--all"]));
    assert!(all.contains("  today\n") && all.contains("ended old0  yesterday\n"), "{all}");
    assert!(older.holds_nothing());
    client.output_containing("ended by `breakroom kill`");
    client.event("terminated");
    client.closed();
    client.finish();
    assert!(listed(&rig).is_empty());
}

#[test]
fn a_hub_of_another_version_that_makes_no_sense_hides_nothing() {
    let rig = Rig::new();
    let listener = UnixListener::bind(socket(&rig, 7)).unwrap();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            if read_frame(&mut stream).is_some() && number % 2 == 0 {
                write_frame(&mut stream, &json!({"whatever": 1}));
            }
        }
    });
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    for _ in 0..2 {
        let id = only_id(&rig);
        assert!(said(&run(&rig, &["log", &id])).contains("test joined"));
    }
    end(client);
}

/// One question of a caller that speaks another protocol, and the answer.
fn ask_as(rig: &Rig, protocol: u32, purpose: Value) -> Value {
    let mut stream = UnixStream::connect(socket(rig, 1)).unwrap();
    write_frame(&mut stream, &json!({"protocol": protocol, "version": "9.9.9", "purpose": purpose}));
    read_frame(&mut stream).expect("the hub answers")
}

#[test]
fn callers_of_other_versions_may_list_and_end_and_are_told_why_nothing_else() {
    let rig = Rig::new();
    let mut client = rig.client();
    begin_with(&mut client, "launch", named("today", rig.fake(&[])));
    let id = only_id(&rig);
    for protocol in [0, 2] {
        let answer = ask_as(&rig, protocol, json!("list"));
        let session = &answer["sessions"][0];
        assert_eq!((&session["id"], &session["name"]), (&json!(id), &json!("today")));
        assert_eq!(session["version"], env!("CARGO_PKG_VERSION"));
        for purpose in [json!({"join": {"session": id, "access": "same-user"}}), json!({"teleport": id})] {
            let refused = ask_as(&rig, protocol, purpose)["refused"].as_str().unwrap().to_owned();
            assert!(
                refused.contains("protocol 1") && refused.contains(env!("CARGO_PKG_VERSION")),
                "{refused}"
            );
        }
    }
    let answer = ask_as(&rig, 2, json!({"end": {"one": "today"}}));
    assert_eq!(answer["sessions"][0]["id"], json!(id));
    assert!(listed(&rig).is_empty(), "it is gone when the answer comes");
    client.output_containing("ended by `breakroom kill`");
    client.event("terminated");
    client.closed();
    client.finish();
    rig.end_daemon();
}

/// The system tells whoever waits for a word with a time limit of an interruption.
#[test]
fn a_caller_is_still_heard_by_a_hub_that_was_stopped_and_goes_on() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    let pid = daemon.id().cast_signed();
    let mut slow = UnixStream::connect(socket(&rig, 1)).unwrap();
    // Whoever comes later is served, so the first is being waited for.
    assert_eq!(ask_as(&rig, 1, json!("list"))["sessions"], json!([]));
    signal(pid, Signal::STOP);
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.starts_with(" T").then_some(())
    };
    wait::until(LONG, is_stopped).expect("it stands still");
    signal(pid, Signal::CONT);
    write_frame(&mut slow, &json!({"protocol": 1, "version": "9.9.9", "purpose": "list"}));
    assert_eq!(read_frame(&mut slow).expect("the hub answers")["sessions"], json!([]));
    signal(pid, Signal::TERM);
    assert!(wait::for_exit(&mut daemon, LONG).expect("it goes").success());
}

#[test]
fn what_a_client_says_behind_its_wish_to_move_is_handled_where_it_goes() {
    let rig = Rig::new();
    let steps = [json!({"expect": "configurationDone"}), json!({"respond": "configurationDone"}), stop()];
    let mut first = rig.client();
    begin_with(&mut first, "launch", named("goal", rig.fake(&steps)));
    first.event("stopped");
    for _ in 0..20 {
        // In one write, as nobody waits for anything.
        let mut mover = rig.raw();
        let messages = [
            message(1, "initialize", json!({"adapterID": "x", "clientName": "Mover"})),
            message(2, "attach", json!({"breakroom": {"session": "goal"}})),
            message(3, "configurationDone", json!({})),
            message(4, "threads", json!({})),
        ];
        let bytes = messages.iter().flat_map(|message| {
            let body = message.to_string();
            format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
        });
        mover.bytes(&bytes.collect::<Vec<u8>>());
        let threads = mover.until("response", "threads");
        assert_eq!(threads["body"]["threads"][0]["name"], "main", "{threads}");
        mover.send(&message(5, "disconnect", json!({})));
        assert_eq!(mover.until("response", "disconnect")["success"], true);
        mover.finish();
    }
    end(first);
    rig.only_the_daemon_is_left();
    rig.end_daemon();
}

#[test]
fn what_a_client_says_behind_a_wish_to_move_that_is_refused_is_handled_where_it_is() {
    let rig = Rig::new();
    let mut client = rig.client();
    initialize(&mut client);
    let own = only_id(&rig);
    for (wanted, number, text) in
        [("nope", 9018, "no session `nope`"), (&*own, 9004, "in that session already")]
    {
        let _ = client.request("attach", json!({"breakroom": {"session": wanted}}));
        let _ = client.request("threads", Value::Null);
        // Answered in their order: the second was held until the first was decided.
        let answers = client.expect_order(&[Arrival::Response("attach"), Arrival::Response("threads")]);
        assert_eq!(answers[0]["body"]["error"]["id"], number, "{answers:?}");
        assert!(answers[0]["message"].as_str().unwrap().contains(text), "{answers:?}");
        assert_eq!(answers[1]["body"]["error"]["id"], 9004, "nothing is debugged yet: {answers:?}");
    }
    let attach = client.request("attach", json!({"breakroom": {"session": "nope"}}));
    let launch = client.request("launch", launch(rig.fake(&[])));
    client.failure(attach);
    client.event("capabilities");
    client.event("initialized");
    client.response(launch);
    client.call("configurationDone", Value::Null);
    client.call("threads", Value::Null);
    end(client);
    rig.end_daemon();
}

#[test]
fn a_client_that_is_lost_while_it_moves_leaves_nothing() {
    let rig = Rig::new();
    let mut first = rig.client();
    begin_with(&mut first, "launch", named("goal", rig.fake(&[])));
    for _ in 0..20 {
        let mut mover = rig.raw();
        mover.send(&message(1, "initialize", json!({"adapterID": "x"})));
        mover.send(&message(2, "attach", json!({"breakroom": {"session": "goal"}})));
        mover.finish();
    }
    let alone = || (listed(&rig).len() == 1 && listed(&rig)[0]["clients"] == json!(["test"])).then_some(());
    wait::until(LONG, alone).unwrap_or_else(|| panic!("{:?}", listed(&rig)));
    end(first);
    rig.only_the_daemon_is_left();
    rig.end_daemon();
}

#[test]
fn kill_returns_when_the_session_is_gone() {
    let rig = Rig::new();
    for which in ["story", "--all"] {
        let mut client = rig.client();
        let hang = [json!({"expect": "threads"}), json!({"hang": true})];
        let hangs = rig.fake_with(&hang, &["--ignore-sigterm", "--log", &text(&rig.log_path())]);
        begin_with(&mut client, "launch", named("story", hangs));
        let threads = client.request("threads", Value::Null);
        // A session that is ended before it has read a request owes no answer to it.
        let passed_on = || rig.log().iter().any(|line| line["command"] == "threads").then_some(());
        wait::until(LONG, passed_on).expect("the adapter has it");
        assert!(said(&run(&rig, &["kill", which])).ends_with("  story\n"));
        assert!(listed(&rig).is_empty());
        client.failure(threads);
        client.output_containing("ended by `breakroom kill`");
        client.event("terminated");
        client.closed();
        client.finish();
        rig.only_the_daemon_is_left();
    }
    rig.end_daemon();
}

/// A daemon whose exit can be seen.
fn serve(rig: &Rig) -> Child {
    let mut command = rig.sandbox.command(["serve"]);
    let serve = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait::until(LONG, || UnixStream::connect(socket(rig, 1)).ok()).expect("it listens");
    serve
}

#[test]
fn a_daemon_that_is_told_to_go_twice_goes_once_and_well_although_engines_hang() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    let pid = daemon.id().cast_signed();
    // One that reads nothing, one that does not even start, and a reader of what happens.
    let hang = [json!({"expect": "threads"}), json!({"hang": true})];
    let mut client = rig.client();
    begin_with(&mut client, "launch", named("hangs", rig.fake_with(&hang, &["--ignore-sigterm"])));
    let threads = client.request("threads", Value::Null);
    let mut silent = rig.client();
    initialize(&mut silent);
    let never =
        silent.request("launch", launch(rig.fake_with(&[json!({"hang": true})], &["--ignore-sigterm"])));
    wait::until(LONG, || (listed(&rig).len() == 2).then_some(())).expect("both are there");
    let mut follower = follow(&rig, &["hangs"]);
    let mut lines = BufReader::new(follower.stdout.take().unwrap());
    lines_until(&mut lines, "launched");

    let began = Instant::now();
    signal(pid, Signal::TERM);
    client.output_containing("the hub is shutting down");
    // It may be gone by now, which is just as well.
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM);
    client.failure(threads);
    client.event("terminated");
    client.closed();
    client.finish();
    silent.failure(never);
    silent.output_containing("the hub is shutting down");
    silent.event("terminated");
    silent.closed();
    silent.finish();
    let status = wait::for_exit(&mut daemon, LONG).expect("it goes");
    assert_eq!(status.code(), Some(0));
    assert!(!socket(&rig, 1).exists());
    rig.sandbox.census().processes();
    lines_until(&mut lines, "breakroom: the hub is shutting down");
    wait::for_exit(&mut follower, LONG).expect("whoever follows hears that it is over");
    rig.sandbox.assert_nothing_left(LONG);
    assert!(began.elapsed() < Duration::from_secs(5) + SLACK, "{:?}", began.elapsed());
}

#[test]
fn a_daemon_that_is_told_to_go_does_not_wait_for_whoever_sits_on_the_lock_or_says_no_hello() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    let lock = File::options().write(true).open(socket(&rig, 1).with_extension("lock")).unwrap();
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).unwrap();
    let silent = UnixStream::connect(socket(&rig, 1)).unwrap();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    let began = Instant::now();
    signal(daemon.id().cast_signed(), Signal::TERM);
    client.output_containing("the hub is shutting down");
    client.event("terminated");
    client.closed();
    client.finish();
    let status = wait::for_exit(&mut daemon, LONG).expect("it goes");
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(5) + SLACK, "{:?}", began.elapsed());
    assert!(!socket(&rig, 1).exists());
    drop((lock, silent));
    rig.sandbox.assert_nothing_left(LONG);
}

#[test]
fn a_daemon_that_is_told_to_go_does_not_wait_for_a_session_that_cannot_end() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    let processes = rig.sandbox.census().processes();
    let guard = processes.iter().find(|process| process.command_line.trim_end().ends_with(" guard")).unwrap();
    // It neither ends its engine nor tells anybody how that went.
    signal(guard.pid, Signal::STOP);
    let began = Instant::now();
    signal(daemon.id().cast_signed(), Signal::TERM);
    let status = wait::for_exit(&mut daemon, LONG).expect("it goes");
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(5) + SLACK, "{:?}", began.elapsed());
    assert!(!socket(&rig, 1).exists());
    client.output_containing("the hub is shutting down");
    client.event("terminated");
    client.closed();
    client.finish();
    signal(guard.pid, Signal::CONT);
    rig.sandbox.assert_nothing_left(LONG);
}

/// The guard of the only engine.
fn guard(rig: &Rig) -> i32 {
    let processes = rig.sandbox.census().processes();
    let mut guards = processes.iter().filter(|process| process.command_line.trim_end().ends_with(" guard"));
    let (Some(guard), None) = (guards.next(), guards.next()) else { panic!("{processes:?}") };
    guard.pid
}

#[test]
fn a_guard_is_ready_before_it_is_needed_and_then_the_next_one() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    let first = rig.spare_guard();
    let mut client = rig.client();
    begin(&mut client, rig.fake(&[]));
    assert_eq!(guard(&rig), first, "the one that was ready is the engine's");
    let second = rig.spare_guard();
    assert_ne!(first, second);
    end(client);
    rig.only_the_daemon_is_left();
    assert_eq!(rig.spare_guard(), second, "there is never more than one, and none is changed for another");
    rig.end_daemon();
    wait::for_exit(&mut daemon, LONG).expect("it goes");
}

#[test]
fn a_spare_guard_goes_when_its_hub_does() {
    for end in [Signal::KILL, Signal::TERM] {
        let rig = Rig::new();
        let mut daemon = serve(&rig);
        rig.spare_guard();
        signal(daemon.id().cast_signed(), end);
        wait::for_exit(&mut daemon, LONG).expect("it goes");
        let none = || rig.sandbox.census().processes().is_empty().then_some(());
        wait::until(LONG, none)
            .unwrap_or_else(|| panic!("{end:?} left behind:\n{}", rig.sandbox.census().left()));
    }
}

#[test]
fn a_spare_guard_that_somebody_ends_is_missed_by_nobody() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    for end_of_it in [Signal::TERM, Signal::KILL] {
        let ended = rig.spare_guard();
        signal(ended, end_of_it);
        let spares = || rig.sandbox.census().spare_guards();
        let gone = || spares().iter().all(|spare| spare.pid != ended).then_some(());
        wait::until(LONG, gone).expect("it ends");
        let mut client = rig.client();
        begin(&mut client, rig.fake(&[]));
        client.call("threads", Value::Null);
        assert_ne!(guard(&rig), ended);
        end(client);
        // Not even the number of the one that ended is.
        rig.only_the_daemon_is_left();
    }
    rig.spare_guard();
    rig.end_daemon();
    wait::for_exit(&mut daemon, LONG).expect("it goes");
}

#[test]
fn a_hub_for_one_session_keeps_no_guard_behind_it() {
    let rig = Rig::new();
    let mut client = rig.private();
    begin(&mut client, rig.fake(&[]));
    // Started before the client had said a word, and the engine's by now.
    guard(&rig);
    assert!(rig.sandbox.census().spare_guards().is_empty());
    end(client);
    rig.sandbox.assert_nothing_left(LONG);
}

#[test]
fn a_door_hears_that_its_client_is_taken_before_it_hears_that_it_is_let_go() {
    let rig = Rig::new();
    let mut daemon = serve(&rig);
    for _ in 0..30 {
        // There before the door is, so that the session can let it go as soon as it has it.
        let (read, write) = rustix::pipe::pipe().unwrap();
        rustix::io::write(&write, b"no header\r\n\r\n").unwrap();
        let mut door = rig.sandbox.command(["dap"]);
        let told = door.stdin(Stdio::from(read)).output().unwrap();
        let why = String::from_utf8_lossy(&told.stderr);
        assert!(why.contains("where a header was expected"), "{told:?}");
    }
    rig.only_the_daemon_is_left();
    rig.end_daemon();
    wait::for_exit(&mut daemon, LONG).expect("it goes");
}

/// The catalog of its user is a pipe, so it waits until the other end is written to.
#[test]
fn a_session_that_is_stuck_does_not_delay_other_sessions() {
    let rig = Rig::new();
    let config = rig.sandbox.work().join("config");
    let catalog = config.join("breakroom/catalog.toml");
    std::fs::create_dir_all(config.join("breakroom")).unwrap();
    mknodat(CWD, &catalog, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut command = rig.sandbox.command(["dap"]);
    command.env("XDG_CONFIG_HOME", &config);
    let mut stuck = Strict::spawn(command);
    let asked = stuck.request("initialize", json!({"adapterID": "fake", "clientID": "test"}));
    // The hub reads the pipe as soon as this end can be opened.
    let there = File::options().write(true).open(&catalog).unwrap();
    let processors = std::thread::available_parallelism().unwrap().get();
    let others: Vec<Strict> = (0..=processors)
        .map(|_| {
            let mut other = rig.client();
            begin(&mut other, rig.fake(&[]));
            other
        })
        .collect();
    others.into_iter().for_each(end);
    drop(there);
    stuck.response(asked);
    stuck.call("disconnect", Value::Null);
    stuck.finish();
    rig.only_the_daemon_is_left();
}
