//! Capabilities that an engine claims wrongly or does not claim, by their names in the protocol, and what requests do to it
//! that it does not know.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Claims {
    /// What it claims and does not have.
    pub withdraw: Vec<String>,
    /// What it has and does not claim.
    pub add: Vec<String>,
    /// Requests that it answers although it does not declare their capability. The hub refuses all others.
    pub answers: Vec<String>,
    pub unknown_requests: UnknownRequests,
}

/// What becomes of a request that the engine does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownRequests {
    #[default]
    Fail,
    /// It is the end of what reads requests (rdbg), so none is sent.
    EndIt,
}
