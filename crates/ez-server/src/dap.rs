//! The client's side: its requests as they come, and answers and events to it.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;

pub(crate) use breakroom_adapter::Request;
use breakroom_adapter::{Message, Outgoing};
use serde_json::Value;

use crate::adapter::Incoming;
use crate::error::ServeError;

/// A client that cannot be told anything any more ends the adapter.
pub(crate) struct Client<W>(Outgoing<W>);

impl<W: Write> Client<W> {
    pub fn new(output: W) -> Self {
        Client(Outgoing::new(output))
    }

    pub fn respond(&mut self, request: &Request, body: Value) -> Result<(), ServeError> {
        Ok(self.0.respond(request, body)?)
    }

    pub fn fail(&mut self, request: &Request, message: &str) -> Result<(), ServeError> {
        Ok(self.0.fail(request, message)?)
    }

    pub fn event(&mut self, name: &str, body: Value) -> Result<(), ServeError> {
        Ok(self.0.event(name, body)?)
    }
}

/// The thread that reads the client. It ends with the client's stream, which it always reports last.
pub(crate) fn read(input: impl Read, to: &SyncSender<Incoming>) {
    let ended = breakroom_adapter::read(input, |message| match message {
        Message::Broken(_) | Message::Answer(_) => ControlFlow::Continue(()),
        Message::Request(request) => match to.send(Incoming::Request(request)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        },
    });
    // If nobody listens any more, nobody has to know.
    let _ = to.send(Incoming::ClientGone(ended.map_err(ServeError::from)));
}
