//! What an event means for earlier ones about the same thing that a client has not been sent yet.
//!
//! It only reads; `backlog.rs` decides what becomes of the messages.

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Json, With};

use crate::client::Outgoing;

pub(super) enum News {
    Output,
    Turn(Turn),
    /// Something that begins, changes and ends.
    Item {
        key: Key,
        stage: Stage,
    },
    Progress {
        id: Box<[u8]>,
        stage: Stage,
    },
    /// Said twice it means nothing more than said once.
    Repeatable(Box<[u8]>),
    /// Each one counts: answers, requests, and events that the hub does not know.
    Unique,
}

/// Threads stop, go on, or are no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub thread: Option<i64>,
    pub all: bool,
    pub to: To,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Stop,
    Run,
    End,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Thread(i64),
    /// The raw text of its id.
    Module(Box<[u8]>),
    /// The raw text of its path, or of its reference.
    Source(Box<[u8]>),
    /// By the number that this client knows it under.
    Breakpoint(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Begins,
    Changes,
    Ends,
}

impl News {
    pub fn of(outgoing: &Outgoing) -> News {
        let message = &outgoing.message;
        let (Some(name), Some(body)) = (message.event_name(), message.payload()) else { return News::Unique };
        let known = match name {
            "output" => Some(News::Output),
            "stopped" => Some(News::turn(body, To::Stop, false)),
            "continued" => Some(News::turn(body, To::Run, true)),
            "thread" => item(body, body.i64("threadId").map(Key::Thread)),
            "module" => item(body, raw(body, "module", "id").map(Key::Module)),
            "loadedSource" => {
                let id = raw(body, "source", "path").or_else(|| raw(body, "source", "sourceReference"));
                item(body, id.map(Key::Source))
            }
            "breakpoint" => item(body, breakpoint(body, &outgoing.edits).map(Key::Breakpoint)),
            "progressStart" => progress(body, Stage::Begins),
            "progressUpdate" => progress(body, Stage::Changes),
            "progressEnd" => progress(body, Stage::Ends),
            "memory" | "invalidated" => {
                let said = body.raw().unwrap_or_default();
                Some(News::Repeatable([name.as_bytes(), said].concat().into()))
            }
            _ => None,
        };
        known.unwrap_or(News::Unique)
    }

    fn turn(body: Json, to: To, all_by_default: bool) -> News {
        let Run { thread, all, .. } = Run::of(Some(body));
        News::Turn(Turn { thread, all: all.unwrap_or(all_by_default) || thread.is_none(), to })
    }
}

fn item(body: Json, key: Option<Key>) -> Option<News> {
    let stage = match body.str("reason").as_deref() {
        Some("new" | "started") => Stage::Begins,
        Some("removed" | "exited") => Stage::Ends,
        _ => Stage::Changes,
    };
    key.map(|key| News::Item { key, stage })
}

fn progress(body: Json, stage: Stage) -> Option<News> {
    let id = body.get("progressId").and_then(Json::raw)?.into();
    Some(News::Progress { id, stage })
}

fn raw(body: Json, item: &str, id: &str) -> Option<Box<[u8]>> {
    body.get(item)?.get(id)?.raw().map(Box::from)
}

/// Two of a client's own breakpoints may be one to the engine, so its numbers are what tells them apart.
fn breakpoint(body: Json, edits: &[Edit]) -> Option<i64> {
    let id = body.get("breakpoint")?.get("id")?;
    let at = id.span()?;
    let own = edits.iter().find(|edit| edit.at == at).and_then(|edit| match edit.with {
        With::Int(number) => Some(number),
        _ => None,
    });
    own.or(id.as_i64())
}

/// To a client that never heard of it, what changed is new.
pub(super) fn as_new(key: &Key, outgoing: &mut Outgoing) {
    let word = if matches!(key, Key::Thread(_)) { "\"started\"" } else { "\"new\"" };
    let reason = outgoing.message.payload().and_then(|body| body.get("reason")?.span());
    outgoing.edits.extend(reason.map(|at| Edit::text(at, word)));
}
