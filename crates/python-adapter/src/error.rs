//! What ends the adapter itself. What goes wrong with a program or its debugger is told to the client instead.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on this machine's loopback address for Python processes: {0}")]
    Listen(std::io::Error),
    #[error("this system gives no random numbers for a token: {0}")]
    Random(getrandom::Error),
    #[error("cannot wait for what comes: {0}")]
    Wait(std::io::Error),
    #[error("the adapter of debugpy cannot be started with {program}: {source}")]
    Stock { program: PathBuf, source: std::io::Error },
}

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("there is no python3 and no python in PATH; install Python, or name one with --python")]
    NoPython,
    #[error("{} cannot be run: {source}", python.display())]
    Python { python: PathBuf, source: std::io::Error },
    #[error(
        "{} cannot import debugpy; install it with `{} -m pip install debugpy`, or with `breakroom doctor --fix debugpy`",
        python.display(), python.display()
    )]
    NoDebugpy { python: PathBuf },
    #[error("there is no debugpy in {}; install it again with `breakroom doctor --fix debugpy`", .0.display())]
    NoVersion(PathBuf),
}
