//! Where the program stands: one stopped thread, its stack, and the frame that is looked at.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::client::Event;
use crate::error::Error;
use crate::front::{Front, Position};
use crate::model::{self, Frame, ThreadId};
use crate::view;

/// Deeper stacks are nearly always a recursion, of which these tell enough.
const MOST_FRAMES: usize = 100;
const LINES_AROUND_A_STOP: i64 = 2;
pub(super) const MOST_LOCALS: usize = 20;

pub(super) struct Stop {
    pub thread: ThreadId,
    pub frames: Vec<Frame>,
    pub selected: usize,
}

impl Stop {
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.selected)
    }
}

impl<I: BufRead, O: Write> Front<'_, I, O> {
    /// Shows a stop, and makes it the place that commands are about.
    pub(super) fn arrive(&mut self, event: &Event) -> Result<(), Error> {
        let asked = self.ask_where(event);
        let stop = match asked {
            Ok(stop) => stop,
            // The program may have ended right after the stop, and then that is told next.
            Err(Error::Disconnected { .. } | Error::Send { .. }) => return Ok(()),
            Err(error) => {
                self.screen.complain(&error.to_string())?;
                let thread = ThreadId::read(&event.body).unwrap_or(ThreadId(0));
                Stop { thread, frames: Vec::new(), selected: 0 }
            }
        };
        let reason = event.body["reason"].as_str().unwrap_or("unknown reason");
        let place = stop.frame().map(|frame| format!(" at {}", view::place(frame))).unwrap_or_default();
        let text = view::detail(&event.body);
        let line = self.screen.paint.bold(&format!("stopped: {reason}{place}{text}"));
        self.screen.say(&line)?;
        self.position = Position::Stopped(stop);
        self.show_source(None, LINES_AROUND_A_STOP)?;
        self.show_or_complain(Self::show_locals)
    }

    /// What is only shown along with a stop must not fail it.
    fn show_or_complain(&mut self, show: impl Fn(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        match show(self) {
            Err(error @ (Error::Refused { .. } | Error::Silent { .. } | Error::Missing { .. })) => {
                self.screen.complain(&error.to_string())
            }
            Err(Error::Disconnected { .. } | Error::Send { .. }) => Ok(()),
            result => result,
        }
    }

    fn ask_where(&mut self, event: &Event) -> Result<Stop, Error> {
        let thread = match ThreadId::read(&event.body) {
            Some(thread) => thread,
            None => self.any_thread()?,
        };
        self.ask_stack(thread)
    }

    pub(super) fn ask_stack(&mut self, thread: ThreadId) -> Result<Stop, Error> {
        let arguments = json!({"threadId": thread.0, "startFrame": 0, "levels": MOST_FRAMES});
        let body = self.client.request("stackTrace", arguments)?;
        Ok(Stop { thread, frames: model::list(&body["stackFrames"], Frame::read), selected: 0 })
    }

    pub(super) fn any_thread(&mut self) -> Result<ThreadId, Error> {
        let body = self.client.request("threads", json!({}))?;
        let first = model::list(&body["threads"], |thread| model::integer(&thread["id"])).first().copied();
        first.map(ThreadId).ok_or_else(|| Error::Missing {
            what: "thread in the program".to_owned(),
            advice: "wait until it has started".to_owned(),
        })
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
        let text = view::source(lines, line.unwrap_or(frame.line), around, frame.line, paint);
        self.screen.say(&text)
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
