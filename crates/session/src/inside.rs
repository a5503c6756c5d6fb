//! Steps of a program that was paused inside of what it waits with: a call of a library that has no source here.
//!
//! Clients show such a stop at the innermost frame whose source is there, and a step means one of that frame. An engine would
//! step in the innermost of all, where nobody sees anything happen. So the program is led out of the frames that are not shown,
//! one after the other, and does the step then, unless it has come to another line by that; of the stops on the way nobody
//! hears. Whatever else stops it is told, and was the end of the step.

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Json, Message, request};
use breakroom_habits::{Libraries, Pauses};
use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::entry::with_command;
use crate::ids::{ClientId, NodeId};
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::session::Session;

/// Deeper than this nobody waits in a library.
const MOST_FRAMES: usize = 32;

/// Nobody looks at more threads of one pause than this.
const MOST_THREADS: usize = 64;

/// How far threads are inside of frames that nobody is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Inside {
    #[default]
    Nowhere,
    /// They stand by a pause. The engine was asked how deep these are.
    Stands(Vec<Below>),
    /// One is on its way out.
    Leaves { below: Below, step: Step },
}

/// A thread, and what of its stack is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Below {
    thread: i64,
    /// So many have to be left at most: an engine may leave several at once.
    frames: usize,
    /// Where it is in the frame above those.
    line: i64,
    /// What is in the paths of libraries.
    libraries: Vec<String>,
}

/// The step that a client asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    command: &'static str,
    manner: Manner,
}

/// A thread that stopped on its way out, before it is known where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaving {
    below: Below,
    step: Step,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    /// In a frame that is shown.
    Outside,
}

/// What is done with it then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lead {
    Out(Below, Step),
    Does(Step),
    /// That was its step: it has come to another line.
    Ended,
}

impl Leaving {
    pub fn lead(self, line: Option<i64>) -> Lead {
        let Leaving { below, step, place } = self;
        match place {
            Place::Inside if below.frames > 1 => Lead::Out(Below { frames: below.frames - 1, ..below }, step),
            Place::Outside if step.command == "stepOut" || line == Some(below.line) => Lead::Does(step),
            Place::Inside | Place::Outside => Lead::Ended,
        }
    }
}

/// What a client says of how a step is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Manner {
    /// The other threads stay where they are.
    pub single: bool,
    arguments: Map<String, Value>,
}

impl Manner {
    fn of(arguments: Json) -> Self {
        let single = arguments.flag("singleThread");
        let arguments = arguments.raw().and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        Manner { single, arguments }
    }

    /// The arguments of a request that is done like this.
    pub fn arguments(&self, thread: Option<i64>) -> Value {
        let mut arguments = self.arguments.clone();
        arguments.insert("threadId".to_owned(), json!(thread));
        Value::Object(arguments)
    }
}

impl Session {
    /// A stop is told. If it is a pause that may be in a library, the hub looks how deep, before any client can: to one that
    /// steps without a look nothing was shown.
    pub(crate) fn look_inside(&mut self, node: NodeId, stop: &Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.inside = Inside::Nowhere;
        let paused = stop.payload().is_some_and(|body| body.str("reason").as_deref() == Some("pause"));
        if paused && known.facts.running.pauses == Pauses::Inside {
            known.inside = Inside::Stands(Vec::new());
            if let Some(thread) = Run::of(stop.payload()).thread {
                self.look_below(node, thread);
            }
        }
    }

