//! Looking into a stopped thread: its stack, its variables, expressions, and setting a variable.

use std::io::Write;

use breakroom_adapter::Request;
use breakroom_remote_runtime::{
    Assigned, Command, Evaluation, Properties, PropertyRange, Response, Scope, Stack, Variable,
};
use serde_json::{Value, json};

use crate::adapter::{Adapter, Purpose};
use crate::handles::{Contents, FrameKey, Handle, Slot};

/// What is done with the response to an inspection command.
#[derive(Debug)]
pub enum Inspection {
    Stack {
        request: Request,
        thread: i64,
    },
    /// The children of a handle.
    Children {
        request: Request,
        holder: i64,
        handle: Handle,
    },
    Evaluate {
        request: Request,
        frame: FrameKey,
    },
    /// The variable of a `setExpression` is looked up first.
    Find {
        request: Request,
        frame: FrameKey,
    },
    Assign {
        request: Request,
        value: String,
    },
}

impl<W: Write> Adapter<W> {
    pub fn inspect(&mut self, request: Request) -> std::io::Result<()> {
        let prepared = match request.command.as_str() {
            "scopes" => self.scopes(&request).map(Err),
            "exceptionInfo" => self.exception_info(&request).map(Err),
            _ => self.question(&request).map(Ok),
        };
        match prepared {
            Ok(Ok((command, purpose))) => {
                self.ask(&command, Purpose::Inspect(purpose(request)));
                Ok(())
            }
            Ok(Err(body)) => self.client.respond(&request, body),
            Err(why) => self.client.fail(&request, &why),
        }
    }

    fn scopes(&mut self, request: &Request) -> Result<Value, String> {
        let frame = self.handles.get(integer(request, "frameId")?)?.frame;
        let reference = self.handles.allocate(Handle { frame, contents: Contents::Scope });
        Ok(json!({"scopes": [{
            "name": "Locals", "presentationHint": "locals", "variablesReference": reference, "expensive": false,
        }]}))
    }

    fn exception_info(&mut self, request: &Request) -> Result<Value, String> {
        let thread = self.threads.get(integer(request, "threadId")?)?;
        let exception = thread.exception.as_ref().ok_or("the thread has not stopped at an exception")?;
        Ok(json!({
            "exceptionId": exception.exception_name, "description": exception.exception_message,
            "breakMode": "always",
        }))
    }

    /// The command that finds the answer, and what is done with the response.
    #[expect(clippy::type_complexity, reason = "a closure that takes the request along")]
    fn question(
        &mut self,
        request: &Request,
    ) -> Result<(Command, Box<dyn FnOnce(Request) -> Inspection>), String> {
        let text = |key: &str| request.arguments[key].as_str().unwrap_or_default().to_owned();
        let evaluation = |frame: FrameKey| Command::GetEvaluation {
            thread_id: frame.thread,
            frame_id: frame.frame,
            expression: text("expression"),
        };
        Ok(match request.command.as_str() {
            "stackTrace" => {
                let thread = self.threads.get(integer(request, "threadId")?)?.runtime_id;
                let command = Command::GetStack { thread_id: thread };
                (command, Box::new(move |request| Inspection::Stack { request, thread }))
            }
            "variables" => {
                let holder = integer(request, "variablesReference")?;
                let handle = self.handles.get(holder)?;
                let command = children(handle, &request.arguments);
                (command, Box::new(move |request| Inspection::Children { request, holder, handle }))
            }
            "setVariable" => {
                let holder = integer(request, "variablesReference")?;
                let frame = self.handles.get(holder)?.frame;
                let name = text("name");
                let slot = self.handles.listed(holder, &name);
                let slot = slot.ok_or_else(|| format!("there is no variable {name} here"))?;
                let value = text("value");
                (
                    assignment(frame, slot, &value)?,
                    Box::new(move |request| Inspection::Assign { request, value }),
                )
            }
            command => {
                let frame = integer(request, "frameId")
                    .map_err(|_| "the runtime evaluates only in a frame of a stopped thread".to_owned())?;
                let frame = self.handles.get(frame)?.frame;
                let is_assignment = command == "setExpression";
                let purpose = move |request| match is_assignment {
                    true => Inspection::Find { request, frame },
                    false => Inspection::Evaluate { request, frame },
                };
                (evaluation(frame), Box::new(purpose))
            }
        })
    }

