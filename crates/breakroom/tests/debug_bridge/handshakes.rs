//! The handshake: framing, limits, the order of checks, and the exact words of a refusal.

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::support::bridging::{Bridging, TOKEN, framed, receive, request, rest, send};
use crate::support::rig::{LONG, Rig, end, memory};

#[test]
fn r04_r68_socket_is_private_to_its_user() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &[]);
    let socket = std::fs::symlink_metadata(&bridge.socket).unwrap();
    assert!(socket.file_type().is_socket());
    assert_eq!((socket.mode() & 0o777, socket.uid()), (0o600, rustix::process::getuid().as_raw()));
    let folder = std::fs::symlink_metadata(bridge.socket.parent().unwrap()).unwrap();
    assert!(folder.is_dir());
    assert_eq!((folder.mode() & 0o777, folder.uid()), (0o700, rustix::process::getuid().as_raw()));
    let path = bridge.socket.clone();
    assert!(bridge.finish().success());
    assert!(!path.exists());
}

#[test]
fn r03_dap_sent_with_the_handshake_is_not_lost() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let stream = bridge.connect();
    let mut bytes = framed(request("s", &rig.fake(&[])).to_string().as_bytes());
    let initialize =
        json!({"seq": 500, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}});
    let initialize = initialize.to_string();
    bytes.extend(format!("Content-Length: {}\r\n\r\n{initialize}", initialize.len()).into_bytes());
    (&stream).write_all(&bytes).unwrap();
    assert_eq!(receive(&stream).unwrap(), json!({"success": true}));
    let mut client = breakroom_testkit::Strict::unix(stream);
    let request = client.expect_answer(500);
    client.response(request);
    end(client);
}

#[test]
fn r02_r20_answers_are_length_prefixed_json_and_nothing_else() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let refused = bridge.connect();
    send(&refused, br#"{"session_id": "t"}"#);
    assert_eq!(rest(&refused), b"\0\0\0\x34{\"success\":false,\"error\":\"bridge session not found\"}");
    let accepted = bridge.connect();
    send(&accepted, request("s", &rig.fake(&[])).to_string().as_bytes());
    let mut answer = [0; 20];
    (&accepted).read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"\0\0\0\x10{\"success\":true}");
    // The client has said nothing, so the adapter's process is all there is to see.
    accepted.set_nonblocking(true).unwrap();
    assert_eq!((&accepted).read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn r18_r19_r84_members_that_are_optional_may_be_absent_null_or_unknown() {
    let rig = Rig::new();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let bridge = Bridging::start(&rig, &names);
    let mut names = names.into_iter();
    let null =
        json!({"mode": null, "env": null, "connectionTimeoutSeconds": null, "connectionTimeout": null});
    let empty = json!({"mode": "", "env": [], "connectionTimeoutSeconds": 1.5, "later": {"x": 1}});
    for members in [json!({}), null, empty] {
        let mut adapter = rig.fake(&[]);
        adapter.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        for run in [json!({}), json!({"run_id": null}), json!({"run_id": ""})] {
            let name = names.next().unwrap();
            let mut request =
                json!({"token": TOKEN, "session_id": name, "debug_adapter_config": adapter, "later": 1});
            request.as_object_mut().unwrap().extend(run.as_object().unwrap().clone());
            let (stream, answer) = bridge.handshake(&request);
            assert_eq!(answer, json!({"success": true}), "{request}");
            drop(stream);
            assert_eq!(bridge.line(), json!({"session": name, "state": "connected"}));
            assert_eq!(bridge.line(), json!({"session": name, "state": "terminated"}));
        }
    }
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r78_byte_by_byte_handshake_is_read() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let stream = bridge.connect();
    for byte in framed(request("s", &rig.fake(&[])).to_string().as_bytes()) {
        (&stream).write_all(&[byte]).unwrap();
    }
    assert_eq!(receive(&stream).unwrap(), json!({"success": true}));
}

#[test]
fn r25_handshake_of_the_largest_size_is_accepted_and_one_byte_more_refused() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let mut padded = request("s", &rig.fake(&[]));
    padded["padding"] = "".into();
    let missing = 65_536 - padded.to_string().len();
    padded["padding"] = "x".repeat(missing + 1).into();
    let (stream, answer) = bridge.handshake(&padded);
    assert_eq!(answer["success"], false);
    assert!(answer["error"].as_str().unwrap().contains("65537"), "{answer}");
    assert!(rest(&stream).is_empty());
    padded["padding"] = "x".repeat(missing).into();
    assert_eq!(padded.to_string().len(), 65_536);
    assert_eq!(bridge.handshake(&padded).1, json!({"success": true}));
}

#[test]
fn r26_r90_handshake_that_does_not_arrive_in_30_s_is_closed() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let began = Instant::now();
    let (silent, dripping) = (bridge.connect(), bridge.connect());
    let drip = std::thread::spawn({
        let dripping = dripping.try_clone().unwrap();
        move || {
            for byte in framed(&[b' '; 1000]) {
                // One byte a second: the deadline is for the whole handshake.
                std::thread::park_timeout(Duration::from_secs(1));
                if (&dripping).write_all(&[byte]).is_err() {
                    return;
                }
            }
        }
    });
    assert!(rest(&silent).is_empty());
    let closed = began.elapsed();
    assert!(closed >= Duration::from_secs(29), "{closed:?}");
    assert!(rest(&dripping).is_empty());
    drip.join().unwrap();
    // The session is still there.
    assert_eq!(bridge.handshake(&request("s", &rig.fake(&[]))).1, json!({"success": true}));
}

