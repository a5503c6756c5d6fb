//! What an agent is told of a stop: why and where, the source around it, the variables, what changed, the stack and what was
//! printed. One answer, so that it need not ask again.
//!
//! Each part has its share of the room, and what one does not need is the variables'.

use std::path::{Path, PathBuf};

use breakroom_client::model::Frame;
use breakroom_client::scopes::Member;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use crate::breakpoints::conditions::JUDGED;
use crate::failure::Failure;
use crate::session::seen::{Stop, Told};
use crate::session::{MOST_FRAMES, Session};
use crate::telling::budget::{LONGEST_FUNCTION, Room, before, fit, fit_both, line};
use crate::telling::frames::{is_own, rows, shown};
use crate::telling::output::{Cursor, fitting};
use crate::telling::reply::{PlaceTold, Reply, State, StopTold};
use crate::telling::source::{current, excerpt, nearest};
use crate::telling::values::Shown;

const LINES_BEFORE: i64 = 3;
const LINES_BEHIND: i64 = 3;
const LONGEST_VALUE: usize = 160;
/// Of what a variable was before.
const LONGEST_BEFORE: usize = 40;
/// Python's debugger adds to the name of an exception where the program stands, which is told anyway.
const ABOUT_THE_STACK: &str = "       (note: full exception trace";
/// The text says more.
const LONGEST_AS_DATA: usize = 40;
const LONGEST_TYPE: usize = 40;
/// More frames are shown only if they are asked for.
const FRAMES_SHOWN: usize = 12;
pub const LONGEST_NEWS: usize = 400;
/// In less room than this the line and the variables are told, and the stack only if it is asked for.
const TIGHT: usize = 1_000;
/// A slow object makes a stop so much later, or twice as late where the debugger is slow with everything.
const FOR_FIELDS: Duration = Duration::from_millis(20);
/// Room for the words around the parts.
const AROUND: usize = 90;
/// Of threads that stand beside the one that is shown, so many are named.
const MOST_BESIDE: usize = 8;

/// What was printed since the last answer.
pub struct New {
    pub text: String,
    /// How many bytes there were before the text, and where they begin.
    left_out: u64,
    from: Cursor,
}

/// Everything about one stop, before it is cut.
pub struct Snapshot {
    stop: Stop,
    frames: Vec<Frame>,
    /// The number of the frame whose source and variables are shown.
    at: usize,
    total_frames: usize,
    source: Vec<String>,
    locals: Vec<Member>,
    /// What is compared with the next stop of this thread.
    shown: Option<Shown>,
    changes: Vec<(String, Option<String>)>,
    /// What the exception is, if the debugger knows more than the stop said.
    exception: Option<String>,
    notes: Vec<String>,
}

impl Session {
    /// Where a thread stands, as it is shown at a stop. Nothing is told by that yet.
    async fn snapshot(&self, stop: &Stop) -> Result<Snapshot, Failure> {
        let began = Instant::now();
        let (stack, exception) = tokio::join!(self.stack(stop.thread, 0, MOST_FRAMES), self.exception(stop));
        let (frames, total_frames) = stack?;
        let at = shown(&stop.reason, &frames, &self.cwd);
        let top = frames.get(at).cloned();
        let (mut source, mut locals, mut compared, mut notes) = (Vec::new(), Vec::new(), None, Vec::new());
        let mistake = exception.as_deref().and_then(|said| mistake(said, &frames, &self.cwd));
        if let Some((file, line)) = &mistake {
            source = self.file_text(file).map(|text| around(&text, *line)).unwrap_or_default();
            let file = file.strip_prefix(&self.cwd).unwrap_or(file);
            notes.push(format!("it is about {}:{line}, which never ran", file.display()));
        } else if let Some(top) = &top {
            let (text, members) = tokio::join!(self.source_text(top), self.locals(top));
            source = text.map(|text| around(&text, top.line)).unwrap_or_default();
            match members {
                Ok(members) => locals = members,
                // The rest of the stop is worth telling without them.
                Err(failure) => notes.push(format!("variables cannot be read: {}", failure.what)),
            }
            let mut shown = Shown::of(top, total_frames.saturating_sub(at), &locals);
            self.brief(&mut locals, FOR_FIELDS.max(began.elapsed())).await;
            shown.told(&locals);
            compared = Some(shown);
            if at == 0 {
                notes.extend(self.early(stop.thread, &source).await);
            }
        }
        Ok(Snapshot {
            stop: stop.clone(),
            frames,
            at,
            total_frames,
            source,
            locals,
            shown: compared,
            changes: Vec::new(),
            exception: exception.map(|said| line(&said, LONGEST_NEWS)),
            notes,
        })
    }

