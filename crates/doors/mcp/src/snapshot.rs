//! What an agent is told of a stop: why and where, the source around it, the variables, what changed, the stack and what was
//! printed. One answer, so that it need not ask again.
//!
//! Each part has its share of the room, and what one does not need is the variables'.

use std::path::Path;

use breakroom_client::model::Frame;
use breakroom_client::scopes::Member;
use serde_json::{Value, json};

use crate::budget::{Room, fit, fit_both, line};
use crate::failure::Failure;
use crate::frames::{rows, shown};
use crate::output::{Cursor, fitting};
use crate::reply::Reply;
use crate::seen::{Phase, Stop, Told};
use crate::session::{MOST_FRAMES, Session, code};
use crate::source::{excerpt, nearest};
use crate::values::Shown;

const LINES_BEFORE: i64 = 3;
const LINES_BEHIND: i64 = 3;
const LONGEST_VALUE: usize = 160;
/// The text says more.
const LONGEST_AS_DATA: usize = 60;
const LONGEST_TYPE: usize = 40;
/// More frames are shown only if they are asked for.
const FRAMES_SHOWN: usize = 12;
const LONGEST_NEWS: usize = 400;
/// In less room than this the line and the variables are told, and the stack only if it is asked for.
const TIGHT: usize = 1_000;
/// Room for the words around the parts.
const AROUND: usize = 90;

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
    changes: Vec<(String, Option<String>)>,
    /// What the exception is, if the debugger knows more than the stop said.
    exception: Option<String>,
    notes: Vec<String>,
}

impl Session {
    /// Where a thread stands, as it is shown at a stop. It is compared with the stop that was shown before.
    pub async fn snapshot(&self, stop: &Stop) -> Result<Snapshot, Failure> {
        let (frames, total_frames) = self.stack(stop.thread, 0, MOST_FRAMES).await?;
        let at = shown(&stop.reason, &frames);
        let top = frames.get(at).cloned();
        let (mut source, mut locals, mut changes) = (Vec::new(), Vec::new(), Vec::new());
        let mut notes = Vec::new();
        if let Some(top) = &top {
            if let Some(text) = self.source_text(top).await {
                let lines: Vec<&str> = text.lines().collect();
                source = excerpt(&lines, top.line, top.line - LINES_BEFORE, top.line + LINES_BEHIND);
            }
            match self.locals(top).await {
                Ok(members) => {
                    locals = members;
                    self.brief(&mut locals).await;
                }
                // The rest of the stop is worth telling without them.
                Err(failure) => notes.push(format!("variables cannot be read: {}", failure.what)),
            }
            let shown = Shown::of(top, total_frames.saturating_sub(at), &locals);
            let before = self.seen().last.insert(stop.thread, shown.clone());
            changes = before.map(|before| shown.changes(&before)).unwrap_or_default();
        }
        let exception = self.exception(stop).await;
        notes.extend(self.company(stop));
        Ok(Snapshot {
            stop: stop.clone(),
            frames,
            at,
            total_frames,
            source,
            locals,
            changes,
            exception,
            notes,
        })
    }

    async fn exception(&self, stop: &Stop) -> Option<String> {
        if stop.reason != "exception" || !self.seen().can("supportsExceptionInfoRequest") {
            return None;
        }
        let body = self.link.request("exceptionInfo", json!({"threadId": stop.thread})).await.ok()?;
        let words = [&body["exceptionId"], &body["description"], &body["details"]["message"]];
        let mut said: Vec<&str> =
            words.into_iter().filter_map(Value::as_str).filter(|word| !word.is_empty()).collect();
        said.dedup();
        (!said.is_empty()).then(|| line(&self.secrets.redact(said.join(": ")), LONGEST_NEWS))
    }

