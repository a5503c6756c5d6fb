//! Looking into a stopped thread: its stack, its variables, expressions, and setting a variable.
//!
//! A frame is known by its depth, so that Visual Studio can go on using it after a step on the same line. A variable is known
//! by a number that is given once, because Visual Studio takes two with one `addr` for one variable.

use std::collections::HashMap;

use breakroom_client::model::{self, Frame, FrameId, ThreadId, VariablesReference};
use breakroom_client::scopes::Member;
use breakroom_debug_client::values::{self, ScopeKind, kind};
use breakroom_debug_client::{complete, stack};
use breakroom_remote_runtime::{
    Assigned, Elements, Evaluation, Event, Frame as RuntimeFrame, Properties, PropertyRange, Scope, Stack,
    Thread, Threads as ThreadList, Variable, cut, fit_list,
};
use serde_json::{Value, json};

use crate::debugger::Failure;
use crate::server::Server;
use crate::session::Phase;
use crate::visual_studio::Answer;

/// An array of more elements is read with `get_property`.
const MOST_INLINE_ELEMENTS: usize = 100;
/// Arrays that would bring more elements into one response are sent without them.
const MOST_INLINE_OF_ALL: usize = 1000;
/// More elements never fit into a message, so the debugger is not asked for them.
const MOST_ELEMENTS: usize = 10_000;
/// A longer expression does not fit into the response.
const LONGEST_EXPRESSION: usize = 100_000;

/// What a variable's `addr` stands for.
#[derive(Debug, Clone)]
pub struct Slot {
    pub thread: ThreadId,
    frame: FrameId,
    /// The scope or value that it is in; `None` for the result of an expression.
    holder: Option<VariablesReference>,
    name: String,
    is_text: bool,
    children: Option<VariablesReference>,
    indexed: usize,
    type_id: i64,
}

/// Numbers for types, from 1: 0 marks what cannot be set.
#[derive(Debug, Default)]
pub struct TypeIds(HashMap<String, i64>);

