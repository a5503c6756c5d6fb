//! Watches: expressions whose values are told after every stop.
//!
//! One that cannot be evaluated now may well be later, so its error is told in its place and it stays.

use crate::evaluations::Asked;
use crate::failure::Failure;
use crate::link::Link;
use crate::live::{Live, Run};

#[derive(Debug, Default)]
pub struct Watches {
    all: Vec<Watch>,
    last: i64,
}

#[derive(Debug, Clone)]
pub struct Watch {
    pub id: i64,
    pub expression: String,
}

impl Watches {
    pub fn add(&mut self, expression: &str) -> i64 {
        self.last += 1;
        self.all.push(Watch { id: self.last, expression: expression.to_owned() });
        self.last
    }

    pub fn remove(&mut self, id: i64) -> Result<(), Failure> {
        let at = self.all.iter().position(|watch| watch.id == id);
        let at = at.ok_or_else(|| Failure::Refused(format!("there is no watch {id}")))?;
        self.all.remove(at);
        Ok(())
    }
}

impl Live {
    pub fn update_watches(&mut self, link: &mut Link) -> Result<(), Failure> {
        self.evaluations.forget_the_rest();
        for watch in self.plan.watches.all.clone() {
            self.tell_watch(link, watch)?;
        }
        Ok(())
    }

    /// A watch that was added while the program is stopped has a value at once.
    pub fn update_watch(&mut self, link: &mut Link, id: i64) -> Result<(), Failure> {
        let watch = self.plan.watches.all.iter().find(|watch| watch.id == id).cloned();
        match watch {
            Some(watch) => self.tell_watch(link, watch),
            None => Ok(()),
        }
    }

    fn tell_watch(&mut self, link: &mut Link, watch: Watch) -> Result<(), Failure> {
        let Run::Stopped(stop) = &self.run else { return Ok(()) };
        let Some(frame) = stop.frames.first().cloned() else { return Ok(()) };
        self.evaluate(link, Asked::Watch(watch), &frame)
    }
}
