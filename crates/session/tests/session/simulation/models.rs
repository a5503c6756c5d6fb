//! Real clients as data: what each declares, in which order it asks, what it does at an end, and what it dies of.
//!
//! The orders were measured at the wire. What people do with a client, and what no sane one does, is in `client`.

mod dape;
mod helix;
mod nvim_dap;
mod vscode;

use serde_json::Value;

use crate::rig::Heard;

pub struct Model {
    pub name: &'static str,
    /// The number of its first message.
    pub first_seq: i64,
    /// The arguments of its `initialize`, but for `adapterID`.
    pub introduces: &'static str,
    /// What it adds to the arguments of `launch` and `attach`.
    pub adds: &'static str,
    pub pace: Pace,
    /// What it sends at `initialized`, in this order.
    pub configures: &'static [&'static str],
    /// What it sends when all of that is done.
    pub then: &'static [Step],
    pub at_stop: &'static [Step],
    pub opens: Opens,
    /// What it adds to the arguments of a resume.
    pub resumes: &'static str,
    pub at_terminated: AtTerminated,
    /// The arguments of its `disconnect`.
    pub goodbye: &'static str,
    pub knows: Knows,
}

/// A request and its arguments.
pub type Step = (&'static str, &'static str);

/// What it waits for before it sends the next request. Nobody may wait for `launch`: that is answered last of all by
/// some engines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Only for the answer to `initialize`.
    Pipelines,
    /// For every answer.
    OneByOne,
}

/// The scopes whose variables it reads at a stop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    First,
    Every,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AtTerminated {
    Disconnects,
    /// It closes the connection without a word.
    HangsUp,
    SaysTerminate,
}

/// What becomes of it when it hears of an event that it does not know.
#[derive(Clone, Copy)]
pub enum Knows {
    /// It goes on.
    Whatever,
    /// It reads nothing any more, unless the event is one of these and its body has these members.
    Only(&'static [(&'static str, &'static [&'static str])]),
}

pub const ALL: [&Model; 4] = [&vscode::MODEL, &nvim_dap::MODEL, &dape::MODEL, &helix::MODEL];

impl Model {
    /// Fails if the real client would not survive what it is told.
    pub fn survives(&self, heard: &Heard) {
        let Knows::Only(known) = self.knows else { return };
        let Some(event) = heard.json["event"].as_str() else { return };
        let Some((_, needs)) = known.iter().find(|(name, _)| *name == event) else {
            panic!("{} dies of an event that it does not know: {}", self.name, heard.text());
        };
        // Of a huge message only the envelope was read.
        let body = &heard.json["body"];
        let lacks = needs.iter().find(|key| body.get(**key).is_none_or(Value::is_null));
        if let Some(lacks) = lacks.filter(|_| heard.is_read()) {
            panic!("{} dies of an event without `{lacks}`: {}", self.name, heard.text());
        }
    }
}

pub fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
#[should_panic(expected = "Helix dies of an event that it does not know")]
fn a_model_of_a_client_that_dies_of_an_unknown_event_fails_the_run() {
    let event = r#"{"seq":1,"type":"event","event":"debugpySockets","body":{}}"#;
    vscode::MODEL.survives(&Heard::new(event.into()));
    helix::MODEL.survives(&Heard::new(event.into()));
}

#[test]
#[should_panic(expected = "Helix dies of an event without `threadId`")]
fn a_model_of_a_client_that_cannot_decode_an_event_fails_the_run() {
    let event = r#"{"seq":1,"type":"event","event":"continued","body":{"allThreadsContinued":true}}"#;
    helix::MODEL.survives(&Heard::new(event.into()));
}
