//! What the front end asks about programs and projects.
//!
//! The program that embeds the front end answers, because the front end knows no language and no debugger.

use std::path::{Path, PathBuf};

use breakroom_hub::{Context, GivenStart};
use serde_json::Value;
use tokio::sync::watch;

/// What a client wants to debug.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    pub target: PathBuf,
    /// The root of the client's project, if it said one.
    pub root: Option<PathBuf>,
    pub framework: Option<String>,
    pub configuration: Option<String>,
    /// The name of a launch profile.
    pub profile: Option<String>,
    /// Arguments for the program, after those of the profile.
    pub args: Vec<String>,
    /// The .NET debugger that the client is configured with.
    pub debugger: Option<PathBuf>,
}

/// A program that can be debugged as soon as a client comes.
#[derive(Debug)]
pub struct Prepared {
    /// What users call it.
    pub name: String,
    /// The type of the adapter, for the catalog.
    pub adapter: String,
    pub start: GivenStart,
    /// Where its adapter runs.
    pub context: Context,
}

/// One of several programs, for the user to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub path: PathBuf,
    pub display: String,
}

/// A process that can be attached to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessToAttach {
    pub pid: u32,
    pub display: String,
}

/// A call that may be cancelled while programs are looked for or built.
pub struct Work<'a> {
    pub cancelled: watch::Receiver<bool>,
    /// Lines of build tools.
    pub show: &'a (dyn Fn(String) + Sync),
}

pub trait Targets: Send + Sync {
    /// Finds the program, builds it and chooses its debugger.
    fn prepare(&self, wanted: &Wanted, work: &Work<'_>) -> Result<Prepared, String>;

    /// Prepares to attach to a process.
    fn prepare_attach(&self, pid: u32, wanted: &Wanted) -> Result<Prepared, String>;

    /// What can be debugged of a project: for a file, if the client names one.
    fn candidates(&self, root: &Path, file: Option<&Path>) -> Result<Vec<Candidate>, String>;

    /// The launch profiles of a project, each with its name and its own members.
    fn profiles(&self, target: &Path) -> Result<Vec<(String, Value)>, String>;

    fn processes(&self) -> Vec<ProcessToAttach>;
}
