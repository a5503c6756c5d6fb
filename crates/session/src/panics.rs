//! Panics and aborts of native programs: stops in a language's runtime, told as exceptions with what the program said last.
//!
//! A panic is stopped at by a breakpoint of the hub's own on a function of the runtime. Clients see it as a filter for
//! exceptions and switch it off like any other; the engine hears nothing of the filter. Why a program gave up is looked for
//! in its output, since debuggers cannot read it out of the runtime. Where there is nothing, only the kind of stop is told. What
//! comes behind the stop is waited for a moment, where somebody asks why it stopped.

use std::time::Duration;

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Envelope, Json, Message, request, response};
use breakroom_habits::{DyingWords, ExceptionStops};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::ids::{NOBODY, NodeId, Time};
use crate::judging::engine_ids;
use crate::ledger::{ShelfId, without};
use crate::node::Purpose;
use crate::session::Session;
use crate::signals;
use crate::threads::Life;

type Edits = SmallVec<[Edit; 2]>;

const FILTERS: &str = "exceptionBreakpointFilters";
/// What a program is stopped by that aborts itself.
const ABORT: &str = "SIGABRT";
/// What a program wrote before it stopped may come so much later than the stop.
const LATE: Duration = Duration::from_millis(300);
/// A program may have written any amount before, and a long stack behind it.
const MOST_SAID: usize = 32 << 10;
const LONGEST: usize = 400;

/// What the hub has to do with the panics of one engine's program.
#[derive(Debug, Default)]
pub(crate) struct Panicking {
    wanted: Wanted,
    /// What the program wrote since it last stopped, or the end of it.
    said: String,
    /// The exception that it stands by, and why, if the engine takes that for a breakpoint.
    stands_by: Option<Raised>,
    /// What the engine answered whom it was asked why, with the request's number, as long as the words may come.
    answers: Vec<(i64, Message)>,
    /// Breakpoints that the engine announced by itself: somebody made them in its console.
    announced: Vec<i64>,
}

#[derive(Debug, Clone)]
struct Raised {
    thread: Option<i64>,
    id: String,
    why: String,
    words: Words,
}

/// Whether what a program said of its end is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Known,
    MayCome { until: Time },
}

/// Whether any client wants the program to stop there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wanted {
    #[default]
    No,
    Yes,
}

impl Session {
    /// A client's filters as the engine is to hear them. What of them is the hub's own is seen to.
    pub(crate) fn without_panics(&mut self, node: NodeId, message: Message) -> Message {
        let Some(known) = self.nodes.get_mut(&node) else { return message };
        let Some(panics) = &known.facts.raising.panics else { return message };
        let rest = without(&panics.filter, &message);
        let wanted = if rest.is_some() { Wanted::Yes } else { Wanted::No };
        let function = panics.function.clone();
        if std::mem::replace(&mut known.panicking.wanted, wanted) != wanted {
            let told = match wanted {
                Wanted::Yes => {
                    let wish =
                        request("setFunctionBreakpoints", json!({"breakpoints": [{"name": function}]}));
                    self.ledger.want_quietly(ShelfId::Functions, NOBODY, node, wish);
                    let overdue = self.ledger.overdue(node, &ShelfId::Functions);
                    overdue.map(|request| (node, request)).into_iter().collect()
                }
                Wanted::No => self.ledger.forget_quietly(&ShelfId::Functions, NOBODY, node),
            };
            self.tell_engines(&ShelfId::Functions, told);
        }
        rest.unwrap_or(message)
    }

