//! The watchdog's part between an inspector and a js-debug that are played here.
//!
//! Neither is waited for by time: what the relay would do after a while, it does here at once or not within a test.

use super::*;
use crate::played::told;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;

use serde_json::{Value, json};

/// Longer than a test takes to answer on any machine.
const A_MINUTE: Duration = Duration::from_secs(60);

/// An inspector that agrees, and js-debug.
struct Both {
    inspector: TcpListener,
    server: BufReader<UnixStream>,
    watching: std::thread::JoinHandle<Result<(), RelayError>>,
    process: std::process::Child,
    folder: tempfile::TempDir,
}

fn both() -> Both {
    both_until(A_MINUTE)
}

/// With what counts as long enough without a line.
fn both_until(until_idle: Duration) -> Both {
    let folder = tempfile::tempdir().unwrap();
    let ipc = folder.path().join("s");
    let listener = UnixListener::bind(&ipc).unwrap();
    let inspector = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/name", inspector.local_addr().unwrap());
    let process = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let info = json!({ "ipcAddress": ipc, "pid": process.id().to_string(), "scriptName": "/x/a.js", "inspectorURL": url,
        "waitForDebugger": true, "ownId": "me", "openerId": "it", "telemetry": {} });
    let watched = Watched::read(&info.to_string()).unwrap();
    let watching = std::thread::spawn(move || watch_with(&watched, until_idle));
    let (server, _) = listener.accept().unwrap();
    Both { inspector, server: BufReader::new(server), watching, process, folder }
}

impl Both {
    fn hears(&mut self) -> Value {
        serde_json::from_slice(&next(&mut self.server).unwrap()).unwrap()
    }

    fn says(&mut self, message: &Value) {
        let text = format!("{message}\0");
        self.server.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn taken(&mut self) -> TcpStream {
        let announced = self.hears();
        assert_eq!(announced["method"], "Target.targetCreated");
        let info = &announced["params"]["targetInfo"];
        assert_eq!((&info["targetId"], &info["openerId"]), (&json!("me"), &json!("it")));
        assert_eq!(
            (&info["processId"], &info["type"]),
            (&json!(self.process.id()), &json!("waitingForDebugger"))
        );
        self.says(&json!({ "id": 7, "method": ATTACH, "params": {} }));
        let (mut inspector, _) = self.inspector.accept().unwrap();
        let mut hello = BufReader::new(inspector.try_clone().unwrap());
        let mut line = String::new();
        while hello.read_line(&mut line).unwrap() > 2 {}
        assert!(line.starts_with("GET /name HTTP/1.1\r\nHost: localhost\r\n"), "{line}");
        inspector.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").unwrap();
        assert_eq!(self.hears(), json!({ "id": 7, "result": { "sessionId": "me" } }));
        inspector
    }
}

#[test]
fn a_process_is_announced_and_its_words_are_carried_until_it_ends() {
    let mut both = both();
    let mut inspector = both.taken();
    inspector.write_all(b"\x81\x02{}").unwrap();
    assert_eq!(both.hears(), json!({}));
    both.says(&json!({ "id": 8 }));
    let mut frame = [0; 14];
    inspector.read_exact(&mut frame).unwrap();
    assert_eq!(&frame[..], b"\x81\x88\0\0\0\0{\"id\":8}");
    drop(inspector);
    assert_eq!(both.hears()["method"], "Target.targetDestroyed");
    assert_eq!(next(&mut both.server), None);
    both.watching.join().unwrap().unwrap();
    both.process.kill().unwrap();
    // The first signal is the one that counts.
    let signal = both.process.wait().unwrap().signal();
    assert_eq!(signal, Some(Signal::KILL.as_raw()), "a program may close its own inspector");
}

#[test]
fn an_idle_process_that_is_to_stop_is_given_a_line() {
    let mut both = both_until(Duration::from_millis(10));
    let mut inspector = both.taken();
    let pause = json!({ "id": 8, "method": "Debugger.pause", "params": {} });
    both.says(&pause);
    assert_eq!(told(&mut inspector), pause);
    assert_eq!(told(&mut inspector)["method"], "Debugger.pause");
    let line = told(&mut inspector);
    assert_eq!(line["method"], "Runtime.evaluate");
    for event in [format!("{{\"id\":{},\"result\":{{}}}}", line["id"]), "{}".to_owned()] {
        inspector.write_all(&[0x81, u8::try_from(event.len()).unwrap()]).unwrap();
        inspector.write_all(event.as_bytes()).unwrap();
    }
    assert_eq!(both.hears(), json!({}), "js-debug did not ask for that answer");
    both.process.kill().unwrap();
    both.process.wait().unwrap();
    drop(inspector);
    both.watching.join().unwrap().unwrap();
}

#[test]
fn a_process_that_stops_when_it_is_to_is_given_no_line() {
    let mut both = both();
    let mut inspector = both.taken();
    let pause = json!({ "id": 8, "method": "Debugger.pause", "params": {} });
    both.says(&pause);
    assert_eq!(told(&mut inspector), pause);
    let event = "{\"method\":\"Debugger.paused\",\"params\":{}}";
    inspector.write_all(&[0x81, u8::try_from(event.len()).unwrap()]).unwrap();
    inspector.write_all(event.as_bytes()).unwrap();
    assert_eq!(both.hears()["method"], "Debugger.paused");
    inspector.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    assert!(inspector.read(&mut [0]).is_err(), "nothing more is said");
    both.process.kill().unwrap();
    both.process.wait().unwrap();
    drop(inspector);
    both.watching.join().unwrap().unwrap();
}

#[test]
fn a_process_that_is_let_go_hears_it_and_so_does_js_debug() {
    let mut both = both();
    let mut inspector = both.taken();
    both.says(&json!({ "id": 9, "method": DETACH, "params": {} }));
    assert_eq!(both.hears(), json!({ "id": 9, "result": {} }));
    let mut heard = Vec::new();
    inspector.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"\x88\x80\0\0\0\0");
    drop(inspector);
    assert_eq!(both.hears()["method"], "Target.targetDestroyed");
    both.watching.join().unwrap().unwrap();
    assert!(both.process.try_wait().unwrap().is_none());
    both.process.kill().unwrap();
    both.process.wait().unwrap();
}

