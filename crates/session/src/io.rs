//! What enters a session and what it asks its driver to do.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};

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
    /// What became of an [`Effect::Prepare`]: other arguments, or `None` if the launch may go as it came.
    Prepared {
        ticket: Ticket,
        result: Result<Option<Value>, String>,
    },
    /// Something to show while a launch is being prepared: a line of a build.
    Progress {
        ticket: Ticket,
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
    pub unset: Unset,
    /// The names under which a configuration may ask for it: a child of one of these is on its parent's server.
    pub kinds: Vec<String>,
    /// What this connection does itself.
    pub part: Part,
    pub entry: EntryStop,
    pub console: Console,
    pub amendments: Amendments,
    pub hover: Hover,
    pub exit: ExitWord,
    pub threads: ThreadList,
    /// Capabilities that the engine claims and does not have, by their names.
    pub withdraw: Vec<String>,
    /// Where it is connected to, for messages: `127.0.0.1:8123`.
    pub address: Option<String>,
}

/// What an engine needs of a `launch` or `attach` that its client cannot know.
#[derive(Debug, Clone, Default)]
pub struct Amendments {
    /// Arguments for which there is a value if the client gives none.
    pub defaults: Map<String, Value>,
    /// What the engine calls a `type`, by what clients call it; `*` is any other, or none.
    pub types: BTreeMap<String, String>,
}

/// What an engine does itself. A child on its parent's server always debugs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    #[default]
    Debugs,
    /// It only opens children (js-debug, a group): it gets no breakpoints and is asked about no thread.
    Coordinates,
}

/// How an engine is made to stop before the program's first line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum EntryStop {
    /// `stopOnEntry` in the launch means what it says.
    #[default]
    Native,
    /// The engine knows it under another key.
    Key(String),
    /// A breakpoint of the hub's own on this function, which no client sees (delve).
    Function(String),
    /// The engine stops first if it is asked to `attach` and not to `launch` (rdbg).
    ByAttach,
    /// The engine stops first if it is asked to `pause` before it is let go (CMake).
    Pause,
}

/// What becomes of a breakpoint that the engine is not told any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unset {
    #[default]
    Goes,
    /// The engine knows only how to add: it goes on stopping there (rdbg 1.4), and the hub lets it go on.
    Stays,
}

/// What the engine takes an `evaluate` in the console for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Console {
    #[default]
    Expressions,
    /// Commands of the debugger's own language (gdb, CodeLLDB): a value has to be asked for as a watch.
    Commands,
}

/// What the engine takes an `evaluate` under the mouse for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hover {
    #[default]
    Expressions,
    /// Names and members only (lldb, rdbg): what has an operator has to be asked for as a watch.
    Names,
}

/// How an engine tells the code that its program ended with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ExitWord {
    /// By `exited`, before `terminated` or right behind it (perl).
    #[default]
    Event,
    /// Not at all.
    Never,
    /// By its own end: the program is the engine's process (rdbg).
    OwnEnd,
    /// In one of these lines of its output, before `terminated` (cdt-gdb, js-debug): with `{}` for the code, `{octal}` for
    /// one that is written so, or without either where it is 0.
    InOutput(Vec<String>),
    /// The same, but only when it is asked to disconnect (delve).
    AtDisconnect(Vec<String>),
}

/// When an engine tells its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThreadList {
    #[default]
    Always,
    /// Only while its program, which has one, is stopped (perl). Clients name a thread to pause it.
    WhenStopped,
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
    /// The code, if it ended with one.
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