    /// The stop is told: it is compared with the one that was shown before, and is the one to compare with from now on.
    fn tell(&self, snapshot: &mut Snapshot) {
        let stop = &snapshot.stop;
        self.watched.change(|seen| {
            seen.threads.show(stop);
            if let Some(shown) = snapshot.shown.take() {
                snapshot.changes = seen.journal.compare(stop.thread, shown);
            }
        });
        snapshot.notes.extend(self.company(stop));
    }

    async fn exception(&self, stop: &Stop) -> Option<String> {
        if stop.reason != "exception" || !self.seen().can("supportsExceptionInfoRequest") {
            return None;
        }
        let body = self.ask("exceptionInfo", stop.thread).await.ok()?;
        let words = [&body["exceptionId"], &body["description"], &body["details"]["message"]];
        let words = words.into_iter().filter_map(Value::as_str).filter(|word| !word.is_empty());
        let words = words.map(|word| word.split(ABOUT_THE_STACK).next().unwrap_or(word)).collect();
        let said = without_repeated(words);
        (!said.is_empty()).then(|| said.join(": "))
    }

    /// Who else stands, and what others did.
    fn company(&self, stop: &Stop) -> Vec<String> {
        let mut seen = self.seen();
        let deeds = seen.journal.take_deeds();
        let others = seen.threads.stops().iter().filter(|other| other.thread != stop.thread);
        let (new, known): (Vec<&Stop>, Vec<&Stop>) =
            others.filter(|other| other.told != Told::Aside).partition(|other| other.told == Told::Not);
        let mut notes = Vec::new();
        if !new.is_empty() {
            let new = standing(new.into_iter());
            notes.push(format!("also stopped: {new}; debugger_continue shows the next one"));
        }
        if !known.is_empty() {
            notes.push(format!("still stopped: {}", standing(known.into_iter())));
        }
        if !deeds.is_empty() {
            notes.push(line(&format!("others: {}", deeds.join(", ")), LONGEST_NEWS));
        }
        notes
    }

    /// What is new of the output, and now shown; of much, the end.
    pub fn new_output(&self, room: Room) -> New {
        let mut seen = self.seen();
        let from = seen.journal.shown();
        let part = fitting(room, |most| seen.journal.output.latest(from, most));
        seen.journal.show(part.next);
        New { text: part.text, left_out: part.lost, from }
    }

    /// The answer to a call that waited for a stop. Whoever has given up by then takes nothing away from the next.
    pub async fn stopped(
        &self,
        stop: &Stop,
        room: Room,
        given_up: &CancellationToken,
    ) -> Result<Reply, Failure> {
        let snapshot = self.snapshot(stop).await;
        if given_up.is_cancelled() {
            return Err(Failure::cancelled());
        }
        match snapshot {
            Ok(mut snapshot) => {
                self.tell(&mut snapshot);
                let output = self.new_output(room.share(20));
                Ok(snapshot.reply(self, room, &output))
            }
            // It went on while it was looked at, or is gone.
            Err(failure)
                if self.seen().threads.of(stop.thread).is_some_and(|now| now.epoch == stop.epoch) =>
            {
                // That it stands is worth telling without the rest.
                self.watched.change(|seen| seen.threads.show(stop));
                let mut reply = self.goes_on(room);
                reply.add(&format!("thread {} cannot be looked at: {}", stop.thread, failure.what));
                let (thread, reason) = (stop.thread, stop.reason.clone());
                reply.stop = Some(StopTold { thread, reason, ..StopTold::default() });
                Ok(reply)
            }
            Err(_) => Ok(self.goes_on(room)),
        }
    }
}

fn around(text: &str, line: i64) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    excerpt(&lines, line, line - LINES_BEFORE, line + LINES_BEHIND)
}

