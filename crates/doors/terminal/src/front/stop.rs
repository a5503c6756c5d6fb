//! Where the program stands: one stopped thread, its stack, and the frame that is looked at.

use std::io::Write;

use serde_json::{Value, json};

use crate::error::Error;
use crate::front::{Front, Position};
use crate::view;
use breakroom_client::model::{self, Frame, ThreadId};
use breakroom_client::{Event, Happening};

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
    /// A stop of which nothing more is known.
    pub fn unknown(thread: Option<ThreadId>) -> Self {
        Self { thread: thread.unwrap_or(ThreadId(0)), frames: Vec::new(), selected: 0 }
    }

    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.selected)
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
        let locals = match complaint {
            None => self.locals(),
            Some(_) => Ok(Vec::new()),
        };
        if self.is_over(thread) {
            return self.pass_by(event);
        }
        if let Some(complaint) = complaint {
            self.screen.complain(&complaint)?;
        }
        let place = self.stop()?.frame().map(|frame| format!(" at {}", view::place(frame)));
        let text =
            format!("stopped: {}{}{}", reason(event), place.unwrap_or_default(), view::detail(&event.body));
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
            Happening::Disconnected { .. } => true,
            Happening::Answered(_) | Happening::Interrupt | Happening::Typed(_) => false,
        })
    }

    /// One word about a stop that is over; what ended it is told next.
    fn pass_by(&mut self, event: &Event) -> Result<(), Error> {
        self.position = Position::Stopped(Stop::unknown(ThreadId::read(&event.body)));
        let text = format!("stopped: {}{}, not for long", reason(event), view::detail(&event.body));
        self.screen.murmur(&text)
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

fn reason(event: &Event) -> &str {
    event.body["reason"].as_str().unwrap_or("unknown reason")
}
