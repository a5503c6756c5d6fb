//! What happened in a session, for whoever asks later: a ring of the latest entries, bounded by bytes.
//!
//! Entries are data; how they look is the front's business. What an engine printed is kept as it came and read only when
//! somebody asks, so that a flood of it costs no more than it did without a journal. No token and no environment ever
//! gets in here: of a launch only its name and its engine are told.

use std::collections::{BTreeMap, VecDeque};

use breakroom_dap::{Json, Message};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::children::LAST_WORDS;
use crate::client::{Client, CloseReason, Phase};
use crate::company::Role;
use crate::ids::{ClientId, NodeId, Time};
use crate::session::Session;
use crate::threads::Life;

/// As much of the past as is kept.
const BYTES: usize = 256 << 10;
/// As much of one text: a single huge output must not wash everything else away.
const TEXT: usize = 4 << 10;
/// An output of the engine that is larger is read at once and cut.
const AS_IT_CAME: usize = 8 << 10;
/// What an entry takes besides its texts.
const OVERHEAD: usize = 192;

/// One thing that happened. A version that has other entries is read as far as it is understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Entry {
    Joined {
        client: String,
        role: Role,
    },
    /// It went as it wanted to, or as the hub had to.
    Left {
        client: String,
        role: Role,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Its connection ended without a word, or made no sense any more.
    Lost {
        client: String,
        role: Role,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Somebody asked for a debuggee.
    Started {
        client: String,
        command: String,
        name: String,
    },
    EngineUp {
        engine: String,
    },
    /// The request that starts the debuggee succeeded.
    StartAccepted,
    StartRefused {
        reason: String,
    },
    EngineFailed {
        reason: String,
    },
    EngineEnded {
        engine: String,
        exit: String,
        /// What went wrong, if the program had not come to its end and no client had asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    Did {
        client: String,
        deed: String,
        command: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        thread: Option<i64>,
        /// What was evaluated or set.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    Breakpoints {
        client: String,
        /// The file, or what kind they are.
        source: String,
        count: usize,
    },
    Stopped {
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        thread: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The node, where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
    },
    /// Where a thread stopped, as soon as anybody looked.
    Place {
        thread: i64,
        function: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        line: i64,
    },
    Output {
        category: String,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
    },
    /// What the adapter itself wrote.
    Stderr {
        engine: String,
        text: String,
    },
    /// What the hub said to clients.
    Notice {
        text: String,
    },
    Exited {
        code: i64,
    },
    Terminated,
    #[serde(other)]
    Unknown,
}

/// An entry with its time since the session began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    pub at: Time,
    pub entry: Entry,
}

/// What a reader is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// How many entries were forgotten before the reader came to them.
    pub missed: u64,
    pub notes: Vec<Noted>,
    /// Where to go on.
    pub next: u64,
}

#[derive(Debug, Default)]
pub struct Journal {
    kept: VecDeque<(Time, Kept)>,
    bytes: usize,
    /// The number of the first entry that is kept.
    first: u64,
    /// Who was said to have joined, and as what; who was not has not left either.
    present: BTreeMap<ClientId, (String, Role)>,
    /// The stop whose stack somebody asked for, and the one whose place is known.
    asked: Option<Life>,
    placed: Option<Life>,
}

#[derive(Debug)]
enum Kept {
    Entry(Entry),
    /// An `output` event of the engine, as it came.
    Output {
        bytes: Bytes,
        node: Option<Box<str>>,
    },
}

impl Journal {
    /// The number that the next entry will have.
    pub fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    /// Everything from number `from` on that is still there.
    pub fn since(&self, from: u64) -> Excerpt {
        let missed = self.first.saturating_sub(from);
        let skip = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let noted = |(at, kept): &(Time, Kept)| Noted { at: *at, entry: kept.entry() };
        Excerpt { missed, notes: self.kept.iter().skip(skip).map(noted).collect(), next: self.next() }
    }

    fn add(&mut self, at: Time, kept: Kept) {
        self.bytes += kept.size();
        self.kept.push_back((at, kept));
        while self.bytes > BYTES {
            let Some((_, dropped)) = self.kept.pop_front() else { return };
            self.bytes -= dropped.size();
            self.first += 1;
        }
    }

    fn note(&mut self, at: Time, entry: Entry) {
        self.add(at, Kept::Entry(entry));
    }
}

