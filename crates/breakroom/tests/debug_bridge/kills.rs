//! `kill -9` of each process that takes part in a bridged session, in each phase of the session: what is left, and what
//! client and registrar learn.
//!
//! How the hub ends sessions in general is in `ends.rs`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use breakroom_testkit::{fake, wait};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::steps::event;
use crate::support::bridging::{Bridging, Plain};
use crate::support::rig::{LONG, Rig, signal, text};

/// How far a session has come when a process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// A client is connected and has sent nothing.
    Connected,
    Accepted,
    /// The adapter runs and has not connected yet.
    Starting,
    Initialized,
    Running,
    Stopped,
}

const PHASES: [Phase; 6] =
    [Phase::Connected, Phase::Accepted, Phase::Starting, Phase::Initialized, Phase::Running, Phase::Stopped];

struct Scene {
    rig: Rig,
    bridge: Bridging,
    client: Plain,
    phase: Phase,
}

impl Scene {
    fn at(phase: Phase) -> Scene {
        let rig = Rig::new();
        let bridge = Bridging::start(&rig, &["s"]);
        Scene::with(rig, bridge, phase)
    }

    fn with(rig: Rig, bridge: Bridging, phase: Phase) -> Scene {
        rig.serves_another();
        let client = match phase {
            Phase::Connected => Plain::new(bridge.connect()),
            Phase::Starting => bridge.plain("s", &sleeper()),
            _ => bridge.plain("s", &adapter(&rig)),
        };
        let mut scene = Scene { rig, bridge, client, phase };
        scene.advance();
        scene
    }

    fn advance(&mut self) {
        if self.phase >= Phase::Accepted {
            self.adapter();
        }
        match self.phase {
            Phase::Connected | Phase::Accepted | Phase::Starting => {}
            Phase::Initialized => self.client.call(1, "initialize"),
            Phase::Running => self.client.begin(),
            Phase::Stopped => {
                self.client.begin();
                self.client.send(4, "x-stop");
                self.client.until("event", "stopped");
            }
        }
    }

    /// The adapter's process, once it runs.
    fn adapter(&self) -> i32 {
        let program = match self.phase {
            Phase::Starting => "sleep 600".to_owned(),
            _ => text(fake::adapter_path()),
        };
        let running = || {
            let processes = self.rig.sandbox.census().processes();
            let found = processes.iter().find(|process| process.command_line.starts_with(&program));
            found.map(|process| process.pid)
        };
        wait::until(LONG, running).expect("the adapter is started")
    }

    fn connected(&self) {
        assert_eq!(self.bridge.line(), json!({"session": "s", "state": "connected"}), "{:?}", self.phase);
    }

    /// A whole session under the same id.
    fn serves_again(&self) {
        let mut client = self.bridge.plain("s", &self.rig.fake(&[]));
        client.begin();
        client.call(4, "disconnect");
        client.until_closed();
        self.connected();
        assert_eq!(self.bridge.line(), json!({"session": "s", "state": "terminated"}), "{:?}", self.phase);
    }

    fn ended(self) {
        assert!(self.bridge.finish().success());
        self.rig.only_the_daemon_is_left();
    }
}

fn adapter(rig: &Rig) -> Value {
    let stopped = event("stopped", json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true}));
    rig.fake(&[json!({"expect": "x-stop"}), json!({"respond": "x-stop"}), stopped])
}

/// An adapter that never connects.
fn sleeper() -> Value {
    json!({
        "args": ["sh", "-c", "exec sleep 600", "{{port}}"],
        "mode": "tcp-callback",
        "connectionTimeoutSeconds": 600,
    })
}

