//! Looking at a stopped program: stack, variables, expressions.
//!
//! A frame's id is its place in the server's stack, counted from 1, and so is the reference of its variables.
//! Values have no children: the protocol shows each as one text.

use std::io::Write;

use serde_json::{Value, json};

use super::running::why_not;
use super::{Adapter, Done, Job, State};
use crate::dap::Request;
use crate::event::{Event, Frame, Location, Variable};

/// A server that splits long answers does so at 4096 bytes; an answer this long may be the first part of one.
const MAYBE_A_PART: usize = 2048;

/// What some servers call every function.
const ANY_FUNCTION: &str = "<function>";

/// Type names of servers that show their interpreter's own, and what the document calls them.
const TYPES: &[(&str, &str)] = &[
    ("INTEGER", "int"),
    ("FLOAT", "float"),
    ("STRING", "string"),
    ("CHAR", "char"),
    ("BYTE", "byte"),
    ("BOOLEAN", "bool"),
    ("NIL", "nil"),
    ("ARRAY", "array"),
    ("MAP", "map"),
    ("STRUCT", "struct"),
    ("ENUM", "enum"),
    ("ENUM_VALUE", "enum"),
    ("FUNCTION", "function"),
    ("REFERENCE", "reference"),
];

/// A question to the server, with what it has answered so far.
#[derive(Debug)]
pub(super) struct Inquiry {
    request: Request,
    answer: Answer,
    end: AnswerEnd,
}

#[derive(Debug)]
enum Answer {
    Stack(Vec<Frame>),
    Variables(Vec<Variable>),
    Evaluation,
}

/// How the last part of an answer is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerEnd {
    /// There is only one.
    First,
    /// Commands are handled in order, so the answer to one more marks the end. Nothing is cleared by it.
    Fence,
}

impl Inquiry {
    pub fn into_request(self) -> Request {
        self.request
    }
}

impl<W: Write> Adapter<W> {
    pub(super) fn stack_trace(&mut self, request: Request) -> Done {
        self.ask(request, Answer::Stack(Vec::new()), "getStackTrace", json!({}))
    }

    pub(super) fn scopes(&mut self, request: &Request) -> Done {
        let locals = json!({
            "name": "Locals", "presentationHint": "locals", "expensive": false,
            "variablesReference": request.arguments["frameId"],
        });
        self.client.respond(request, json!({"scopes": [locals]}))
    }

    pub(super) fn variables(&mut self, request: Request) -> Done {
        let params = json!({"frameIndex": frame_index(&request.arguments["variablesReference"])});
        self.ask(request, Answer::Variables(Vec::new()), "getVariables", params)
    }

    pub(super) fn evaluate(&mut self, request: Request) -> Done {
        let expression = request.arguments["expression"].as_str().unwrap_or_default();
        let frame = frame_index(&request.arguments["frameId"]);
        let params = json!({"expression": expression, "frameIndex": frame});
        self.ask(request, Answer::Evaluation, "evaluate", params)
    }

    fn ask(&mut self, request: Request, answer: Answer, command: &str, params: Value) -> Done {
        let State::Stopped { .. } = self.state else {
            let why = why_not(&self.state);
            return self.client.fail(&request, &format!("nothing can be looked at: {why}"));
        };
        self.tell(command, params);
        self.job = Some(Job::Inquiry(Inquiry { request, answer, end: AnswerEnd::First }));
        Ok(())
    }

    pub(super) fn on_answer(&mut self, event: Event, length: usize) -> Done {
        let Some(Job::Inquiry(mut inquiry)) = self.job.take_if(|job| matches!(job, Job::Inquiry(_))) else {
            return Ok(());
        };
        match (&mut inquiry.answer, event) {
            (Answer::Stack(frames), Event::StackTrace(more)) => frames.extend(more),
            (Answer::Variables(variables), Event::Variables(more)) => variables.extend(more),
            (Answer::Evaluation, Event::Evaluated { result, kind }) => {
                let mut body = json!({"result": result, "variablesReference": 0});
                if let Some(kind) = kind {
                    body["type"] = plain_type(&kind).into();
                }
                return self.client.respond(&inquiry.request, body);
            }
            // The answer to nothing that was asked now.
            _ => {
                self.job = Some(Job::Inquiry(inquiry));
                return Ok(());
            }
        }
        match inquiry.end {
            AnswerEnd::First if length < MAYBE_A_PART => return self.answer(&inquiry),
            AnswerEnd::First => {
                self.tell("clearBreakpoint", json!({"file": self.stage.program, "line": 0}));
                inquiry.end = AnswerEnd::Fence;
            }
            AnswerEnd::Fence => {}
        }
        self.job = Some(Job::Inquiry(inquiry));
        Ok(())
    }

