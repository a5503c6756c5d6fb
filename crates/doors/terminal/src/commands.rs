//! What a person types, turned into commands.
//!
//! Each command has one long name and short forms; a word that is none of them is answered with the closest ones.

mod words;

use crate::place::{Place, Spot};
use breakroom_client::breakpoints::Terms;
use words::{help_of, long_name, unknown};

pub use words::{help, names};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// With a number, that thread only, as far as the debugger can.
    Continue(Option<i64>),
    Next,
    Step,
    Out,
    /// One step back in time.
    Back,
    /// Backwards to a breakpoint.
    Reverse,
    /// A line for the program to read.
    Input(String),
    Break(Place),
    /// A breakpoint at the changes of a variable.
    Watch {
        name: String,
        terms: Terms,
    },
    ListBreakpoints,
    /// Without a number all of them.
    Delete(Option<u32>),
    /// The filters for exceptions to stop at; `None` lists them.
    Catch(Option<Vec<String>>),
    Print {
        expression: String,
        depth: Depth,
    },
    Set {
        name: String,
        value: String,
    },
    Locals,
    Globals,
    Backtrace,
    Frame(usize),
    Up,
    Down,
    /// Without a line, around the current one.
    List(Option<i64>),
    Threads,
    Thread(i64),
    Pause(Option<i64>),
    Restart,
    /// What is to be shown.
    Help(String),
    Quit,
    Kill,
    /// An empty line.
    Nothing,
    /// An empty line that repeats the last step.
    Again,
}

/// How far a printed value is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Where it tells little by itself, and not far.
    Usual,
    /// So many levels, and nothing cut.
    Levels(usize),
}

impl Command {
    /// Whether it lets the program run.
    pub fn resumes(&self) -> bool {
        matches!(
            self,
            Self::Again
                | Self::Continue(_)
                | Self::Next
                | Self::Step
                | Self::Out
                | Self::Back
                | Self::Reverse
        )
    }

    /// Whether it can be carried out while the program runs.
    pub fn needs_no_stop(&self) -> bool {
        matches!(
            self,
            Self::Pause(_)
                | Self::Threads
                | Self::Break(_)
                | Self::ListBreakpoints
                | Self::Delete(_)
                | Self::Catch(_)
                | Self::Help(_)
                | Self::Input(_)
                | Self::Restart
                | Self::Quit
                | Self::Kill
                | Self::Nothing
        )
    }

