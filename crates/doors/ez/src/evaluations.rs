//! Values that were asked for and have not come yet.
//!
//! An expression may take its time or read what only the IDE can give, so nobody stands still for it: commands that
//! never wait are done meanwhile, and all others keep their order behind it.

use std::collections::VecDeque;
use std::time::Instant;

use breakroom_client::model::{self, Frame, FrameId};
use breakroom_client::{Error, PATIENCE, RequestId};
use serde_json::{Value, json};

use crate::event::Event;
use crate::failure::Failure;
use crate::link::Link;
use crate::live::Live;
use crate::types;
use crate::watches::Watch;

#[derive(Debug, Default)]
pub struct Evaluations {
    /// One at a time, since a debugger may not take more.
    open: Option<Open>,
    waiting: VecDeque<(Asked, FrameId)>,
}

#[derive(Debug)]
struct Open {
    id: RequestId,
    asked: Asked,
    deadline: Instant,
}

/// What a value is for.
#[derive(Debug)]
pub enum Asked {
    Once { expression: String },
    Watch(Watch),
}

impl Evaluations {
    pub fn are_under_way(&self) -> bool {
        self.open.is_some()
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.open.as_ref().map(|open| open.deadline)
    }

    /// The stop that they were for is over. What was asked is answered all the same.
    pub fn forget_the_rest(&mut self) {
        self.waiting.clear();
    }
}

impl Asked {
    fn expression(&self) -> &str {
        match self {
            Asked::Once { expression } => expression,
            Asked::Watch(watch) => &watch.expression,
        }
    }

    fn told(&self, answer: Result<Value, Failure>) -> Result<Event, Failure> {
        let value = answer.map(|body| {
            let kind = types::name(body["type"].as_str().unwrap_or_default()).to_owned();
            (model::text(&body["result"]), kind)
        });
        let expression = self.expression();
        let event = match self {
            Asked::Once { .. } => Event::new("evaluateResult").with("expression", expression),
            Asked::Watch(watch) => {
                Event::new("watchUpdate").with("id", watch.id).with("expression", expression)
            }
        };
        match (value, self) {
            (Ok((result, kind)), _) => Ok(event.with("result", &*result).with("type", &*kind)),
            (Err(Failure::Refused(why)), Asked::Once { .. }) => {
                Ok(Event::refusal(&format!("Cannot evaluate: {why}"), Some("evaluate")))
            }
            // It may well have a value later.
            (Err(Failure::Refused(why)), Asked::Watch(_)) => Ok(event.with("error", &*why)),
            (Err(failure), _) => Err(failure),
        }
    }
}

impl Live {
    /// The value is told when it comes.
    pub fn evaluate(&mut self, link: &mut Link, asked: Asked, frame: &Frame) -> Result<(), Failure> {
        self.evaluations.waiting.push_back((asked, frame.id));
        self.ask_for_the_next_value(link)
    }

    fn ask_for_the_next_value(&mut self, link: &mut Link) -> Result<(), Failure> {
        if self.evaluations.open.is_some() {
            return Ok(());
        }
        let Some((asked, frame)) = self.evaluations.waiting.pop_front() else { return Ok(()) };
        let arguments = json!({"expression": asked.expression(), "frameId": frame.0, "context": "watch"});
        let id = link.client.send_in_order("evaluate", arguments)?;
        self.evaluations.open = Some(Open { id, asked, deadline: Instant::now() + PATIENCE });
        Ok(())
    }

    pub fn take_in_value(&mut self, link: &mut Link, answered: RequestId) -> Result<(), Failure> {
        let Some(open) = self.evaluations.open.take_if(|open| open.id == answered) else { return Ok(()) };
        if let Some(answer) = link.client.take_answer(open.id, "evaluate") {
            link.say(open.asked.told(answer.map_err(Failure::from))?)?;
        }
        self.ask_for_the_next_value(link)
    }

    /// Gives up the value that is awaited if that has been too long.
    pub fn give_up_value(&mut self, link: &mut Link) -> Result<(), Failure> {
        let is_late = |open: &mut Open| open.deadline <= Instant::now();
        let Some(open) = self.evaluations.open.take_if(is_late) else { return Ok(()) };
        link.client.forget(open.id);
        let silence = Error::Silent { command: "evaluate".to_owned(), patience: PATIENCE };
        link.say(open.asked.told(Err(silence.into()))?)?;
        self.ask_for_the_next_value(link)
    }
}