#[test]
fn r45_unreadable_handshakes_are_closed_without_dap() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let valid = request("s", &rig.fake(&[])).to_string();
    let wrong_type = valid.replace(&format!("\"{TOKEN}\""), "5");
    for body in [&b"{"[..], b"[]", b"7", b"\xff\xfe", wrong_type.as_bytes()] {
        let stream = bridge.connect();
        send(&stream, body);
        let answer = receive(&stream).unwrap();
        assert_eq!(answer["success"], false, "{answer}");
        assert!(rest(&stream).is_empty());
    }
    // Without a length nothing can be told apart, so nothing is answered.
    for bytes in [&b"\0\0"[..], b"\0\0\0\x09{}"] {
        let stream = bridge.connect();
        (&stream).write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(rest(&stream).is_empty());
    }
    let stream = bridge.connect();
    (&stream).write_all(b"\0\0\0\0").unwrap();
    assert_eq!(receive(&stream).unwrap()["success"], false);
}

fn refusal(bridge: &Bridging, request: &Value) -> String {
    let (stream, answer) = bridge.handshake(request);
    assert_eq!(answer["success"], false);
    assert!(rest(&stream).is_empty(), "nothing follows a refusal");
    answer["error"].as_str().unwrap().to_owned()
}

#[test]
fn r05_r44_r79_to_r82_checks_come_in_order_with_their_words() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let adapter = rig.fake(&[]);
    let mut wrong = request("s", &adapter);
    wrong["token"] = "wrong".into();
    let mut unknown = wrong.clone();
    unknown["session_id"] = "t".into();
    assert_eq!(refusal(&bridge, &unknown), "bridge session not found");
    assert_eq!(refusal(&bridge, &json!({})), "bridge session not found");
    assert_eq!(refusal(&bridge, &wrong), "invalid session token");
    wrong.as_object_mut().unwrap().remove("token");
    assert_eq!(refusal(&bridge, &wrong), "invalid session token");
    let mut without = request("s", &Value::Null);
    assert_eq!(refusal(&bridge, &without), "debug adapter configuration is required");
    without.as_object_mut().unwrap().remove("debug_adapter_config");
    assert_eq!(refusal(&bridge, &without), "debug adapter configuration is required");
    // None of these has used up the session.
    end(bridge.client("s", &adapter));
}

#[test]
fn r83_second_client_of_a_session_is_refused_and_the_first_lives_on() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let mut first = bridge.client("s", &rig.fake(&[]));
    assert_eq!(refusal(&bridge, &request("s", &rig.fake(&[]))), "session already connected: session s");
    crate::support::rig::initialize(&mut first);
    end(first);
}

#[test]
fn r12_configuration_that_cannot_start_is_refused_with_the_reason() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    for (adapter, reason) in [
        (json!({"args": []}), "\"args\" is empty"),
        (json!({}), "\"args\" is empty"),
        (json!({"args": ["x"], "mode": "callback"}), "mode \"callback\" is unknown"),
        (json!({"args": ["x"], "connectionTimeout": "soon"}), "is not a duration"),
    ] {
        let refused = refusal(&bridge, &request("s", &adapter));
        assert!(refused.starts_with("debug adapter configuration is invalid: "), "{refused}");
        assert!(refused.contains(reason), "{refused}");
    }
    end(bridge.client("s", &rig.fake(&[])));
}

#[test]
fn connection_for_which_there_can_be_no_thread_is_refused_and_the_bridge_lives_on() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let pid = bridge.process.id().cast_signed();
    let process = Some(Pid::from_raw(pid).unwrap());
    // Less than the stack of a thread.
    let enough = memory(pid, "VmSize:") + (1 << 20);
    let before = getrlimit(Resource::As);
    prlimit(process, Resource::As, Rlimit { current: Some(enough), maximum: before.maximum }).unwrap();
    let refused = bridge.connect();
    let answer = receive(&refused).unwrap();
    assert_eq!(answer["success"], false);
    assert!(answer["error"].as_str().unwrap().contains("cannot start another thread"), "{answer}");
    assert!(rest(&refused).is_empty());
    prlimit(process, Resource::As, before).unwrap();
    end(bridge.client("s", &rig.fake(&[])));
    assert!(bridge.finish().success());
}

#[test]
fn silent_connections_do_not_keep_others_out_for_ever() {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["s"]);
    let silent: Vec<_> = (0..256).map(|_| bridge.connect()).collect();
    // One too many is closed at once, and the bridge lives on.
    let deadline = Instant::now() + LONG;
    let refused = bridge.connect();
    assert!(rest(&refused).is_empty());
    assert!(Instant::now() < deadline);
    drop(silent);
    let accepted = breakroom_testkit::wait::until(LONG, || {
        let stream = bridge.connect();
        (&stream).write_all(&framed(request("s", &rig.fake(&[])).to_string().as_bytes())).ok()?;
        let mut prefix = [0; 4];
        std::io::Read::read_exact(&mut &stream, &mut prefix).ok().map(|()| stream)
    });
    assert!(accepted.is_some());
}
