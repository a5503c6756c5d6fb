//! Who may not come in: browsers, other users, other versions, and whoever prepared our folder before us.
//!
//! Rows of the list of faults: Host and Origin, non-loopback bind, tokens, other users, sockets and folders that are
//! links or foreign, version skew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod listening;
    pub mod rig;
    pub mod strangers;
}

use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use breakroom_testkit::frames::write_message;
use breakroom_testkit::{Strict, wait};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::listening::{Listening, rest};
use support::rig::{LONG, Rig, begin, end, initialize, launch, message, signal, text};
use support::strangers;

/// An adapter whose start leaves a mark, to see that nothing was run.
fn marking(rig: &Rig) -> (PathBuf, Value) {
    let mark = rig.sandbox.work().join("was-run");
    (mark.clone(), json!({"args": ["touch", text(&mark)]}))
}

#[test]
fn a_door_does_not_listen_where_others_could_reach_it() {
    let rig = Rig::new();
    for place in ["0.0.0.0:0", "[::]:0", "192.0.2.1:4711", "8.8.8.8:1", "nonsense"] {
        let refused = rig.sandbox.command(["dap", "--listen", place]).stdin(Stdio::null()).output().unwrap();
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{place}");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("127.0.0.1"), "{place}: {said}");
    }
    rig.sandbox.assert_nothing_left(LONG);
}

#[test]
fn a_browser_is_refused_before_anything_runs() {
    let rig = Rig::new();
    let listening = Listening::start(&rig, &["--listen", "127.0.0.1:0"]);
    let (mark, record) = marking(&rig);
    let mut body = Vec::new();
    write_message(&mut body, message(1, "initialize", json!({})).to_string().as_bytes()).unwrap();
    write_message(&mut body, message(2, "launch", launch(record)).to_string().as_bytes()).unwrap();
    let body = String::from_utf8(body).unwrap();
    let length = body.len();
    for head in [
        format!(
            "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Length: {length}\r\n\r\n"
        ),
        format!(
            "POST /x HTTP/1.1\r\nHost: rebound.example\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"
        ),
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n".to_owned(),
        "\r\n\r\nPOST / HTTP/1.0\r\n\r\n".to_owned(),
        format!("Host: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n"),
        format!("Content-Length: {length}\r\nORIGIN: null\r\n\r\n"),
    ] {
        let mut stream = listening.connect();
        // The door may close while we still write.
        let _ = stream.write_all((head.clone() + &body).as_bytes());
        let said = rest(stream);
        let answers = said.matches("Content-Length:").count();
        assert!(answers <= 1 && !said.contains("\"success\":true"), "{head:?}: {said}");
        // Data that was not read can turn the close into a reset, which swallows the answer.
        assert!(said.is_empty() || said.contains("HTTP") || said.contains("browsers"), "{head:?}: {said}");
    }
    assert!(!mark.exists(), "a browser could run a program");
    end({
        let mut client = listening.client();
        begin(&mut client, rig.fake(&[]));
        client
    });
}

#[test]
fn another_user_needs_the_token_and_never_sees_it() {
    if !strangers::can_be_played() {
        return;
    }
    let rig = Rig::new();
    let log = text(&rig.log_path());
    let listening = Listening::start(&rig, &["--listen", "127.0.0.1:0"]);
    let (mark, record) = marking(&rig);
    let mut said = String::new();

    let mut stranger = Strict::spawn(strangers::tcp(listening.address()));
    initialize(&mut stranger);
    let token_file = rig.sandbox.path("run").join("breakroom/token");
    let token = fs::read_to_string(&token_file).unwrap();
    assert_eq!(token.len(), 64);
    assert_eq!(fs::metadata(&token_file).unwrap().mode() & 0o777, 0o600);
    let almost =
        if token.ends_with('0') { format!("{}1", &token[..63]) } else { format!("{}0", &token[..63]) };
    for wrong in
        [Value::Null, json!(""), json!(almost), json!(&token[..63]), json!(format!("{token}0")), json!(1)]
    {
        let arguments = json!({"program": "x", "breakroom": {"adapter": record, "token": wrong}});
        for command in ["launch", "attach"] {
            let refusal = stranger.call_failing(command, arguments.clone());
            assert!(refusal["message"].as_str().unwrap().contains("another user"), "{refusal}");
        }
    }
    for command in ["threads", "evaluate", "configurationDone", "terminate", "breakroom/sessions"] {
        stranger.call_failing(command, json!({}));
    }
    assert!(!mark.exists(), "something was run for a stranger");
    let mut arguments = launch(rig.fake_with(&[], &["--log", &log]));
    arguments["breakroom"]["token"] = json!(token);
    let launched = stranger.request("launch", arguments);
    stranger.event("capabilities");
    stranger.event("initialized");
    stranger.response(launched);
    stranger.call("threads", Value::Null);
    let received: Vec<Value> = stranger.timeline().received().cloned().collect();
    said += &json!(received).to_string();

    // Everything that outlives the moment or can be read by others, while all of it still runs.
    for process in rig.sandbox.census().processes() {
        said += &process.command_line;
        said +=
            &String::from_utf8_lossy(&fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default());
    }
    stranger.call("disconnect", json!({}));
    stranger.finish();
    said += &fs::read_to_string(&listening.stderr).unwrap();
    said += &fs::read_to_string(rig.sandbox.path("state").join("breakroom/hub.log")).unwrap_or_default();
    said += &fs::read_to_string(rig.log_path()).unwrap();
    assert!(said.contains("initialize"), "there was something to look at");
    assert!(!said.contains(&token) && !said.contains(&almost), "the token leaked");

    // The same user needs none.
    end({
        let mut client = listening.client();
        begin(&mut client, rig.fake(&[]));
        client
    });
    rig.only_the_daemon_is_left_beside(listening.door.id());
}

