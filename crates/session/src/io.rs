//! What enters a session and what it asks its driver to do.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::access::Access;
use crate::ids::{ClientId, NodeId, Ticket};
use crate::judgement::Habits;
use crate::ledger::BareHits;
use crate::moving::Traveller;

#[derive(Debug)]
pub enum Input {
    ClientJoined {
        client: ClientId,
        access: Access,
    },
    /// One whole message of a client.
    Client {
        client: ClientId,
        message: Bytes,
    },
    /// A client that came from another session of this hub.
    ClientArrived {
        client: ClientId,
        traveller: Box<Traveller>,
    },
    /// What a client asked for with [`Effect::MoveClient`] is not possible.
    MoveRefused {
        client: ClientId,
        reason: String,
    },
    /// The session that a client wanted to go to is this one.
    AlreadyHere {
        client: ClientId,
    },
    /// A client's bytes make no messages any more. It is told why and then let go.
    ClientBroken {
        client: ClientId,
        reason: String,
    },
    /// The connection is closed, as agreed or by accident.
    ClientLeft {
        client: ClientId,
    },
    /// The engine that was asked for is connected.
    NodeUp {
        node: NodeId,
        facts: EngineFacts,
    },
    /// The engine that was asked for could not be started.
    NodeFailed {
        node: NodeId,
        reason: String,
    },
    /// One whole message of an engine.
    Engine {
        node: NodeId,
        message: Bytes,
    },
    /// Everything the engine sent was delivered before this.
    NodeEnded {
        node: NodeId,
        end: NodeEnd,
    },
    /// Text that came from beside the protocol: an adapter's own stdout, a terminal of ours.
    Output {
        node: NodeId,
        category: &'static str,
        text: String,
    },
    /// What the adapter wrote to its stderr, if that is not the debuggee's too.
    Stderr {
        node: NodeId,
        text: String,
    },
    /// What became of an [`Effect::RunInTerminal`].
    Terminal {
        ticket: Ticket,
        result: Result<u32, String>,
    },
    /// What became of an [`Effect::AskHub`].
    HubAnswered {
        ticket: Ticket,
        result: Result<Value, String>,
    },
    /// A deadline may have passed.
    Timer,
    /// Somebody wants the session ended, with what it launched.
    Killed {
        reason: String,
    },
    /// The hub is going away; the session must end now.
    Shutdown {
        reason: String,
    },
}

/// What the driver knows about an engine that it started.
#[derive(Debug, Clone, Default)]
pub struct EngineFacts {
    /// For messages to people.
    pub name: String,
    /// An expression that makes a plain yes or no of a condition, with `{}` for the condition.
    pub truth: Option<String>,
    /// What the engine understands by a hit condition that is only a number.
    pub bare_hits: BareHits,
}

impl EngineFacts {
    pub(crate) fn habits(&self) -> Habits<'_> {
        Habits { truth: self.truth.as_deref(), bare_hits: self.bare_hits }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEnd {
    /// How the process ended, for people: "exit code 3".
    pub exit: String,
    /// Whether that is how a healthy adapter ends.
    pub clean: bool,
    /// The last lines of its stderr.
    pub stderr: String,
}

/// How the engine of a session is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineChoice {
    /// By a name of the catalog.
    Type(String),
    /// By the program's file.
    File(String),
    /// By a record in the launch arguments.
    Record(Value),
}

#[derive(Debug)]
pub enum Effect {
    StartEngine {
        node: NodeId,
        choice: EngineChoice,
    },
    /// End the engine's process after this grace; the last inputs of the node still arrive.
    StopEngine {
        node: NodeId,
        grace: Duration,
        /// Whether what the engine started is left alone: a debuggee that was detached.
        release: bool,
    },
    /// The client wants to take part in another session: [`Session::depart`](crate::Session::depart) lets it go.
    MoveClient {
        client: ClientId,
        session: String,
    },
    /// A client wants something of the hub itself.
    AskHub {
        ticket: Ticket,
        verb: Verb,
    },
    RunInTerminal {
        ticket: Ticket,
        node: NodeId,
        request: TerminalRequest,
    },
}

/// What a client can ask of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// Which sessions there are.
    Sessions,
    /// To end one.
    Kill { session: String },
}

/// The arguments of `runInTerminal` as far as a terminal of ours needs them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalRequest {
    pub args: Vec<String>,
    pub cwd: Option<String>,
    /// A `None` removes the variable.
    pub env: Vec<(String, Option<String>)>,
}