/// The place in a file that could not be compiled. No frame is in there: all are of the runtime that tried it, and nobody
/// wants to see their variables. Node.js begins what it says of it with the place.
fn mistake(said: &str, frames: &[Frame], cwd: &Path) -> Option<(PathBuf, i64)> {
    if frames.iter().any(|frame| is_own(frame, cwd)) {
        return None;
    }
    let (file, line) = said.lines().next()?.rsplit_once(':')?;
    let file = PathBuf::from(file.strip_prefix("file://").unwrap_or(file));
    let line = line.parse().ok()?;
    (file.is_absolute() && file.is_file()).then_some((file, line))
}

impl Snapshot {
    fn reply(&self, session: &Session, room: Room, output: &New) -> Reply {
        let Snapshot { stop, frames, at, total_frames, source, locals, shown: _, changes, exception, notes } =
            self;
        let place = frames
            .get(*at)
            .map(|top| format!("{} at {}", line(&top.name, LONGEST_FUNCTION), place(top, &session.cwd)));
        let place = place.unwrap_or_else(|| "no frames".to_owned());
        let is_exception = stop.reason == "exception";
        let description = described(stop);
        let words = [description.as_str(), stop.reason.as_str()];
        // What was thrown has a line of its own.
        let why = words.into_iter().skip(usize::from(is_exception)).find(|word| !word.is_empty());
        let why = why.unwrap_or("stopped");
        let head = format!(
            "session {} · paused: {} · {place} · thread {} · epoch {}",
            session.id,
            line(why, LONGEST_NEWS),
            stop.thread,
            stop.epoch
        );
        // At other stops it says again which breakpoint it is.
        let text = [&stop.text, &stop.description].into_iter().find(|word| !word.is_empty());
        let text = text.map(|text| line(text, LONGEST_NEWS));
        let said = exception.clone().or(text).filter(|_| is_exception);
        let size = |text: &String| text.len() + 1;
        let of_source = Room { text: room.percent(25), data: usize::MAX };
        let source = &source[nearest(source, current(source), of_source)];
        let mut used = source.iter().map(size).sum::<usize>();
        let stack = rows(frames, *at, &session.cwd).into_iter().take(FRAMES_SHOWN);
        let for_stack = if room.text < TIGHT { 0 } else { room.percent(20) };
        let (stack, of_stack) = fit(stack, for_stack, |row| size(&row.text));
        used += of_stack + head.len() + output.text.len() + AROUND + room.percent(5);
        let frames_data = stack.iter().filter_map(|row| row.data.clone()).collect();
        let mut reply = self.without_variables(session, head, frames_data);
        if let Some(told) = &mut reply.stop {
            told.exception = said.as_ref().map(|said| line(said, LONGEST_VALUE));
        }
        let left = Room {
            text: room.text.saturating_sub(used),
            data: room.data.saturating_sub(reply.size_as_data() + room.percent(10)),
        };
        let longest = LONGEST_VALUE.min(room.percent(20));
        let shown = locals
            .iter()
            .map(|member| (self.in_locals(member, longest), variable_data(member, LONGEST_AS_DATA)));
        let (variables, as_data) = fit_both(shown, left);
        reply.put("locals", as_data);
        said.iter().for_each(|said| reply.add(&format!("exception: {said}")));
        if *at > 0 {
            reply.add(&format!("shown is frame {at}, the first of the project; frame_id=0 is the top"));
        }
        notes.iter().for_each(|note| reply.add(note));
        source.iter().for_each(|line| reply.add(line));
        if !changes.is_empty() {
            let names: Vec<_> = changes.iter().map(|(name, _)| name.as_str()).collect();
            reply.add(&line(&format!("changed: {}", names.join(", ")), LONGEST_NEWS));
        }
        if !locals.is_empty() {
            reply.add("locals:");
        }
        variables.iter().for_each(|line| reply.add(line));
        if variables.len() < locals.len() {
            let (more, start) = (locals.len() - variables.len(), variables.len());
            let how = if room.text < TIGHT { "" } else { ": debugger_inspect with what=variables" };
            reply.add(&format!("  ... {more} more{how}, start={start}"));
            reply.put("next_variable", start);
        }
        if !stack.is_empty() {
            reply.add("stack:");
        }
        stack.iter().for_each(|row| reply.add(&row.text));
        let next = stack.last().map_or(0, |row| row.next);
        if next < *total_frames && room.text >= TIGHT {
            let more = total_frames - next;
            reply.add(&format!("  ... {more} more: debugger_inspect with what=stack, start={next}"));
        }
        add_output(&mut reply, output);
        reply
    }

