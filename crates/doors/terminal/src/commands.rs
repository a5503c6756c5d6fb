//! What a person types, turned into commands.
//!
//! Each command has one long name and short forms; a word that is none of them is answered with the closest ones.

use crate::place::Place;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Continue,
    Next,
    Step,
    Out,
    Break(Place),
    ListBreakpoints,
    /// Without a number all of them.
    Delete(Option<u32>),
    Print(String),
    Set {
        name: String,
        value: String,
    },
    Locals,
    Backtrace,
    Frame(usize),
    Up,
    Down,
    /// Without a line, around the current one.
    List(Option<i64>),
    Threads,
    Thread(i64),
    Pause,
    Restart,
    Help,
    Quit,
    Kill,
    /// An empty line.
    Nothing,
}

impl Command {
    /// Whether it lets the program run.
    pub fn resumes(&self) -> bool {
        matches!(self, Self::Continue | Self::Next | Self::Step | Self::Out)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotACommand {
    #[error("there is no command `{word}`; did you mean {closest}?")]
    Unknown { word: String, closest: String },
    #[error("{0}")]
    BadArgument(String),
}

/// The words of each command, the long one first, with what its help says.
const COMMANDS: &[(&[&str], &str, &str)] = &[
    (&["continue", "c", "cont"], "", "run until the next stop"),
    (&["next", "n"], "", "run to the next line, over calls"),
    (&["step", "s"], "", "run to the next line, into calls"),
    (&["out", "o", "finish"], "", "run until the function returns"),
    (&["break", "b"], "[PLACE [if CONDITION] [hits N] [log \"TEXT\"]]", "set a breakpoint, or list them"),
    (&["delete", "d"], "[NUMBER]", "remove a breakpoint, or all"),
    (&["print", "p"], "EXPRESSION", "show a value"),
    (&["set"], "NAME = VALUE", "change a variable"),
    (&["locals"], "", "show the variables of the frame"),
    (&["bt", "where", "backtrace"], "", "show the stack"),
    (&["frame", "f"], "NUMBER", "select a frame of the stack"),
    (&["up"], "", "select the caller's frame"),
    (&["down"], "", "select the called frame"),
    (&["list", "l"], "[LINE]", "show the source"),
    (&["threads"], "", "show the threads"),
    (&["thread"], "NUMBER", "select a stopped thread"),
    (&["pause"], "", "stop the running program"),
    (&["restart"], "", "start the program again"),
    (&["help", "h", "?"], "", "show this list"),
    (&["quit", "q", "exit"], "", "leave; the last one's ends what was launched"),
    (&["kill"], "", "end the program for everybody"),
];

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
        "continue" => takes_nothing(Command::Continue),
        "next" => takes_nothing(Command::Next),
        "step" => takes_nothing(Command::Step),
        "out" => takes_nothing(Command::Out),
        "locals" => takes_nothing(Command::Locals),
        "bt" => takes_nothing(Command::Backtrace),
        "up" => takes_nothing(Command::Up),
        "down" => takes_nothing(Command::Down),
        "threads" => takes_nothing(Command::Threads),
        "pause" => takes_nothing(Command::Pause),
        "restart" => takes_nothing(Command::Restart),
        "kill" => takes_nothing(Command::Kill),
        "help" => Ok(Command::Help),
        "quit" => takes_nothing(Command::Quit),
        "break" if rest.is_empty() => Ok(Command::ListBreakpoints),
        "break" => rest.parse().map(Command::Break).map_err(bad),
        "delete" if rest.is_empty() => Ok(Command::Delete(None)),
        "delete" => number(name, rest).map(|number| Command::Delete(Some(number))),
        "print" if rest.is_empty() => {
            Err(NotACommand::BadArgument("print what? write `print EXPRESSION`".to_owned()))
        }
        "print" => Ok(Command::Print(rest.to_owned())),
        "set" => parse_set(rest),
        "frame" => number(name, rest).map(Command::Frame),
        "list" if rest.is_empty() => Ok(Command::List(None)),
        "list" => number(name, rest).map(|line| Command::List(Some(line))),
        "thread" => number(name, rest).map(Command::Thread),
        _ => Err(unknown(word)),
    }
}

