//! The adapter of a group: several configurations as one session, whatever their languages.
//!
//! It debugs nothing itself. It announces each configuration as a child, which the hub then opens with an engine of its own,
//! and has nothing to do after that: it says `terminated` once all are answered, and the session lasts as long as they do.

use std::io::{Read, Write};
use std::ops::ControlFlow;

use breakroom_adapter::{Answer, Message, Outgoing, Request, read};
use serde_json::{Value, json};

/// Serves one client until it is gone or says `disconnect`.
pub fn serve(input: impl Read, output: impl Write) {
    let mut group = Group { client: Outgoing::new(output), wanted: Vec::new(), asked: Vec::new() };
    // Whatever ended it, there is nobody to tell.
    let _ = read(input, |message| group.on(message).unwrap_or(ControlFlow::Break(())));
}

struct Group<W> {
    client: Outgoing<W>,
    /// What is to be started once the client is done configuring: its breakpoints must come first.
    wanted: Vec<Value>,
    /// What was announced and has no answer yet: under which number, and what it is called.
    asked: Vec<(i64, String)>,
}

impl<W: Write> Group<W> {
    fn on(&mut self, message: Message) -> std::io::Result<ControlFlow<()>> {
        match message {
            Message::Request(request) => self.on_request(&request),
            Message::Answer(answer) => self.on_answer(&answer).map(ControlFlow::Continue),
            Message::Broken(_) => Ok(ControlFlow::Continue(())),
        }
    }

    fn on_request(&mut self, request: &Request) -> std::io::Result<ControlFlow<()>> {
        match request.command.as_str() {
            "initialize" => {
                let can = json!({"supportsConfigurationDoneRequest": true, "supportsTerminateRequest": true});
                self.client.respond(request, can)?;
                self.client.event("initialized", Value::Null)?;
            }
            "launch" => match request.arguments["configurations"].as_array() {
                Some(configurations) if !configurations.is_empty() => {
                    self.wanted.clone_from(configurations);
                    self.client.respond(request, Value::Null)?;
                }
                _ => self
                    .client
                    .fail(request, "`configurations` is a list with at least one configuration in it")?,
            },
            "configurationDone" => {
                self.client.respond(request, Value::Null)?;
                self.announce()?;
            }
            "threads" => self.client.respond(request, json!({"threads": []}))?,
            "setBreakpoints" | "setFunctionBreakpoints" | "setExceptionBreakpoints" => {
                self.client.respond(request, json!({"breakpoints": []}))?;
            }
            "terminate" => {
                self.client.respond(request, Value::Null)?;
                self.client.event("terminated", Value::Null)?;
            }
            "disconnect" => {
                self.client.respond(request, Value::Null)?;
                return Ok(ControlFlow::Break(()));
            }
            other => {
                self.client.fail(request, &format!("a group cannot `{other}`; ask one of its programs"))?
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn announce(&mut self) -> std::io::Result<()> {
        for configuration in std::mem::take(&mut self.wanted) {
            let name = configuration["name"].as_str().unwrap_or("a program").to_owned();
            let request = configuration["request"].as_str().unwrap_or("launch").to_owned();
            let announcement = json!({"request": request, "configuration": configuration});
            let seq = self.client.request("startDebugging", announcement)?;
            self.asked.push((seq, name));
        }
        Ok(())
    }

    fn on_answer(&mut self, answer: &Answer) -> std::io::Result<()> {
        let Some(at) = self.asked.iter().position(|(seq, _)| *seq == answer.request_seq) else {
            return Ok(());
        };
        let (_, name) = self.asked.remove(at);
        if let Some(why) = &answer.refused {
            let text = format!("{name} could not be started: {why}\n");
            self.client.event("output", json!({"category": "stderr", "output": text}))?;
        }
        if self.asked.is_empty() {
            self.client.event("terminated", Value::Null)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it says to these messages, each in short.
    fn said(messages: &[Value]) -> Vec<Value> {
        let input: Vec<u8> = messages
            .iter()
            .flat_map(|message| {
                let body = message.to_string();
                format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
            })
            .collect();
        let mut output = Vec::new();
        serve(&*input, &mut output);
        let text = String::from_utf8(output).unwrap();
        let bodies =
            text.split("Content-Length: ").skip(1).map(|frame| frame.split_once("\r\n\r\n").unwrap().1);
        bodies.map(|body| serde_json::from_str(body).unwrap()).collect()
    }

    fn request(seq: i64, command: &str, arguments: Value) -> Value {
        json!({"seq": seq, "type": "request", "command": command, "arguments": arguments})
    }

    #[test]
    fn each_configuration_is_announced_once_the_client_is_done_and_then_nothing_is_left_to_do() {
        let one = json!({"name": "one", "type": "python", "request": "launch", "program": "1.py"});
        let two = json!({"name": "two", "type": "go", "request": "attach"});
        let said = said(&[
            request(1, "initialize", json!({})),
            request(2, "launch", json!({"configurations": [one, two]})),
            request(3, "configurationDone", json!({})),
            json!({"seq": 4, "type": "response", "request_seq": 6, "command": "startDebugging", "success": false, "message": "no go"}),
            json!({"seq": 5, "type": "response", "request_seq": 5, "command": "startDebugging", "success": true}),
            request(6, "disconnect", json!({})),
            request(7, "threads", json!({})),
        ]);
        let short: Vec<String> = said
            .iter()
            .map(|message| {
                let name = if message["type"] == "event" { &message["event"] } else { &message["command"] };
                format!("{} {}", message["type"].as_str().unwrap(), name.as_str().unwrap())
            })
            .collect();
        assert_eq!(
            short,
            [
                "response initialize",
                "event initialized",
                "response launch",
                "response configurationDone",
                "request startDebugging",
                "request startDebugging",
                "event output",
                "event terminated",
                "response disconnect"
            ]
        );
        assert_eq!(said[4]["arguments"], json!({"request": "launch", "configuration": one}));
        assert_eq!(said[5]["arguments"]["request"], "attach");
        assert_eq!(said[6]["body"]["output"], "two could not be started: no go\n");
    }

    #[test]
    fn a_group_of_nothing_is_refused() {
        let said = said(&[request(1, "launch", json!({"configurations": []}))]);
        assert_eq!((said.len(), &said[0]["success"]), (1, &json!(false)));
    }
}