impl Kept {
    fn size(&self) -> usize {
        let option = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let texts = match self {
            Kept::Output { bytes, node } => bytes.len() + node.as_ref().map_or(0, |node| node.len()),
            Kept::Entry(entry) => match entry {
                Entry::Joined { client, .. } => client.len(),
                Entry::Left { client, reason, .. } | Entry::Lost { client, reason, .. } => {
                    client.len() + option(reason)
                }
                Entry::Started { client, command, name } => client.len() + command.len() + name.len(),
                Entry::EngineUp { engine } => engine.len(),
                Entry::EngineFailed { reason } | Entry::StartRefused { reason } => reason.len(),
                Entry::EngineEnded { engine, exit, failure } => engine.len() + exit.len() + option(failure),
                Entry::Did { client, deed, command, detail, .. } => {
                    client.len() + deed.len() + command.len() + option(detail)
                }
                Entry::Breakpoints { client, source, .. } => client.len() + source.len(),
                Entry::Stopped { reason, description, text, node, .. } => {
                    reason.len() + option(description) + option(text) + option(node)
                }
                Entry::Place { function, source, .. } => function.len() + option(source),
                Entry::Output { category, text, node } => category.len() + text.len() + option(node),
                Entry::Stderr { engine, text } => engine.len() + text.len(),
                Entry::Notice { text } => text.len(),
                Entry::StartAccepted | Entry::Exited { .. } | Entry::Terminated | Entry::Unknown => 0,
            },
        };
        OVERHEAD + texts
    }

    fn entry(&self) -> Entry {
        match self {
            Kept::Entry(entry) => entry.clone(),
            Kept::Output { bytes, node } => {
                let message = Message::from_engine(bytes.clone()).ok();
                output(message.as_ref().and_then(Message::payload), node.as_deref())
            }
        }
    }
}

impl Session {
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The journal of a session that is over. It holds nothing but itself: an output that is kept as it came keeps all
    /// that was read together with it.
    pub fn into_journal(mut self) -> Journal {
        for (_, kept) in &mut self.journal.kept {
            *kept = Kept::Entry(kept.entry());
        }
        self.journal
    }

    pub(crate) fn note(&mut self, entry: Entry) {
        self.journal.note(self.now, entry);
    }

    /// A client takes part from now on.
    pub(crate) fn note_joined(&mut self, id: ClientId) {
        let Some(client) = self.clients.get(&id) else { return };
        let (name, role) = (short(client.name()), client.manners.role);
        if self.journal.present.insert(id, (name.clone(), role)).is_none() {
            self.tell_presence(id, &name, "joined");
            self.note(Entry::Joined { client: name, role });
        }
    }

    /// A client is gone; `known` is what is left of it.
    pub(crate) fn note_gone(&mut self, id: ClientId, known: &Client) {
        let Some((client, role)) = self.journal.present.remove(&id) else { return };
        let left = known.phase.is_orderly();
        self.tell_presence(id, &client, if left { "left" } else { "was lost" });
        self.note(match &known.phase {
            Phase::Leaving(CloseReason::Disconnected) => Entry::Left { client, role, reason: None },
            Phase::Leaving(CloseReason::AdapterEnded { failure }) => {
                Entry::Left { client, role, reason: failure.clone() }
            }
            Phase::Leaving(CloseReason::Shutdown(reason)) => {
                Entry::Left { client, role, reason: Some(short(reason)) }
            }
            Phase::Leaving(CloseReason::Broken(reason) | CloseReason::Behind(reason)) => {
                Entry::Lost { client, role, reason: Some(short(reason)) }
            }
            _ => Entry::Lost { client, role, reason: None },
        });
    }

    /// A client asked for a debuggee.
    pub(crate) fn note_start(&mut self, by: ClientId, command: &str) {
        self.note_joined(by);
        let (client, name) = (short(&self.name_of(by)), short(&self.name));
        self.note(Entry::Started { client, command: command.to_owned(), name });
    }

    pub(crate) fn note_did(&mut self, by: ClientId, deed: &str, command: &str, arguments: Option<Json>) {
        let said = |key: &str| arguments.and_then(|arguments| arguments.str(key)).map(|text| short(&text));
        let detail = match (said("expression"), said("name"), said("value")) {
            (Some(expression), _, Some(value)) => Some(format!("{expression} = {value}")),
            (Some(expression), _, None) => Some(expression),
            (None, Some(name), Some(value)) => Some(format!("{name} = {value}")),
            _ => None,
        };
        let thread = arguments.and_then(|arguments| arguments.i64("threadId"));
        let (deed, command) = (deed.to_owned(), command.to_owned());
        self.note(Entry::Did { client: short(&self.name_of(by)), deed, command, thread, detail });
    }

    pub(crate) fn note_breakpoints(&mut self, by: ClientId, command: &str, arguments: Option<Json>) {
        let list = |key: &str| arguments.and_then(|arguments| arguments.get(key));
        let lists = [list("breakpoints").or(list("lines")), list("filters"), list("filterOptions")];
        let count = lists.into_iter().flatten().flat_map(Json::elements).count();
        let source = list("source").and_then(|source| source.str("path").or_else(|| source.str("name")));
        let kind = match command {
            "setFunctionBreakpoints" => "functions",
            "setInstructionBreakpoints" => "instructions",
            "setDataBreakpoints" => "data",
            "setExceptionBreakpoints" => "exceptions",
            _ => "a source without a path",
        };
        let source = source.map_or_else(|| kind.to_owned(), |path| short(&path));
        self.note(Entry::Breakpoints { client: short(&self.name_of(by)), source, count });
    }