#[test]
fn when_js_debug_is_over_the_process_is_left() {
    let mut both = both();
    let mut inspector = both.taken();
    std::fs::remove_file(both.folder.path().join("s")).unwrap();
    drop(both.server);
    let mut heard = Vec::new();
    inspector.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"\x88\x80\0\0\0\0");
    both.watching.join().unwrap().unwrap();
    assert!(both.process.try_wait().unwrap().is_none());
    both.process.kill().unwrap();
    both.process.wait().unwrap();
}

#[test]
fn a_process_whose_connection_alone_is_closed_is_ended_before_it_is_left() {
    let own = |said: &str| format!(r#"{{"method":"{said}","params":{{}}}}"#);
    let inside = |name: &str, message: &str| {
        let message = Value::from(message);
        format!(
            r#"{{"method":"NodeWorker.receivedMessageFromWorker","params":{{"sessionId":"{name}","message":{message}}}}}"#
        )
    };
    let gone = r#"{"method":"NodeWorker.detachedFromWorker","params":{"sessionId":"1"}}"#.to_owned();
    let (stops, goes_on) = (own("Debugger.paused"), own("Debugger.resumed"));
    let (worker_stops, worker_goes_on) = (inside("1", &stops), inside("1", &goes_on));
    for (said, signal) in [
        (vec![&stops], Signal::KILL),
        (vec![&goes_on], Signal::TERM),
        (vec![&worker_stops], Signal::KILL),
        (vec![&worker_stops, &stops, &goes_on], Signal::KILL),
        (vec![&worker_stops, &worker_goes_on], Signal::TERM),
        (vec![&worker_stops, &gone], Signal::TERM),
        (vec![&worker_stops, &inside("2", &goes_on), &inside("1", &own("Runtime.x"))], Signal::KILL),
    ] {
        let mut both = both();
        let mut inspector = both.taken();
        for event in said {
            let length = u16::try_from(event.len()).unwrap().to_be_bytes();
            inspector.write_all(&[&[0x81, 126], &length[..], event.as_bytes()].concat()).unwrap();
            assert_eq!(both.hears(), serde_json::from_str::<Value>(event).unwrap());
        }
        drop(both.server);
        assert_eq!(both.process.wait().unwrap().signal(), Some(signal.as_raw()));
        both.watching.join().unwrap().unwrap();
    }
}

/// A port that is another's by now, or a process that stands still.
#[test]
fn an_inspector_that_lets_in_and_says_nothing_is_given_up_and_the_process_that_waits_ended() {
    let mut both = both();
    both.hears();
    both.says(&json!({ "id": 7, "method": ATTACH, "params": {} }));
    both.server.get_ref().set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    assert_eq!(both.hears()["method"], "Target.targetDestroyed");
    both.watching.join().unwrap().unwrap();
    assert_eq!(both.process.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn a_process_that_waits_and_that_nobody_takes_is_ended() {
    let mut both = both();
    both.hears();
    drop(both.server);
    both.watching.join().unwrap().unwrap();
    both.process.kill().unwrap();
    // The first signal is the one that counts.
    assert_eq!(both.process.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn somebody_who_steps_over_a_line_right_after_a_pause_is_given_none() {
    let mut both = both();
    let mut inspector = both.taken();
    let hears = |both: &mut Both, inspector: &mut TcpStream, method: &str| {
        let event = format!("{{\"method\":\"{method}\",\"params\":{{}}}}");
        inspector.write_all(&[0x81, u8::try_from(event.len()).unwrap()]).unwrap();
        inspector.write_all(event.as_bytes()).unwrap();
        assert_eq!(both.hears()["method"], method);
    };
    both.says(&json!({ "id": 8, "method": "Debugger.pause", "params": {} }));
    assert_eq!(told(&mut inspector)["method"], "Debugger.pause");
    hears(&mut both, &mut inspector, "Debugger.paused");
    both.says(&json!({ "id": 9, "method": "Debugger.stepOver", "params": {} }));
    assert_eq!(told(&mut inspector)["method"], "Debugger.stepOver");
    hears(&mut both, &mut inspector, "Debugger.resumed");
    inspector.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    assert!(inspector.read(&mut [0]).is_err(), "nothing more is said");
    both.process.kill().unwrap();
    both.process.wait().unwrap();
}

#[test]
fn a_process_that_has_come_to_its_end_is_only_left() {
    let mut both = both();
    let mut inspector = both.taken();
    for (event, params) in [
        ("Created", json!({"context": {"id": 4, "auxData": {"isDefault": true}}})),
        ("Created", json!({"context": {"id": 5, "auxData": {"isDefault": false}}})),
        ("Destroyed", json!({"executionContextId": 4})),
    ] {
        let event = format!("{{\"method\":\"Runtime.executionContext{event}\",\"params\":{params}}}");
        inspector.write_all(&[0x81, u8::try_from(event.len()).unwrap()]).unwrap();
        inspector.write_all(event.as_bytes()).unwrap();
        both.hears();
    }
    drop(both.server);
    both.watching.join().unwrap().unwrap();
    assert!(both.process.try_wait().unwrap().is_none());
    both.process.kill().unwrap();
    both.process.wait().unwrap();
}