    /// The edit by which an engine's capabilities have the hub's own filter in them.
    pub(crate) fn panics_offered(&self, node: NodeId, claimed: Json, is_event: bool) -> Option<Edit> {
        let panics = self.nodes.get(&node)?.facts.raising.panics.as_ref()?;
        let own = json!({"filter": panics.filter, "label": panics.label, "default": true});
        match claimed.get(FILTERS).filter(|listed| listed.is_array()) {
            Some(listed) => {
                let has_it = |filter: Json| filter.str("filter").as_deref() == Some(&panics.filter);
                if listed.elements().any(has_it) {
                    return None;
                }
                let end = listed.span()?.end - 1;
                let comma = if listed.elements().next().is_some() { "," } else { "" };
                Some(Edit::text(end..end, format!("{comma}{own}")))
            }
            // What an event does not mention it does not change.
            None if is_event => None,
            None => Edit::member(claimed, FILTERS, Value::Array(vec![own]).to_string()),
        }
    }

    /// Keeps the end of what the program writes.
    pub(crate) fn note_said(&mut self, node: NodeId, output: &Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if known.facts.raising.panics.is_none() && known.facts.raising.aborts == DyingWords::default() {
            return;
        }
        let Some(body) = output.payload() else { return };
        let is_programs = matches!(body.str("category").as_deref(), Some("stdout" | "stderr"));
        if let Some(text) = body.str("output").filter(|_| is_programs) {
            known.panicking.hear(&text);
            self.hear_why(node);
        }
    }

    /// What came late may be why the program stopped. Whoever asked for it is answered then.
    fn hear_why(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let stands = known.threads.any_stopped();
        let Some(panics) = &known.facts.raising.panics else { return };
        let Panicking { said, stands_by: Some(raised), .. } = &mut known.panicking else { return };
        // What comes while it stands is of this panic, however late, and must not be taken for that of the next.
        if raised.words == Words::Known && !stands {
            return;
        }
        if let Some(why) = found(&panics.words, said) {
            raised.why = why;
        }
        if is_whole(&panics.words, said) {
            raised.words = Words::Known;
            said.clear();
            self.answer_why(node);
        }
    }

    /// It is not waited for any longer.
    pub(crate) fn words_in_time(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if known.panicking.until().is_some_and(|until| until <= self.now) {
            self.await_no_words(node);
        }
    }

    fn await_no_words(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if let Some(raised) = &mut known.panicking.stands_by {
            raised.words = Words::Known;
        }
        self.answer_why(node);
    }

    fn answer_why(&mut self, node: NodeId) {
        let answers = self.nodes.get_mut(&node).map(|node| std::mem::take(&mut node.panicking.answers));
        for (request, answer) in answers.into_iter().flatten() {
            self.on_response(node, Some(request), answer);
        }
    }

    /// An engine's answer, unless it is one to why the program stopped, and the words for that may still come. The engine
    /// owes it as long as it is kept here.
    pub(crate) fn unless_words_come(
        &mut self,
        node: NodeId,
        request: Option<i64>,
        answer: Message,
    ) -> Option<Message> {
        let Some((known, request)) = self.nodes.get_mut(&node).zip(request) else { return Some(answer) };
        let awaited = known.panicking.awaited().is_some_and(|until| until > self.now);
        if !awaited || !known.owes(request, "exceptionInfo") {
            return Some(answer);
        }
        known.panicking.answers.push((request, answer));
        None
    }

    /// An engine tells of a breakpoint that nobody set.
    pub(crate) fn note_announced(&mut self, node: NodeId, breakpoint: i64) {
        if let Some(known) = self.nodes.get_mut(&node)
            && known.facts.raising.exceptions != ExceptionStops::AreTold
        {
            known.panicking.announced.push(breakpoint);
        }
    }