impl TypeIds {
    fn id(&mut self, name: &str) -> i64 {
        let next = i64::try_from(self.0.len()).unwrap_or(0) + 1;
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

/// A member of a frame or value, and what holds it.
struct Found {
    holder: Option<VariablesReference>,
    member: Member,
}

fn text(failure: Failure) -> String {
    failure.to_string()
}

fn body(body: impl serde::Serialize) -> Result<Answer, String> {
    serde_json::to_value(body).map(Answer::from).map_err(|error| error.to_string())
}

impl Server {
    pub fn get_threads(&mut self) -> Result<Answer, String> {
        let listed = match self.phase {
            Phase::Idle | Phase::Exited => Value::Null,
            // A debugger may have no threads to tell before its program runs.
            Phase::Configuring { .. } => self.debugger.ask("threads", json!({})).unwrap_or_default(),
            Phase::Live { .. } => self.debugger.ask("threads", json!({})).map_err(text)?,
        };
        let mut threads = model::list(&listed["threads"], |thread| {
            Some((model::integer(&thread["id"])?, cut(model::text(&thread["name"]))))
        })
        .into_iter()
        .map(|(id, name)| Thread { id: self.threads.number(id), name })
        .collect::<Vec<_>>();
        fit_list(&mut threads);
        body(ThreadList { threads })
    }

    pub fn get_stack(&mut self, number: i64) -> Result<Answer, String> {
        let thread = self.stopped_thread(number)?;
        let all = self.frames(thread)?;
        let mut frames: Vec<RuntimeFrame> = (1..)
            .zip(&all)
            // Visual Studio drops the whole stack for one frame without a line.
            .filter(|(_, frame)| frame.line >= 1)
            .filter_map(|(id, frame)| {
                let path = frame.source.as_ref()?.path.as_ref()?;
                let file = self.breakpoints.spelling(path);
                Some(RuntimeFrame { id, name: cut(frame.name.clone()), file, line: frame.line })
            })
            .collect();
        fit_list(&mut frames);
        body(Stack { thread_id: number, frames })
    }

    /// All frames of a stopped thread, asked for once a stop.
    fn frames(&mut self, thread: ThreadId) -> Result<Vec<Frame>, String> {
        let known = self.threads.stop_along(thread).and_then(|stop| stop.frames.clone());
        if let Some(frames) = known {
            return Ok(frames);
        }
        let frames = complete(stack::all_frames(&mut self.debugger, thread)).map_err(text)?;
        if let Some(stop) = self.threads.stop_along(thread) {
            stop.frames = Some(frames.clone());
        }
        Ok(frames)
    }

    fn frame(&mut self, thread: i64, frame: i64) -> Result<(ThreadId, FrameId), String> {
        let thread = self.stopped_thread(thread)?;
        let frames = self.frames(thread)?;
        let at = usize::try_from(frame).ok().and_then(|frame| frame.checked_sub(1));
        let found = at.and_then(|at| frames.get(at));
        let found = found.ok_or_else(|| format!("frame not found: {frame}"))?;
        Ok((thread, found.id))
    }

    pub fn get_scope(&mut self, thread_id: i64, frame_id: i64) -> Result<Answer, String> {
        let (thread, frame) = self.frame(thread_id, frame_id)?;
        let held = complete(values::variables(&mut self.debugger, frame, ScopeKind::Locals)).map_err(text)?;
        let found = held.into_iter().map(|held| Found { holder: Some(held.holder), member: held.member });
        let mut variables = self.variables((thread, frame), found.collect())?;
        // Visual Studio has one list for a frame: globals and the like are one entry each.
        for scope in complete(values::scopes(&mut self.debugger, frame)).map_err(text)? {
            if kind(&scope) == ScopeKind::Globals && scope.reference.0 > 0 {
                let slot = Slot {
                    thread,
                    frame,
                    holder: None,
                    name: scope.name.clone(),
                    is_text: false,
                    children: Some(scope.reference),
                    indexed: 0,
                    type_id: self.types.id(""),
                };
                let type_id = slot.type_id;
                variables.push(Variable {
                    addr: self.slots.allocate(slot),
                    name: scope.name,
                    value: "{...}".to_owned(),
                    type_id,
                    size: -1,
                    ..Variable::default()
                });
            }
        }
        let is_cut = fit_list(&mut variables);
        let mut answer = body(Scope { thread_id, frame_id, variables })?;
        if is_cut {
            answer.events.push(too_much("the frame has more variables than fit into one message"));
        }
        Ok(answer)
    }

    /// Variables as they are sent, arrays with their elements if these are few.
    fn variables(&mut self, at: (ThreadId, FrameId), found: Vec<Found>) -> Result<Vec<Variable>, String> {
        let mut room = MOST_INLINE_OF_ALL;
        let mut variables = Vec::new();
        for Found { holder, member } in found {
            let (children, indexed) = (member.children, member.indexed);
            let mut variable = self.variable(at, holder, member);
            if let Some(array) = children
                && (1..=MOST_INLINE_ELEMENTS.min(room)).contains(&indexed)
            {
                let elements = self.elements(array, 0, indexed).map_err(text)?;
                room -= indexed;
                let elements: Vec<Variable> =
                    elements.into_iter().map(|member| self.variable(at, Some(array), member)).collect();
                let count = i64::try_from(elements.len()).unwrap_or(0);
                variable.elements = Some(Elements { start: 0, count, elements });
            }
            variables.push(variable);
        }
        Ok(variables)
    }

    fn variable(
        &mut self,
        (thread, frame): (ThreadId, FrameId),
        holder: Option<VariablesReference>,
        member: Member,
    ) -> Variable {
        let Member { variable, children, indexed, .. } = member;
        let type_id = self.types.id(&variable.kind);
        let is_text = variable.kind.to_lowercase().contains("str");
        let name = variable.name.clone();
        let slot = Slot { thread, frame, holder, name, is_text, children, indexed, type_id };
        let size = match (children, indexed) {
            (None, _) => 0,
            (Some(_), 0) => -1,
            (Some(_), count) => i64::try_from(count).unwrap_or(-1),
        };
        Variable {
            addr: self.slots.allocate(slot),
            name: cut(variable.name),
            value: cut(variable.value),
            kind: cut(variable.kind),
            type_id,
            size,
            elements: None,
        }
    }

    /// A part of an array. A debugger that knows no parts answers with all of it.
    fn elements(
        &mut self,
        of: VariablesReference,
        start: usize,
        count: usize,
    ) -> Result<Vec<Member>, Failure> {
        let arguments =
            json!({"variablesReference": of.0, "filter": "indexed", "start": start, "count": count});
        let body = self.debugger.ask("variables", arguments)?;
        let mut elements = model::list(&body["variables"], Member::read);
        if elements.len() > count {
            elements.drain(..start.min(elements.len()));
            elements.truncate(count);
        }
        Ok(elements)
    }

    pub fn get_property(&mut self, range: &PropertyRange) -> Result<Answer, String> {
        let PropertyRange { thread_id, frame_id, addr, type_id, start, count } = *range;
        let (thread, frame) = self.frame(thread_id, frame_id)?;
        let slot = self.slot(thread, addr, type_id)?;
        let first = usize::try_from(start).map_err(|_| format!("invalid start index: {start}"))?;
        let wanted = usize::try_from(count).ok().filter(|count| *count > 0).unwrap_or(usize::MAX);
        let (total, members) = match slot.children {
            None => (0, Vec::new()),
            Some(children) if slot.indexed > 0 => {
                let left = slot.indexed.saturating_sub(first).min(wanted).min(MOST_ELEMENTS);
                let members = match left {
                    0 => Vec::new(),
                    left => self.elements(children, first, left).map_err(text)?,
                };
                (slot.indexed, members)
            }
            Some(children) => {
                let all = complete(values::members(&mut self.debugger, children)).map_err(text)?;
                (all.len(), all.into_iter().skip(first).take(wanted).collect())
            }
        };
        if first > total {
            return Err(format!("invalid start index: {start}; the size is {total}"));
        }
        let mut properties: Vec<Variable> =
            members.into_iter().map(|member| self.variable((thread, frame), slot.children, member)).collect();
        fit_list(&mut properties);
        let is_cut = properties.len() < total.saturating_sub(first).min(wanted);
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (count, size) = (number(properties.len()), number(total));
        let found = Properties { thread_id, frame_id, addr, type_id, start, count, size, properties };
        let mut answer = body(found)?;
        if is_cut {
            let next = start + count;
            answer.events.push(too_much(&format!(
                "get_property: {count} of {size} fit into one message; the next begins at {next}"
            )));
        }
        Ok(answer)
    }

    fn slot(&self, thread: ThreadId, addr: i64, type_id: i64) -> Result<Slot, String> {
        let slot = self.slots.get(addr).filter(|slot| slot.thread == thread);
        let slot = slot.ok_or_else(|| format!("invalid addr: {addr}"))?;
        match slot.type_id == type_id {
            true => Ok(slot.clone()),
            false => Err(format!("invalid typeId: {type_id}; the variable {} has another", slot.name)),
        }
    }

    pub fn get_evaluation(
        &mut self,
        thread_id: i64,
        frame_id: i64,
        expression: &str,
    ) -> Result<Answer, String> {
        if expression.len() > LONGEST_EXPRESSION {
            return Err(format!("the expression is longer than {LONGEST_EXPRESSION} bytes"));
        }
        let (thread, frame) = self.frame(thread_id, frame_id)?;
        let arguments = json!({"expression": expression, "frameId": frame.0, "context": "watch"});
        let mut value = self.debugger.ask("evaluate", arguments).map_err(text)?;
        value["value"] = value["result"].take();
        // Visual Studio finds the result by its name.
        value["name"] = expression.into();
        let member = Member::read(&value).ok_or_else(|| format!("{expression} has no value"))?;
        let result = self.variables((thread, frame), vec![Found { holder: None, member }])?;
        let mut result = result.into_iter().next().ok_or_else(|| format!("{expression} has no value"))?;
        result.name = expression.to_owned();
        body(Evaluation { thread_id, frame_id, expression: expression.to_owned(), result })
    }

    pub fn set_variable(
        &mut self,
        (thread_id, frame_id): (i64, i64),
        (addr, type_id): (i64, i64),
        value: &str,
    ) -> Result<Answer, String> {
        let (thread, _) = self.frame(thread_id, frame_id)?;
        let slot = self.slot(thread, addr, type_id)?;
        // Visual Studio sends the text alone; a debugger wants it as the language writes it.
        let value = match slot.is_text && !value.starts_with(['"', '\'']) {
            true => Value::from(value).to_string(),
            false => value.to_owned(),
        };
        let names = (slot.name.as_str(), Some(slot.name.as_str()));
        complete(values::assign(&mut self.debugger, slot.holder, names, slot.frame, &value)).map_err(text)?;
        body(Assigned { thread_id, frame_id, addr, type_id })
    }
}

fn too_much(text: &str) -> Event {
    Event::Output { category: "warn".to_owned(), output: format!("{text}\n") }
}
