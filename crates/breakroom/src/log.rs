//! `breakroom log`: what happened in a session, as lines for people or objects for programs.
//!
//! Times are in UTC, so that lines of two machines can be laid side by side.

mod time;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use breakroom_hub::{Entry, Follow, Note, Page, Role, read_journal};
use breakroom_wire::visible;
use serde::Serialize;
use serde_json::json;

/// How it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Colour,
    Json,
}

/// What a line is about, as far as it looks different.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tone {
    Usual,
    Aside,
    Important,
    Alarm,
}

pub fn log(session: Option<String>, follow: bool, json: bool) -> Result<ExitCode> {
    let follow = if follow { Follow::UntilTheEnd } else { Follow::No };
    let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = match (json, colour) {
        (true, _) => Style::Json,
        (false, true) => Style::Colour,
        (false, false) => Style::Plain,
    };
    let mut reading = read_journal(session, follow)?;
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    while let Some(page) = reading.next_page()? {
        match write(&mut stdout, &page, style).and_then(|()| stdout.flush()) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(out: &mut impl Write, page: &Page, style: Style) -> io::Result<()> {
    if page.missed > 0 {
        match style {
            Style::Json => writeln!(out, "{}", json!({"event": "missed", "count": page.missed}))?,
            Style::Plain | Style::Colour => {
                writeln!(out, "... {} earlier entries are not kept", page.missed)?
            }
        }
    }
    for note in &page.notes {
        match style {
            Style::Json => writeln!(out, "{}", object(note)?)?,
            Style::Plain | Style::Colour => lines(out, note, style)?,
        }
    }
    Ok(())
}

/// A note as programs get it.
#[derive(Serialize)]
struct Object<'a> {
    time: String,
    elapsed: u64,
    #[serde(flatten)]
    entry: &'a Entry,
}

fn object(Note { time, elapsed, entry }: &Note) -> io::Result<String> {
    let object = Object { time: time::date_and_time(*time), elapsed: *elapsed, entry };
    serde_json::to_string(&object).map_err(io::Error::other)
}

fn lines(out: &mut impl Write, note: &Note, style: Style) -> io::Result<()> {
    let (tone, label, text) = told(&note.entry);
    let time = time::time(note.time);
    for line in text.lines() {
        // A name, or what a program printed, must not steer the terminal that the log is read on.
        let line = visible(&format!("{label}{line}")).into_owned();
        match style {
            Style::Colour => writeln!(out, "\x1b[2m{time}\x1b[0m  {}", painted(tone, &line))?,
            Style::Plain | Style::Json => writeln!(out, "{time}  {line}")?,
        }
    }
    Ok(())
}

fn painted(tone: Tone, line: &str) -> String {
    match tone {
        Tone::Usual => line.to_owned(),
        Tone::Aside => format!("\x1b[2m{line}\x1b[0m"),
        Tone::Important => format!("\x1b[1m{line}\x1b[0m"),
        Tone::Alarm => format!("\x1b[31m{line}\x1b[0m"),
    }
}

/// A label that every line of a text gets, and the text. Only what was printed has several lines.
fn told(entry: &Entry) -> (Tone, String, String) {
    let (tone, text) = match entry {
        Entry::Output { category, text, node } => {
            let tone = if category == "stderr" { Tone::Alarm } else { Tone::Usual };
            let node = node.as_ref().map(|node| format!(" of {node}")).unwrap_or_default();
            return (tone, format!("{category}{node} | "), text.clone());
        }
        Entry::Stderr { engine, text } => {
            return (Tone::Aside, format!("stderr of {engine} | "), text.clone());
        }
        Entry::Joined { client, role } => (Tone::Usual, format!("{client} joined ({})", word(*role))),
        Entry::Left { client, role, reason } => {
            (Tone::Usual, format!("{client} left ({}){}", word(*role), because(reason)))
        }
        Entry::Lost { client, role, reason } => {
            (Tone::Alarm, format!("{client} was lost ({}){}", word(*role), because(reason)))
        }
        Entry::Started { client, command, name } => {
            let did = if command == "attach" { "attached to" } else { "launched" };
            let what = if name.is_empty() { "a program" } else { name };
            (Tone::Usual, format!("{client} {did} {what}"))
        }
        Entry::EngineUp { engine } => (Tone::Usual, format!("{engine} is up")),
        Entry::StartAccepted => (Tone::Usual, "the program is being debugged".to_owned()),
        Entry::StartRefused { reason } => (Tone::Alarm, format!("the start was refused: {reason}")),
        Entry::EngineFailed { reason } => (Tone::Alarm, format!("the debugger failed: {reason}")),
        Entry::EngineEnded { engine, exit, failure: _ } => {
            (Tone::Usual, format!("{engine} ended with {exit}"))
        }
        Entry::Did { client, deed, command, thread, detail } => {
            let thread = thread.map(|thread| format!(", thread {thread}")).unwrap_or_default();
            (Tone::Usual, format!("{client} {deed} ({command}{thread}){}", because(detail)))
        }
        Entry::Breakpoints { client, source, count } => {
            (Tone::Usual, format!("{client} set breakpoints: {source}: {count}"))
        }
        Entry::Stopped { reason, thread, description, text, node } => {
            let thread = thread.map(|thread| format!(" in thread {thread}")).unwrap_or_default();
            let node = node.as_ref().map(|node| format!(" of {node}")).unwrap_or_default();
            let description = description.as_ref().filter(|description| *description != reason).cloned();
            let said = format!("stopped{thread}{node}: {reason}{}{}", because(&description), because(text));
            (Tone::Important, said)
        }
        Entry::Place { thread, function, source, line } => {
            let source = source.as_deref().unwrap_or("an unknown source");
            (Tone::Usual, format!("thread {thread} is at {source}:{line} in {function}"))
        }
        Entry::Notice { text } => (Tone::Important, format!("breakroom: {text}")),
        Entry::Exited { code } => (Tone::Usual, format!("the program ended with exit code {code}")),
        Entry::Terminated => (Tone::Usual, "there is nothing more to debug".to_owned()),
        Entry::Unknown => (Tone::Aside, "something that this version does not know".to_owned()),
    };
    // One line, whatever a reason or an expression holds.
    (tone, String::new(), text.trim_end().replace('\n', " / "))
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Drive => "drive",
        Role::Observe => "observe",
    }
}

