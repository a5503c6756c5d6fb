//! Several threads: which one is looked at, what the others do, and stops that come while one is shown.
//!
//! Whoever looks at a thread is not taken away from it by another, and a thread that was stepped has the first look.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::standing::stands_with_another;
use crate::error::Error;
use crate::front::{Front, PauseAsked, Position, Resumer};
use crate::view;
use breakroom_client::Event;
use breakroom_client::model::{self, Frame, ThreadId};

/// How long the stop of the thread that was stepped or paused is waited for, once another has stopped.
const FIRST_LOOK: Duration = Duration::from_millis(400);
/// Of more threads than these the places are not asked for.
const MOST_PLACES: usize = 64;

/// The thread whose stop is waited for.
#[derive(Default)]
pub(super) struct Awaited {
    thread: Option<ThreadId>,
    why: Why,
    /// Stops of others that give way to it, and until when.
    gave_way: Vec<Event>,
    until: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Why {
    /// Whatever stops is what was waited for.
    #[default]
    Anything,
    /// It was stepped, or asked to pause.
    Itself,
}

/// A thread as it is listed.
struct Listed {
    thread: ThreadId,
    name: String,
    /// The node that it belongs to, if there are several.
    node: Option<String>,
}

impl<O: Write> Front<'_, O> {
    pub(super) fn await_stop(&mut self, thread: ThreadId, why: Why) {
        self.awaited = Awaited { thread: Some(thread), why, ..Awaited::default() };
    }

    pub(super) fn hear_of_stop(&mut self, event: &Event) -> Result<(), Error> {
        self.threads.stopped(event);
        let thread = ThreadId::read(&event.body);
        match &self.position {
            Position::Stopped(stop) if thread.is_some_and(|thread| thread != stop.thread) => {
                self.tell_of_another(event)
            }
            Position::Running { .. } if self.gives_way(event) => {
                self.awaited.gave_way.push(event.clone());
                self.awaited.until.get_or_insert_with(|| Instant::now() + FIRST_LOOK);
                Ok(())
            }
            _ => self.look_at(event),
        }
    }

    /// Shows a stop, and has a word about those that gave way to it.
    pub(super) fn look_at(&mut self, event: &Event) -> Result<(), Error> {
        let others = std::mem::take(&mut self.awaited).gave_way;
        self.arrive(event)?;
        let shown = ThreadId::read(&event.body);
        for other in others {
            let thread = ThreadId::read(&other.body);
            let stands = thread.is_some_and(|thread| self.threads.stands(thread));
            if thread != shown && stands && matches!(self.position, Position::Stopped(_)) {
                self.tell_of_another(&other)?;
            }
        }
        Ok(())
    }

    /// Whether another thread than this one should be looked at first, if it stops in time.
    fn gives_way(&self, event: &Event) -> bool {
        let awaited = self.awaited.thread;
        if awaited.is_some() && ThreadId::read(&event.body) == awaited {
            return false;
        }
        let stops_all = event.body["allThreadsStopped"] == true;
        stands_with_another(event) || (self.awaited.why == Why::Itself && !stops_all)
    }

    /// When the stop that was waited for has had its time.
    pub(super) fn first_look_ends(&self) -> Option<Instant> {
        match self.position {
            Position::Running { .. } => self.awaited.until,
            _ => None,
        }
    }

    /// What stands is shown, though another was waited for.
    pub(super) fn look_at_another(&mut self) -> Result<(), Error> {
        match self.threads.next_stop() {
            Some(event) => self.look_at(&event),
            None => {
                self.awaited.until = None;
                Ok(())
            }
        }
    }

    fn tell_of_another(&mut self, event: &Event) -> Result<(), Error> {
        if stands_with_another(event) {
            return Ok(());
        }
        let Some(thread) = ThreadId::read(&event.body) else { return Ok(()) };
        let place = self.place_of(thread).map(|place| format!(" at {place}")).unwrap_or_default();
        let reason = model::text(&event.body["reason"]);
        self.screen.say(&format!("thread {} stopped too: {reason}{place}", thread.0))
    }

    /// `, thread packer-1`, if the stop is one of another thread than the last that was shown or resumed.
    pub(super) fn thread_if_another(&mut self) -> String {
        let Position::Stopped(stop) = &self.position else { return String::new() };
        let thread = stop.thread;
        if self.last_thread.is_none_or(|last| last == thread) {
            return String::new();
        }
        // What is only shown along with a stop must not fail it.
        let listed = self.client.request("threads", json!({})).unwrap_or_default();
        let names = model::list(&listed["threads"], |listed| {
            Some((ThreadId(model::integer(&listed["id"])?), model::text(&listed["name"])))
        });
        let name = names.iter().find(|(listed, name)| *listed == thread && !name.is_empty());
        match (names.len(), name) {
            // The one before has ended, or had another number in the run before.
            (..=1, _) => String::new(),
            // Native threads have their program's name unless they say otherwise.
            (_, Some((_, name))) if names.iter().filter(|(_, other)| other == name).count() > 1 => {
                format!(", thread {} {}", thread.0, view::value(name))
            }
            (_, Some((_, name))) => format!(", thread {}", view::value(name)),
            (_, None) => format!(", thread {}", thread.0),
        }
    }

    fn place_of(&mut self, thread: ThreadId) -> Option<String> {
        let arguments = json!({"threadId": thread.0, "startFrame": 0, "levels": 1});
        let body = self.client.request("stackTrace", arguments).ok()?;
        model::list(&body["stackFrames"], Frame::read).first().map(view::place)
    }

