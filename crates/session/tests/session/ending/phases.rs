//! Every way to end in every phase a session can be in, with engines of every manner.

use breakroom_session::{ClientId, Input, NodeId};
use serde_json::json;

use crate::rig::{Rig, capabilities};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before `initialize`.
    Connected,
    /// `initialize` was answered with the base set; there is no engine.
    NoEngine,
    /// `initialize` waits for an engine whose process is being started.
    EngineStarts,
    /// `initialize` waits for the engine's own answer to it, and a launch waits behind it.
    EngineInitializes,
    /// The launch waits for an engine that is being started.
    LaunchWaits,
    /// The launch was sent and is not answered.
    Launching,
    LaunchFailed,
    Running,
    Stopped,
    /// Requests are under way, some sent and some not.
    Asking,
    /// The engine said `terminated` and lives on.
    Terminated,
    /// The engine's process is gone.
    EngineGone,
}

const PHASES: [Phase; 12] = [
    Phase::Connected,
    Phase::NoEngine,
    Phase::EngineStarts,
    Phase::EngineInitializes,
    Phase::LaunchWaits,
    Phase::Launching,
    Phase::LaunchFailed,
    Phase::Running,
    Phase::Stopped,
    Phase::Asking,
    Phase::Terminated,
    Phase::EngineGone,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Disconnect,
    DisconnectTwice,
    /// `terminate`, and `disconnect` once all is told.
    Terminate,
    Lost,
    /// `disconnect`, and the connection is gone before it is answered.
    DisconnectAndLost,
    Broken,
    Shutdown,
    EngineDies,
}

const WAYS: [Way; 8] = [
    Way::Disconnect,
    Way::DisconnectTwice,
    Way::Terminate,
    Way::Lost,
    Way::DisconnectAndLost,
    Way::Broken,
    Way::Shutdown,
    Way::EngineDies,
];

/// What the engine does when it is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Answers,
    AnswersAndSaysTerminatedAgain,
    EndsInstead,
    SaysNothing,
}

const MANNERS: [Manner; 4] =
    [Manner::Answers, Manner::AnswersAndSaysTerminatedAgain, Manner::EndsInstead, Manner::SaysNothing];

pub(super) fn reach(phase: Phase, can_terminate: bool) -> (Rig, ClientId, Option<NodeId>) {
    let mut capabilities = capabilities();
    capabilities["supportsTerminateRequest"] = can_terminate.into();
    let mut rig = Rig::new();
    let client = rig.join();
    match phase {
        Phase::Connected => {}
        Phase::NoEngine | Phase::LaunchWaits => {
            rig.request(client, "initialize", json!({}));
        }
        Phase::EngineStarts | Phase::EngineInitializes => {
            rig.request(client, "initialize", json!({"adapterID": "python"}));
        }
        Phase::Launching | Phase::LaunchFailed => {
            let (rig, client, node) = Rig::initialized_with(capabilities, json!({}));
            return launching(phase, rig, client, node);
        }
        _ => {
            let (rig, client, node) = Rig::running_with(capabilities, json!({}));
            return running(phase, rig, client, node);
        }
    }
    if phase == Phase::LaunchWaits {
        rig.request(client, "launch", json!({"type": "python"}));
        rig.request(client, "pause", json!({"threadId": 1}));
    }
    let node = rig.started.last().map(|(node, _)| *node);
    if phase == Phase::EngineInitializes {
        rig.request(client, "launch", json!({"program": "x.py"}));
        rig.request(client, "threads", json!({}));
        rig.node_up(node.unwrap());
    }
    (rig, client, node)
}

fn launching(phase: Phase, mut rig: Rig, client: ClientId, node: NodeId) -> (Rig, ClientId, Option<NodeId>) {
    rig.request(client, "launch", json!({"program": "x.py"}));
    let launch = rig.got(node, "launch");
    if phase == Phase::LaunchFailed {
        rig.fail(node, &launch, "no such program");
    }
    (rig, client, Some(node))
}

