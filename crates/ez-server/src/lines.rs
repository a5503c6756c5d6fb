//! Tells the server's events from what the program prints on the same stdout.
//!
//! An event is a JSON object at the end of a line; text may stand in front of it, since a program need not end its lines.
//! What cannot become an event any more is handed out at once, so that a prompt is seen before it is answered.
//! It cannot help against a program that prints a whole event of the protocol.

use serde_json::{Map, Value};

use crate::event::Event;

/// A line longer than this is text, whatever it would have become.
const LONGEST_LINE: usize = 16 << 20;
/// How many places of one line are tried for the beginning of an event. Only a program that wants to can exceed it.
const MOST_TRIES: usize = 256;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// With the length of its line: a server that splits long answers sends lines near its limit.
    Event {
        event: Event,
        length: usize,
    },
    Text(String),
}

#[derive(Debug)]
pub(crate) struct Lines {
    /// The unfinished line.
    rest: Vec<u8>,
    /// No newline is before this in the rest, so that a long line is searched once.
    scanned: usize,
    longest: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Lines { rest: Vec::new(), scanned: 0, longest: LONGEST_LINE }
    }
}

impl Lines {
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.rest.extend_from_slice(bytes);
        let mut begin = 0;
        while let Some(end) = self.rest[self.scanned..].iter().position(|byte| *byte == b'\n') {
            let end = self.scanned + end;
            read_line(&self.rest[begin..=end], &mut pieces);
            begin = end + 1;
            self.scanned = begin;
        }
        self.rest.drain(..begin);
        // What comes before a brace is text for certain.
        let brace = self.rest.iter().position(|byte| *byte == b'{');
        let certain = match brace {
            Some(_) if self.rest.len() > self.longest => self.rest.len(),
            Some(brace) => brace,
            None => self.rest.len(),
        };
        let certain = whole_characters(&self.rest[..certain]);
        add_text(&self.rest[..certain], &mut pieces);
        self.rest.drain(..certain);
        self.scanned = self.rest.len();
        pieces
    }

    /// The last line, which need not have an end.
    pub fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.scanned = 0;
        read_line(&std::mem::take(&mut self.rest), &mut pieces);
        pieces
    }
}

fn read_line(line: &[u8], pieces: &mut Vec<Piece>) {
    let mut places = (0..line.len()).filter(|at| begins_event(&line[*at..])).take(MOST_TRIES);
    let event = places.find_map(|at| {
        let object: Map<String, Value> = serde_json::from_slice(&line[at..]).ok()?;
        Some((at, Event::from_object(&object)?))
    });
    match event {
        Some((at, event)) => {
            add_text(&line[..at], pieces);
            pieces.push(Piece::Event { event, length: line.len() - at });
        }
        None => add_text(line, pieces),
    }
}

/// Whether an object with one of an event's members begins here.
fn begins_event(text: &[u8]) -> bool {
    let Some(inside) = text.strip_prefix(b"{") else { return false };
    let inside = inside.trim_ascii_start();
    ["\"type\"", "\"event\"", "\"data\""].iter().any(|member| inside.starts_with(member.as_bytes()))
}

/// One text for all that comes in a row: a flood must not become a message a line.
fn add_text(bytes: &[u8], pieces: &mut Vec<Piece>) {
    if bytes.is_empty() {
        return;
    }
    let more = String::from_utf8_lossy(bytes);
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push_str(&more),
        _ => pieces.push(Piece::Text(more.into_owned())),
    }
}

/// How many bytes can be shown without cutting the last character in two.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let lead = bytes[tail..].iter().rposition(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let Some(lead) = lead.map(|at| tail + at) else { return bytes.len() };
    let wanted = match bytes[lead] {
        0b1111_0000..=0b1111_0111 => 4,
        0b1110_0000..=0b1110_1111 => 3,
        0b1100_0000..=0b1101_1111 => 2,
        _ => 1,
    };
    if bytes.len() - lead < wanted { lead } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = r#"{"data":{},"event":"started","type":"event"}"#;

    fn text(text: &str) -> Piece {
        Piece::Text(text.into())
    }

    fn started(length: usize) -> Piece {
        Piece::Event { event: Event::Started, length }
    }

    /// All pieces of a stream that comes in chunks of this size, with texts in a row joined.
    fn read(stream: &str, chunk: usize) -> Vec<Piece> {
        let mut lines = Lines::default();
        let mut all: Vec<Piece> = Vec::new();
        let chunks = stream.as_bytes().chunks(chunk).map(|chunk| lines.feed(chunk)).collect::<Vec<_>>();
        for piece in chunks.into_iter().flatten().chain(lines.finish()) {
            match (all.last_mut(), piece) {
                (Some(Piece::Text(before)), Piece::Text(more)) => before.push_str(&more),
                (_, piece) => all.push(piece),
            }
        }
        all
    }

    #[test]
    fn events_and_output_are_told_apart_however_the_bytes_come() {
        let line = STARTED.len() + 1;
        let stream = format!(
            "before\n{STARTED}\nno newline{STARTED}\n{{\"a\":1}}\n[1]\n42\n\nfür {{{STARTED}\r\nlast"
        );
        for chunk in [1, 2, 3, 7, 1000] {
            let wanted = [
                text("before\n"),
                started(line),
                text("no newline"),
                started(line),
                text("{\"a\":1}\n[1]\n42\n\nfür {"),
                started(line + 1),
                text("last"),
            ];
            assert_eq!(read(&stream, chunk), wanted, "in chunks of {chunk}");
        }
    }

    #[test]
    fn an_unfinished_line_is_shown_as_far_as_it_cannot_become_an_event() {
        let mut lines = Lines::default();
        assert_eq!(lines.feed(b"name? "), [text("name? ")]);
        assert_eq!(lines.feed(b"{\"type\":\"ev"), []);
        assert_eq!(lines.feed(b"ent\",\"event\":\"started\"}\n"), [started(35)]);
        assert_eq!(lines.feed("ü".as_bytes().split_at(1).0), []);
        assert_eq!(lines.feed("ü".as_bytes().split_at(1).1), [text("ü")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_text() {
        let mut lines = Lines { longest: 20, ..Lines::default() };
        assert_eq!(
            lines.feed(b"{\"data\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaa"),
            [text("{\"data\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaa")]
        );
        assert_eq!(lines.feed(b"\"}}\n"), [text("\"}}\n")]);
    }

    #[test]
    fn an_event_inside_another_ones_data_is_not_taken_for_it() {
        let nested = format!(r#"{{"type":"event","event":"variableUpdate","data":{STARTED}}}"#);
        let length = nested.len() + 1;
        assert_eq!(read(&format!("{nested}\n"), 5), [Piece::Event { event: Event::Aside, length }]);
    }
}