    /// Who else stands, and what others did.
    fn company(&self, stop: &Stop) -> Vec<String> {
        let mut seen = self.seen();
        let deeds = seen.take_deeds();
        let others = seen.stops.iter().filter(|other| other.thread != stop.thread);
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
    pub fn new_output(&self, room: usize) -> New {
        let mut seen = self.seen();
        let from = seen.output_shown;
        let part = fitting(room, |most| seen.output.latest(from, most));
        seen.output_shown = part.next;
        New { text: part.text, left_out: part.lost, from }
    }

    /// The answer to a call that waited for a stop.
    pub async fn stopped(&self, stop: &Stop, room: Room) -> Result<Reply, Failure> {
        match self.snapshot(stop).await {
            Ok(snapshot) => {
                let output = self.new_output(room.percent(20));
                Ok(snapshot.reply(self, room, &output))
            }
            // It went on while it was looked at, or is gone.
            Err(failure) if self.seen().of_thread(stop.thread).is_some_and(|now| now.epoch == stop.epoch) => {
                // That it stands is worth telling without the rest.
                let mut reply = self.goes_on(room);
                reply.add(&format!("thread {} cannot be looked at: {}", stop.thread, failure.what));
                reply.put("thread_id", stop.thread);
                reply.put("reason", stop.reason.clone());
                Ok(reply)
            }
            Err(_) => Ok(self.goes_on(room)),
        }
    }

    /// The answer to a call that waited in vain, or for the end.
    pub fn goes_on(&self, room: Room) -> Reply {
        let output = self.new_output(room.percent(40));
        let mut seen = self.seen();
        let (epoch, state) = (seen.epoch, seen.state());
        let progress = seen.progress.clone().map(|words| format!(" ({words})")).unwrap_or_default();
        let head = match &seen.phase {
            Phase::Starting => format!("starting{progress} · epoch {epoch} · debugger_wait waits for a stop"),
            Phase::Failed(reason) => {
                format!("failed: {reason}\nNext: mend that and call debugger_start again")
            }
            // How it died then is the debugger's doing.
            Phase::Ended if seen.is_ended_here => "ended by debugger_stop".to_owned(),
            Phase::Ended => format!("ended{}", code(seen.exit_code)),
            Phase::Live if seen.stops.is_empty() => {
                format!("{state} · epoch {epoch} · debugger_wait waits for a stop, debugger_pause makes one")
            }
            Phase::Live => {
                let stopped = standing(seen.stops.iter());
                format!(
                    "{state} · epoch {epoch} · stopped: {stopped}; the rest runs · debugger_wait with after_epoch={epoch} waits for the next stop"
                )
            }
        };
        let mut data = json!({"session_id": self.id, "state": state, "epoch": epoch});
        if let Some(code) = seen.exit_code {
            data["exit_code"] = code.into();
        }
        let deeds = seen.take_deeds();
        drop(seen);
        let mut reply = Reply::new(format!("session {} · {head}", self.id), data);
        if !deeds.is_empty() {
            reply.add(&line(&format!("others: {}", deeds.join(", ")), LONGEST_NEWS));
        }
        add_output(&mut reply, &output);
        reply
    }
}

impl Snapshot {
    fn reply(&self, session: &Session, room: Room, output: &New) -> Reply {
        let Snapshot { stop, frames, at, total_frames, source, locals, changes, exception, notes } = self;
        let place = frames.get(*at).map(|top| format!("{} at {}", top.name, place(top, &session.cwd)));
        let place = place.unwrap_or_else(|| "no frames".to_owned());
        let is_exception = stop.reason == "exception";
        let words = [&stop.description, &stop.reason];
        // What was thrown has a line of its own.
        let why = words.into_iter().skip(usize::from(is_exception)).find(|word| !word.is_empty());
        let why = session.secrets.redact(why.cloned().unwrap_or_else(|| "stopped".to_owned()));
        let head = format!(
            "session {} · paused: {} · {place} · thread {} · epoch {}",
            session.id,
            line(&why, LONGEST_NEWS),
            stop.thread,
            stop.epoch
        );
        // At other stops it says again which breakpoint it is.
        let text = [&stop.text, &stop.description].into_iter().find(|word| !word.is_empty());
        let text = text.map(|text| line(&session.secrets.redact(text.clone()), LONGEST_NEWS));
        let said = exception.clone().or(text).filter(|_| is_exception);
        let size = |text: &String| text.len() + 1;
        let source = nearest(source.clone(), room.percent(25));
        let mut used = source.iter().map(size).sum::<usize>();
        let stack = rows(frames, *at, &session.cwd).into_iter().take(FRAMES_SHOWN);
        let for_stack = if room.0 < TIGHT { 0 } else { room.percent(20) };
        let (stack, of_stack) = fit(stack, for_stack, |row| size(&row.text));
        used += of_stack + head.len() + output.text.len() + AROUND + room.percent(5);
        let frames_data: Vec<Value> = stack.iter().filter_map(|row| row.data.clone()).collect();
        let mut data = self.data(session, frames_data);
        let left = room.0.saturating_sub(used);
        let left_of_data = room.0.saturating_sub(data.to_string().len() + room.percent(10));
        let longest = LONGEST_VALUE.min(room.percent(20));
        let shown = locals
            .iter()
            .map(|member| (self.in_locals(member, longest), member_data(member, LONGEST_AS_DATA)));
        let (variables, as_data) = fit_both(shown, left, left_of_data);
        data["locals"] = as_data.into();

        let mut reply = Reply::new(head, data);
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
            let how = if room.0 < TIGHT { "" } else { ": debugger_inspect with what=variables" };
            reply.add(&format!("  ... {more} more{how}, start={start}"));
            reply.put("next_variable", start);
        }
        if !stack.is_empty() {
            reply.add("stack:");
        }
        stack.iter().for_each(|row| reply.add(&row.text));
        let next = stack.last().map_or(0, |row| row.next);
        if next < *total_frames && room.0 >= TIGHT {
            let more = total_frames - next;
            reply.add(&format!("  ... {more} more: debugger_inspect with what=stack, start={next}"));
        }
        add_output(&mut reply, output);
        reply
    }

