//! The way to the client, for the session and for the program's world, which both have things to tell.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use breakroom_adapter::{Outgoing, Request};
use serde_json::{Value, json};

/// If nobody reads any more, whoever reads the client finds out as well, and that ends everything: no error is told here.
#[derive(Clone)]
pub struct Channel(Rc<RefCell<Outgoing<Box<dyn Write>>>>);

impl Channel {
    pub fn new(stream: impl Write + 'static) -> Self {
        Self(Rc::new(RefCell::new(Outgoing::new(Box::new(stream)))))
    }

    pub fn event(&self, name: &str, body: Value) {
        let _ = self.0.borrow_mut().event(name, body);
    }

    /// What the program or the engine says.
    pub fn output(&self, category: &str, text: &str) {
        self.event("output", json!({"category": category, "output": text}));
    }

    /// Marked for clients that show it in their own way, or not at all.
    pub fn waits_for_input(&self) {
        let text = "the program waits for a line of input\n";
        let data = json!({"waitsForInput": true});
        self.event("output", json!({"category": "console", "output": text, "data": data}));
    }

    pub fn answer(&self, request: &Request, answer: Result<Value, String>) {
        let mut outgoing = self.0.borrow_mut();
        let _ = match answer {
            Ok(body) => outgoing.respond(request, body),
            Err(why) => outgoing.fail(request, &why),
        };
    }
}
