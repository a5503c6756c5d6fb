//! The terminal door: a program is debugged with typed or piped commands.
//!
//! It is a debug client over any pair of byte streams and knows nothing of the hub behind them.
//! It does not look for terminals itself: the caller says whether a person types and whether colours are wanted.

mod breakpoints;
mod commands;
mod error;
mod front;
mod keys;
mod place;
mod view;

use std::io::{BufRead, Read, Write};

use serde_json::Value;

pub use breakroom_client::{Client, Request};
pub use error::Error;
pub use place::{Place, Spot, Terms};

/// What is to be debugged, and how it is shown.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The arguments of the launch or attach request, with `type` and `program`.
    pub launch: Value,
    pub request: Request,
    pub breakpoints: Vec<Place>,
    /// Also stop before the first line. Without a breakpoint this is done anyway.
    pub stop_at_entry: bool,
    pub colour: bool,
    /// A person types the commands: there is a prompt, and an empty line repeats the last step.
    pub interactive: bool,
    /// What others in the session know this client by.
    pub name: String,
    /// The id or name of the session that is joined, if it was said.
    pub session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub ending: Ending,
    /// The debuggee's, if the debugger said it.
    pub exit_code: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The program ended by itself, or somebody else ended it.
    Ended,
    /// `quit`, `kill`, or the end of the commands.
    Quit,
}

/// Debugs until the program ends or the commands do.
pub fn run(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    setup: Setup,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
) -> Result<Outcome, Error> {
    run_with(Client::new(reader, writer), setup, input, output)
}

/// As [`run`], for a caller that has kept the client's [`interrupter`](Client::interrupter).
pub fn run_with(
    mut client: Client,
    setup: Setup,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
) -> Result<Outcome, Error> {
    match setup.interactive {
        true => client.listen_to(keys::Keys::new(input)),
        false => client.listen_to(input),
    }
    front::Front::new(client, setup, output).run()
}