    fn in_locals(&self, member: &Member, longest: usize) -> String {
        let change = self.changes.iter().find(|(name, _)| *name == member.variable.name);
        let was = match change {
            Some((_, Some(old))) => {
                format!("  (was {})", before(old, &member.variable.value, LONGEST_BEFORE))
            }
            Some((_, None)) => "  (new)".to_owned(),
            None => String::new(),
        };
        format!("  {}{was}", typed(member, longest))
    }

    /// All but the variables, which have the room that is left.
    fn without_variables(&self, session: &Session, head: String, mut stack: Vec<Value>) -> Reply {
        let top = self.frames.get(self.at);
        without_known(&mut stack, top.map(|top| frame_data(top, &session.cwd)).unwrap_or_default());
        let changed: Vec<&str> = self.changes.iter().map(|(name, _)| name.as_str()).take(20).collect();
        let mut reply = Reply::about(&session.id, head);
        (reply.state, reply.epoch) = (Some(State::Paused), Some(self.stop.epoch));
        reply.stop = Some(StopTold {
            thread: self.stop.thread,
            reason: self.stop.reason.clone(),
            exception: None,
            place: top.map(PlaceTold::of),
        });
        reply.put("stack", stack);
        if !changed.is_empty() {
            reply.put("changed", changed);
        }
        if self.at > 0 {
            reply.put("frame_id", self.at);
        }
        reply
    }
}

/// What debuggers call a stop at a breakpoint, by their own number of it or by the place that is told behind it.
const OF_BREAKPOINTS: [&str; 5] =
    ["breakpoint ", "watchpoint ", "BP - ", "Watch BP - ", "Paused on breakpoint"];

/// What the debugger says of a stop. Its numbers of breakpoints are not those that an agent knows.
fn described(stop: &Stop) -> String {
    let words = stop.description.trim();
    let rest = OF_BREAKPOINTS.iter().find_map(|beginning| words.strip_prefix(beginning));
    let is_own = |rest: &str| {
        let is_the_hubs = [", set by ", JUDGED].iter().any(|words| rest.contains(words));
        stop.reason.ends_with("breakpoint") && !is_the_hubs
    };
    match rest.filter(|rest| is_own(rest)) {
        // Where there are several processes, the hub names this one.
        Some(rest) => format!("{}{}", stop.reason, rest.find(" [").map_or("", |at| &rest[at..])),
        None => words.to_owned(),
    }
}

/// Without what is known anyway: the file of the stop, and a frame's number where it is its place in the list.
fn without_known(stack: &mut [Value], top: Value) {
    for (at, frame) in stack.iter_mut().enumerate() {
        let Some(members) = frame.as_object_mut() else { continue };
        members.retain(|key, value| match key.as_str() {
            "file" => *value != top["file"],
            "frame_id" => *value != at,
            _ => true,
        });
    }
}

/// Java's debugger says `Error: text` between `Error` and `text`.
fn without_repeated(mut words: Vec<&str>) -> Vec<&str> {
    words.dedup();
    let all = words.clone();
    let is_part = |word: &str, of: &str| {
        of != word && (of.starts_with(&format!("{word}: ")) || of.ends_with(&format!(": {word}")))
    };
    words.retain(|word| !all.iter().any(|of| is_part(word, of)));
    words
}

