//! The client side: a session of ours whose debugger is that of an easy-dotnet server.

use std::io::{BufRead, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use breakroom_testkit::frames::{FrameReader, write_message};
use breakroom_testkit::{Strict, fake, wait};
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};

use crate::support::plugin::{Server, fake_in_catalog, program};
use crate::support::rig::{LONG, Rig, end, initialize, text};

/// From the first message to a program that runs.
fn launch(client: &mut Strict, arguments: Value) {
    client.allow(&["capabilities", "output"]);
    initialize(client);
    let launch = client.request("launch", arguments);
    client.event("initialized");
    client.call("configurationDone", Value::Null);
    client.response(launch);
}

#[test]
fn r000_47_launch_of_type_easy_dotnet_is_a_session_at_the_server() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let target = program(&rig, "a.fake");
    let mut client = rig.client();
    launch(&mut client, json!({"type": "easy-dotnet", "server": server.socket, "program": target}));
    client.call("threads", Value::Null);
    let launched: Vec<_> = rig.log().into_iter().filter(|message| message["command"] == "launch").collect();
    assert_eq!(launched.len(), 1);
    assert_eq!(launched[0]["arguments"]["program"], text(&target));
    end(client);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn failed_start_at_the_server_is_told_in_its_words() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let mut client = rig.client();
    client.allow(&["output", "capabilities", "terminated"]);
    initialize(&mut client);
    let arguments = json!({"type": "easy-dotnet", "server": server.socket, "program": "/no/such.fake"});
    let launch = client.request("launch", arguments);
    let failed = client.failure(launch);
    let said = failed["message"].as_str().unwrap();
    assert!(said.contains("debugger/start") && said.contains("no such file"), "{said}");
    client.abandon();
}

/// A server whose every message a test decides on, with a fake adapter behind each port.
struct Scripted {
    stream: UnixStream,
    reader: FrameReader,
}

impl Scripted {
    fn accept(listener: &UnixListener) -> Scripted {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let reader = FrameReader::new(stream.try_clone().unwrap().into(), Peer::Client);
        Scripted { stream, reader }
    }

    fn next(&mut self) -> Value {
        match self.reader.read().unwrap() {
            Some(Frame::Message(body)) => serde_json::from_slice(&body).unwrap(),
            _ => panic!("the client's connection ended"),
        }
    }

    fn send(&self, message: Value) {
        write_message(&mut &self.stream, message.to_string().as_bytes()).unwrap();
    }

    fn answer(&mut self, method: &str, result: Value) -> Value {
        let request = self.next();
        assert_eq!(request["method"], method);
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        request["params"].clone()
    }

    fn call(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let response = self.next();
        assert_eq!(response["id"], id);
        response["result"].clone()
    }
}

struct Adapter {
    process: Child,
    port: u16,
    log: PathBuf,
}

impl Adapter {
    fn start(rig: &Rig, name: &str) -> Adapter {
        let log = rig.sandbox.work().join(format!("{name}.log"));
        let mut command = rig.sandbox.program(fake::adapter_path());
        let script = fake::write_script(&rig.sandbox.work(), &[]);
        command.arg(script).args(["--listen", "0", "--log"]).arg(&log).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().unwrap().parse().unwrap();
        Adapter { process, port, log }
    }

    fn was_told(&self, command: &str) -> bool {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let mut messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.any(|message| message["command"] == command)
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn r000_48_49_sessions_of_the_server_begin_and_end_by_ids_of_ours() {
    let rig = Rig::new();
    let socket = rig.sandbox.work().join("pipe");
    let listener = UnixListener::bind(&socket).unwrap();
    let (first, second, third) =
        (Adapter::start(&rig, "first"), Adapter::start(&rig, "second"), Adapter::start(&rig, "third"));
    let port = first.port;
    let accepting = std::thread::spawn(move || {
        let mut server = Scripted::accept(&listener);
        let introduced = server.answer("initialize", json!({"serverInfo": {"version": "3.0.0"}}));
        assert!(introduced["request"]["projectInfo"]["rootDir"].is_string(), "{introduced}");
        let asked = server.answer("debugger/start", json!({"success": true, "port": port}));
        assert_eq!(asked, json!({"request": {"targetPath": "/p/App.csproj", "targetFramework": "net8.0"}}));
        server
    });
    let mut client = rig.client();
    client.allow(&["thread", "exited", "breakpoint", "process"]);
    launch(
        &mut client,
        json!({"type": "easy-dotnet", "server": socket, "program": "/p/App.csproj", "targetFramework": "net8.0"}),
    );
    let mut server = accepting.join().unwrap();
    assert!(first.was_told("launch"));
    let ids: Vec<_> = [(7, &second), (8, &third)]
        .into_iter()
        .map(|(id, adapter)| {
            let begun =
                server.call(id, "startDebugSession", json!({"host": "127.0.0.1", "port": adapter.port}));
            // 000-31: a debug session is begun where the server said.
            let told = || adapter.was_told("initialize").then_some(());
            assert!(wait::until(LONG, told).is_some(), "nothing was begun at the port");
            begun
        })
        .collect();
    // 000-33: the ids are ours, and no two are the same.
    assert!(ids[0].is_i64() && ids[1].is_i64() && ids[0] != ids[1], "{ids:?}");
    let configured =
        || (second.was_told("configurationDone") && third.was_told("configurationDone")).then_some(());
    assert!(wait::until(LONG, configured).is_some());
    let ended = server.call(9, "terminateDebugSession", json!({"sessionId": ids[0]}));
    assert_eq!(ended, true);
    assert!(second.was_told("disconnect"));
    assert!(!third.was_told("disconnect") && !first.was_told("disconnect"));
    client.call("threads", Value::Null);
    assert_eq!(server.call(10, "terminateDebugSession", json!({"sessionId": 99})), true);
    let refused = server.call(11, "startDebugSession", json!({"host": "127.0.0.1", "port": "none"}));
    assert!(refused.is_null());
    end(client);
    drop(server);
    drop((first, second, third));
    rig.only_the_daemon_is_left();
}