    /// A stop as clients are to hear of it, if it is a panic's, an exception's or an abort's, and the engine says less.
    pub(crate) fn as_panic(&mut self, node: NodeId, message: &Message) -> Option<Message> {
        let body = message.payload()?;
        self.await_no_words(node);
        let raised = self.raised(node, body);
        let known = self.nodes.get_mut(&node)?;
        let said = std::mem::take(&mut known.panicking.said);
        known.panicking.stands_by.clone_from(&raised);
        let Some(Raised { why, words, .. }) = raised else {
            if known.facts.raising.aborts == DyingWords::default() {
                return None;
            }
            let reason = body.str("reason").unwrap_or_default();
            // cdt-gdb. Without a thread it is the program's end.
            let is_signal = body.get("threadId").is_some() && signals::number_of(&reason).is_some();
            let by = if is_signal { format!("signal {reason}").into() } else { body.str("description")? };
            let why = found(&known.facts.raising.aborts, &said).filter(|_| by.contains(ABORT));
            if !is_signal && why.is_none() {
                return None;
            }
            let told = why.map_or_else(|| by.to_string(), |why| format!("{by}: {why}"));
            let mut edits: Edits =
                Edit::member(body, "description", json!(told).to_string()).into_iter().collect();
            let at = body.get("reason").and_then(Json::span).filter(|_| is_signal);
            edits.extend(at.map(|at| Edit::text(at, "\"exception\"")));
            return message.edited(edits).ok();
        };
        if words != Words::Known {
            known.panicking.said = said;
        }
        let why = json!(why).to_string();
        let mut edits: Edits = Edit::member(body, "reason", "\"exception\"").into_iter().collect();
        edits.extend(Edit::member(body, "description", why.clone()));
        edits.extend(body.get("text").and_then(Json::span).map(|at| Edit::text(at, why)));
        let hit = body.get("hitBreakpointIds").and_then(Json::span);
        edits.extend(hit.map(|at| Edit::text(at, "[]")));
        message.edited(edits).ok()
    }

    /// The exception that a stop is by, if the engine takes it for a breakpoint: the hub's own, whoever else has one there,
    /// or one of the engine's that nobody ever heard of.
    fn raised(&self, node: NodeId, body: Json) -> Option<Raised> {
        let known = self.nodes.get(&node)?;
        let ids = engine_ids(Some(body));
        let hits = self.ledger.hit(node, &ids);
        let thread = Run::of(Some(body)).thread;
        if let Some(panics) =
            known.facts.raising.panics.as_ref().filter(|_| known.panicking.wanted == Wanted::Yes)
            && hits.iter().flat_map(|hit| &hit.owners).any(|owned| owned.owner == NOBODY)
        {
            let said = &known.panicking.said;
            let why = found(&panics.words, said).unwrap_or_else(|| panics.name.clone());
            let whole = is_whole(&panics.words, said);
            let words = if whole { Words::Known } else { Words::MayCome { until: self.now.after(LATE) } };
            return Some(Raised { thread, id: panics.filter.clone(), why, words });
        }
        let ExceptionStops::AreBreakpoints(name) = &known.facts.raising.exceptions else { return None };
        let unheard = |id: &i64| !known.panicking.announced.contains(id);
        let unknown = hits.is_empty() && !ids.is_empty() && ids.iter().all(unheard);
        let own = known.facts.raising.panics.as_ref().map(|panics| panics.filter.as_str());
        let is_it = unknown && !self.ledger.is_telling(node) && self.ledger.exceptions.any_but(own);
        is_it.then(|| Raised { thread, id: name.clone(), why: name.clone(), words: Words::Known })
    }

    /// What an engine says of the exception that its program stands by, if that is a breakpoint to it.
    pub(crate) fn panic_told(&self, node: NodeId, purpose: &Purpose, message: Message) -> Message {
        let raised = self.nodes.get(&node).and_then(|known| known.panicking.stands_by.as_ref());
        let Some(Raised { thread, id, why, .. }) = raised else { return message };
        // Another thread may stand by something else, or by nothing.
        if let Purpose::Client { life: Life::Thread(asked, _), .. } = purpose
            && thread.is_some_and(|thread| thread != *asked)
        {
            return message;
        }
        let (id, why) = (json!(id), json!(why));
        if matches!(message.envelope(), Envelope::Response { success: false, .. }) {
            let body = json!({"exceptionId": id, "description": why, "breakMode": "always"});
            return response(0, "exceptionInfo", Some(body));
        }
        let edits = message.payload().map(|body| {
            let members = [("exceptionId", id.to_string()), ("description", why.to_string())];
            members.into_iter().filter_map(|(key, value)| Edit::member(body, key, value)).collect()
        });
        edits.and_then(|edits| message.edited(edits).ok()).unwrap_or(message)
    }
}