    fn in_locals(&self, member: &Member, longest: usize) -> String {
        let before = self.changes.iter().find(|(name, _)| *name == member.variable.name);
        let before = match before {
            Some((_, Some(old))) => format!("  (was {})", line(old, 40)),
            Some((_, None)) => "  (new)".to_owned(),
            None => String::new(),
        };
        format!("  {}{before}", typed(member, longest))
    }

    /// All but the variables, which have the room that is left.
    fn data(&self, session: &Session, stack: Vec<Value>) -> Value {
        let top = self.frames.get(self.at);
        let changed: Vec<&str> = self.changes.iter().map(|(name, _)| name.as_str()).take(20).collect();
        let mut data = json!({
            "session_id": session.id, "state": "paused", "epoch": self.stop.epoch, "reason": self.stop.reason,
            "thread_id": self.stop.thread, "stack": stack, "changed": changed,
        });
        if self.at > 0 {
            data["frame_id"] = self.at.into();
        }
        if let Some(top) = top {
            data["function"] = top.name.clone().into();
            data["line"] = top.line.into();
            data["file"] = top.source.as_ref().and_then(|source| source.path.clone()).into();
        }
        data
    }
}

fn standing<'a>(stops: impl Iterator<Item = &'a Stop>) -> String {
    let one = |stop: &Stop| format!("thread {} ({})", stop.thread, stop.reason);
    stops.map(one).collect::<Vec<_>>().join(", ")
}

pub fn add_output(reply: &mut Reply, output: &New) {
    let New { text, left_out, from } = output;
    match (left_out, text.is_empty()) {
        (0, true) => {}
        (0, false) => reply.add("output:"),
        (left_out, _) => {
            reply.add(&format!(
                "output ({left_out} bytes before this: debugger_inspect with what=output, cursor={from}):"
            ));
        }
    }
    if !text.is_empty() {
        reply.add(text.trim_end_matches('\n'));
    }
    reply.put("output", text.as_str());
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
        true => format!("  -- {}", frame.name),
        false => format!("  #{at} {} {}", line(&frame.name, LONGEST_VALUE), place(frame, cwd)),
    }
}

pub fn frame_data(frame: &Frame) -> Value {
    let path = frame.source.as_ref().and_then(|source| source.path.clone());
    json!({"function": frame.name, "file": path, "line": frame.line})
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

pub fn member_data(member: &Member, longest: usize) -> Value {
    let variable = &member.variable;
    let mut data = json!({"name": line(&variable.name, longest), "value": line(&variable.value, longest)});
    if !variable.kind.is_empty() {
        data["type"] = line(&variable.kind, LONGEST_TYPE).into();
    }
    if member.children.is_some() {
        data["has_members"] = true.into();
    }
    data
}
