//! Measured deviations from the protocol, by name.
//!
//! The hub's order rules absorb all of them, whoever shows them: the names document what was seen and with which adapter,
//! and let a test look for it. Nothing is decided by them.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quirk {
    /// Sends events before it answers `initialize`, on TCP even before the request (debugpy, netcoredbg).
    EventsBeforeInitializeResponse,
    /// Answers `launch` only after `configurationDone` (debugpy, gdb, js-debug, lldb-dap 22).
    LaunchAnsweredLast,
    /// Announces child processes by the event `debugpyAttach` if `startDebugging` is not supported (debugpy).
    ChildrenByEvent,
    /// Announces what it debugs by `startDebugging`, on the connection of whatever started it (js-debug).
    ChildrenByRequest,
    /// Says `initialized` again after the launch (js-debug's children).
    InitializedTwice,
    /// Ends itself on a request with seq 0 (lldb-dap 22).
    DiesOnSeqZero,
    /// Says `initialized` before it answers an `initialize` with seq 0 (gdb).
    InitializedEarlyOnSeqZero,
    /// Sends `continued` before or after the response that caused it, differently from run to run (lldb-dap).
    ContinuedAroundResponse,
    /// Never sends `continued` (gdb, rdbg, JDI).
    NoContinued,
    /// Sends output after the response to `disconnect` (lldb-dap 19).
    OutputAfterDisconnect,
    /// Numbers every message 0 (delve).
    SeqAlwaysZero,
    /// Gives one number to several messages (perl).
    SeqRepeated,
    /// Numbers its messages by text (netcoredbg).
    SeqAsText,
    /// Sends its messages in another order than it numbered them (netcoredbg).
    SeqOutOfOrder,
    /// Leaves `command` empty in failed responses (delve, CodeLLDB).
    FailedResponseWithoutCommand,
    /// Never sends `initialized` after a failed launch, and panics on breakpoints sent then (delve).
    NoInitializedAfterFailedLaunch,
    /// Sends `terminated` again after `disconnect` (delve).
    TerminatedTwice,
    /// Sends `terminated` before `exited` (perl).
    TerminatedBeforeExited,
    /// Sends no `exited` (delve, js-debug, cdt-gdb).
    NoExited,
    /// Only closes the connection when the program ends (rdbg 1.4).
    EndsWithoutTerminated,
    /// Stays when its only session has ended (js-debug).
    ServerStays,
    /// Uses 0 as the id of a thread, frame or breakpoint.
    IdZero,
    /// Gives a thread another id at each stop (perl).
    ThreadIdsChange,
    /// Answers breakpoints without ids and lines (rdbg).
    BreakpointsWithoutIds,
    /// Tells of a breakpoint under another id than it answered (JDI).
    BreakpointIdsChange,
    /// Calls a breakpoint verified that has no place yet (CodeLLDB).
    VerifiedWithoutPlace,
    /// Answers breakpoints unverified and tells the truth after the stop (js-debug).
    VerifiedAfterTheStop,
    /// Answers an unchanged set of breakpoints with an empty list (js-debug).
    UnchangedAnsweredEmpty,
    /// Does not say which breakpoints were hit.
    NoHitBreakpoints,
    /// Writes null for members that have no value (rdbg 1.4, perl).
    Nulls,
    /// Sends all frames, however many levels were asked for (rdbg 1.4).
    LevelsIgnored,
    /// Refuses operators in an `evaluate` for hovers (lldb-dap, rdbg).
    HoverRefusesOperators,
    /// Answers an evaluation that failed with the exception as its successful result (rdbg).
    ExceptionsAsResults,
    /// Writes an answer in two small parts, so that each request costs a delayed acknowledgement (debugpy, JDI).
    TwoWritesForAnAnswer,
    /// Opens a port of its own on all interfaces (JDI).
    ListensOnAllInterfaces,
    /// Answers no `disconnect` of a session with a browser (js-debug).
    DisconnectUnanswered,
}