    /// All threads, those of each node together.
    pub(super) fn show_threads(&mut self) -> Result<(), Error> {
        let current = match &self.position {
            Position::Stopped(stop) => Some(stop.thread),
            _ => None,
        };
        let listed = self.listed_threads()?;
        if listed.is_empty() {
            return self.screen.say("there are no threads");
        }
        let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let numbers = width(&mut listed.iter().map(|one| one.thread.0.to_string().len()));
        let names = width(&mut listed.iter().map(|one| one.name.chars().count()));
        let mut node = None;
        for (index, one) in listed.iter().enumerate() {
            if one.node != node {
                node.clone_from(&one.node);
                self.screen.say(&self.screen.paint.bold(node.as_deref().unwrap_or_default()))?;
            }
            let doing = self.doing(one.thread, index < MOST_PLACES);
            let text = format!("{:>numbers$} {:names$}  {doing}", one.thread.0, one.name);
            let line = match Some(one.thread) == current {
                true => self.screen.paint.mark(&format!("-> {text}")),
                false => format!("   {text}"),
            };
            self.screen.say(&line)?;
        }
        Ok(())
    }

    /// `stopped: breakpoint at t.py:3 in add`, or `running`.
    fn doing(&mut self, thread: ThreadId, with_place: bool) -> String {
        if !self.threads.stands(thread) {
            return "running".to_owned();
        }
        let reason = self.threads.reason(thread).map(|reason| format!(": {reason}")).unwrap_or_default();
        let place = if with_place { self.place_of(thread) } else { None };
        format!("stopped{reason}{}", place.map(|place| format!(" at {place}")).unwrap_or_default())
    }

    fn listed_threads(&mut self) -> Result<Vec<Listed>, Error> {
        let body = self.client.request("threads", json!({}))?;
        let threads = model::list(&body["threads"], |thread| {
            Some((ThreadId(model::integer(&thread["id"])?), model::text(&thread["name"])))
        });
        // The hub adds a node's name to its threads where there are several nodes.
        let labels: Vec<&str> = threads.iter().filter_map(|(_, name)| label(name)).collect();
        let mut nodes = match labels.is_empty() {
            true => Vec::new(),
            false => self.node_names(),
        };
        // A private hub does not tell of its nodes.
        if nodes.is_empty() && labels.len() == threads.len() {
            nodes = labels.iter().map(|label| (*label).to_owned()).collect();
        }
        let mut listed: Vec<Listed> = threads
            .into_iter()
            .map(|(thread, name)| {
                let suffix = |node: &String| format!(" [{node}]");
                match nodes.iter().find(|node| name.ends_with(&suffix(node)) || name == **node) {
                    Some(node) => {
                        let name = name.strip_suffix(&suffix(node)).unwrap_or(&name).to_owned();
                        Listed { thread, name, node: Some(node.clone()) }
                    }
                    None => Listed { thread, name, node: None },
                }
            })
            .collect();
        let rank = |one: &Listed| nodes.iter().position(|node| Some(node) == one.node.as_ref());
        listed.sort_by_key(rank);
        Ok(listed)
    }

    pub(super) fn select_thread(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.must_stand(thread)?;
        let stop = self.ask_stack(thread)?;
        self.position = Position::Stopped(stop);
        self.shows_a_stop();
        self.select_frame(Some(0))
    }

    /// Refused if it runs or there is none of this number.
    pub(super) fn must_stand(&mut self, thread: ThreadId) -> Result<(), Error> {
        if self.threads.reason(thread).is_some() {
            return Ok(());
        }
        let is_there = self.thread_ids()?.contains(&thread);
        match (is_there, self.threads.stands(thread)) {
            (true, true) => Ok(()),
            (true, false) => Err(Error::ThreadRuns { thread: thread.0 }),
            (false, _) => Err(Error::Missing {
                what: format!("thread {}", thread.0),
                advice: "`threads` lists those there are".to_owned(),
            }),
        }
    }

    /// A process of several may end while it is looked at.
    pub(super) fn thread_ended(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.threads.ended(thread);
        if !self.looks_at(thread) {
            return Ok(());
        }
        self.screen.say(&format!("thread {} has ended", thread.0))?;
        self.position = Position::Running { pause: PauseAsked::No, by: Resumer::Unknown };
        self.show_next_stop()
    }

    /// Another thread than the one that is looked at goes on.
    pub(super) fn let_go(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.must_stand(thread)?;
        let body = self.client.request("continue", json!({"threadId": thread.0}))?;
        let all = body["allThreadsContinued"] != Value::Bool(false);
        self.threads.went_on(Some(thread), all);
        match all {
            true => self.runs_by_me(),
            false => self.screen.say(&format!("thread {} goes on", thread.0))?,
        }
        Ok(())
    }
}

/// What stands in brackets at the end of a name, whatever brackets it holds itself.
fn label(name: &str) -> Option<&str> {
    let inside = name.strip_suffix(']')?;
    let mut depth = 1;
    for (at, letter) in inside.char_indices().rev() {
        match letter {
            ']' => depth += 1,
            '[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return inside.get(at + 1..).filter(|_| inside[..at].ends_with(' '));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_of_a_thread_is_what_stands_in_brackets_at_its_end() {
        for (name, expected) in [
            ("MainThread [app.py]", Some("app.py")),
            ("main [app.js [12]]", Some("app.js [12]")),
            ("main", None),
            ("[app.py]", None),
            ("list[3]", None),
            ("odd ]", None),
        ] {
            assert_eq!(label(name), expected, "{name}");
        }
    }
}