fn because(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(entry: Entry) -> String {
        let mut page = Page::default();
        page.notes.push(Note { time: 1_000, elapsed: 10, entry });
        let mut out = Vec::new();
        write(&mut out, &page, Style::Plain).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_line_of_an_output_has_its_time_and_category() {
        let output = Entry::Output { category: "stdout".into(), text: "a\nb \x1b[2J\n".into(), node: None };
        assert_eq!(plain(output), "00:00:01.000Z  stdout | a\n00:00:01.000Z  stdout | b \\u{1b}[2J\n");
    }

    #[test]
    fn everything_else_is_one_line() {
        let failed = Entry::EngineFailed { reason: "it ended.\nIts last words:\nno\n".into() };
        assert_eq!(plain(failed), "00:00:01.000Z  the debugger failed: it ended. / Its last words: / no\n");
        let did = Entry::Did {
            client: "Ann".into(),
            deed: "set a variable".into(),
            command: "setVariable".into(),
            thread: None,
            detail: Some("x = 1".into()),
        };
        assert_eq!(plain(did), "00:00:01.000Z  Ann set a variable (setVariable): x = 1\n");
    }

    #[test]
    fn an_object_has_its_date() {
        let note = Note { time: 1_000, elapsed: 10, entry: Entry::Exited { code: 3 } };
        let expected = r#"{"time":"1970-01-01T00:00:01.000Z","elapsed":10,"event":"exited","code":3}"#;
        assert_eq!(object(&note).unwrap(), expected);
    }
}