#[test]
fn a_unix_socket_is_the_owners_alone() {
    let rig = Rig::new();
    let path = rig.sandbox.work().join("door.sock");
    let mut listening = Listening::start(&rig, &["--socket", &text(&path)]);
    assert_eq!(listening.place, text(&path));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    end({
        let mut client = Strict::unix(UnixStream::connect(&path).unwrap());
        begin(&mut client, rig.fake(&[]));
        client
    });
    let second = rig.sandbox.command(["dap", "--socket", &text(&path)]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&second.stderr).contains("listens at"),
        "a door in use is not taken over"
    );
    if strangers::can_be_played() {
        open_to_all(&rig, &path);
        let answer = strangers::unix(&path, b"Content-Length: 2\r\n\r\n{}").output().unwrap();
        assert!(
            answer.stdout.is_empty() && !String::from_utf8_lossy(&answer.stderr).contains("cannot connect")
        );
    }
    signal(listening.door.id().cast_signed(), Signal::TERM);
    assert!(wait::for_exit(&mut listening.door, LONG).unwrap().success());
    assert!(!path.exists());
}

/// Undoes every permission on the way to `path`, so that only the check of the peer's user is left.
fn open_to_all(rig: &Rig, path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
    let top = rig.sandbox.work().parent().unwrap().to_owned();
    for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with(&top)) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).unwrap();
    }
}

#[test]
fn the_hubs_own_socket_refuses_other_users_and_other_versions() {
    let rig = Rig::new();
    rig.serves_another();
    let path = rig.sandbox.path("run").join("breakroom/hub-1.sock");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);

    let frame = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let hello = json!({"protocol": 99, "version": "99", "umask": 0, "namespaces": {"mount": 0, "network": 0}, "access": "same-user", "engine": null});
    let newer = [frame(hello.to_string().as_bytes()), frame(b"/")].concat();
    for (words, answer) in [
        (newer, "protocol 1 and the door 99"),
        ([&[0xff; 4][..], b"x"].concat(), "too large"),
        (frame(b"not json"), "cannot be read"),
    ] {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(&words).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let said = rest(stream);
        assert!(said.contains(answer), "{said:?}");
    }
    // One that says nothing keeps nobody waiting.
    let silent: Vec<UnixStream> = (0..20).map(|_| UnixStream::connect(&path).unwrap()).collect();
    rig.serves_another();
    drop(silent);

    if strangers::can_be_played() {
        open_to_all(&rig, &path);
        let answer = strangers::unix(&path, &frame(hello.to_string().as_bytes())).output().unwrap();
        let said = String::from_utf8_lossy(&answer.stdout).into_owned();
        assert!(
            said.contains("belongs to another user"),
            "{said:?} {:?}",
            String::from_utf8_lossy(&answer.stderr)
        );
    }
}

#[test]
fn a_runtime_folder_that_somebody_else_could_have_prepared_is_refused() {
    let rig = Rig::new();
    let folder = rig.sandbox.path("run").join("breakroom");
    let refused = |why: &str| {
        let output = rig.sandbox.command(["dap"]).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(why) && said.contains(&text(&folder)),
            "{why}: {said}"
        );
        assert!(rig.sandbox.census().processes().is_empty(), "nothing was started");
    };
    symlink(rig.sandbox.work(), &folder).unwrap();
    refused("a link");
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    refused("others may enter it");
    if strangers::can_be_played() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(&folder, Some(65534), None).unwrap();
        refused("belongs to user 65534");
        std::os::unix::fs::chown(&folder, Some(0), None).unwrap();
    }
    fs::remove_dir(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    refused("a file");
}
