//! Running a command to its end under a guard, with what it writes on two pipes: builds and other preparations.
//!
//! It reads nothing and is given nothing to read. What is written is for the owner of the pipes.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use super::{OurEnd, pipe, program};
use crate::context::Context;
use crate::error::{StartError, Tail};
use crate::guard::handle::{Attachment, Supervised};
use crate::spec::EnvVar;

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Piped {
    /// Non-blocking, like `stderr`.
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    pub process: Supervised,
}

/// Runs `argv` in `cwd` with the launcher's environment and umask. Dropping the process ends it with all it started.
pub async fn run_piped(
    argv: &[String],
    cwd: &Path,
    env: &[EnvVar],
    context: &Context,
    guard: &Path,
) -> Result<Piped, StartError> {
    let name = argv.first().cloned().unwrap_or_default();
    let program = program(argv.to_vec(), &context.cwd.join(cwd), context.environment(env))?;
    let pipes = || -> std::io::Result<_> {
        // Nobody writes there: whoever reads finds the end.
        let (stdin, _) = pipe(OurEnd::Write)?;
        Ok((stdin, pipe(OurEnd::Read)?, pipe(OurEnd::Read)?))
    };
    let (stdin, (stdout, theirs_out), (stderr, theirs_err)) =
        pipes().map_err(|source| StartError::Prepare { name: name.clone(), what: "a pipe", source })?;
    let attachment = Attachment::Pipes { stdin, stdout: theirs_out, stderr: theirs_err, folder: None };
    let starting = Supervised::start(guard, program, context.umask, attachment);
    match tokio::time::timeout(PATIENCE, starting).await {
        Ok(process) => Ok(Piped { stdout, stderr, process: process? }),
        Err(_) => Err(StartError::Timeout {
            name,
            seconds: PATIENCE.as_secs_f64(),
            expected: "start".into(),
            tail: Tail::default(),
        }),
    }
}