    pub(super) fn on_fence(&mut self, inquiry: Inquiry) -> Done {
        match inquiry.end {
            AnswerEnd::Fence => self.answer(&inquiry),
            AnswerEnd::First => {
                self.job = Some(Job::Inquiry(inquiry));
                Ok(())
            }
        }
    }

    pub(super) fn inquiry_refused(&mut self, inquiry: Inquiry, problem: &str) -> Done {
        match inquiry.end {
            AnswerEnd::Fence => self.answer(&inquiry),
            AnswerEnd::First => self.client.fail(&inquiry.request, problem),
        }
    }

    fn answer(&mut self, inquiry: &Inquiry) -> Done {
        let arguments = &inquiry.request.arguments;
        let body = match (&inquiry.answer, &self.state) {
            (Answer::Stack(frames), State::Stopped { at }) => {
                let frames = whole_stack(frames, at);
                let total = frames.len();
                let frames = part(frames, &arguments["startFrame"], &arguments["levels"]);
                let frames: Vec<Value> =
                    frames.into_iter().map(|(index, frame)| self.frame(index, &frame)).collect();
                json!({"stackFrames": frames, "totalFrames": total})
            }
            (Answer::Variables(variables), _) => {
                let variables = part(variables.clone(), &arguments["start"], &arguments["count"]);
                let variables: Vec<Value> = variables.iter().map(|(_, one)| variable(one)).collect();
                json!({"variables": variables})
            }
            _ => return self.client.fail(&inquiry.request, "the program has gone on"),
        };
        self.client.respond(&inquiry.request, body)
    }

    fn frame(&self, index: usize, frame: &Frame) -> Value {
        let mut told = json!({
            "id": index + 1, "name": frame.function, "line": frame.at.line, "column": frame.at.column,
        });
        if !frame.at.file.is_empty() {
            told["source"] = self.stage.source(&frame.at.file);
        }
        told
    }
}

/// The stack as it is, from what the server says of it.
///
/// Servers that call every function the same also tell where each was called from instead of where it is, and leave out
/// `main`: each frame is where the one above it was called from, and the top one is where the program stopped.
fn whole_stack(told: &[Frame], at: &Location) -> Vec<Frame> {
    if told.iter().any(|frame| frame.function != ANY_FUNCTION) {
        return told.to_vec();
    }
    let names = told.iter().map(|frame| frame.function.as_str()).chain(["main"]);
    let places = [at].into_iter().chain(told.iter().map(|frame| &frame.at));
    names.zip(places).map(|(name, at)| Frame { function: name.to_owned(), at: at.clone() }).collect()
}

fn variable(variable: &Variable) -> Value {
    json!({
        "name": variable.name, "value": variable.value, "type": plain_type(&variable.kind),
        "variablesReference": 0,
    })
}

fn plain_type(kind: &str) -> &str {
    TYPES.iter().find(|(tag, _)| *tag == kind).map_or(kind, |(_, plain)| plain)
}

fn frame_index(id: &Value) -> i64 {
    id.as_i64().map_or(0, |id| (id - 1).max(0))
}

/// The elements that a client asks for, with their places. A count of 0 means all.
fn part<T>(all: Vec<T>, start: &Value, count: &Value) -> Vec<(usize, T)> {
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let count = number(count).filter(|count| *count > 0).unwrap_or(usize::MAX);
    all.into_iter().enumerate().skip(number(start).unwrap_or(0)).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, line: i64) -> Frame {
        Frame { function: function.into(), at: Location { file: "a.ez".into(), line, column: 1 } }
    }

    #[test]
    fn call_sites_become_current_lines_and_main_is_added() {
        let at = frame("", 12).at;
        let told = [frame("<function>", 7), frame("<function>", 3)];
        let whole = [frame("<function>", 12), frame("<function>", 7), frame("main", 3)];
        assert_eq!(whole_stack(&told, &at), whole);
        assert_eq!(whole_stack(&[], &at), [frame("main", 12)]);
        let proper = [frame("add", 12), frame("main", 3)];
        assert_eq!(whole_stack(&proper, &at), proper);
    }

    #[test]
    fn a_part_keeps_the_places_of_its_elements() {
        let all = vec!["a", "b", "c"];
        assert_eq!(part(all.clone(), &json!(1), &json!(1)), [(1, "b")]);
        assert_eq!(part(all.clone(), &Value::Null, &json!(0)).len(), 3);
        assert_eq!(part(all, &json!(9), &Value::Null), []);
    }
}