impl Panicking {
    /// When what was answered is told, whatever is known by then.
    pub fn until(&self) -> Option<Time> {
        self.awaited().filter(|_| !self.answers.is_empty())
    }

    fn awaited(&self) -> Option<Time> {
        match self.stands_by.as_ref()?.words {
            Words::MayCome { until } => Some(until),
            Words::Known => None,
        }
    }

    fn hear(&mut self, text: &str) {
        self.said.push_str(text);
        // A flood is not moved at every piece of it.
        if self.said.len() > 2 * MOST_SAID {
            let least = self.said.len() - MOST_SAID;
            let cut = (least..=self.said.len()).find(|at| self.said.is_char_boundary(*at));
            self.said.drain(..cut.unwrap_or(least));
        }
    }
}

/// Whether nothing is missing of what a program says like this: a line came behind the one that it begins with.
fn is_whole(words: &DyingWords, said: &str) -> bool {
    let begins = |line: &str| begins(words, line);
    let behind = said.split_inclusive('\n').rev().take_while(|line| !begins(line));
    let whole = behind.filter(|line| line.ends_with('\n')).count() > 0;
    words.from.is_empty() || whole && said.lines().any(begins)
}

/// Whether these begin in a line. There may be anything in place of `{}`.
fn begins(words: &DyingWords, line: &str) -> bool {
    words.from.iter().any(|begin| {
        let mut rest = Some(line);
        begin.split("{}").for_each(|part| rest = rest.and_then(|rest| Some(rest.split_once(part)?.1)));
        rest.is_some()
    })
}

/// The last of what a program said that is of these, on one line.
pub(crate) fn found(words: &DyingWords, said: &str) -> Option<String> {
    let lines: Vec<&str> = said.lines().collect();
    let ends = |line: &str| words.to.iter().any(|end| line.starts_with(end.as_str()));
    let first = lines.iter().rposition(|line| begins(words, line))?;
    let behind = lines.iter().skip(first + 1).take_while(|line| !ends(line));
    let parts = std::iter::once(&lines[first]).chain(behind).flat_map(|line| line.split_whitespace());
    let text = parts.collect::<Vec<_>>().join(" ");
    Some(match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_found_where_they_begin_and_end() {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let words = DyingWords { from: owned(&["panicked at "]), to: owned(&["note: "]) };
        let said = "before\nthread 'a' panicked at a.rs:1:2:\nold\nnote: n\nthread 'b' panicked at b.rs:3:4:\r\nnew\n  text\nnote: n\nmore\n";
        assert_eq!(found(&words, said).unwrap(), "thread 'b' panicked at b.rs:3:4: new text");
        assert_eq!(found(&words, "nothing of it\n"), None);
        assert_eq!(found(&DyingWords::default(), said), None);
        let parts = DyingWords { from: owned(&["thread {} panicked at b"]), to: owned(&["note: "]) };
        assert_eq!(found(&parts, said).unwrap(), "thread 'b' panicked at b.rs:3:4: new text");
        assert_eq!(found(&parts, "panicked at b.rs by thread 'b'\n"), None);
    }

    #[test]
    fn only_the_end_of_what_is_said_is_kept() {
        let mut panicking = Panicking::default();
        for _ in 0..MOST_SAID {
            panicking.hear("äö.");
        }
        assert!((MOST_SAID..=2 * MOST_SAID).contains(&(panicking.said.len() + 1)));
        assert!(panicking.said.ends_with("äö."));
    }
}
