//! Where the program stands: one stopped thread, its stack, and the frame that is looked at.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::Error;
use crate::front::catching::Filters;
use crate::front::{Front, Position};
use crate::view;
use breakroom_client::model::{self, Frame, ThreadId};
use breakroom_client::{Event, Happening};

/// Deeper stacks are nearly always a recursion, of which these tell enough.
const MOST_FRAMES: usize = 100;
const LINES_AROUND_A_STOP: i64 = 2;
pub(super) const MOST_LOCALS: usize = 20;
/// How long a program that was attached to may take to show a thread.
const FIRST_THREAD: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub(super) struct Stop {
    pub thread: ThreadId,
    pub frames: Vec<Frame>,
    pub selected: usize,
}

impl Stop {
    /// A stop of which nothing more is known.
    pub fn unknown(thread: Option<ThreadId>) -> Self {
        Self { thread: thread.unwrap_or(ThreadId(0)), frames: Vec::new(), selected: 0 }
    }

    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.selected)
    }

    /// Looks at the innermost frame whose source can be shown, of the files in the folder if there is one: a pause is mostly
    /// inside of what the program waits with, an exception inside of what raised it. What the debugger says has source is
    /// left alone elsewhere, also if it is not found here: somebody wanted to be there.
    fn look_at_source(&mut self, reason: &str, folder: Option<&Path>) {
        let by_chance = matches!(reason, "pause" | "exception");
        let path = |frame: &Frame| frame.source.as_ref().and_then(|source| source.path.clone());
        let is_shown = |frame: &Frame| path(frame).is_some_and(|path| Path::new(&path).exists());
        let is_foreign =
            |frame: &Frame| frame.subtle || frame.source.is_none() || (by_chance && !is_shown(frame));
        if self.frames.first().is_some_and(is_foreign) {
            let own = |frame: &Frame| {
                let path = path(frame);
                path.zip(folder).is_some_and(|(path, folder)| Path::new(&path).starts_with(folder))
            };
            let can_be = |frame: &Frame| !frame.subtle && is_shown(frame);
            let owned = self.frames.iter().position(|frame| by_chance && can_be(frame) && own(frame));
            self.selected = owned.or_else(|| self.frames.iter().position(can_be)).unwrap_or(0);
        }
    }

    /// Whether the debugger says of every frame that it is none of the program's.
    fn is_nowhere_in_the_program(&self) -> bool {
        !self.frames.is_empty() && self.frames.iter().all(|frame| frame.subtle)
    }

    /// ` at t.c:3 in main, inside read`.
    fn place(&self) -> String {
        let at = self.frame().map(|frame| format!(" at {}", view::place(frame))).unwrap_or_default();
        match self.frames.first().filter(|_| self.selected > 0) {
            Some(innermost) => format!("{at}, inside {}", view::names::function(&innermost.name)),
            None => at,
        }
    }
}