#[test]
fn client_that_is_lost_ends_its_session() {
    for phase in PHASES {
        let Scene { rig, bridge, client, .. } = Scene::at(phase);
        drop(client);
        if phase > Phase::Connected {
            assert_eq!(bridge.line(), json!({"session": "s", "state": "connected"}), "{phase:?}");
            assert_eq!(bridge.line(), json!({"session": "s", "state": "terminated"}), "{phase:?}");
        }
        assert!(bridge.finish().success());
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn r70_adapter_that_is_killed_is_an_error_and_closes_the_connection() {
    for phase in &PHASES[1..] {
        let mut scene = Scene::at(*phase);
        signal(scene.adapter(), Signal::KILL);
        let output = scene.client.until("event", "output");
        assert!(output["body"]["output"].as_str().unwrap().contains("signal 9"), "{phase:?}: {output}");
        scene.client.until("event", "terminated");
        scene.client.until_closed();
        scene.connected();
        let line = scene.bridge.line();
        assert_eq!(line["state"], "error", "{phase:?}: {line}");
        assert!(line["error"].as_str().unwrap().contains("signal 9"), "{phase:?}: {line}");
        if *phase == Phase::Starting {
            scene.serves_again();
        }
        scene.ended();
    }
}

#[test]
fn hub_that_is_killed_is_an_error_and_leaves_nothing() {
    for phase in PHASES {
        let mut scene = Scene::at(phase);
        signal(scene.rig.daemon(), Signal::KILL);
        if phase == Phase::Connected {
            // A hub that is still dying accepts connections.
            let is_gone = wait::until(LONG, || scene.rig.daemon_now().is_none().then_some(()));
            is_gone.expect("the hub is gone");
            drop(scene.client);
            scene.client = scene.bridge.plain("s", &scene.rig.fake(&[]));
            scene.client.begin();
            scene.client.call(4, "disconnect");
            scene.client.until_closed();
            scene.connected();
            assert_eq!(scene.bridge.line()["state"], "terminated");
            scene.ended();
            continue;
        }
        scene.client.until_closed();
        scene.connected();
        let line = scene.bridge.line();
        assert_eq!(line["state"], "error", "{phase:?}: {line}");
        assert!(line["error"].as_str().unwrap().contains("the hub"), "{phase:?}: {line}");
        let bridge = scene.bridge.process.id().cast_signed();
        let alone = || {
            let processes = scene.rig.sandbox.census().processes();
            processes.iter().all(|process| process.pid == bridge).then_some(())
        };
        wait::until(LONG, alone)
            .unwrap_or_else(|| panic!("{phase:?}: {}", scene.rig.sandbox.census().left()));
        if phase == Phase::Starting {
            scene.serves_again();
            scene.ended();
        } else {
            assert!(scene.bridge.finish().success());
        }
    }
}

#[test]
fn bridge_that_is_killed_closes_every_connection_and_its_socket_troubles_no_other() {
    for phase in PHASES {
        let mut scene = Scene::at(phase);
        scene.bridge.process.kill().unwrap();
        scene.bridge.process.wait().unwrap();
        scene.client.until_closed();
        let left = scene.bridge.socket.clone();
        assert!(UnixStream::connect(&left).is_err());
        let next = Bridging::start(&scene.rig, &["s"]);
        assert_ne!(next.socket, left);
        scene.bridge = next;
        scene.serves_again();
        // Names are random and files that exist are never removed, so this one stays as long as the runtime folder does.
        fs::remove_file(left).unwrap();
        scene.ended();
    }
}

/// An orchestrator in two processes, so that both can be killed: one holds the bridge's stdin, the other reads its stdout.
struct Orchestrator {
    writer: Child,
    reader: Child,
}

impl Orchestrator {
    fn start(rig: &Rig) -> (Orchestrator, Bridging) {
        let mut writer = rig.sandbox.program("sleep").arg("700").stdout(Stdio::piped()).spawn().unwrap();
        let input = writer.stdout.take().unwrap();
        let lines = rig.sandbox.work().join("lines");
        let mut reader = None;
        let bridge = Bridging::start_unread(
            rig,
            &["s"],
            |command: &mut Command| {
                command.stdin(Stdio::from(input));
            },
            |output| {
                let mut tee = rig.sandbox.program("tee");
                let tee = tee.arg(&lines).stdin(Stdio::from(output)).stdout(Stdio::piped());
                let mut tee = tee.spawn().unwrap();
                let mut line = String::new();
                BufReader::new(tee.stdout.take().unwrap()).read_line(&mut line).unwrap();
                reader = Some(tee);
                serde_json::from_str(&line).unwrap()
            },
        );
        (Orchestrator { writer, reader: reader.unwrap() }, bridge)
    }

    fn kill(mut self) {
        for process in [&mut self.writer, &mut self.reader] {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

#[test]
fn orchestrator_that_is_killed_leaves_live_sessions_to_their_clients() {
    for phase in PHASES {
        let rig = Rig::new();
        let (orchestrator, bridge) = Orchestrator::start(&rig);
        let mut scene = Scene::with(rig, bridge, phase);
        orchestrator.kill();
        match phase {
            Phase::Connected | Phase::Starting => {}
            Phase::Accepted => scene.client.call(1, "initialize"),
            Phase::Initialized | Phase::Running | Phase::Stopped => scene.client.call(5, "threads"),
        }
        if phase == Phase::Connected {
            // No session is live, so the bridge ends at once.
            scene.client.until_closed();
        }
        let Scene { rig, mut bridge, client, .. } = scene;
        drop(client);
        let status =
            wait::for_exit(&mut bridge.process, LONG).expect("the bridge ends with its last session");
        assert!(status.success(), "{phase:?}");
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn registrar_that_ends_a_session_in_any_phase_hears_that_it_is_terminated() {
    for phase in &PHASES[1..] {
        let mut scene = Scene::at(*phase);
        scene.connected();
        scene.bridge.say(&json!({"end": "s"}));
        scene.client.until_closed();
        assert_eq!(
            scene.bridge.answer_and_change(),
            [json!({"ended": "s"}), json!({"session": "s", "state": "terminated"})],
            "{phase:?}"
        );
        scene.bridge.say(&json!({"end": "s"}));
        assert_eq!(scene.bridge.line()["error"], "bridge session not found", "{phase:?}");
        scene.ended();
    }
}