    /// The word for it, if it is more than looking on.
    pub fn deed(&self) -> Option<&'static str> {
        Some(match self {
            Self::Continue(_) | Self::Again => "continue",
            Self::Next => "next",
            Self::Step => "step",
            Self::Out => "out",
            Self::Back => "back",
            Self::Reverse => "reverse",
            Self::Input(_) => "input",
            Self::Break(_) => "break",
            Self::Watch { .. } => "watch",
            Self::Delete(_) => "delete",
            Self::Catch(Some(_)) => "catch",
            // The program itself may be called for it.
            Self::Print { .. } => "print",
            Self::Set { .. } => "set",
            Self::Pause(_) => "pause",
            Self::Restart => "restart",
            Self::Kill => "kill",
            Self::ListBreakpoints
            | Self::Catch(None)
            | Self::Locals
            | Self::Globals
            | Self::Backtrace
            | Self::Frame(_)
            | Self::Up
            | Self::Down
            | Self::List(_)
            | Self::Threads
            | Self::Thread(_)
            | Self::Help(_)
            | Self::Quit
            | Self::Nothing => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotACommand {
    #[error("there is no command `{word}`; did you mean {closest}?")]
    Unknown { word: String, closest: String },
    #[error("there is no command `{word}` here; {ours}")]
    Elsewhere { word: String, ours: &'static str },
    #[error("{0}")]
    BadArgument(String),
}

pub fn parse(line: &str) -> Result<Command, NotACommand> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let Some(name) = long_name(word) else {
        return if word.is_empty() { Ok(Command::Nothing) } else { Err(unknown(word)) };
    };
    let takes_nothing = |command| match rest {
        "" => Ok(command),
        _ => Err(NotACommand::BadArgument(format!("`{name}` takes nothing after it, and `{rest}` came"))),
    };
    match name {
        "continue" if rest.is_empty() => Ok(Command::Continue(None)),
        "continue" => number(name, rest).map(|thread| Command::Continue(Some(thread))),
        "next" => takes_nothing(Command::Next),
        "step" => takes_nothing(Command::Step),
        "out" => takes_nothing(Command::Out),
        "back" => takes_nothing(Command::Back),
        "reverse" => takes_nothing(Command::Reverse),
        "input" => Ok(Command::Input(rest.to_owned())),
        "locals" => takes_nothing(Command::Locals),
        "globals" => takes_nothing(Command::Globals),
        "bt" => takes_nothing(Command::Backtrace),
        "up" => takes_nothing(Command::Up),
        "down" => takes_nothing(Command::Down),
        "threads" => takes_nothing(Command::Threads),
        "pause" if rest.is_empty() => Ok(Command::Pause(None)),
        "pause" => number(name, rest).map(|thread| Command::Pause(Some(thread))),
        "restart" => takes_nothing(Command::Restart),
        "kill" => takes_nothing(Command::Kill),
        "help" if rest.is_empty() => Ok(Command::Help(help())),
        "help" => help_of(rest).map(Command::Help),
        "quit" => takes_nothing(Command::Quit),
        "break" if rest.is_empty() => Ok(Command::ListBreakpoints),
        "break" => rest.parse().map(Command::Break).map_err(bad),
        "watch" => parse_watch(rest),
        "catch" => Ok(Command::Catch(parse_catch(rest))),
        "delete" if rest.is_empty() => Ok(Command::Delete(None)),
        "delete" => number(name, rest).map(|number| Command::Delete(Some(number))),
        "print" if rest.is_empty() => {
            Err(NotACommand::BadArgument("print what? write `print EXPRESSION`".to_owned()))
        }
        "print" => Ok(parse_print(rest)),
        "set" => parse_set(rest),
        "frame" => number(name, rest).map(Command::Frame),
        "list" if rest.is_empty() => Ok(Command::List(None)),
        "list" => number(name, rest).map(|line| Command::List(Some(line))),
        "thread" => number(name, rest).map(Command::Thread),
        _ => Err(unknown(word)),
    }
}

/// `-d 3 tree`. `-d` alone is what an expression may begin with, too.
fn parse_print(rest: &str) -> Command {
    let leveled =
        rest.strip_prefix("-d").filter(|rest| rest.starts_with(char::is_whitespace)).and_then(|rest| {
            let (levels, expression) = rest.trim_start().split_once(char::is_whitespace)?;
            Some((levels.parse().ok()?, expression.trim()))
        });
    match leveled {
        Some((levels, expression)) => {
            Command::Print { expression: expression.to_owned(), depth: Depth::Levels(levels) }
        }
        None => Command::Print { expression: rest.to_owned(), depth: Depth::Usual },
    }
}

fn parse_catch(rest: &str) -> Option<Vec<String>> {
    match rest {
        "" => None,
        "none" => Some(Vec::new()),
        _ => Some(rest.split([' ', ',']).filter(|name| !name.is_empty()).map(str::to_owned).collect()),
    }
}

fn parse_set(rest: &str) -> Result<Command, NotACommand> {
    match rest.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok(Command::Set { name: name.to_owned(), value: value.to_owned() })
        }
        Some(_) | None => Err(NotACommand::BadArgument("set what? write `set NAME = VALUE`".to_owned())),
    }
}

fn parse_watch(rest: &str) -> Result<Command, NotACommand> {
    match rest.parse() {
        Ok(Place { spot: Spot::Function(name), terms }) => Ok(Command::Watch { name, terms }),
        Ok(_) | Err(_) => Err(NotACommand::BadArgument(
            "watch what? write `watch NAME`, or `watch NAME if CONDITION`".to_owned(),
        )),
    }
}

fn number<T: std::str::FromStr>(command: &str, text: &str) -> Result<T, NotACommand> {
    text.parse()
        .map_err(|_| NotACommand::BadArgument(format!("`{command}` takes a number, and `{text}` is none")))
}

fn bad(error: impl std::fmt::Display) -> NotACommand {
    NotACommand::BadArgument(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_short_forms() {
        for (texts, command) in [
            (&["continue", "c", " c "][..], Command::Continue(None)),
            (&["next", "n"], Command::Next),
            (&["step", "s"], Command::Step),
            (&["out", "o", "finish"], Command::Out),
            (&["bt", "where"], Command::Backtrace),
            (&["break", "b"], Command::ListBreakpoints),
            (&["b t.py:3 if a > 1"], Command::Break("t.py:3 if a > 1".parse().unwrap())),
            (&["delete 2", "d 2"], Command::Delete(Some(2))),
            (&["delete"], Command::Delete(None)),
            (&["catch"], Command::Catch(None)),
            (&["catch none"], Command::Catch(Some(Vec::new()))),
            (&["catch a b", "catch a, b"], Command::Catch(Some(vec!["a".to_owned(), "b".to_owned()]))),
            (
                &["print a + b", "p  a + b"],
                Command::Print { expression: "a + b".to_owned(), depth: Depth::Usual },
            ),
            (
                &["print -d 2 a + b", "p  -d  2  a + b"],
                Command::Print { expression: "a + b".to_owned(), depth: Depth::Levels(2) },
            ),
            (&["set a = b == c"], Command::Set { name: "a".to_owned(), value: "b == c".to_owned() }),
            (&["list", "l"], Command::List(None)),
            (&["l 7"], Command::List(Some(7))),
            (&["frame 2", "f 2"], Command::Frame(2)),
            (&["thread 5"], Command::Thread(5)),
            (&["continue 5", "c 5"], Command::Continue(Some(5))),
            (&["pause"], Command::Pause(None)),
            (&["pause 5"], Command::Pause(Some(5))),
            (&["help", "h"], Command::Help(help())),
            (&["help p", "help print"], Command::Help(help_of("print").unwrap())),
            (&["back", "reverse-step", "reverse-next"], Command::Back),
            (&["reverse", "reverse-continue", "rc"], Command::Reverse),
            (&["globals"], Command::Globals),
            (&["watch total"], Command::Watch { name: "total".to_owned(), terms: Terms::default() }),
            (&["restart"], Command::Restart),
            (&["quit", "q"], Command::Quit),
            (&["kill"], Command::Kill),
            (&["", "  "], Command::Nothing),
        ] {
            for text in texts {
                assert_eq!(parse(text), Ok(command.clone()), "{text:?}");
            }
        }
    }

    #[test]
    fn a_wrong_argument_is_explained() {
        for (text, part) in [
            ("frame x", "takes a number"),
            ("frame", "takes a number"),
            ("print", "print EXPRESSION"),
            ("set a", "set NAME = VALUE"),
            ("next 5", "takes nothing"),
            ("break 0", "not a place"),
            ("watch", "watch NAME"),
            ("watch 3", "watch NAME"),
            ("help me", "no command `me`"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