pub fn help() -> String {
    let usage = |words: &[&str], arguments: &str| {
        let [long, short @ ..] = words else {
            return String::new();
        };
        let short = if short.is_empty() { String::new() } else { format!(" ({})", short.join(", ")) };
        format!("{long}{short} {arguments}").trim_end().to_owned()
    };
    let width = COMMANDS.iter().map(|(words, arguments, _)| usage(words, arguments).len()).max().unwrap_or(0);
    let line = |(words, arguments, what): &(&[&str], &str, &str)| {
        format!("  {:width$}  {what}\n", usage(words, arguments))
    };
    COMMANDS.iter().map(line).collect()
}

fn long_name(word: &str) -> Option<&'static str> {
    let (words, _, _) = COMMANDS.iter().find(|(words, _, _)| words.contains(&word))?;
    words.first().copied()
}

fn parse_set(rest: &str) -> Result<Command, NotACommand> {
    match rest.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok(Command::Set { name: name.to_owned(), value: value.to_owned() })
        }
        Some(_) | None => Err(NotACommand::BadArgument("set what? write `set NAME = VALUE`".to_owned())),
    }
}

fn number<T: std::str::FromStr>(command: &str, text: &str) -> Result<T, NotACommand> {
    text.parse()
        .map_err(|_| NotACommand::BadArgument(format!("`{command}` takes a number, and `{text}` is none")))
}

fn bad(error: impl std::fmt::Display) -> NotACommand {
    NotACommand::BadArgument(error.to_string())
}

fn unknown(word: &str) -> NotACommand {
    let long_names = COMMANDS.iter().filter_map(|(words, _, _)| words.first().copied());
    let ranked: Vec<(usize, &str)> = long_names.map(|name| (difference(word, name), name)).collect();
    let best = ranked.iter().map(|(difference, _)| *difference).min().unwrap_or(0);
    // With half of its letters changed a word is another word.
    let is_close = best * 2 <= word.chars().count();
    let closest: Vec<String> = match is_close {
        true => ranked.iter().filter(|(difference, _)| *difference == best).map(quoted).collect(),
        false => vec!["`help`".to_owned()],
    };
    NotACommand::Unknown { word: word.to_owned(), closest: closest.join(", ") }
}

fn quoted((_, name): &(usize, &str)) -> String {
    format!("`{name}`")
}

/// How many letters must be changed to make one word the other; the beginning of a word is as good as the whole.
fn difference(typed: &str, name: &str) -> usize {
    if name.starts_with(typed) {
        return 0;
    }
    let name: Vec<char> = name.chars().collect();
    let mut row: Vec<usize> = (0..=name.len()).collect();
    // Words that long are no commands, and the work must stay small.
    for (index, letter) in typed.chars().take(32).enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in name.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_short_forms() {
        for (texts, command) in [
            (&["continue", "c", " c "][..], Command::Continue),
            (&["next", "n"], Command::Next),
            (&["step", "s"], Command::Step),
            (&["out", "o", "finish"], Command::Out),
            (&["bt", "where"], Command::Backtrace),
            (&["break", "b"], Command::ListBreakpoints),
            (&["b t.py:3 if a > 1"], Command::Break("t.py:3 if a > 1".parse().unwrap())),
            (&["delete 2", "d 2"], Command::Delete(Some(2))),
            (&["delete"], Command::Delete(None)),
            (&["print a + b", "p  a + b"], Command::Print("a + b".to_owned())),
            (&["set a = b == c"], Command::Set { name: "a".to_owned(), value: "b == c".to_owned() }),
            (&["list", "l"], Command::List(None)),
            (&["l 7"], Command::List(Some(7))),
            (&["frame 2", "f 2"], Command::Frame(2)),
            (&["thread 5"], Command::Thread(5)),
            (&["help", "h", "help me"], Command::Help),
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
    fn an_unknown_command_is_answered_with_the_closest_ones() {
        for (word, closest) in [
            ("nxt", "next"),
            ("contniue", "continue"),
            ("br", "break"),
            ("thr", "threads"),
            ("quut", "quit"),
            ("xyzzy", "help"),
        ] {
            let error = parse(word).unwrap_err().to_string();
            assert!(error.contains(&format!("`{closest}`")), "{error}");
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
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_help_has_every_command() {
        let help = help();
        assert_eq!(help.lines().count(), COMMANDS.len());
        assert!(help.contains("print (p) EXPRESSION"), "{help}");
    }
}