fn running(phase: Phase, mut rig: Rig, client: ClientId, node: NodeId) -> (Rig, ClientId, Option<NodeId>) {
    match phase {
        Phase::Stopped => rig.stop(node, 1),
        Phase::Asking => {
            rig.stop(node, 1);
            rig.request(client, "evaluate", json!({"expression": "slow()"}));
            rig.request(client, "next", json!({"threadId": 1}));
            rig.stall_engine(node);
            rig.request(client, "threads", json!({}));
            rig.request(client, "pause", json!({"threadId": 1}));
            rig.engine_reads_on(node);
            rig.stall_engine(node);
            rig.request(client, "modules", json!({}));
            rig.engine_reads_on(node);
        }
        Phase::Terminated => {
            rig.tell(node, "exited", json!({"exitCode": 0}));
            rig.tell(node, "terminated", json!({}));
        }
        Phase::EngineGone => rig.node_ended(node, "signal 11", "Segmentation fault"),
        _ => {}
    }
    (rig, client, Some(node))
}

fn end(rig: &mut Rig, client: ClientId, node: Option<NodeId>, way: Way) {
    match way {
        Way::Disconnect => {
            rig.request(client, "disconnect", json!({"restart": false}));
        }
        Way::DisconnectTwice => {
            rig.request(client, "disconnect", json!({}));
            if rig.closed(client).is_none() {
                rig.request(client, "disconnect", json!({}));
            }
        }
        Way::Terminate => {
            rig.request(client, "terminate", json!({}));
        }
        Way::Lost => rig.lose(client),
        Way::DisconnectAndLost => {
            rig.request(client, "disconnect", json!({}));
            if rig.closed(client).is_none() {
                rig.lose(client);
            }
        }
        Way::Broken => rig.breaks(client),
        Way::Shutdown => rig.on(Input::Shutdown { reason: "the hub is told to end".into() }),
        Way::EngineDies => {
            if let Some(node) = node {
                rig.node_ended(node, "exit code 3", "boom");
            }
        }
    }
}

/// Plays the engine and its process until nothing is left to do.
fn play_engine(rig: &mut Rig, node: NodeId, manner: Manner, gone: &mut bool) {
    for heard in rig.engine_heard(node) {
        if *gone || heard.json["type"] != "request" {
            continue;
        }
        match (heard.json["command"].as_str().unwrap(), manner) {
            ("terminate", _) => {
                rig.answer(node, &heard.json, json!({}));
                rig.tell(node, "terminated", json!({}));
            }
            ("disconnect", Manner::Answers) => rig.answer(node, &heard.json, json!({})),
            ("disconnect", Manner::AnswersAndSaysTerminatedAgain) => {
                rig.tell(node, "terminated", json!({}));
                rig.answer(node, &heard.json, json!({}));
                rig.tell(node, "terminated", json!({}));
            }
            ("disconnect", Manner::EndsInstead) => {
                rig.node_ended(node, "exit code 0", "");
                *gone = true;
            }
            ("disconnect", Manner::SaysNothing) => rig.advance(5),
            _ => {}
        }
    }
    if !*gone && rig.stopped.iter().any(|(stopped, ..)| *stopped == node) {
        rig.node_ended(node, "signal 15", "");
        *gone = true;
    }
}

#[test]
fn every_way_to_end_in_every_phase_answers_everything_and_leaves_nothing() {
    for phase in PHASES {
        for way in WAYS {
            for manner in MANNERS {
                for can_terminate in [true, false] {
                    println!("{phase:?}, {way:?}, the engine {manner:?}, terminate: {can_terminate}");
                    let (mut rig, client, node) = reach(phase, can_terminate);
                    rig.engine_heard_but_not_asked_to_end(node);
                    end(&mut rig, client, node, way);
                    let mut gone = phase == Phase::EngineGone || (way == Way::EngineDies && node.is_some());
                    for _ in 0..3 {
                        if let Some(node) = node {
                            play_engine(&mut rig, node, manner, &mut gone);
                        }
                    }
                    let left = matches!(way, Way::Lost | Way::DisconnectAndLost);
                    if !left && rig.closed(client).is_none() {
                        rig.request(client, "disconnect", json!({}));
                    }
                    for _ in 0..3 {
                        if let Some(node) = node {
                            play_engine(&mut rig, node, manner, &mut gone);
                        }
                    }
                    assert!(gone || node.is_none(), "the engine is still there");
                    assert!(left || rig.closed(client).is_some(), "the client is still there");
                    rig.assert_over();
                }
            }
        }
    }
}

impl Rig {
    /// Forgets what the engine heard on the way into a phase.
    fn engine_heard_but_not_asked_to_end(&mut self, node: Option<NodeId>) {
        if let Some(node) = node {
            let names = self.engine_names(node);
            assert!(!names.iter().any(|name| name == "?disconnect" || name == "?terminate"), "{names:?}");
        }
    }
}
