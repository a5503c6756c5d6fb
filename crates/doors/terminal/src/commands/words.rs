//! The words that people type: those of our commands, those of other debuggers, and what is close to them.

use super::NotACommand;

/// One command: its words, the long one first, what follows it, and what its help says.
type Row = (&'static [&'static str], &'static str, &'static str);

/// The commands by what they are for.
const GROUPS: &[(&str, &[Row])] = &[
    (
        "run",
        &[
            (&["continue", "c", "cont"], "[THREAD]", "run until the next stop, or let one thread go on"),
            (&["next", "n"], "", "run to the next line, over calls"),
            (&["step", "s"], "", "run to the next line, into calls"),
            (&["out", "o", "finish"], "", "run until the function returns"),
            (
                &["back", "reverse-step", "reverse-next"],
                "",
                "go back in time by one line, where the debugger can",
            ),
            (&["reverse", "rc", "reverse-continue"], "", "run backwards to the stop before"),
            (&["pause"], "[THREAD]", "stop the running program, or one thread of it"),
            (&["restart"], "", "start the program again"),
        ],
    ),
    (
        "break",
        &[
            (
                &["break", "b"],
                "[PLACE [if CONDITION] [hits N] [log \"TEXT\"]]",
                "set a breakpoint at LINE, FILE:LINE or FUNCTION, or list them",
            ),
            (&["watch"], "NAME [if CONDITION]", "stop when a variable changes, where the debugger can"),
            (&["delete", "d"], "[NUMBER]", "remove a breakpoint, or all"),
            (&["catch"], "[FILTER...|none]", "stop at these exceptions and no others, or list them"),
        ],
    ),
    (
        "look",
        &[
            (&["print", "p"], "[-d DEPTH] EXPRESSION", "show a value, with what is inside it"),
            (&["locals"], "", "show the variables of the frame"),
            (&["globals"], "", "show the variables of the whole program"),
            (&["list", "l"], "[LINE]", "show the source"),
            (&["bt", "where", "backtrace"], "", "show the stack"),
            (&["frame", "f"], "NUMBER", "select a frame of the stack"),
            (&["up"], "", "select the caller's frame"),
            (&["down"], "", "select the called frame"),
            (&["threads"], "", "show the threads, and what each does"),
            (&["thread"], "NUMBER", "select a stopped thread"),
        ],
    ),
    (
        "change",
        &[
            (&["set"], "NAME = VALUE", "change a variable"),
            (&["input"], "TEXT", "give the program a line to read"),
        ],
    ),
    (
        "leave",
        &[
            (&["quit", "q", "exit"], "", "leave; the last one's ends what was launched"),
            (&["kill"], "", "end the program for everybody"),
            (&["help", "h", "?"], "[COMMAND|all]", "show the commands, or tell about one or all"),
        ],
    ),
];

fn commands() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|(_, rows)| rows.iter())
}

/// Words of other debuggers, with what does the same here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["run", "r", "start"], "the program has begun already: `continue` goes on, `restart` begins again"),
    (&["info"], "`break`, `locals`, `globals`, `bt` and `threads` show what there is"),
    (&["until", "advance", "tbreak"], "`break LINE`, then `continue`"),
    (&["display", "undisplay"], "every stop shows the variables, and `print EXPRESSION` any value"),
    (&["x", "whatis", "ptype", "examine"], "`print EXPRESSION` shows a value"),
    (&["clear", "del"], "`delete NUMBER` removes a breakpoint, and `break` lists them"),
    (&["args", "vars"], "`locals` shows the variables of the frame"),
];

/// A line for each group, with each command's shortest word.
pub fn help() -> String {
    let line = |(group, rows): &(&str, &[Row])| {
        let named: Vec<String> = rows.iter().map(|(words, _, _)| in_short(words)).collect();
        format!("  {group:<8}{}\n", named.join(", "))
    };
    let lines: String = GROUPS.iter().map(line).collect();
    format!(
        "{lines}`help COMMAND` tells about one, `help all` about all. An empty line repeats the last step.\n"
    )
}

/// What the help says about one command, or about all.
pub(super) fn help_of(word: &str) -> Result<String, NotACommand> {
    if word == "all" {
        let width = commands().map(|(words, arguments, _)| usage(words, arguments).len()).max().unwrap_or(0);
        let line = |(words, arguments, what): &Row| format!("  {:width$}  {what}\n", usage(words, arguments));
        return Ok(commands().map(line).collect());
    }
    let found = commands().find(|(words, _, _)| words.contains(&word));
    let (words, arguments, what) = found.ok_or_else(|| unknown(word))?;
    Ok(format!("  {}  {what}\n", usage(words, arguments)))
}

/// `print (p)`.
fn in_short(words: &[&str]) -> String {
    match words {
        [long, short, ..] if short.len() < 3 => format!("{long} ({short})"),
        [long, ..] => (*long).to_owned(),
        [] => String::new(),
    }
}

/// The long names, for whoever completes them.
pub fn names() -> impl Iterator<Item = &'static str> {
    commands().filter_map(|(words, _, _)| words.first().copied())
}

/// `print (p) EXPRESSION`.
fn usage(words: &[&str], arguments: &str) -> String {
    let [long, short @ ..] = words else {
        return String::new();
    };
    let short = if short.is_empty() { String::new() } else { format!(" ({})", short.join(", ")) };
    format!("{long}{short} {arguments}").trim_end().to_owned()
}

pub(super) fn long_name(word: &str) -> Option<&'static str> {
    let (words, _, _) = commands().find(|(words, _, _)| words.contains(&word))?;
    words.first().copied()
}

pub(super) fn unknown(word: &str) -> NotACommand {
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(words, _)| words.contains(&word)) {
        return NotACommand::Elsewhere { word: word.to_owned(), ours };
    }
    let ranked: Vec<(usize, &str)> = names().map(|name| (difference(word, name), name)).collect();
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
    use crate::commands::parse;

    #[test]
    fn an_unknown_command_is_answered_with_the_closest_ones() {
        for (word, closest) in [
            ("nxt", "next"),
            ("contniue", "continue"),
            ("br", "break"),
            ("thr", "threads"),
            ("quut", "quit"),
            ("xyzzy", "help"),
            // Words of other debuggers.
            ("run", "restart"),
            ("info locals", "locals"),
            ("until 5", "break LINE"),
            ("x", "print EXPRESSION"),
            ("del 3", "delete NUMBER"),
        ] {
            let error = parse(word).unwrap_err().to_string();
            assert!(error.contains(&format!("`{closest}`")), "{error}");
        }
    }

    #[test]
    fn what_other_debuggers_call_it_is_no_word_of_ours() {
        for word in ELSEWHERE.iter().flat_map(|(words, _)| *words) {
            assert_eq!(long_name(word), None, "{word}");
        }
    }

    #[test]
    fn the_help_has_every_command_and_tells_of_one() {
        assert_eq!(help().lines().count(), GROUPS.len() + 1);
        assert!(help().lines().all(|line| line.chars().count() <= 110), "{}", help());
        assert!(help().contains("print (p), locals"), "{}", help());
        let all = help_of("all").unwrap();
        assert_eq!(all.lines().count(), commands().count());
        assert!(all.contains("print (p) [-d DEPTH] EXPRESSION"), "{all}");
        assert_eq!(
            help_of("p").unwrap(),
            "  print (p) [-d DEPTH] EXPRESSION  show a value, with what is inside it\n"
        );
        assert!(help_of("info").unwrap_err().to_string().contains("`locals`"));
    }
}
