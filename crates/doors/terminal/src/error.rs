//! What can go wrong between the terminal and the debugger.
//!
//! A refused request is shown to the person and the session goes on; the others end it.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Told in a person's words, so the words of the protocol are not its cause as well.
    #[error("{}", in_words(.0))]
    Client(breakroom_client::Error),
    #[error("the commands cannot be read: {reason}; end the session and start it again")]
    Input { reason: String },
    #[error("nothing can be shown: {source}; is the terminal still there?")]
    Show { source: std::io::Error },
    #[error("called off; nothing was started")]
    CalledOff,
    #[error("there is no {what}; {advice}")]
    Missing { what: String, advice: String },
    #[error("{name} cannot be watched: {reason}")]
    NotWatched { name: String, reason: String },
    #[error("the program runs{by}; wait for its stop, or `pause` it")]
    Runs { by: String },
    #[error("thread {thread} runs; `pause {thread}` stops it")]
    ThreadRuns { thread: i64 },
    #[error("the program has moved on: {by} resumed it; see where it is and type it again")]
    Moved { by: String },
    #[error("{what} is not for observers; attach without --observe")]
    OnlyObserves { what: &'static str },
}

/// What could not be done when a request was refused.
const REFUSED: [(&[&str], &str); 11] = [
    (&["evaluate"], "cannot evaluate"),
    (&["setVariable", "setExpression"], "cannot set it"),
    (&["setBreakpoints", "setFunctionBreakpoints", "setDataBreakpoints"], "cannot set the breakpoint"),
    (&["dataBreakpointInfo"], "cannot watch it"),
    (&["continue"], "cannot continue"),
    (&["next", "stepIn", "stepOut"], "cannot step"),
    (&["stepBack", "reverseContinue"], "cannot go back"),
    (&["stackTrace", "threads", "scopes", "variables"], "cannot look into the program"),
    (&["pause"], "cannot pause"),
    (&["restart"], "cannot restart"),
    (&["breakroom/input"], "cannot give the program input"),
];

fn in_words(error: &breakroom_client::Error) -> String {
    let breakroom_client::Error::Refused { command, message } = error else {
        return error.to_string();
    };
    match REFUSED.iter().find(|(commands, _)| commands.contains(&command.as_str())) {
        Some((_, words)) => format!("{words}: {message}"),
        None => error.to_string(),
    }
}

/// A first line up to what of it was shown already: delve says that it failed to launch and goes on with the builder's words.
fn own_words(first: &str, is_known: impl Fn(&str) -> bool) -> &str {
    let parts = first.match_indices(": ").map(|(at, _)| at);
    let known = parts.into_iter().find(|at| is_known(&first[at + 2..]));
    known.map_or(first, |at| &first[..at]).trim_end_matches(':')
}

impl From<breakroom_client::Error> for Error {
    fn from(error: breakroom_client::Error) -> Self {
        Self::Client(error)
    }
}

impl Error {
    /// Without those lines below the first that were shown already, as a compiler's are.
    pub(crate) fn without(self, is_known: impl Fn(&str) -> bool) -> Self {
        let Self::Client(breakroom_client::Error::Refused { command, message }) = self else { return self };
        let Some((first, rest)) = message.split_once('\n') else {
            return Self::Client(breakroom_client::Error::Refused { command, message });
        };
        let new: Vec<&str> = rest.lines().filter(|line| !line.trim().is_empty() && !is_known(line)).collect();
        let message = match new.is_empty() {
            true => own_words(first, is_known).to_owned(),
            false => message,
        };
        Self::Client(breakroom_client::Error::Refused { command, message })
    }

    /// Whether it costs only the command that it is about.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Client(breakroom_client::Error::Left { .. }) => false,
            Self::Client(error) => !error.is_loss(),
            Self::Missing { .. }
            | Self::NotWatched { .. }
            | Self::Runs { .. }
            | Self::ThreadRuns { .. }
            | Self::Moved { .. }
            | Self::OnlyObserves { .. } => true,
            Self::Input { .. } | Self::Show { .. } | Self::CalledOff => false,
        }
    }

    /// Whether the debugger is gone, of which its stream tells next.
    pub(crate) fn is_loss(&self) -> bool {
        matches!(self, Self::Client(error) if error.is_loss())
    }

    /// Whether nothing is awaited any more because the user leaves.
    pub(crate) fn is_parting(&self) -> bool {
        matches!(self, Self::Client(breakroom_client::Error::Left { .. }))
    }

    /// Whether the debugger said no.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Client(breakroom_client::Error::Refused { .. }))
    }
}
