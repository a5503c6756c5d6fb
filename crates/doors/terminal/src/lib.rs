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
mod sight;
mod view;

use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

pub use breakroom_client::{Client, Request};
pub use commands::names as command_names;
pub use error::Error;
pub use keys::END as END_OF_TYPING;
pub use place::{Place, Spot};
pub use sight::Sight;

/// What is to be debugged, and how it is shown.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The arguments of the launch or attach request, with `type` and `program`.
    pub launch: Value,
    pub request: Request,
    pub breakpoints: Vec<Place>,
    /// Also stop before the first line. Without a breakpoint this is done anyway.
    pub stop_at_entry: bool,
    /// The filters for exceptions that are on from the start, `none` for none; empty for those that usually are.
    pub catch: Vec<String>,
    pub colour: bool,
    /// A person types the commands: there is a prompt, and an empty line repeats the last step.
    pub interactive: bool,
    pub errors: Errors,
    /// All that the program reads, if it is not among the commands.
    pub input: Option<String>,
    /// What others in the session know this client by.
    pub name: String,
    /// The id or name of the session that is joined, if it was said.
    pub session: Option<String>,
    /// A command that waits for a stop longer than this says so, or was not meant for one.
    pub quick_step: Duration,
}

/// What people take for a step that is done at once.
pub const QUICK_STEP: Duration = Duration::from_millis(400);

/// Where a failure to start is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// Beside everything else: what was shown before need not be said again.
    Beside,
    /// Apart, perhaps to somebody who sees nothing else.
    Apart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub ending: Ending,
    /// The debuggee's, if the debugger said it.
    pub exit_code: Option<i64>,
    /// What the hub itself has said, and was shown.
    pub notices: Vec<String>,
    /// Commands that were there and whose turn never came, because the program had ended.
    pub undone: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The program ended by itself, or somebody else ended it.
    Ended,
    /// `quit`, `kill`, or the end of the commands.
    Quit,
}

/// Whoever edits the line that a person types shows the prompt before it, and all output above both.
pub trait Prompts: Send + Sync {
    /// A command is wanted.
    fn ask(&self, prompt: &str);
    /// One has come; what is typed next may be for the program.
    fn answered(&self);
    /// What is half typed is given up, as Ctrl-C does.
    fn drop_line(&self);
    /// Whoever reads the keys says in it when a line is begun.
    fn sight(&self) -> Arc<Sight>;
}

/// Whoever gives the commands, when nobody waits for more of them.
pub trait Rest: Send + Sync {
    /// From now on it gives what has come already, and behind that the end.
    fn wait_no_more(&self);
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
    let sight = Arc::new(Sight::default());
    match setup.interactive {
        true => client.listen_to(keys::Keys::new(input, sight.clone())),
        false => client.listen_to(input),
    }
    front::Front::new(client, setup, output).with_sight(sight).run()
}

/// As [`run_with`], with commands of which those that are left over are to be [known](Outcome::undone).
pub fn run_piped(
    mut client: Client,
    setup: Setup,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
    rest: Arc<dyn Rest>,
) -> Result<Outcome, Error> {
    client.listen_to(input);
    front::Front::new(client, setup, output).with_rest(rest).run()
}

/// As [`run_with`], with lines that are edited: `input` gives whole ones, and [`END_OF_TYPING`] for an end.
pub fn run_edited(
    mut client: Client,
    setup: Setup,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
    prompts: Arc<dyn Prompts>,
) -> Result<Outcome, Error> {
    client.listen_to(input);
    front::Front::new(client, setup, output).with_sight(prompts.sight()).with_prompts(prompts).run()
}