    /// What the engine tells everybody, as far as it tells what happened.
    pub(crate) fn note_event(&mut self, node: NodeId, event: &str, message: &Message) {
        let body = message.payload();
        let node = (self.nodes.len() > 1).then(|| short(&self.label(node)));
        let said = |key: &str| body.and_then(|body| body.str(key)).map(|text| short(&text));
        match event {
            "output" => self.note_output(node, message),
            "stopped" => self.note(Entry::Stopped {
                reason: said("reason").unwrap_or_default(),
                thread: body.and_then(|body| body.i64("threadId")),
                description: said("description"),
                text: said("text"),
                node,
            }),
            "exited" => {
                let code = body.and_then(|body| body.i64("exitCode")).unwrap_or_default();
                self.note(Entry::Exited { code });
            }
            "terminated" => self.note(Entry::Terminated),
            _ => {}
        }
    }

    fn note_output(&mut self, node: Option<String>, message: &Message) {
        let category = message.payload().and_then(|body| body.str("category"));
        // It is for whoever made the adapter, and nobody sees it.
        if category.as_deref() == Some("telemetry") {
            return;
        }
        let kept = match message.len() <= AS_IT_CAME {
            true => Kept::Output { bytes: message.bytes().clone(), node: node.map(Into::into) },
            false => Kept::Entry(output(message.payload(), node.as_deref())),
        };
        self.journal.add(self.now, kept);
    }

    pub(crate) fn note_stderr(&mut self, node: NodeId, text: &str) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.last_words.extend(text.lines().map(short));
            let old = node.last_words.len().saturating_sub(LAST_WORDS);
            node.last_words.drain(..old);
        }
        let engine = self.nodes.get(&node).map_or_else(String::new, |node| short(node.name()));
        self.note(Entry::Stderr { engine, text: short(text) });
    }

    /// The same sentence to several clients is one notice.
    pub(crate) fn note_notice(&mut self, text: &str) {
        let entry = Entry::Notice { text: short(text) };
        let last = self.journal.kept.back();
        if !last.is_some_and(|(_, kept)| matches!(kept, Kept::Entry(last) if *last == entry)) {
            self.note(entry);
        }
    }

    /// Somebody asks for a stack. What a stop itself does not say, its first frame does.
    pub(crate) fn note_look(&mut self, life: Life, command: &str, arguments: Option<Json>) {
        let first = arguments.and_then(|arguments| arguments.i64("startFrame")).unwrap_or(0) == 0;
        if command == "stackTrace" && first && self.journal.placed != Some(life) {
            self.journal.asked = Some(life);
        }
    }

    pub(crate) fn note_place(&mut self, life: Life, command: &str, body: Option<Json>) {
        let Life::Thread(thread, _) = life else { return };
        if command != "stackTrace" || self.journal.asked != Some(life) {
            return;
        }
        let frame = body.and_then(|body| body.get("stackFrames")?.elements().next());
        let Some(frame) = frame else { return };
        self.journal.asked = None;
        self.journal.placed = Some(life);
        let source = frame.get("source").and_then(|source| source.str("path").or_else(|| source.str("name")));
        self.note(Entry::Place {
            thread,
            function: frame.str("name").map_or_else(String::new, |name| short(&name)),
            source: source.map(|source| short(&source)),
            line: frame.i64("line").unwrap_or_default(),
        });
    }
}

fn output(body: Option<Json>, node: Option<&str>) -> Entry {
    let said = |key: &str| body.and_then(|body| body.str(key)).map(|text| short(&text));
    let category = said("category").unwrap_or_else(|| "console".to_owned());
    Entry::Output { category, text: said("output").unwrap_or_default(), node: node.map(str::to_owned) }
}

/// As much of a text as the journal keeps.
fn short(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let mut end = TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(number: usize) -> Entry {
        Entry::Notice { text: format!("{number} {}", "x".repeat(1000)) }
    }

    #[test]
    fn the_journal_is_bounded_and_says_how_much_a_reader_missed() {
        let mut journal = Journal::default();
        (0..1000).for_each(|number| journal.note(Time::default(), notice(number)));
        assert!(journal.bytes <= BYTES);
        let Excerpt { missed, notes, next } = journal.since(0);
        assert_eq!(next, 1000);
        assert_eq!(missed + notes.len() as u64, 1000);
        assert!(missed > 0 && notes.len() > 100);
        assert_eq!(notes.last().map(|noted| &noted.entry), Some(&notice(999)));
        assert_eq!(journal.since(999).notes.len(), 1);
        assert_eq!(journal.since(1000), Excerpt { missed: 0, notes: Vec::new(), next: 1000 });
    }

    #[test]
    fn a_huge_text_is_cut_between_characters() {
        let text = format!("x{}", "é".repeat(TEXT));
        assert!(short(&text).len() <= TEXT + "…".len() && short(&text).ends_with("é…"));
        assert_eq!(short("é"), "é");
    }

    #[test]
    fn an_entry_of_a_later_version_is_read_as_unknown() {
        let read: Entry = serde_json::from_str(r#"{"event":"teleported","client":"Ann"}"#).unwrap();
        assert_eq!(read, Entry::Unknown);
        let stopped = serde_json::to_string(&notice(1)).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&stopped).unwrap(), notice(1));
    }
}