impl<O: Write> Front<'_, O> {
    /// Shows a stop, and makes it the place that commands are about.
    ///
    /// Others may resume the program at any moment, and what is read after that is of the next stop, or of none. So
    /// all is read first, and shown only if the stop still lasts.
    pub(super) fn arrive(&mut self, event: &Event) -> Result<(), Error> {
        self.mover = None;
        let thread = ThreadId::read(&event.body);
        if self.is_over(thread) {
            return self.pass_by(event);
        }
        let asked = self.ask_where(event);
        let complaint = asked.as_ref().err().map(ToString::to_string);
        self.position = Position::Stopped(match asked {
            Ok(stop) => stop,
            // The program may have ended right after the stop, and then that is told next.
            Err(error) if error.is_loss() => return Ok(()),
            Err(_) => Stop::unknown(thread),
        });
        let thrown = self.thrown(event);
        let is_unread =
            thrown.as_deref().is_some_and(tells_of_a_text) && self.stop()?.is_nowhere_in_the_program();
        if is_unread && self.is_this_ones_alone() && !self.is_over(thread) {
            // What is wrong, and where, it says itself as it ends; where it stands is in what reads programs.
            return self.go_on_from_nowhere();
        }
        // A Java that waits for a debugger stops before there is any frame.
        let locals = match complaint {
            None if self.stop()?.frame().is_some() => self.locals().and_then(|locals| self.in_brief(locals)),
            None | Some(_) => Ok(Vec::new()),
        };
        if self.is_over(thread) {
            return self.pass_by(event);
        }
        if let Some(complaint) = complaint {
            self.screen.complain(&complaint)?;
        }
        let place = self.stop()?.place();
        let of_thread = self.thread_if_another();
        if self.is_over(thread) {
            return self.pass_by(event);
        }
        let detail = view::detail(&event.body, thrown.as_deref());
        let text = format!("stopped: {}{place}{of_thread}{detail}", reason(event));
        self.shows_a_stop();
        self.screen.say(&self.screen.paint.bold(&text))?;
        self.show_source(None, LINES_AROUND_A_STOP)?;
        match locals {
            Ok(locals) => self.screen.say(&view::variables(&locals, MOST_LOCALS, "  ")),
            // What is only shown along with a stop must not fail it.
            Err(error) if error.is_passing() => self.screen.complain(&error.to_string()),
            Err(error) if error.is_loss() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// From here on a line is begun by somebody who sees it.
    pub(super) fn shows_a_stop(&mut self) {
        self.sight.show(self.moves);
        if let Position::Stopped(stop) = &self.position {
            self.last_thread = Some(stop.thread);
        }
    }

    /// Whether nobody misses a stop that is not shown: who launched the program is by themselves, and asked for no
    /// exceptions. Others may be reading where it stands.
    fn is_this_ones_alone(&mut self) -> bool {
        !self.is_joined() && self.filters != Filters::Chosen && self.is_without_company()
    }

    /// Whether something is known already that ended this stop.
    fn is_over(&mut self, thread: Option<ThreadId>) -> bool {
        let same = |body: &Value| {
            let other = ThreadId::read(body);
            other.is_none() || thread.is_none() || other == thread
        };
        self.client.waiting().any(|happening| match happening {
            Happening::Event(Event { name, body }) => match name.as_str() {
                "terminated" => true,
                "stopped" => same(body),
                "continued" => same(body) || body["allThreadsContinued"] != Value::Bool(false),
                _ => false,
            },
            Happening::Disconnected { .. } | Happening::Leave => true,
            Happening::Answered(_) | Happening::Interrupt | Happening::Typed(_) => false,
        })
    }

    /// One word about a stop that is over; what ended it is told next.
    fn pass_by(&mut self, event: &Event) -> Result<(), Error> {
        self.position = Position::Stopped(Stop::unknown(ThreadId::read(&event.body)));
        let text = format!("stopped: {}{}, not for long", reason(event), view::detail(&event.body, None));
        self.screen.murmur(&text)
    }

    /// What was thrown, if the stop itself does not tell.
    fn thrown(&mut self, event: &Event) -> Option<String> {
        let tells = event.body["text"].as_str().is_some_and(|text| !text.is_empty());
        if reason(event) != "exception" || tells || !self.client.can("supportsExceptionInfoRequest") {
            return None;
        }
        let thread = self.stop().ok()?.thread;
        // What is only shown along with a stop must not fail it.
        let info = self.client.request("exceptionInfo", json!({"threadId": thread.0})).ok()?;
        let said = ["description", "exceptionId"].map(|key| model::text(&info[key]));
        let said = said.into_iter().find(|said| !said.is_empty())?;
        let known = event.body["description"].as_str().unwrap_or_default();
        (!known.contains(&said)).then_some(said)
    }

    fn ask_where(&mut self, event: &Event) -> Result<Stop, Error> {
        let thread = match ThreadId::read(&event.body) {
            Some(thread) => thread,
            None => self.any_thread()?,
        };
        let mut stop = self.ask_stack(thread)?;
        stop.look_at_source(reason(event), std::env::current_dir().ok().as_deref());
        Ok(stop)
    }

    pub(super) fn ask_stack(&mut self, thread: ThreadId) -> Result<Stop, Error> {
        let arguments = json!({"threadId": thread.0, "startFrame": 0, "levels": MOST_FRAMES});
        let body = self.client.request("stackTrace", arguments)?;
        Ok(Stop { thread, frames: model::list(&body["stackFrames"], Frame::read), selected: 0 })
    }

    pub(super) fn thread_ids(&mut self) -> Result<Vec<ThreadId>, Error> {
        let body = self.client.request("threads", json!({}))?;
        Ok(model::list(&body["threads"], |thread| model::integer(&thread["id"]).map(ThreadId)))
    }

    pub(super) fn any_thread(&mut self) -> Result<ThreadId, Error> {
        self.thread_ids()?.first().copied().ok_or_else(|| Error::Missing {
            what: "thread in the program".to_owned(),
            advice: "wait until it has started".to_owned(),
        })
    }

    /// Waits for something that could be paused. Some debuggers find what they attach to only after they have agreed to.
    pub(super) fn await_thread(&mut self) -> Result<(), Error> {
        let until = Instant::now() + FIRST_THREAD;
        while matches!(self.position, Position::Running { .. }) && Instant::now() < until {
            match self.any_thread() {
                Ok(_) => return Ok(()),
                // What it says on the way is shown meanwhile.
                Err(Error::Missing { .. }) => self.take_in_what_happened()?,
                Err(error) if error.is_refusal() => return Ok(()),
                Err(error) => return Err(error),
            }
            self.client.happens_within(LOOK_AGAIN);
        }
        Ok(())
    }

    /// The source of the selected frame, from the file or from the debugger.
    pub(super) fn show_source(&mut self, line: Option<i64>, around: i64) -> Result<(), Error> {
        let Position::Stopped(stop) = &self.position else {
            return Ok(());
        };
        let Some(frame) = stop.frame().cloned() else {
            return Ok(());
        };
        let paint = self.screen.paint;
        let Some(lines) = self.source_lines(&frame) else {
            return Ok(());
        };
        let count = lines.len();
        let wanted = line.unwrap_or(frame.line);
        let text = view::source(lines, wanted, around, frame.line, paint);
        match line {
            Some(line) if text.is_empty() => Err(Error::Missing {
                what: format!("line {line}"),
                advice: format!("the file has {count} lines"),
            }),
            Some(_) | None => self.screen.say(&text),
        }
    }

    fn source_lines(&mut self, frame: &Frame) -> Option<&Vec<String>> {
        let source = frame.source.as_ref()?;
        let key = source.path.clone().unwrap_or_else(|| format!("{} {:?}", source.name, source.reference));
        if !self.sources.contains_key(&key) {
            let file = source.path.as_ref().filter(|_| source.reference.is_none());
            let text = match (file, source.reference) {
                (Some(path), _) => String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned(),
                (None, Some(reference)) => {
                    let arguments =
                        json!({"source": {"sourceReference": reference}, "sourceReference": reference});
                    let body = self.client.request("source", arguments).unwrap_or(Value::Null);
                    body["content"].as_str()?.to_owned()
                }
                (None, None) => return None,
            };
            self.sources.insert(key.clone(), text.lines().map(str::to_owned).collect());
        }
        self.sources.get(&key)
    }
}

/// Whether what was thrown is about the text of a program that does not run yet.
fn tells_of_a_text(thrown: &str) -> bool {
    thrown.lines().any(|line| line.starts_with("SyntaxError: "))
}

fn reason(event: &Event) -> &str {
    event.body["reason"].as_str().unwrap_or("unknown reason")
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_client::model::{FrameId, Source};

    #[test]
    fn a_stop_that_nobody_chose_is_looked_at_in_the_programs_own_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (library, own) = (file("library/sleep.go"), file("own/main.go"));
        let frame = |path: &str, subtle: bool| {
            let source = Source { name: String::new(), path: Some(path.to_owned()), reference: None };
            let source = Some(source).filter(|_| !path.is_empty());
            Frame {
                id: FrameId(1),
                name: "f".to_owned(),
                line: 1,
                column: 1,
                source,
                subtle,
                is_label: false,
            }
        };
        let (away, here) = (folder.path().join("away"), folder.path().join("own"));
        for (frames, reason, folder, selected) in [
            ([("/none/gopark.go", true), (&*library, false), (&*own, false)], "pause", &here, 2),
            ([("/none/gopark.go", true), (&*library, false), (&*own, false)], "pause", &away, 1),
            ([("/none/gopark.go", true), (&*library, false), (&*own, false)], "breakpoint", &here, 1),
            ([("/rustc/panic.rs", false), (&*library, false), (&*own, false)], "exception", &here, 2),
            ([("/rustc/panic.rs", false), (&*library, false), (&*own, false)], "breakpoint", &here, 0),
            ([(&*library, false), (&*library, false), (&*own, false)], "pause", &here, 0),
            ([("", false), ("", false), (&*own, false)], "step", &here, 2),
        ] {
            let frames = frames.iter().map(|(path, subtle)| frame(path, *subtle)).collect();
            let mut stop = Stop { thread: ThreadId(1), frames, selected: 0 };
            stop.look_at_source(reason, Some(folder));
            assert_eq!(stop.selected, selected, "{reason} {folder:?}");
        }
    }
}