    /// A client is about to look at a thread, or the hub is. A pause may have named another one, or none (delve).
    pub(crate) fn look_below(&mut self, node: NodeId, thread: i64) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Inside::Stands(asked) = &mut known.inside else { return };
        if asked.len() >= MOST_THREADS || asked.iter().any(|below| below.thread == thread) {
            return;
        }
        asked.push(Below { thread, frames: 0, line: 0, libraries: Vec::new() });
        let message =
            request("stackTrace", json!({"threadId": thread, "startFrame": 0, "levels": MOST_FRAMES}));
        let pending = Pending { command: "stackTrace".into(), purpose: Purpose::Inside { thread } };
        let mut waiting = Waiting::new(message, SmallVec::new(), Some(pending));
        waiting.uses.push(known.threads.life(thread));
        known.push(Lane::Normal, waiting);
    }

    pub(crate) fn on_inside(&mut self, node: NodeId, thread: i64, body: Option<Json>) {
        let Some(known) = self.nodes.get(&node) else { return };
        let frames: Vec<Json> =
            body.and_then(|body| body.get("stackFrames")).into_iter().flat_map(Json::elements).collect();
        let libraries = libraries(&known.facts.running.libraries, &frames);
        let shown = frames.iter().position(|frame| self.is_shown(*frame, &libraries));
        let line = shown.and_then(|at| frames[at].i64("line"));
        let Some(known) = self.nodes.get_mut(&node).filter(|node| node.threads.stands(Some(thread))) else {
            return;
        };
        if let (Inside::Stands(asked), Some(frames), Some(line)) = (&mut known.inside, shown, line)
            && let Some(below) = asked.iter_mut().find(|below| below.thread == thread)
        {
            *below = Below { thread, frames, line, libraries };
        }
    }

    /// Whether people see the source of a frame, and it is none of a library's.
    fn is_shown(&self, frame: Json, libraries: &[String]) -> bool {
        let exists = |path: &str| self.setup.identify.is_some_and(|identify| identify(path).is_some());
        let is_foreign = |path: &str| libraries.iter().any(|part| path.contains(part.as_str()));
        let is_own = |path: &str| path.starts_with('/') && !is_foreign(path) && exists(path);
        !is_subtle(frame) && path(frame).is_some_and(|path| is_own(&path))
    }

    /// A client resumes: the edit that has the engine leave what is not shown first, if it is to.
    pub(crate) fn leave_inside(&mut self, node: NodeId, command: &str, message: &Message) -> Option<Edit> {
        let known = self.nodes.get_mut(&node)?;
        let Inside::Stands(asked) = std::mem::take(&mut known.inside) else { return None };
        let arguments = message.payload()?;
        let by_line = arguments.str("granularity").is_none_or(|granularity| granularity != "instruction");
        let command = ["next", "stepIn", "stepOut"].into_iter().find(|step| by_line && *step == command)?;
        let thread = arguments.i64("threadId").filter(|_| arguments.get("targetId").is_none())?;
        let below = asked.into_iter().find(|below| below.thread == thread && below.frames > 0)?;
        let step = Step { command, manner: Manner::of(arguments) };
        known.inside = Inside::Leaves { below, step };
        with_command(message, "stepOut")
    }

    /// Whether a stop is one on the way out, of which it has to be known where it is.
    pub(crate) fn leaves(&mut self, node: NodeId, stop: &Message) -> Option<Leaving> {
        let known = self.nodes.get_mut(&node)?;
        let Inside::Leaves { below, step } = std::mem::take(&mut known.inside) else { return None };
        let body = stop.payload()?;
        let is_step = body.str("reason").as_deref() == Some("step");
        if !is_step || Run::of(Some(body)).thread != Some(below.thread) || known.pausing.is_asked() {
            return None;
        }
        Some(Leaving { below, step, place: Place::Inside })
    }

    /// The innermost frame of that stop is known.
    pub(crate) fn look_outside(&self, leaving: &mut Leaving, top: Json) {
        if self.is_shown(top, &leaving.below.libraries) {
            leaving.place = Place::Outside;
        }
    }

    pub(crate) fn lead(&mut self, node: NodeId, lead: Lead, stops: Vec<Message>, by: Option<ClientId>) {
        match lead {
            Lead::Out(below, step) => {
                let manner = step.manner.clone();
                if let Some(known) = self.nodes.get_mut(&node) {
                    known.inside = Inside::Leaves { below, step };
                }
                self.go_on_by("stepOut", &manner, node, stops, by);
            }
            Lead::Does(Step { command, manner }) => self.go_on_by(command, &manner, node, stops, by),
            Lead::Ended => {}
        }
    }
}

fn path(frame: Json) -> Option<std::borrow::Cow<str>> {
    frame.get("source")?.str("path")
}

/// Whether the engine itself thinks that nobody wants to see a frame.
fn is_subtle(frame: Json) -> bool {
    frame.str("presentationHint").as_deref() == Some("subtle")
}

/// What is in the paths of the libraries of a program with these frames.
fn libraries(habits: &Libraries, frames: &[Json]) -> Vec<String> {
    let folder = |frame: &Json| {
        let path = path(*frame).filter(|_| is_subtle(*frame))?;
        let at = path.rfind(habits.beside.as_deref()?)?;
        Some(path[..=at].to_owned()).filter(|folder| folder.len() > 1)
    };
    habits.parts.iter().cloned().chain(frames.iter().find_map(folder)).collect()
}
