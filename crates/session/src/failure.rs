//! Why the hub itself refuses a request: a stable number and one sentence that says what to do.

/// Stable numbers, listed in `docs/errors.md`. Never renumber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureId {
    BadMessage = 9001,
    NotInitialized = 9002,
    AlreadyInitialized = 9003,
    NothingDebugged = 9004,
    AlreadyLaunched = 9005,
    LaunchFailed = 9006,
    EngineMissing = 9007,
    EngineEnded = 9008,
    EngineNotReading = 9009,
    StaleReference = 9010,
    NotStopped = 9011,
    AccessDenied = 9012,
    Cancelled = 9013,
    UnknownVerb = 9014,
    NobodyToAnswer = 9015,
    BadArguments = 9016,
    OnlyObserves = 9017,
    NoSuchSession = 9018,
    RestartUnderWay = 9019,
    NothingRuns = 9020,
    NoValue = 9021,
    NotDeclared = 9022,
}

/// A refusal of one request. It never ends more than that request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    pub id: FailureId,
    pub text: String,
    /// Whether a person must act on it, so the client should show it even if it expected failures.
    pub show: Show,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    ToUser,
    Quietly,
}

impl Failure {
    pub fn quiet(id: FailureId, text: impl Into<String>) -> Self {
        Failure { id, text: text.into(), show: Show::Quietly }
    }

    pub fn loud(id: FailureId, text: impl Into<String>) -> Self {
        Failure { id, text: text.into(), show: Show::ToUser }
    }
}
