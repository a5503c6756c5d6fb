//! What enters a session and what it asks its driver to do.
//!
//! Only data: nothing here does anything, so that a recorded list of inputs plays a session again.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::access::Access;
use crate::ending::Fate;
use crate::facts::EngineFacts;
use crate::ids::{ClientId, NodeId, Ticket};
use crate::moving::Traveller;
use crate::recording::Stream;

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "an engine comes up once, and whoever says so has its facts by value"
)]
pub enum Input {
    ClientJoined {
        client: ClientId,
        access: Access,
        /// The child that the connection was made for.
        child: Option<NodeId>,
    },
    /// One whole message of a client.
    Client { client: ClientId, message: Bytes },
    /// A client that came from another session of this hub.
    ClientArrived { client: ClientId, traveller: Box<Traveller> },
    /// What a client asked for with [`Effect::MoveClient`] is not possible.
    MoveRefused { client: ClientId, reason: String },
    /// The session that a client wanted to go to is this one.
    AlreadyHere { client: ClientId },
    /// A client's bytes make no messages any more. It is told why and then let go.
    ClientBroken { client: ClientId, reason: String },
    /// The connection is closed, as agreed or by accident.
    ClientLeft { client: ClientId },
    /// The engine that was asked for is connected.
    NodeUp { node: NodeId, facts: EngineFacts },
    /// The engine that was asked for could not be started.
    NodeFailed { node: NodeId, reason: String },
    /// One whole message of an engine.
    Engine { node: NodeId, message: Bytes },
    /// Everything the engine sent was delivered before this.
    NodeEnded { node: NodeId, end: NodeEnd },
    /// What became of an [`Effect::KillPrograms`]. An engine that ended meanwhile is not reported again.
    ProgramsKilled { node: NodeId },
    /// Text that came from beside the protocol: an adapter's own stdout, a terminal of ours.
    Output { node: NodeId, category: &'static str, text: String },
    /// What the adapter wrote to its stderr, if that is not the debuggee's too.
    Stderr { node: NodeId, text: String },
    /// What became of an [`Effect::Prepare`]: other arguments, or `None` if the launch may go as it came.
    Prepared { ticket: Ticket, result: Result<Option<Value>, String> },
    /// Something to show while a launch is being prepared: a line of a build.
    Progress { ticket: Ticket, text: String },
    /// What became of an [`Effect::RunInTerminal`].
    Terminal { ticket: Ticket, result: Result<u32, String> },
    /// What ran in a terminal of the hub's has ended, with the code that a shell has for it.
    TerminalEnded { node: NodeId, code: i32 },
    /// What became of an [`Effect::AskHub`] or an [`Effect::GiveInput`].
    HubAnswered { ticket: Ticket, result: Result<Value, String> },
    /// A deadline may have passed.
    Timer,
    /// Somebody wants the session ended, with what it launched.
    Killed { reason: String },
    /// The hub is going away; the session must end now.
    Shutdown { reason: String },
}

/// How programs are ended by signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Something of them is stopped and must not run on: at once.
    Kill,
    /// They run and may tidy up, for a short while.
    Ask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEnd {
    /// How the process ended, for people: "exit code 3".
    pub exit: String,
    /// The code that a shell has for its end, if it is a process.
    pub code: Option<i32>,
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
        /// What is launched or attached to, if that is known already: some engines are started with their program.
        arguments: Option<Value>,
    },
    /// Open a connection for a child that `parent` announced. It is reported like any engine.
    OpenChild {
        node: NodeId,
        parent: NodeId,
        opening: Opening,
    },
    /// Look at a launch before anything is done about it: configurations by name, variables, builds.
    Prepare {
        ticket: Ticket,
        command: &'static str,
        arguments: Value,
    },
    /// A launch that is being prepared is not wanted any more. Nothing more is reported about it.
    CallOff {
        ticket: Ticket,
    },
    /// End the engine's process after this grace; the last inputs of the node still arrive.
    StopEngine {
        node: NodeId,
        grace: Duration,
        debuggee: Fate,
    },
    /// End what the engine started, and say when it is done. With `whole` the engine's own process too.
    KillPrograms {
        node: NodeId,
        whole: bool,
        force: Force,
    },
    /// Should the hub be lost, what the engine started is to be killed before the engine can let it run on. It is said
    /// with each launch, and holds until the engine ends.
    GuardPrograms {
        node: NodeId,
        whole: bool,
    },
    /// Should the hub be lost, what the engine started is to be left alone. It is said with each launch.
    SparePrograms {
        node: NodeId,
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
    /// Nobody can give this program input, which the hub holds: it is to find the end.
    EndInput {
        node: NodeId,
    },
    /// Write what a program printed into the file that the front end gave.
    Record {
        stream: Stream,
        text: String,
    },
    /// Something for a program to read, whose input the hub holds.
    GiveInput {
        ticket: Ticket,
        node: NodeId,
        text: String,
        /// Nothing more comes after it.
        end: bool,
    },
}

/// Where a child is debugged.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// By another connection to the server that its parent is on (js-debug).
    SameServer,
    /// By the server that its announcement names (debugpy).
    At { host: String, port: u16 },
    /// By an engine of its own (a group's services).
    Engine { choice: EngineChoice, arguments: Value },
}

/// What a client can ask of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// Which sessions there are.
    Sessions,
    /// Which of them this is.
    Session,
    /// To end one.
    Kill { session: String, by: String },
}

/// The arguments of `runInTerminal` as far as a terminal of ours needs them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalRequest {
    pub args: Vec<String>,
    pub cwd: Option<String>,
    /// A `None` removes the variable.
    pub env: Vec<(String, Option<String>)>,
}