pub fn standing<'a>(mut stops: impl Iterator<Item = &'a Stop>) -> String {
    let one = |stop: &Stop| format!("thread {} ({})", stop.thread, stop.reason);
    let named: Vec<_> = stops.by_ref().take(MOST_BESIDE).map(one).collect();
    match stops.count() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

pub fn add_output(reply: &mut Reply, output: &New) {
    let New { text, left_out, from } = output;
    let before = match left_out {
        0 => None,
        _ => Some(format!("{left_out} bytes before this: debugger_inspect with what=output, cursor={from}")),
    };
    match &before {
        Some(before) => reply.add(&format!("output ({before}):")),
        None if text.is_empty() => {}
        None => reply.add("output:"),
    }
    if !text.is_empty() {
        reply.add(text.trim_end_matches('\n'));
        // A script has the parts of all its steps in a row.
        let before = before.map(|before| format!("({before})\n")).unwrap_or_default();
        reply.printed = before + text;
    }
}

/// `file:line`, with the part of its path below the project's folder. Of others, the folder that it is in: many files are
/// called `__init__.py`.
pub fn place(frame: &Frame, cwd: &Path) -> String {
    let Some(source) = &frame.source else { return "no source".to_owned() };
    let path = source.path.as_deref().unwrap_or(&source.name);
    let name = match Path::new(path).strip_prefix(cwd) {
        Ok(below) if !below.as_os_str().is_empty() => below.to_string_lossy().into_owned(),
        _ => {
            let from = path.rmatch_indices(['/', '\\']).nth(1).map_or(0, |(at, _)| at + 1);
            path[from..].to_owned()
        }
    };
    format!("{name}:{}", frame.line)
}

pub fn in_stack(at: usize, frame: &Frame, cwd: &Path) -> String {
    match frame.is_label {
        true => format!("  -- {}", line(&frame.name, LONGEST_FUNCTION)),
        false => format!("  #{at} {} {}", line(&frame.name, LONGEST_FUNCTION), place(frame, cwd)),
    }
}

/// A file of the project by its path below the project's folder, which every call takes too.
pub fn frame_data(frame: &Frame, cwd: &Path) -> Value {
    let path = frame.source.as_ref().and_then(|source| source.path.as_deref());
    let path = path.map(|path| match Path::new(path).strip_prefix(cwd) {
        Ok(below) if !below.as_os_str().is_empty() => below.to_string_lossy(),
        _ => path.into(),
    });
    json!({"function": line(&frame.name, LONGEST_FUNCTION), "file": path, "line": frame.line})
}

/// `name: type = value`.
pub fn typed(member: &Member, longest: usize) -> String {
    let variable = &member.variable;
    let kind = match variable.kind.as_str() {
        "" => String::new(),
        kind => format!(": {}", line(kind, LONGEST_TYPE)),
    };
    let inside = if member.children.is_some() && variable.value.is_empty() { "{…}" } else { "" };
    format!("{}{kind} = {}{inside}", line(&variable.name, longest), line(&variable.value, longest))
}

/// A type that the value begins with would be told twice.
fn variable_data(member: &Member, longest: usize) -> Value {
    let variable = &member.variable;
    let mut data = json!({"name": line(&variable.name, longest), "value": line(&variable.value, longest)});
    let rest = variable.value.strip_prefix(&variable.kind);
    let is_said =
        variable.kind.is_empty() || rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    if !is_said {
        data["type"] = line(&variable.kind, LONGEST_TYPE).into();
    }
    data
}

pub fn member_data(member: &Member, longest: usize) -> Value {
    let mut data = variable_data(member, longest);
    if member.children.is_some() {
        data["has_members"] = true.into();
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpoint_is_not_called_by_the_debuggers_number_of_it() {
        let said = |reason: &str, words: &str| {
            let (reason, description) = (reason.to_owned(), words.to_owned());
            described(&Stop { reason, description, ..Stop::default() })
        };
        for (reason, words, told) in [
            ("breakpoint", "breakpoint 2.1", "breakpoint"),
            ("breakpoint", "breakpoint 2.1 3.1 [b]", "breakpoint [b]"),
            ("data breakpoint", "watchpoint 1", "data breakpoint"),
            ("breakpoint", " BP - Line  /t.rb:2 (call)", "breakpoint"),
            ("breakpoint", "Paused on breakpoint [[worker 1]]", "breakpoint [[worker 1]]"),
            ("breakpoint", "breakpoint, set by Editor", "breakpoint, set by Editor"),
            ("breakpoint", "breakpoint 2.1, set by Editor", "breakpoint 2.1, set by Editor"),
            ("breakpoint", "the condition cannot be judged", "the condition cannot be judged"),
            ("pause", "breakpoint 2.1", "breakpoint 2.1"),
        ] {
            assert_eq!(said(reason, words), told, "{words}");
        }
    }

    #[test]
    fn what_an_exception_says_is_said_once() {
        let said = |words: &[&str]| without_repeated(words.to_vec()).join(": ");
        assert_eq!(said(&["a.Error", "a.Error: deep 0", "deep 0"]), "a.Error: deep 0");
        assert_eq!(said(&["ValueError", "ValueErrors are bad"]), "ValueError: ValueErrors are bad");
        assert_eq!(said(&["panic", "panic"]), "panic");
    }
}