    pub fn on_inspected(
        &mut self,
        inspection: Inspection,
        response: Result<Response, String>,
    ) -> std::io::Result<()> {
        let (request, answer) = match inspection {
            Inspection::Stack { request, thread } => {
                let stack = response.and_then(Response::body::<Stack>);
                let body = stack.map(|stack| self.stack(&request, thread, &stack));
                (request, body)
            }
            Inspection::Children { request, holder, handle } => {
                let variables = match handle.contents {
                    Contents::Scope => {
                        response.and_then(Response::body::<Scope>).map(|scope| scope.variables)
                    }
                    Contents::Value { .. } => {
                        response.and_then(Response::body::<Properties>).map(|found| found.properties)
                    }
                };
                let body = variables.map(|variables| {
                    let shown = variables.iter().map(|one| {
                        self.handles.list(holder, one);
                        self.variable(handle.frame, one)
                    });
                    json!({"variables": shown.collect::<Vec<_>>()})
                });
                (request, body)
            }
            Inspection::Evaluate { request, frame } => {
                let found = response.and_then(Response::body::<Evaluation>);
                let body = found.map(|found| {
                    let mut body = self.variable(frame, &found.result);
                    body["result"] = body["value"].take();
                    body
                });
                (request, body)
            }
            Inspection::Find { request, frame } => {
                let value = request.arguments["value"].as_str().unwrap_or_default().to_owned();
                let found = response.and_then(Response::body::<Evaluation>);
                let command = found.and_then(|found| {
                    let slot = Slot { addr: found.result.addr, type_id: found.result.type_id };
                    assignment(frame, slot, &value)
                });
                match command {
                    Ok(command) => {
                        let purpose = Inspection::Assign { request, value };
                        self.ask(&command, Purpose::Inspect(purpose));
                        return Ok(());
                    }
                    Err(why) => (request, Err(why)),
                }
            }
            Inspection::Assign { request, value } => {
                let assigned = response.and_then(Response::body::<Assigned>);
                (request, assigned.map(|_| json!({"value": value})))
            }
        };
        self.answer(&request, answer)
    }

    fn stack(&mut self, request: &Request, thread: i64, stack: &Stack) -> Value {
        let count = |key: &str| {
            request.arguments[key]
                .as_u64()
                .and_then(|count| usize::try_from(count).ok())
                .filter(|count| *count > 0)
        };
        let from = count("startFrame").unwrap_or(0);
        let levels = count("levels").unwrap_or(usize::MAX);
        let mut frames = Vec::new();
        for frame in stack.frames.iter().skip(from).take(levels) {
            let key = FrameKey { thread, frame: frame.id };
            let id = self.handles.allocate(Handle { frame: key, contents: Contents::Scope });
            let mut shown = json!({"id": id, "name": frame.name, "line": frame.line.max(0), "column": 1});
            if !frame.file.is_empty() {
                let path = self.breakpoints.client_path(&frame.file);
                let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
                shown["source"] = json!({"name": name, "path": path});
            }
            frames.push(shown);
        }
        json!({"stackFrames": frames, "totalFrames": stack.frames.len()})
    }

    fn variable(&mut self, frame: FrameKey, variable: &Variable) -> Value {
        let Variable { addr, name, value, kind, type_id, size, elements } = variable;
        let reference = match size {
            0 => 0,
            _ => {
                let contents = Contents::Value { addr: *addr, type_id: *type_id };
                self.handles.allocate(Handle { frame, contents })
            }
        };
        let mut shown = json!({"name": name, "value": value, "type": kind, "variablesReference": reference});
        // Only arrays can be read in parts.
        if elements.is_some() && *size > 0 {
            shown["indexedVariables"] = (*size).into();
        }
        if *type_id == 0 && *size == 0 {
            shown["presentationHint"] = json!({"attributes": ["readOnly"]});
        }
        shown
    }
}

fn integer(request: &Request, key: &str) -> Result<i64, String> {
    request.arguments[key].as_i64().ok_or_else(|| format!("`{key}` is missing"))
}

fn children(handle: Handle, arguments: &Value) -> Command {
    let Handle { frame, contents } = handle;
    let (thread_id, frame_id) = (frame.thread, frame.frame);
    match contents {
        Contents::Scope => Command::GetScope { thread_id, frame_id },
        Contents::Value { addr, type_id } => {
            let number = |key: &str| arguments[key].as_i64().unwrap_or(0).max(0);
            let (start, count) = (number("start"), number("count"));
            Command::GetProperty(PropertyRange { thread_id, frame_id, addr, type_id, start, count })
        }
    }
}

fn assignment(frame: FrameKey, slot: Slot, value: &str) -> Result<Command, String> {
    if slot.type_id == 0 {
        return Err("the runtime does not let this be set".to_owned());
    }
    Ok(Command::SetVariable {
        thread_id: frame.thread,
        frame_id: frame.frame,
        addr: slot.addr,
        type_id: slot.type_id,
        value: value.to_owned(),
    })
}
